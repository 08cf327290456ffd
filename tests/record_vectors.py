"""Record what tilelang 0.1.15 itself does, as test vectors.

Run by hand where tilelang==0.1.15 is installed, never by the tests:

    python3 tests/record_vectors.py all

writes every file of vectors under tests/vectors and every text that the
compiler prints under tests/compiled, at the places where the tests read them.
So a new release is looked at with that, then `git diff`, then
`python3 -m unittest`.  One at a time, to the standard output:

    python3 tests/record_vectors.py layouts           # rewrite_flag_to_buf.json
    python3 tests/record_vectors.py memories          # merge_ub_allocations.json
    python3 tests/record_vectors.py kernels           # kernels.json
    python3 tests/record_vectors.py sharing           # sharing.json
    python3 tests/record_vectors.py compiled_kernels  # compiled_kernels.json

and the texts alone, to a directory that is there:

    python3 tests/record_vectors.py compiled DIRECTORY

The kernels are in recorded_kernels.py.  compiled_kernels.json says of each, at
each depth, what the compiler allots: flags before RewriteFlagToBuf, flags and
locks after it, the bytes of each memory after MergeUBAllocations; and what stops
it, if anything does.  The texts are what it prints after InsertSync, at
the depths that come so far; of two_launches one is enough.

merge_ub_allocations.json has memories by themselves: their buffers in bytes, in
the order of the text, the pairs of them that may share an address, by index,
and the bytes that MergeUBAllocations allots to all of them.

To check the model on layouts or memories that nobody has seen yet, say a random
seed, `layouts 1` or `memories 1`, put that in the place of the file, run
`python3 -m unittest`, and put the old file back.

The wheel carries the Ascend passes and runs them on a CPU.  Importing it
pulls in torch; `pip install --no-deps tilelang==0.1.15` and then whatever the
import asks for takes less room.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import tilelang
from recorded_kernels import (
    KERNELS,
    axpy,
    handshake,
    one_input_kept,
    two_consumers,
    two_launches,
)
from tilelang import tvm
from tilelang.ascend import pipeline, transform
from tvm import tirx
from tvm.tirx import functor

VERSION = f"tilelang {tilelang.__version__}"
CASES = 400
DEPTHS = range(1, 11)
TESTS = Path(__file__).resolve().parent
VECTORS = TESTS / "vectors"
LAYOUTS = "rewrite_flag_to_buf.json"
MERGED_MEMORIES = "merge_ub_allocations.json"

EVENTS = [
    "MTE2_V",
    "V_MTE2",
    "V_MTE3",
    "MTE3_V",
    "MTE1_MTE2",
    "MTE2_MTE1",
    "MTE1_M",
    "M_MTE1",
    "M_FIX",
    "FIX_M",
]
SET_FLAG, WAIT_FLAG = "tl.ascend_set_flag", "tl.ascend_wait_flag"
CROSS_SET_FLAG = "tl.ascend_cross_core_set_flag"
CROSS_WAIT_FLAG = "tl.ascend_cross_core_wait_flag"
GET_BUF, GEMM_L1 = "tl.ascend_get_buf", "tl.ascend_gemm_l1"
INSERT_SYNC, REWRITE_FLAG_TO_BUF = "tl.InsertSync", "tl.RewriteFlagToBuf"
MERGE_UB_ALLOCATIONS = "tl.MergeUBAllocations"
BUFFER_ALIAS_MAP = "tl.buffer_alias_map"
MEMORIES = {
    "shared": "ub",
    "shared.l1": "l1",
    "shared.l0a": "l0a",
    "shared.l0b": "l0b",
    "shared.l0c": "l0c",
}
TEXT_DEPTHS = {two_launches: [4]}  # of the others, all
GEMM_L1_LOCKS = 2
CROSS_CORE_IDS = 16  # the cube addresses the second vector core's ids past them
ITERATIONS = 64  # more than any ring is wide
MOST_BUFFERS = 9


class Ids(NamedTuple):
    """The ids that one intrinsic uses: its hard_event or pipe, lowest, highest."""

    intrinsic: str
    where: str
    low: int
    high: int


@functor.visitor
class IdVisitor(functor.PyStmtExprVisitor):
    """Bounds ids by the loops, threads and conditions that they stand in, which is
    how RewriteFlagToBuf does it; visits a call as often as the program holds it."""

    def __init__(self) -> None:
        """Know nothing, find nothing."""
        super().__init__()
        self.analyzer = tvm.arith.Analyzer()
        self.found: list[Ids] = []

    def visit_attr_stmt_(self, op: Any) -> None:
        if isinstance(op.node, tirx.IterVar):
            threads = tvm.ir.Range.from_min_extent(0, op.value)
            self.analyzer.bind(op.node.var, threads, allow_override=True)
        self.visit_stmt(op.body)

    def visit_for_(self, op: Any) -> None:
        loop = tvm.ir.Range.from_min_extent(op.min, op.extent)
        self.analyzer.bind(op.loop_var, loop, allow_override=True)
        self.visit_stmt(op.body)

    def visit_if_then_else_(self, op: Any) -> None:
        with self.analyzer.constraint_scope(op.condition):
            self.visit_stmt(op.then_case)
        if op.else_case is not None:
            with self.analyzer.constraint_scope(tirx.Not(op.condition)):
                self.visit_stmt(op.else_case)

    def visit_evaluate_(self, op: Any) -> None:
        call = op.value
        if not isinstance(call, tirx.Call) or not isinstance(call.op, tvm.ir.Op):
            return
        name = call.op.name
        where = ""
        if name in {SET_FLAG, WAIT_FLAG, GET_BUF}:
            where, id_ = str(call.args[0].value), call.args[1]
        elif name in {CROSS_SET_FLAG, CROSS_WAIT_FLAG}:
            where, id_ = str(call.args[1].value), call.args[2]
        elif name == GEMM_L1:
            id_ = call.args[10]
        else:
            return
        bound = self.analyzer.const_int_bound(id_)
        self.found.append(Ids(name, where, bound.min_value, bound.max_value))


def ids_of(module: Any, *intrinsics: str) -> list[Ids]:
    """The ids of every call of these intrinsics, in the order of the program."""
    visitor = IdVisitor()
    for function in module.functions.values():
        visitor.visit_stmt(function.body)
    return [each for each in visitor.found if each.intrinsic in intrinsics]


def rings(ranges: list[tuple[int, int]]) -> list[list[int]]:
    """Overlapping ranges of ids are one ring; as [base, width], in id order."""
    found: list[list[int]] = []
    for low, high in sorted(ranges):
        if found and low < sum(found[-1]):
            found[-1][1] = max(found[-1][1], high + 1 - found[-1][0])
        else:
            found.append([low, high + 1 - low])
    return found


def needed_locks(error: Exception) -> int:
    """How many lock slots the pass complained about."""
    match = re.search(r"total spilled mutex slots \((\d+)\)", str(error))
    if match is None:
        raise error
    return int(match.group(1))


def kept_or_spilled(ids: Ids) -> str:
    """Where RewriteFlagToBuf put a sync point: its flags, or locks."""
    return "lock" if ids.intrinsic == GET_BUF else "flag"


# Layouts: the pass RewriteFlagToBuf alone


def layout_function(hard_events: dict[str, list[int]], lock_reserved: int) -> Any:
    """A loop in which every sync point sets and waits for its flag once."""
    i = tirx.Var("i", "int32")
    body: list[Any] = []

    def call(name: str, *args: Any) -> None:
        op = tvm.ir.Op.get(name)
        body.append(tirx.Evaluate(tirx.Call("handle", op, [*args])))

    if lock_reserved:  # gemm_l1 holds the slots [offset, offset + 1]
        zeros = [tirx.IntImm("int32", 0)] * 10
        offset = tirx.IntImm("int32", lock_reserved - GEMM_L1_LOCKS)
        call(GEMM_L1, *zeros, offset)
    for event, widths in hard_events.items():
        base = 0
        for width in widths:
            event_id = tirx.FloorMod(i, tirx.IntImm("int32", width)) + base
            call(SET_FLAG, tirx.StringImm(event), event_id)
            call(WAIT_FLAG, tirx.StringImm(event), event_id)
            base += width
    loop = tirx.For(i, 0, ITERATIONS, tirx.ForKind.SERIAL, tirx.SeqStmt(body))
    return tirx.PrimFunc([], loop).with_attr("global_symbol", "main")


def record_layout(
    hard_events: dict[str, list[int]], lock_reserved: int
) -> dict[str, Any]:
    """What RewriteFlagToBuf does with sync points of these widths."""
    case: dict[str, Any] = {"hard_events": hard_events, "lock_reserved": lock_reserved}
    function = layout_function(hard_events, lock_reserved)
    try:
        rewritten = transform.RewriteFlagToBuf()(tvm.IRModule({"main": function}))
    except tvm.error.InternalError as error:
        return {**case, "lock_slots_needed": needed_locks(error)}
    # Each sync point sets its flag, then waits for it: every other call is enough.
    calls = ids_of(rewritten, SET_FLAG, WAIT_FLAG, GET_BUF)[::2]
    placed = [[kept_or_spilled(each), each.low] for each in calls]
    placements = {}
    for event, widths in hard_events.items():
        placements[event] = placed[: len(widths)]
        del placed[: len(widths)]
    return {**case, "placements": placements}


def random_layout(dice: random.Random) -> tuple[dict[str, list[int]], int]:
    """Sync points of one to four hard_events, and the locks held beforehand."""
    hard_events = {}
    for event in dice.sample(EVENTS, dice.randint(1, 4)):
        count = dice.randint(1, 8)
        if dice.random() < 0.4:
            widths = [dice.randint(1, 9)] * count
        else:
            widths = [dice.randint(1, 5) for _ in range(count)]
        if dice.random() < 0.6:  # as the compiler's own allocator lays them out
            widths.sort(reverse=True)
        hard_events[event] = widths
    return hard_events, dice.choice([0, 0, 0, 2, 6])


# Kernels: from the source to the rewritten flags


class Seen(Exception):
    """The last pass of interest has run: no need to go on."""


class Compiled(NamedTuple):
    """A module after InsertSync, after MergeUBAllocations, before RewriteFlagToBuf
    and after it, as far as the compiler came, and what stopped it."""

    synced: Any
    merged: Any
    before: Any
    after: Any
    error: Exception | None

    def after_insert_sync(self) -> Any:
        """The module that is there unless the compiler stopped before."""
        if self.synced is None and self.error is not None:
            raise self.error
        return self.synced


def compile_function(function: Any) -> Compiled:
    """Run the whole compiler, up to the end of RewriteFlagToBuf."""
    modules: dict[str, Any] = {}

    @tvm.ir.instrument.pass_instrument
    class Watch:
        def run_before_pass(self, module: Any, info: Any) -> None:
            if info.name == REWRITE_FLAG_TO_BUF:
                modules["before"] = module

        def run_after_pass(self, module: Any, info: Any) -> None:
            if info.name == INSERT_SYNC:
                modules["synced"] = module
            elif info.name == MERGE_UB_ALLOCATIONS:
                modules["merged"] = module
            elif info.name == REWRITE_FLAG_TO_BUF:
                modules["after"] = module
                raise Seen

    stopped = None
    target = tvm.target.Target("ascend")
    try:
        with target, tvm.transform.PassContext(instruments=[Watch()]):
            tilelang.lower(function, target="ascend")
    except RuntimeError as error:  # Seen arrives as one, too
        if "after" not in modules:
            stopped = error
    return Compiled(
        modules.get("synced"),
        modules.get("merged"),
        modules.get("before"),
        modules.get("after"),
        stopped,
    )


@functools.cache
def compile_kernel(kernel: Callable[[int], Any], depth: int) -> Compiled:
    """Compile once what several files are recorded from."""
    return compile_function(kernel(depth))


def rings_by_event(module: Any) -> dict[str, list[list[int]]]:
    """The rings of ids of each hard_event."""
    by_event: dict[str, list[tuple[int, int]]] = {}
    for ids in ids_of(module, SET_FLAG, WAIT_FLAG):
        by_event.setdefault(ids.where, []).append((ids.low, ids.high))
    return {event: rings(ranges) for event, ranges in by_event.items()}


def record_kernel(
    kernel: Callable[[int], Any],
    depths: range,
    traits: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Compile a kernel at each depth: its sync points, then their flags and locks.
    traits says of a hard_event's sync points what the compiler does not print."""
    # These kernels have the same sync points at all these depths.
    blocks = rings_by_event(compile_kernel(kernel, depths[0]).after_insert_sync())
    events = [event for event, of_event in blocks.items() for _ in of_event]
    by_depth: dict[str, Any] = {}
    for depth in depths:
        compiled = compile_kernel(kernel, depth)
        if compiled.error is not None:
            needed = needed_locks(compiled.error)
            by_depth[str(depth)] = {"lock_slots_needed": needed}
            continue
        flags = rings_by_event(compiled.after)
        locks = [(ids.low, ids.high) for ids in ids_of(compiled.after, GET_BUF)]
        by_depth[str(depth)] = {
            "flags": {event: flags.get(event, []) for event in blocks},
            "locks": rings(locks),
        }
    return {
        "kernel": kernel.__name__,
        "sync_points": [
            {"name": f"s{number}", "event": event, **(traits or {}).get(event, {})}
            for number, event in enumerate(events)
        ],
        "lock_reserved": 0,
        "depths": by_depth,
    }


