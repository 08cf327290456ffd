"""Reading the TIR that tilelang prints."""

from __future__ import annotations

import functools
import json
import random
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any

from flag_budget import CROSS_CORE, Buffer, Kernel, SyncPoint, plan, read_kernel
from tests import ROOT, complaint, document, error_of, run

README = (ROOT / "README.md").read_text("utf-8")
COMPILED = ROOT / "tests/compiled"
CASES = ROOT / "tests/cases"
KERNELS = json.loads((ROOT / "tests/vectors/compiled_kernels.json").read_text("ascii"))[
    "kernels"
]
MEMORIES = {
    "shared": "ub",
    "shared.dyn": "ub",
    "shared.l1": "l1",
    "shared.l0a": "l0a",
    "shared.l0b": "l0b",
    "shared.l0c": "l0c",
}
EXPECTED_TIR = (
    "expected the TIR that tilelang's pass tl.InsertSync leaves, the file ending in"
    ' _tl.InsertSync.py that pass_configs={"tl.enable_dump_ir": True} writes;'
    " a kernel in another language is declared with --sync-point"
)


UNBOUNDED = "event ids without bounds: "
BOUNDS = (
    ": expected a number, a variable of a loop that numbers bound, x % v with a number v,"
    " or a sum of these"
)


def text_of(kernel: str, depth: object) -> Path:
    """The recorded text of a kernel at a depth."""
    return COMPILED / f"{kernel}.d{depth}.tir"


@functools.cache
def kernel_of(name: str, depth: int) -> Kernel:
    """What is read of a kernel's text at a depth."""
    return read_kernel(text_of(name, depth).read_text("ascii"), depth)


def rings(tir: str, depth: int | None = 4, **options: Any) -> list[tuple[Any, ...]]:
    """Name, versions, max_versions of each sync point of a text."""
    kernel = read_kernel(tir, depth, **options)
    return [
        (each.name, each.versions, each.max_versions) for each in kernel.sync_points
    ]


def set_flag(event_id: str, *loops: str) -> str:
    """A text with one flag call in these loops."""
    lines = [f"for {loop}:" for loop in loops] + [
        f'T.ascend_set_flag("V_S", {event_id})'
    ]
    return "\n".join(" " * indent + line for indent, line in enumerate(lines))


def cross_core(*ids: str) -> str:
    """A text with these cross-core ids."""
    return "\n".join(f'T.ascend_cross_core_set_flag(4, "PIPE_FIX", {i})' for i in ids)


def used_bytes(recorded: dict[str, Any]) -> dict[str, int]:
    """What the recorded buffers take of each memory."""
    used: dict[str, int] = {}
    for scope, size, versions in recorded["buffers"]:
        used[MEMORIES[scope]] = used.get(MEMORIES[scope], 0) + size * versions
    return used


def check_depth(
    case: unittest.TestCase, at_depth: dict[str, Any], recorded: dict[str, Any]
) -> None:
    """Compare a depth of the document with what the compiler did there."""
    used = {each["name"]: each["used"] for each in at_depth["memories"]}
    case.assertEqual(used, used_bytes(recorded))
    if "stops" in recorded:
        case.assertEqual(recorded["stops"], "lock pool")
        case.assertIn("the compiler rejects this depth: lock pool ", at_depth["error"])
        return
    case.assertIsNone(at_depth["error"])
    placed = {
        namespace["name"]: [
            [point["placement"], point["base"]] for point in namespace["sync_points"]
        ]
        for namespace in at_depth["namespaces"]
        if namespace["name"] != "Cube-Vector"
    }
    after = {
        event: [each[first] for first in sorted(each, key=int)]
        for event, each in recorded["after"].items()
    }
    case.assertEqual(placed, after)


class Recorded(unittest.TestCase):
    """Every recorded text, read at its depth, comes out as the compiler placed it."""

    maxDiff = None

    def test_every_text(self) -> None:
        texts = 0
        for kernel in KERNELS:
            for depth, recorded in kernel["depths"].items():
                texts += 1
                path = text_of(kernel["kernel"], depth)
                with self.subTest(path.name):
                    found = document("--read", f"{depth}={path}", "--depth", depth)
                    self.compare(found, recorded, kernel["lock_reserved"])
        self.assertEqual(texts, 90)
        self.assertEqual(texts, len([*COMPILED.iterdir()]))

    def compare(self, found: Any, recorded: Any, locks: int) -> None:
        (reading,), (at_depth,) = found["read"], found["depths"]
        blocks: dict[str, list[list[int]]] = {}
        for point in reading["sync_points"]:
            low, high = point["ids"]
            event = point["name"].partition("[")[0]
            blocks.setdefault(event, []).append([low, high + 1 - low])
        self.assertEqual(blocks.pop("Cube-Vector", []), recorded.get("cross_core", []))
        self.assertEqual(blocks, recorded["blocks"])
        self.assertEqual(reading["locks"], locks)
        self.assertCountEqual(
            [
                [each["memory"], each["bytes"], each["versions"]]
                for each in reading["buffers"]
            ],
            [[MEMORIES[scope], *rest] for scope, *rest in recorded["buffers"]],
        )
        check_depth(self, at_depth, recorded)


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
        limits = spills = widths = compiles = sizes = memories = 0
        for kernel in KERNELS:
            # Per depth whether it spills and is rejected, as recorded and as answered.
            recorded_ends: list[tuple[bool, bool]] = []
            ends: list[tuple[bool, bool]] = []
            for depth, recorded in kernel["depths"].items():
                at_depth = plan(
                    kernel_of(kernel["kernel"], read_depth or int(depth)), int(depth)
                )
                spilled = "stops" in recorded or any(
                    where == "lock"
                    for after in recorded["after"].values()
                    for where, _ in after.values()
                )
                compiles += 1
                spills += bool(at_depth.spilled) == spilled
                recorded_ends.append((spilled, "stops" in recorded))
                ends.append((bool(at_depth.spilled), bool(at_depth.rejected)))
                blocks = {**recorded["blocks"]}
                if "cross_core" in recorded:
                    blocks["Cube-Vector"] = recorded["cross_core"]
                widths += blocks.keys() == {
                    each.name for each in at_depth.namespaces
                } and all(
                    sorted(width for _, width in blocks[each.name])
                    == sorted(point.num_versions for point in each.sync_points)
                    for each in at_depth.namespaces
                )
                used = used_bytes(recorded)
                memories += len(used)
                sizes += sum(used[each.name] == each.used for each in at_depth.memories)
            limits += first_depths(recorded_ends) == first_depths(ends)
        return (
            f"| {title} | {limits} of {len(KERNELS)} | {spills} of {compiles} | {widths}"
            f" of {compiles} | {sizes} of {memories} |"
        )

    def test_how_often_it_is_right(self) -> None:
        table = [
            self.row("the text of each depth, that depth", None),
            self.row("the text of depth 4, depths 1 to 10", 4),
            self.row("the text of depth 3, depths 1 to 10", 3),
            self.row("the text of depth 2, depths 1 to 10", 2),
        ]
        self.assertIn("\n".join(table), README)

    def test_whole_sweeps(self) -> None:
        """Where the scheduler changes nothing with the depth, one text is enough."""
        for name in ("axpy", "matmul", "mixed", "gemm_auto", "persistent_scale"):
            (kernel,) = (each for each in KERNELS if each["kernel"] == name)
            found = document("--read", str(text_of(name, 4)), "--max-depth=10")
            for depth, recorded in kernel["depths"].items():
                with self.subTest(name, depth=depth):
                    check_depth(self, found["depths"][int(depth) - 1], recorded)


