"""The tests: `python3 -m unittest` from the project's root.

answers   commands, and what they print, to the letter
cases     small TIR that is easy to get wrong
compiled  what tilelang printed for whole kernels, KERNEL.dDEPTH.tir
kernels   kernels that are declared by hand, and chips, as files of options
vectors   what the compiler's passes did, recorded by record_vectors.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import flag_budget

# They would colour what argparse prints, from Python 3.14 on.
for name in ("FORCE_COLOR", "PYTHON_COLORS"):
    os.environ.pop(name, None)

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


def document(*args: str) -> Any:
    """What --json prints; notes may be printed too."""
    status, out, err = run("--json", *args)
    assert status == 0, err
    return json.loads(out)


def complaint(*args: str) -> str:
    """What the command says is wrong with these arguments, behind the usage."""
    status, out, err = run(*args)
    assert (status, out) == (2, ""), (status, out, err)
    usage, _, last = err.rpartition("error: ")
    assert usage.startswith("usage: ") and "error" not in usage, err
    assert last.endswith("\n") and last.count("\n") == 1, err
    return last[:-1]


def error_of(call: Callable[..., object], *args: Any, **options: Any) -> str:
    """What the ValueError of a call says."""
    try:
        call(*args, **options)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"no ValueError of {args}, {options}")


def console_steps(text: str) -> list[tuple[str, str]]:
    """The commands after each "$ ", and the lines that follow them."""
    steps = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(step.partition("\n")[0], step.partition("\n")[2]) for step in steps]


def as_recorded(depth: dict[str, Any]) -> dict[str, Any]:
    """A depth of the JSON document, in the form of tests/vectors/kernels.json."""
    if depth["error"] is not None:
        return {"lock_slots_needed": depth["lock_pool"]["used"]}
    flags: dict[str, list[list[int]]] = {}
    locks: list[list[int]] = []
    for namespace in depth["namespaces"]:
        flags[namespace["name"]] = []
        for point in namespace["sync_points"]:
            kept = point["placement"] == "flag"
            rings = flags[namespace["name"]] if kept else locks
            ring = [point["base"], point["num_versions"]]
            if ring not in rings:  # sync points on one base are one ring
                rings.append(ring)
    return {"flags": flags, "locks": locks}
