"""What holds for every kernel, tried on random ones."""

from __future__ import annotations

import json
import random
import re
import unittest
from dataclasses import asdict, replace
from itertools import chain, combinations
from typing import Any

from flag_budget import (
    CROSS_CORE,
    Buffer,
    Kernel,
    Limits,
    Namespace,
    Plan,
    SyncPoint,
    json_report,
    limits,
    plan,
    text_report,
)

KERNELS = 150
EVENTS = (None, "MTE2_V", "V_MTE2", "M_FIX", "cross-core")


def width(dice: random.Random) -> dict[str, Any]:
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
            f"b{number}", dice.choice(["ub", "l1"]), dice.randint(1, 999), **width(dice)
        )
        for number in range(dice.choice([0, 1, 2, 4, 5]))
    ]
    return Kernel(
        points,
        cross_core=dice.random() < 0.3,
        sharing=dice.choice([None, "always", "on-demand"]),
        reserved={
            CROSS_CORE: dice.sample(range(16), dice.choice([0, 0, 1, 3])),
            "MTE2_V": dice.sample(range(8), dice.choice([0, 0, 0, 2])),
        },
        lock_reserved=dice.choice([0, 0, 2, 7]),
        buffers=buffers,
        capacities={
            # No whole K, so that they are printed in bytes.
            "ub": 1024 * dice.randint(0, 9) + 32 * dice.randint(1, 31),
            "l1": 1024 * dice.randint(0, 19) + dice.randint(1, 1023),
        },
        aliases={
            f"b{number}": [f"b{dice.randrange(5)}"]
            for number in range(5)
            if dice.random() < 0.3
        },
    )


def random_readings(dice: random.Random, kernel: Kernel) -> dict[int, Kernel]:
    """Other kernels at some depths, or the same one."""
    return {
        depth: dice.choice([random_kernel(dice), kernel])
        for depth in dice.sample(range(1, 70), dice.choice([0, 1, 3, 6]))
    }


