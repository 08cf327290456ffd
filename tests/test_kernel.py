"""Declared kernels: how they are allocated, printed and read."""

from __future__ import annotations

import json
import tempfile
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from flag_budget import (
    CROSS_CORE,
    Kernel,
    Plan,
    SyncPoint,
    json_report,
    plan,
    read_kernel,
    text_report,
)
from tests import ROOT, complaint, document, error_of, run
from tests.texts import MARKS

VEC_ADD = f"@{ROOT / 'tests/kernels/vec_add.args'}"


def placed(at_depth: Plan) -> dict[str, tuple[str, int]]:
    """Where each sync point is: "flag" or "lock", and its base."""
    return {
        each.name: (each.placement, each.base)
        for namespace in at_depth.namespaces
        for each in namespace.sync_points
    }


def bases(at_depth: Plan) -> dict[str, int]:
    """The base of each sync point, none of which spills."""
    assert not at_depth.spilled, at_depth.spilled
    return {name: base for name, (_, base) in placed(at_depth).items()}


class Order(unittest.TestCase):
    """Which sync point gets the lower base id."""

    def test_releases_first_then_wider_then_as_declared(self) -> None:
        kernel = Kernel(
            [
                SyncPoint("narrow", versions=1),
                SyncPoint("first", versions=2),
                SyncPoint("second", versions=2),
                SyncPoint("narrow_release", versions=1, cross_iter=True),
                SyncPoint("release", versions=2, cross_iter=True),
            ]
        )
        self.assertEqual(
            bases(plan(kernel, 1)),
            {"narrow": 7, "first": 3, "second": 5, "narrow_release": 2, "release": 0},
        )

    def test_everything_is_shown_as_declared(self) -> None:
        kernel = Kernel(
            [
                SyncPoint("a", versions=1),
                SyncPoint("b", "MTE2_V", versions=9),
                SyncPoint("c", versions=9),
                SyncPoint("d", "MTE2_V", versions=9),
            ]
        )
        at_1 = plan(kernel, 1)
        self.assertEqual([each.name for each in at_1.namespaces], [None, "MTE2_V"])
        self.assertEqual([*placed(at_1)], ["a", "c", "b", "d"])
        self.assertEqual(at_1.spilled, ("b", "c", "d"))
        self.assertEqual(placed(at_1)["b"], ("lock", 9))  # the second namespace


