"""The other side: memory, and which of the two binds first."""

from __future__ import annotations

import json
import unittest
from dataclasses import replace
from typing import Any

from flag_budget import (
    Kernel,
    SyncPoint,
    binds_first,
    largest_stage_for_flags,
    last_depth_in_memory,
)
from tests import run

ONE = "--sync-point=a,event=MTE2_V"
FIXED = "--sync-point=a,event=MTE2_V,versions=1"
TOO_WIDE = "--sync-point=a,event=MTE2_V,versions=9"


def last_lines(*args: str) -> list[str]:
    """The lines below the table of a sweep, without the one on fixed widths."""
    _, table = run(*args).out.rsplit("\n\n", 1)
    return [
        line
        for line in table.splitlines()
        if not line.startswith(("depth", " ", "flag slots do not depend"))
    ]


class Answer(unittest.TestCase):
    """The last lines."""

    def test_memory_binds_first(self) -> None:
        self.assertEqual(
            last_lines(ONE, "--memory=ub", "--stage-bytes=96K"),
            [
                "shared memory binds first: it lasts to depth 2, flag slots to depth 8",
                "flag slots bind first while a stage takes at most 28216 bytes",
            ],
        )

    def test_flags_bind_first(self) -> None:
        self.assertEqual(
            last_lines(ONE, "--memory=248K", "--stage-bytes=12K"),
            [
                "flag slots bind first: they last to depth 8, shared memory to depth 20",
                "flag slots bind first while a stage takes at most 28216 bytes",
            ],
        )

    def test_both_at_once(self) -> None:
        self.assertEqual(
            last_lines(ONE, "--memory=ub", "--stage-bytes=31K")[0],
            "shared memory and flag slots both last to depth 8",
        )

    def test_flags_that_never_spill(self) -> None:
        args = (FIXED, "--memory=ub", "--stage-bytes=96K")
        self.assertEqual(
            last_lines(*args),
            [
                "shared memory binds first: it lasts to depth 2, flag slots to any depth",
                "flag slots never bind first, whatever a stage takes",
            ],
        )
        self.assertIn("flag slots do not depend on depth", run(*args).out)

    def test_flags_that_spill_at_depth_1(self) -> None:
        self.assertEqual(
            last_lines(TOO_WIDE, "--memory=ub", "--stage-bytes=96K"),
            [
                "flag slots bind first: they last to no depth, shared memory to depth 2",
                "flag slots bind first while a stage takes at most 248K",
            ],
        )

    def test_a_stage_that_does_not_fit_once(self) -> None:
        args = ("--memory=4000", "--stage-bytes=4001")
        for kernel, line in (
            (ONE, "binds first: it lasts to no depth, flag slots to depth 8"),
            (FIXED, "binds first: it lasts to no depth, flag slots to any depth"),
            (TOO_WIDE, "and flag slots both last to no depth"),
        ):
            self.assertEqual(last_lines(kernel, *args)[0], f"shared memory {line}")

    def test_memory_alone(self) -> None:
        self.assertEqual(
            last_lines("--memory=l1"),
            [
                "flag slots last to depth 2; depth 3 is the first to spill",
                "flag slots bind first while a stage takes at most 174762 bytes",
            ],
        )
        self.assertNotIn("memory:", run("--memory=l1").out)
        self.assertEqual(
            last_lines(ONE, "--memory=9M")[1],
            "flag slots bind first while a stage takes at most 1M",
        )
        self.assertEqual(
            last_lines(ONE, "--memory=8")[1],
            "flag slots never bind first, whatever a stage takes",
        )

    def test_no_memory_holds_no_stage(self) -> None:
        kernel = Kernel([SyncPoint("a", versions=9)])
        self.assertEqual(largest_stage_for_flags(kernel), 0)

    def test_the_stage_at_which_it_moves_is_exact(self) -> None:
        for memory in (*range(1, 40), 253952):
            kernel = Kernel([SyncPoint("a")], memory=memory)
            largest = largest_stage_for_flags(kernel)
            if largest:
                binding = replace(kernel, stage_bytes=largest)
                self.assertEqual(binds_first(binding), "flag slots", memory)
                self.assertGreaterEqual(last_depth_in_memory(binding) or 0, 9)
            beyond = replace(kernel, stage_bytes=largest + 1)
            self.assertNotEqual(binds_first(beyond), "flag slots", memory)