class Cases(unittest.TestCase):
    """Small texts that are easy to get wrong."""

    def read(self, name: str) -> str:
        return (CASES / name).read_text("ascii")

    def test_loop_as_short_as_the_ring(self) -> None:
        self.assertEqual(
            rings(self.read("loop_as_short_as_the_ring.tir")),
            [("V_MTE2[0]", None, None), ("MTE2_V[0]", None, None)],
        )

    def test_sparse_ids(self) -> None:
        self.assertEqual(
            rings(self.read("sparse_ids.tir")),
            [("V_MTE3[0]", 1, None), ("V_MTE3[7]", 1, None)],
        )

    def test_sparse_ids_stay_at_the_depth_that_was_read(self) -> None:
        text = self.read("sparse_ids.tir")
        for bases, expected in ((True, [0, 7]), (False, [None, None])):
            with self.subTest(bases):
                kernel = read_kernel(text, 4, bases=bases)
                self.assertEqual([point.base for point in kernel.sync_points], expected)
        path = CASES / "sparse_ids.tir"
        found = document(f"--read=4={path}", "--max-depth=5")
        for depth, expected in ((3, [0, 1]), (4, [0, 7]), (5, [0, 1])):
            with self.subTest(depth):
                (namespace,) = found["depths"][depth - 1]["namespaces"]
                bases_found = [point["base"] for point in namespace["sync_points"]]
                self.assertEqual(bases_found, expected, depth)

    def test_second_core(self) -> None:
        self.assertEqual(
            rings(self.read("second_core.tir"), None),
            [
                ("Cube-Vector[0]", None, None),
                ("Cube-Vector[2]", 1, None),
                ("Cube-Vector[3]", 1, None),
            ],
        )

    def test_two_depths(self) -> None:
        found = document("--read", str(CASES / "two_depths.tir"))
        self.assertEqual(found["last_depth_without_spill"], 6)
        self.assertEqual(
            rings(self.read("two_depths.tir"), None),
            [
                ("MTE1_MTE2[0]", None, None),
                ("MTE1_MTE2[3]", None, 2),
                ("MTE2_MTE1[0]", None, None),
                ("MTE2_MTE1[3]", None, 2),
            ],
        )

    def test_the_depth_must_be_said(self) -> None:
        for name in ("loop_as_short_as_the_ring.tir", "sparse_ids.tir"):
            with self.subTest(name):
                path = str(CASES / name)
                self.assertEqual(
                    complaint("--read", path),
                    f"argument --read: {path!r}: no num_stages is printed: expected the depth"
                    " that it was compiled with, as in 4=FILE",
                )


