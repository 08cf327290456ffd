"""Compiled kernels, recorded: every text comes out as the compiler placed it."""

from __future__ import annotations

import functools
import json
import unittest
from typing import Any

from flag_budget import CROSS_CORE, plan, read_kernel
from tests import ROOT, document
from tests.texts import COMPILED, text_of

README = (ROOT / "README.md").read_text("utf-8")
RECORDED = json.loads(
    (ROOT / "tests/vectors/compiled_kernels.json").read_text("ascii")
)["kernels"]
# Of two launches, no kernel is read.
KERNELS = [kernel for kernel in RECORDED if kernel["kernel"] != "two_launches"]
SCRATCH = 1024  # bytes of UB that the two reducers of reduce_scratch take


@functools.cache
def answer(name: str, *depths: str) -> Any:
    """The document for a kernel whose texts of these depths are read."""
    files = [f"{depth}={text_of(name, depth)}" for depth in depths]
    return document("--read", *files, "--max-depth=10")


def depths_of(kernel: dict[str, Any]) -> list[str]:
    """The depths at which there is a text; beyond, the scheduler finds no room."""
    return [depth for depth, each in kernel["depths"].items() if "blocks" in each]


def memory_of(kernel: dict[str, Any], recorded: dict[str, Any]) -> dict[str, int]:
    """What the buffers take, without the scratch of reducers, which no text shows."""
    memory: dict[str, int] = {**recorded["memory"]}
    if kernel["kernel"] == "reduce_scratch":
        memory["ub"] -= SCRATCH
    return memory


def check_depth(
    case: unittest.TestCase,
    kernel: dict[str, Any],
    recorded: dict[str, Any],
    at_depth: dict[str, Any],
) -> None:
    """Compare a depth of the document with what the compiler did there."""
    used = {memory["name"]: memory["used"] for memory in at_depth["memories"]}
    case.assertEqual(used, memory_of(kernel, recorded))
    if "stops" in recorded:
        case.assertEqual(recorded["stops"], "lock pool")
        case.assertEqual(
            at_depth["error"],
            "the compiler rejects this depth: lock pool"
            f" {recorded['lock_slots_needed']}/32",
        )
        return
    case.assertIsNone(at_depth["error"])
    placed = {
        namespace["name"]: [
            [point["placement"], point["base"]] for point in namespace["sync_points"]
        ]
        for namespace in at_depth["namespaces"]
    }
    cross_core = [["flag", first] for first, _ in recorded.get("cross_core", [])]
    case.assertEqual(placed.pop(CROSS_CORE, []), cross_core)
    after = {
        event: [places[first] for first in sorted(places, key=int)]
        for event, places in recorded["after"].items()
    }
    case.assertEqual(placed, after)


class Texts(unittest.TestCase):
    """Each is read at its depth, those of a kernel together."""

    maxDiff = None

    def test_every_text(self) -> None:
        texts = 0
        for kernel in KERNELS:
            depths = depths_of(kernel)
            found = answer(kernel["kernel"], *depths)
            self.assertEqual(
                [text["depth"] for text in found["read"]],
                [int(depth) for depth in reversed(depths)],
            )
            for depth, reading in zip(reversed(depths), found["read"]):
                texts += 1
                with self.subTest(kernel["kernel"], depth=depth):
                    recorded = kernel["depths"][depth]
                    self.check_reading(reading, recorded, kernel["lock_reserved"])
                    at_depth = found["depths"][int(depth) - 1]
                    self.assertEqual(at_depth["from_depth"], int(depth))
                    check_depth(self, kernel, recorded, at_depth)
        self.assertEqual(texts, 206)
        self.assertEqual(texts + 1, len([*COMPILED.iterdir()]))

    def check_reading(
        self, reading: Any, recorded: dict[str, Any], lock_reserved: int
    ) -> None:
        blocks: dict[str, list[list[int]]] = {}
        for point in reading["sync_points"]:
            first, last = point["ids"]
            event = point["name"].partition("[")[0]
            blocks.setdefault(event, []).append([first, last + 1 - first])
        self.assertEqual(blocks.pop(CROSS_CORE, []), recorded.get("cross_core", []))
        self.assertEqual(blocks, recorded["blocks"])
        self.assertEqual(reading["locks"], lock_reserved)

    def test_where_the_scheduler_finds_no_room(self) -> None:
        for kernel in KERNELS:
            for depth, recorded in kernel["depths"].items():
                if "blocks" not in recorded:
                    self.assertEqual(recorded, {"stops": "memory"})
                    self.assertFalse(text_of(kernel["kernel"], depth).exists())

    def test_one_text_alone(self) -> None:
        for name, depth in (("both_cores", 5), ("own_flags", 6), ("flash_fwd", 4)):
            (kernel,) = (each for each in KERNELS if each["kernel"] == name)
            with self.subTest(name):
                text = text_of(name, depth)
                (at_depth,) = document(f"--read={text}", f"--depth={depth}")["depths"]
                check_depth(self, kernel, kernel["depths"][str(depth)], at_depth)
                kernel_read = read_kernel(text.read_text("ascii"), bases=True)
                bases = {
                    point.name: point.base
                    for namespace in plan(kernel_read, depth).namespaces
                    for point in namespace.sync_points
                }
                self.assertEqual(
                    bases,
                    {
                        point["name"]: point["base"]
                        for namespace in at_depth["namespaces"]
                        for point in namespace["sync_points"]
                    },
                )


