"""README and the docstrings say what is so; the module is what it says it is."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
import unittest
from typing import Any

import flag_budget
from tests import ROOT, console_steps, run

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
                        encoding="utf-8",
                    )
                    self.assertEqual(result.stdout, shown)
        self.assertEqual(commands, README.count("\n$ "))

    def test_document(self) -> None:
        (block,) = re.findall(r"^```json\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
        (args,) = re.findall(r"`(--read \S+ --depth \d+ --json)`", README)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        self.check_document(json.loads(run(*args.split()).out), json.loads(block))

    def check_document(self, real: Any, shown: Any) -> None:
        """Everything shown is in the document, whose lists are longer."""
        if isinstance(shown, dict):
            self.assertEqual([*shown], [*real])
            for key, value in shown.items():
                self.check_document(real[key], value)
        elif isinstance(shown, list):
            self.assertEqual(bool(shown), bool(real))
            for value, real_value in zip(shown, real):
                self.check_document(real_value, value)
        else:
            self.assertEqual(shown, real)

    def test_recipe_is_python_of_the_recorded_kernel(self) -> None:
        recipe, chinese = re.findall(
            r"^```python\n(import os.*?)^```", README, re.MULTILINE | re.DOTALL
        )
        loops = [ast.unparse(ast.parse(block).body[-1]) for block in (recipe, chinese)]
        self.assertEqual(*loops)
        recorded = (ROOT / "tests/recorded_kernels.py").read_text("utf-8")
        kernel, two_consumers = (
            ast.unparse(node.body[-2])
            for text, name in ((recipe, "kernel"), (recorded, "two_consumers"))
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef) and node.name == name
        )
        self.assertEqual(kernel, two_consumers)

    def test_chinese_punctuation(self) -> None:
        chinese = re.sub(r"```.*?```|`[^`]*`|\(#.*?\)", "", README, flags=re.DOTALL)
        chinese = chinese[chinese.index("## 中文") :]
        self.assertNotIn("内核", chinese)
        self.assertEqual(re.findall(r"[,;:?!()]", chinese), [])

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

    def test_everything_can_be_imported(self) -> None:
        for name in flag_budget.__all__:  # what `import *` looks for
            self.assertTrue(hasattr(flag_budget, name), name)

    def test_installed_command_is_main(self) -> None:
        project = (ROOT / "pyproject.toml").read_text("utf-8")
        self.assertIn('\nflag-budget = "flag_budget:main"\n', project)
        self.assertIn("\ndependencies = []\n", project)
