"""The compiler's own decisions, recorded: every one of them must come out here.

tests/record_vectors.py says how they were recorded.
"""

from __future__ import annotations

import json
import unittest
from typing import Any

from flag_budget import CROSS_CORE, Kernel, SyncPoint, knapsack_keep, plan
from tests import ROOT, as_recorded, document

VECTORS = ROOT / "tests/vectors"
LAYOUTS = json.loads((VECTORS / "rewrite_flag_to_buf.json").read_text("ascii"))["cases"]
CUBE = {"MTE1_MTE2", "MTE2_MTE1", "MTE1_M", "M_MTE1", "M_FIX", "FIX_M"}
KERNELS = json.loads((VECTORS / "kernels.json").read_text("ascii"))
SHARING = json.loads((VECTORS / "sharing.json").read_text("ascii"))


def by_depth(kernel: dict[str, Any], *args: str) -> dict[str, Any]:
    """What the command says of a recorded kernel, per depth that was recorded."""
    points = []
    for point in kernel["sync_points"]:
        text = point["name"]
        for key in ("event", "versions", "share"):
            text += f",{key}={point[key]}" if key in point else ""
        text += ",cross-iter" if "cross_iter" in point else ""
        points.append(f"--sync-point={text}")
    last = max(map(int, kernel["depths"]))
    depths = document(*points, *args, f"--max-depth={last}")["depths"]
    return {depth: depths[int(depth) - 1] for depth in kernel["depths"]}


class Layouts(unittest.TestCase):
    """rewrite_flag_to_buf.json: the pass RewriteFlagToBuf alone."""

    def test_every_choice_of_the_knapsack(self) -> None:
        self.assertEqual(len(LAYOUTS), 400)
        for number, case in enumerate(LAYOUTS):
            locks = case["lock_reserved"]
            for event, widths in case["hard_events"].items():
                kept = knapsack_keep(widths, 8)
                locks += sum(width for width, keep in zip(widths, kept) if not keep)
                if "placements" in case:
                    recorded = [each == "flag" for each, _ in case["placements"][event]]
                    self.assertEqual(kept, recorded, f"case {number}, {event}")
            if "lock_slots_needed" in case:
                self.assertEqual(locks, case["lock_slots_needed"], f"case {number}")

    def test_every_placement_through_the_command(self) -> None:
        checked = 0
        for number, case in enumerate(LAYOUTS):
            # The compiler lays a hard_event out wider before narrower, and emits the
            # cube's code first.
            events = case["hard_events"]
            if any(widths != sorted(widths)[::-1] for widths in events.values()):
                continue
            if [*events] != sorted(events, key=lambda event: event not in CUBE):
                continue
            checked += 1
            args = ["--depth", "1", "--lock-reserved", str(case["lock_reserved"])]
            for event, widths in case["hard_events"].items():
                for index, width in enumerate(widths):
                    point = f"{event}[{index}],event={event},versions={width}"
                    args += ["--sync-point", point]
            (depth,) = document(*args)["depths"]
            with self.subTest(case=number):
                if "placements" in case:
                    placements = {
                        each["name"]: [
                            [point["placement"], point["base"]]
                            for point in each["sync_points"]
                        ]
                        for each in depth["namespaces"]
                    }
                    self.assertEqual(placements, case["placements"])
                    self.assertIsNone(depth["error"])
                else:
                    used = depth["lock_pool"]["used"]
                    self.assertEqual(used, case["lock_slots_needed"])
                    self.assertIn(f"lock pool {used}/32", depth["error"])
        self.assertGreater(checked, len(LAYOUTS) // 3)


class Kernels(unittest.TestCase):
    """kernels.json and sharing.json: whole kernels, compiled over a sweep."""

    def test_kernels(self) -> None:
        for kernel in [*KERNELS["kernels"], *SHARING["kernels"]]:
            locks = f"--lock-reserved={kernel['lock_reserved']}"
            found = by_depth(kernel, locks, "--sharing=on-demand")
            for depth, recorded in kernel["depths"].items():
                with self.subTest(kernel["kernel"], depth=depth):
                    self.assertEqual(as_recorded(found[depth]), recorded)

    def test_handshakes(self) -> None:
        for handshake in KERNELS["cross_core"]:
            args = ["--cross-core", f"--sharing={handshake['sharing']}"]
            if handshake["reserved"]:
                args.append(f"--reserve={','.join(map(str, handshake['reserved']))}")
            found = by_depth(handshake, *args)
            for depth, recorded in handshake["depths"].items():
                with self.subTest(reserved=handshake["reserved"], depth=depth):
                    if "rejected" in recorded:
                        self.assertIn("cross-core", found[depth]["error"])
                        continue
                    self.assertIsNone(found[depth]["error"])
                    (namespace,) = found[depth]["namespaces"]
                    bases = {
                        point["name"]: point["base"]
                        for point in namespace["sync_points"]
                    }
                    self.assertEqual(bases, recorded)

    def test_handshakes_from_python(self) -> None:
        for handshake in KERNELS["cross_core"]:
            kernel = Kernel(
                [SyncPoint(**point) for point in handshake["sync_points"]],
                cross_core=True,
                sharing=handshake["sharing"],
                reserved={CROSS_CORE: handshake["reserved"]},
            )
            for depth, recorded in handshake["depths"].items():
                at_depth = plan(kernel, int(depth))
                with self.subTest(reserved=handshake["reserved"], depth=depth):
                    self.assertEqual(bool(at_depth.rejected), "rejected" in recorded)
                    if not at_depth.rejected:
                        (namespace,) = at_depth.namespaces
                        bases = {each.name: each.base for each in namespace.sync_points}
                        self.assertEqual(bases, recorded)
