"""Reading the TIR that tilelang prints."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
import unittest
import warnings
from pathlib import Path
from typing import Any

from flag_budget import CROSS_CORE, Buffer, Kernel, SyncPoint, read_kernel
from tests import complaint, document, error_of, run
from tests.texts import (
    CASES,
    EXPECTED_TIR,
    MARKS,
    buffer,
    cross_core,
    set_flag,
    staged,
    text_of,
)

UNBOUNDED = "event ids without bounds: "
BOUNDS = (
    ": expected a number, a variable of a loop that numbers bound, x % v with a number v,"
    " or a sum of these"
)


def read(text: str, depth: int | None = 4, **options: Any) -> Kernel:
    """The kernel in a text that lacks nothing but the marks of its pass."""
    return read_kernel(text + MARKS, depth, **options)


def rings(text: str, depth: int | None = 4, **options: Any) -> list[tuple[Any, ...]]:
    """Name, versions, max_versions of each sync point of a text."""
    kernel = read(text, depth, **options)
    return [
        (point.name, point.versions, point.max_versions) for point in kernel.sync_points
    ]


class Cases(unittest.TestCase):
    """Small texts that are easy to get wrong."""

    def read(self, name: str) -> str:
        return (CASES / name).read_text("ascii")

    def test_loop_as_short_as_the_ring(self) -> None:
        self.assertEqual(
            rings(self.read("loop_as_short_as_the_ring.tir")),
            [("V_MTE2[0]", None, None), ("MTE2_V[0]", None, None)],
        )

    def test_sparse_ids(self) -> None:
        self.assertEqual(
            rings(self.read("sparse_ids.tir")),
            [("V_MTE3[0]", 1, None), ("V_MTE3[7]", 1, None)],
        )

    def test_sparse_ids_stay_at_the_depth_that_was_read(self) -> None:
        text = self.read("sparse_ids.tir")
        for bases, expected in ((True, [0, 7]), (False, [None, None])):
            with self.subTest(bases):
                kernel = read(text, 4, bases=bases)
                self.assertEqual([point.base for point in kernel.sync_points], expected)
        path = CASES / "sparse_ids.tir"
        found = document(f"--read=4={path}", "--max-depth=5")
        for depth, expected in ((3, [0, 1]), (4, [0, 7]), (5, [0, 1])):
            with self.subTest(depth):
                (namespace,) = found["depths"][depth - 1]["namespaces"]
                bases_found = [point["base"] for point in namespace["sync_points"]]
                self.assertEqual(bases_found, expected, depth)

    def test_second_core(self) -> None:
        self.assertEqual(
            rings(self.read("second_core.tir"), None),
            [
                ("Cube-Vector[0]", None, None),
                ("Cube-Vector[2]", 1, None),
                ("Cube-Vector[3]", 1, None),
            ],
        )

    def test_two_depths(self) -> None:
        found = document("--read", str(CASES / "two_depths.tir"))
        self.assertEqual(found["last_depth_without_spill"], 6)
        self.assertEqual(
            rings(self.read("two_depths.tir"), None),
            [
                ("MTE1_MTE2[0]", None, None),
                ("MTE1_MTE2[3]", 2, None),
                ("MTE2_MTE1[0]", None, None),
                ("MTE2_MTE1[3]", 2, None),
            ],
        )

    def test_bound_ids(self) -> None:
        kernel = read_kernel(self.read("bound_ids.tir"), bases=True)
        self.assertEqual(
            [
                (point.name, point.base, point.versions, point.max_versions)
                for point in kernel.sync_points
            ],
            [
                ("MTE2_V[0]", 0, 4, None),
                ("MTE2_V[4]", 4, None, None),
                ("V_MTE2[0]", 0, None, None),
            ],
        )

    def test_the_depth_must_be_said(self) -> None:
        for name in ("loop_as_short_as_the_ring.tir", "sparse_ids.tir"):
            with self.subTest(name):
                path = str(CASES / name)
                self.assertEqual(
                    complaint("--read", path),
                    f"argument --read: {path!r}: the text prints no num_stages: give the"
                    " depth, as in --read 4=FILE",
                )


class Ids(unittest.TestCase):
    """Event ids and the loops that bound them."""

    def test_bounded(self) -> None:
        six = "s in T.serial(6)"
        for event_id, loops, low, width in (
            ("3", [], 3, 1),
            ("x % 5", [], 0, 5),
            ("c[0] % 3", [six], 0, 3),
            ("c[0] % 3 + 2", [], 2, 3),
            ("2 + c[0] % 3", [], 2, 3),
            ("(k + w * 64) % 3", ["w in range(9)", "k in range(9)"], 0, 3),
            ("s % 4 + s % 3", ["s in range(64)"], 0, 6),
            ("s", [six], 0, 6),
            ("s + 2", [six], 2, 6),
            ("s % 8", [six], 0, 6),
            ("s % 6", [six], 0, 6),
            ("s % 5", [six], 0, 5),
            ("s % 7 % 9", ["s in range(64)"], 0, 7),
            ("(s + 1) % 8", [six], 1, 6),
            ("s", ["s in T.serial(2, 6)"], 2, 4),
            ("s % 6", ["s in T.serial(2, 6)"], 2, 4),
            ("s % 5", ["s in T.serial(2, 6)"], 0, 5),
            ("s", ['s in T.serial(2, 6, annotations={"num_stages": 99})'], 2, 4),
            ("s", ["s in T.unroll(3)"], 0, 3),
            ("s", ["s in T.parallel(3)"], 0, 3),
            ("s", ["s in T.vectorized(3)"], 0, 3),
            ("s", ["s in range(1, 4)"], 1, 3),
            ("s", ["s, t in T.grid(4, 5)"], 0, 4),
            ("t", ["s, t in T.grid(4, 5)"], 0, 5),
            ("t", ["(s, t) in T.grid(4, 5)"], 0, 5),
            ("s", ["s in range(64)", "s in range(3)"], 0, 3),
            ("s + t", ["s in range(3)", "t in range(2)"], 0, 4),
            ("s - 3", ["s in T.serial(3, 9)"], 0, 6),
            ("(s - 3) % 7", ["s in T.serial(3, 9)"], 0, 6),
            ("(s - 3) % 6", ["s in T.serial(3, 9)"], 0, 6),
            ("(s - 3) % 5", ["s in T.serial(3, 9)"], 0, 5),
            ("(s - 4) % 8", ["s in T.serial(3, 9)"], 0, 8),
            # A multiple of the modulus vanishes before the ids are bounded.
            ("(s - 16) % 8", ["s in T.serial(16, 20)"], 0, 8),
            ("(s - T.int64(8)) % 8", ["s in T.serial(8, 12)"], 0, 8),
            ("(s + 8) % 8", ["s in T.serial(4)"], 0, 4),
            ("s // 8 % 8", ["s in T.serial(8)"], 0, 1),
            ("(s - 12) % 8", ["s in T.serial(12, 16)"], 0, 4),
            ("(s - 4) % 8 + 1", ["s in T.serial(3, 9)"], 1, 8),
            ("5 - s", ["s in range(3)"], 3, 3),
            ("t - s", ["s in range(3)", "t in range(4, 6)"], 2, 4),
            ("s * 2 + t", ["s, t in T.grid(2, 2)"], 0, 4),
            ("2 * s + t", ["s, t in T.grid(2, 2)"], 0, 4),
            ("s * -2 + 4", ["s in range(3)"], 0, 5),
            ("s // 2", ["s in range(2, 7)"], 1, 3),
            ("s // 2 % 2", [], 0, 2),
            ("(s - 2) // 4 + 1", ["s in range(4)"], 0, 2),
            ("s - s // 3 * 3", [], 0, 3),
            ("s - s // 3 * 3 + 1", ["s in range(2)"], 1, 2),
            ("s - s // T.int64(3) * T.int64(3)", [], 0, 3),
            ("(s + t) - (s + t) // 3 * 3", [], 0, 3),
            ("T.int64(4)", [], 4, 1),
            ("T.int32(4)", [], 4, 1),
            ("-1 + 5", [], 4, 1),
            ("T.int64(-1) + 5", [], 4, 1),
            ('T.Cast("int32", s % T.int64(4)) + 1', [], 1, 4),
            ('T.Cast("int32", s)', ["s in T.serial(T.int64(3))"], 0, 3),
            ("s", ["s in T.serial(T.int64(3), T.int64(9))"], 3, 6),
            ("s", ["s in T.serial(3, T.int32(9))"], 3, 6),
            ("t", ["s in T.serial(3)", "t in T.serial(s, 8)"], 0, 8),
            ("t", ["s in T.serial(3)", "t in T.serial(s + 1, s + 4)"], 1, 5),
            ("t", ["s in T.serial(6)", "t in T.serial(s, 3)"], 0, 3),
            ("t", ["s in T.serial(4)", "t in T.serial(s)"], 0, 3),
            ("s // 1", ["s in range(3)"], 0, 3),
        ):
            with self.subTest(event_id, loops=loops):
                (point,) = read(set_flag(event_id, *loops), 99).sync_points
                found = point.versions or point.max_versions
                self.assertEqual((point.name, found), (f"V_S[{low}]", width))

    def test_a_loop_ends(self) -> None:
        text = 'for s in range(3):\n pass\nT.ascend_set_flag("V_S", s)'
        self.assertEqual(error_of(read, text, 4), f"{UNBOUNDED}line 3 's'{BOUNDS}")
        outer = 'for s in range(3):\n for s in range(9):\n  pass\n T.ascend_set_flag("V_S", s)'
        self.assertEqual(rings(outer, 3), [("V_S[0]", None, None)])

    def test_unbounded(self) -> None:
        for event_id, loops in (
            ("s", []),
            ("s", ["s in T.serial(n)"]),
            ("s", ["s in T.serial(2, n)"]),
            ("s", ["s in T.serial(n, 2)"]),
            ("s", ["s in T.serial(0)"]),
            ("s", ["s in T.serial(3, 3)"]),
            ("s", ["s in range(-2)"]),
            ("s", ["s in T.thread_binding(3)"]),
            ("s", ["s in things"]),
            ("s", ["s in lambda: 3"]),
            ("s", ["s in T.grid(n, 3)"]),
            ("s", ["s in range(9)", "s in range(n)"]),
            ("s.t", []),
            ("c[0]", ["c in range(3)"]),
            ("s % n", ["s in range(3)"]),
            ("s % 0", ["s in range(3)"]),
            ("s - 1", ["s in range(3)"]),
            ("s * -1", ["s in range(3)"]),
            ("s // -2", ["s in range(3)"]),
            ("s // 0", ["s in range(3)"]),
            ("4 // s", ["s in range(1, 3)"]),
            ("s ** 2", ["s in range(3)"]),
            ("s * 1000000000000000000", ["s in range(2)"]),
            ("T.Cast()", []),
            ("T.int64()", []),
            ("T.int64(s)", ["s in range(3)"]),
            ("s - s // 2 * 3", []),
            ("s - t // 2 * 2", []),
            ("s - s // n * n", ["s in range(3)"]),
            ("s - (s + 1) // 2 * 2", []),
            ("s * 16 + 4", []),
            ("s + c[0]", ["s in range(3)"]),
            ("c[0] + s", ["s in range(3)"]),
            ("True", []),
            ("1.5", []),
            ("-1", []),
            ("f(3)", []),
        ):
            with self.subTest(event_id, loops=loops):
                self.assertEqual(
                    error_of(read, set_flag(event_id, *loops), 4),
                    f"event ids without bounds: line {len(loops) + 1} {event_id!r}:"
                    " expected a number, a variable of a loop that numbers bound, x % v"
                    " with a number v, or a sum of these",
                )

    def test_unbounded_ids_are_listed(self) -> None:
        calls = [set_flag(f"x_{number} * 3") for number in range(12)]
        calls[1] = set_flag("0")
        calls[2] = set_flag(f"a\n   +   {'b' * 60}").replace('"V_S"', '"V_M"')
        for count, more in ((11, ""), (12, " and 1 more")):
            with self.subTest(count):
                said = error_of(read, "(\n" + ",\n".join(calls[:count]) + ")", 4)
                listed = ["line 2 'x_0 * 3'", f"line 4 'a + {'b' * 36}'"]
                listed += [
                    f"line {number + 3} 'x_{number} * 3'" for number in range(3, 11)
                ]
                self.assertEqual(
                    said.partition(": expected")[0],
                    f"event ids without bounds: {', '.join(listed[: count - 1])}{more}",
                )

    def test_cross_core_ids_are_modulo_16(self) -> None:
        for ids, expected in (
            (["s % 2", "s % 2 + 16"], [("Cube-Vector[0]", 2)]),
            (["s * 16 + 4"], [("Cube-Vector[4]", 1)]),
            (["16 * s + 4", "s * 32 + 4"], [("Cube-Vector[4]", 1)]),
            (["s % 3 + sid * 16 + 2"], [("Cube-Vector[2]", 3)]),
            (["s % 16 + 3"], [("Cube-Vector[0]", 16)]),
            (["s % 99"], [("Cube-Vector[0]", 16)]),
            (["s % 15"], [("Cube-Vector[0]", 15)]),
            (["s % 3 + 14"], [("Cube-Vector[0]", 1), ("Cube-Vector[14]", 2)]),
            (["s % 2 + 14"], [("Cube-Vector[14]", 2)]),
            (["15", "16"], [("Cube-Vector[0]", 1), ("Cube-Vector[15]", 1)]),
        ):
            with self.subTest(ids):
                found = read(cross_core(*ids), 99).sync_points
                self.assertEqual(
                    [(each.name, each.versions or each.max_versions) for each in found],
                    expected,
                )
                self.assertEqual({each.event for each in found}, {"cross-core"})
        loop = f"for s in T.serial(16, 20):\n {cross_core('s - 16')}"
        self.assertEqual(rings(loop, 4), [("Cube-Vector[0]", None, None)])
        # A step leaves nothing out.
        loop = f"for s in range(1, 5, 2):\n {cross_core('s')}"
        self.assertEqual(rings(loop, 4), [("Cube-Vector[1]", None, None)])
        for event_id in ("s * 8", "s * 16.0", "s * t", "s - 16"):
            with self.subTest(event_id):
                self.assertEqual(
                    error_of(read, cross_core(event_id), 4),
                    f"{UNBOUNDED}line 1 {event_id!r}{BOUNDS}",
                )

    def test_names_are_bound_alike_in_every_id(self) -> None:
        # Only in a cross-core id does a multiple of 16 vanish.
        loop = "for s in range(3):\n slot: T.int32 = s * 16\n other: T.int32\n "
        self.assertEqual(rings(loop + set_flag("slot // 16")), [("V_S[0]", None, 3)])

    def test_overlapping_ids_are_one_ring(self) -> None:
        text = "\n".join(map(set_flag, ("s % 4 + 4", "0", "7", "s % 3", "2", "8", "9")))
        self.assertEqual(
            rings(text),
            [
                ("V_S[0]", None, 3),
                ("V_S[4]", None, None),
                ("V_S[8]", 1, None),
                ("V_S[9]", 1, None),
            ],
        )

    def test_widths(self) -> None:
        text = "\n".join(map(set_flag, ("s % 3", "s % 4 + 3", "s % 5 + 7", "12")))
        for depth, expected in (
            (4, [(None, 3), (None, None), (5, None), (1, None)]),
            (3, [(None, None), (4, None), (5, None), (1, None)]),
            (1, [(3, None), (4, None), (5, None), (None, None)]),
        ):
            with self.subTest(depth):
                self.assertEqual([each[1:] for each in rings(text, depth)], expected)

    def test_releases(self) -> None:
        for calls, releases in (
            (["s % 3 + 3", "s % 3"], [False, False]),
            (["s % 3 + 3", "s % 3", "1"], [True, False]),
            (["s % 3 + 3", "4", "s % 3"], [True, True]),
            (["s % 3", "s % 4 + 3"], [True, False]),
            (["0", "1"], [False, False]),
            (["0", "s % 2 + 1"], [True, False]),
            (["s % 2", "0"], [True]),
            (["s % 2", "0", "s % 2 + 2"], [True, False]),
        ):
            with self.subTest(calls):
                kernel = read("\n".join(map(set_flag, calls)), 4)
                self.assertEqual(
                    [each.cross_iter for each in kernel.sync_points], releases
                )

    def test_more_rings_after_a_reserved_one(self) -> None:
        found = rings(cross_core("0", "1"), reserved={CROSS_CORE: [0]})
        self.assertEqual(found, [("Cube-Vector[1]", 1, None)])

    def test_flags_that_name_no_hard_event(self) -> None:
        for call, expected in (
            (
                'ascend_set_flag("V_V", 0)',
                "event 'V_V': expected cross-core, or PROD_CONS of two different pipes of"
                " FIX M MTE1 MTE2 MTE3 S V",
            ),
            (
                "ascend_set_flag(V_S, 0)",
                "event '': expected cross-core, or PROD_CONS of two different pipes of"
                " FIX M MTE1 MTE2 MTE3 S V",
            ),
            ('ascend_wait_flag("V_S")', "expected an id in ascend_wait_flag"),
            ("ascend_wait_flag()", "expected an id in ascend_wait_flag"),
            (
                "ascend_cross_core_set_flag(4)",
                "expected an id in ascend_cross_core_set_flag",
            ),
        ):
            with self.subTest(call):
                self.assertEqual(
                    error_of(read, f"\nT.{call}", 4), f"line 2: {expected}"
                )

    def test_reserved_ids(self) -> None:
        text = cross_core("s % 2", "15", "14") + "\n" + set_flag("0")
        names = [each[0] for each in rings(text, reserved={CROSS_CORE: [30, 15]})]
        self.assertEqual(names, ["Cube-Vector[0]", "V_S[0]"])
        self.assertEqual(len(rings(text, reserved={CROSS_CORE: [0]})), 4)
        kernel = read(text, 4, reserved={CROSS_CORE: [30, 15]})
        self.assertEqual(kernel.reserved, {CROSS_CORE: {14, 15}})
        self.assertEqual(read(text, 4).reserved, {})
        self.assertEqual(
            error_of(read, cross_core("s % 2"), 4, reserved={CROSS_CORE: [0, 1, 2]}),
            "every flag in the text uses a reserved id",
        )


ALLOCATION = 'b_1 = T.sblock_alloc_buffer({}, data=b.data, scope="{}")\n' + set_flag(
    "0"
)


SCOPES = {
    "shared": "ub",
    "shared.dyn": "ub",
    "shared.l1": "l1",
    "shared.l1.dyn": "l1",
    "shared.l0a": "l0a",
    "shared.l0b": "l0b",
    "shared.l0c": "l0c",
}


class Buffers(unittest.TestCase):
    """sblock_alloc_buffer and tl.buffer_versions_map."""

    def buffers(self, text: str, depth: int = 4) -> tuple[Buffer, ...]:
        return tuple(read(text, depth).buffers)

    def test_sizes(self) -> None:
        for arguments, size in (
            ('(64, 256), "bfloat16"', 32768),
            ("(64, 256)", 65536),
            ("(256,)", 1024),
            ("()", 4),
            ('(3,), "int8"', 3),
            ('(3,), "bool"', 3),
            ('(3,), "boolx4"', 12),
            ('(3,), "uint1"', 1),
            ('(9,), "uint1"', 2),
            ('(3,), "int4"', 2),
            ('(64,), "float4_e2m1fn"', 32),
            ('(64,), "float4_e2m1fnx2"', 64),
            ('(64,), "float8_e4m3fn"', 64),
            ('(64,), "float8_e5m2"', 64),
            ('(64,), "float8_e4m3"', 64),
            ('(64,), "float8_e5m2x4"', 256),
            ("(T.int64(64), 256)", 65536),
            ('(T.int32(3), T.int64(2)), "int8"', 6),
            ('(64,), "float8_e8m0fnu"', 64),
            ('(64,), "float8_e4m3fnx4"', 256),
            ('(64,), "float6_e2m3fn"', 48),
            ('(64,), "float32x2"', 512),
            ('(64,), "float64"', 512),
        ):
            with self.subTest(arguments):
                self.assertEqual(
                    self.buffers(ALLOCATION.format(arguments, "shared")),
                    (Buffer("b", "ub", size, 1),),
                )

    def test_without_a_size(self) -> None:
        for arguments, expected in (
            ("(n, 64)", "expected a shape of numbers"),
            ("n", "expected a shape of numbers"),
            ("(2.5,)", "expected a shape of numbers"),
            (
                '(64,), "handle"',
                "dtype 'handle': expected one with a size, as in float32",
            ),
            (
                '(64,), "float32xvscalex4"',
                "dtype 'float32xvscalex4': expected one with a size, as in float32",
            ),
            ("(64,), float16", "dtype '': expected one with a size, as in float32"),
            ("(0,)", "bytes 0: expected a whole number from 1 to 10^18 * 2^20"),
        ):
            with self.subTest(arguments):
                text = "\n" + ALLOCATION.format(arguments, "shared.l1")
                self.assertEqual(error_of(read, text, 4), f"line 2: {expected}")
                self.assertEqual(
                    self.buffers(ALLOCATION.format(arguments, "local.var")), ()
                )

    def test_without_a_name(self) -> None:
        text = ALLOCATION.format("(1,)", "shared").replace("b.data", "f(1)")
        self.assertEqual(
            error_of(read, text, 4),
            "line 1: name '': expected letters, digits and _ . [ ] -, not starting with a"
            " dash",
        )

    def test_scopes(self) -> None:
        for scope, memory in SCOPES.items():
            with self.subTest(scope):
                (buffer,) = self.buffers(ALLOCATION.format("(1,)", scope))
                self.assertEqual(buffer.memory, memory, scope)
        for scope in ("global", "local.fragment", "shared.l1x", ""):
            with self.subTest(scope):
                self.assertEqual(self.buffers(ALLOCATION.format("(1,)", scope)), ())

    def test_what_counts_nowhere(self) -> None:
        for call in (
            'T.sblock_alloc_buffer((9,), scope="shared")',
            "T.sblock_alloc_buffer((9,), data=b.data)",
            'T.Buffer((9,), data=b.data, scope="shared")',
        ):
            with self.subTest(call):
                self.assertEqual(self.buffers(f"b = {call}\n{set_flag('0')}"), ())

    def test_more_buffers_after_one_that_does_not_count(self) -> None:
        local = 'l_1 = T.sblock_alloc_buffer((9,), data=l, scope="local")\n'
        unused = 'u_1 = T.sblock_alloc_buffer((9,), scope="shared")\n'
        text = local + unused + ALLOCATION.format("(1,)", "shared")
        self.assertEqual([each.name for each in self.buffers(text)], ["b"])

    def test_without_data(self) -> None:
        allocation = 'c = T.sblock_alloc_buffer((9,), "int8", scope="shared")\n'
        text = allocation + set_flag("0")
        for more, names in (("", []), ("\nf(c[0])", ["c"]), ("\nc[1] = 2", ["c"])):
            with self.subTest(more):
                found = self.buffers(text + more)
                self.assertEqual([each.name for each in found], names)
        versions = 'T.sblock_attr({"tl.buffer_versions_map": {c: 4}})\n'
        self.assertEqual(self.buffers(versions + text), (Buffer("c", "ub", 9),))

    def test_manual_rings(self) -> None:
        for count, size, versions in ((4, 2048, None), (3, 2731, 3), (1, 8192, 1)):
            with self.subTest(count):
                rings = f'{{"tl.manual_multi_buffer": {{b: {count}}}}}'
                text = f"T.sblock_attr({rings})\n"
                text += ALLOCATION.format("(2048,)", "shared")
                (found,) = self.buffers(text)
                self.assertEqual(found.bytes, size)
                self.assertEqual(found.versions or found.max_versions, versions)
        path = CASES / "manual_ring.d4.tir"
        found = document("--read", str(path), "--depth=4")
        self.assertEqual(found["last_depth_in_memory"], 31)
        (ring,) = found["read"][0]["buffers"]
        self.assertEqual((ring["bytes"], ring["versions"]), (8192, 4))

    def test_aliases(self) -> None:
        names = "abc"
        text = "\n".join(buffer(name, 8) for name in names)
        for maps, expected in (
            ([], {}),
            (["a: [], b: []"], {}),
            (["a: [b], b: [a]"], {"a": {"b"}, "b": {"a"}}),
            (["a.data: [b.data]"], {"a": {"b"}, "b": {"a"}}),
            # Two maps, and names of what is in no memory.
            (["a: [b]", "a: [c], x: [a]"], {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}),
            (["a: [x, b]"], {"a": {"b"}, "b": {"a"}}),
        ):
            with self.subTest(maps):
                lines = [
                    f'T.sblock_attr({{"tl.buffer_alias_map": {{{each}}}}})'
                    for each in maps
                ]
                kernel = read("\n".join([*lines, text, set_flag("0")]))
                self.assertEqual(kernel.aliases, expected)

    def test_versions(self) -> None:
        text = ALLOCATION.format("(256,)", "shared")
        for number, versions, max_versions in (
            (4, None, None),
            (3, None, 3),
            (2, None, 2),
            (1, 1, None),
            (5, 5, None),
        ):
            with self.subTest(number):
                attribute = f'T.sblock_attr({{"tl.buffer_versions_map": {{b.data: {number}}}}})\n'
                self.assertEqual(
                    self.buffers(attribute + text),
                    (Buffer("b", "ub", 1024, versions, max_versions),),
                )
        other = (
            'T.sblock_attr({"tl.buffer_versions_map": {c.data: 4}, "x": {b.data: 4}})\n'
        )
        self.assertEqual(self.buffers(other + text)[0].versions, 1)
        named = 'T.sblock_attr({"tl.buffer_versions_map": {b: 4}})\n' + text
        (buffer,) = self.buffers(named.replace("data=b.data", "data=b"))
        self.assertEqual(buffer, Buffer("b", "ub", 1024))

    def test_versions_that_are_no_number(self) -> None:
        for number in ("n", "0", "-1"):
            with self.subTest(number):
                versions = f'{{"tl.buffer_versions_map": {{b.data: {number}}}}}'
                text = ALLOCATION.format("(256,)", "shared")
                self.assertEqual(
                    error_of(read, f"\nT.sblock_attr({versions})\n{text}"),
                    "line 2: expected a number of versions",
                )

    def test_names_once(self) -> None:
        path = str(text_of("axpy", 4))
        self.assertEqual(
            complaint("--read", path, "--buffer=x,memory=ub,bytes=1"),
            "'x' is given twice",
        )
        found = document("--read", path, "--buffer=w,memory=ub,bytes=1K", "--depth=2")
        self.assertEqual(found["depths"][0]["memories"][0]["used"], 8 * 1024)

    def test_simt_vf(self) -> None:
        text = 'with T.sblock("SIMT_VF"):\n pass\n' + ALLOCATION.format(
            "(1,)", "shared"
        )
        kernel = read(text, 4)
        self.assertEqual(kernel.capacities["ub"], 216 * 1024)
        more = text.replace('"SIMT_VF"', '"SIMT_VF", 1')
        self.assertEqual(read(more, 4).capacities["ub"], 216 * 1024)
        self.assertEqual(
            read(text.replace("SIMT_VF", "SIMD"), 4).capacities["ub"], 253952
        )


class Locks(unittest.TestCase):
    """gemm_l1, and locks that the source takes itself."""

    ALLOCATIONS = (
        'a = T.sblock_alloc_buffer((1,), data=a.data, scope="shared.l1")\n'
        'b = T.Buffer((1,), scope="shared.l1")\n'
        'c = T.Buffer((1,), scope="shared.l0c")\n'
    )
    GEMM = "T.{}(T.region({}[0, 0], 1, 64, 64), T.region({}[0, 0], 1, 64, 64))\n"

    def test_gemm_l1(self) -> None:
        for name, one, other, locks in (
            ("gemm", "a", "b", 2),
            ("gemm_blockscaled", "b", "a", 2),
            ("gemm", "a", "c", 0),
            ("gemm", "c", "b", 0),
            ("gemm", "a", "unknown", 0),
            ("gemv", "a", "b", 0),
            ("gemm", "a", "", 0),
        ):
            with self.subTest(name):
                gemm = self.GEMM.format(name, one, other)
                if not other:
                    gemm = "T.gemm(T.region(a[0, 0], 1, 64, 64))\n"
                for calls in (gemm, gemm + gemm):
                    text = self.ALLOCATIONS + calls + set_flag("0")
                    self.assertEqual(read(text).lock_reserved, locks, text)

    def test_lock_reserved_says_otherwise(self) -> None:
        path = str(text_of("gemm_auto", 4))
        for args, used in (
            ([], 2),
            (["--lock-reserved=0"], 0),
            (["--lock-reserved=7"], 7),
        ):
            with self.subTest(args):
                found = document("--read", path, "--depth=1", *args)
                self.assertEqual(found["depths"][0]["lock_pool"]["used"], used)
                holds = run("--read", path, "--depth=1", *args).out.count(
                    "gemm_l1 holds"
                )
                self.assertEqual(holds, used == 2)
        path = str(text_of("axpy", 4))
        out = run("--read", path, "--depth=1", "--lock-reserved=2").out
        self.assertNotIn("gemm_l1", out)

    def test_own_locks(self) -> None:
        lock = 'T.ascend_get_buf("PIPE_V", {}, 0)'
        calls = [f"for s in range(4):\n {lock.format('s + 3')}"]
        calls += [lock.format(2), lock.format("x"), "T.ascend_get_buf(0)"]
        calls += ['T.ascend_get_buf("PIPE_V", 7)']
        path = CASES / "own_locks.tir"
        text = "\n".join([*calls, set_flag("0")])
        self.assertEqual(len(rings(text)), 1)
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder, "locks.tir")
            other.write_text(text + MARKS, "ascii")
            for file, depth, locks in (
                (path, 5, "0 (line 9)"),
                (
                    other,
                    4,
                    "3-6 (line 2), 2 (line 3), some (line 4), some (line 5),"
                    " 7 (line 6)",
                ),
            ):
                with self.subTest(locks):
                    args = (f"--read={depth}={file}", f"--depth={depth}")
                    self.assertEqual(
                        run(*args).err,
                        f"note: in {str(file)!r} the source takes locks itself: {locks};"
                        " the compiler does not see them, and gives the same to what"
                        " spills\n",
                    )
        (at_5,) = document(f"--read=5={path}", "--depth=5")["depths"]
        self.assertEqual(at_5["spilled"], ["MTE2_V[5]"])
        (namespace,) = at_5["namespaces"]
        self.assertEqual(
            [(point["placement"], point["base"]) for point in namespace["sync_points"]],
            [("flag", 0), ("lock", 0)],
        )


class Texts(unittest.TestCase):
    """What is TIR and what is not."""

    def test_no_tir(self) -> None:
        deep = "no TIR, nested too deeply"
        for text, whats in (
            ("SetFlag<HardEvent::MTE2_V>(0);", {"no TIR, from line 1 on"}),
            (f"{set_flag('0')}\n1if 2else", {"no TIR, from line 2 on"}),
            ("x = 1\n  y = 2", {"no TIR, from line 2 on"}),
            ("\n\nf(1,\n(2", {"no TIR, from line 4 on", "no TIR, from line 5 on"}),
            ("(" * 10_000 + ")" * 10_000, {deep, "no TIR, from line 1 on"}),
            ("[" * 10_000, {deep, "no TIR, from line 1 on"}),
            ("-" * 100_000 + "1", {deep}),
            (set_flag("1+" * 50_000 + "1"), {deep}),
            ("if 1:\n" * 9999, {"no TIR, from line 2 on"}),
            ("\0", {"no TIR", "no TIR, from line 1 on"}),
            ("\ud800", {"no TIR"}),
        ):
            with self.subTest(text[:40]):
                what, _, expected = error_of(read, text).partition(": ")
                self.assertIn(what, whats)
                self.assertEqual(expected, EXPECTED_TIR)

    def test_depth_that_only_some_pythons_parse(self) -> None:
        for text in ("x" + ".a" * 100_000, "1+" * 50_000 + "1", "f" + "()" * 50_000):
            with self.subTest(text[:40]):
                said = error_of(read_kernel, text)
                what, _, expected = said.partition(": ")
                self.assertIn(what, ("no TIR, nested too deeply", "no flags"))
                self.assertEqual(expected, EXPECTED_TIR)

    def test_long_sums_are_no_depth(self) -> None:
        text = f"x = {' + '.join(['y[0]'] * 900)}\n{set_flag('0')}"
        self.assertEqual(len(rings(text)), 1)

    def test_no_flags(self) -> None:
        for text in (
            "",
            "x = 1",
            "set_flag(PIPE_V, PIPE_S, 0);",
            "# T.ascend_set_flag",
            'x = "T.ascend_set_flag(1)"',
        ):
            with self.subTest(text):
                self.assertEqual(
                    error_of(read_kernel, text), f"no flags: {EXPECTED_TIR}"
                )
                self.assertEqual(
                    error_of(read, text),
                    "no flags: this kernel needs no synchronisation",
                )

    def test_text_of_another_pass(self) -> None:
        later = (CASES / "later_still.tir").read_text("ascii")
        task, aliases = MARKS.split(";")
        for text in (later, set_flag("0"), *(f"{set_flag('0')}{task}\n",)):
            with self.subTest(text[:40]):
                self.assertEqual(
                    error_of(read_kernel, text),
                    f"the text of another pass: {EXPECTED_TIR}",
                )
        self.assertEqual(
            error_of(read_kernel, f"{set_flag('0')}\n{aliases.strip()}\n"),
            f"the text of another pass: {EXPECTED_TIR}",
        )

    def test_next_pass(self) -> None:
        later = read_kernel((CASES / "later_pass.tir").read_text("ascii"), bases=True)
        text = text_of("short_from3", 4).read_text("ascii")
        self.assertEqual(later, read_kernel(text, bases=True))

    def test_two_launches(self) -> None:
        self.assertEqual(
            error_of(read_kernel, text_of("two_launches", 4).read_text("ascii")),
            "the launches of lines 17, 165 each have flags and memory of their own:"
            " expected one",
        )
        one = 'with T.sblock("tilelang_root"):\n'
        text = f'{one} {set_flag("0")}\nwith T.sblock("root"):\n pass'
        self.assertEqual(len(rings(text)), 1)
        self.assertEqual(
            error_of(read, f"{text}\n{one} pass"),
            "the launches of lines 1, 5 each have flags and memory of their own:"
            " expected one",
        )

    def test_loops_in_a_grid_of_many_variables(self) -> None:
        # No loop copies the names around it.
        count = 500
        variables = ", ".join(f"v{number}" for number in range(count))
        grid = f"for {variables} in T.grid({', '.join(['2'] * count)}):\n"
        loop = f" for {staged(4)}:\n  T.ascend_set_flag('V_S', s % 4 + v3)\n"
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(len(rings(grid + loop * count)), 1)
        self.assertLess(tracemalloc.get_traced_memory()[1], 20_000_000)

    def test_no_warnings_of_python(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.assertRaises(ValueError):
                read('x = "\\d" 1if 2', 4)
            read(f'x = "\\d"\n(1)(2)\n{set_flag("0")}', 4)
        self.assertEqual([str(each.message) for each in caught], [])

    def test_one_function(self) -> None:
        kernel = f"def main():\n {set_flag('s % 4')}\n"
        host = 'def host():\n b = T.sblock_alloc_buffer((9,), data=b, scope="shared")\n'
        found = read(host + kernel + host, 4)
        self.assertEqual((len(found.sync_points), found.buffers), (1, ()))
        self.assertEqual(
            error_of(read, f"{kernel}\n{host}{kernel}", 4),
            "the functions of lines 1, 6 set flags: expected one kernel; read each from a"
            " file of its own",
        )

    def test_depth(self) -> None:
        def text(*counts: object) -> str:
            stages = 'for s in T.serial(64, annotations={{"num_stages": {}}}):\n '
            return "\n".join(
                stages.format(count) + set_flag(f"s % {count}") for count in counts
            )

        for counts in ((3, 2), (8, 1), ("T.int64(3)",)):
            with self.subTest(counts):
                self.assertEqual(rings(text(*counts), None), [("V_S[0]", None, None)])
        for depth in (1, 4):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(read, text(3, 2), depth),
                    f"depth {depth}: expected a num_stages that is printed: 2, 3",
                )
        for depth in (0, -1, 10**18 + 1):
            with self.subTest(depth):
                self.assertEqual(
                    error_of(read, set_flag("0"), depth),
                    f"depth {depth}: expected a whole number from 1 to 10^18",
                )
        large = f"for {staged(10**18 + 1)}:\n {set_flag('0')}"
        self.assertEqual(
            error_of(read, large, None),
            f"depth {10**18 + 1}: expected a whole number from 1 to 10^18",
        )
        for number in ("n", "0", "True", '"3"'):
            with self.subTest(number):
                self.assertEqual(
                    error_of(read, text(number).replace(f"s % {number}", "0"), None),
                    "the text prints no num_stages: give the depth, as in --read 4=FILE",
                )


class WhoseDepth(unittest.TestCase):
    """Rings and buffers of loops that print another num_stages."""

    def test_rings(self) -> None:
        outer, inner = staged(4, "k"), staged(2, "s")
        for event_id, loops, expected in (
            ("s % 2", [inner], (2, None)),
            ("s % 4", [staged(4)], (None, None)),
            ("s % 3", [staged(4)], (None, 3)),
            ("s % 2", [outer, inner], (2, None)),
            ("k % 2", [outer, inner], (None, 2)),
            ("(s + k * 2) % 2", [outer, inner], (2, None)),
            # The innermost of those that print it, whether or not others are used too.
            ("(s + k + i) % 3", [outer, inner, "i in range(9)"], (3, None)),
            ("i % 3", [inner, "i in range(9)"], (None, 3)),
            # Ids that use no variable are of the loops around.
            ("c[0] % 3", [outer, inner], (3, None)),
            ("c[0] % 3", [inner, outer], (None, 3)),
            ("c[0] % 3", [outer, "i in range(9)"], (None, 3)),
            ("c[0] % 3", [], (None, 3)),
            ("2", [inner], (1, None)),
        ):
            with self.subTest(event_id, loops=loops):
                text = f"{set_flag(event_id, *loops)}\nfor {staged(4)}:\n pass"
                ((_, *found),) = rings(text)
                self.assertEqual(tuple(found), expected)

    def test_bound_names_change_with_their_loops(self) -> None:
        text = f"""
