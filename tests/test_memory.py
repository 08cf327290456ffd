"""Buffers in the memories, and which limit binds first."""

from __future__ import annotations

import json
import re
import unittest
from collections.abc import Callable, Iterable
from dataclasses import replace

from flag_budget import (
    Buffer,
    Kernel,
    Limits,
    MemoryLimit,
    Plan,
    SyncPoint,
    limits,
    plan,
    text_report,
)
from tests import ROOT, complaint, document, error_of, run

ONE = "--sync-point=a,event=MTE2_V"
FIXED = "--sync-point=a,event=MTE2_V,versions=1"
TOO_WIDE = "--sync-point=a,event=MTE2_V,versions=9"


def buffer(rest: str, memory: str = "ub") -> str:
    """A --buffer, named after what it is."""
    name = re.sub("[,=]", "-", f"{memory}-{rest}")
    return f"--buffer={name},memory={memory},bytes={rest}"


def limit_lines(*args: str) -> list[str]:
    """The lines below the table."""
    status, out, err = run("--summary", "--depth=1", *args)
    assert (status, err) == (0, ""), err
    return out.splitlines()[2:]


class BelowTheTable(unittest.TestCase):
    """The limits."""

    maxDiff = None

    def test_each_limit_of_its_own(self) -> None:
        # An attention kernel: with M_MTE1 and MTE1_M, each three points wide.
        args = [
            f"--sync-point={event}{number},event={event}"
            for event in ("M_MTE1", "MTE1_M")
            for number in range(3)
        ]
        args += [f"--sync-point=cross{number},event=cross-core" for number in range(4)]
        args += [buffer("33024"), buffer("132608,versions=1")]
        self.assertEqual(
            limit_lines(*args),
            [
                "flag slots last to depth 2; depth 3 is the first to spill:"
                " M_MTE1 9/8, MTE1_M 9/8",
                "the compiler takes up to depth 4; depth 5 is rejected:"
                " Cube-Vector 20/16",
                "memory lasts to depth 3; depth 4 needs ub 258.5K/248K",
                "flag slots bind first",
                "in ub, flag slots bind first as long as a stage takes at most 40448 bytes"
                " (now 33024)",
            ],
        )

    def test_first_line(self) -> None:
        for args, line in (
            (
                [FIXED],
                "flag slots never run out: every width is fixed or limited, and"
                " nothing spills",
            ),
            (
                ["--sync-point=a,max-versions=8"],
                "flag slots never run out: every width is fixed or limited, and"
                " nothing spills",
            ),
            (
                ["--sync-point=a,max-versions=16", "--cross-core"],
                "flag slots never run out: every width is fixed or limited, and"
                " nothing spills",
            ),
            (
                ["--sync-point=a,max-versions=17", "--cross-core"],
                "flag slots last to depth 16; depth 17 is the first to spill: ids 17/16",
            ),
            (
                ["--sync-point=a,max-versions=9"],
                "flag slots last to depth 8; depth 9 is the first to spill: ids 9/8",
            ),
            (
                [TOO_WIDE],
                "flag slots are too few even at depth 1, which spills: MTE2_V 9/8",
            ),
            (
                ["--sync-point=a,event=cross-core", "--sync-point=b", "--reserve=7"],
                "flag slots last to depth 8; depth 9 is the first to spill:"
                " Cube-Vector 9/15 in no contiguous run, unnamed 9/8",
            ),
            (
                ["--sync-point=a,event=cross-core,versions=9", "--reserve=7"],
                "flag slots are too few even at depth 1, which spills:"
                " Cube-Vector 9/15 in no contiguous run",
            ),
            (
                ["--sync-point=a,event=cross-core,versions=15", "--reserve=7"],
                "flag slots are too few even at depth 1, which spills:"
                " Cube-Vector 15/15 in no contiguous run",
            ),
        ):
            with self.subTest(args):
                self.assertEqual(limit_lines(*args)[0], line)

    def test_second_line(self) -> None:
        cross_core = ["--sync-point=a,event=cross-core,versions=9", "--reserve=7"]
        for args, line in (
            (
                [ONE],
                "the compiler takes up to depth 32; depth 33 is rejected:"
                " lock pool 33/32",
            ),
            (
                [ONE, "--lock-reserved=2"],
                "the compiler takes up to depth 30; depth 31 is rejected:"
                " lock pool 33/32",
            ),
            (
                ["--sync-point=a,versions=33"],
                "the compiler rejects even depth 1: lock pool 33/32",
            ),
            (
                ["--sync-point=a,max-versions=33"],
                "the compiler takes up to depth 32; depth 33 is rejected:"
                " lock pool 33/32",
            ),
            (
                cross_core,
                "the compiler rejects even depth 1:"
                " Cube-Vector 9/15 in no contiguous run",
            ),
            # The compiler stops at the first: the flag allocator comes before locks.
            (
                [*cross_core, "--sync-point=b,event=MTE2_V,versions=33"],
                "the compiler rejects even depth 1:"
                " Cube-Vector 9/15 in no contiguous run",
            ),
        ):
            with self.subTest(args):
                self.assertEqual(limit_lines(*args)[1:], [line])
        for args in ([FIXED], [TOO_WIDE], ["--sync-point=a,max-versions=32"]):
            with self.subTest(args):
                self.assertEqual(len(limit_lines(*args)), 1)

    def test_third_line(self) -> None:
        for args, line in (
            ([buffer("96K")], "memory lasts to depth 2; depth 3 needs ub 288K/248K"),
            (
                [buffer("249K")],
                "memory is too small even at depth 1, which needs ub 249K/248K",
            ),
            ([buffer("248K,versions=1")], "memory never runs out"),
            ([buffer("31K,max-versions=8")], "memory never runs out"),
            (
                [buffer("31K,max-versions=9")],
                "memory lasts to depth 8; depth 9 needs ub 279K/248K",
            ),
            (
                [buffer("1K,max-versions=1000000000000000000"), "--memory=ub=1M"],
                "memory lasts to depth 1024; depth 1025 needs ub 1025K/1024K",
            ),
            ([buffer("1"), f"--memory=ub={10**18}M"], "memory never runs out"),
            (
                [buffer("32"), "--memory=ub=31250000000000000K"],
                "memory never runs out",
            ),
            ([buffer("1", "l1"), f"--memory=l1={10**18}"], "memory never runs out"),
            (
                [buffer("1024"), f"--memory=ub={10**14}M"],
                f"memory lasts to depth {10**14 * 1024};"
                f" depth {10**14 * 1024 + 1} needs ub"
                f" {10**14 * 1024 + 1}K/{10**14 * 1024}K",
            ),
            (
                [buffer("256K", "l0c"), buffer("24K"), buffer("124K,versions=2")],
                "memory is too small even at depth 1, which needs ub 272K/248K",
            ),
            (
                [buffer("200K", "l0c"), buffer("512K", "l1"), buffer("1K", "l0b")],
                "memory lasts to depth 1; depth 2 needs l1 1024K/512K, l0c 400K/256K",
            ),
        ):
            with self.subTest(args):
                third = [line for line in limit_lines(FIXED, *args) if "memory" in line]
                self.assertEqual(third[0], line)

    def test_fourth_line(self) -> None:
        for args, lines in (
            ([ONE, buffer("31K")], ["flag slots and memory bind at the same depth"]),
            ([ONE, buffer("32K")], ["memory binds first"]),
            ([ONE, buffer("27K")], ["flag slots bind first"]),
            ([ONE, buffer("1,versions=1")], ["flag slots bind first"]),
            ([FIXED, buffer("32K")], ["memory binds first"]),
            ([TOO_WIDE, buffer("32K")], ["flag slots bind first"]),
            (
                [TOO_WIDE, buffer("1M")],
                ["flag slots and memory bind at the same depth"],
            ),
            ([FIXED, buffer("1,versions=1")], []),
        ):
            with self.subTest(args):
                found = [line for line in limit_lines(*args) if "bind" in line]
                self.assertEqual(
                    [line for line in found if not line.startswith("in ")], lines
                )

    def test_fifth_line(self) -> None:
        takes = "flag slots bind first as long as a stage takes at most"
        for args, lines in (
            ([buffer("32K")], [f"in ub, {takes} 28192 bytes (now 32768)"]),
            (
                [buffer("1K"), buffer("2K"), buffer("1K,versions=3")],
                [f"in ub, {takes} 27872 bytes (now 3072)"],
            ),
            # At depth 9 there are 5 of it: what it has there counts, not its limit.
            (
                [buffer("1"), buffer("20K,max-versions=5")],
                [f"in ub, {takes} 16832 bytes (now 32)"],
            ),
            (
                [buffer("1"), buffer("20K,max-versions=50")],
                [f"in ub, {takes} 7712 bytes (now 32)"],
            ),
            (
                [buffer("1"), buffer("248K,versions=1")],
                ["in ub, memory binds first at every stage size"],
            ),
            (
                [buffer("1"), buffer("1M,versions=1")],
                ["in ub, memory binds first at every stage size"],
            ),
            (
                [buffer("1"), buffer("1", "l1"), buffer("1,versions=1", "l0a")],
                [
                    f"in ub, {takes} 28192 bytes (now 32)",
                    f"in l1, {takes} 57857 bytes (now 1)",
                ],
            ),
            ([buffer("1,versions=1")], []),
            ([buffer("1,max-versions=7")], []),
        ):
            with self.subTest(args):
                found = [
                    line for line in limit_lines(ONE, *args) if line.startswith("in ")
                ]
                self.assertEqual(found, lines)
        self.assertEqual(
            [
                line
                for line in limit_lines(FIXED, buffer("1"))
                if line.startswith("in ")
            ],
            [],
        )

    def test_no_lines_without_buffers(self) -> None:
        self.assertEqual(len(limit_lines(ONE)), 2)

    def test_the_stage_at_which_it_turns_is_exact(self) -> None:
        for capacity in (*range(32, 1920, 32), 253952):
            for beside in (
                [],
                [Buffer("c", "ub", 5, versions=2)],
                [Buffer("c", "ub", 3, max_versions=7)],
            ):
                with self.subTest(capacity=capacity, beside=beside):
                    kernel = Kernel(
                        [SyncPoint("a")],
                        buffers=[Buffer("b", "ub", 1), *beside],
                        capacities={"ub": capacity},
                    )
                    (memory,) = limits(kernel).memories
                    largest = memory.largest_stage_for_flags
                    assert largest is not None
                    if largest:
                        stage = Buffer("b", "ub", largest)
                        binding = replace(kernel, buffers=[stage, *beside])
                        self.assertEqual(
                            limits(binding).binds_first, "flag slots", capacity
                        )
                    beyond = replace(
                        kernel, buffers=[Buffer("b", "ub", largest + 1), *beside]
                    )
                    self.assertNotEqual(
                        limits(beyond).binds_first, "flag slots", capacity
                    )

    def test_limits_of_one_kernel(self) -> None:
        kernel = Kernel(
            [SyncPoint("a"), SyncPoint("b", "cross-core", max_versions=5)],
            buffers=[Buffer("x", "l1", 99 * 1024), Buffer("y", "l1", 10, versions=3)],
        )
        found = limits(kernel)
        lasts: list[tuple[int | None, Callable[[Plan], bool]]] = [
            (found.last_depth_without_spill, lambda at: not at.spilled),
            (found.last_depth_that_compiles, lambda at: not at.rejected),
            (found.last_depth_in_memory, lambda at: not at.out_of_memory),
        ]
        for last, fine in lasts:
            assert last
            self.assertTrue(all(fine(plan(kernel, each + 1)) for each in range(last)))
            self.assertFalse(fine(plan(kernel, last + 1)))
        (memory,) = found.memories
        self.assertEqual(memory.stage_bytes, 99 * 1024)

    def test_limits_look_at_the_kernel_of_each_depth(self) -> None:
        kernel = Kernel([SyncPoint("a")])
        readings = {2: Kernel([SyncPoint("c", versions=9)])}
        self.assertEqual(limits(kernel).last_depth_without_spill, 8)
        self.assertEqual(limits(kernel, readings).last_depth_without_spill, 1)

    def test_the_depth_after_those_that_were_read(self) -> None:
        wide = Kernel([SyncPoint("a", versions=9)])
        readings = {depth: Kernel([SyncPoint("a")]) for depth in (1, 2, 3)}
        self.assertEqual(limits(wide, readings).last_depth_without_spill, 3)
        # Beyond the widest, where the kernel alone is not looked at.
        readings = {
            depth: Kernel([SyncPoint("a", versions=1)]) for depth in range(1, 41)
        }
        self.assertEqual(limits(wide, readings).last_depth_without_spill, 40)

    def test_stages_where_nothing_spills(self) -> None:
        point = SyncPoint("a", versions=1)
        kernel = Kernel([point], buffers=[Buffer("b", "l1", 5)])
        reading = Kernel([point], buffers=[Buffer("b", "l1", 7)])
        (memory,) = limits(kernel, {1: reading}).memories
        self.assertEqual(memory.stage_bytes, 5)

    def test_buffers_that_only_a_reading_has(self) -> None:
        kernel = Kernel([SyncPoint("a")])
        readings = {3: replace(kernel, buffers=[Buffer("b", "ub", 249 * 1024)])}
        found = limits(kernel, readings)
        self.assertEqual(
            found,
            Limits(8, 32, 2, "memory", (MemoryLimit("ub", 248 * 1024, 0, None),)),
        )
        lines = [*text_report(kernel, [3], readings, blocks=False)]
        self.assertEqual(
            lines[1:],
            [
                "    3  3/8   0/32  747K/248K  out of memory: ub",
                "flag slots last to depth 8; depth 9 is the first to spill: ids 9/8",
                "the compiler takes up to depth 32; depth 33 is rejected:"
                " lock pool 33/32",
                "memory lasts to depth 2; depth 3 needs ub 747K/248K",
                "memory binds first",
            ],
        )

    def test_fifth_line_is_of_the_kernel_that_spills(self) -> None:
        buffers = [Buffer("b", "ub", 24 * 1024)]
        kernel = Kernel([SyncPoint("a", versions=1)], buffers=buffers)
        for versions, stage, largest in (
            (11, 0, None),
            (None, 24 * 1024, 248 * 1024 // 5 // 32 * 32),
        ):
            with self.subTest(versions):
                reading = Kernel(
                    [SyncPoint("a", versions=9)],
                    buffers=[replace(buffers[0], versions=versions)],
                )
                found = limits(kernel, {5: reading, 10: kernel})
                self.assertEqual(found.last_depth_without_spill, 4)
                (memory,) = found.memories
                self.assertEqual(
                    (memory.stage_bytes, memory.largest_stage_for_flags),
                    (stage, largest),
                )

    def test_readings_are_at_depths(self) -> None:
        kernel = Kernel([SyncPoint("a")])
        for depth in (0, "x", 10**18 + 1):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(limits, kernel, {depth: kernel}),
                    f"depth {depth!r}: expected a whole number from 1 to 10^18",
                )
        found = limits(kernel, {10**18: kernel})
        self.assertEqual(found.last_depth_without_spill, 8)