class Ids(unittest.TestCase):
    """Event ids and the loops that bound them."""

    def test_bounded(self) -> None:
        six = "s in T.serial(6)"
        for event_id, loops, low, width in (
            ("3", [], 3, 1),
            ("x % 5", [], 0, 5),
            ("c[0] % 3", [six], 0, 3),
            ("c[0] % 3 + 2", [], 2, 3),
            ("2 + c[0] % 3", [], 2, 3),
            ("(k + w * 64) % 3", ["w in range(9)", "k in range(9)"], 0, 3),
            ("s % 4 + s % 3", ["s in range(64)"], 0, 6),
            ("s", [six], 0, 6),
            ("s + 2", [six], 2, 6),
            ("s % 8", [six], 0, 6),
            ("s % 6", [six], 0, 6),
            ("s % 5", [six], 0, 5),
            ("s % 7 % 9", ["s in range(64)"], 0, 7),
            ("(s + 1) % 8", [six], 1, 6),
            ("s", ["s in T.serial(2, 6)"], 2, 4),
            ("s % 6", ["s in T.serial(2, 6)"], 2, 4),
            ("s % 5", ["s in T.serial(2, 6)"], 0, 5),
            ("s", ['s in T.serial(2, 6, annotations={"num_stages": 99})'], 2, 4),
            ("s", ["s in T.unroll(3)"], 0, 3),
            ("s", ["s in T.parallel(3)"], 0, 3),
            ("s", ["s in T.vectorized(3)"], 0, 3),
            ("s", ["s in range(1, 4)"], 1, 3),
            ("s", ["s, t in T.grid(4, 5)"], 0, 4),
            ("t", ["s, t in T.grid(4, 5)"], 0, 5),
            ("t", ["(s, t) in T.grid(4, 5)"], 0, 5),
            ("s", ["s in range(64)", "s in range(3)"], 0, 3),
            ("s + t", ["s in range(3)", "t in range(2)"], 0, 4),
        ):
            with self.subTest(event_id, loops=loops):
                (point,) = read_kernel(set_flag(event_id, *loops), 99).sync_points
                found = point.versions or point.max_versions
                self.assertEqual((point.name, found), (f"V_S[{low}]", width))

    def test_a_loop_ends(self) -> None:
        text = 'for s in range(3):\n pass\nT.ascend_set_flag("V_S", s)'
        self.assertEqual(
            error_of(read_kernel, text, 4), f"{UNBOUNDED}line 3 's'{BOUNDS}"
        )
        outer = 'for s in range(3):\n for s in range(9):\n  pass\n T.ascend_set_flag("V_S", s)'
        self.assertEqual(rings(outer, 3), [("V_S[0]", None, None)])

    def test_unbounded(self) -> None:
        for event_id, loops in (
            ("s", []),
            ("s", ["s in T.serial(n)"]),
            ("s", ["s in T.serial(2, n)"]),
            ("s", ["s in T.serial(n, 2)"]),
            ("s", ["s in T.serial(0)"]),
            ("s", ["s in T.serial(3, 3)"]),
            ("s", ["s in range(-2)"]),
            ("s", ["s in T.thread_binding(3)"]),
            ("s", ["s in things"]),
            ("s", ["s in lambda: 3"]),
            ("s", ["s in T.grid(n, 3)"]),
            ("s", ["s in range(9)", "s in range(n)"]),
            ("s.t", []),
            ("c[0]", ["c in range(3)"]),
            ("s % n", ["s in range(3)"]),
            ("s % 0", ["s in range(3)"]),
            ("s - 1", ["s in range(3)"]),
            ("s * 2", ["s in range(3)"]),
            ("s * 16 + 4", []),
            ("s + c[0]", ["s in range(3)"]),
            ("c[0] + s", ["s in range(3)"]),
            ("True", []),
            ("1.5", []),
            ("-1", []),
            ("f(3)", []),
        ):
            with self.subTest(event_id, loops=loops):
                self.assertEqual(
                    error_of(read_kernel, set_flag(event_id, *loops), 4),
                    f"event ids without bounds: line {len(loops) + 1} {event_id!r}:"
                    " expected a number, a variable of a loop that numbers bound, x % v"
                    " with a number v, or a sum of these",
                )

    def test_unbounded_ids_are_listed(self) -> None:
        calls = [set_flag(f"x_{number} * 3") for number in range(12)]
        calls[1] = set_flag("0")
        calls[2] = set_flag(f"a\n   +   {'b' * 60}").replace('"V_S"', '"V_M"')
        for count, more in ((11, ""), (12, " and 1 more")):
            with self.subTest(count):
                said = error_of(read_kernel, "(\n" + ",\n".join(calls[:count]) + ")", 4)
                listed = ["line 2 'x_0 * 3'", f"line 4 'a + {'b' * 36}'"]
                listed += [
                    f"line {number + 3} 'x_{number} * 3'" for number in range(3, 11)
                ]
                self.assertEqual(
                    said.partition(": expected")[0],
                    f"event ids without bounds: {', '.join(listed[: count - 1])}{more}",
                )

    def test_cross_core_ids_are_modulo_16(self) -> None:
        for ids, expected in (
            (["s % 2", "s % 2 + 16"], [("Cube-Vector[0]", 2)]),
            (["s * 16 + 4"], [("Cube-Vector[4]", 1)]),
            (["16 * s + 4", "s * 32 + 4"], [("Cube-Vector[4]", 1)]),
            (["s % 3 + sid * 16 + 2"], [("Cube-Vector[2]", 3)]),
            (["s % 16 + 3"], [("Cube-Vector[0]", 16)]),
            (["s % 99"], [("Cube-Vector[0]", 16)]),
            (["s % 2 + 14"], [("Cube-Vector[14]", 2)]),
            (["s % 3 + 14"], [("Cube-Vector[0]", 1), ("Cube-Vector[14]", 2)]),
            (["s % 2 + 14"], [("Cube-Vector[14]", 2)]),
            (["15", "16"], [("Cube-Vector[0]", 1), ("Cube-Vector[15]", 1)]),
        ):
            with self.subTest(ids):
                found = read_kernel(cross_core(*ids), 99).sync_points
                self.assertEqual(
                    [(each.name, each.versions or each.max_versions) for each in found],
                    expected,
                )
                self.assertEqual({each.event for each in found}, {"cross-core"})
        # A step leaves nothing out.
        loop = f"for s in range(1, 5, 2):\n {cross_core('s')}"
        self.assertEqual(rings(loop, 4), [("Cube-Vector[1]", None, None)])
        for event_id in ("s * 8", "s * 16.0", "s * t"):
            with self.subTest(event_id):
                self.assertEqual(
                    error_of(read_kernel, cross_core(event_id), 4),
                    f"{UNBOUNDED}line 1 {event_id!r}{BOUNDS}",
                )

    def test_overlapping_ids_are_one_ring(self) -> None:
        text = "\n".join(map(set_flag, ("s % 4 + 4", "0", "7", "s % 3", "2", "8", "9")))
        self.assertEqual(
            rings(text),
            [
                ("V_S[0]", None, 3),
                ("V_S[4]", None, None),
                ("V_S[8]", 1, None),
                ("V_S[9]", 1, None),
            ],
        )

    def test_widths(self) -> None:
        text = "\n".join(map(set_flag, ("s % 3", "s % 4 + 3", "s % 5 + 7", "12")))
        for depth, expected in (
            (4, [(None, 3), (None, None), (5, None), (1, None)]),
            (3, [(None, None), (4, None), (5, None), (1, None)]),
            (1, [(3, None), (4, None), (5, None), (None, None)]),
        ):
            with self.subTest(depth):
                self.assertEqual([each[1:] for each in rings(text, depth)], expected)

    def test_releases(self) -> None:
        for calls, releases in (
            (["s % 3 + 3", "s % 3"], [False, False]),
            (["s % 3 + 3", "s % 3", "1"], [True, False]),
            (["s % 3 + 3", "4", "s % 3"], [True, True]),
            (["s % 3", "s % 4 + 3"], [True, False]),
            (["0", "1"], [False, False]),
            (["0", "s % 2 + 1"], [True, False]),
            (["s % 2", "0"], [True]),
            (["s % 2", "0", "s % 2 + 2"], [True, False]),
        ):
            with self.subTest(calls):
                kernel = read_kernel("\n".join(map(set_flag, calls)), 4)
                self.assertEqual(
                    [each.cross_iter for each in kernel.sync_points], releases
                )

    def test_flags_that_name_no_hard_event(self) -> None:
        for call, expected in (
            (
                'ascend_set_flag("V_V", 0)',
                "event 'V_V': expected cross-core, or PROD_CONS of two different pipes of"
                " FIX M MTE1 MTE2 MTE3 S V",
            ),
            (
                "ascend_set_flag(V_S, 0)",
                "event '': expected cross-core, or PROD_CONS of two different pipes of"
                " FIX M MTE1 MTE2 MTE3 S V",
            ),
            ('ascend_wait_flag("V_S")', "expected an id in ascend_wait_flag"),
            ("ascend_wait_flag()", "expected an id in ascend_wait_flag"),
            (
                "ascend_cross_core_set_flag(4)",
                "expected an id in ascend_cross_core_set_flag",
            ),
        ):
            with self.subTest(call):
                self.assertEqual(
                    error_of(read_kernel, f"\nT.{call}", 4), f"line 2: {expected}"
                )

    def test_reserved_ids(self) -> None:
        text = cross_core("s % 2", "15", "14") + "\n" + set_flag("0")
        names = [each[0] for each in rings(text, reserved={CROSS_CORE: [30, 15]})]
        self.assertEqual(names, ["Cube-Vector[0]", "V_S[0]"])
        self.assertEqual(len(rings(text, reserved={CROSS_CORE: [0]})), 4)
        kernel = read_kernel(text, 4, reserved={CROSS_CORE: [30, 15]})
        self.assertEqual(kernel.reserved, {CROSS_CORE: {14, 15}})
        self.assertEqual(read_kernel(text, 4).reserved, {})
        self.assertEqual(
            error_of(
                read_kernel, cross_core("s % 2"), 4, reserved={CROSS_CORE: [0, 1, 2]}
            ),
            "all flags are reserved: expected one that is not",
        )