class Sharing(unittest.TestCase):
    """Share groups: --sharing=always and --sharing=on-demand."""

    def test_always_is_as_wide_as_the_widest(self) -> None:
        kernel = Kernel(
            [
                SyncPoint("a", versions=2, share="g"),
                SyncPoint("b", versions=5, share="g"),
                SyncPoint("release", versions=1, share="g", cross_iter=True),
                SyncPoint("alone", versions=3),
            ],
            sharing="always",
        )
        (namespace,) = plan(kernel, 1).namespaces
        self.assertEqual(namespace.ids, 8)
        self.assertEqual(
            bases(plan(kernel, 1)), {"a": 0, "b": 0, "release": 0, "alone": 5}
        )

    def test_groups_end_at_the_namespace(self) -> None:
        points = [SyncPoint("a", "MTE2_V", share="g"), SyncPoint("b", share="g")]
        kernel = Kernel([SyncPoint("c", "MTE2_V"), *points], sharing="always")
        self.assertEqual(bases(plan(kernel, 2)), {"c": 0, "a": 2, "b": 0})

    def test_no_sharing_unless_asked(self) -> None:
        kernel = Kernel([SyncPoint("a", share="g"), SyncPoint("b", share="g")])
        self.assertEqual(bases(plan(kernel, 1)), {"a": 0, "b": 1})

    def on_demand(self, *points: SyncPoint, cross_core: bool = False) -> Kernel:
        return Kernel(points, cross_core, "on-demand")

    def test_on_demand_only_while_short(self) -> None:
        kernel = self.on_demand(*(SyncPoint(name, share="g") for name in "abcd"))
        self.assertEqual(bases(plan(kernel, 2)), {"a": 0, "b": 2, "c": 4, "d": 6})
        # 12 ids are required, then 9, then 6: d need not share any more.
        self.assertEqual(bases(plan(kernel, 3)), {"a": 0, "b": 0, "c": 0, "d": 3})

    def test_on_demand_joins_the_first_of_its_group(self) -> None:
        kernel = self.on_demand(
            SyncPoint("wide", versions=4),
            SyncPoint("other", versions=3, share="other"),
            SyncPoint("a", versions=1, share="g"),
            SyncPoint("b", versions=1, share="g"),
        )
        self.assertEqual(
            bases(plan(kernel, 1)), {"wide": 0, "other": 4, "a": 7, "b": 7}
        )

    def test_on_demand_releases_keep_apart_within_a_core(self) -> None:
        points = (
            SyncPoint("acquire", share="g"),
            SyncPoint("release", share="g", cross_iter=True),
        )
        self.assertEqual(plan(self.on_demand(*points), 5).spilled, ("acquire",))
        # 7 + 2 ids are required. The release of 2 is there first, and not joined.
        narrow = self.on_demand(
            SyncPoint("acquire", versions=1, share="g"),
            SyncPoint("again", versions=1, share="g"),
            SyncPoint("release", versions=7, share="g", cross_iter=True),
        )
        self.assertEqual(
            bases(plan(narrow, 1)), {"acquire": 7, "again": 7, "release": 0}
        )

    def test_on_demand_releases_may_be_joined_across_the_cores(self) -> None:
        points = (
            SyncPoint("ready", share="g"),
            SyncPoint("free", share="g", cross_iter=True),
        )
        kernel = self.on_demand(*points, cross_core=True)
        self.assertEqual(bases(plan(kernel, 8)), {"ready": 8, "free": 0})
        self.assertEqual(bases(plan(kernel, 9)), {"ready": 0, "free": 0})

    def test_on_demand_never_joins_a_narrower_allocation(self) -> None:
        kernel = self.on_demand(
            SyncPoint("ready", versions=6, share="g"),
            SyncPoint("again", versions=6, share="g"),
            SyncPoint("free", versions=5, share="g", cross_iter=True),
            cross_core=True,
        )
        self.assertEqual(bases(plan(kernel, 1)), {"ready": 5, "again": 5, "free": 0})

    def test_on_demand_looks_at_the_first_of_an_allocation(self) -> None:
        # g has one allocation, 5 wide, that b has joined; c is as wide as a, not as b.
        kernel = self.on_demand(
            SyncPoint("a", versions=5, share="g", cross_iter=True),
            SyncPoint("b", versions=2, share="g", cross_iter=True),
            SyncPoint("x", versions=8),
            SyncPoint("c", versions=4, share="g"),
            cross_core=True,
        )
        self.assertEqual(bases(plan(kernel, 1)), {"a": 0, "b": 0, "x": 5, "c": 0})

    def test_on_demand_joins_where_no_run_is_left(self) -> None:
        points = [
            SyncPoint(name, versions=width, share="g")
            for name, width in (("a", 5), ("b", 4), ("c", 3), ("d", 2))
        ]
        # 14 ids for 14 slots, which come in runs of 5, 5 and 4: none is left for d.
        kernel = Kernel(points, True, "on-demand", reserved={CROSS_CORE: [5, 11]})
        self.assertEqual(bases(plan(kernel, 1)), {"a": 0, "b": 6, "c": 12, "d": 0})
        self.assertEqual(plan(replace(kernel, sharing=None), 1).spilled, ("d",))