for {staged(4, "k")}:
    for {staged(2, "s")}:
        slot: T.int32 = s * 1
        other: T.int32 = slot + k * 2
        T.ascend_set_flag("V_S", other % 3)
        T.ascend_set_flag("V_S", slot % 2 + 3)
"""
        self.assertEqual(rings(text), [("V_S[0]", 3, None), ("V_S[3]", 2, None)])

    def test_of_several_calls_the_most_counts(self) -> None:
        outer, inner = staged(4, "k"), staged(2, "s")
        for ids, expected in (
            (["k % 3", "s % 3"], (None, 3)),
            (["s % 3", "s % 3"], (3, None)),
            # A call whose id is a number says nothing, if another's changes.
            (["s % 3", "1"], (3, None)),
        ):
            with self.subTest(ids):
                inside, outside = ids
                text = f"""
for {outer}:
    T.ascend_set_flag("V_S", {outside if "s" not in outside else 0})
    for {inner}:
        T.ascend_wait_flag("V_S", {inside})
        T.ascend_wait_flag("V_S", {outside})
"""
                ((_, *found),) = rings(text)
                self.assertEqual(tuple(found), expected)

    def test_buffers(self) -> None:
        def text(*loops: str) -> str:
            lines = [buffer("b", 256, 2), *(f"for {loop}:\n pass" for loop in loops)]
            return "\n".join([*lines, f"for {staged(4)}:\n {set_flag('0')}"])

        lists = ', "multi_buffer_eligible": [{}]'
        for loops, expected in (
            ([], (None, 2)),
            ([staged(2, more=lists.format("b"))], (2, None)),
            ([staged(2, more=lists.format("a, b.data"))], (2, None)),
            ([staged(2, more=lists.format("a"))], (None, 2)),
            ([staged(4, more=lists.format("b"))], (None, 2)),
            (
                ['s in T.serial(9, annotations={"multi_buffer_eligible": [b]})'],
                (None, 2),
            ),
        ):
            with self.subTest(loops):
                body = text(*(loop for loop in loops))
                body = body.replace(":\n pass", ":\n f(b_1)")
                (found,) = read(body).buffers
                self.assertEqual((found.versions, found.max_versions), expected)

    def test_staged_gemm(self) -> None:
        for depth in (1, 4):
            with self.subTest(depth):
                path = CASES / f"staged_gemm.d{depth}.tir"
                found = document(f"--read={depth}={path}", "--max-depth=9")
                for at_depth in found["depths"]:
                    used = {each["name"]: each["used"] for each in at_depth["memories"]}
                    self.assertEqual(used["l0a"], 64 * 1024)


class RandomTexts(unittest.TestCase):
    """Texts by chance."""

    def test_random_edits_never_give_a_traceback(self) -> None:
        dice = random.Random(23)
        texts = [
            path.read_text("ascii")
            for path in (*CASES.iterdir(), text_of("mixed", 4), text_of("ping_pong", 2))
        ]
        words = [
            "(",
            ")",
            "[",
            "]",
            ",",
            "\n",
            " ",
            "0",
            "%",
            "s",
            '"',
            "T.",
            ":",
            "=",
            "-",
        ]
        words += [
            "for s in range(3):\n ",
            "16",
            "{",
            "}",
            "\0",
            "é",
            "1e9",
            "*",
            "None",
        ]
        for _ in range(1500):
            text = dice.choice(texts)
            for _ in range(dice.randint(1, 4)):
                start = dice.randrange(len(text))
                end = start + dice.choice([0, 1, 2, 9])
                text = text[:start] + dice.choice([*words, ""]) + text[end:]
            try:
                kernel = read_kernel(text, dice.choice([None, 2, 4]))
            except ValueError as error:
                self.assertTrue(str(error).isprintable())
            else:
                self.assertIsInstance(kernel, Kernel)

    def test_texts_built_from_rings(self) -> None:
        dice = random.Random(24)
        for _ in range(300):
            depth = dice.randint(2, 9)
            expected: list[SyncPoint] = []
            lines: list[str] = []
            for event in dice.sample(["MTE2_V", "V_MTE2", "V_MTE3", "M_FIX"], 3):
                base, widths = (
                    0,
                    sorted((dice.randint(1, 9) for _ in range(3)), reverse=True),
                )
                calls = []
                for width in widths:
                    base += dice.randint(0, 2)
                    calls += self.calls(dice, event, base, width)
                    fixed = width > depth or width == 1 < depth
                    expected.append(
                        SyncPoint(
                            f"{event}[{base}]",
                            event,
                            versions=width if fixed else None,
                            max_versions=width if 1 < width < depth else None,
                        )
                    )
                    base += width
                dice.shuffle(calls)
                lines += calls
            with self.subTest(lines=lines):
                self.assertEqual(
                    list(read("\n".join(lines), depth).sync_points), expected
                )

    def calls(
        self, dice: random.Random, event: str, base: int, width: int
    ) -> list[str]:
        """Flag calls that use these ids, but no single one of a wider ring."""
        ids = dice.choice(
            [
                f"c[0] % {width} + {base}",
                f"{base} + (k + w * 64) % {width}",
                f"(s + 1) % {width} + {base}",
            ]
        )
        call = f'T.ascend_{dice.choice(["set", "wait"])}_flag("{event}", {{}})'
        loop = dice.choice(
            [
                f"for s in T.serial({base}, {base + width}, annotations={{}}): "
                + call.format("s"),
                f"for t, s in T.grid(99, {width}): " + call.format(f"s + {base}"),
                f"for s in range({width}): " + call.format(f"s % {width + 1} + {base}"),
                "for s in T.unroll(64): " + call.format(ids),
                call.format(ids),
            ]
        )
        if width == 1 and "+ 1) % 1" not in loop:
            loop = call.format(base)
        return [loop] * dice.randint(1, 3)