def record_handshake(reserved: list[int], depths: range) -> dict[str, Any]:
    """Where the two flags of the handshake are, as the vector cores see them."""
    by_depth: dict[str, Any] = {}
    for depth in depths:
        compiled = compile_function(handshake(depth, reserved))
        if "contiguous cross-core flag slots" in str(compiled.error):
            by_depth[str(depth)] = {"rejected": True}
            continue
        bases = {}
        module = compiled.after_insert_sync()
        for ids in ids_of(module, CROSS_SET_FLAG, CROSS_WAIT_FLAG):
            if ids.where == "PIPE_MTE3" and ids.high - ids.low == depth - 1:
                free = ids.intrinsic == CROSS_SET_FLAG
                bases["free" if free else "ready"] = ids.low
        by_depth[str(depth)] = {"free": bases["free"], "ready": bases["ready"]}
    return {
        "kernel": "cube_to_vector_handshake",
        "reserved": reserved,
        "sharing": "on-demand",
        "cross_core": True,
        "sync_points": [
            {"name": "ready", "share": "ring"},
            {"name": "free", "cross_iter": True, "share": "ring"},
        ],
        "depths": by_depth,
    }


# Compiled kernels: the text that the compiler prints, and what is in it


def size_of(buffer: Any) -> int:
    """The bytes that the shape of a buffer takes."""
    bits = tvm.DataType(buffer.dtype).bits
    return math.prod(map(int, buffer.shape)) * bits // 8


