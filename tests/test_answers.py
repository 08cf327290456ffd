"""Whole answers, as they are printed: --help, and one of each kind."""

from __future__ import annotations

import os
import re
import unittest
from unittest import mock

from tests import ROOT, run

README = (ROOT / "README.md").read_text("utf-8")

HELP = """\
usage: flag_budget.py [-h] [--depth N | --max-depth N]
                      [--sync-point POINT | --read [DEPTH=]FILE]
                      [--buffer BUFFER] [--memory MEMORY=SIZE]
                      [--sharing [{always,on-demand}]] [--cross-core]
                      [--reserve IDS] [--lock-reserved N] [--summary | --json]

How deep can an Ascend pipeline go before it runs out of flag slots, or of
memory? Sweeps the depth (num_stages) of a kernel and prints where tilelang's
compiler puts each sync point, which stay set/wait flags and which spill to the
lock pool, and how full the memories are. The last lines name each limit.

options:
  -h, --help            show this help message and exit
  --depth N             this depth only
  --max-depth N         the last depth of the sweep (default: 4, or the first
                        that spills or the deepest that was read, if later)
  --sync-point POINT    a sync point of your kernel, in place of the built-in
                        one; repeatable
  --read [DEPTH=]FILE   take the kernel from the TIR that tilelang's pass
                        tl.InsertSync leaves; - is standard input; repeatable,
                        one for each DEPTH that it was compiled with (default:
                        the largest num_stages that is printed)
  --buffer BUFFER       a buffer that your kernel keeps in a memory; repeatable
  --memory MEMORY=SIZE  the size of a memory, for another chip or kernel
                        (default: ub=248K, or ub=216K where a SimtVF block is
                        read, l1=512K, l0a=64K, l0b=64K, l0c=256K); once for
                        each memory
  --sharing [{always,on-demand}]
                        give one base id to each share group: always (the
                        default: the upper bound), or on-demand, while the
                        namespace is short, as the compiler does
  --cross-core          sync points without an event are cross-core flags, which
                        share 16 slots
  --reserve IDS         cross-core ids that the kernel uses explicitly: 15 or
                        14,15 or 0-3,9
  --lock-reserved N     locks that are taken beforehand (default: 2 where a
                        gemm_l1 is read, which holds them; else 0)
  --summary             print the table and the limits only, without a block for
                        each depth
  --json                print one JSON document instead

POINT is NAME[,event=PROD_CONS][,versions=N][,max-versions=N][,cross-iter]
[,share=GROUP]:
  event=MTE2_V      the hard_event whose 8 slots it uses, or event=cross-core
                    (Cube-Vector in the output); without one: an unnamed
                    hard_event, see --cross-core
  versions=1        a fixed number of ids; without it, the depth
  max-versions=3    the depth, but at most this; not with versions=
  cross-iter        a dependency on an earlier iteration (a release)
  share=GROUP       may share a base id with the others of the group

BUFFER is NAME,memory=MEMORY,bytes=SIZE[,versions=N][,max-versions=N]:
  memory=ub         one of ub l1 l0a l0b l0c
  bytes=4K          the size of one version, in bytes, K or M
  versions=1        a fixed number of versions; without it, one for each stage
  max-versions=3    one for each stage, but at most this; not with versions=

@FILE anywhere on the command line reads arguments from a file: several to a
line, # comments, shell quoting.

Cross-core flags have no lock pool: where they find no slots the compile stops.
What is then shown as kept and spilled is this model's own.
"""