class Bases(unittest.TestCase):
    """Sync points whose base ids were read."""

    def kernel(self, *points: tuple[int, int | None], **options: Any) -> Kernel:
        """Sync points a, b, c ..., each with its width and its base."""
        event = options.pop("event", "MTE2_V")
        return Kernel(
            [
                SyncPoint(name, event, versions=width, base=base)
                for name, (width, base) in zip("abcdef", points)
            ],
            **options,
        )

    def test_ids_within_the_slots_stay(self) -> None:
        for event, points in (
            ("MTE2_V", [(1, 7), (4, 0)]),
            ("MTE2_V", [(1, 7)]),
            ("cross-core", [(3, 13), (2, 9)]),
            (None, [(2, 1), (2, 4)]),
        ):
            with self.subTest(event):
                at_1 = plan(self.kernel(*points, event=event), 1)
                self.assertEqual(
                    bases(at_1), dict(zip("ab", (base for _, base in points)))
                )
                widths = sum(width for width, _ in points)
                (namespace,) = at_1.namespaces
                self.assertEqual(
                    (namespace.ids, namespace.kept_slots), (widths, widths)
                )

    def test_else_what_is_kept_is_packed_in_id_order(self) -> None:
        for event, points, expected in (
            ("MTE2_V", [(1, 8), (4, 0)], [("flag", 4), ("flag", 0)]),
            ("MTE2_V", [(3, 6), (4, 1)], [("flag", 4), ("flag", 0)]),
            (
                "MTE2_V",
                [(3, 0), (6, 3), (2, 10), (1, 12)],
                [("lock", 0), ("flag", 0), ("flag", 6), ("lock", 3)],
            ),
            ("cross-core", [(2, 15), (3, 1)], [("flag", 3), ("flag", 0)]),
            ("cross-core", [(9, 16), (8, 0)], [("flag", 0), ("lock", 0)]),
        ):
            with self.subTest(event):
                at_1 = plan(self.kernel(*points, event=event), 1)
                self.assertEqual(placed(at_1), dict(zip("abcd", expected)))

    def test_one_base_is_one_allocation(self) -> None:
        kernel = self.kernel((3, 2), (2, 0), (4, 2))
        self.assertEqual(bases(plan(kernel, 1)), {"a": 2, "b": 0, "c": 2})
        self.assertEqual(plan(kernel, 1).namespaces[0].ids, 6)
        kernel = self.kernel((3, 2), (2, 0), (4, 2), (3, 6))
        self.assertEqual(
            placed(plan(kernel, 1)),
            {"a": ("flag", 0), "b": ("lock", 0), "c": ("flag", 0), "d": ("flag", 4)},
        )

    def test_bases_that_overlap(self) -> None:
        self.assertEqual(
            error_of(plan, self.kernel((2, 6), (4, 1), (3, 4)), 1),
            "base 4 of 'c': expected at least 5, where the ids of 'b' end, or its base",
        )
        # What shares a base ends where the widest of it ends.
        self.assertEqual(
            error_of(plan, self.kernel((3, 2), (4, 2), (1, 5)), 1),
            "base 5 of 'c': expected at least 6, where the ids of 'a' end, or its base",
        )
        growing = Kernel([SyncPoint("a", base=0), SyncPoint("b", base=3)])
        self.assertEqual(bases(plan(growing, 3)), {"a": 0, "b": 3})
        self.assertEqual(
            error_of(plan, growing, 4),
            "base 3 of 'b': expected at least 4, where the ids of 'a' end, or its base",
        )
        apart = [SyncPoint("a", "MTE2_V", base=0), SyncPoint("b", "V_S", base=0)]
        self.assertEqual(bases(plan(Kernel(apart), 8)), {"a": 0, "b": 0})

    def test_share_groups_do_not_touch_them(self) -> None:
        points = [SyncPoint("a", base=4, share="g"), SyncPoint("b", base=0, share="g")]
        for sharing in ("always", "on-demand"):
            with self.subTest(sharing):
                self.assertEqual(
                    bases(plan(Kernel(points, sharing=sharing), 3)), {"a": 4, "b": 0}
                )

    def test_where_bases_do_not_count(self) -> None:
        # One has none, or an id is reserved; then overlaps do not count either.
        kernel = self.kernel((2, 5), (4, 5), (1, None))
        self.assertEqual(bases(plan(kernel, 1)), {"a": 4, "b": 0, "c": 6})
        kernel = self.kernel((2, 5), (4, 5), reserved={"MTE2_V": [1]})
        self.assertEqual(bases(plan(kernel, 1)), {"a": 6, "b": 2})
        kernel = self.kernel((2, 5), (4, 0), reserved={"V_S": [1]})
        self.assertEqual(bases(plan(kernel, 1)), {"a": 5, "b": 0})

    def test_base_out_of_range(self) -> None:
        for base in (-1, 10**18 + 1, "0"):
            with self.subTest(base):
                self.assertEqual(
                    error_of(SyncPoint, "a", base=base),
                    f"base {base!r}: expected a whole number from 0 to 10^18",
                )