def buffers_of(module: Any) -> list[list[Any]]:
    """Scope, bytes of one version and versions of each buffer on the chip."""
    buffers: list[Any] = []
    versions: dict[Any, int] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tirx.SBlock):
            buffers.extend(node.alloc_buffers)
            for data, count in node.annotations.get(
                "tl.buffer_versions_map", {}
            ).items():
                versions[data] = int(count)

    for function in module.functions.values():
        tirx.stmt_functor.post_order_visit(function.body, visit)
    found = []
    for buffer in buffers:
        if buffer.scope().startswith("shared"):
            found.append(
                [buffer.scope(), size_of(buffer), versions.get(buffer.data, 1)]
            )
    return found


def memory_of_launch(function: Any) -> dict[str, int]:
    """The bytes of each memory that one launch allocates."""
    sizes: dict[str, int] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tirx.AllocBuffer):
            scope = node.buffer.scope().removesuffix(".dyn")
            if scope.startswith("shared"):
                memory = MEMORIES[scope]
                sizes[memory] = sizes.get(memory, 0) + size_of(node.buffer)

    tirx.stmt_functor.post_order_visit(function.body, visit)
    return sizes


def memory_of(module: Any) -> dict[str, int]:
    """The bytes of each memory after MergeUBAllocations: the buffers of a memory
    are one by then, but one that is alone stays as it is, with all its versions.
    Launches have functions of their own by then; the one with most counts."""
    launches = [memory_of_launch(each) for each in module.functions.values()]
    most = {
        memory: max(each.get(memory, 0) for each in launches)
        for memory in MEMORIES.values()
    }
    return {memory: size for memory, size in most.items() if size}


