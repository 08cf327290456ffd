"""--read: the sync points of what compilers print."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import flag_budget
from flag_budget import SyncPoint, has_spilled, read_sync_points
from tests import ROOT, Result, as_recorded, run

COMPILED = ROOT / "tests/compiled"
KERNELS = json.loads((ROOT / "tests/vectors/kernels.json").read_text("ascii"))[
    "kernels"
]


def rings(source: str) -> dict[str, list[tuple[int, int]]]:
    """Base and width of each ring, per hard_event."""
    found: dict[str, list[tuple[int, int]]] = {}
    for point in read_sync_points(source, read_depth=10**6):  # so all are fixed
        base = int(point.name.split("[")[1].rstrip("]"))
        found.setdefault(str(point.event), []).append((base, point.versions or 0))
    return found


def device_source(*ids: str) -> str:
    """Waits for these ids of one hard_event, a line each."""
    return "\n".join(f"asc_sync_wait(PIPE_V, PIPE_MTE3, {each});" for each in ids)


def ring_of(event_id: str) -> tuple[int, int]:
    """Base and width of the ring of one id, in device source."""
    ((ring,),) = rings(device_source(event_id)).values()
    return ring


class CompiledKernels(unittest.TestCase):
    """Four kernels, each printed as TIR and as device source."""

    def test_both_spellings_give_the_same_rings(self) -> None:
        for name, expected in {
            "axpy.d2": {
                "MTE3_V": [(0, 2)],
                "V_MTE2": [(0, 2)],
                "MTE2_V": [(0, 2)],
                "V_MTE3": [(0, 2)],
            },
            "two_consumers.d3": {
                "MTE3_V": [(0, 3)],
                "V_MTE2": [(0, 3), (3, 3)],
                "MTE2_V": [(0, 3), (3, 3)],
                "V_MTE3": [(0, 3)],
            },
            "matmul.d2": {
                "MTE1_MTE2": [(0, 2)],
                "FIX_M": [(0, 1)],
                "MTE2_MTE1": [(0, 2)],
                "M_FIX": [(0, 1)],
            },
            "mixed.d2": {
                "MTE1_MTE2": [(0, 2)],
                "FIX_M": [(0, 1)],
                "MTE2_MTE1": [(0, 2)],
                "M_FIX": [(0, 1)],
                "cross-core": [(0, 1), (1, 1)],
            },
        }.items():
            for suffix in (".tir", ".cpp"):
                with self.subTest(name + suffix):
                    source = (COMPILED / (name + suffix)).read_text("ascii")
                    self.assertEqual(rings(source), expected)
                    self.assertFalse(has_spilled(source))

    def test_the_sweep_is_what_the_compiler_did(self) -> None:
        checked = 0
        for kernel in KERNELS:
            for path in sorted(COMPILED.glob(f"{kernel['kernel']}.*")):
                result = run("--read", str(path), "--json", "--max-depth", "10")
                self.assertEqual((result.status, result.err), (0, ""))
                for depth in json.loads(result.out)["depths"]:
                    recorded = kernel["depths"].get(str(depth["depth"]))
                    if recorded is not None:
                        checked += 1
                        with self.subTest(path.name, depth=depth["depth"]):
                            self.assertEqual(as_recorded(depth), recorded)
        self.assertEqual(checked, 36)

    def test_which_sync_points_follow_the_depth(self) -> None:
        source = (COMPILED / "mixed.d2.cpp").read_text("ascii")
        following = [p.name for p in read_sync_points(source) if p.versions is None]
        self.assertEqual(following, ["MTE1_MTE2[0]", "MTE2_MTE1[0]"])
        at_1 = [p.name for p in read_sync_points(source, 1) if p.versions is None]
        self.assertEqual(
            at_1, ["FIX_M[0]", "M_FIX[0]", "Cube-Vector[0]", "Cube-Vector[1]"]
        )


class Spellings(unittest.TestCase):
    """One call in each language."""

    def test_spellings(self) -> None:
        for source, expected in (
            ('T.ascend_set_flag("MTE2_V", s % 5 + 5)', {"MTE2_V": [(5, 5)]}),
            ('    T.ascend_wait_flag("MTE2_V", 3)', {"MTE2_V": [(3, 1)]}),
            ('ascend_wait_flag("MTE2_V", 3)', {"MTE2_V": [(3, 1)]}),
            ("T.ascend_wait_flag('MTE2_V', 3)", {"MTE2_V": [(3, 1)]}),
            (
                'T.ascend_cross_core_set_flag(4, "PIPE_FIX", 17)',
                {"cross-core": [(1, 1)]},
            ),
            ('T.ascend_cross_core_wait_flag(4, "PIPE_V", 2)', {"cross-core": [(2, 1)]}),
            (
                "asc_sync_notify(PIPE_MTE2, PIPE_V, static_cast<event_t>((s % 5)));",
                {"MTE2_V": [(0, 5)]},
            ),
            ("asc_sync_wait(PIPE_M, PIPE_FIX, 1)", {"M_FIX": [(1, 1)]}),
            ("asc_sync_intra_arrive(PIPE_FIX, 17);", {"cross-core": [(1, 1)]}),
            ("asc_sync_intra_wait(PIPE_FIX, 3);", {"cross-core": [(3, 1)]}),
            ("asc_sync_inter_arrive(PIPE_FIX, 3);", {"cross-core": [(3, 1)]}),
            ("asc_sync_block_wait(PIPE_FIX, 3);", {"cross-core": [(3, 1)]}),
            ("asc_sync_subblock_wait(PIPE_FIX, 3);", {"cross-core": [(3, 1)]}),
            ("SetFlag<HardEvent::MTE2_V>(2);", {"MTE2_V": [(2, 1)]}),
            (
                "AscendC::WaitFlag< AscendC::HardEvent::MTE2_V >((i & 1) + 2);",
                {"MTE2_V": [(2, 2)]},
            ),
            ("CrossCoreSetFlag<4, PIPE_FIX>(6);", {"cross-core": [(6, 1)]}),
            ("AscendC::CrossCoreWaitFlag(7);", {"cross-core": [(7, 1)]}),
            ("AscendC::CrossCoreWaitFlag<0x4>(7);", {"cross-core": [(7, 1)]}),
            ("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);", {"MTE2_V": [(3, 1)]}),
            ("wait_flag ( PIPE_S , PIPE_MTE3, EVENT_ID0 )", {"S_MTE3": [(0, 1)]}),
            ("wait_flag(pipe_t::PIPE_S,PIPE_MTE1,0);", {"S_MTE1": [(0, 1)]}),
        ):
            with self.subTest(source):
                self.assertEqual(rings(source), expected)

    def test_ids(self) -> None:
        for event_id, ring in (
            ("4", (4, 1)),
            ("((4))", (4, 1)),
            ("0x1F", (31, 1)),
            ("3u", (3, 1)),
            ("0x2UL", (2, 1)),
            ("EVENT_ID7", (7, 1)),
            ("AscendC::EVENT_ID7", (7, 1)),
            ("static_cast<event_t>(EVENT_ID7)", (7, 1)),
            ("s % 3", (0, 3)),
            ("s % 1", (0, 1)),
            ("s % 3 + 4", (4, 3)),
            ("((s % 3) + 4)", (4, 3)),
            ("4 + s % 3", (4, 3)),
            ("(k + w * 32) % 2", (0, 2)),
            ("s / 2 % 3", (0, 3)),
            ("a[i] % 3", (0, 3)),
            ("p->f(i, j).x % 3", (0, 3)),
            ("s & 3", (0, 4)),
            ("s & 0", (0, 1)),
            ("(s & 1) + 2", (2, 2)),
            ("s + 1 & 3", (0, 4)),
            ("(event_t)(s % 2)", (0, 2)),
            ("(event_t) (s % 2 + 1)", (1, 2)),
            ("(int32_t)s % 2", (0, 2)),
            ("(unsigned int)s % 2", (0, 2)),
            ("event_t(s % 2)", (0, 2)),
            ("static_cast<event_t>(((int32_t)s) % (2) + (int32_t)3)", (3, 2)),
            ("reinterpret_cast<event_t>(s % 4)", (0, 4)),
            ("s % 3 + EVENT_ID2", (2, 3)),
            ("const_cast<event_t>(s % 4)", (0, 4)),
            ("(const event_t)(s % 4)", (0, 4)),
            ("(signed char)(s % 4)", (0, 4)),
            ("(s % 2) % 4", (0, 2)),
            ("(s % 4) % 4", (0, 4)),
            ("(s % 5) % 4", (0, 4)),
            ("(s % 2) & 3", (0, 2)),
            ("(s % 4) & 3", (0, 4)),
            ("(s % 5) & 3", (0, 4)),
            ("5 % 4", (0, 4)),
            ("2147483647", (2147483647, 1)),
        ):
            with self.subTest(event_id):
                self.assertEqual(ring_of(event_id), ring)

    def test_ids_of_tir(self) -> None:
        for event_id, ring in (
            ('T.Cast("int32", k % T.int64(3) + T.int64(5))', (5, 3)),
            ("T.int64(4)", (4, 1)),
            ("T.bitwise_and(s, 3) + 2", (2, 4)),
            ("T.truncmod(s, 3)", (0, 3)),
            ("s // 2 % 3", (0, 3)),
        ):
            with self.subTest(event_id):
                source = f'T.ascend_set_flag("MTE2_V", {event_id})'
                self.assertEqual(rings(source), {"MTE2_V": [ring]})

    def test_ids_that_cannot_be_bounded(self) -> None:
        for event_id in (
            "s",
            "-1",
            "s * 2",
            "s % v",
            "s % 0",
            "s % 2 * 4",
            "s % 2 - 1",
            "a + s % 2 + k % 2",
            "s % 2 + k % 3",
            "s % (k % 3 + 2)",
            "s + 1",
            "s & 2",
            "s & m",
            "s & 1 | 2",
            "s % 2 == 1",
            "a ? 1 : 2",
            "f(3)",
            "f(s % 3)",
            "3.0",
            "1e1",
            "true",
            "True",
            "",
            "3, 4",
            "4294967296",
            "2147483648",
            "1if",
            "EVENT_ID1234567890",
            "9" * 5000,
            "(" * 500 + "1" + ")" * 500,
            "EVENT_ID",
            "~3",
            "[3]",
            "s % 3 + b",
        ):
            with self.subTest(event_id), self.assertRaises(ValueError) as caught:
                rings(f"\n\nasc_sync_wait(PIPE_V, PIPE_MTE3,\n {event_id});\n\n")
            message = str(caught.exception)
            self.assertTrue(
                message.startswith("line 4: cannot bound event_id '"), message
            )
            self.assertIn(repr(event_id), message)


class Scanning(unittest.TestCase):
    """What is a call and what is not."""

    def test_comments_and_strings_of_c(self) -> None:
        call = "set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);"
        for hidden in (
            f"// {call}",
            f"// \\\n{call}",
            f"// \\\r\n{call}",
            f"/* {call} */",
            f"/*\n{call}\n*/",
            f"/* not closed {call}",
            f'"{call}"',
            f'"\\"{call}"',
            f'R"({call})"',
            f'R"x(" {call})x"',
            f"'\"' ; /* ' */ // {call}",
            'puts("//"); // /* ' + call,
            '// T.ascend_set_flag("V_S", 1)',
            "puts(\"T.ascend_set_flag('V_S', 1)\");",
        ):
            with self.subTest(hidden):
                source = f"set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n{hidden}\n"
                self.assertEqual(rings(source), {"V_MTE3": [(0, 1)]})
        for shown in (
            f'puts("//"); {call}',
            f'puts("/*"); {call}',
            f"char c = '\"'; {call}",
            f"int a = 1'000; {call} int b = 1'000;",
            f"// x \\\r\n y\n{call}",
            f"/* */ {call}",
            f"#error don't\n{call}\n#error can't",
            f'#error say "no\n{call}\n#error say "yes',
            f"//\n{call}",
            "set_flag(PIPE_V, /* to */ PIPE_MTE3, // the store\n EVENT_ID1);",
        ):
            with self.subTest(shown):
                self.assertEqual(rings(shown), {"V_MTE3": [(1, 1)]})

    def test_comments_of_tir(self) -> None:
        call = 'T.ascend_set_flag("V_MTE3", 1)'
        for hidden in (
            f"# {call}",
            f"print('{call}')",
            f"// {call}",
            f"x // {call}",
            f"/*\n{call}\n*/",
        ):
            with self.subTest(hidden):
                source = f'T.ascend_set_flag("V_MTE3", 0)\n{hidden}\n'
                self.assertEqual(rings(source), {"V_MTE3": [(0, 1)]})
        for shown in (f'x = "#"\n{call}', f"x = 1; {call}", f"{call} # again"):
            self.assertEqual(rings(shown), {"V_MTE3": [(1, 1)]})
        source = f"# was set_flag(PIPE_V, PIPE_S, 0), SetFlag()\n{call}"
        self.assertEqual(rings(source), {"V_MTE3": [(1, 1)]})

    def test_names_that_only_end_alike(self) -> None:
        for source in (
            "my_set_flag(PIPE_V, PIPE_MTE3, 0);",
            "asc_unlock(PIPE_V, 0);",
            "set_flag_bits(x);",
            "asc_sync_pipe(PIPE_MTE3); asc_sync();",
            "void f();",
            "",
            'x_ascend_set_flag("V_MTE3", 0)',
        ):
            with self.subTest(source):
                with self.assertRaisesRegex(ValueError, "no flag found"):
                    read_sync_points(source)

    def test_calls_over_several_lines(self) -> None:
        self.assertEqual(
            rings("asc_sync_wait(\n  PIPE_V,\n  PIPE_MTE3,\n  (s %\n   3)\n);"),
            {"V_MTE3": [(0, 3)]},
        )
        self.assertEqual(
            rings('T.ascend_set_flag(\n    "V_MTE3",\n    s % 3\n)'),
            {"V_MTE3": [(0, 3)]},
        )
        self.assertEqual(
            rings("SetFlag\n<HardEvent::V_MTE3>\n(\n1\n);"), {"V_MTE3": [(1, 1)]}
        )

    def test_calls_that_make_no_sense(self) -> None:
        for source, complaint in (
            ("\nset_flag(p, c, 0);", r"line 2: 'set_flag\(': expected a call that"),
            ("SetFlag<event>(0);", "line 1: 'SetFlag<': expected a call that names"),
            ("queue.SetFlag(3);", r"line 1: 'SetFlag\(': expected"),
            (
                "CrossCoreSetFlag<Cfg<2>::mode, PIPE_FIX>(3);",
                "line 1: 'CrossCoreSetFlag<'",
            ),
            ("set_intra_block(PIPE_FIX, 3);", "line 1: 'set_intra_block"),
            ("wait_intra_block(PIPE_FIX, 3);", "line 1: 'wait_intra_block"),
            ("wait_flag_dev(3);", "line 1: 'wait_flag_dev"),
            ("ffts_cross_core_sync(PIPE_FIX, 0x31);", "line 1: 'ffts_cross_core_sync"),
            ("asc_sync_foo_wait(PIPE_V, 0);", "line 1: 'asc_sync_foo_wait"),
            ("asc_sync_notify(0);", "line 1: 'asc_sync_notify"),
            (
                "\n\nset_flag(PIPE_V, PIPE_MTE3, (1);",
                r"line 3: .*expected \) at the end",
            ),
            ("set_flag(PIPE_V, PIPE_V, 1);", "line 1: event 'V_V': expected"),
            ("set_flag(PIPE_V, PIPE_ALL, 1);", "line 1: event 'V_ALL': expected"),
            ('T.ascend_set_flag("V", 1)', "line 1: event 'V': expected"),
            ("T.ascend_set_flag(event, 1)", "line 1: .*expected a call that names"),
        ):
            with self.subTest(source), self.assertRaisesRegex(ValueError, complaint):
                read_sync_points(source)


class Rings(unittest.TestCase):
    """From ids to sync points."""

    def device(self, *ids: str) -> list[SyncPoint]:
        return read_sync_points(device_source(*ids))

    def test_overlapping_ranges_are_one_ring(self) -> None:
        self.assertEqual(
            [
                (p.name, p.versions)
                for p in self.device("s % 3 + 3", "0", "1", "5", "3")
            ],
            [("V_MTE3[0]", 1), ("V_MTE3[1]", 1), ("V_MTE3[3]", None)],
        )
        source = device_source("s % 3 + 2", "s % 3", "s % 3 + 5", "2")
        self.assertEqual(rings(source), {"V_MTE3": [(0, 5), (5, 3)]})

    def test_cross_core_ids_are_modulo_16(self) -> None:
        source = "".join(
            f"asc_sync_intra_wait(PIPE_FIX, {each});"
            for each in ("w % 4 + 20", "w % 4 + 4", "4", "20", "31", "w % 3 + 14", "5")
        )
        self.assertEqual(rings(source), {"cross-core": [(0, 1), (4, 4), (14, 2)]})
        self.assertEqual(
            rings("asc_sync_intra_wait(PIPE_FIX, w % 32);"), {"cross-core": [(0, 16)]}
        )
        for event_id, expected in (
            ("w % 16 + 16", [(0, 16)]),
            ("w % 15 + 1", [(1, 15)]),
            ("w % 15 + 2", [(0, 1), (2, 14)]),
            ("w % 3 + 15", [(0, 2), (15, 1)]),
            ("w % 40 + 3", [(0, 3), (3, 13)]),
        ):
            source = f"asc_sync_intra_wait(PIPE_FIX, {event_id});"
            self.assertEqual(rings(source), {"cross-core": expected})

    def test_reserved_ids_belong_to_no_sync_point(self) -> None:
        source = "".join(
            f"CrossCoreSetFlag<4, PIPE_FIX>({each});set_flag(PIPE_V, PIPE_S, {each});"
            for each in ("w % 2", "w % 2 + 2", "14", "15")
        )
        names = [p.name for p in read_sync_points(source, reserved={0, 1, 2, 15})]
        self.assertEqual(
            [name for name in names if name.startswith("Cube")],
            ["Cube-Vector[2]", "Cube-Vector[14]"],
        )
        self.assertEqual(len(names), 6)

    def test_depth_is_the_width_of_the_rings(self) -> None:
        points = self.device("s % 3", "s % 3 + 3", "6")
        self.assertEqual([p.versions for p in points], [None, None, 1])
        self.assertEqual([p.versions for p in self.device("0", "1")], [1, 1])
        source = device_source("0")
        self.assertEqual([p.versions for p in read_sync_points(source, 1)], [None])

    def test_depth_has_to_be_said_where_rings_differ(self) -> None:
        source = device_source("s % 3", "s % 2 + 3")
        with self.assertRaisesRegex(ValueError, "2, 3 ids wide: .*--read-depth"):
            read_sync_points(source)
        for depth, versions in ((3, [None, 2]), (2, [3, None]), (4, [3, 2])):
            found = [p.versions for p in read_sync_points(source, depth)]
            self.assertEqual(found, versions)

    def test_releases(self) -> None:
        # Primed rings are, and so is everything of lower ids.
        points = self.device("0", "s % 3 + 1", "2", "s % 3 + 4", "7")
        self.assertEqual([p.cross_iter for p in points], [True, True, False, False])
        points = self.device("s % 2 + 1", "1", "s % 2 + 3", "s % 2 + 5")
        self.assertEqual([p.cross_iter for p in points], [True, False, False])
        # A wider ring behind a narrower one begins what is no release.
        points = self.device("0", "s % 3 + 1")
        self.assertEqual([p.cross_iter for p in points], [True, False])

    def test_namespaces_in_order_of_appearance(self) -> None:
        source = (
            "set_flag(PIPE_V, PIPE_MTE3, 1); set_flag(PIPE_S, PIPE_V, 0);"
            "CrossCoreSetFlag<4, PIPE_FIX>(3); set_flag(PIPE_V, PIPE_MTE3, 0);"
        )
        self.assertEqual(
            [(p.name, p.event) for p in read_sync_points(source)],
            [
                ("V_MTE3[0]", "V_MTE3"),
                ("V_MTE3[1]", "V_MTE3"),
                ("S_V[0]", "S_V"),
                ("Cube-Vector[3]", "cross-core"),
            ],
        )


class Spilled(unittest.TestCase):
    """Sources in which flags have become locks already."""

    DEVICE = (
        "asc_sync_wait(PIPE_V, PIPE_MTE3, 0);\n"
        "asc_lock(PIPE_V, (s % 5), ASC_LOCK_BLOCK);\n"
        "asc_unlock(PIPE_V, (s % 5), ASC_LOCK_BLOCK);\n"
    )
    TIR = (
        'T.ascend_wait_flag("V_MTE3", 0)\n'
        '    T.ascend_get_buf("PIPE_V", s % 5, 0)\n'
        '    T.ascend_rls_buf("PIPE_V", s % 5, 0)\n'
    )

    def test_locks_for_flags(self) -> None:
        wrapped = self.DEVICE.replace("V, (s", "V,\n    (s")
        for source in (self.DEVICE, self.TIR, wrapped):
            self.assertTrue(has_spilled(source))
            self.assertFalse(has_spilled(source.replace("s % 5", "s % 4", 1)))

    def test_locks_for_buffers(self) -> None:
        for between in ("use(x);", "asc_lock(PIPE_V, 1, ASC_LOCK_BLOCK);"):
            source = self.DEVICE.replace(
                "BLOCK);\nasc_un", f"BLOCK);\n{between}\nasc_un"
            )
            self.assertNotEqual(source, self.DEVICE)
            self.assertFalse(has_spilled(source))
        self.assertFalse(
            has_spilled(self.DEVICE.replace("asc_lock(PIPE_V", "asc_lock(x"))
        )

    def test_locks_in_comments(self) -> None:
        self.assertFalse(has_spilled(self.DEVICE.replace("asc_lock", "// asc_lock")))


class Command(unittest.TestCase):
    """--read and --read-depth."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "kernel.cpp")

    def read(self, source: str | bytes, *args: str) -> Result:
        self.path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return run("--read", str(self.path), *args)

    def assert_error(self, result: Result, *parts: str) -> None:
        self.assertEqual((result.status, result.out), (2, ""))
        for part in parts:
            self.assertIn(part, result.err.splitlines()[-1])

    def test_standard_input(self) -> None:
        path = COMPILED / "axpy.d2.cpp"
        result = subprocess.run(
            [sys.executable, str(ROOT / "flag_budget.py"), "--read", "-"],
            check=True,
            input=path.read_bytes(),
            capture_output=True,
        )
        self.assertEqual(result.stdout.decode(), run("--read", str(path)).out)
        self.assertEqual(result.stderr, b"")

    def test_text_is_utf_8(self) -> None:
        source = '# \u6ce8\u91ca\nT.ascend_set_flag("V_S", 3)'
        for encoding in ("utf-8", "utf-8-sig"):
            self.assertIn("[V_S]", self.read(source.encode(encoding)).out)
        for encoding in ("utf-16", "gbk"):
            self.assert_error(
                self.read(source.encode(encoding)), repr(str(self.path)), "UTF-8"
            )

    def test_reserved_ids(self) -> None:
        source = (
            "CrossCoreSetFlag<4, PIPE_FIX>(w % 2); CrossCoreSetFlag<0, PIPE_FIX>(15);"
        )
        out = self.read(source, "--reserve", "31", "--depth", "3").out
        self.assertIn("\nblocks: Cube-Vector[0]=3\nreserved : 15\n", out)
        self.assert_error(self.read(source, "--reserve=0,1,15"), "not reserved")

    def test_no_warnings_of_python(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(self.read("set_flag(PIPE_V, PIPE_S, 1if);").status, 2)
        self.assertEqual([str(each.message) for each in caught], [])

    def test_warning_without_stderr(self) -> None:
        self.path.write_text(Spilled.DEVICE)
        out = io.StringIO()
        with contextlib.redirect_stderr(None), contextlib.redirect_stdout(out):
            flag_budget.main(["--json", "--read", str(self.path)])
        json.loads(out.getvalue())

    def test_warning(self) -> None:
        result = self.read(Spilled.DEVICE)
        self.assertEqual(result.status, 0)
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("warning: ", result.err)
        self.assertIn("smaller depth", result.err)

    def test_read_depth(self) -> None:
        source = (
            "asc_sync_wait(PIPE_V, PIPE_S, s % 3);asc_sync_wait(PIPE_S, PIPE_V, s % 2);"
        )
        self.assert_error(self.read(source), "--read", "2, 3 ids wide", "--read-depth")
        out = self.read(source, "--read-depth", "3", "--depth", "7").out
        self.assertIn("(fixed: S_V[0]=2)\n", out)
        self.assertIn("\nblocks: V_S[0]=7\n", out)

    def test_errors(self) -> None:
        self.assert_error(self.read(""), "--read", "no flag found: expected")
        source = "set_flag(PIPE_V, PIPE_S, x);"
        self.assert_error(self.read(source), repr(str(self.path)), "line 1", "'x'")
        for path in ("/no/such/file", str(self.path.parent), "", "a\0b"):
            self.assert_error(run("--read", path), f"cannot read {path!r}", "expected")
        missing = run("--read", "/no/such/file").err
        self.assertIn(
            f"'/no/such/file': {os.strerror(errno.ENOENT)}; expected", missing
        )
        self.assert_error(run("--read-depth", "2"), "--read-depth", "2", "--read")
        self.assert_error(
            run("--read", "x", "--read-depth", "0"), "--read-depth", "'0'"
        )
        self.assert_error(
            run("--read", "x", "--sync-point", "a"),
            "--sync-point",
            "not allowed",
            "--read",
        )

    def test_random_sources(self) -> None:
        dice = random.Random(22)
        words = ["set_flag(", "PIPE_V, PIPE_S, ", "SetFlag<HardEvent::V_S>(", "(", ")"]
        words += [
            "asc_sync_wait(",
            '"',
            "'",
            "//",
            "/*",
            "*/",
            "\n",
            "s % 3",
            "1",
            "+",
            "&",
        ]
        words += [
            "T.ascend_set_flag(",
            '"V_S", ',
            "static_cast<event_t>",
            "#",
            ";",
            "\0",
        ]
        words += [
            "asc_lock(1)",
            "asc_unlock(1)",
            "CrossCoreSetFlag(",
            "EVENT_ID1",
            "<",
            "[)",
        ]
        for _ in range(2000):
            source = "".join(dice.choices(words, k=dice.randrange(1, 12)))
            with self.subTest(source):
                self.assertIn(self.read(source, "--depth=1").status, (0, 2))
