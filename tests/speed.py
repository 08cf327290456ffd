"""How fast: run by hand, `python3 tests/speed.py`, from the project's root.

Prints ratios, since a time means nothing without another one beside it: the
whole command, without and with arguments, over the import of argparse alone, and
planning ten times the sync points, with and without sharing.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from flag_budget import Kernel, SyncPoint, plan

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


if __name__ == "__main__":
    main()
