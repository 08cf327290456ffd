"""How fast: run by hand, `python3 tests/speed.py`, from the project's root.

Prints ratios, since a time means nothing without another one beside it: the
whole command, without and with arguments, over the import of argparse alone
(without: at most 1.25), and planning a million sync points in one namespace
over planning 100,000 (at most 12), with and without sharing.
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
PLAN_RUNS = 5


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
    base, whole, with_arguments = median_seconds(
        [
            process("-c", "import argparse"),
            process("flag_budget.py"),
            process("flag_budget.py", "@tests/kernels/vec_add.args"),
        ],
        PROCESS_RUNS,
    )
    print(f"import argparse {base * 1000:.1f} ms, flag_budget.py {whole * 1000:.1f} ms")
    print(f"ratio {whole / base:.3f}, at most 1.25")
    print(f"ratio with a kernel from a file {with_arguments / base:.3f}")
    for sharing in (None, "on-demand"):
        once, ten_times = median_seconds(
            [planning(100_000, sharing), planning(1_000_000, sharing)], PLAN_RUNS
        )
        print(
            f"100,000 sync points {once:.3f} s, 1,000,000 sync points {ten_times:.3f} s"
        )
        print(f"ratio {ten_times / once:.1f}, at most 12")


if __name__ == "__main__":
    main()
