"""Record what tilelang 0.1.15 itself does, as test vectors.

Run by hand where tilelang==0.1.15 is installed, never by the tests:

    python3 tests/record_vectors.py layouts 1 > tests/vectors/rewrite_flag_to_buf.json
    python3 tests/record_vectors.py kernels > tests/vectors/kernels.json
    python3 tests/record_vectors.py sharing > tests/vectors/sharing.json

The number is the random seed.  To check the model on layouts that nobody has
seen yet, record them under another one, run `python3 -m unittest`, and put
the old file back.

The wheel carries the Ascend passes and runs them on a CPU.  Importing it
pulls in torch; `pip install --no-deps tilelang==0.1.15` and then whatever the
import asks for takes less room.
"""

from __future__ import annotations

import json
import random
import re
import sys
from typing import Any

import tilelang
import tilelang.ascend.language as T
from tilelang import tvm
from tilelang.ascend import transform
from tvm import tirx

CASES = 400

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
SET_FLAG, GET_BUF = "tl.ascend_set_flag", "tl.ascend_get_buf"
ITERATIONS = 64  # more than any ring is wide


def calls(function: Any) -> list[Any]:
    """Every call of an intrinsic in a function, in the order of the program."""
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.Call) and isinstance(node.op, tvm.ir.Op):
            found.append(node)

    tirx.stmt_functor.post_order_visit(function.body, visit)
    return found


def needed_locks(error: Exception) -> int:
    """How many lock slots the pass complained about."""
    match = re.search(r"total spilled mutex slots \((\d+)\)", str(error))
    if match is None:
        raise error
    return int(match.group(1))


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
        offset = tirx.IntImm("int32", lock_reserved - 2)
        call("tl.ascend_gemm_l1", *zeros, offset)
    for event, widths in hard_events.items():
        base = 0
        for width in widths:
            event_id = tirx.FloorMod(i, tirx.IntImm("int32", width)) + base
            call(SET_FLAG, tirx.StringImm(event), event_id)
            call("tl.ascend_wait_flag", tirx.StringImm(event), event_id)
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
        rewritten = transform.RewriteFlagToBuf()(tvm.IRModule({"main": function}))[
            "main"
        ]
    except tvm.error.InternalError as error:
        return {**case, "lock_slots_needed": needed_locks(error)}
    i = rewritten.body.loop_var
    placed = []
    for call in calls(rewritten):
        # A spilled set_flag is a lock that does not block: mode 1.
        if call.op.name == SET_FLAG or (call.op.name == GET_BUF and int(call.args[2])):
            at_0 = tirx.stmt_functor.substitute(
                call.args[1], {i: tirx.IntImm("int32", 0)}
            )
            where = "flag" if call.op.name == SET_FLAG else "lock"
            placed.append([where, int(tvm.arith.Analyzer().simplify(at_0))])
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


def axpy(depth: int) -> Any:
    """Two loads, a sum, a store."""

    @T.prim_func
    def main(
        X: T.Tensor((131072,), "float32"),
        Y: T.Tensor((131072,), "float32"),
        Z: T.Tensor((131072,), "float32"),
    ):
        with T.Kernel(8) as bx:
            x = T.alloc_shared((256,), "float32")
            y = T.alloc_shared((256,), "float32")
            z = T.alloc_shared((256,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth, z: depth})
            for s in T.Pipelined(64, num_stages=depth):
                T.copy(X[s * 2048 + bx * 256], x)
                T.copy(Y[s * 2048 + bx * 256], y)
                with T.SimdVF():
                    for i in T.Parallel(256):
                        z[i] = x[i] + y[i]
                T.copy(z, Z[s * 2048 + bx * 256])

    return main


def two_consumers(depth: int) -> Any:
    """Two loads, each with a computation and a store of its own."""

    @T.prim_func
    def main(
        X: T.Tensor((131072,), "float32"),
        Y: T.Tensor((131072,), "float32"),
        P: T.Tensor((131072,), "float32"),
        Q: T.Tensor((131072,), "float32"),
    ):
        with T.Kernel(8) as bx:
            x = T.alloc_shared((256,), "float32")
            y = T.alloc_shared((256,), "float32")
            p = T.alloc_shared((256,), "float32")
            q = T.alloc_shared((256,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth, p: depth, q: depth})
            for s in T.Pipelined(64, num_stages=depth):
                T.copy(X[s * 2048 + bx * 256], x)
                with T.SimdVF():
                    m = T.simd.pset(32, "PAT_ALL")
                    for k in range(4):
                        one = T.simd.vadds(T.simd.vld(x[k * 64]), T.float32(1), m)
                        T.simd.vsts(p[k * 64], one, m)
                T.copy(p, P[s * 2048 + bx * 256])
                T.copy(Y[s * 2048 + bx * 256], y)
                with T.SimdVF():
                    n = T.simd.pset(32, "PAT_ALL")
                    for k in range(4):
                        two = T.simd.vadds(T.simd.vld(y[k * 64]), T.float32(2), n)
                        T.simd.vsts(q[k * 64], two, n)
                T.copy(q, Q[s * 2048 + bx * 256])

    return main


