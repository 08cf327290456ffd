"""The command: bad input, closed pipes, interrupts, huge numbers."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import unittest
from unittest import mock

import flag_budget
from tests import ROOT, run

COMMAND = [sys.executable, str(ROOT / "flag_budget.py")]


class BadInput(unittest.TestCase):
    """Exit status 2, the usage, one line that says what is wrong."""

    def assert_error(self, args: list[str], *parts: str) -> None:
        with self.subTest(args):
            status, out, err = run(*args)
            self.assertEqual((status, out), (2, ""))
            self.assertTrue(err.startswith("usage: "), err)
            *_, last = err.splitlines()
            self.assertIn("error: ", last)
            self.assertEqual(err.count("error"), 1)
            for part in parts:
                self.assertIn(part, last)

    def test_numbers(self) -> None:
        for option in ("--depth", "--max-depth"):
            for value in (
                "0",
                "-1",
                "x",
                "2.5",
                "",
                " 2",
                "+2",
                "1_0",
                "٣",
                "9" * 9999,
            ):
                self.assert_error(
                    [option, value],
                    f"argument {option}: invalid value '{value}'",
                    "expected a whole number from 1 to 10^18",
                )
            self.assert_error([option], f"argument {option}", "expected one argument")

    def test_depth_and_max_depth(self) -> None:
        self.assert_error(
            ["--depth", "3", "--max-depth", "5"],
            "argument --max-depth: not allowed with argument --depth",
        )

    def test_unknown(self) -> None:
        self.assert_error(["--dep", "3"], "unrecognized arguments: --dep 3")
        self.assert_error(["3"], "unrecognized arguments: 3")

    def test_two_dashes_are_no_value(self) -> None:
        for option in ("--depth", "--sync-point", "--sharing", "--reserve"):
            self.assert_error([f"{option}=--"], f"argument {option}: invalid", "'--'")
        self.assert_error(["-h="], "argument -h: invalid value ''")

    def test_sync_points(self) -> None:
        keys = (
            "expected event=PROD_CONS, versions=N, max-versions=N, cross-iter or"
            " share=GROUP"
        )
        name = "expected letters, digits and _ . [ ] -, not starting with a dash"
        event = (
            "expected cross-core, or PROD_CONS of two different pipes of"
            " FIX M MTE1 MTE2 MTE3 S V"
        )
        number = "expected a whole number from 1 to 10^18"
        for text, *parts in (
            ("a,colour=red", "'a,colour=red': 'colour=red': ", keys),
            ("a,", "'a,': '': ", keys),
            ("a,event", "'a,event': 'event': ", keys),
            ("a,cross-iter=1", "'cross-iter=1'", keys),
            ("a,=", "'='", keys),
            ("a,share=g,share=g", "key 'share' twice", "'a,share=g,share=g'"),
            ("a,cross-iter,cross-iter", "key 'cross-iter' twice"),
            ("", "name ''", name),
            ("-a", "name '-a'", name),
            ("a b", "name 'a b'", name),
            ("a\n", "name 'a\\n'", name),
            ("加载", "name '加载'", name),
            ("a,share=", "share group ''", name),
            ("a,share=-", "share group '-'", name),
            ("a,event=", "event ''", event),
            ("a,event=MTE2", "event 'MTE2'", event),
            ("a,event=MTE2_MTE4", "event 'MTE2_MTE4'", event),
            ("a,event=V_V", "event 'V_V'", event),
            ("a,event=MTE2_V_", "event 'MTE2_V_'", event),
            ("a,event=mte2_v", "event 'mte2_v'", event),
            ("a,versions=0", "invalid value '0'", number),
            ("a,versions=x", "invalid value 'x'", number),
            ("a,versions=", "invalid value ''", number),
            ("a,max-versions=0", "invalid value '0'", number),
            ("a,max_versions=1", "'max_versions=1'", keys),
        ):
            self.assert_error(
                [f"--sync-point={text}"], f"--sync-point: {text!r}: ", *parts
            )
        self.assert_error(
            ["--sync-point=a", "--sync-point=b", "--sync-point=a"],
            "name 'a' twice: expected every name once",
        )

    def test_odd_names_that_are_allowed(self) -> None:
        for name in ("a", "0", "_", ".", "[", "]", "a-", "MTE2_V[5]"):
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
        self.assert_error(["--sharing=x"], "--sharing", "'x'", "always", "on-demand")
        self.assert_error(["--sharing="], "--sharing", "''", "always", "on-demand")

    def test_reserve(self) -> None:
        allowed = "expected an id or a range of ids, as in 15 or 14,15 or 0-3,9"
        for text in ("x", "", "1-", "-1", "1-x", "1--2", "0x1", "1.5", str(10**18 + 1)):
            self.assert_error(
                [f"--reserve=3,{text}"],
                f"--reserve: invalid value {text!r} in '3,{text}': ",
                allowed,
            )
        self.assert_error(["--reserve=1,9-3"], "range '9-3' is reversed", "LOW-HIGH")

    def test_reserve_ranges(self) -> None:
        for text, reserved in (
            ("0-3,9", "0, 1, 2, 3, 9"),
            ("15", "15"),
            ("31,16", "0, 15"),
            ("5-5", "5"),
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
                f"--lock-reserved: invalid value '{text}': expected a whole number"
                " from 0 to 32",
            )
        for text in ("0", "32"):
            self.assertEqual(run("--lock-reserved", text).status, 0)

    def test_python_declarations(self) -> None:
        point = flag_budget.SyncPoint("a")
        for kernel, complaint in (
            (lambda: flag_budget.Kernel([]), "no sync points"),
            (lambda: flag_budget.Kernel([point, point]), "name 'a' twice"),
            (lambda: flag_budget.Kernel([point], sharing="yes"), "sharing 'yes'"),
            (lambda: flag_budget.Kernel([point], lock_reserved=33), "lock_reserved 33"),
            (lambda: flag_budget.Kernel([point], lock_reserved=-1), "lock_reserved -1"),
            (lambda: flag_budget.SyncPoint("a", versions=0), "versions 0"),
        ):
            with self.assertRaisesRegex(ValueError, complaint):
                kernel()


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
            for option in (
                "--sharing",
                "--sharing=on-demand",
                "--cross-core",
                f"--reserve={dice.randrange(40)},{dice.randrange(9)}-{9 + dice.randrange(9)}",
                f"--lock-reserved={dice.randrange(33)}",
                "--json",
            ):
                if dice.random() < 0.4:
                    args.append(option)
            dice.shuffle(args)
            with self.subTest(args):
                status, out, err = run(*args)
                self.assertEqual((status, err), (0, ""))
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
        with subprocess.Popen(
            [*COMMAND, "--max-depth", str(10**18)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as command:
            assert command.stdout and command.stderr
            command.stdout.readline()  # it is running
            command.send_signal(signal.SIGINT)
            _, err = command.communicate()
            self.assertEqual(err, b"")
            self.assertEqual(command.returncode, 130)

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
            self.assertRegex(result.stderr, rb"^error: cannot write the output: .*\n$")

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