ALLOCATION = 'b_1 = T.sblock_alloc_buffer({}, data=b.data, scope="{}")\n' + set_flag(
    "0"
)


class Buffers(unittest.TestCase):
    """sblock_alloc_buffer and tl.buffer_versions_map."""

    def buffers(self, text: str, depth: int = 4) -> tuple[Buffer, ...]:
        return tuple(read_kernel(text, depth).buffers)

    def test_sizes(self) -> None:
        for arguments, size in (
            ('(64, 256), "bfloat16"', 32768),
            ("(64, 256)", 65536),
            ("(256,)", 1024),
            ("()", 4),
            ('(3,), "int8"', 3),
            ('(3,), "bool"', 3),
            ('(3,), "boolx4"', 12),
            ('(3,), "uint1"', 1),
            ('(9,), "uint1"', 2),
            ('(3,), "int4"', 2),
            ('(64,), "float4_e2m1fn"', 32),
            ('(64,), "float4_e2m1fnx2"', 64),
            ('(64,), "float8_e4m3fn"', 64),
            ('(64,), "float8_e8m0fnu"', 64),
            ('(64,), "float8_e4m3fnx4"', 256),
            ('(64,), "float6_e2m3fn"', 48),
            ('(64,), "float32x2"', 512),
            ('(64,), "float64"', 512),
        ):
            with self.subTest(arguments):
                self.assertEqual(
                    self.buffers(ALLOCATION.format(arguments, "shared")),
                    (Buffer("b", "ub", size, 1),),
                )

    def test_without_a_size(self) -> None:
        for arguments, expected in (
            ("(n, 64)", "expected a shape of numbers"),
            ("n", "expected a shape of numbers"),
            ("(2.5,)", "expected a shape of numbers"),
            (
                '(64,), "handle"',
                "dtype 'handle': expected one with a size, as in float32",
            ),
            (
                '(64,), "float32xvscalex4"',
                "dtype 'float32xvscalex4': expected one with a size, as in float32",
            ),
            ("(64,), float16", "dtype '': expected one with a size, as in float32"),
            ("(0,)", "bytes 0: expected a whole number from 1 to 10^18 * 2^20"),
        ):
            with self.subTest(arguments):
                text = "\n" + ALLOCATION.format(arguments, "shared.l1")
                self.assertEqual(error_of(read_kernel, text, 4), f"line 2: {expected}")
                self.assertEqual(
                    self.buffers(ALLOCATION.format(arguments, "local.var")), ()
                )

    def test_without_a_name(self) -> None:
        text = ALLOCATION.format("(1,)", "shared").replace("b.data", "f(1)")
        self.assertEqual(
            error_of(read_kernel, text, 4),
            "line 1: name '': expected letters, digits and _ . [ ] -, not starting with a"
            " dash",
        )

    def test_scopes(self) -> None:
        for scope, memory in {**MEMORIES, "shared.l1.dyn": "l1"}.items():
            with self.subTest(scope):
                (buffer,) = self.buffers(ALLOCATION.format("(1,)", scope))
                self.assertEqual(buffer.memory, memory, scope)
        for scope in ("global", "local.fragment", "shared.l1x", ""):
            with self.subTest(scope):
                self.assertEqual(self.buffers(ALLOCATION.format("(1,)", scope)), ())

    def test_what_counts_nowhere(self) -> None:
        for call in (
            'T.sblock_alloc_buffer((9,), scope="shared")',
            "T.sblock_alloc_buffer((9,), data=b.data)",
            'T.Buffer((9,), data=b.data, scope="shared")',
        ):
            with self.subTest(call):
                self.assertEqual(self.buffers(f"b = {call}\n{set_flag('0')}"), ())

    def test_versions(self) -> None:
        text = ALLOCATION.format("(256,)", "shared")
        for number, versions, max_versions in (
            (4, None, None),
            (3, None, 3),
            (2, None, 2),
            (1, 1, None),
            (5, 5, None),
        ):
            with self.subTest(number):
                attribute = f'T.sblock_attr({{"tl.buffer_versions_map": {{b.data: {number}}}}})\n'
                self.assertEqual(
                    self.buffers(attribute + text),
                    (Buffer("b", "ub", 1024, versions, max_versions),),
                )
        other = (
            'T.sblock_attr({"tl.buffer_versions_map": {c.data: 4}, "x": {b.data: 4}})\n'
        )
        self.assertEqual(self.buffers(other + text)[0].versions, 1)
        named = 'T.sblock_attr({"tl.buffer_versions_map": {b: 4}})\n' + text
        (buffer,) = self.buffers(named.replace("data=b.data", "data=b"))
        self.assertEqual(buffer, Buffer("b", "ub", 1024))

    def test_versions_that_are_no_number(self) -> None:
        attribute = '\nT.sblock_attr({"tl.buffer_versions_map": {b.data: n}})\n'
        text = attribute + ALLOCATION.format("(256,)", "shared")
        self.assertEqual(
            error_of(read_kernel, text, 4), "line 2: expected a number of versions"
        )

    def test_names_once(self) -> None:
        path = str(text_of("axpy", 4))
        self.assertEqual(
            complaint("--read", path, "--buffer=x,memory=ub,bytes=1"),
            "name 'x' twice: expected every name once",
        )
        found = document("--read", path, "--buffer=w,memory=ub,bytes=1K", "--depth=2")
        self.assertEqual(found["depths"][0]["memories"][0]["used"], 8 * 1024)

    def test_simt_vf(self) -> None:
        text = 'with T.sblock("SIMT_VF"):\n pass\n' + ALLOCATION.format(
            "(1,)", "shared"
        )
        kernel = read_kernel(text, 4)
        self.assertEqual(kernel.capacities["ub"], 216 * 1024)
        more = text.replace('"SIMT_VF"', '"SIMT_VF", 1')
        self.assertEqual(read_kernel(more, 4).capacities["ub"], 216 * 1024)
        self.assertEqual(
            read_kernel(text.replace("SIMT_VF", "SIMD"), 4).capacities["ub"], 253952
        )


