"""--read: one text, several texts, and what is said of them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tests import ROOT, complaint, document, run
from tests.texts import (
    CASES,
    EXPECTED_TIR,
    MARKS,
    buffer,
    cross_core,
    set_flag,
    text_of,
)


class Command(unittest.TestCase):
    """--read."""

    maxDiff = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text: str, name: str = "kernel.tir") -> str:
        path = self.folder / name
        path.write_text(text + MARKS, "utf-8")
        return str(path)

    def test_what_was_read(self) -> None:
        path = str(text_of("gemm_auto", 4))
        table = f"""\
read at depth 4: {path}
MTE1_MTE2[0]  ids 0-2  at most 3  a_l1, b_l1  lines 29, 32, 35, 45 and 4 more
FIX_M[0]      id 0     fixed 1    acc         lines 38, 58, 80, 92
MTE2_MTE1[0]  ids 0-2  at most 3  a_l1, b_l1  lines 54, 61
M_FIX[0]      id 0     fixed 1    acc         lines 71, 74
acc           l0c 16K  fixed 1                line 24
a_l1          l1 8K    at most 3              line 25
b_l1          l1 8K    at most 3              line 26
gemm_l1 holds 2 locks, line 64

"""
        out = run("--read", path, "--summary").out
        self.assertEqual(out.partition("depth  ")[0], table)
        self.assertTrue(run("--read", path).out.startswith(f"{table}depth=1 num_"))
        self.assertTrue(
            run("--read", path, "--depth=2").out.startswith(f"{table}depth=2 ")
        )

    def test_what_was_read_elsewhere(self) -> None:
        text = (
            'with T.sblock("SIMT_VF"):\n x = T.sblock_alloc_buffer((300,), data=x.data,'
            ' scope="shared")\n'
            'with T.sblock("SIMT_VF"):\n pass\nT.sblock_attr({"tl.buffer_versions_map":'
            f" {{x.data: 4}}}})\n{set_flag('s % 4 + 1')}\n{set_flag('0')}"
        )
        path = self.write(text)
        expected = [
            f"read at depth 4: {path}",
            "V_S[0]  id 0     fixed 1            -  line 7",
            "V_S[1]  ids 1-4  follows the depth  -  line 6",
            "x       ub 1.2K  follows the depth     line 2",
            "ub has 216K: SIMT_VF, lines 1, 3",
            "",
        ]
        read = f"4={path}"
        self.assertEqual(
            run("--read", read, "--depth=1").out.splitlines()[:6], expected
        )
        flat = self.write(f"{buffer('x', 8)}\n{set_flag('0')}", "flat")
        out = run(f"--read=4={flat}", "--memory=ub=216K", "--depth=1").out
        self.assertNotIn("SIMT", out)
        out = run("--read", read, "--memory=ub=100K", "--depth=1").out
        self.assertEqual(out.splitlines()[:5], [*expected[:4], ""])
        self.assertIn("memory ub: 1.2K/100K\n", out)

    def test_json(self) -> None:
        path = str(text_of("gemm_auto", 4))
        found = document("--read", path)
        (reading,) = found["read"]
        self.assertEqual(
            list(reading), ["file", "depth", "sync_points", "buffers", "locks"]
        )
        self.assertEqual(reading["file"], path)
        self.assertEqual(reading["depth"], 4)
        self.assertEqual(
            reading["sync_points"][2],
            {
                "name": "MTE2_MTE1[0]",
                "ids": [0, 2],
                "buffers": ["a_l1", "b_l1"],
                "lines": [54, 61],
            },
        )
        self.assertEqual(
            reading["sync_points"][0]["lines"], [29, 32, 35, 45, 67, 83, 86, 89]
        )
        self.assertEqual(
            reading["buffers"][1],
            {"name": "a_l1", "memory": "l1", "bytes": 8192, "versions": 3, "line": 25},
        )
        self.assertEqual(reading["locks"], 2)
        self.assertEqual(document("--depth=1")["read"], [])

    def test_standard_input(self) -> None:
        path = text_of("axpy", 4)
        with open(path, "rb") as file:
            result = subprocess.run(
                [
                    sys.executable,
                    str(ROOT / "flag_budget.py"),
                    "--read",
                    "-",
                    "--summary",
                ],
                stdin=file,
                capture_output=True,
                check=True,
            )
        _, out, err = run("--read", str(path), "--summary")
        self.assertEqual(result.stderr.decode("ascii"), err)
        self.assertEqual(result.stdout.decode("ascii"), out.replace(str(path), "-"))

    def test_standard_input_stays_open(self) -> None:
        result = subprocess.run(
            [sys.executable, str(ROOT / "flag_budget.py"), "--read=4=-", "--read=3=-"],
            input=set_flag("0") + MARKS,
            capture_output=True,
            check=False,
            encoding="ascii",
        )
        self.assertEqual(
            result.stderr.partition("error: ")[2],
            f"argument --read: '-': no flags: {EXPECTED_TIR}\n",
        )

    def test_several_num_stages(self) -> None:
        path = str(text_of("mixed_deep", 4))
        note = (
            f"note: {path!r} prints num_stages 2, 4: read at depth 4; DEPTH=FILE says"
            " another\n"
        )
        self.assertEqual(run("--read", path, "--depth=4").err, note)
        self.assertEqual(run("--read", f"4={path}", "--depth=4").err, "")

    def test_short_loops(self) -> None:
        def notes(text: str, *args: str) -> list[str]:
            path = self.write(text)
            err = run("--read", f"4={path}", *args).err
            start, end = f"note: in {path!r} the ", "; read those depths"
            return [
                line[len(start) : -len(end)]
                for line in err.splitlines()
                if "runs" in line and line.startswith(start) and line.endswith(end)
            ]

        def note(line: int, runs: int) -> str:
            return (
                f"loop of line {line} runs {runs} times: from depth {runs} on the"
                " compiler sizes its rings in another way"
            )

        six = set_flag("s % 4", "s in T.serial(6)")
        for text, args, expected in (
            (six, ["--depth=5"], []),
            (six, ["--depth=6"], [note(1, 6)]),
            (six, [], [note(1, 6)]),
            (six, ["--max-depth=5"], []),
            (six.replace("T.serial(6)", "T.serial(3, 9)"), [], [note(1, 6)]),
            (six.replace("T.serial(6)", "T.serial(0, T.int64(6))"), [], [note(1, 6)]),
            (six.replace("T.serial(6)", "T.serial(n)"), [], []),
            (six.replace("T.serial(6)", "T.serial(n, 9)"), [], []),
            (six.replace("s in T.serial(6)", "s, t in T.grid(6, 6)"), [], []),
            # One that is fixed does not follow the depth.
            (six.replace("s % 4", "s % 5"), ["--max-depth=9"], []),
            (six.replace("s % 4", "0"), ["--max-depth=9"], []),
            # The loop does not always run as often.
            (set_flag("s % 4", "t in range(3)", "s in T.serial(t, 3)"), [], []),
            (set_flag("s % 4", "t in range(3)", "s in T.serial(0, t + 3)"), [], []),
            (six.replace("s % 4", "s % 3"), ["--depth=6"], [note(1, 6)]),
            (
                f"{six}\n{set_flag('s % 4 + 4', 's in T.serial(5)')}",
                [],
                [note(1, 6), note(3, 5)][1:],
            ),
            (
                f"\n{six}\n{set_flag('s % 4 + 4', 's in T.serial(5)')}",
                ["--max-depth=9"],
                [note(2, 6), note(4, 5)],
            ),
            (f"{six}\n{six}", [], [note(1, 6)]),
            (
                set_flag("s % 4", "i in T.serial(2)", "s in T.serial(64)"),
                [],
                [],
            ),
        ):
            with self.subTest(text, args=args):
                self.assertEqual(notes(text, *args), expected)

    def test_short_loops_of_texts_that_were_all_read(self) -> None:
        texts = [str(text_of("short_loop", depth)) for depth in range(1, 11)]
        self.assertNotIn("runs", run("--read", *texts).err)
        self.assertIn("runs 6 times", run("--read", *texts, "--max-depth=11").err)
        self.assertNotIn("runs", run("--read", *texts[:7], "--max-depth=7").err)
        self.assertIn(
            "loop of line 67 runs 6 times: from depth 6 on",
            run("--read", *texts[:7], "--max-depth=8").err,
        )

    def test_which_depths_the_limits_rest_on(self) -> None:
        ring, fixed = set_flag("s % 4"), set_flag("0")
        for text, unread in (
            # The first that spills, and the first that is rejected.
            (ring, "depths 9 and 33"),
            (f"{ring}\n{set_flag('s % 4 + 4')}", "depths 5 and 17"),
            (set_flag("s % 9"), "depth 1"),
            # Memory, if it ends no deeper than the deeper of the two.
            (f"{ring}\n{buffer('b', 2048, 4)}", "depths 9, 32 and 33"),
            (f"{ring}\n{buffer('b', 1984, 4)}", "depths 9 and 33"),
            (f"{ring}\n{buffer('b', 1920, 4)}", "depths 9 and 33"),
            (f"{fixed}\n{buffer('b', 7936, 4)}", "depth 9"),
            (f"{fixed}\n{buffer('b', 7936 + 8, 4)}", "depths 8 and 9"),
            (f"{fixed}\n{buffer('b', 7936 - 8, 4)}", "depth 9"),
            (f"{fixed}\n{buffer('b', 7936)}", "depth 9"),
            # Flags that never run out.
            (fixed, "depth 9"),
            (set_flag("s % 3"), "depth 9"),
            (cross_core("0"), "depth 9"),
            (cross_core("s % 3"), "depth 17"),
            (f"{cross_core('s % 3')}\n{fixed}", "depth 17"),
            (f"{cross_core('s % 3')}\n{set_flag('s % 3')}", "depth 9"),
        ):
            path = self.write(text)
            them = "them" if unread.startswith("depths") else "it"
            note = (
                f"note: not read: {unread}, on which the limits rest; compile and read"
                f" {them} to be sure\n"
            )
            read = f"--read=4={path}"
            with self.subTest(text):
                for args in (["--summary"], [], ["--json"], ["--summary", "--depth=3"]):
                    self.assertEqual(run(read, *args).err, note)
                self.assertEqual(run(read, "--depth=3").err, "")
        for depth, unread in ((9, "depth 33"), (33, "depth 9")):
            path = self.write(ring.replace("4", str(depth)))
            err = run(f"--read={depth}={path}").err
            self.assertTrue(err.startswith(f"note: not read: {unread}, on which"), err)
        path = self.write(fixed)
        self.assertEqual(run(f"--read=9={path}").err, "")

    def test_reserved_rings(self) -> None:
        text = cross_core("s % 4 + 12", "s % 2", "9") + "\n" + set_flag("7")
        path = self.write(text)
        note = "note: within reserved ids, and so taken as flags that the source sets itself:"
        for args, rings in (
            ((), ""),
            (("--reserve=13-15",), ""),
            (("--reserve=11-15",), " Cube-Vector[12] (ids 12-15)"),
            (
                ("--reserve=9,12-15", "--reserve=V_S=7", "--reserve=S_V=0"),
                " Cube-Vector[9] (id 9), Cube-Vector[12] (ids 12-15), V_S[7] (id 7)",
            ),
        ):
            with self.subTest(args):
                _, out, err = run(f"--read=4={path}", "--depth=4", *args)
                self.assertEqual(err, f"{note}{rings}\n" if rings else "")
                self.assertEqual("Cube-Vector[12]" in out, "12-15)" not in rings)
        # What is reserved may be all that is cross-core.
        only = self.write(f"{cross_core('9')}\n{set_flag('7')}", "only")
        err = run(f"--read=4={only}", "--reserve=9", "--depth=4").err
        self.assertEqual(err, f"{note} Cube-Vector[9] (id 9)\n")
        # Each ring is named once, whatever was read.
        texts = self.write(text.replace("s % 4 + 12", "s % 3 + 12"), "other")
        both = (f"--read=4={path}", f"--read=3={texts}", "--reserve=9", "--depth=4")
        self.assertEqual(run(*both).err, f"{note} Cube-Vector[9] (id 9)\n")

    def test_options_of_the_kernel(self) -> None:
        path = self.write(cross_core("s % 2", "15"))
        found = document("--read", f"2={path}", "--reserve=31", "--depth=3")
        (namespace,) = found["depths"][0]["namespaces"]
        self.assertEqual((namespace["slots"], namespace["ids"]), (15, 3))
        # What is reserved may be all that is cross-core.
        path = self.write(cross_core("15") + "\n" + set_flag("0"))
        found = document("--read", f"2={path}", "--reserve=15")
        self.assertEqual(len(found["depths"][0]["namespaces"]), 1)
        path = self.write(set_flag("0"))
        self.assertIn(
            "note: --reserve IDS has no effect",
            run("--read", f"2={path}", "--reserve=15").err,
        )

    def test_errors(self) -> None:
        for path, reason in (
            ("/no/such/file", "cannot be read: No such file or directory"),
            (str(self.folder), "cannot be read: Is a directory"),
            ("", "cannot be read: No such file or directory"),
            ("a\0b", "embedded null byte"),
        ):
            with self.subTest(path):
                self.assertEqual(
                    complaint("--read", path), f"argument --read: {path!r}: {reason}"
                )
        (self.folder / "gbk").write_bytes("# 注释".encode("gbk"))
        path = str(self.folder / "gbk")
        self.assertEqual(
            complaint("--read", path),
            f"argument --read: {path!r}: cannot be read: expected UTF-8 text",
        )
        path = self.write("\ufeff# 注释\n" + set_flag("0"))
        self.assertEqual(run("--read", f"4={path}").status, 0)
        path = self.write("int main() { return 0; }")
        self.assertEqual(
            complaint("--read", path),
            f"argument --read: {path!r}: no TIR, from line 1 on: {EXPECTED_TIR}",
        )
        for text in ("0=x", "00=x", "1000000000000000001=x"):
            with self.subTest(text):
                self.assertEqual(
                    complaint("--read", text),
                    f"argument --read: {text!r}: expected a whole number from 1 to 10^18",
                )
        path = self.write(set_flag("0"), "a=b")
        self.assertEqual(run("--read", f"4={path}").status, 0)
        self.assertIn(
            f"argument --read: {path!r}: the text prints no num_st",
            complaint("--read", path),
        )


class SeveralReadings(unittest.TestCase):
    """--read, more than once."""

    maxDiff = None

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def readings(self, **texts: str) -> list[str]:
        args = []
        for name, text in texts.items():
            path = self.folder / name
            path.write_text(text + MARKS, "utf-8")
            args += ["--read", f"{name[1:]}={path}"]
        return args

    def test_other_depths_follow_the_deepest(self) -> None:
        args = self.readings(
            d2=set_flag("s % 2"),
            d4=f"{set_flag('s % 4')}\n{set_flag('s % 4 + 4')}",
            d3=set_flag("s % 3").replace("V_S", "S_V"),
        )
        status, out, err = run(*args, "--summary")
        self.assertEqual(status, 0)
        self.assertEqual(
            err,
            "note: not read: depths 5 and 17, on which the limits rest; compile and read"
            " them to be sure\n",
        )
        path = self.folder / "d4"
        self.assertEqual(
            out,
            f"""\