def one_input_kept(depth: int) -> Any:
    """Like two_consumers, but each iteration waits for an input that has one
    buffer only: so its two stores, in turn, need not be told apart."""

    @T.prim_func
    def main(
        W: T.Tensor((131072,), "float32"),
        X: T.Tensor((131072,), "float32"),
        Y: T.Tensor((131072,), "float32"),
        P: T.Tensor((131072,), "float32"),
        Q: T.Tensor((131072,), "float32"),
    ):
        with T.Kernel(8) as bx:
            w = T.alloc_shared((256,), "float32")
            x = T.alloc_shared((256,), "float32")
            y = T.alloc_shared((256,), "float32")
            p = T.alloc_shared((256,), "float32")
            q = T.alloc_shared((256,), "float32")
            T.annotate_buffer_versions({w: 1, x: depth, y: depth, p: depth, q: depth})
            for s in T.Pipelined(64, num_stages=depth):
                T.copy(X[s * 2048 + bx * 256], x)
                T.copy(W[s * 2048 + bx * 256], w)
                with T.SimdVF():
                    for i in T.Parallel(256):
                        p[i] = x[i] + w[i]
                T.copy(p, P[s * 2048 + bx * 256])
                T.copy(Y[s * 2048 + bx * 256], y)
                with T.SimdVF():
                    for i in T.Parallel(256):
                        q[i] = y[i] + p[i]
                T.copy(q, Q[s * 2048 + bx * 256])

    return main


def handshake(depth: int, reserved: list[int]) -> Any:
    """The cube hands tiles to the vector cores, which hand the buffers back."""

    @T.prim_func
    def main(
        A: T.Tensor((2048, 32), "bfloat16"),
        B: T.Tensor((512, 32), "bfloat16"),
        C: T.Tensor((2048, 512), "float32"),
    ):
        with T.Kernel(16) as bx:
            a = T.alloc_l1((32, 32), "bfloat16")
            b = T.alloc_l1((32, 32), "bfloat16")
            acc = T.alloc_l0c((32, 32), "float32")
            out = T.alloc_shared((16, 32), "float32")
            T.annotate_buffer_versions({out: depth})
            for flag in reserved:
                T.ascend_cross_core_set_flag(0, "PIPE_MTE3", flag)
            for w in T.Pipelined(64, num_stages=depth):
                T.copy(A[w * 32, 0], a)
                T.copy(B[bx * 32, 0], b)
                T.gemm(a, b, acc, transpose_B=True, clear_accum=True)
                T.dual_copy(acc, out)
                T.dual_copy(out, C[w * 32 : w * 32 + 32, bx * 32 : bx * 32 + 32])

    return main


class Seen(Exception):
    """The last pass of interest has run: no need to go on."""


def compile_until(function: Any, last: str) -> Any:
    """The module as it is after a pass of the whole compiler."""
    modules: list[Any] = []

    @tvm.ir.instrument.pass_instrument
    class Watch:
        def run_after_pass(self, module: Any, info: Any) -> None:
            if info.name == last:
                modules.append(module)
                raise Seen

    target = tvm.target.Target("ascend")
    try:
        with target, tvm.transform.PassContext(instruments=[Watch()]):
            tilelang.lower(function, target="ascend")
    except Exception:
        if not modules:
            raise
    return modules[0]


def id_ranges(module: Any) -> list[tuple[str, str, int, int]]:
    """Of every set_flag, wait_flag and lock: the intrinsic's name, its hard_event
    or pipe, and the lowest and the highest id, in the order of the program."""
    found: list[tuple[str, str, int, int]] = []
    analyzer = tvm.arith.Analyzer()

    def visit_loop(node: Any) -> None:
        if isinstance(node, tirx.For):
            analyzer.bind(
                node.loop_var, tvm.ir.Range.from_min_extent(node.min, node.extent)
            )

    for function in module.functions.values():
        tirx.stmt_functor.post_order_visit(function.body, visit_loop)
        for call in calls(function):
            name = call.op.name
            if name.startswith("tl.ascend_cross_core_"):
                where, event_id = call.args[1:3]
            elif name in {SET_FLAG, "tl.ascend_wait_flag", GET_BUF}:
                where, event_id = call.args[:2]
            else:
                continue
            bound = analyzer.const_int_bound(event_id)
            found.append((name, str(where.value), bound.min_value, bound.max_value))
    return found


