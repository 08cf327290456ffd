"""What holds for every kernel, tried on random ones."""

from __future__ import annotations

import json
import random
import re
import unittest
from itertools import chain, combinations

from flag_budget import (
    CROSS_CORE,
    Buffer,
    Kernel,
    Namespace,
    Plan,
    SyncPoint,
    json_report,
    last_depth_in_memory,
    last_depth_that_compiles,
    last_depth_without_spill,
    plan,
    text_report,
)

KERNELS = 150
EVENTS = (None, "MTE2_V", "V_MTE2", "M_FIX", "cross-core")


def width(dice: random.Random) -> dict[str, int]:
    """versions, max_versions, or neither."""
    return dice.choice(
        [{}, {}, {"versions": dice.randint(1, 9)}, {"max_versions": dice.randint(1, 9)}]
    )


def random_kernel(dice: random.Random) -> Kernel:
    """Up to nine sync points, and some buffers."""
    points = [
        SyncPoint(
            f"p{number}",
            dice.choice(EVENTS),
            cross_iter=dice.random() < 0.4,
            share=dice.choice([None, "g", "h"]),
            **width(dice),
        )
        for number in range(dice.randint(1, 9))
    ]
    buffers = [
        Buffer(
            f"b{number}", dice.choice(["ub", "l1"]), dice.randint(1, 99), **width(dice)
        )
        for number in range(dice.randint(0, 4))
    ]
    return Kernel(
        points,
        cross_core=dice.random() < 0.3,
        sharing=dice.choice([None, "always", "on-demand"]),
        reserved=dice.sample(range(16), dice.choice([0, 0, 1, 3])),
        lock_reserved=dice.choice([0, 0, 2, 7]),
        buffers=buffers,
        capacities={"ub": dice.randint(1, 60), "l1": dice.randint(1, 60)},
    )


def allocations(namespace: Namespace) -> dict[tuple[str, int], int]:
    """By placement and base, how wide each allocation is."""
    widths: dict[tuple[str, int], int] = {}
    for each in namespace.sync_points:
        key = each.placement, each.base
        widths[key] = max(widths.get(key, 0), each.num_versions)
    return widths


class Properties(unittest.TestCase):
    """At depths 1 to 12."""

    kernels: list[Kernel]
    plans: list[tuple[Kernel, Plan]]

    @classmethod
    def setUpClass(cls) -> None:
        """Plan them all."""
        dice = random.Random(25)
        cls.kernels = [random_kernel(dice) for _ in range(KERNELS)]
        cls.plans = [
            (kernel, plan(kernel, depth))
            for kernel in cls.kernels
            for depth in range(1, 13)
        ]

    def test_kept_ids_do_not_overlap_and_lie_within_the_slots(self) -> None:
        for kernel, at in self.plans:
            for namespace in at.namespaces:
                cross_core = namespace.name == CROSS_CORE
                free = (
                    {*range(16)}.difference(kernel.reserved)
                    if cross_core
                    else {*range(8)}
                )
                self.assertEqual(namespace.slots, len(free))
                kept = [
                    number
                    for (placement, base), wide in allocations(namespace).items()
                    if placement == "flag"
                    for number in range(base, base + wide)
                ]
                self.assertEqual(len(kept), len({*kept}), (kernel, at))
                self.assertLessEqual({*kept}, free, (kernel, at))
                self.assertEqual(namespace.kept_slots, len(kept))

    def test_locks_do_not_overlap_nor_precede_the_reserved_ones(self) -> None:
        for kernel, at in self.plans:
            locks = sorted(
                (base, wide, namespace.name == CROSS_CORE)
                for namespace in at.namespaces
                for (placement, base), wide in allocations(namespace).items()
                if placement == "lock"
            )
            end = kernel.lock_reserved
            for base, wide, _ in locks:
                self.assertEqual(base, end, (kernel, at))
                end = base + wide
            self.assertEqual(end, at.lock_slots + at.cross_core_locks)
            crossing = [cross_core for *_, cross_core in locks]
            self.assertEqual(crossing, sorted(crossing))

    def test_what_is_kept_within_a_core_is_optimal(self) -> None:
        for kernel, at in self.plans:
            for namespace in at.namespaces:
                if namespace.name == CROSS_CORE:
                    continue
                widths = [*allocations(namespace).values()]
                subsets = chain.from_iterable(
                    combinations(widths, count) for count in range(len(widths) + 1)
                )
                best = max(sum(each) for each in subsets if sum(each) <= 8)
                self.assertEqual(namespace.kept_slots, best, (kernel, at))
                self.assertEqual(namespace.ids, sum(widths))

    def test_spilled_and_rejected(self) -> None:
        for _, at in self.plans:
            lock = {
                each.name
                for namespace in at.namespaces
                for each in namespace.sync_points
                if each.placement == "lock"
            }
            self.assertEqual({*at.spilled}, lock)
            over = at.lock_slots > 32 or at.cross_core_locks > 0
            self.assertEqual(at.rejected is not None, over)

    def test_limits_are_those_of_the_plans(self) -> None:
        for kernel in self.kernels:
            plans = {depth: plan(kernel, depth) for depth in range(1, 62)}
            for limit, what in (
                (last_depth_without_spill(kernel), "spilled"),
                (last_depth_that_compiles(kernel), "rejected"),
                (last_depth_in_memory(kernel), "out_of_memory"),
            ):
                first = next((d for d, at in plans.items() if getattr(at, what)), None)
                self.assertEqual(limit, first and first - 1, (kernel, what))

    def test_text_and_json_agree(self) -> None:
        for kernel in self.kernels[:60]:
            depths = range(1, 6)
            text = "\n".join(text_report(kernel, depths))
            document = json.loads("".join(json_report(kernel, depths)))
            *blocks, table = text.split("\n\n")
            for block, at in zip(blocks, document["depths"]):
                self.assertIn(f"depth={at['depth']} ", block)
                for namespace in at["namespaces"]:
                    for point in namespace["sync_points"]:
                        where = "base" if point["placement"] == "flag" else "lock"
                        line = (
                            rf"^{point['name']} +{where} {point['base']} +id = i %"
                            rf" {point['num_versions']} +\+ {point['base']}$"
                        )
                        self.assertRegex(block, re.compile(line, re.MULTILINE))
                for memory in at["memories"]:
                    line = (
                        f"memory {memory['name']}: {memory['used']}/{memory['bytes']}"
                    )
                    self.assertIn(line, block.splitlines())
                self.assertEqual("rejects this depth" in block, at["error"] is not None)
            rows = table.splitlines()[1:6]
            for row, at in zip(rows, document["depths"]):
                verdict = row.split("  ")[-1]
                self.assertEqual("rejected: " in verdict, at["error"] is not None)
                self.assertEqual(
                    "out of memory: " in verdict, bool(at["out_of_memory"])
                )
                self.assertIn(f" {at['lock_pool']['used']}/32 ", row)
            for key, words in (
                ("last_depth_without_spill", "flag slots last to depth"),
                ("last_depth_that_compiles", "the compiler takes up to depth"),
                ("last_depth_in_memory", "memory lasts to depth"),
            ):
                if document[key]:
                    self.assertIn(f"\n{words} {document[key]};", table)