def record_rewriting(
    before: Any, after: Any, blocks: dict[str, list[list[int]]]
) -> dict[str, dict[str, list[Any]]]:
    """Where RewriteFlagToBuf put each block: it replaces call by call."""
    flags = ids_of(before, SET_FLAG, WAIT_FLAG)
    rewritten = ids_of(after, SET_FLAG, WAIT_FLAG, GET_BUF)
    if len(flags) != len(rewritten):
        raise ValueError(f"{len(flags)} flags have become {len(rewritten)}")
    found: dict[str, dict[str, list[Any]]] = {event: {} for event in blocks}
    for old, new in zip(flags, rewritten):
        for first, width in blocks[old.where]:
            if first <= old.low < first + width:
                moved = first + new.low - old.low
                found[old.where][str(first)] = [kept_or_spilled(new), moved]
    return found


def record_flags(module: Any) -> dict[str, Any]:
    """What InsertSync allotted, as RewriteFlagToBuf finds it: between the two,
    Simplify turns (s - 16) % 8 into s % 8, which can be more ids."""
    found: dict[str, Any] = {"blocks": rings_by_event(module)}
    cross_core = []
    for ids in ids_of(module, CROSS_SET_FLAG, CROSS_WAIT_FLAG):
        low = ids.low % CROSS_CORE_IDS
        cross_core.append((low, low + ids.high - ids.low))
    if cross_core:
        found["cross_core"] = rings(cross_core)
    return found