def rings(ranges: list[tuple[int, int]]) -> list[list[int]]:
    """Overlapping ranges of ids are one ring; as [base, width], in id order."""
    found: list[list[int]] = []
    for low, high in sorted(ranges):
        if found and low < sum(found[-1]):
            found[-1][1] = max(found[-1][1], high + 1 - found[-1][0])
        else:
            found.append([low, high + 1 - low])
    return found


def record_kernel(
    kernel: Any, depths: range, traits: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Compile a kernel at each depth: its sync points, then their flags and locks.
    traits says of a hard_event's sync points what the compiler does not print."""
    sync_points: list[dict[str, Any]] = []
    by_depth: dict[str, Any] = {}
    for depth in depths:
        if not sync_points:  # these kernels have the same ones at all these depths
            by_event: dict[str, list[tuple[int, int]]] = {}
            for _, event, *ids in id_ranges(
                compile_until(kernel(depth), "tl.InsertSync")
            ):
                by_event.setdefault(event, []).append((ids[0], ids[1]))
            for event, ranges in by_event.items():
                for _ in rings(ranges):
                    name = f"s{len(sync_points)}"
                    more = (traits or {}).get(event, {})
                    sync_points.append({"name": name, "event": event, **more})
        try:
            module = compile_until(kernel(depth), "tl.RewriteFlagToBuf")
        except tvm.error.InternalError as error:
            by_depth[str(depth)] = {"lock_slots_needed": needed_locks(error)}
            continue
        flags: dict[str, list[tuple[int, int]]] = {
            point["event"]: [] for point in sync_points
        }
        locks: list[tuple[int, int]] = []
        for name, event, *ids in id_ranges(module):
            (locks if name == GET_BUF else flags[event]).append((ids[0], ids[1]))
        by_depth[str(depth)] = {
            "flags": {event: rings(ranges) for event, ranges in flags.items()},
            "locks": rings(locks),
        }
    return {
        "kernel": kernel.__name__,
        "sync_points": sync_points,
        "lock_reserved": 0,
        "depths": by_depth,
    }


def record_handshake(reserved: list[int], depths: range) -> dict[str, Any]:
    """Where the two flags of the handshake are, as the vector cores see them."""
    by_depth: dict[str, Any] = {}
    for depth in depths:
        try:
            module = compile_until(handshake(depth, reserved), "tl.InsertSync")
        except tvm.error.InternalError as error:
            if "contiguous cross-core flag slots" not in str(error):
                raise
            by_depth[str(depth)] = {"rejected": True}
            continue
        bases = {}
        for name, pipe, low, high in id_ranges(module):
            if pipe == "PIPE_MTE3" and high - low == depth - 1:
                free = name == "tl.ascend_cross_core_set_flag"
                bases["free" if free else "ready"] = low
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


def main(what: str, seed: str = "1") -> None:
    """Print one file of vectors."""
    document: dict[str, Any]
    if what == "layouts":
        dice = random.Random(int(seed))
        document = {
            "source": "tl.RewriteFlagToBuf of tilelang 0.1.15",
            "cases": [record_layout(*random_layout(dice)) for _ in range(CASES)],
        }
    elif what == "sharing":
        traits = {
            "MTE3_V": {"cross_iter": True, "share": "stored"},
            "V_MTE2": {"cross_iter": True, "versions": 1},
            "MTE2_V": {"versions": 1},
            "V_MTE3": {"share": "computed"},
        }
        document = {
            "source": "tl.InsertSync + tl.RewriteFlagToBuf of tilelang 0.1.15",
            "sharing": "on-demand",
            "kernels": [record_kernel(one_input_kept, range(3, 11), traits)],
        }
    else:
        document = {
            "source": "tl.InsertSync + tl.RewriteFlagToBuf of tilelang 0.1.15",
            "kernels": [
                record_kernel(axpy, range(1, 11)),
                record_kernel(two_consumers, range(3, 11)),
            ],
            "cross_core": [
                record_handshake(reserved, range(2, 18))
                for reserved in ([], [15], [3], [2, 9])
            ],
        }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
