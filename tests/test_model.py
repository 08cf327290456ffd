"""The knapsack and the allocator: against the compiler, and against brute force."""

from __future__ import annotations

import gc
import itertools
import json
import unittest

from flag_budget import built_in_kernel, first_spill, knapsack_keep, plan
from tests import ROOT

VECTORS = json.loads(
    (ROOT / "tests/vectors/rewrite_flag_to_buf.json").read_text("ascii")
)["cases"]


class Knapsack(unittest.TestCase):
    """knapsack_keep(), the compiler's choice."""

    def test_examples(self) -> None:
        for widths, kept in (
            ([3, 3, 3, 3], [True, True, False, False]),
            ([5, 4, 4], [False, True, True]),
            ([1, 3, 5, 4, 5], [False, True, True, False, False]),
            ([9], [False]),
            ([], []),
        ):
            with self.subTest(widths):
                self.assertEqual(knapsack_keep(widths, 8), kept)

    def test_every_recorded_choice(self) -> None:
        self.assertEqual(len(VECTORS), 400)
        for number, case in enumerate(VECTORS):
            locks = case["lock_reserved"]
            for event, widths in case["hard_events"].items():
                kept = knapsack_keep(widths, 8)
                locks += sum(width for width, keep in zip(widths, kept) if not keep)
                if "placements" in case:
                    recorded = [
                        place == "flag" for place, _ in case["placements"][event]
                    ]
                    self.assertEqual(kept, recorded, f"case {number}, {event}")
            if "lock_slots_needed" in case:
                self.assertEqual(locks, case["lock_slots_needed"], f"case {number}")

    def test_no_subset_is_better(self) -> None:
        for count in range(5):
            for widths in itertools.product(range(1, 10), repeat=count):
                sums = {0}
                for width in widths:
                    sums |= {total + width for total in sums}
                for capacity in range(11):
                    kept = itertools.compress(widths, knapsack_keep(widths, capacity))
                    best = max(total for total in sums if total <= capacity)
                    self.assertEqual(sum(kept), best, f"{widths}, {capacity}")

    def test_out_of_range(self) -> None:
        for widths, capacity, complaint in (
            ([1, 0], 8, "width 0"),
            ([-1], 8, "width -1"),
            ([1], -1, "capacity -1"),
        ):
            with self.assertRaisesRegex(ValueError, complaint):
                knapsack_keep(widths, capacity)
        self.assertEqual(knapsack_keep([1], 0), [False])


class Plans(unittest.TestCase):
    """plan() of the built-in kernel."""

    def test_shared_base_spills_as_one(self) -> None:
        places = plan(built_in_kernel(sharing=True), 4).namespaces[0].sync_points
        self.assertEqual(
            [(each.placement, each.base) for each in places],
            [("flag", 0), ("flag", 4), ("lock", 0), ("lock", 0)],
        )

    def test_depth_below_1(self) -> None:
        for depth in (0, -1):
            with self.assertRaisesRegex(ValueError, f"depth {depth}"):
                plan(built_in_kernel(), depth)

    def test_garbage_collector_is_left_as_it_was(self) -> None:
        self.assertTrue(gc.isenabled())
        plan(built_in_kernel(), 1)
        self.assertTrue(gc.isenabled())
        gc.disable()
        self.addCleanup(gc.enable)
        plan(built_in_kernel(), 1)
        self.assertFalse(gc.isenabled())

    def test_first_spill(self) -> None:
        for cross_core, sharing, depth in (
            (False, False, 3),
            (False, True, 3),
            (True, False, 5),
            (True, True, 6),
        ):
            self.assertEqual(first_spill(built_in_kernel(cross_core, sharing)), depth)


if __name__ == "__main__":
    unittest.main()