class LimitedWidths(unittest.TestCase):
    """max-versions: the depth, but at most N."""

    def test_width_follows_the_depth_up_to_the_limit(self) -> None:
        point = SyncPoint("a", max_versions=3)
        self.assertEqual(
            [self.width(point, depth) for depth in (1, 2, 3, 4, 10**18)],
            [1, 2, 3, 3, 3],
        )
        self.assertEqual(self.width(SyncPoint("a", versions=3), 1), 3)
        self.assertEqual(self.width(SyncPoint("a"), 10**18), 10**18)

    def width(self, point: SyncPoint, depth: int) -> int:
        return plan(Kernel([point]), depth).namespaces[0].sync_points[0].num_versions

    def test_first_line(self) -> None:
        points = (
            "--sync-point=store,versions=1",
            "--sync-point=acc,max-versions=2",
            "--sync-point=load",
            "--sync-point=b,max-versions=9",
        )
        for depth, widths in ((1, "acc=1, b=1"), (3, "acc=2, b=3")):
            with self.subTest(depth):
                first, blocks, *_ = run(*points, f"--depth={depth}").out.splitlines()
                self.assertEqual(
                    first,
                    f"depth={depth} num_versions per sync point = {depth}"
                    f" (fixed: store=1; at most: {widths})",
                )
        self.assertEqual(blocks, "blocks: store=1, acc=2, load=3, b=3")
        first, *_ = run("--sync-point=acc,max-versions=2", "--depth=3").out.splitlines()
        self.assertTrue(first.endswith(" = 3 (at most: acc=2)"), first)

    def test_first_line_counts_more_than_6(self) -> None:
        def first_line(fixed: int, limited: int) -> str:
            args = [f"--sync-point=f{number},versions=1" for number in range(fixed)]
            args += [
                f"--sync-point=m{number},max-versions=2" for number in range(limited)
            ]
            out = run("--sync-point=a", *args, "--depth=3").out
            return out.partition("\n")[0].partition("= 3")[2]

        for fixed, limited, shown in (
            (0, 0, ""),
            (1, 1, " (fixed: f0=1; at most: m0=2)"),
            (6, 0, " (fixed: f0=1, f1=1, f2=1, f3=1, f4=1, f5=1)"),
            (3, 3, " (fixed: f0=1, f1=1, f2=1; at most: m0=2, m1=2, m2=2)"),
            (7, 0, " (7 fixed)"),
            (0, 7, " (7 at most)"),
            (4, 3, " (4 fixed, 3 at most)"),
        ):
            with self.subTest(fixed):
                self.assertEqual(first_line(fixed, limited), shown)

    def test_never_with_versions(self) -> None:
        for text in ("a,versions=2,max-versions=2", "a,max-versions=2,versions=2"):
            with self.subTest(text):
                status, out, err = run("--sync-point", text)
                self.assertEqual((status, out), (2, ""))
                self.assertEqual(
                    err.splitlines()[-1].partition("error: ")[2],
                    f"argument --sync-point: {text!r}: versions 2 and max_versions 2:"
                    " expected one of them",
                )
        for number in (0, 10**18 + 1):
            with self.subTest(number):
                self.assertEqual(
                    error_of(SyncPoint, "a", max_versions=number),
                    f"max_versions {number}: expected a whole number from 1 to 10^18",
                )
        SyncPoint("a", max_versions=10**18)


