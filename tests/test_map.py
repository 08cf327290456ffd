"""--map, and the buffers that rings guard."""

from __future__ import annotations

import json
import unittest
from typing import Any

from flag_budget import (
    CROSS_CORE,
    Buffer,
    Kernel,
    SyncPoint,
    json_report,
    read_kernel,
    text_report,
)
from tests import document, run
from tests.texts import MARKS, buffer, cross_core, set_flag, text_of


def picture(kernel: Kernel, depth: int, **readings: Kernel) -> list[str]:
    """The lines of one depth."""
    read = {int(name[1:]): each for name, each in readings.items()}
    return [*text_report(kernel, [depth], read, table=False, maps=True)]


class Map(unittest.TestCase):
    """The picture of the slots."""

    maxDiff = None

    def test_rows_are_in_id_order(self) -> None:
        # The first in id order spills, and is the last that was declared.
        points = [
            SyncPoint("narrow", versions=4),
            SyncPoint("again", versions=4),
            SyncPoint("release", versions=5, cross_iter=True),
        ]
        self.assertEqual(
            picture(Kernel(points), 1),
            [
                "depth 1",
                "ids        01234567",
                "  release  locks 0-4",
                "  narrow   ####....",
                "  again    ....####",
            ],
        )

    def test_what_shares_a_base_shows_the_same_cells(self) -> None:
        points = [
            SyncPoint("a", versions=2, share="g"),
            SyncPoint("b", versions=3, share="g"),
            SyncPoint("c", versions=1),
            SyncPoint("d", versions=6, share="h"),
            SyncPoint("e", versions=9, share="h"),
        ]
        self.assertEqual(
            picture(Kernel(points, sharing="always"), 1),
            [
                "depth 1",
                "ids  01234567",
                "  e  locks 0-8",
                "  d  locks 0-8",
                "  b  ###.....",
                "  a  ###.....",
                "  c  ...#....",
            ],
        )

    def test_reserved_ids_and_a_single_lock(self) -> None:
        points = [
            SyncPoint("a", "MTE2_V", versions=4),
            SyncPoint("b", "MTE2_V", versions=3),
            SyncPoint("c", "MTE2_V", versions=1),
            SyncPoint("d", "V_S", versions=1),
            SyncPoint("e", "cross-core", versions=3),
            SyncPoint("f", versions=1),
        ]
        kernel = Kernel(points, reserved={"MTE2_V": [0, 6], CROSS_CORE: [1, 15]})
        self.assertEqual(
            picture(kernel, 1),
            [
                "depth 1",
                "MTE2_V       01234567",
                "  a          x####.x.",
                "  b          locks 0-2",
                "  c          x....#x.",
                "V_S          01234567",
                "  d          #.......",
                "Cube-Vector  0123456789012345",
                "  e          .x###..........x",
                "unnamed      01234567",
                "  f          #.......",
            ],
        )
        points = [SyncPoint("a", versions=8), SyncPoint("b", versions=1)]
        self.assertEqual(
            picture(Kernel(points), 1),
            ["depth 1", "ids  01234567", "  a  ########", "  b  lock 0"],
        )

    def test_verdict_behind_the_heading(self) -> None:
        big = Buffer("x", "l1", 513 * 1024)
        wide = SyncPoint("a", "cross-core")
        for points, depth, heading in (
            ([SyncPoint("a")], 9, "depth 9: out of memory: l1"),
            (
                [SyncPoint("a")],
                33,
                "depth 33: rejected: lock pool 33/32; out of memory: l1",
            ),
            (
                [wide],
                17,
                "depth 17: rejected: no cross-core slots for a; out of memory: l1",
            ),
        ):
            with self.subTest(heading):
                kernel = Kernel(points, buffers=[big])
                self.assertEqual(picture(kernel, depth)[0], heading)
        self.assertEqual(
            picture(Kernel([wide, SyncPoint("b", "cross-core", versions=2)]), 17),
            [
                "depth 17: rejected: no cross-core slots for a",
                "Cube-Vector  0123456789012345",
                "  a          no slots",
                "  b          ##..............",
            ],
        )

    def test_depths_that_were_not_read(self) -> None:
        kernel = Kernel([SyncPoint("a", guards=["x"])])
        self.assertEqual(picture(kernel, 2, d3=kernel)[0], "depth ~2")
        self.assertEqual(picture(kernel, 3, d3=kernel)[0], "depth 3")
        self.assertEqual(picture(kernel, 3, d3=kernel)[2], "  a (x)  ###.....")

    def test_what_stands_around_it(self) -> None:
        pictures = [run(f"--depth={depth}", "--map").out for depth in (1, 2, 3, 4)]
        table = run("--summary").out
        self.assertEqual(run("--map"), (0, "\n".join([*pictures, table]), ""))
        path = str(text_of("axpy", 4))
        read, _, rest = run("--read", path, "--map", "--depth=4").out.partition("\n\n")
        self.assertEqual(read, run("--read", path).out.partition("\n\n")[0])
        self.assertTrue(rest.startswith("depth 4\n"), rest)
        self.assertNotIn("\n\n", rest)