def record_stop(error: Exception) -> dict[str, Any]:
    """What stopped a compile: the lock pool, memory, or else in the compiler's
    words."""
    message = str(error)
    if "total spilled mutex slots" in message:
        return {"stops": "lock pool", "lock_slots_needed": needed_locks(error)}
    if "loop scheduling failed: scope" in message:
        return {"stops": "memory"}
    return {"stops": message.splitlines()[0]}


def record_compiled(kernel: Callable[[int], Any], depths: range) -> dict[str, Any]:
    """What is allotted at each depth, and what becomes of it."""
    lock_reserved = 0
    by_depth: dict[str, Any] = {}
    for depth in depths:
        compiled = compile_kernel(kernel, depth)
        at_depth: dict[str, Any] = by_depth.setdefault(str(depth), {})
        if compiled.before is not None:
            at_depth.update(record_flags(compiled.before))
            for ids in ids_of(compiled.before, GEMM_L1):
                lock_reserved = max(lock_reserved, ids.low + GEMM_L1_LOCKS)
        if compiled.error is None:
            at_depth["after"] = record_rewriting(
                compiled.before, compiled.after, at_depth["blocks"]
            )
        else:
            at_depth.update(record_stop(compiled.error))
        if compiled.synced is not None:
            at_depth["buffers"] = buffers_of(compiled.synced)
        if compiled.merged is not None:
            at_depth["memory"] = memory_of(compiled.merged)
    return {
        "kernel": kernel.__name__,
        "lock_reserved": lock_reserved,
        "depths": by_depth,
    }


def write_texts(directory: Path) -> None:
    """What the compiler prints after InsertSync, of each kernel at each depth."""
    for kernel in KERNELS:
        for depth in DEPTHS:
            path = directory / f"{kernel.__name__}.d{depth}.tir"
            compiled = compile_kernel(kernel, depth)
            wanted = depth in TEXT_DEPTHS.get(kernel, DEPTHS)
            if compiled.synced is None or not wanted:
                path.unlink(missing_ok=True)
            else:
                path.write_text(compiled.synced.script() + "\n", "ascii")


# Memories: the pass MergeUBAllocations alone


