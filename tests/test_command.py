"""The command: bad input, closed pipes, interrupts, huge numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import unittest

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
            for value in ("0", "-1", "x", "2.5", "", " 2", "+2", "1_0", "٣", "9" * 101):
                self.assert_error(
                    [option, value],
                    f"argument {option}: invalid value '{value}'",
                    "expected a whole number, at least 1 and at most 100 digits long",
                )
            self.assert_error([option], f"argument {option}", "expected one argument")

    def test_depth_and_max_depth(self) -> None:
        self.assert_error(
            ["--depth", "3", "--max-depth", "5"], "--max-depth", "5", "--depth 3"
        )

    def test_unknown(self) -> None:
        self.assert_error(["--dep", "3"], "unrecognized arguments: --dep 3")
        self.assert_error(["3"], "unrecognized arguments: 3")


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
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                COMMAND, check=False, stdout=full, stderr=subprocess.PIPE
            )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rb"^error: cannot write the output: .*\n$")

    def test_no_stdout_at_all(self) -> None:
        code = (
            "import sys, flag_budget; sys.stdout = None; sys.exit(flag_budget.main([]))"
        )
        result = subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        self.assertEqual((result.returncode, result.stderr), (0, b""))


class HugeNumbers(unittest.TestCase):
    """No work grows with the depth."""

    def test_depth(self) -> None:
        for depth in (10**18, 10**100 - 1):
            for options in ([], ["--sharing"], ["--cross-core"]):
                status, out, err = run("--depth", str(depth), *options)
                self.assertEqual((status, err), (0, ""))
                self.assertIn(f"acquire_B lock {depth}", out)


if __name__ == "__main__":
    unittest.main()