BY_HAND = """\
depth=1 num_versions per sync point = 1 (fixed: store=1)
[MTE2_V]
blocks: load_x=1, load_y=1
allocator sum = 2 ids
-> fits in 8 slots; no spill (6 slots spare)
load_x base 0 id = i % 1 + 0
load_y base 1 id = i % 1 + 1
[V_MTE2]
blocks: free_x=1, free_y=1
allocator sum = 2 ids
-> fits in 8 slots; no spill (6 slots spare)
free_x base 0 id = i % 1 + 0
free_y base 1 id = i % 1 + 1
[V_MTE3]
blocks: store=1
allocator sum = 1 ids
-> fits in 8 slots; no spill (7 slots spare)
store base 0 id = i % 1 + 0
lock pool: 0/32 slots
memory ub: 80K/248K

depth=2 num_versions per sync point = 2 (fixed: store=1)
[MTE2_V]
blocks: load_x=2, load_y=2
allocator sum = 4 ids
-> fits in 8 slots; no spill (4 slots spare)
load_x base 0 id = i % 2 + 0
load_y base 2 id = i % 2 + 2
[V_MTE2]
blocks: free_x=2, free_y=2
allocator sum = 4 ids
-> fits in 8 slots; no spill (4 slots spare)
free_x base 0 id = i % 2 + 0
free_y base 2 id = i % 2 + 2
[V_MTE3]
blocks: store=1
allocator sum = 1 ids
-> fits in 8 slots; no spill (7 slots spare)
store base 0 id = i % 1 + 0
lock pool: 0/32 slots
memory ub: 160K/248K

depth  MTE2_V  V_MTE2  V_MTE3  locks         ub  verdict
    1     2/8     2/8     1/8   0/32   80K/248K  fits
    2     4/8     4/8     1/8   0/32  160K/248K  fits
flag slots last to depth 4; depth 5 is the first to spill: MTE2_V 10/8, V_MTE2 10/8
the compiler takes up to depth 8; depth 9 is rejected: lock pool 36/32
memory lasts to depth 3; depth 4 needs ub 320K/248K
memory binds first
in ub, flag slots bind first while a stage takes at most 50790 bytes (it takes 81920)
"""

READ = """\
read at depth 4: tests/compiled/gemm_auto.d4.tir
MTE1_MTE2[0]  ids 0-2  at most 3  lines 29, 32, 35, 45 and 4 more
FIX_M[0]      id 0     fixed 1    lines 38, 58, 80, 92
MTE2_MTE1[0]  ids 0-2  at most 3  lines 54, 61
M_FIX[0]      id 0     fixed 1    lines 71, 74
acc           l0c 16K  fixed 1    line 24
a_l1          l1 8K    at most 3  line 25
b_l1          l1 8K    at most 3  line 26
gemm_l1 holds 2 locks, line 64

depth=4 num_versions per sync point = 4 (fixed: FIX_M[0]=1, M_FIX[0]=1; at most: MTE1_MTE2[0]=3, MTE2_MTE1[0]=3)
[MTE1_MTE2]
blocks: MTE1_MTE2[0]=3
allocator sum = 3 ids
-> fits in 8 slots; no spill (5 slots spare)
MTE1_MTE2[0] base 0 id = i % 3 + 0
[FIX_M]
blocks: FIX_M[0]=1
allocator sum = 1 ids
-> fits in 8 slots; no spill (7 slots spare)
FIX_M[0] base 0 id = i % 1 + 0
[MTE2_MTE1]
blocks: MTE2_MTE1[0]=3
allocator sum = 3 ids
-> fits in 8 slots; no spill (5 slots spare)
MTE2_MTE1[0] base 0 id = i % 3 + 0
[M_FIX]
blocks: M_FIX[0]=1
allocator sum = 1 ids
-> fits in 8 slots; no spill (7 slots spare)
M_FIX[0] base 0 id = i % 1 + 0
lock pool: 2/32 slots
memory l1: 48K/512K
memory l0c: 16K/256K
"""

CROSS_CORE = """\
depth=15 num_versions per sync point = 15
[Cube-Vector]
blocks: free=15, ready=15
shared : free, ready on one base
reserved : 14, 15
allocator sum = 15 ids
-> exceeds 14 slots: 0/1 knapsack keeps 0/14 slots as set/wait flags
kept : none
spilled : free, ready -> asc_lock/asc_unlock mutex pool (blocking)
free  lock 0 id = i % 15 + 0
ready lock 0 id = i % 15 + 0
lock pool: 0/32 slots, and 15 for cross-core flags
note: the compiler has no lock pool for cross-core flags; it rejects this depth
"""

