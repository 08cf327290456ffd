"""The knapsack and the allocator: examples, and brute force."""

from __future__ import annotations

import dataclasses
import itertools
import unittest

from flag_budget import (
    BUILT_IN,
    Buffer,
    Kernel,
    SyncPoint,
    knapsack_keep,
    limits,
    plan,
)
from tests import error_of


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
            ([1, 0], 8, "width 0: expected at least 1"),
            ([-1], 8, "width -1: expected at least 1"),
            ([1], -1, "capacity -1: expected at least 0"),
        ):
            with self.subTest(widths):
                self.assertEqual(error_of(knapsack_keep, widths, capacity), complaint)
        self.assertEqual(knapsack_keep([1], 0), [False])


class Plans(unittest.TestCase):
    """plan() of the built-in kernel."""

    def test_shared_base_spills_as_one(self) -> None:
        places = plan(Kernel(BUILT_IN, sharing="always"), 4).namespaces[0].sync_points
        self.assertEqual(
            [(each.placement, each.base) for each in places],
            [("flag", 0), ("flag", 4), ("lock", 0), ("lock", 0)],
        )

    def test_plans_are_values(self) -> None:
        kernel = Kernel(BUILT_IN, buffers=[Buffer("b", "ub", 1)])
        at_3 = plan(kernel, 3)
        self.assertEqual(at_3, plan(kernel, 3))
        self.assertEqual(len({at_3, plan(kernel, 3), plan(kernel, 4)}), 2)
        (namespace,), (memory,) = at_3.namespaces, at_3.memories
        found = limits(kernel)
        for each in (
            *(at_3, namespace, namespace.sync_points[0], memory, kernel),
            *(found, *found.memories, *kernel.buffers, *BUILT_IN),
        ):
            with self.subTest(each):
                with self.assertRaises(dataclasses.FrozenInstanceError):
                    each.name = "x"  # type: ignore

    def test_depth_below_1(self) -> None:
        for depth in (0, -1):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(plan, Kernel(BUILT_IN), depth),
                    f"depth {depth}: expected a whole number from 1 to 10^18",
                )

    def test_last_depth_without_spill(self) -> None:
        for cross_core, sharing, depth in (
            (False, None, 2),
            (False, "always", 2),
            (True, None, 4),
            (True, "always", 5),
        ):
            with self.subTest(cross_core):
                kernel = Kernel(BUILT_IN, cross_core, sharing)
                self.assertEqual(limits(kernel).last_depth_without_spill, depth)
        found = limits(Kernel([SyncPoint("a")], True))
        self.assertEqual(found.last_depth_without_spill, 16)