class Merging(unittest.TestCase):
    """What buffers take together, as MergeUBAllocations lays them out."""

    def used(
        self, memory: str, *sizes: int, aliases: Iterable[str] = (), versions: int = 1
    ) -> int:
        """Of buffers a, b, c ...; the first of an alias shares with the rest."""
        kernel = Kernel(
            [SyncPoint("s")],
            buffers=[
                Buffer(name, memory, size, versions=versions)
                for name, size in zip("abcdefg", sizes)
            ],
            aliases={names[0]: [*names[1:]] for names in aliases},
        )
        (found,) = plan(kernel, 1).memories
        return found.used

    def test_recorded(self) -> None:
        path = ROOT / "tests/vectors/merge_ub_allocations.json"
        cases = json.loads(path.read_text("ascii"))["cases"]
        self.assertEqual(len(cases), 400)
        for number, case in enumerate(cases):
            kernel = Kernel(
                [SyncPoint("s")],
                buffers=[
                    Buffer(f"b{index}", case["memory"], size, versions=1)
                    for index, size in enumerate(case["buffers"])
                ],
                aliases={
                    f"b{index}": [
                        f"b{other}" for one, other in case["aliases"] if one == index
                    ]
                    for index in range(len(case["buffers"]))
                },
            )
            with self.subTest(case=number):
                self.assertEqual(plan(kernel, 1).memories[0].used, case["bytes"])

    def test_alone(self) -> None:
        for memory in ("ub", "l1", "l0c"):
            self.assertEqual(self.used(memory, 33), 33)
            self.assertEqual(
                self.used(memory, 33, versions=2), 128 if memory == "ub" else 66
            )

    def test_starts_are_aligned_and_the_end_is_rounded_up(self) -> None:
        for memory, used in (
            ("ub", 64 + 64),
            ("l1", 512 + 64),
            ("l0a", 512 + 64),
            ("l0b", 512 + 64),
            ("l0c", 1024 + 64),
        ):
            with self.subTest(memory):
                self.assertEqual(self.used(memory, 33, 33), used)
                # The largest comes first.
                self.assertEqual(self.used(memory, 1, 33), used - 32)

    def test_versions_are_rounded_up_in_ub_only(self) -> None:
        self.assertEqual(self.used("ub", 33, 1, versions=3), 3 * 64 + 3 * 32)
        self.assertEqual(self.used("l1", 33, 1, versions=3), 512 + 32)

    def test_slots(self) -> None:
        for sizes, aliases, used in (
            ((64, 32), ["ab"], 64),
            ((64, 32), ["ba"], 64),
            # Not everything that shares with one shares with each other.
            ((64, 32, 32), ["ab", "ac"], 96),
            ((64, 32, 32), ["abc", "bc"], 64),
            # A name of no buffer counts for nothing.
            ((64, 32), ["az"], 96),
            ((64, 32, 96, 96), ["ac", "bd"], 192),
        ):
            with self.subTest(sizes, aliases=aliases):
                self.assertEqual(self.used("ub", *sizes, aliases=aliases), used)

    def test_less_memory_at_more_depth(self) -> None:
        # At depth 1, a goes beside c, and e finds no slot.
        buffers = [
            Buffer("a", "ub", 192, versions=1),
            Buffer("b", "ub", 160),
            Buffer("c", "ub", 128, versions=1),
            Buffer("d", "ub", 32, max_versions=3),
            Buffer("e", "ub", 192, versions=5),
        ]
        aliases = {"a": ["c", "e"], "b": ["e"], "c": ["d"]}
        for capacity, last in ((1216, 0), (1247, 0), (1248, 6)):
            kernel = Kernel(
                [SyncPoint("s")],
                buffers=buffers,
                aliases=aliases,
                capacities={"ub": capacity},
            )
            used = [plan(kernel, depth).memories[0].used for depth in range(1, 8)]
            self.assertEqual(used, [1248, 1216, 1248, 1248, 1248, 1248, 1408])
            self.assertEqual(limits(kernel).last_depth_in_memory, last)

    def test_about_depth_64(self) -> None:
        for last in range(61, 68):
            kernel = Kernel(
                [SyncPoint("s", versions=1)],
                buffers=[Buffer("a", "ub", 32)],
                capacities={"ub": 32 * last},
            )
            with self.subTest(last):
                self.assertEqual(limits(kernel).last_depth_in_memory, last)

    def test_beyond_64_depths_it_grows(self) -> None:
        kernel = Kernel(
            [SyncPoint("s", versions=1)],
            buffers=[Buffer("a", "ub", 32), Buffer("b", "ub", 32 * 90, versions=1)],
            aliases={"a": ["b"]},
            capacities={"ub": 32 * 100},
        )
        self.assertEqual(limits(kernel).last_depth_in_memory, 100)

    def test_by_hand_beside_what_was_read(self) -> None:
        path = ROOT / "tests/compiled/three_phases.d1.tir"
        found = document("--read", str(path), "--depth=1", buffer("33,versions=1"))
        (memory,) = found["depths"][0]["memories"]
        self.assertEqual(memory["used"], 20480 + 64)


