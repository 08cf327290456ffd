"""The tables, to the letter."""

from __future__ import annotations

import unittest

from flag_budget import Kernel, SyncPoint, text_report
from tests import run

DEPTH_2 = """\
depth=2 num_versions per sync point = 2
blocks: acquire_A=2, acquire_B=2, release_A=2, release_B=2
allocator sum = 8 ids
-> fits in 8 slots; no spill (0 slots spare)
acquire_A base 0 id = i % 2 + 0
acquire_B base 2 id = i % 2 + 2
release_A base 4 id = i % 2 + 4
release_B base 6 id = i % 2 + 6
"""

DEPTH_3 = """\
depth=3 num_versions per sync point = 3
blocks: acquire_A=3, acquire_B=3, release_A=3, release_B=3
allocator sum = 12 ids
-> exceeds 8 slots: 0/1 knapsack keeps 6/8 slots as set/wait flags
kept : acquire_A, acquire_B
spilled : release_A, release_B -> asc_lock/asc_unlock mutex pool (blocking)
acquire_A base 0 id = i % 3 + 0
acquire_B base 3 id = i % 3 + 3
release_A lock 0 id = i % 3 + 0
release_B lock 3 id = i % 3 + 3
lock pool: 6/32 slots
"""

DEPTH_2_SHARING = """\
depth=2 num_versions per sync point = 2
blocks: acquire_A=2, acquire_B=2, release_A=2, release_B=2
shared : release_A, release_B on one base
allocator sum = 6 ids
-> fits in 8 slots; no spill (2 slots spare)
acquire_A base 0 id = i % 2 + 0
acquire_B base 2 id = i % 2 + 2
release_A base 4 id = i % 2 + 4
release_B base 4 id = i % 2 + 4
"""

DEPTH_4_SHARING = """\
depth=4 num_versions per sync point = 4
blocks: acquire_A=4, acquire_B=4, release_A=4, release_B=4
shared : release_A, release_B on one base
allocator sum = 12 ids
-> exceeds 8 slots: 0/1 knapsack keeps 8/8 slots as set/wait flags
kept : acquire_A, acquire_B
spilled : release_A, release_B -> asc_lock/asc_unlock mutex pool (blocking)
acquire_A base 0 id = i % 4 + 0
acquire_B base 4 id = i % 4 + 4
release_A lock 0 id = i % 4 + 0
release_B lock 0 id = i % 4 + 0
lock pool: 4/32 slots
"""

DEPTH_9 = """\
depth=9 num_versions per sync point = 9
blocks: acquire_A=9, acquire_B=9, release_A=9, release_B=9
allocator sum = 36 ids
-> exceeds 8 slots: 0/1 knapsack keeps 0/8 slots as set/wait flags
kept : none
spilled : acquire_A, acquire_B, release_A, release_B\
 -> asc_lock/asc_unlock mutex pool (blocking)
acquire_A lock 0  id = i % 9 + 0
acquire_B lock 9  id = i % 9 + 9
release_A lock 18 id = i % 9 + 18
release_B lock 27 id = i % 9 + 27
lock pool: 36/32 slots -> the compiler rejects this depth
"""

DEPTH_5_CROSS_CORE = """\
depth=5 num_versions per sync point = 5
blocks: acquire_A=5, acquire_B=5, release_A=5, release_B=5
allocator sum = 20 ids
-> exceeds 16 slots: 0/1 knapsack keeps 15/16 slots as set/wait flags
kept : acquire_A, acquire_B, release_A
spilled : release_B -> asc_lock/asc_unlock mutex pool (blocking)
acquire_A base 0  id = i % 5 + 0
acquire_B base 5  id = i % 5 + 5
release_A base 10 id = i % 5 + 10
release_B lock 0  id = i % 5 + 0
lock pool: 0/32 slots, and 5 for cross-core flags
note: the compiler has no lock pool for cross-core flags; it rejects this depth
"""

SUMMARY = """\
depth   ids  locks  verdict
    1   4/8   0/32  fits
    2   8/8   0/32  fits
    3  12/8   6/32  spills release_A, release_B
    4  16/8   8/32  spills release_A, release_B
flag slots last to depth 2; depth 3 is the first to spill: ids 12/8
the compiler takes up to depth 8; depth 9 is rejected: lock pool 36/32
"""

SUMMARY_SHARING = """\
depth   ids  locks  verdict
    1   3/8   0/32  fits
    2   6/8   0/32  fits
    3   9/8   3/32  spills release_A, release_B
    4  12/8   4/32  spills release_A, release_B
flag slots last to depth 2; depth 3 is the first to spill: ids 9/8
the compiler takes up to depth 10; depth 11 is rejected: lock pool 33/32
"""

SUMMARY_CROSS_CORE = """\
depth    ids  locks  verdict
    1   4/16   0/32  fits
    2   8/16   0/32  fits
    3  12/16   0/32  fits
    4  16/16   0/32  fits
    5  20/16   0/32  rejected: no cross-core slots for release_B
flag slots last to depth 4; depth 5 is the first to spill: ids 20/16
the compiler takes up to depth 4; depth 5 is rejected: ids 20/16
"""