OUT_OF_MEMORY = """\
read at depth 4: tests/compiled/two_consumers.d4.tir
MTE3_V[0]  ids 0-3  follows the depth  lines 32, 35, 38, 41 and 6 more
V_MTE2[0]  ids 0-3  follows the depth  lines 44, 47, 50, 53 and 6 more
V_MTE2[4]  ids 4-7  follows the depth  lines 56, 59, 62, 65 and 6 more
MTE2_V[0]  ids 0-3  follows the depth  lines 85, 107
MTE2_V[4]  ids 4-7  follows the depth  lines 76, 91
V_MTE3[0]  ids 0-3  follows the depth  lines 120, 126
x          ub 1K    follows the depth  line 26
y          ub 1K    follows the depth  line 27
p          ub 1K    follows the depth  line 28
q          ub 1K    follows the depth  line 29

depth  MTE3_V  V_MTE2  MTE2_V  V_MTE3  locks       ub  verdict
    1     1/8     2/8     2/8     1/8   0/32   4K/18K  fits
    2     2/8     4/8     4/8     2/8   0/32   8K/18K  fits
    3     3/8     6/8     6/8     3/8   0/32  12K/18K  fits
    4     4/8     8/8     8/8     4/8   0/32  16K/18K  fits
    5     5/8    10/8    10/8     5/8  10/32  20K/18K  spills V_MTE2[4], MTE2_V[4]; out of memory: ub
flag slots last to depth 4; depth 5 is the first to spill: V_MTE2 10/8, MTE2_V 10/8
the compiler takes up to depth 8; depth 9 is rejected: lock pool 54/32
memory lasts to depth 4; depth 5 needs ub 20K/18K
flag slots and memory bind at the same depth
in ub, flag slots bind first while a stage takes at most 3686 bytes (it takes 4096)
"""

REJECTED = """\
depth   ids  locks         l1        l0a  verdict
    1   4/8   0/32   60K/512K  64.5K/64K  out of memory: l0a
    2   8/8   0/32  120K/512K  64.5K/64K  out of memory: l0a
    3  12/8   6/32  180K/512K  64.5K/64K  spills release_A, release_B; out of memory: l0a
    4  16/8   8/32  240K/512K  64.5K/64K  spills release_A, release_B; out of memory: l0a
    5  20/8  15/32  300K/512K  64.5K/64K  spills acquire_B, release_A, release_B; out of memory: l0a
    6  24/8  18/32  360K/512K  64.5K/64K  spills acquire_B, release_A, release_B; out of memory: l0a
    7  28/8  21/32  420K/512K  64.5K/64K  spills acquire_B, release_A, release_B; out of memory: l0a
    8  32/8  24/32  480K/512K  64.5K/64K  spills acquire_B, release_A, release_B; out of memory: l0a
    9  36/8  36/32  540K/512K  64.5K/64K  rejected: lock pool 36/32; spills acquire_A, acquire_B, release_A, release_B; out of memory: l1, l0a
flag slots last to depth 2; depth 3 is the first to spill: ids 12/8
the compiler takes up to depth 8; depth 9 is rejected: lock pool 36/32
memory does not last to any depth; depth 1 already needs l0a 64.5K/64K
memory binds first
in l1, flag slots bind first while a stage takes at most 174762 bytes (it takes 61440)
"""

MANY_NAMESPACES = """\
depth  MTE2_V  V_MTE2  V_MTE3  MTE3_V  MTE1_M  locks  verdict
    1     1/8     1/8     1/8     1/8     1/8   0/32  fits
    2     2/8     2/8     2/8     2/8     2/8   0/32  fits
    3     3/8     3/8     3/8     3/8     3/8   0/32  fits
    4     4/8     4/8     4/8     4/8     4/8   0/32  fits
    5     5/8     5/8     5/8     5/8     5/8   0/32  fits
    6     6/8     6/8     6/8     6/8     6/8   0/32  fits
    7     7/8     7/8     7/8     7/8     7/8   0/32  fits
    8     8/8     8/8     8/8     8/8     8/8   0/32  fits
    9     9/8     9/8     9/8     9/8     9/8  45/32  rejected: lock pool 45/32; spills MTE2_V, V_MTE2, V_MTE3, MTE3_V, MTE1_M
never over: M_FIX 8/8, FIX_M 2/8, S_V 3/8
flag slots last to depth 8; depth 9 is the first to spill: MTE2_V 9/8, V_MTE2 9/8, V_MTE3 9/8, MTE3_V 9/8, MTE1_M 9/8
the compiler takes up to depth 8; depth 9 is rejected: lock pool 45/32
"""