class Locks(unittest.TestCase):
    """gemm_l1, and texts that have spilled."""

    GEMM = (
        'a = T.sblock_alloc_buffer((1,), data=a.data, scope="shared.l1")\n'
        'b = T.Buffer((1,), scope="shared.l1")\n'
        'c = T.Buffer((1,), scope="shared.l0c")\n'
        "T.{}(T.region({}[0, 0], 1, 64, 64), T.region({}[0, 0], 1, 64, 64))\n"
    )

    def test_gemm_l1(self) -> None:
        for name, one, other, locks in (
            ("gemm", "a", "b", 2),
            ("gemm_blockscaled", "b", "a", 2),
            ("gemm", "a", "c", 0),
            ("gemm", "c", "b", 0),
            ("gemm", "a", "unknown", 0),
            ("gemv", "a", "b", 0),
        ):
            with self.subTest(name):
                gemm = self.GEMM.format(name, one, other)
                for text in (gemm + set_flag("0"), gemm + gemm + set_flag("0")):
                    if text.count("sblock_alloc_buffer") > 1:
                        text = text.replace("data=a.data, ", "")
                    self.assertEqual(read_kernel(text, 4).lock_reserved, locks, text)

    def test_lock_reserved_says_otherwise(self) -> None:
        path = str(text_of("gemm_auto", 4))
        for args, used in (
            ([], 2),
            (["--lock-reserved=0"], 0),
            (["--lock-reserved=7"], 7),
        ):
            with self.subTest(args):
                found = document("--read", path, "--depth=1", *args)
                self.assertEqual(found["depths"][0]["lock_pool"]["used"], used)
                holds = run("--read", path, "--depth=1", *args).out.count(
                    "gemm_l1 holds"
                )
                self.assertEqual(holds, used == 2)
        path = str(text_of("axpy", 4))
        out = run("--read", path, "--depth=1", "--lock-reserved=2").out
        self.assertNotIn("gemm_l1", out)

    def test_spilled_already(self) -> None:
        lock = 'T.ascend_get_buf("PIPE_V", s % 9, 0)'
        unlock = 'T.ascend_rls_buf("PIPE_V", s % 9, 0)'
        for text, line in (
            (f"{lock}\n{unlock}", 1),
            (f"{set_flag('0')}\nfor s in range(9):\n {lock}\n {unlock}", 3),
            (f"if x:\n pass\nelse:\n {lock}\n {unlock}", 4),
            (f"{lock}\n{unlock}".replace("s % 9", "T.int32(s) % 9"), 1),
        ):
            with self.subTest(text):
                self.assertEqual(
                    error_of(read_kernel, text, 4),
                    f"line {line}: flags have spilled to locks already: {EXPECTED_TIR}",
                )
        for text in (
            f"{lock}\nwork()\n{unlock}",
            f"{lock}\n{unlock.replace('9', '8')}",
            f"{unlock}\n{lock}",
            f"{unlock}\n{unlock}",
        ):
            with self.subTest(text):
                self.assertEqual(len(rings(f"{text}\n{set_flag('0')}")), 1)


class Texts(unittest.TestCase):
    """What is TIR and what is not."""

    def test_no_tir(self) -> None:
        for text in (
            "SetFlag<HardEvent::MTE2_V>(0);",
            "(" * 10_000 + ")" * 10_000,
            "[" * 10_000,
            "-" * 100_000 + "1",
            set_flag("1+" * 50_000 + "1"),
            "if 1:\n" * 9999,
            "\0",
            "\ud800",
            "1if 2else",
        ):
            with self.subTest(text):
                self.assertEqual(
                    error_of(read_kernel, text, 4), f"no TIR: {EXPECTED_TIR}", text[:40]
                )

    def test_depth_that_only_some_pythons_parse(self) -> None:
        for text in ("x" + ".a" * 100_000, "1+" * 50_000 + "1", "f" + "()" * 50_000):
            with self.subTest(text):
                what, _, expected = error_of(read_kernel, text, 4).partition(": ")
                self.assertIn(what, ("no TIR", "no flags"))
                self.assertEqual(expected, EXPECTED_TIR)

    def test_no_flags(self) -> None:
        for text in (
            "",
            "x = 1",
            "set_flag(PIPE_V, PIPE_S, 0);",
            "# T.ascend_set_flag",
            'x = "T.ascend_set_flag(1)"',
        ):
            with self.subTest(text):
                self.assertEqual(
                    error_of(read_kernel, text, 4), f"no flags: {EXPECTED_TIR}"
                )

    def test_no_warnings_of_python(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.assertRaises(ValueError):
                read_kernel('x = "\\d" 1if 2', 4)
            read_kernel(f'x = "\\d"\n(1)(2)\n{set_flag("0")}', 4)
        self.assertEqual([str(each.message) for each in caught], [])

    def test_one_function(self) -> None:
        kernel = f"def main():\n {set_flag('s % 4')}\n"
        host = 'def host():\n b = T.sblock_alloc_buffer((9,), data=b, scope="shared")\n'
        found = read_kernel(host + kernel + host, 4)
        self.assertEqual((len(found.sync_points), found.buffers), (1, ()))
        self.assertEqual(
            error_of(read_kernel, f"{kernel}\n{host}{kernel}", 4),
            "the functions of lines 1, 6 set flags: expected one kernel; read each from a"
            " file of its own",
        )

    def test_depth(self) -> None:
        stages = 'for s in T.serial(64, annotations={{"num_stages": {}}}):\n '
        text = stages.format(3) + set_flag("s % 3") + "\n" + stages.format(2) + "pass"
        self.assertEqual(rings(text, None), [("V_S[0]", None, None)])
        self.assertEqual(rings(text, 2), [("V_S[0]", 3, None)])
        deeper = stages.format(8) + set_flag("s % 8") + "\n" + stages.format(1) + "pass"
        self.assertEqual(rings(deeper, None), [("V_S[0]", None, None)])
        for depth in (1, 4):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(read_kernel, text, depth),
                    f"depth {depth}: expected a num_stages that is printed: 2, 3",
                )
        for depth in (0, -1, 10**18 + 1):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(read_kernel, set_flag("0"), depth),
                    f"depth {depth}: expected a whole number from 1 to 10^18",
                )
        self.assertEqual(
            error_of(read_kernel, stages.format(10**18 + 1) + set_flag("0")),
            f"depth {10**18 + 1}: expected a whole number from 1 to 10^18",
        )
        for number in ("n", "0", "True", '"3"'):
            with self.subTest(number):
                text = stages.format(number) + set_flag("s % 3")
                self.assertEqual(
                    error_of(read_kernel, text),
                    "no num_stages is printed: expected the depth that it was compiled with,"
                    " as in 4=FILE",
                )


