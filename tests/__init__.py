"""The tests: `python3 -m unittest` from the project's root."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

import flag_budget

ROOT = Path(flag_budget.__file__).resolve().parent


class Result(NamedTuple):
    """What one run of the command left behind."""

    status: int
    out: str
    err: str


def run(*args: str) -> Result:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = flag_budget.main(args)
    return Result(status, out.getvalue(), err.getvalue())