def first_depths(ends: list[tuple[bool, bool]]) -> list[int | None]:
    """The first depth that spills, and the first that is rejected."""
    return [
        next((depth for depth, each in enumerate(ends, 1) if each[what]), None)
        for what in (0, 1)
    ]


class Predictions(unittest.TestCase):
    """What one text says of all depths: README's table."""

    maxDiff = None

    def row(self, title: str, read_depth: int | None) -> str:
        """How often limits, spills, widths and bytes are right, at depths 1 to 10."""
        kernels = limits = compiles = spills = widths = memories = sizes = 0
        for kernel in KERNELS:
            depths = depths_of(kernel)
            if read_depth and str(read_depth) not in depths:
                continue
            found = answer(
                kernel["kernel"], *([str(read_depth)] if read_depth else depths)
            )
            kernels += 1
            # Per depth whether it spills and is rejected, as recorded and as answered.
            recorded_ends: list[tuple[bool, bool]] = []
            ends: list[tuple[bool, bool]] = []
            for depth in depths:
                recorded = kernel["depths"][depth]
                at_depth = found["depths"][int(depth) - 1]
                compiles += 1
                spilled = "stops" in recorded or any(
                    where == "lock"
                    for after in recorded["after"].values()
                    for where, _ in after.values()
                )
                recorded_ends.append((spilled, "stops" in recorded))
                ends.append((bool(at_depth["spilled"]), bool(at_depth["error"])))
                spills += bool(at_depth["spilled"]) == spilled
                blocks = {**recorded["blocks"]}
                if "cross_core" in recorded:
                    blocks[CROSS_CORE] = recorded["cross_core"]
                widths += {
                    event: sorted(width for _, width in rings)
                    for event, rings in blocks.items()
                } == {
                    namespace["name"]: sorted(
                        point["num_versions"] for point in namespace["sync_points"]
                    )
                    for namespace in at_depth["namespaces"]
                }
                used = {each["name"]: each["used"] for each in at_depth["memories"]}
                memories += len(recorded["memory"])
                sizes += sum(
                    used.get(name) == size for name, size in recorded["memory"].items()
                )
            limits += first_depths(recorded_ends) == first_depths(ends)
        return (
            f"| {title} | {limits} of {kernels} | {spills} of {compiles} | {widths}"
            f" of {compiles} | {sizes} of {memories} |"
        )

    def test_how_often_it_is_right(self) -> None:
        table = [
            self.row("the text of each depth, that depth", None),
            *(
                self.row(f"the text of depth {depth}, depths 1 to 10", depth)
                for depth in (8, 4, 3, 2)
            ),
        ]
        self.assertIn("\n".join(table), README)

    def test_whole_sweeps(self) -> None:
        """Where the scheduler changes nothing with the depth, one text is enough."""
        for name in ("axpy", "matmul", "mixed", "gemm_auto", "persistent_scale"):
            (kernel,) = (each for each in KERNELS if each["kernel"] == name)
            found = answer(name, "4")
            for depth, recorded in kernel["depths"].items():
                with self.subTest(name, depth=depth):
                    at_depth = found["depths"][int(depth) - 1]
                    check_depth(self, kernel, recorded, at_depth)