def memory_function(memory: str, sizes: list[int], pairs: list[list[int]]) -> Any:
    """A launch that allocates buffers of so many bytes and says which pairs of them
    may share an address, as the pass finds it in a compile."""
    scope = {name: scope for scope, name in MEMORIES.items()}[memory]
    if scope == "shared":  # it has become dynamic by then
        scope = "shared.dyn"
    buffers = [
        tirx.decl_buffer((size,), "uint8", f"b{number}", scope=scope)
        for number, size in enumerate(sizes)
    ]
    aliases: dict[Any, list[Any]] = {}
    for one, other in pairs:
        aliases.setdefault(buffers[one].data, []).append(buffers[other].data)
        aliases.setdefault(buffers[other].data, []).append(buffers[one].data)
    contract = tirx.AttrStmt(aliases, BUFFER_ALIAS_MAP, 1, tirx.Evaluate(0))
    body = tirx.SeqStmt([*map(tirx.AllocBuffer, buffers), contract])
    block = tirx.IterVar((0, 1), "block", tirx.IterVar.ThreadIndex, "blockIdx.x")
    launch = tirx.AttrStmt(block, "thread_extent", 1, body)
    return tirx.PrimFunc([], launch).with_attr("global_symbol", "main")


def record_memory(
    memory: str, sizes: list[int], pairs: list[list[int]]
) -> dict[str, Any]:
    """What MergeUBAllocations allots to these buffers, called as in a compile."""
    merge = transform.MergeUBAllocations(align_bytes=pipeline._MERGE_UB_ALIGNMENT)
    function = memory_function(memory, sizes, pairs)
    merged = merge(tvm.IRModule({"main": function}))
    return {
        "memory": memory,
        "buffers": sizes,
        "aliases": pairs,
        "bytes": memory_of(merged)[memory],
    }


def random_sizes(dice: random.Random, count: int) -> list[int]:
    """The bytes of so many buffers: of one kind, of several, or equal."""
    kinds = [
        lambda: dice.randint(1, 100),
        lambda: dice.randint(1, 20_000),
        lambda: dice.randint(1, 16) * 32,
        lambda: dice.randint(1, 64) * 1024,
        lambda: 2 ** dice.randint(9, 16),
        lambda: 2 ** dice.randint(9, 16) + dice.choice([-32, -1, 1, 32]),
    ]
    chosen = dice.sample(kinds, dice.randint(1, 3))
    sizes = [dice.choice(chosen)() for _ in range(count)]
    if dice.random() < 0.2:  # a few sizes, again and again
        sizes = dice.choices(sizes[:3], k=count)
    return sizes


def random_pairs(dice: random.Random, count: int) -> list[list[int]]:
    """The pairs of so many buffers that may share an address: none; any; those of
    different loops, nearly all of them; or those that are not alive together."""
    pairs = [list(pair) for pair in itertools.combinations(range(count), 2)]
    kind = dice.choice(["none", *["any"] * 4, *["loops"] * 4, "lives"])
    if kind == "any":
        odds = dice.uniform(0.1, 1)
        return [pair for pair in pairs if dice.random() < odds]
    if kind == "loops":
        loops = [dice.randint(1, 4) for _ in range(count)]
        if dice.random() < 0.5:  # one after the other, as in a text
            loops.sort()
        odds = dice.choice([0.7, 0.8, 0.9, 1])
        return [
            [one, other]
            for one, other in pairs
            if loops[one] != loops[other] and dice.random() < odds
        ]
    if kind == "lives":
        lives = [sorted(dice.sample(range(12), 2)) for _ in range(count)]
        return [
            [one, other]
            for one, other in pairs
            if lives[one][1] < lives[other][0] or lives[other][1] < lives[one][0]
        ]
    return []


def random_memory(dice: random.Random) -> tuple[str, list[int], list[list[int]]]:
    """A memory, its buffers and the pairs of them that may share an address: more
    often many than few, since few leave little to choose."""
    memory = dice.choice([*MEMORIES.values()])
    count = dice.randint(dice.choice([1, 6]), MOST_BUFFERS)
    return memory, random_sizes(dice, count), random_pairs(dice, count)


# The files