class Answers(unittest.TestCase):
    """Each as a whole."""

    maxDiff = None

    def assert_prints(self, arguments: str, expected: str) -> None:
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        self.assertEqual(run(*arguments.split()), (0, expected, ""))

    def test_help(self) -> None:
        with mock.patch("sys.argv", ["flag_budget.py"]):
            status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        # Python 3.9 has another heading, 3.13 breaks the usage at other places.
        out = out.replace("\noptional arguments:\n", "\noptions:\n")
        usage, rest = out.split("\n\n", 1)
        expected_usage, expected_rest = HELP.split("\n\n", 1)
        self.assertEqual(usage.split(), expected_usage.split())
        self.assertEqual(rest, expected_rest)

    def test_help_and_readme_have_one_grammar(self) -> None:
        grammars = re.findall(r"`(NAME,?[^` ]*=[^` ]*)`", README)
        self.assertEqual(len(grammars), 2)
        for grammar in grammars:
            self.assertIn(f" is {grammar}:\n", HELP.replace("\n[,share", "[,share"))
        part = README[README.index("| `--sync-point` |") : README.index("\nNames are")]
        for key in re.findall(r"`([\w-]+)=\w+`|`(cross-iter)`", part):
            self.assertIn(f"\n  {''.join(key)}", HELP)

    def test_first_table_of_readme(self) -> None:
        answers = re.findall(r"^\| .*\? \| `(.*)` \|$", README, re.MULTILINE)
        self.assertEqual(len(answers), 5)
        shown = README[README.index("## Your own kernel, from TileLang") :]
        for answer in answers:
            self.assertIn(f"{answer}\n", shown)

    def test_length_of_readme(self) -> None:
        self.assertLessEqual(README.count("\n"), 300)

    def test_by_hand(self) -> None:
        self.assert_prints(
            "@tests/kernels/vec_add.args --buffer tile,memory=ub,bytes=80K --max-depth 2",
            BY_HAND,
        )

    def test_read(self) -> None:
        self.assert_prints(
            "--read tests/compiled/gemm_auto.d4.tir --depth 4",
            READ,
        )

    def test_cross_core(self) -> None:
        self.assert_prints(
            "@tests/kernels/handshake.args --depth 15",
            CROSS_CORE,
        )

    def test_out_of_memory(self) -> None:
        self.assert_prints(
            "--read tests/compiled/two_consumers.d4.tir --memory ub=18K --summary",
            OUT_OF_MEMORY,
        )

    def test_rejected(self) -> None:
        self.assert_prints(
            "--max-depth 9 --buffer tile,memory=l1,bytes=60K --buffer all,memory=l0a,bytes=1000,versions=66 --summary",
            REJECTED,
        )

    def test_many_namespaces(self) -> None:
        points = [
            "--sync-point=MTE2_V,event=MTE2_V",
            "--sync-point=V_MTE2,event=V_MTE2,cross-iter",
            "--sync-point=V_MTE3,event=V_MTE3",
            "--sync-point=MTE3_V,event=MTE3_V,cross-iter",
            "--sync-point=M_FIX,event=M_FIX,versions=8",
            "--sync-point=FIX_M,event=FIX_M,versions=2",
            "--sync-point=S_V,event=S_V,max-versions=3",
            "--sync-point=MTE1_M,event=MTE1_M,max-versions=9",
        ]
        self.assert_prints(
            " ".join([*points, "--max-depth=9", "--summary"]), MANY_NAMESPACES
        )