class Command(unittest.TestCase):
    """--read."""

    maxDiff = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text: str, name: str = "kernel.tir") -> str:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    def test_what_was_read(self) -> None:
        path = str(text_of("gemm_auto", 4))
        table = f"""\
read at depth 4: {path}
MTE1_MTE2[0]  ids 0-2  at most 3  lines 29, 32, 35, 45 and 4 more
FIX_M[0]      id 0     fixed 1    lines 38, 58, 80, 92
MTE2_MTE1[0]  ids 0-2  at most 3  lines 54, 61
M_FIX[0]      id 0     fixed 1    lines 71, 74
acc           l0c 16K  fixed 1    line 24
a_l1          l1 8K    at most 3  line 25
b_l1          l1 8K    at most 3  line 26
gemm_l1 holds 2 locks, line 64

"""
        status, out, err = run("--read", path, "--summary")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.partition("depth  ")[0], table)
        self.assertTrue(run("--read", path).out.startswith(f"{table}depth=1 num_"))
        self.assertTrue(
            run("--read", path, "--depth=2").out.startswith(f"{table}depth=2 ")
        )

    def test_what_was_read_elsewhere(self) -> None:
        text = (
            'with T.sblock("SIMT_VF"):\n x = T.sblock_alloc_buffer((300,), data=x.data,'
            ' scope="shared")\n'
            'with T.sblock("SIMT_VF"):\n pass\nT.sblock_attr({"tl.buffer_versions_map":'
            f" {{x.data: 4}}}})\n{set_flag('s % 4 + 1')}\n{set_flag('0')}"
        )
        path = self.write(text)
        expected = [
            f"read at depth 4: {path}",
            "V_S[0]  id 0     fixed 1            line 7",
            "V_S[1]  ids 1-4  follows the depth  line 6",
            "x       ub 1.2K  follows the depth  line 2",
            "ub has 216K: SIMT_VF, lines 1, 3",
            "",
        ]
        read = f"4={path}"
        self.assertEqual(
            run("--read", read, "--depth=1").out.splitlines()[:6], expected
        )
        out = run("--read", read, "--memory=ub=100K", "--depth=1").out
        self.assertEqual(out.splitlines()[:5], [*expected[:4], ""])
        self.assertIn("memory ub: 1.2K/100K\n", out)

    def test_json(self) -> None:
        path = str(text_of("gemm_auto", 4))
        found = document("--read", path)
        (reading,) = found["read"]
        self.assertEqual(
            list(reading), ["file", "depth", "sync_points", "buffers", "locks"]
        )
        self.assertEqual(reading["file"], path)
        self.assertEqual(reading["depth"], 4)
        self.assertEqual(
            reading["sync_points"][2],
            {"name": "MTE2_MTE1[0]", "ids": [0, 2], "lines": [54, 61]},
        )
        self.assertEqual(
            reading["sync_points"][0]["lines"], [29, 32, 35, 45, 67, 83, 86, 89]
        )
        self.assertEqual(
            reading["buffers"][1],
            {"name": "a_l1", "memory": "l1", "bytes": 8192, "versions": 3, "line": 25},
        )
        self.assertEqual(reading["locks"], 2)
        self.assertEqual(document("--depth=1")["read"], [])

    def test_standard_input(self) -> None:
        path = text_of("axpy", 4)
        with open(path, "rb") as file:
            result = subprocess.run(
                [
                    sys.executable,
                    str(ROOT / "flag_budget.py"),
                    "--read",
                    "-",
                    "--summary",
                ],
                stdin=file,
                capture_output=True,
                check=True,
            )
        self.assertEqual(result.stderr, b"")
        expected = run("--read", str(path), "--summary").out.replace(str(path), "-")
        self.assertEqual(result.stdout.decode("ascii"), expected)

    def test_standard_input_stays_open(self) -> None:
        result = subprocess.run(
            [sys.executable, str(ROOT / "flag_budget.py"), "--read=4=-", "--read=3=-"],
            input=set_flag("0"),
            capture_output=True,
            check=False,
            encoding="ascii",
        )
        self.assertEqual(
            result.stderr.partition("error: ")[2],
            f"argument --read: '-': no flags: {EXPECTED_TIR}\n",
        )

    def test_several_num_stages(self) -> None:
        path = str(text_of("mixed_deep", 4))
        note = (
            f"note: {path!r} prints num_stages 2, 4: read at depth 4; DEPTH=FILE says"
            " another\n"
        )
        self.assertEqual(run("--read", path).err, note)
        self.assertEqual(run("--read", f"4={path}").err, "")

    def test_notes_on_other_depths(self) -> None:
        for depth in (2, 3):
            with self.subTest(depth):
                path = str(text_of("axpy", depth))
                self.assertEqual(
                    run("--read", path).err,
                    f"note: {path!r} was compiled at depth {depth}: what stops growing at 2 or"
                    " 3 looks as if it followed the depth; read one compiled at 4 or more\n",
                )
        self.assertEqual(run("--read", str(text_of("axpy", 4))).err, "")
        path = str(text_of("short_loop", 8))
        note = (
            f"note: in {path!r} a loop is shorter than a ring (line 76): at other depths"
            " the ring is cut otherwise; read each depth\n"
        )
        self.assertEqual(run("--read", path).err, note)
        short = str(text_of("axpy", 2))
        self.assertEqual(run("--read", short, "--read", path).err, note)
        for event_id, noted in (
            ("s % 63", 0),
            ("s % 64", 0),
            ("s % 99", 1),
            ("s", 1),
            ("3", 0),
        ):
            with self.subTest(event_id):
                path = self.write(set_flag(event_id, "s in range(64)"))
                self.assertEqual(
                    run("--read", f"64={path}", "--depth=1").err.count("note"), noted
                )

    def test_note_on_shared_addresses(self) -> None:
        for aliases, noted in (("a: [], b: []", 0), ("a: [], b: [c]", 1), ("", 0)):
            with self.subTest(aliases):
                path = self.write(
                    f'T.sblock_attr({{"tl.buffer_alias_map": {{{aliases}}}}})\n{set_flag("0")}'
                )
                note = (
                    f"note: in {path!r} buffers share addresses (line 1): they take less"
                    " memory than shown\n"
                )
                self.assertEqual(run("--read", f"4={path}").err, note * noted)

    def test_options_of_the_kernel(self) -> None:
        path = self.write(cross_core("s % 2", "15"))
        found = document("--read", f"2={path}", "--reserve=31", "--depth=3")
        (namespace,) = found["depths"][0]["namespaces"]
        self.assertEqual((namespace["slots"], namespace["ids"]), (15, 3))
        # What is reserved may be all that is cross-core.
        path = self.write(cross_core("15") + "\n" + set_flag("0"))
        found = document("--read", f"2={path}", "--reserve=15")
        self.assertEqual(len(found["depths"][0]["namespaces"]), 1)
        path = self.write(set_flag("0"))
        self.assertIn(
            "note: --reserve IDS has no effect",
            run("--read", f"2={path}", "--reserve=15").err,
        )

    def test_errors(self) -> None:
        for path, reason in (
            ("/no/such/file", "cannot be read: No such file or directory"),
            (str(self.folder), "cannot be read: Is a directory"),
            ("", "cannot be read: No such file or directory"),
            ("a\0b", "embedded null byte"),
        ):
            with self.subTest(path):
                self.assertEqual(
                    complaint("--read", path), f"argument --read: {path!r}: {reason}"
                )
        (self.folder / "gbk").write_bytes("# 注释".encode("gbk"))
        path = str(self.folder / "gbk")
        self.assertEqual(
            complaint("--read", path),
            f"argument --read: {path!r}: cannot be read: expected UTF-8 text",
        )
        path = self.write("\ufeff# 注释\n" + set_flag("0"))
        self.assertEqual(run("--read", f"4={path}").status, 0)
        path = self.write("int main() { return 0; }")
        self.assertEqual(
            complaint("--read", path),
            f"argument --read: {path!r}: no TIR: {EXPECTED_TIR}",
        )
        for text in ("0=x", "00=x", "1000000000000000001=x"):
            with self.subTest(text):
                self.assertEqual(
                    complaint("--read", text),
                    f"argument --read: {text!r}: expected a whole number from 1 to 10^18",
                )
        path = self.write(set_flag("0"), "a=b")
        self.assertEqual(run("--read", f"4={path}").status, 0)
        self.assertIn(
            f"argument --read: {path!r}: no num_st", complaint("--read", path)
        )