def recorded_cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file as it is."""
    return json.loads((VECTORS / name).read_text("ascii"))["cases"]


def layouts_document(seed: str | None = None) -> dict[str, Any]:
    """rewrite_flag_to_buf.json: the layouts of the file as it is, or random ones."""
    if seed is None:
        recorded = recorded_cases(LAYOUTS)
        layouts = [(each["hard_events"], each["lock_reserved"]) for each in recorded]
    else:
        dice = random.Random(int(seed))
        layouts = [random_layout(dice) for _ in range(CASES)]
    return {
        "source": f"{REWRITE_FLAG_TO_BUF} of {VERSION}",
        "cases": [record_layout(*layout) for layout in layouts],
    }


def memories_document(seed: str | None = None) -> dict[str, Any]:
    """merge_ub_allocations.json: the memories of the file as it is, or random ones."""
    if seed is None:
        memories = [
            (each["memory"], each["buffers"], each["aliases"])
            for each in recorded_cases(MERGED_MEMORIES)
        ]
    else:
        dice = random.Random(int(seed))
        memories = [random_memory(dice) for _ in range(CASES)]
    return {
        "source": f"{MERGE_UB_ALLOCATIONS} of {VERSION}",
        "cases": [record_memory(*memory) for memory in memories],
    }


def kernels_document() -> dict[str, Any]:
    """kernels.json"""
    return {
        "source": f"{INSERT_SYNC} + {REWRITE_FLAG_TO_BUF} of {VERSION}",
        "kernels": [
            record_kernel(axpy, DEPTHS),
            record_kernel(two_consumers, range(3, 11)),
        ],
        "cross_core": [
            record_handshake(reserved, range(2, 18))
            for reserved in ([], [15], [3], [2, 9])
        ],
    }


def sharing_document() -> dict[str, Any]:
    """sharing.json"""
    traits = {
        "MTE3_V": {"cross_iter": True, "share": "stored"},
        "V_MTE2": {"cross_iter": True, "versions": 1},
        "MTE2_V": {"versions": 1},
        "V_MTE3": {"share": "computed"},
    }
    return {
        "source": f"{INSERT_SYNC} + {REWRITE_FLAG_TO_BUF} of {VERSION}",
        "sharing": "on-demand",
        "kernels": [record_kernel(one_input_kept, range(3, 11), traits)],
    }


def compiled_kernels_document() -> dict[str, Any]:
    """compiled_kernels.json"""
    return {
        "note": f"recorded with {VERSION}: per depth, blocks are [first id, width] "
        "of each hard_event after InsertSync (cross_core: the cross-core ones, "
        "modulo 16); after is [flag or lock, first id] for each block, by its "
        "first id, after RewriteFlagToBuf; stops: the compile stops there, at the "
        "lock pool (of which it needs lock_slots_needed) or for want of memory; "
        "buffers are [scope, bytes of one version, versions]; memory is the bytes "
        "of each memory after MergeUBAllocations",
        "kernels": [record_compiled(kernel, DEPTHS) for kernel in KERNELS],
    }


# What is recorded, its file, and how many levels of it are laid out in lines.
DOCUMENTS: dict[str, tuple[Callable[..., dict[str, Any]], str, int]] = {
    "layouts": (layouts_document, LAYOUTS, 2),
    "memories": (memories_document, MERGED_MEMORIES, 2),
    "kernels": (kernels_document, "kernels.json", 4),
    "sharing": (sharing_document, "sharing.json", 4),
    "compiled_kernels": (compiled_kernels_document, "compiled_kernels.json", 4),
}


def in_lines(value: Any, levels: int, indent: str = "\n") -> str:
    """JSON with a line for each item, down to so many levels: one depth a line."""
    if not levels or not value or not isinstance(value, (dict, list)):
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, list):
        items = [in_lines(each, levels - 1, inner) for each in value]
        return f"[{inner}{f',{inner}'.join(items)}{indent}]"
    items = [
        f"{json.dumps(key)}: {in_lines(each, levels - 1, inner)}"
        for key, each in value.items()
    ]
    return f"{{{inner}{f',{inner}'.join(items)}{indent}}}"


def main(what: str, *args: str) -> None:
    """Print one file of vectors, or write the texts, or everything."""
    if what == "compiled":
        write_texts(Path(*args))
    elif what == "all":
        for record, name, levels in DOCUMENTS.values():
            text = in_lines(record(), levels) + "\n"
            (VECTORS / name).write_text(text, "ascii")
        write_texts(TESTS / "compiled")
    else:
        record, _, levels = DOCUMENTS[what]
        print(in_lines(record(*args), levels))


if __name__ == "__main__":
    main(*sys.argv[1:])
