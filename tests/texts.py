"""TIR for the tests: what was recorded, and small texts made here."""

from __future__ import annotations

from pathlib import Path

from tests import ROOT

COMPILED = ROOT / "tests/compiled"
CASES = ROOT / "tests/cases"
EXPECTED_TIR = (
    "expected the TIR that tilelang's pass tl.InsertSync leaves, the file ending in"
    ' _tl.InsertSync.py that pass_configs={"tl.enable_dump_ir": True} writes;'
    " a kernel in another language is declared with --sync-point"
)
# What a text needs, besides flags, to be that of the right pass; at its end, where it
# moves no line.
MARKS = (
    '\nT.attr({}, "tl.ascend_task", 1); T.sblock_attr({"tl.buffer_alias_map": {}})\n'
)


def text_of(kernel: str, depth: object) -> Path:
    """The recorded text of a kernel at a depth."""
    return COMPILED / f"{kernel}.d{depth}.tir"


def set_flag(event_id: str, *loops: str) -> str:
    """A flag call in these loops, the outermost first."""
    lines = [f"for {loop}:" for loop in loops] + [
        f'T.ascend_set_flag("V_S", {event_id})'
    ]
    return "\n".join(" " * indent + line for indent, line in enumerate(lines))


def staged(count: int, variable: str = "s", more: str = "") -> str:
    """The head of a loop that prints num_stages, and more annotations."""
    stages = f'{{"num_stages": {count}{more}}}'
    return f"{variable} in T.serial(64, annotations={stages})"


def cross_core(*ids: str) -> str:
    """Flag calls with these cross-core ids."""
    return "\n".join(f'T.ascend_cross_core_set_flag(4, "PIPE_FIX", {i})' for i in ids)


def buffer(name: str, elements: int, versions: int = 1, scope: str = "shared") -> str:
    """The allocation of a buffer of float32, and its versions."""
    return (
        f'{name}_1 = T.sblock_alloc_buffer(({elements},), data={name}, scope="{scope}")\n'
        f'T.sblock_attr({{"tl.buffer_versions_map": {{{name}: {versions}}}}})'
    )