SUMMARY_CROSS_CORE_SHARING = """\
depth    ids  locks  verdict
    1   3/16   0/32  fits
    2   6/16   0/32  fits
    3   9/16   0/32  fits
    4  12/16   0/32  fits
    5  15/16   0/32  fits
    6  18/16   0/32  rejected: no cross-core slots for release_A, release_B
flag slots last to depth 5; depth 6 is the first to spill: ids 18/16
the compiler takes up to depth 5; depth 6 is rejected: ids 18/16
"""


class Tables(unittest.TestCase):
    """What the command prints for the built-in kernel."""

    maxDiff = None

    def assert_prints(self, arguments: str, expected: str) -> None:
        self.assertEqual(run(*arguments.split()), (0, expected, ""))

    def assert_summary(self, arguments: str, expected: str) -> None:
        *_, table = run(*arguments.split()).out.split("\n\n")
        self.assertEqual(table, expected)

    def test_one_depth(self) -> None:
        for arguments, expected in {
            "--depth 2": DEPTH_2,
            "--depth 3": DEPTH_3,
            "--depth 9": DEPTH_9,
            "--depth 2 --sharing": DEPTH_2_SHARING,
            "--depth 4 --sharing": DEPTH_4_SHARING,
            "--depth 5 --cross-core": DEPTH_5_CROSS_CORE,
        }.items():
            with self.subTest(arguments):
                self.assert_prints(arguments, expected)

    def test_sweep_is_the_depths_and_the_table(self) -> None:
        blocks = [run("--depth", str(depth)).out for depth in (1, 2, 3, 4)]
        self.assert_prints("", "\n".join([*blocks, SUMMARY]))

    def test_sweep_ends_at_depth_4_or_at_the_first_spill(self) -> None:
        self.assert_summary("", SUMMARY)
        self.assert_summary("--sharing", SUMMARY_SHARING)
        self.assert_summary("--cross-core", SUMMARY_CROSS_CORE)
        self.assert_summary("--cross-core --sharing", SUMMARY_CROSS_CORE_SHARING)

    def test_max_depth_moves_the_end_of_the_sweep_only(self) -> None:
        lines = SUMMARY.splitlines(keepends=True)
        self.assert_summary("--max-depth 3", "".join([*lines[:4], *lines[-2:]]))
        *_, flags, compiler = run("--max-depth", "1").out.splitlines(keepends=True)
        self.assertEqual([flags, compiler], lines[-2:])

    def test_summary_is_the_table_without_the_blocks(self) -> None:
        self.assert_prints("--summary", SUMMARY)
        self.assert_prints("--summary --cross-core", SUMMARY_CROSS_CORE)
        lines = SUMMARY.splitlines(keepends=True)
        row = "".join([lines[0], lines[3], *lines[-2:]])
        self.assert_prints("--summary --depth 3", row)

    def test_lock_pool_overflow_is_a_verdict(self) -> None:
        table = run("--max-depth", "9").out.split("\n\n")[-1].splitlines()
        self.assertEqual(
            table[8:10],
            [
                "    8  32/8  24/32  spills acquire_B, release_A, release_B",
                "    9  36/8  36/32  rejected: lock pool 36/32;"
                " spills acquire_A, acquire_B, release_A, release_B",
            ],
        )

    def test_lock_pool_may_be_full(self) -> None:
        points = tuple(SyncPoint(f"p{number}") for number in range(5))
        *block, _, _, row, _, _ = text_report(Kernel(points), [8])
        self.assertEqual(block[-1], "lock pool: 32/32 slots")
        self.assertEqual(row, "    8  40/8  32/32  spills p1, p2, p3, p4")

    def test_depth_1_spills(self) -> None:
        points = tuple(SyncPoint(f"p{number}") for number in range(9))
        *block, _, _, row, flags, compiler = text_report(Kernel(points), [1])
        self.assertEqual(
            block[5], "spilled : p8 -> asc_lock/asc_unlock mutex pool (blocking)"
        )
        self.assertEqual(row, "    1  9/8   1/32  spills p8")
        self.assertEqual(
            (flags, compiler),
            (
                "flag slots do not last to any depth; depth 1 already spills: ids 9/8",
                "the compiler takes up to depth 4; depth 5 is rejected: lock pool 40/32",
            ),
        )

    def test_names_of_different_lengths_line_up(self) -> None:
        points = (SyncPoint("long_name"), SyncPoint("b"))
        table = list(text_report(Kernel(points), [4], table=False))[-2:]
        self.assertEqual(
            table,
            ["long_name base 0 id = i % 4 + 0", "b         base 4 id = i % 4 + 4"],
        )

    def test_plain_ascii_and_no_blanks_at_the_ends(self) -> None:
        out = run("--max-depth", "12").out
        self.assertTrue(out.isascii())
        blocks = out.split("\n\n")[:-1]
        for line in "\n".join(blocks).splitlines():
            self.assertEqual(line, line.strip())