class Reservations(unittest.TestCase):
    """Cross-core ids and locks that are taken beforehand."""

    def test_ids_are_taken_modulo_16(self) -> None:
        self.assertEqual(
            Kernel([SyncPoint("a")], reserved={CROSS_CORE: [3, 19, -1]}).reserved,
            {CROSS_CORE: {3, 15}},
        )

    def test_ids_that_are_none(self) -> None:
        takes: list[Callable[[Any], object]] = [
            lambda ids: Kernel([SyncPoint("a")], reserved=ids),
            lambda ids: read_kernel('T.ascend_set_flag("V_S", 0)' + MARKS, 4, ids),
        ]
        for take in takes:
            for reserved in (
                "14,15",
                [14, 15],
                None,
                {CROSS_CORE: 15},
                {CROSS_CORE: ["14"]},
                {CROSS_CORE: [14.5]},
            ):
                with self.subTest(reserved):
                    self.assertEqual(
                        error_of(take, reserved),
                        f"reserved {reserved!r}: expected ids by namespace, as in"
                        " {'Cube-Vector': [14, 15]}",
                    )

    def test_only_the_cross_core_namespace_is_reserved(self) -> None:
        points = [SyncPoint("a", "MTE2_V"), SyncPoint("b", "cross-core")]
        kernel = Kernel(points, reserved={CROSS_CORE: [0]})
        self.assertEqual(bases(plan(kernel, 1)), {"a": 0, "b": 1})
        self.assertEqual([each.slots for each in plan(kernel, 1).namespaces], [8, 15])

    def test_reserved_line_is_of_the_cross_core_namespace(self) -> None:
        args = ["--sync-point=a,event=MTE2_V", "--sync-point=b,event=cross-core"]
        out = run(*args, "--reserve=3", "--depth=1").out
        self.assertEqual(out.count("reserved : 3\n"), 1)
        self.assertIn("[Cube-Vector]\nblocks: b=1\nreserved : 3\n", out)

    def test_first_fit_looks_at_the_lowest_slots_first(self) -> None:
        # 8 comes before 1 in a set of the two.
        reserved = {CROSS_CORE: [*{*range(16)} - {1, 8}]}
        kernel = Kernel([SyncPoint("a")], True, reserved=reserved)
        self.assertEqual(bases(plan(kernel, 1)), {"a": 1})

    def test_first_fit(self) -> None:
        points = [SyncPoint(name, versions=int(name[1])) for name in ("a5", "b2", "c1")]
        kernel = Kernel(points, True, reserved={CROSS_CORE: [2, 9]})
        self.assertEqual(bases(plan(kernel, 1)), {"a5": 3, "b2": 0, "c1": 8})

    def test_capacity_is_what_is_free(self) -> None:
        points = [SyncPoint("a", versions=9), SyncPoint("b", versions=6)]
        points += [SyncPoint("c", versions=5)]
        self.assertEqual(
            placed(plan(Kernel(points, True, reserved={CROSS_CORE: [15]}), 1)),
            {"a": ("flag", 0), "b": ("flag", 9), "c": ("lock", 0)},
        )
        self.assertEqual(
            placed(plan(Kernel(points, True, reserved={CROSS_CORE: [14, 15]}), 1)),
            {"a": ("flag", 0), "b": ("lock", 0), "c": ("flag", 9)},
        )

    def test_kept_blocks_without_a_run_spill_too(self) -> None:
        kernel = Kernel(
            [SyncPoint("a"), SyncPoint("b")], True, reserved={CROSS_CORE: [3]}
        )
        at_7 = plan(kernel, 7)
        self.assertEqual(placed(at_7), {"a": ("flag", 4), "b": ("lock", 0)})
        self.assertEqual(at_7.namespaces[0].kept_slots, 7)
        self.assertEqual(
            [*text_report(kernel, [7], table=False)][1:7],
            [
                "blocks: a=7, b=7",
                "reserved : 3",
                "allocator sum = 14 ids",
                (
                    "-> finds no contiguous run in 15 slots:"
                    " 0/1 knapsack keeps 7/15 slots as set/wait flags"
                ),
                "kept : a",
                "spilled : b -> asc_lock/asc_unlock mutex pool (blocking)",
            ],
        )

    def test_all_that_is_free_but_split(self) -> None:
        kernel = Kernel([SyncPoint("a")], True, reserved={CROSS_CORE: [7]})
        (line,) = [
            line
            for line in text_report(kernel, [15], table=False)
            if line.startswith("->")
        ]
        self.assertTrue(
            line.startswith("-> finds no contiguous run in 15 slots: "), line
        )

    def test_everything_reserved(self) -> None:
        kernel = Kernel([SyncPoint("a")], True, reserved={CROSS_CORE: range(16)})
        self.assertEqual(placed(plan(kernel, 1)), {"a": ("lock", 0)})
        self.assertEqual(
            [*text_report(kernel, [1], blocks=False)],
            [
                "depth  ids  locks  verdict",
                "    1  1/0   0/32  rejected: no cross-core slots for a",
                "flag slots are too few even at depth 1, which spills: ids 1/0",
                "the compiler rejects even depth 1: ids 1/0",
            ],
        )

    def test_locks_are_numbered_through_all_namespaces(self) -> None:
        events = ("MTE2_V", "cross-core", "V_MTE2")
        points = [SyncPoint(event, event, versions=17) for event in events]
        at_1 = plan(Kernel(points, lock_reserved=2), 1)
        self.assertEqual(
            placed(at_1),
            {"MTE2_V": ("lock", 2), "cross-core": ("lock", 36), "V_MTE2": ("lock", 19)},
        )
        self.assertEqual((at_1.lock_slots, at_1.cross_core_locks), (36, 17))
        self.assertEqual(at_1.spilled, events)
        self.assertEqual(
            [each.name for each in at_1.namespaces], ["MTE2_V", "Cube-Vector", "V_MTE2"]
        )
        # The flag allocator, which has no lock for it, comes before the lock pool.
        self.assertEqual(at_1.rejected, "no cross-core slots for cross-core")
        at_1 = plan(Kernel(points[::2], lock_reserved=2), 1)
        self.assertEqual(at_1.rejected, "lock pool 36/32")

    def test_locks_of_the_cube_come_first(self) -> None:
        events = ("MTE3_V", "FIX_S", "V_MTE2", "MTE2_MTE1", "S_V", "M_S", None)
        points = [SyncPoint(f"{event}", event, versions=9) for event in events]
        at_1 = plan(Kernel(points), 1)
        locks = {name: base for name, (_, base) in placed(at_1).items()}
        self.assertEqual(
            sorted(locks, key=lambda name: locks[name]),
            ["FIX_S", "MTE2_MTE1", "M_S", "MTE3_V", "V_MTE2", "S_V", "None"],
        )
        self.assertEqual([*locks.values()], [27, 0, 36, 9, 45, 18, 54])
        self.assertEqual([each.name for each in at_1.namespaces], [*events])

    def test_reserved_ids_of_a_hard_event(self) -> None:
        points = [SyncPoint(name, "MTE2_V") for name in "ab"]
        kernel = Kernel([*points, SyncPoint("c", "V_S")], reserved={"MTE2_V": [3]})
        at_3 = plan(kernel, 3)
        self.assertEqual(bases(at_3), {"a": 0, "b": 4, "c": 0})
        self.assertEqual([each.slots for each in at_3.namespaces], [7, 8])
        at_4 = plan(kernel, 4)
        self.assertEqual(
            placed(at_4), {"a": ("flag", 4), "b": ("lock", 0), "c": ("flag", 0)}
        )
        self.assertIsNone(at_4.rejected)
        self.assertEqual(
            [*text_report(replace(kernel, sync_points=points[:1]), [5])][1:],
            [
                "[MTE2_V]",
                "blocks: a=5",
                "reserved : 3",
                "allocator sum = 5 ids",
                (
                    "-> finds no contiguous run in 7 slots:"
                    " 0/1 knapsack keeps 0/7 slots as set/wait flags"
                ),
                "kept : none",
                "spilled : a -> asc_lock/asc_unlock mutex pool (blocking)",
                "a lock 0 id = i % 5 + 0",
                "lock pool: 5/32 slots",
                "",
                "depth  MTE2_V  locks  verdict",
                "    5     5/7   5/32  spills a",
                "flag slots last to depth 4; depth 5 is the first to spill:"
                " MTE2_V 5/7 in no contiguous run",
                "the compiler takes up to depth 32; depth 33 is rejected:"
                " lock pool 33/32",
            ],
        )

    def test_reserved_locks_have_a_line(self) -> None:
        args = ("--sync-point=a", "--depth=1")
        self.assertNotIn("lock pool", run(*args).out)
        out = run(*args, "--lock-reserved=2").out
        self.assertTrue(out.endswith("\nlock pool: 2/32 slots\n"), out)

    def test_headings_where_only_a_reading_names_events(self) -> None:
        kernel = Kernel([SyncPoint("a")])
        readings = {2: Kernel([SyncPoint("a", "V_S"), SyncPoint("b", "S_V")])}
        lines = [*text_report(kernel, [1, 2], readings)]
        self.assertEqual(lines[1], "[unnamed]")
        self.assertIn("depth  unnamed  V_S  S_V  locks  verdict", lines)
        self.assertIn(
            "flag slots last to depth 8; depth 9 is the first to spill: unnamed 9/8",
            lines,
        )

    def test_reserved_locks_count(self) -> None:
        points = [SyncPoint(name, versions=8) for name in "abcde"]
        for reserved, rejected in ((0, None), (1, "lock pool 33/32")):
            with self.subTest(reserved):
                at_1 = plan(Kernel(points, lock_reserved=reserved), 1)
                self.assertEqual(at_1.rejected, rejected)
        self.assertIsNone(plan(Kernel(points[:1], lock_reserved=32), 1).rejected)
        found = document("--depth", "1", "--lock-reserved", "2")["depths"][0]
        self.assertEqual(found["lock_pool"], {"slots": 32, "used": 2, "cross_core": 0})