class Guards(unittest.TestCase):
    """Which buffers a ring guards."""

    ALLOCATIONS = "\n".join(buffer(name, 8) for name in "abcde")

    def guards(self, body: str) -> dict[str, list[str]]:
        """By ring, its buffers, in a loop that prints num_stages."""
        lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
        loop = 'for s in T.serial(64, annotations={"num_stages": 4}):'
        text = f"{self.ALLOCATIONS}\n{loop}\n{lines}\n{MARKS}"
        kernel = read_kernel(text)
        return {point.name: [*point.guards] for point in kernel.sync_points}

    def test_before_it_is_set_and_after_it_is_waited_for(self) -> None:
        found = self.guards("""
copy(a_1[0], b_1[0])
T.ascend_set_flag("V_S", 0)
use(c_1)
T.ascend_wait_flag("V_S", 0)
f(b_1, c_1[1])
f(a)
T.ascend_set_flag("S_V", 0)
f(d_1)
""")
        self.assertEqual(found, {"V_S[0]": ["a", "b"], "S_V[0]": []})

    def test_up_to_the_next_flag_call(self) -> None:
        found = self.guards("""
f(a_1)
T.ascend_wait_flag("S_V", 0)
f(b_1)
T.ascend_set_flag("V_S", 0)
T.ascend_wait_flag("V_S", 0)
f(b_1)
T.ascend_set_flag("S_V", 0)
f(a_1)
""")
        self.assertEqual(found, {"S_V[0]": ["b"], "V_S[0]": ["b"]})

    def test_flag_calls_in_a_row_count_as_one(self) -> None:
        found = self.guards("""
f(a_1, b_1)
T.ascend_set_flag("V_S", 0)
with T.attr({"stage": 0}, "tl.schedule_unit", 1):
    T.attr({"core_mask": T.int64(1)}, "tl.ascend_task", 1)
    T.ascend_set_flag("V_M", 0)
T.ascend_wait_flag("V_S", 0)
T.sblock_attr({"x": c_1})
T.ascend_wait_flag("V_M", 0)
f(b_1, a_1, c_1)
""")
        self.assertEqual(found, {"V_S[0]": ["a", "b"], "V_M[0]": ["a", "b"]})

    def test_loops(self) -> None:
        found = self.guards("""
f(a_1)
for i in range(9):
    f(b_1)
if x:
    f(c_1)
else:
    f(d_1)
T.ascend_set_flag("V_S", 0)
T.ascend_wait_flag("V_S", 0)
for i in range(9):
    f(b_1, a_1, c_1, d_1)
for i in range(9):
    T.ascend_set_flag("S_V", 0)
    f(e_1)
f(e_1)
T.ascend_set_flag("V_M", 0)
for i in range(9):
    f(e_1)
    T.ascend_wait_flag("V_M", 0)
    T.ascend_wait_flag("S_V", 0)
""")
        self.assertEqual(
            found, {"V_S[0]": ["a", "b", "c", "d"], "S_V[0]": [], "V_M[0]": []}
        )

    def test_calls_outside_of_loops(self) -> None:
        # tilelang sets the ids of a wider ring one by one before the loop.
        for ids, width, guards in (("s % 4", 4, ()), ("0", 1, ("a",))):
            with self.subTest(ids):
                prime = "\n".join(set_flag(str(number)) for number in range(width))
                text = f"""
{self.ALLOCATIONS}
f(a_1)
{prime}
for s in T.serial(64, annotations={{"num_stages": 4}}):
    T.ascend_wait_flag("V_S", {ids})
    f(a_1)
"""
                (point,) = read_kernel(text + MARKS).sync_points
                self.assertEqual(point.guards, guards)

    def test_what_is_of_no_use(self) -> None:
        for line in (
            'a_2 = T.Buffer((8,), "int32", data=a, scope="shared")',
            'a_2 = T.sblock_alloc_buffer((8,), data=a, scope="local")',
            "T.reads(a_1[0:8])",
            "T.writes(a_1[0:8])",
            'T.attr(a_1, "key", 1)',
            'T.sblock_attr({"key": a_1})',
            'for i in T.parallel(8, annotations={"of": a_1}):\n    pass',
            "f(unknown)",
        ):
            with self.subTest(line):
                found = self.guards(
                    f"{line}\n{set_flag('0')}\nT.ascend_wait_flag('V_S', 0)\nf(a_1)"
                )
                self.assertEqual(found, {"V_S[0]": []})
        for line in (
            "f(a_1[0])",
            "f(a.data)",
            "a_1[3] = 5",
            "x = a_1[3]",
            "x: T.int32 = a_1[3]",
            "for i in T.parallel(a_1[0]):\n    pass",
            "if a_1[0]:\n    pass",
            'v = T.Buffer((8,), "int32", data=a, scope="shared")\nf(v[0])',
            'v = T.Buffer((8,), "int32", data=a.data, scope="shared")\nf(v[0])',
        ):
            with self.subTest(line):
                found = self.guards(
                    f"{line}\n{set_flag('0')}\nT.ascend_wait_flag('V_S', 0)\nf(a_1)"
                )
                self.assertEqual(found, {"V_S[0]": ["a"]})

    def test_flash_attention(self) -> None:
        path = str(text_of("flash_fwd", 4))
        (text,) = document("--read", path)["read"]
        self.assertEqual(
            {point["name"]: point["buffers"] for point in text["sync_points"]},
            {
                "MTE1_MTE2[0]": ["v"],
                "MTE1_MTE2[4]": ["k"],
                "MTE1_MTE2[5]": ["q"],
                "Cube-Vector[0]": ["p_l1"],
                "Cube-Vector[3]": ["s"],
                "Cube-Vector[6]": ["ot"],
                "Cube-Vector[7]": ["p_l1"],
                "Cube-Vector[10]": ["s"],
                "Cube-Vector[13]": ["ot"],
                "FIX_M[0]": ["o_c"],
                "FIX_M[1]": ["s_c"],
                "MTE3_V[0]": ["p", "nz_scratch"],
                "MTE3_V[1]": ["o", "m", "l"],
                "V_MTE3[0]": ["nz_scratch"],
                "V_MTE3[1]": ["o"],
                "MTE2_MTE1[0]": ["v"],
                "MTE2_MTE1[4]": ["k"],
                "M_FIX[0]": ["o_c"],
                "M_FIX[1]": ["s_c"],
            },
        )