read at depth 4: {path}
also read: depths 2 and 3
V_S[0]  ids 0-3  follows the depth  -  line 1
V_S[4]  ids 4-7  follows the depth  -  line 2

depth   V_S  S_V  locks  verdict
   ~1   2/8    -   0/32  fits
    2   2/8    -   0/32  fits
    3     -  3/8   0/32  fits
    4   8/8    -   0/32  fits
   ~5  10/8    -   5/32  spills V_S[4]
~ not read: expected from the text of depth 4
flag slots last to depth 4; depth 5 is the first to spill: V_S 10/8
the compiler takes up to depth 16; depth 17 is rejected: lock pool 34/32
""",
        )
        blocks = run(*args, "--depth=3").out.partition("\n\n")[2]
        self.assertTrue(
            blocks.startswith("depth=3 num_versions per sync point = 3\n[S_V]\n")
        )

    def test_limits_look_as_far_as_the_readings(self) -> None:
        # Read at 12, one sync point stops at 2; read at 20 alone it needs 9.
        for texts, spill, compiles in (
            ({"d12": set_flag("s % 2"), "d20": set_flag("s % 2")}, None, None),
            ({"d5": set_flag("s % 9"), "d20": set_flag("s % 2")}, 4, None),
            ({"d20": set_flag("s % 2"), "d19": set_flag("s % 9")}, 18, None),
            ({"d20": set_flag("s % 2"), "d19": set_flag("s % 40")}, 18, 18),
            ({"d40": set_flag("s % 2"), "d39": set_flag("s % 40")}, 38, 38),
            # Behind what was read, as before it, the deepest reading counts.
            ({"d9": set_flag("s % 8"), "d50": set_flag("s % 50")}, 9, 32),
            ({"d33": set_flag("s % 8"), "d34": set_flag("s % 34")}, 8, 33),
            # The first that spills, not the first that was read.
            ({"d128": set_flag("s % 128"), "d256": set_flag("s % 256")}, 8, 32),
        ):
            with self.subTest(texts):
                found = document(*self.readings(**texts), "--depth=1")
                self.assertEqual(found["last_depth_without_spill"], spill, texts)
                self.assertEqual(found["last_depth_that_compiles"], compiles, texts)

    def test_memory(self) -> None:
        def text(versions: int) -> str:
            return f"{buffer('b', 62 * 256, versions)}\n{set_flag('0')}"

        for texts, last in (
            ({"d4": text(4)}, 4),
            ({"d4": text(4), "d3": text(5)}, 2),
            ({"d4": text(4), "d6": text(1)}, None),
            ({"d6": text(6), "d5": text(1), "d7": text(7)}, 5),
            ({"d7": text(7), "d5": text(1)}, 5),
            ({"d7": text(7), "d5": text(1), "d6": text(1)}, 6),
        ):
            with self.subTest([*texts]):
                found = document(*self.readings(**texts), "--depth=1")
                self.assertEqual(found["last_depth_in_memory"], last)
        args = self.readings(d4=text(4), d3=text(5))
        out = run(*args, "--summary").out
        self.assertIn("memory lasts to depth 2; depth 3 needs ub 310K/248K\n", out)

    def test_depths_that_were_read_too(self) -> None:
        for depths, shown in (
            ((2,), "depth 2"),
            ((1, 2), "depths 1 and 2"),
            ((1, 3), "depths 1 and 3"),
            ((1, 2, 3), "depths 1 to 3"),
            ((1, 2, 3, 5), "depths 1 to 3 and 5"),
            ((2, 3, 5), "depths 2, 3 and 5"),
            ((1, 3, 4, 5, 7, 8), "depths 1, 3 to 5, 7 and 8"),
        ):
            with self.subTest(depths):
                texts = {f"d{depth}": set_flag("0") for depth in (*depths, 9)}
                out = run(*self.readings(**texts), "--depth=9").out
                self.assertEqual(out.splitlines()[1], f"also read: {shown}")

    def test_depth_of_the_text(self) -> None:
        args = self.readings(d2=set_flag("0"), d4=set_flag("0"))
        found = document(*args, "--max-depth=5")
        self.assertEqual(
            [each["from_depth"] for each in found["depths"]], [4, 2, 4, 4, 4]
        )

    def test_flags_and_memory_end_at_a_depth_of_its_own(self) -> None:
        args = [f"--read={CASES / f'reading.d{depth}.tir'}" for depth in (10, 5)]
        self.assertEqual(
            run(*args, "--summary").out.splitlines()[-3:],
            [
                "flag slots last to depth 4; depth 5 is the first to spill: V_S 9/8",
                "memory lasts to depth 4; depth 5 needs ub 266.5K/248K",
                "flag slots and memory bind at the same depth",
            ],
        )

    def test_buffers_of_two_kernels(self) -> None:
        one = f"{buffer('b', 256)}\n{set_flag('0')}"
        for other, file, said in (
            (one.replace("b", "c"), "d2", "'b' of 1024 bytes a version in ub"),
            (one.replace("256", "257"), "d2", "'b' of 1024 bytes a version in ub"),
            (
                one.replace('"shared"', '"shared.l1"'),
                "d4",
                "'b' of 1024 bytes a version in l1",
            ),
            (set_flag("0"), "d2", "'b' of 1024 bytes a version in ub"),
            (f"{one}\n{buffer('a', 8)}", "d4", "'a' of 32 bytes a version in ub"),
        ):
            with self.subTest(other):
                args = self.readings(d2=one, d4=other)
                path = self.folder / file
                self.assertEqual(
                    complaint(*args),
                    f"argument --read: {str(self.folder / 'd4')!r}: only {str(path)!r} has"
                    f" a buffer {said}: expected texts of one kernel",
                )
        # Versions may differ.
        args = self.readings(d2=one, d4=one.replace("b: 1", "b: 4"))
        self.assertEqual(run(*args).status, 0)

    def test_never_over_where_a_depth_lacks_one(self) -> None:
        events = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V", "M_FIX", "FIX_M", "S_V")
        text = "\n".join(set_flag("0").replace("V_S", event) for event in events)
        args = self.readings(d2=f"{text}\n{set_flag('s % 2')}", d4=text)
        self.assertIn(
            "\nnever over: MTE2_V 1/8, V_MTE2 1/8, V_MTE3 1/8, MTE3_V 1/8, M_FIX 1/8,"
            " FIX_M 1/8, S_V 1/8, V_S 2/8\n",
            run(*args, "--summary").out,
        )

    def test_sweep_reaches_the_deepest(self) -> None:
        args = self.readings(d6=set_flag("0"), d3=set_flag("0"))
        self.assertEqual(len(document(*args)["depths"]), 6)
        self.assertEqual(len(document(*args, "--max-depth=2")["depths"]), 2)

    def test_columns_in_the_order_of_the_deepest(self) -> None:
        one, other = set_flag("0"), set_flag("0").replace("V_S", "S_V")
        args = self.readings(d2=f"{other}\n{one}", d4=f"{one}\n{other}")
        lines = run(*args, "--summary").out.splitlines()
        self.assertIn("depth  V_S  S_V  locks  verdict", lines)

    def test_columns_are_those_of_the_depths_shown(self) -> None:
        args = self.readings(d2=set_flag("0").replace("V_S", "S_V"), d4=set_flag("0"))
        for depth, event in ((2, "S_V"), (3, "V_S")):
            with self.subTest(depth):
                out = run(*args, "--summary", f"--depth={depth}").out
                self.assertIn(f"\ndepth  {event}  locks  verdict\n", out)

    def test_two_of_one_depth(self) -> None:
        path = str(text_of("axpy", 4))
        other = str(text_of("matmul", 4))
        for args in (["--read", path, "--read", other], ["--read", path, other]):
            self.assertEqual(
                complaint(*args),
                f"argument --read: {other!r}: depth 4 was already read from {path!r}: give"
                " DEPTH=",
            )

    def test_the_largest_depth(self) -> None:
        args = self.readings(**{f"d{10**18}": set_flag("0")})
        self.assertEqual(run(*args, "--depth=1").status, 0)
        args += self.readings(d1=set_flag("0"))
        self.assertEqual(run(*args, "--depth=1").status, 0)