class Output(unittest.TestCase):
    """The tables and the document of declared kernels."""

    maxDiff = None

    def test_sweep_ends_at_the_first_spill(self) -> None:
        blocks = [run(VEC_ADD, "--depth", str(depth)).out for depth in range(1, 6)]
        table = run(VEC_ADD, "--summary").out
        self.assertEqual(run(VEC_ADD), (0, "\n".join([*blocks, table]), ""))

    def test_depths_in_json(self) -> None:
        self.assertEqual(
            [depth["depth"] for depth in document(VEC_ADD)["depths"]], [1, 2, 3, 4, 5]
        )
        self.assertEqual(
            document(VEC_ADD, "--max-depth", "2")["last_depth_without_spill"], 4
        )

    def test_json_of_a_kernel_that_was_not_read(self) -> None:
        lines = json_report(Kernel([SyncPoint("a", versions=1)]), [1])
        self.assertEqual(json.loads("".join(lines))["read"], [])

    def test_json_names_and_errors(self) -> None:
        found = document("--depth", "9")
        self.assertIsNone(found["depths"][0]["namespaces"][0]["name"])
        self.assertEqual(
            found["depths"][0]["error"],
            "the compiler rejects this depth: lock pool 36/32",
        )
        found = document("--depth", "5", "--cross-core")
        self.assertEqual(found["depths"][0]["namespaces"][0]["name"], "Cube-Vector")
        self.assertEqual(
            found["depths"][0]["error"],
            "the compiler rejects this depth: no cross-core slots for release_B",
        )
        self.assertEqual(found["depths"][0]["spilled"], ["release_B"])
        self.assertEqual(
            found["depths"][0]["lock_pool"], {"slots": 32, "used": 0, "cross_core": 5}
        )

    def test_json_last_depth(self) -> None:
        for versions, last in ((1, None), (8, None), (9, 0)):
            with self.subTest(versions):
                found = document(
                    "--sync-point", f"a,versions={versions}", "--depth", "3"
                )
                self.assertEqual(found["last_depth_without_spill"], last)

    def test_names_above_each_namespace(self) -> None:
        points = ["a", "b,event=MTE2_V", "c,event=cross-core"]
        args = [f"--sync-point={point}" for point in points]
        out = run(*args, "--depth", "1").out
        headings = [line for line in out.splitlines() if line.startswith("[")]
        self.assertEqual(headings, ["[unnamed]", "[MTE2_V]", "[Cube-Vector]"])
        self.assertEqual(out.count("lock pool: 0/32 slots"), 1)
        out = run(*args, "--cross-core").out
        self.assertIn("\ndepth  Cube-Vector  MTE2_V  locks  verdict\n", out)
        self.assertIn("\n    8        16/16     8/8   0/32  fits\n", out)

    def test_table_of_more_than_6_namespaces(self) -> None:
        events = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V", "M_FIX", "FIX_M", "S_V")
        args = [f"--sync-point={event},event={event},versions=2" for event in events]
        # With 6 of them each has a column, with 7 only what spills has.
        out = run(*args[:6], "--summary", "--depth=3").out
        self.assertTrue(
            out.startswith(
                "depth  MTE2_V  V_MTE2  V_MTE3  MTE3_V  M_FIX  FIX_M  locks  verdict\n"
                "    3     2/8     2/8     2/8     2/8    2/8    2/8   0/32  fits\nflag"
            ),
            out,
        )
        args.append("--sync-point=more,event=M_FIX")
        self.assertEqual(
            run(*args, "--summary", "--max-depth=3").out.splitlines()[:5],
            [
                "depth  locks  verdict",
                "    1   0/32  fits",
                "    2   0/32  fits",
                "    3   0/32  fits",
                "never over: MTE2_V 2/8, V_MTE2 2/8, V_MTE3 2/8, MTE3_V 2/8, M_FIX 5/8,"
                " FIX_M 2/8, S_V 2/8",
            ],
        )
        self.assertEqual(
            run(*args, "--summary", "--max-depth=7").out.splitlines()[6:9],
            [
                "    6    8/8   0/32  fits",
                "    7    9/8   2/32  spills M_FIX",
                "never over: MTE2_V 2/8, V_MTE2 2/8, V_MTE3 2/8, MTE3_V 2/8, FIX_M 2/8,"
                " S_V 2/8",
            ],
        )
        found = document(*args, "--depth=3")
        self.assertEqual(len(found["depths"][0]["namespaces"]), 7)

    def test_cross_core_note_comes_last(self) -> None:
        args = ["--sync-point=a,event=cross-core", "--depth=17"]
        self.assertEqual(
            run(*args).out.splitlines()[-2:],
            [
                "lock pool: 0/32 slots, and 17 for cross-core flags",
                (
                    "note: the compiler has no lock pool for cross-core flags;"
                    " it rejects this depth"
                ),
            ],
        )

    def test_widths_of_different_lengths_line_up(self) -> None:
        kernel = Kernel([SyncPoint("a"), SyncPoint("bb", versions=1)], True)
        self.assertEqual(
            [*text_report(kernel, [10], table=False)][-2:],
            ["a  base 0  id = i % 10 + 0", "bb base 10 id = i % 1  + 10"],
        )