class Names(unittest.TestCase):
    """Where the buffers are named."""

    def lines(self, *guards: str, **options: Any) -> tuple[str, str, str]:
        """The end of the verdict, the line of the block, and the row of the picture."""
        kernel = Kernel([SyncPoint("p", guards=guards, **options)])
        block = [*text_report(kernel, [9], table=False)]
        _, row, *_ = text_report(kernel, [9], blocks=False)
        (spilled,) = (line for line in block if line.startswith("spilled"))
        return row.split("  ")[-1], spilled, picture(kernel, 9)[2]

    def test_at_most_three(self) -> None:
        for guards, shown in (
            ("", "p"),
            ("x", "p (x)"),
            ("xyz", "p (x, y, z)"),
            ("xyzuv", "p (x, y, z and 2 more)"),
        ):
            with self.subTest(guards):
                self.assertEqual(
                    self.lines(*guards),
                    (
                        f"spills {shown}",
                        f"spilled : {shown} -> asc_lock/asc_unlock mutex pool (blocking)",
                        f"  {shown}  locks 0-8",
                    ),
                )

    def test_json_has_bare_names(self) -> None:
        kernel = Kernel([SyncPoint("p", guards=["x"])])
        (at_9,) = json.loads("".join(json_report(kernel, [9])))["depths"]
        self.assertEqual(at_9["spilled"], ["p"])

    def test_names_are_those_of_the_text_that_is_planned(self) -> None:
        point = SyncPoint("p", versions=9)
        kernel = Kernel([SyncPoint("p", versions=9, guards=["deep"])])
        readings = {
            2: Kernel([SyncPoint("p", versions=9, guards=["flat"])]),
            3: Kernel([point]),
            4: kernel,
        }
        rows = [*text_report(kernel, [1, 2, 3, 4], readings, blocks=False)][1:5]
        self.assertEqual(
            [row.split("  ")[-1] for row in rows],
            ["spills p (deep)", "spills p (flat)", "spills p", "spills p (deep)"],
        )

    def test_reasons_have_bare_names(self) -> None:
        kernel = Kernel([SyncPoint("p", "cross-core", guards=["x"])])
        _, row, *_ = text_report(kernel, [17], blocks=False)
        self.assertTrue(row.endswith("  rejected: no cross-core slots for p"), row)

    def test_cross_core_rings_have_them_too(self) -> None:
        text = f"{buffer('a', 8)}\nf(a_1)\n{cross_core('0')}\n"
        text += 'T.ascend_cross_core_wait_flag(4, "PIPE_V", 16)\nf(a_1)\n'
        (point,) = read_kernel(text + MARKS, 4).sync_points
        self.assertEqual(point.guards, ("a",))
