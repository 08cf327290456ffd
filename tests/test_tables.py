"""The tables of the built-in kernel, and of the depths that are asked for."""

from __future__ import annotations

import unittest

from flag_budget import Kernel, SyncPoint, text_report
from tests import run


class Tables(unittest.TestCase):
    """What the command prints for the built-in kernel."""

    maxDiff = None

    def test_sweep_is_the_depths_and_the_table(self) -> None:
        blocks = [run("--depth", str(depth)).out for depth in (1, 2, 3, 4)]
        table = run("--summary").out
        self.assertEqual(run(), (0, "\n".join([*blocks, table]), ""))

    def test_max_depth_moves_the_end_of_the_sweep_only(self) -> None:
        header, *rows, flags, compiler = run("--summary").out.splitlines()
        for depth in (1, 3):
            with self.subTest(depth):
                lines = run("--summary", f"--max-depth={depth}").out.splitlines()
                self.assertEqual(
                    [line.split() for line in lines],
                    [line.split() for line in (header, *rows[:depth], flags, compiler)],
                )

    def test_row_of_one_depth(self) -> None:
        header, *rows, flags, compiler = run("--summary").out.splitlines()
        self.assertEqual(
            run("--summary", "--depth=3").out.splitlines(),
            [header, rows[2], flags, compiler],
        )

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
                "flag slots are too few even at depth 1, which spills: ids 9/8",
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