class Depths(unittest.TestCase):
    """The blocks, the table, and where a sweep ends."""

    def test_block(self) -> None:
        out = run("--depth=3", "--memory=ub", "--stage-bytes=96K").out
        self.assertEqual(
            out.splitlines()[-2:], ["lock pool: 6/32 slots", "memory: 288K/248K"]
        )
        args = ("--depth=5", "--cross-core", "--memory=1M", "--stage-bytes=1000")
        lines = run(*args).out.splitlines()
        self.assertEqual(lines[-2], "memory: 5000/1M")
        self.assertTrue(lines[-1].startswith("note: "))

    def test_table(self) -> None:
        _, table = run("--memory=ub", "--stage-bytes=96K").out.rsplit("\n\n", 1)
        self.assertEqual(
            table.splitlines()[:5],
            [
                "depth   ids  locks     memory  verdict",
                "    1   4/8   0/32   96K/248K  fits",
                "    2   8/8   0/32  192K/248K  fits",
                "    3  12/8   6/32  288K/248K  spills release_A, release_B; out of memory",
                "    4  16/8   8/32  384K/248K  spills release_A, release_B; out of memory",
            ],
        )

    def test_verdicts(self) -> None:
        out = run("--memory=8", "--stage-bytes=1", "--max-depth=9").out
        self.assertIn("9/8  rejected: lock pool 36/32; out of memory\n", out)
        self.assertIn("8/8  spills acquire_B, release_A, release_B\n", out)
        out = run(FIXED, "--memory=8", "--stage-bytes=8").out
        self.assertIn("    1     1/8   0/32     8/8  fits\n", out)
        self.assertIn("    2     1/8   0/32    16/8  fits; out of memory\n", out)


class Sizes(unittest.TestCase):
    """SIZE, read and printed."""

    def memory(self, *args: str) -> Any:
        return json.loads(run("--json", "--depth=1", *args).out)

    def test_sizes(self) -> None:
        for text, size in (
            ("1", 1),
            ("253952", 253952),
            ("3K", 3072),
            ("3k", 3072),
            ("2M", 2097152),
            ("ub", 253952),
            ("ub-simt", 221184),
            ("l1", 524288),
            ("l0a", 65536),
            ("l0b", 65536),
            ("l0c", 262144),
        ):
            found = self.memory(f"--memory={text}")
            self.assertEqual(found["memory"]["bytes"], size, text)

    def test_printed(self) -> None:
        for size, text in ((1, "1"), (1023, "1023"), (1024, "1K"), (1536, "1536")):
            args = (f"--stage-bytes={size}", "--memory=1024K", "--depth=1")
            self.assertIn(f"\nmemory: {text}/1M\n", run(*args).out)

    def test_json(self) -> None:
        found = self.memory("--memory=ub", "--stage-bytes=96K")
        self.assertEqual(
            found["memory"], {"bytes": 253952, "stage_bytes": 98304, "last_depth": 2}
        )
        self.assertEqual(found["binds_first"], "both")
        found = self.memory("--memory=ub", "--stage-bytes=97K", FIXED)
        self.assertEqual(found["binds_first"], "shared memory")
        found = self.memory("--memory=ub", "--stage-bytes=3K", ONE)
        self.assertEqual(found["binds_first"], "flag slots")
        found = self.memory("--memory=ub")
        self.assertEqual(
            found["memory"], {"bytes": 253952, "stage_bytes": None, "last_depth": None}
        )
        self.assertIsNone(found["binds_first"])
        self.assertNotIn("memory", self.memory())

    def test_errors(self) -> None:
        names = "; or one of ub ub-simt l1 l0a l0b l0c\n"
        for option, end in (("--memory", names), ("--stage-bytes", "as in 3K\n")):
            for text in ("x", "", "0", "0K", "K", "-1", "1.5K", "3KB", "3G", "ub "):
                status, out, err = run("--memory=1", f"{option}={text}")
                self.assertEqual((status, out), (2, ""), text)
                self.assertIn(f"argument {option}: invalid value '{text}': ", err)
                self.assertTrue(err.endswith(end), err)
        status, out, err = run("--stage-bytes=3K")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("error: stage_bytes 3072: expected memory with it\n", err)

    def test_python_declarations(self) -> None:
        for memory, stage_bytes, complaint in (
            (None, 1, "stage_bytes 1: expected memory"),
            (0, None, "memory 0"),
            (1, 0, "stage_bytes 0"),
        ):
            with self.assertRaisesRegex(ValueError, complaint):
                Kernel([SyncPoint("a")], memory=memory, stage_bytes=stage_bytes)
        kernel = Kernel([SyncPoint("a")], memory=1)
        self.assertIsNone(last_depth_in_memory(kernel))
        self.assertIsNone(binds_first(kernel))