class Depths(unittest.TestCase):
    """The blocks and the table."""

    maxDiff = None

    def test_block(self) -> None:
        out = run("--depth=3", buffer("96K"), buffer("64K,versions=1", "l0a")).out
        self.assertEqual(
            out.splitlines()[-3:],
            [
                "lock pool: 6/32 slots",
                "memory ub: 288K/248K",
                "memory l0a: 64K/64K",
            ],
        )
        args = ("--depth=5", "--cross-core", "--memory=ub=1M", buffer("1000"))
        self.assertEqual(
            run(*args).out.splitlines()[-3:],
            [
                "lock pool: 0/32 slots, and 5 for cross-core flags",
                "memory ub: 5K/1024K",
                "note: the compiler has no lock pool for cross-core flags;"
                " it rejects this depth",
            ],
        )

    def test_table(self) -> None:
        args = [buffer("16K,max-versions=3", "l0b"), buffer("96K"), buffer("1K", "l1")]
        self.assertEqual(
            run("--summary", *args).out.splitlines()[:5],
            [
                "depth   ids  locks         ub       l1      l0b  verdict",
                "    1   4/8   0/32   96K/248K  1K/512K  16K/64K  fits",
                "    2   8/8   0/32  192K/248K  2K/512K  32K/64K  fits",
                (
                    "    3  12/8   6/32  288K/248K  3K/512K  48K/64K"
                    "  spills release_A, release_B; out of memory: ub"
                ),
                (
                    "    4  16/8   8/32  384K/248K  4K/512K  48K/64K"
                    "  spills release_A, release_B; out of memory: ub"
                ),
            ],
        )

    def verdict(self, *args: str) -> str:
        _, row, *_ = run("--summary", *args).out.splitlines()
        return row.split("  ")[-1]

    def test_verdicts(self) -> None:
        big, huge = buffer("249K"), buffer("1M", "l1")
        both = "--sync-point=P_ready,event=cross-core", "--sync-point=a,event=M_FIX"
        for args, verdict in (
            ([ONE, "--depth=8"], "fits"),
            ([ONE, big, "--depth=1"], "out of memory: ub"),
            ([ONE, huge, big, "--depth=1"], "out of memory: ub, l1"),
            ([ONE, big, "--depth=9"], "spills a; out of memory: ub"),
            (
                [ONE, big, "--depth=33"],
                "rejected: lock pool 33/32; spills a; out of memory: ub",
            ),
            (
                [*both, "--depth=17"],
                "rejected: no cross-core slots for P_ready; spills a",
            ),
            (
                [*both, huge, "--depth=33"],
                "rejected: no cross-core slots for P_ready; spills a; out of memory: l1",
            ),
            (
                ["--sync-point=P_ready", "--cross-core", "--depth=33"],
                "rejected: no cross-core slots for P_ready",
            ),
        ):
            with self.subTest(args):
                self.assertEqual(self.verdict(*args), verdict)

    def test_verdicts_name_at_most_6(self) -> None:
        points = [f"--sync-point=p{number},versions=3" for number in range(17)]
        for count, names in (
            (8, "p2, p3, p4, p5, p6, p7"),
            (9, "p2, p3, p4, p5, p6, p7 and 1 more"),
        ):
            with self.subTest(count):
                self.assertEqual(self.verdict(*points[:count]), f"spills {names}")
        rejected = self.verdict("--cross-core", *points)
        reason = "no cross-core slots for p5, p6, p7, p8, p9, p10 and 6 more"
        self.assertEqual(rejected, f"rejected: {reason}")
        (at_1,) = document("--cross-core", "--depth=1", *points)["depths"]
        self.assertEqual(at_1["error"], f"the compiler rejects this depth: {reason}")

    def test_lock_line(self) -> None:
        wide = "--sync-point=w,event=MTE2_V,versions=30"
        cross = "--sync-point=c,event=cross-core,versions=17"
        for args, line in (
            ([wide], "lock pool: 30/32 slots"),
            ([wide, cross], "lock pool: 30/32 slots, and 17 for cross-core flags"),
            (
                [wide, cross, "--lock-reserved=3"],
                "lock pool: 33/32 slots, and 17 for cross-core flags"
                " -> the compiler rejects this depth",
            ),
        ):
            with self.subTest(args):
                lines = run("--depth=1", *args).out.splitlines()
                self.assertIn(line, lines)
                row = run("--depth=1", "--summary", *args).out.splitlines()[1]
                self.assertIn(f" {line.split()[2]} ", row)