def as_read(kernel: Kernel, depth: int) -> Kernel:
    """The kernel with the base ids that it has at this depth, where none spills."""
    bases = {
        point.name: point.base
        for namespace in plan(kernel, depth).namespaces
        for point in namespace.sync_points
        if not namespace.lock_slots
    }
    points = [
        replace(point, base=bases.get(point.name)) for point in kernel.sync_points
    ]
    return replace(kernel, sync_points=points)


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
    answers: list[tuple[Kernel, dict[int, Kernel], Limits]]

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
        cls.answers = []
        for kernel in cls.kernels:
            readings = random_readings(dice, kernel)
            cls.answers.append((kernel, readings, limits(kernel, readings)))

    def test_kept_ids_do_not_overlap_and_lie_within_the_slots(self) -> None:
        for kernel, at in self.plans:
            for namespace in at.namespaces:
                slots = range(16 if namespace.cross_core else 8)
                reserved = kernel.reserved.get(namespace.name or "", ())
                free = {*slots}.difference(reserved)
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
                if namespace.name in kernel.reserved or namespace.cross_core:
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

    def test_bases_that_were_read_change_nothing(self) -> None:
        for kernel, at in self.plans:
            read = plan(as_read(kernel, at.depth), at.depth)
            # But for the order of those that share a base.
            namespaces = tuple(
                replace(namespace, id_order=before.id_order)
                for namespace, before in zip(read.namespaces, at.namespaces)
            )
            self.assertEqual(replace(read, namespaces=namespaces), at)

    def test_limits_are_those_of_the_plans(self) -> None:
        for kernel, readings, found in self.answers:
            plans = [
                plan(readings.get(depth, kernel), depth) for depth in range(1, 130)
            ]
            for limit, what in (
                (found.last_depth_without_spill, "spilled"),
                (found.last_depth_that_compiles, "rejected"),
                (found.last_depth_in_memory, "out_of_memory"),
            ):
                first = next((at.depth for at in plans if getattr(at, what)), None)
                if first is None:  # within these depths
                    self.assertTrue(limit is None or limit >= plans[-1].depth)
                else:
                    self.assertEqual(limit, first - 1, (kernel, readings, what))

    def test_what_binds_first(self) -> None:
        for kernel, readings, found in self.answers:
            held = any(each.buffers for each in (kernel, *readings.values()))
            self.assertEqual(bool(found.memories), held)
            ends = found.last_depth_without_spill, found.last_depth_in_memory
            flags, memory = (10**18 if end is None else end for end in ends)
            if flags == memory:
                expected = None if flags == 10**18 else "both"
            else:
                expected = "flag slots" if flags < memory else "memory"
            self.assertEqual(found.binds_first, expected if held else None)

    def test_largest_stage_is_exact(self) -> None:
        checked = 0
        for kernel, readings, found in self.answers:
            if found.last_depth_without_spill is None:
                for memory in found.memories:
                    self.assertIsNone(memory.largest_stage_for_flags)
                continue
            depth = found.last_depth_without_spill + 1
            spilling = readings.get(depth, kernel)
            for memory in found.memories:
                largest = memory.largest_stage_for_flags
                if largest is None:
                    self.assertEqual(memory.stage_bytes, 0)
                    continue
                checked += 1
                # All of the stage in one buffer.
                rest = [
                    buffer
                    for buffer in spilling.buffers
                    if buffer.memory != memory.name
                    or buffer.versions
                    or buffer.max_versions
                ]
                # In other memories, more can share or be aligned in another way.
                exact = memory.name == "ub" and not spilling.aliases
                for stage, fits in ((largest, True), (largest + 1, False)):
                    if stage and (exact or (fits and not spilling.aliases)):
                        buffers = [*rest, Buffer("stage", memory.name, stage)]
                        at_depth = plan(replace(spilling, buffers=buffers), depth)
                        over = memory.name in at_depth.out_of_memory
                        self.assertEqual(not over, fits, (kernel, readings))
        self.assertGreater(checked, 20)

    def test_text_and_json_agree(self) -> None:
        depths = range(1, 8)
        for kernel, readings, found in self.answers[:60]:
            text = "\n".join(text_report(kernel, depths, readings))
            document = json.loads("".join(json_report(kernel, depths, readings)))
            *blocks, table = text.split("\n\n")
            for block, at in zip(blocks, document["depths"]):
                self.check_block(block, at)
            _, *rows = table.splitlines()
            for row, at in zip(rows, document["depths"]):
                verdict = row.split("  ")[-1]
                self.assertEqual("rejected: " in verdict, at["error"] is not None)
                self.assertEqual(
                    "out of memory: " in verdict, bool(at["out_of_memory"])
                )
                self.assertIn(f" {at['lock_pool']['used']}/32 ", row)
            memories = list(map(asdict, found.memories))
            self.assertEqual(document.pop("read"), [])
            self.assertEqual(len(document.pop("depths")), len(depths))
            self.assertEqual(document, {**asdict(found), "memories": memories})
            for last, words in (
                (found.last_depth_without_spill, "flag slots last to depth"),
                (found.last_depth_that_compiles, "the compiler takes up to depth"),
                (found.last_depth_in_memory, "memory lasts to depth"),
            ):
                if last:
                    self.assertIn(f"\n{words} {last};", table)
            self.assertEqual("\nmemory " in table, bool(found.memories))

    def check_block(self, block: str, at: dict[str, Any]) -> None:
        self.assertIn(f"depth={at['depth']} ", block)
        for namespace in at["namespaces"]:
            for point in namespace["sync_points"]:
                where = "base" if point["placement"] == "flag" else "lock"
                line = (
                    rf"^{re.escape(point['name'])} +{where} {point['base']} +id = i %"
                    rf" {point['num_versions']} +\+ {point['base']}$"
                )
                self.assertRegex(block, re.compile(line, re.MULTILINE))
        for memory in at["memories"]:
            line = f"memory {memory['name']}: {memory['used']}/{memory['bytes']}"
            self.assertIn(line, block.splitlines())
        self.assertEqual("rejects this depth" in block, at["error"] is not None)
