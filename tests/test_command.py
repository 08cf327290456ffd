"""The command: bad input, closed pipes, interrupts, huge numbers."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import random
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
        ):
            names = one.partition("=")[0], other.partition("=")[0]
            self.assert_error(
                [one, other],
                f"argument {names[1]}: not allowed with argument {names[0]}",
            )

    def test_one_value(self) -> None:
        for option, values in (
            ("--depth", "3 and 4"),
            ("--max-depth", "3 and 4"),
            ("--lock-reserved", "3 and 4"),
        ):
            self.assert_error(
                [option, "3", option, "4"],
                f"argument {option}: {values}: expected one value",
            )
        self.assert_error(
            ["--lock-reserved=0", "--lock-reserved=0"],
            "argument --lock-reserved: 0 and 0: expected one value",
        )
        self.assert_error(
            ["--sharing", "--sharing=on-demand"],
            "argument --sharing: 'always' and 'on-demand': expected one value",
        )

    def test_unknown(self) -> None:
        self.assert_error(["--dep", "3"], "unrecognized arguments: --dep 3")
        for args, unknown in (
            (["kernel.tir"], "kernel.tir"),
            (["--depth=3", "kernel.tir", "--json", "x"], "kernel.tir x"),
        ):
            self.assert_error(
                args,
                f"unrecognized arguments: {unknown}; expected an option: --read kernel.tir"
                " for a kernel that a compiler printed, @kernel.tir for a file of arguments",
            )

    def test_what_argparse_stumbles_over(self) -> None:
        for option in ("--depth", "--sync-point", "--sharing", "--reserve", "--read"):
            expected = f"argument {option}: '--': expected another value"
            self.assert_error([f"{option}=--"], expected)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "args")
                path.write_text(f"{option}=--", "utf-8")
                self.assert_error([f"@{path}"], expected)
        self.assert_error(["-h="], "argument -h: '': expected another value")

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
            ("a,share=g,share=g", "key 'share' twice: expected every key once"),
            (
                "a,cross-iter,cross-iter",
                "key 'cross-iter' twice: expected every key once",
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
            self.assert_error(
                [f"--sync-point={text}"], f"argument --sync-point: {text!r}: {expected}"
            )
        self.assert_error(
            ["--sync-point=a", "--sync-point=b", "--sync-point=a"],
            "name 'a' twice: expected every name once",
        )

    def test_odd_names_that_are_allowed(self) -> None:
        every = string.ascii_letters + string.digits + "_.[]-"
        for name in ("a", "0", "_", ".", "[", "]", "a-", "MTE2_V[5]", every):
            self.assertEqual(run("--depth=1", f"--sync-point={name}").status, 0, name)

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
            last = complaint(f"--sharing={text}").replace("'", "")
            self.assertEqual(
                last,
                f"argument --sharing: invalid choice: {text} (choose from always,"
                " on-demand)",
            )

    def test_reserve(self) -> None:
        ids = "expected an id or a range of ids, as in 15 or 14,15 or 0-3,9"
        for part in ("x", "", "1-", "-1", "1-x", "1--2", "0x1", "1.5", " 4", "9-3"):
            self.assert_error(
                [f"--reserve=3,{part}"],
                f"argument --reserve: '3,{part}': {part!r}: {ids}",
            )
        self.assert_error(
            ["--reserve=1,3-5", "--sync-point=a,event=MTE2_V"],
            "argument --reserve: 1, 3, 4, 5: expected a sync point that is a cross-core"
            " flag",
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
            out = run("--cross-core", "--depth=1", f"--reserve={text}").out
            self.assertIn(f"\nreserved : {reserved}\n", out)
        twice = run("--cross-core", "--depth=1", "--reserve=3", "--reserve=4").out
        self.assertIn("\nreserved : 3, 4\n", twice)

    def test_lock_reserved(self) -> None:
        for text in ("33", "-1", "x", ""):
            self.assert_error(
                [f"--lock-reserved={text}"],
                f"argument --lock-reserved: {text!r}: expected a whole number from 0 to"
                " 32",
            )
        for text in ("0", "32"):
            self.assertEqual(run("--lock-reserved", text).status, 0)

    def test_share_groups_without_sharing(self) -> None:
        points = ["--depth=1", "--sync-point=a,share=g", "--sync-point=b"]
        note = "note: without --sharing, share groups share no base id\n"
        self.assertEqual(run(*points).err, note)
        self.assertEqual(run(*points).status, 0)
        self.assertEqual(run(*points, "--sharing").err, "")
        self.assertEqual(run("--depth=1", "--sync-point=b").err, "")

    def test_python_declarations(self) -> None:
        point = flag_budget.SyncPoint("a")
        for declare, expected in (
            (lambda: flag_budget.Kernel([]), "no sync points: expected at least 1"),
            (
                lambda: flag_budget.Kernel([point, point]),
                "name 'a' twice: expected every name once",
            ),
            (
                lambda: flag_budget.Kernel([point], sharing="yes"),
                "sharing 'yes': expected one of ('always', 'on-demand')",
            ),
            (
                lambda: flag_budget.Kernel([point], lock_reserved=33),
                "lock_reserved 33: expected 0 to 32",
            ),
            (
                lambda: flag_budget.Kernel([point], lock_reserved=-1),
                "lock_reserved -1: expected 0 to 32",
            ),
            (
                lambda: flag_budget.SyncPoint("a", versions=0),
                f"versions 0: {NUMBER}",
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
                "lock_reserved 1.5: expected 0 to 32",
            ),
            (
                lambda: flag_budget.plan(flag_budget.Kernel([point]), 10**18 + 1),
                f"depth {10**18 + 1}: {NUMBER}",
            ),
        ):
            self.assertEqual(error_of(declare), expected)


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
                self.assertIn(
                    err,
                    ("", "note: without --sharing, share groups share no base id\n"),
                )
                if "--json" in args:
                    json.loads(out)


class Help(unittest.TestCase):
    """--help."""

    def test_help(self) -> None:
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("usage: "))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)


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
        out, err = io.TextIOWrapper(io.BytesIO(), "ascii"), io.StringIO()
        tir = io.StringIO('T.ascend_set_flag("V_S", 0)')
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            with mock.patch("flag_budget.open", return_value=tir, create=True):
                self.assertEqual(flag_budget.main(["--read", "4=\xe9.py"]), 1)
        self.assertEqual(
            err.getvalue(),
            "error: cannot write the output: 'ascii' codec can't encode character"
            " '\\xe9' in position 17: ordinal not in range(128)\n",
        )

    def test_stdout_of_the_caller(self) -> None:
        for error, status in ((BrokenPipeError, 1), (KeyboardInterrupt, 130)):
            out = mock.Mock(write=mock.Mock(side_effect=error))
            with contextlib.redirect_stdout(out):
                self.assertEqual(flag_budget.main([]), status)


class HugeNumbers(unittest.TestCase):
    """No work grows with the depth."""

    def test_depth(self) -> None:
        for depth in (10**18 - 1, 10**18):
            for options in ([], ["--sharing"], ["--cross-core"]):
                status, out, err = run("--depth", str(depth), *options)
                self.assertEqual((status, err), (0, ""))
                self.assertIn(f"acquire_B lock {depth}", out)

    def test_versions(self) -> None:
        point = f"a,versions={10**18}"
        status, out, err = run("--sync-point", point, "--summary")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(
            f"do not last to any depth; depth 1 already spills: ids {10**18}/8", out
        )