class SeveralReadings(unittest.TestCase):
    """--read, more than once."""

    maxDiff = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def readings(self, **texts: str) -> list[str]:
        args = []
        for name, text in texts.items():
            path = self.folder / name
            path.write_text(text, "utf-8")
            args += ["--read", f"{name[1:]}={path}"]
        return args

    def test_every_depth_as_it_was_read(self) -> None:
        for kernel in KERNELS:
            name = kernel["kernel"]
            args = [f"--read={depth}={text_of(name, depth)}" for depth in range(1, 11)]
            found = document(*args, "--max-depth=10")
            for depth in range(1, 11):
                alone = document(args[depth - 1], f"--depth={depth}")
                self.assertEqual([found["depths"][depth - 1]], alone["depths"], depth)
            self.assertEqual(
                [each["depth"] for each in found["read"]], [*range(10, 0, -1)]
            )

    def test_other_depths_follow_the_deepest(self) -> None:
        args = self.readings(
            d2=set_flag("s % 2"),
            d4=f"{set_flag('s % 4')}\n{set_flag('s % 4 + 4')}",
            d3=set_flag("s % 3").replace("V_S", "S_V"),
        )
        status, out, err = run(*args, "--summary")
        self.assertEqual((status, err), (0, ""))
        paths = [str(self.folder / name) for name in ("d4", "d3", "d2")]
        self.assertEqual(
            out,
            f"""\
read at depth 4: {paths[0]}; also at depth 3: {paths[1]}; also at depth 2: {paths[2]}
V_S[0]  ids 0-3  follows the depth  line 1
V_S[4]  ids 4-7  follows the depth  line 2

depth   V_S  S_V  locks  verdict
    1   2/8    -   0/32  fits
    2   2/8    -   0/32  fits
    3     -  3/8   0/32  fits
    4   8/8    -   0/32  fits
    5  10/8    -   5/32  spills V_S[4]
flag slots last to depth 4; depth 5 is the first to spill: V_S 10/8
the compiler takes up to depth 16; depth 17 is rejected: lock pool 34/32
""",
        )
        blocks = run(*args, "--depth=3").out.partition("\n\n")[2]
        self.assertTrue(
            blocks.startswith("depth=3 num_versions per sync point = 3\n[S_V]\n")
        )

    def test_limits_look_as_far_as_the_readings(self) -> None:
        # Read at 12, one sync point stops at 2; read at 20 alone it needs 9.
        for texts, spill, compiles in (
            ({"d12": set_flag("s % 2"), "d20": set_flag("s % 2")}, None, None),
            ({"d5": set_flag("s % 9"), "d20": set_flag("s % 2")}, 4, None),
            ({"d20": set_flag("s % 2"), "d19": set_flag("s % 9")}, 18, None),
            ({"d20": set_flag("s % 2"), "d19": set_flag("s % 40")}, 18, 18),
            ({"d40": set_flag("s % 2"), "d39": set_flag("s % 40")}, 38, 38),
            # Behind what was read, as before it, the deepest reading counts.
            ({"d9": set_flag("s % 8"), "d50": set_flag("s % 50")}, 9, 32),
            ({"d33": set_flag("s % 8"), "d34": set_flag("s % 34")}, 8, 33),
            # The first that spills, not the first that was read.
            ({"d128": set_flag("s % 128"), "d256": set_flag("s % 256")}, 8, 32),
        ):
            with self.subTest(texts):
                found = document(*self.readings(**texts), "--depth=1")
                self.assertEqual(found["last_depth_without_spill"], spill, texts)
                self.assertEqual(found["last_depth_that_compiles"], compiles, texts)

    def test_memory(self) -> None:
        def text(versions: int, rows: int = 62) -> str:
            return (
                f'b = T.sblock_alloc_buffer(({rows}, 256), data=b.data, scope="shared")\n'
                f'T.sblock_attr({{"tl.buffer_versions_map": {{b.data: {versions}}}}})\n'
                + set_flag("0")
            )

        for texts, last in (
            ({"d4": text(4)}, 4),
            ({"d4": text(4), "d3": text(5)}, 2),
            ({"d4": text(4), "d6": text(1)}, None),
            ({"d6": text(6), "d5": text(1), "d7": text(7)}, 5),
            ({"d7": text(7), "d5": text(1)}, 5),
            ({"d7": text(7), "d5": text(1), "d6": text(1)}, 6),
        ):
            with self.subTest(texts):
                found = document(*self.readings(**texts), "--depth=1")
                self.assertEqual(found["last_depth_in_memory"], last, [*texts])
        args = self.readings(d4=text(4), d3=text(5))
        out = run(*args, "--summary").out
        self.assertIn("memory lasts to depth 2; depth 3 needs ub 310K/248K\n", out)

    def test_flags_and_memory_end_at_a_depth_of_its_own(self) -> None:
        args = [f"--read={CASES / f'reading.d{depth}.tir'}" for depth in (10, 5)]
        self.assertEqual(
            run(*args, "--summary").out.splitlines()[-3:],
            [
                "flag slots last to depth 4; depth 5 is the first to spill: V_S 9/8",
                "memory lasts to depth 4; depth 5 needs ub 266.5K/248K",
                "flag slots and memory bind at the same depth",
            ],
        )

    def test_columns_of_memories(self) -> None:
        def text(scope: str) -> str:
            return ALLOCATION.format("(256,)", scope)

        args = self.readings(d2=text("shared.l1"), d4=text("shared"))
        self.assertEqual(
            run(*args, "--summary", "--max-depth=3").out.splitlines()[4:8],
            [
                "depth  V_S  locks       ub       l1  verdict",
                "    1  1/8   0/32  1K/248K        -  fits",
                "    2  1/8   0/32        -  1K/512K  fits",
                "    3  1/8   0/32  1K/248K        -  fits",
            ],
        )
        self.assertEqual(run(*args, "--memory=l1=8K").status, 0)

    def test_never_over_where_a_depth_lacks_one(self) -> None:
        events = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V", "M_FIX", "FIX_M", "S_V")
        text = "\n".join(set_flag("0").replace("V_S", event) for event in events)
        args = self.readings(d2=f"{text}\n{set_flag('s % 2')}", d4=text)
        self.assertIn(
            "\nnever over: MTE2_V 1/8, V_MTE2 1/8, V_MTE3 1/8, MTE3_V 1/8, M_FIX 1/8,"
            " FIX_M 1/8, S_V 1/8, V_S 2/8\n",
            run(*args, "--summary").out,
        )

    def test_sweep_reaches_the_deepest(self) -> None:
        args = self.readings(d6=set_flag("0"), d3=set_flag("0"))
        self.assertEqual(len(document(*args)["depths"]), 6)
        self.assertEqual(len(document(*args, "--max-depth=2")["depths"]), 2)

    def test_columns_are_those_of_the_depths_shown(self) -> None:
        args = self.readings(d2=set_flag("0").replace("V_S", "S_V"), d4=set_flag("0"))
        for depth, event in ((2, "S_V"), (3, "V_S")):
            with self.subTest(depth):
                out = run(*args, "--summary", f"--depth={depth}").out
                self.assertIn(f"\ndepth  {event}  locks  verdict\n", out)

    def test_two_of_one_depth(self) -> None:
        path = str(text_of("axpy", 4))
        other = str(text_of("matmul", 4))
        self.assertEqual(
            complaint("--read", path, "--read", other),
            f"argument --read: {other!r}: of depth 4, as {path!r} is: expected one reading"
            " of a depth",
        )

    def test_the_largest_depth(self) -> None:
        args = self.readings(**{f"d{10**18}": set_flag("0")})
        self.assertEqual(run(*args, "--depth=1").status, 0)
        args += self.readings(d1=set_flag("0"))
        self.assertEqual(run(*args, "--depth=1").status, 0)


