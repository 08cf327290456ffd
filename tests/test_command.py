"""The command: bad input, closed pipes, interrupts, huge numbers."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import random
import shlex
import signal
import string
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import flag_budget
from tests import ROOT, complaint, error_of, run
from tests.texts import MARKS

COMMAND = [sys.executable, str(ROOT / "flag_budget.py")]


NUMBER = "expected a whole number from 1 to 10^18"
NAME = "expected letters, digits and _ . [ ] -, not starting with a dash"


class BadInput(unittest.TestCase):
    """Exit status 2, the usage, one line that says what is wrong."""

    def assert_error(self, args: list[str], expected: str) -> None:
        with self.subTest(args):
            self.assertEqual(complaint(*args), expected)

    def test_numbers(self) -> None:
        values = ["0", "-1", "x", "2.5", "", " 2", "+2", "1_0", "٣"]
        values += [str(10**18 + 1), "9" * 9999]
        for option in ("--depth", "--max-depth"):
            with self.subTest(option):
                for value in values:
                    self.assert_error(
                        [option, value], f"argument {option}: {value!r}: {NUMBER}"
                    )
                self.assert_error([option], f"argument {option}: expected one argument")
        self.assertEqual(run("--depth", "0000000000000000003"), run("--depth=3"))

    def test_options_that_exclude_each_other(self) -> None:
        for one, other in (
            ("--depth=3", "--max-depth=5"),
            ("--sync-point=a", "--read=x"),
            ("--summary", "--json"),
            ("--summary", "--map"),
            ("--map", "--json"),
        ):
            with self.subTest(one):
                names = one.partition("=")[0], other.partition("=")[0]
                self.assert_error(
                    [one, other],
                    f"argument {names[1]}: not allowed with argument {names[0]}",
                )

    def test_unknown(self) -> None:
        self.assert_error(["--dep", "3"], "unrecognized arguments: --dep 3")
        for args, unknown in (
            (["kernel.tir"], "kernel.tir"),
            (["--depth=3", "kernel.tir", "--json", "x"], "kernel.tir x"),
        ):
            with self.subTest(args):
                self.assert_error(
                    args,
                    f"unrecognized arguments: {unknown}; expected an option: --read kernel.tir"
                    " for a kernel that a compiler printed, @kernel.tir for a file of arguments",
                )

    def test_what_argparse_stumbles_over(self) -> None:
        options = (
            *("depth", "max-depth", "sync-point", "buffer", "memory", "sharing"),
            *("reserve", "read"),
        )
        for arg in (*(f"--{option}=--" for option in options), "-h="):
            with self.subTest(arg):
                expected = f"argument {arg!r}: expected another value"
                self.assert_error([arg], expected)
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder, "args")
                    path.write_text(arg, "utf-8")
                    self.assert_error([f"@{path}"], expected)
        for args in (["--depth", "--"], ["--summary=--"], ["-h=x"], ["--read=--="]):
            with self.subTest(args):
                self.assertIn("argument", complaint(*args))

    def test_sync_points(self) -> None:
        keys = "expected event=, versions=, max-versions=, cross-iter, share="
        event = (
            "expected cross-core, or PROD_CONS of two different pipes of"
            " FIX M MTE1 MTE2 MTE3 S V"
        )
        for text, expected in (
            ("a,colour=red", f"'colour=red': {keys}"),
            ("a,", f"'': {keys}"),
            ("a,event", f"'event': {keys}"),
            ("a,cross-iter=1", f"'cross-iter=1': {keys}"),
            ("a,cross_iter", f"'cross_iter': {keys}"),
            ("a,max_versions=1", f"'max_versions=1': {keys}"),
            ("a,name=b", f"'name=b': {keys}"),
            ("a,=", f"'=': {keys}"),
            ("a,share=g,share=g", "'share' is given twice"),
            (
                "a,cross-iter,cross-iter",
                "'cross-iter' is given twice",
            ),
            ("", f"name '': {NAME}"),
            ("-a", f"name '-a': {NAME}"),
            ("a b", f"name 'a b': {NAME}"),
            ("a\n", f"name 'a\\n': {NAME}"),
            ("加载", f"name '加载': {NAME}"),
            ("a,share=", f"share group '': {NAME}"),
            ("a,share=-", f"share group '-': {NAME}"),
            ("a,event=", f"event '': {event}"),
            ("a,event=MTE2", f"event 'MTE2': {event}"),
            ("a,event=MTE2_MTE4", f"event 'MTE2_MTE4': {event}"),
            ("a,event=V_V", f"event 'V_V': {event}"),
            ("a,event=MTE2_V_", f"event 'MTE2_V_': {event}"),
            ("a,event=mte2_v", f"event 'mte2_v': {event}"),
            ("a,versions=0", f"'versions=0': {NUMBER}"),
            ("a,versions=x", f"'versions=x': {NUMBER}"),
            ("a,versions=", f"'versions=': {NUMBER}"),
            ("a,max-versions=0", f"'max-versions=0': {NUMBER}"),
            (
                "a,max-versions=2,versions=1",
                "versions 1 and max_versions 2: expected one of them",
            ),
        ):
            with self.subTest(text):
                self.assert_error(
                    [f"--sync-point={text}"],
                    f"argument --sync-point: {text!r}: {expected}",
                )
        self.assert_error(
            ["--sync-point=a", "--sync-point=b", "--sync-point=a"],
            "'a' is given twice",
        )

    def test_odd_names_that_are_allowed(self) -> None:
        every = string.ascii_letters + string.digits + "_.[]-"
        for name in ("a", "0", "_", ".", "[", "]", "a-", "MTE2_V[5]", every):
            with self.subTest(name):
                self.assertEqual(
                    run("--depth=1", f"--sync-point={name}").status, 0, name
                )

    def test_every_event_of_two_pipes(self) -> None:
        pipes = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
        points = [
            f"--sync-point={producer}_{consumer},event={producer}_{consumer}"
            for producer in pipes
            for consumer in pipes
            if producer != consumer
        ]
        self.assertEqual(run("--depth=8", *points).out.count("fits in 8 slots"), 42)

    def test_sharing(self) -> None:
        for text in ("x", ""):
            with self.subTest(text):
                last = complaint(f"--sharing={text}").replace("'", "")
                self.assertEqual(
                    last,
                    f"argument --sharing: invalid choice: {text} (choose from always,"
                    " on-demand)",
                )

    def test_reserve(self) -> None:
        ids = "expected an id or a range of ids, as in 15 or 14,15 or 0-3,9"
        for part in ("x", "", "1-", "-1", "1-x", "1--2", "0x1", "1.5", " 4", "9-3"):
            for event in ("", "cross-core="):
                with self.subTest(part=part, event=event):
                    text = f"{event}3,{part}"
                    self.assert_error(
                        [f"--reserve={text}"],
                        f"argument --reserve: {text!r}: {part!r}: {ids}",
                    )
        ids = "expected an id or a range of ids from 0 to 7, as in 7 or 6,7 or 4-7"
        for part in ("8", "x", "", "1-8", "3-2"):
            with self.subTest(part):
                self.assert_error(
                    [f"--reserve=V_S={part}"],
                    f"argument --reserve: 'V_S={part}': {part!r}: {ids}",
                )
        event = (
            "expected cross-core, or PROD_CONS of two different pipes of"
            " FIX M MTE1 MTE2 MTE3 S V"
        )
        for text, name in (("V_V=1", "V_V"), ("=1", ""), ("a=b=1", "a=b")):
            with self.subTest(text):
                self.assert_error(
                    [f"--reserve={text}"],
                    f"argument --reserve: {text!r}: event {name!r}: {event}",
                )

    def test_reserve_ranges(self) -> None:
        for text, reserved in (
            ("0-3,9", "0, 1, 2, 3, 9"),
            ("15", "15"),
            ("31,16", "0, 15"),
            ("5-5", "5"),
            ("8,1", "1, 8"),
            ("14-17", "0, 1, 14, 15"),
            (f"1-{10**18}", ", ".join(map(str, range(16)))),
            ("1-15", ", ".join(map(str, range(1, 16)))),
            ("1-16", ", ".join(map(str, range(16)))),
        ):
            with self.subTest(text):
                out = run("--cross-core", "--depth=1", f"--reserve={text}").out
                self.assertIn(f"\nreserved : {reserved}\n", out)
        options = ("--reserve=3", "--reserve=4", "--reserve=cross-core=9,19")
        out = run("--cross-core", "--depth=1", *options).out
        self.assertIn("\nreserved : 3, 4, 9\n", out)
        points = ("--sync-point=a,event=V_S", "--sync-point=b,event=S_V")
        for text, reserved in (("7", "7"), ("0-7", "0, 1, 2, 3, 4, 5, 6, 7")):
            with self.subTest(text):
                out = run("--depth=1", *points, f"--reserve=S_V={text}").out
                self.assertIn(f"[S_V]\nblocks: b=1\nreserved : {reserved}\n", out)
                self.assertEqual(out.count("reserved"), 1)

    def test_lock_reserved(self) -> None:
        for text in ("33", "-1", "x", ""):
            with self.subTest(text):
                self.assert_error(
                    [f"--lock-reserved={text}"],
                    f"argument --lock-reserved: {text!r}: expected a whole number from 0 to"
                    " 32",
                )
        for text in ("0", "32"):
            with self.subTest(text):
                self.assertEqual(run("--lock-reserved", text).status, 0)

    def test_python_reservations(self) -> None:
        point = flag_budget.SyncPoint("a")
        event = (
            "expected Cube-Vector, or PROD_CONS of two different pipes of"
            " FIX M MTE1 MTE2 MTE3 S V"
        )
        for reserved, expected in (
            ({"V_S": [8]}, "reserved V_S id 8: expected a whole number from 0 to 7"),
            ({"V_S": [-1]}, "reserved V_S id -1: expected a whole number from 0 to 7"),
            ({"cross-core": [1]}, f"namespace 'cross-core': {event}"),
            ({None: [1]}, f"namespace None: {event}"),
        ):
            with self.subTest(reserved):
                self.assertEqual(
                    error_of(flag_budget.Kernel, [point], reserved=reserved), expected
                )
        kernel = flag_budget.Kernel([point], reserved={"V_S": [7, 7], "S_V": []})
        self.assertEqual(kernel.reserved, {"V_S": {7}})

    def test_python_declarations(self) -> None:
        point = flag_budget.SyncPoint("a")
        for declare, expected in (
            (lambda: flag_budget.Kernel([]), "no sync points: expected at least 1"),
            (
                lambda: flag_budget.Kernel([point, point]),
                "'a' is given twice",
            ),
            (
                lambda: flag_budget.Kernel([point], sharing="yes"),
                "sharing 'yes': expected one of ('always', 'on-demand')",
            ),
            (
                lambda: flag_budget.Kernel([point], lock_reserved=33),
                "lock_reserved 33: expected a whole number from 0 to 32",
            ),
            (
                lambda: flag_budget.Kernel([point], lock_reserved=-1),
                "lock_reserved -1: expected a whole number from 0 to 32",
            ),
            (
                lambda: flag_budget.SyncPoint("a", versions=0),
                f"versions 0: {NUMBER}",
            ),
            (
                lambda: flag_budget.SyncPoint("a", versions="2"),  # type: ignore
                f"versions '2': {NUMBER}",
            ),
            (
                lambda: flag_budget.SyncPoint("a", versions=2.0),  # type: ignore
                f"versions 2.0: {NUMBER}",
            ),
            (lambda: flag_budget.SyncPoint(5), f"name 5: {NAME}"),  # type: ignore
            (
                lambda: flag_budget.SyncPoint("a", 5),  # type: ignore
                "event 5: expected cross-core, or PROD_CONS of two different pipes of"
                " FIX M MTE1 MTE2 MTE3 S V",
            ),
            (
                lambda: flag_budget.Kernel([point], lock_reserved=1.5),  # type: ignore
                "lock_reserved 1.5: expected a whole number from 0 to 32",
            ),
            (
                lambda: flag_budget.plan(flag_budget.Kernel([point]), 10**18 + 1),
                f"depth {10**18 + 1}: {NUMBER}",
            ),
        ):
            with self.subTest(expected):
                self.assertEqual(error_of(declare), expected)


class Composition(unittest.TestCase):
    """Options that come together, as from several files."""

    maxDiff = None

    def test_the_last_value_counts(self) -> None:
        for options, last in (
            (("--depth=2", "--depth=3"), "--depth=3"),
            (("--max-depth=2", "--max-depth=1"), "--max-depth=1"),
            (("--lock-reserved=0", "--lock-reserved=7"), "--lock-reserved=7"),
            (("--sharing", "--sharing=on-demand"), "--sharing=on-demand"),
            (("--sharing=on-demand", "--sharing"), "--sharing=always"),
        ):
            with self.subTest(options):
                self.assertEqual(run(*options), run(last))
                self.assertEqual(run(last).status, 0)
        buffer = "--buffer=b,memory=ub,bytes=1K"
        self.assertEqual(
            run(buffer, "--memory=ub=192K", "--memory=l1=8K", "--memory=ub=190K"),
            run(buffer, "--memory=ub=190K"),
        )

    def test_a_chip_and_a_kernel(self) -> None:
        a2, vec_add = (
            f"@{ROOT}/tests/kernels/{name}.args" for name in ("a2", "vec_add")
        )
        self.assertEqual(run(a2, vec_add), run(vec_add))
        handshake = f"@{ROOT}/tests/kernels/handshake.args"
        out = run(a2, handshake, "--sharing", "always", "--depth=11").out
        self.assertIn("\nreserved : 11, 12, 13, 14, 15\n", out)
        self.assertIn("\n-> fits in 11 slots; no spill (0 slots spare)\n", out)
        buffer = "--buffer=b,memory=ub,bytes=96K"
        out = run(a2, vec_add, buffer, "--summary").out
        self.assertIn("\nmemory lasts to depth 2; depth 3 needs ub 288K/192K\n", out)

    def assert_notes(self, args: list[str], *notes: str) -> None:
        with self.subTest(args):
            status, _, err = run("--depth=1", *args)
            self.assertEqual(status, 0)
            self.assertEqual(err, "".join(f"note: {note}\n" for note in notes))

    def test_options_without_effect(self) -> None:
        read = ["--read", str(ROOT / "tests/compiled/axpy.d4.tir")]
        mixed = ["--read", str(ROOT / "tests/compiled/mixed.d4.tir")]
        one, two = "--sync-point=a,event=V_S", "--sync-point=b"
        group = ["--sync-point=a,event=V_S,share=g", "--sync-point=b,share=g"]
        reserve = (
            "--reserve IDS has no effect: no sync point is a cross-core flag; say"
            " --reserve MTE2_V=7 for an id of a hard_event"
        )
        for args, notes in (
            (["--reserve=15"], [reserve]),
            ([one, "--reserve=15", "--reserve=V_S=7"], [reserve]),
            ([*read, "--reserve=15"], [reserve]),
            ([*mixed, "--reserve=15"], []),
            (["--reserve=15", "--cross-core"], []),
            ([one, "--reserve=cross-core=15", "--reserve=S_V=7"], []),
            (
                [one, "--cross-core"],
                ["--cross-core has no effect: every sync point has an event"],
            ),
            ([one, two, "--cross-core"], []),
            ([*read, "--cross-core"], ["--cross-core has no effect beside --read"]),
            ([*read, "--sharing"], ["--sharing has no effect beside --read"]),
            (
                [*group, "--sharing"],
                [
                    "--sharing has no effect: no two sync points of a namespace share a"
                    " group"
                ],
            ),
            ([*group, "--sync-point=c,share=g", "--sharing"], []),
            (
                [two, "--sync-point=c", "--sharing"],
                [
                    "--sharing has no effect: no two sync points of a namespace share a"
                    " group"
                ],
            ),
            (["--sharing"], []),
            (group, ["without --sharing, share groups share no base id"]),
            ([one], []),
            ([], []),
        ):
            with self.subTest(args):
                self.assert_notes(args, *notes)


class RandomInput(unittest.TestCase):
    """Status 0 or 2, whatever comes."""

    def test_random_bytes(self) -> None:
        dice = random.Random(20)
        words = ["--depth", "--sync-point", "--reserve=", "--json", "@", "a,", "event="]
        for _ in range(1000):
            args = [
                dice.choice([*words, ""])
                + os.fsdecode(dice.randbytes(dice.randrange(5)))
                for _ in range(dice.randrange(4))
            ]
            with self.subTest(args):
                self.assertIn(run(*args).status, (0, 2))

    def test_random_options(self) -> None:
        dice = random.Random(21)
        for _ in range(1000):
            args = dice.choice([[], [f"--depth={dice.randrange(1, 40)}"]])
            for number in range(dice.randrange(6)):
                event = dice.choice(["", ",event=MTE2_V", ",event=cross-core"])
                width = dice.choice(["", f",versions={dice.randrange(1, 12)}"])
                share = dice.choice(["", ",share=g", ",share=h,cross-iter"])
                args.append(f"--sync-point=p{number}{event}{width}{share}")
            reserve = (
                f"{dice.randrange(40)},{dice.randrange(9)}-{9 + dice.randrange(9)}"
            )
            args += [f"--reserve={reserve}", "--sync-point=c,event=cross-core"]
            for option in (
                dice.choice(["--sharing", "--sharing=on-demand"]),
                "--cross-core",
                f"--buffer=b,memory=l1,bytes={dice.randrange(1, 300)}K",
                f"--lock-reserved={dice.randrange(33)}",
                dice.choice(["--json", "--summary"]),
            ):
                if dice.random() < 0.4:
                    args.append(option)
            dice.shuffle(args)
            with self.subTest(args):
                status, out, err = run(*args)
                self.assertEqual(status, 0)
                self.assertEqual(err.count("\n"), err.count("note: "))
                if "--json" in args:
                    json.loads(out)


class Help(unittest.TestCase):
    """--help and --version."""

    def test_help(self) -> None:
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("usage: "))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertEqual(run("-h"), (0, out, ""))

    def test_version(self) -> None:
        self.assertEqual(
            run("--version"),
            (0, "flag_budget 0.2.0, modelled on tilelang 0.1.15\n", ""),
        )
        project = (ROOT / "pyproject.toml").read_text("utf-8")
        self.assertIn(f'\nversion = "{flag_budget.__version__}"\n', project)


class Process(unittest.TestCase):
    """What needs a process of its own."""

    def test_import_has_no_side_effects(self) -> None:
        result = subprocess.run(
            [sys.executable, "-c", "import flag_budget"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        self.assertEqual((result.stdout, result.stderr), (b"", b""))

    def test_reader_that_leaves(self) -> None:
        command = subprocess.Popen(
            [*COMMAND, "--max-depth", str(10**18)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert command.stdout and command.stderr
        self.assertEqual(
            command.stdout.readline(), b"depth=1 num_versions per sync point = 1\n"
        )
        command.stdout.close()
        self.assertEqual(command.stderr.read(), b"")
        self.assertEqual(command.wait(), 1)
        command.stderr.close()

    @unittest.skipIf(os.name == "nt", "sends SIGINT")
    def test_interrupt(self) -> None:
        # A background job ignores the signal, and so would what it starts.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        command = subprocess.Popen(
            [*COMMAND, "--max-depth", str(10**18)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            assert command.stdout
            command.stdout.readline()  # it is running
            command.send_signal(signal.SIGINT)
            _, err = command.communicate(timeout=30)
        finally:
            command.kill()
        self.assertEqual((err, command.returncode), (b"", 130))

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk(self) -> None:
        buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        for args in ([], ["--help"]):
            with self.subTest(args):
                with open("/dev/full", "w") as full:
                    result = subprocess.run(
                        [*COMMAND, *args],
                        check=False,
                        stdout=full,
                        stderr=subprocess.PIPE,
                        env=buffered,
                    )
                self.assertEqual(result.returncode, 1)
                self.assertEqual(
                    result.stderr.decode("ascii"),
                    f"error: cannot write the output: {os.strerror(errno.ENOSPC)}\n",
                )

    @unittest.skipIf(os.name == "nt", "closes a descriptor")
    def test_stdout_that_is_closed(self) -> None:
        for args in ([], ["--json"]):
            with self.subTest(args):
                command = f"{shlex.join([*COMMAND, *args])} >&-"
                result = subprocess.run(
                    command, shell=True, check=False, stderr=subprocess.PIPE
                )
                self.assertEqual(result.returncode, 1)
                self.assertEqual(
                    result.stderr, b"error: cannot write the output: it is closed\n"
                )

    @unittest.skipIf(os.name == "nt", "sets a locale")
    def test_text_and_name_beyond_ascii_in_the_c_locale(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "\u52a0.tir")
            path.write_text(f'# \u52a0\nT.ascend_set_flag("V_S", 0){MARKS}', "utf-8")
            environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
            for encoding in ("ascii", "utf-8"):
                with self.subTest(encoding):
                    result = subprocess.run(
                        [*COMMAND, "--depth=4", "--read", f"4={path}"],
                        check=True,
                        capture_output=True,
                        env={**environment, "PYTHONIOENCODING": encoding},
                    )
                    shown = str(path).encode(encoding, "backslashreplace")
                    self.assertTrue(
                        result.stdout.startswith(b"read at depth 4: " + shown + b"\n")
                    )
                    self.assertEqual(result.stderr, b"")

    def test_stdout_that_is_none(self) -> None:
        err = io.StringIO()
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(err):
            self.assertEqual(flag_budget.main([]), 1)
        self.assertEqual(
            err.getvalue(), "error: cannot write the output: it is closed\n"
        )

    def test_bad_arguments_without_stdout(self) -> None:
        err = io.StringIO()
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(err):
            self.assertEqual(flag_budget.main(["--depth", "x"]), 2)
        self.assertEqual(err.getvalue().count("error"), 1)

    def test_stderr_that_cannot_be_written(self) -> None:
        out = mock.Mock(write=mock.Mock(side_effect=OSError(28, "full")))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.assertEqual(flag_budget.main([]), 1)

    def test_name_that_stdout_cannot_write(self) -> None:
        for encoding, shown in (
            ("ascii", rb"\xe9\u52a0.py"),
            ("utf-8", "\xe9\u52a0.py"),
        ):
            with self.subTest(encoding):
                out = io.TextIOWrapper(io.BytesIO(), encoding, newline="\n")
                tir = io.StringIO('T.ascend_set_flag("V_S", 0)' + MARKS)
                with contextlib.redirect_stdout(out):
                    with mock.patch("flag_budget.open", return_value=tir, create=True):
                        args = ["--read", "4=\xe9\u52a0.py", "--depth=4"]
                        self.assertEqual(flag_budget.main(args), 0)
                out.flush()
                assert isinstance(out.buffer, io.BytesIO)
                first = out.buffer.getvalue().split(b"\n")[0]
                shown = shown if isinstance(shown, bytes) else shown.encode(encoding)
                self.assertEqual(first, b"read at depth 4: " + shown)

    def test_name_that_would_break_the_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, os.fsdecode(b"a\nb\x1b\xff.tir"))
            path.write_text('T.ascend_set_flag("V_S", 0)' + MARKS, "ascii")
            out = run("--read", f"4={path}", "--depth=4").out
        self.assertTrue(
            out.startswith(f"read at depth 4: {folder}/a\\nb\\x1b\\udcff.tir\n"), out
        )

    def test_stdout_of_the_caller(self) -> None:
        for error, status in ((BrokenPipeError, 1), (KeyboardInterrupt, 130)):
            with self.subTest(error):
                out = mock.Mock(write=mock.Mock(side_effect=error))
                with contextlib.redirect_stdout(out):
                    self.assertEqual(flag_budget.main([]), status)


class HugeNumbers(unittest.TestCase):
    """No work grows with the depth."""

    def test_depth(self) -> None:
        for depth in (10**18 - 1, 10**18):
            for options in ([], ["--sharing"], ["--cross-core"]):
                with self.subTest(depth=depth, options=options):
                    status, out, err = run("--depth", str(depth), *options)
                    self.assertEqual((status, err), (0, ""))
                    self.assertIn(f"acquire_B lock {depth}", out)

    def test_versions(self) -> None:
        point = f"a,versions={10**18}"
        status, out, err = run("--sync-point", point, "--summary")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(
            f"flag slots are too few even at depth 1, which spills: ids {10**18}/8\n",
            out,
        )