class Declarations(unittest.TestCase):
    """--buffer and --memory."""

    def assert_error(self, args: list[str], expected: str) -> None:
        self.assertEqual(complaint(*args), expected)

    def test_sizes(self) -> None:
        for text, size in (
            ("1", 1),
            ("253952", 253952),
            ("3K", 3072),
            ("3k", 3072),
            ("2M", 2097152),
            ("1000000000000000000M", 10**18 * 2**20),
        ):
            with self.subTest(text):
                found = document("--depth=1", ONE, buffer(text), f"--memory=ub={text}")
                self.assertEqual(
                    found["depths"][0]["memories"],
                    [{"name": "ub", "bytes": size, "used": size}],
                )

    def test_sizes_printed(self) -> None:
        for size, capacity, text in (
            (1, "1M", "0.1K/1024K"),
            (1023, "1M", "1.0K/1024K"),
            (1024, "1M", "1K/1024K"),
            (1536, "1M", "1.5K/1024K"),
            (1537, "1M", "1.6K/1024K"),
            (270335, "264K", "264.0K/264K"),
            (270337, "264K", "264.1K/264K"),
            (1024, "1025", "1024/1025"),
        ):
            with self.subTest(size):
                args = (buffer(str(size)), f"--memory=ub={capacity}", "--depth=1")
                self.assertEqual(run(*args).out.splitlines()[-1], f"memory ub: {text}")

    def test_default_capacities(self) -> None:
        memories = ("ub", "l1", "l0a", "l0b", "l0c")
        found = document(*(buffer("1", memory) for memory in reversed(memories)))
        self.assertEqual(
            [(each["name"], each["bytes"]) for each in found["memories"]],
            [
                ("ub", 253952),
                ("l1", 524288),
                ("l0a", 65536),
                ("l0b", 65536),
                ("l0c", 262144),
            ],
        )

    def test_json(self) -> None:
        found = document(ONE, buffer("96K"), buffer("1K,versions=8"), "--depth=3")
        self.assertEqual(found["binds_first"], "memory")
        self.assertEqual(found["last_depth_without_spill"], 8)
        self.assertEqual(found["last_depth_that_compiles"], 32)
        self.assertEqual(found["last_depth_in_memory"], 2)
        self.assertEqual(
            found["memories"],
            [
                {
                    "name": "ub",
                    "bytes": 253952,
                    "stage_bytes": 98304,
                    "largest_stage_for_flags": 27296,
                }
            ],
        )
        (at_3,) = found["depths"]
        self.assertEqual(
            at_3["memories"], [{"name": "ub", "bytes": 253952, "used": 303104}]
        )
        self.assertEqual(at_3["out_of_memory"], ["ub"])
        found = document(ONE, buffer("1,versions=1"), buffer("1K", "l1"))
        self.assertEqual(found["binds_first"], "flag slots")
        self.assertEqual(
            [
                (each["stage_bytes"], each["largest_stage_for_flags"])
                for each in found["memories"]
            ],
            [(0, None), (1024, 57856)],
        )
        found = document(ONE, buffer("1"), buffer("1M,versions=1"))
        self.assertEqual(found["memories"][0]["largest_stage_for_flags"], 0)
        self.assertEqual(found["last_depth_in_memory"], 0)
        self.assertEqual(document(ONE, buffer("31K"))["binds_first"], "both")
        found = document(FIXED, buffer("1,versions=1"))
        self.assertIsNone(found["last_depth_that_compiles"])
        self.assertIsNone(found["last_depth_in_memory"])
        self.assertIsNone(found["binds_first"])

    def test_errors(self) -> None:
        usage = "expected memory=, bytes=, versions=, max-versions="
        required = "expected memory= and bytes= in every buffer"
        size = "expected a whole number from 1 to 10^18, of bytes, K or M, as in 4K"
        number = "expected a whole number from 1 to 10^18"
        for text, expected in (
            ("b", required),
            ("b,memory=ub", required),
            ("b,bytes=1", required),
            (
                "b,memory=UB,bytes=1",
                "memory 'UB': expected one of ub l1 l0a l0b l0c",
            ),
            (
                "a b,memory=ub,bytes=1",
                "name 'a b': expected letters, digits and _ . [ ] -, not starting with"
                " a dash",
            ),
            ("b,memory=ub,bytes=1,share=g", f"'share=g': {usage}"),
            ("b,memory=ub,bytes=1,cross-iter", f"'cross-iter': {usage}"),
            ("b,memory=ub,bytes", f"'bytes': {usage}"),
            (
                "b,memory=ub,memory=l1,bytes=1",
                "'memory' is given twice",
            ),
            ("b,memory=ub,bytes=1,versions=0", f"'versions=0': {number}"),
            (
                "b,memory=ub,bytes=1,versions=1,max-versions=1",
                "versions 1 and max_versions 1: expected one of them",
            ),
            *(
                (f"b,memory=ub,bytes={text}", f"'bytes={text}': {size}")
                for text in (
                    *("x", "", "0", "0K", "K", "-1", "1.5K", "3KB", "3G", "1 "),
                    *("1000000000000000001", "1000000000000000001K", "9" * 9999),
                )
            ),
        ):
            with self.subTest(text):
                self.assert_error(
                    [f"--buffer={text}"], f"argument --buffer: {text!r}: {expected}"
                )
        one = "b,memory=ub,bytes=1"
        self.assert_error(
            ["--buffer", one, "--buffer", one],
            "'b' is given twice",
        )
        for text in ("ub=", "ub", "ub=x", "ub=0"):
            with self.subTest(text):
                self.assert_error(
                    ["--memory", text], f"argument --memory: {text!r}: {size}"
                )
        for text in ("", "=1", "192K", "UB=1", "ub-simt=1"):
            with self.subTest(text):
                self.assert_error(
                    ["--memory", text],
                    f"argument --memory: {text!r}: expected MEMORY=SIZE, as in ub=192K, for"
                    " one of ub l1 l0a l0b l0c",
                )

    def test_python_declarations(self) -> None:
        point = SyncPoint("a")
        number = "expected a whole number from 1 to 10^18"
        for fields, expected in (
            (("a", "ub", 0), f"bytes 0: {number} * 2^20"),
            (
                ("a", "ub", 10**18 * 2**20 + 1),
                f"bytes 1048576000000000000000001: {number} * 2^20",
            ),
            (("a", "simt", 1), "memory 'simt': expected one of ub l1 l0a l0b l0c"),
            (
                ("", "ub", 1),
                "name '': expected letters, digits and _ . [ ] -, not starting with a"
                " dash",
            ),
            (("a", "ub", 1, 0), f"versions 0: {number}"),
            (("a", "ub", 1, None, 0), f"max_versions 0: {number}"),
            (
                ("a", "ub", 1, 1, 1),
                "versions 1 and max_versions 1: expected one of them",
            ),
        ):
            with self.subTest(fields):
                self.assertEqual(error_of(Buffer, *fields), expected)
        for options, expected in (
            ({"capacities": {"ub": 0}}, f"capacity of ub 0: {number} * 2^20"),
            (
                {"capacities": {"x": 1}},
                "memory 'x': expected one of ub l1 l0a l0b l0c",
            ),
            (
                {"buffers": [Buffer("b", "ub", 1)] * 2},
                "'b' is given twice",
            ),
        ):
            with self.subTest(options):
                self.assertEqual(error_of(Kernel, [point], **options), expected)
        kernel = Kernel([point], capacities={"ub": 196608})
        self.assertEqual(kernel.capacities["ub"], 196608)
        self.assertEqual(kernel.capacities["l1"], 524288)
        self.assertIsNone(limits(kernel).last_depth_in_memory)
        self.assertIsNone(limits(kernel).binds_first)
        self.assertEqual(kernel.memories, ())
        kernel = replace(kernel, buffers=[Buffer("b", "ub", 1)])
        self.assertEqual(hash(kernel), hash(replace(kernel)))
