"""How fast: run by hand, `python3 tests/speed.py`, from the project's root.

Prints ratios, since a time means nothing without another one beside it: the
whole command, without and with arguments, over the import of argparse alone;
planning ten times the sync points, with and without sharing; and reading 1 MB of
TIR over parsing it alone.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from flag_budget import Kernel, SyncPoint, plan, read_kernel

PROCESS_RUNS = 41
PLAN_RUNS = 9


def median_seconds(works: list[Callable[[], object]], runs: int) -> list[float]:
    """The median time of each piece of work, all of them side by side."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, times in zip(works, seconds):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in seconds]


def process(*args: str) -> Callable[[], object]:
    """Running Python with these arguments."""
    command = [sys.executable, *args]
    return lambda: subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)


def planning(count: int, sharing: str | None) -> Callable[[], object]:
    """Planning count sync points in one namespace, half of them in pairs."""
    points = tuple(
        SyncPoint(f"p{number}", share=f"g{number // 4}" if number % 4 < 2 else None)
        for number in range(count)
    )
    kernel = Kernel(points, sharing=sharing)
    return lambda: plan(kernel, 1)


def megabyte_of_tir() -> str:
    """A recorded text, with its statements again and again."""
    text = (ROOT / "tests/compiled/flash_fwd.d4.tir").read_text("ascii")
    statements = text[text.index("                with T.attr(") :]
    return text + statements * ((1_000_000 - len(text)) // len(statements) + 1)


def main() -> None:
    """Measure and print."""
    base, *whole = median_seconds(
        [
            process("-c", "import argparse"),
            process("flag_budget.py"),
            process("flag_budget.py", "@tests/kernels/vec_add.args"),
        ],
        PROCESS_RUNS,
    )
    for what, seconds in zip(("no arguments", "a kernel from a file"), whole):
        print(
            f"{what}: {seconds / base:.2f} times import argparse; at most 3.0 on a"
            " Python with nothing installed, and 2.0 on one that is slow to start"
        )
    for sharing in (None, "on-demand"):
        for count, most in ((1_000, 12), (10_000, 20)):
            once, ten_times = median_seconds(
                [planning(count, sharing), planning(10 * count, sharing)], PLAN_RUNS
            )
            print(
                f"sharing {sharing}: {10 * count:,} sync points take"
                f" {ten_times / once:.1f} times {count:,}; at most {most}"
            )
    text = megabyte_of_tir()
    parsing, reading = median_seconds(
        [lambda: ast.parse(text), lambda: read_kernel(text, 4)], PLAN_RUNS
    )
    print(
        f"{len(text):,} characters of TIR are read in {reading / parsing:.1f} times what"
        f" parsing takes: {reading:.1f} s; at most 3 s"
    )


if __name__ == "__main__":
    main()