class RandomTexts(unittest.TestCase):
    """Texts by chance."""

    def test_random_edits_never_give_a_traceback(self) -> None:
        dice = random.Random(23)
        texts = [
            path.read_text("ascii") for path in (*CASES.iterdir(), text_of("mixed", 4))
        ]
        words = [
            "(",
            ")",
            "[",
            "]",
            ",",
            "\n",
            " ",
            "0",
            "%",
            "s",
            '"',
            "T.",
            ":",
            "=",
            "-",
        ]
        words += [
            "for s in range(3):\n ",
            "16",
            "{",
            "}",
            "\0",
            "é",
            "1e9",
            "*",
            "None",
        ]
        for _ in range(1500):
            text = dice.choice(texts)
            for _ in range(dice.randint(1, 4)):
                start = dice.randrange(len(text))
                end = start + dice.choice([0, 1, 2, 9])
                text = text[:start] + dice.choice([*words, ""]) + text[end:]
            try:
                kernel = read_kernel(text, dice.choice([None, 2, 4]))
            except ValueError as error:
                self.assertTrue(str(error).isprintable())
            else:
                self.assertIsInstance(kernel, Kernel)

    def test_texts_built_from_rings(self) -> None:
        dice = random.Random(24)
        for _ in range(300):
            depth = dice.randint(2, 9)
            expected: list[SyncPoint] = []
            lines: list[str] = []
            for event in dice.sample(["MTE2_V", "V_MTE2", "V_MTE3", "M_FIX"], 3):
                base, widths = (
                    0,
                    sorted((dice.randint(1, 9) for _ in range(3)), reverse=True),
                )
                calls = []
                for width in widths:
                    base += dice.randint(0, 2)
                    calls += self.calls(dice, event, base, width)
                    fixed = width > depth or width == 1 < depth
                    expected.append(
                        SyncPoint(
                            f"{event}[{base}]",
                            event,
                            versions=width if fixed else None,
                            max_versions=width if 1 < width < depth else None,
                        )
                    )
                    base += width
                dice.shuffle(calls)
                lines += calls
            with self.subTest(lines=lines):
                self.assertEqual(
                    list(read_kernel("\n".join(lines), depth).sync_points), expected
                )

    def calls(
        self, dice: random.Random, event: str, base: int, width: int
    ) -> list[str]:
        """Flag calls that use these ids, but no single one of a wider ring."""
        ids = dice.choice(
            [
                f"c[0] % {width} + {base}",
                f"{base} + (k + w * 64) % {width}",
                f"(s + 1) % {width} + {base}",
            ]
        )
        call = f'T.ascend_{dice.choice(["set", "wait"])}_flag("{event}", {{}})'
        loop = dice.choice(
            [
                f"for s in T.serial({base}, {base + width}, annotations={{}}): "
                + call.format("s"),
                f"for t, s in T.grid(99, {width}): " + call.format(f"s + {base}"),
                f"for s in range({width}): " + call.format(f"s % {width + 1} + {base}"),
                "for s in T.unroll(64): " + call.format(ids),
                call.format(ids),
            ]
        )
        if width == 1 and "+ 1) % 1" not in loop:
            loop = call.format(base)
        return [loop] * dice.randint(1, 3)