class ArgumentFiles(unittest.TestCase):
    """@FILE."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "kernel.args")

    def run_with(self, content: bytes, *args: str) -> Any:
        self.path.write_bytes(content)
        return run(f"@{self.path}", *args)

    def test_comments_quotes_and_lines(self) -> None:
        content = b"# one\r\n--sync-point 'a,versions=2,share=g' # two\n\n--depth\n1 --sharing"
        status, out, err = self.run_with(
            content, "on-demand", "--sync-point", "b,share=g"
        )
        self.assertEqual((status, err), (0, ""))
        self.assertIn("blocks: a=2, b=1\n", out)

    def test_byte_order_mark(self) -> None:
        self.assertEqual(self.run_with(b"\xef\xbb\xbf--depth 1").status, 0)

    def test_empty(self) -> None:
        for content in (b"", b" # none\n"):
            with self.subTest(content):
                self.path.write_bytes(content)
                arg = f"@{self.path}"
                self.assertEqual(complaint(arg), f"{arg!r} contains no arguments")

    def test_no_options(self) -> None:
        tir = (ROOT / "tests/compiled/axpy.d4.tir").read_bytes()
        cpp = b"#include <x>\nint main() { i--; return -1; } // --depth"
        for content in (tir, cpp, b"kernel.tir", b"a --depth=3"):
            with self.subTest(content[:40]):
                self.path.write_bytes(content)
                arg = f"@{self.path}"
                for args in (["--summary", arg], ["--read", arg]):
                    self.assertEqual(
                        complaint(*args),
                        f"{arg!r} does not begin with an option; a kernel that a compiler"
                        f" printed is read with --read {self.path}",
                    )
        self.path.write_bytes(b"--dept 3")
        self.assertEqual(complaint(f"@{self.path}"), "unrecognized arguments: --dept 3")

    def test_unreadable(self) -> None:
        read = f"a kernel that a compiler printed is read with --read {self.path}"
        for content, expected in (
            (b"--depth '1", f"No closing quotation; {read}"),
            (b"--depth 1\\", f"No escaped character; {read}"),
            (b"\xff", "cannot be read: expected UTF-8 text"),
        ):
            with self.subTest(content):
                self.path.write_bytes(content)
                arg = f"@{self.path}"
                self.assertEqual(complaint(arg), f"arguments of {arg!r}: {expected}")
        for path, reason in (
            ("/no/such/file", "cannot be read: No such file or directory"),
            (str(self.path.parent), "cannot be read: Is a directory"),
            ("", "cannot be read: No such file or directory"),
            ("a\0b", "embedded null byte"),
        ):
            with self.subTest(path):
                arg = f"@{path}"
                self.assertEqual(complaint(arg), f"arguments of {arg!r}: {reason}")
