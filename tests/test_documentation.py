"""README and the docstrings say what is so; the module is what it says it is."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
import unittest

import flag_budget
from tests import ROOT, console_steps

README = (ROOT / "README.md").read_text("utf-8")
SOURCE = (ROOT / "flag_budget.py").read_text("utf-8")


def load_tests(
    loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None
) -> unittest.TestSuite:
    """Add the examples in the docstrings and the Python examples in README."""
    tests.addTests(doctest.DocTestSuite(flag_budget))
    readme = str(ROOT / "README.md")
    tests.addTests(
        doctest.DocFileSuite(readme, module_relative=False, encoding="utf-8")
    )
    return tests


class Readme(unittest.TestCase):
    """Every console command that README shows, executed."""

    maxDiff = None

    def test_console_commands(self) -> None:
        commands = 0
        for block in re.findall(
            r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL
        ):
            for command, shown in console_steps(block):
                commands += 1
                if command == "python3 -m unittest":
                    continue  # this very run
                with self.subTest(command):
                    result = subprocess.run(
                        re.sub(r"\bpython3\b", f'"{sys.executable}"', command),
                        check=False,
                        shell=True,
                        cwd=ROOT,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        encoding="ascii",
                    )
                    self.assertEqual(result.stdout, shown)
        self.assertEqual(commands, README.count("\n$ "))

    def test_ci_runs_what_readme_says(self) -> None:
        command = (ROOT / ".ci/run").read_text("ascii").splitlines()[-1]
        self.assertIn(f"\n$ {command.removeprefix('exec ')}\n", README)


class Module(unittest.TestCase):
    """flag_budget.py itself."""

    def test_parses_as_python_3_9(self) -> None:
        ast.parse(SOURCE, feature_version=(3, 9))

    @unittest.skipUnless(hasattr(sys, "stdlib_module_names"), "Python 3.10 knows them")
    def test_imports_only_the_standard_library(self) -> None:
        imported = set()
        for node in ast.walk(ast.parse(SOURCE)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
        self.assertLessEqual(imported, sys.stdlib_module_names)

    def test_public_names(self) -> None:
        names = flag_budget.__all__
        for name, value in vars(flag_budget).items():
            if getattr(value, "__module__", None) == "flag_budget" and name[0] != "_":
                self.assertIn(name, names)
                self.assertTrue(value.__doc__, name)

    def test_installed_command_is_main(self) -> None:
        project = (ROOT / "pyproject.toml").read_text("utf-8")
        self.assertIn('\nflag-budget = "flag_budget:main"\n', project)
        self.assertIn("\ndependencies = []\n", project)
