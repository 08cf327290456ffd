"""Whole answers: every command in tests/answers prints what stands there, to the letter."""

from __future__ import annotations

import os
import re
import shlex
import unittest
from collections.abc import Iterator
from unittest import mock

from tests import ROOT, console_steps, run

README = (ROOT / "README.md").read_text("utf-8")
ANSWERS = ROOT / "tests/answers"
HELP = (ANSWERS / "help.txt").read_text("ascii")


def answers() -> Iterator[tuple[str, str]]:
    """The arguments of each command, and what it prints."""
    for path in sorted(ANSWERS.iterdir()):
        for command, printed in console_steps(path.read_text("ascii")):
            program, arguments = command.split(".py ", 1)
            assert program == "python3 flag_budget", command
            yield arguments, printed


class Answers(unittest.TestCase):
    """Run from the project's root."""

    maxDiff = None

    def test_every_answer(self) -> None:
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        commands = 0
        for arguments, printed in answers():
            if arguments == "--help":
                continue
            commands += 1
            with self.subTest(arguments):
                status, out, err = run(*shlex.split(arguments))
                self.assertEqual((status, err + out), (0, printed))
        self.assertGreater(commands, 15)

    def test_help(self) -> None:
        with mock.patch("sys.argv", ["flag_budget.py"]):
            status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        # Python 3.9 has another heading, 3.13 breaks the usage at other places.
        out = out.replace("\noptional arguments:\n", "\noptions:\n")
        usage, rest = out.split("\n\n", 1)
        _, expected = HELP.split("\n", 1)
        expected_usage, expected_rest = expected.split("\n\n", 1)
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
        found = re.findall(r"^\| .*\? \| `(.*)` \|$", README, re.MULTILINE)
        self.assertEqual(len(found), 5)
        shown = README[README.index("## A kernel from TileLang") :]
        for answer in found:
            self.assertIn(f"{answer}\n", shown)
