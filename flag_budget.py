"""How deep can an Ascend pipeline go before it runs out of flag slots?

The hardware.  The pipes of an Ascend core (MTE2 loads, V computes, MTE3
stores, M is the matrix unit, ...) run asynchronously.  What orders them is a
flag: the producer pipe sets it, the consumer pipe waits for it.  Flags live
in namespaces.  Each hard_event, that is each (producer pipe, consumer pipe)
pair of one core, is a namespace of 8 slots; all flags between the cube core
and the vector cores share one namespace of 16.  A flag's number in its
namespace is its event id.

The arithmetic.  Multi-buffering to depth v (num_stages = v) keeps v
iterations in flight, and each of them needs a flag of its own.  A sync point
with num_versions = v therefore uses the event id `i % v + base id` in
iteration i: v contiguous slots, which cannot be split at run time.

The compiler.  tilelang hands out the base ids end to end.  Where sync points
are known never to be in flight together it can give them one base id: one
allocation for several sync points.  Where the allocations of a hard_event
ask for more than its 8 slots, a 0/1 knapsack keeps the subset that fills the
slots best; every other allocation spills, whole, to a pool of 32 locks, which
all hard_events share and which block.  More than 32 locks, or a cross-core
flag without a slot, and the compile stops.

The model.  A Kernel is a tuple of declared sync points.  plan() answers for
one depth what the compiler does with them; text_report() turns plans into the
tables that the command prints.  Nothing here grows with the depth.

Sources are given as file:line in tilelang 0.1.15, src/ascend/transform/.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections import namedtuple

# typing.TYPE_CHECKING without its import, which costs a tenth of a whole run.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INTRA_CORE_SLOTS = 8  # kIntraCoreFlagLimit, insert_sync.cc:2135
CROSS_CORE_SLOTS = 16  # kCrossCoreFlagLimit, insert_sync.cc:2136
LOCK_POOL_SLOTS = 32  # kMaxBufId, rewrite_flag_to_buf.cc:62

CROSS_CORE = "Cube-Vector"  # the cross-core namespace's name, insert_sync.cc:2085


# The declaration


class SyncPoint(namedtuple("SyncPoint", "name share", defaults=(None,))):
    """One point of synchronisation between two pipes, as wide as the depth.

    name    what the tables call it
    share   sync points of one share group may share a base id; None: shares
            with none (the compiler's proof of it: reusable_pairs_,
            insert_sync.cc:1729, :1742)
    """

    __slots__ = ()
    name: str
    share: str | None


class Kernel(namedtuple("Kernel", "sync_points cross_core sharing")):
    """The sync points of one kernel and how their flags are allocated.

    sync_points  in the order of their ids
    cross_core   whether they live in the cross-core namespace (16 slots) or
                 in that of one hard_event (8 slots)
    sharing      whether every share group gets one base id
    """

    __slots__ = ()
    sync_points: tuple[SyncPoint, ...]
    cross_core: bool
    sharing: bool


def built_in_kernel(cross_core: bool = False, sharing: bool = False) -> Kernel:
    """Two loads and their releases, in one namespace: the pessimistic bound.

    >>> [point.name for point in built_in_kernel().sync_points]
    ['acquire_A', 'acquire_B', 'release_A', 'release_B']
    """
    return Kernel(
        (
            SyncPoint("acquire_A"),
            SyncPoint("acquire_B"),
            SyncPoint("release_A", share="release"),
            SyncPoint("release_B", share="release"),
        ),
        cross_core,
        sharing,
    )


# The plan of one depth


class Placement(namedtuple("Placement", "name num_versions placement base")):
    """Where one sync point ended up.

    name          the sync point's
    num_versions  how many contiguous ids it rotates through
    placement     "flag", or "lock" where it spilled
    base          its base id: in its namespace, or in the lock pool
    """

    __slots__ = ()
    name: str
    num_versions: int
    placement: str
    base: int


class Namespace(namedtuple("Namespace", "name slots ids kept_slots sync_points")):
    """One namespace at one depth.

    name         the hard_event, CROSS_CORE, or None where none was named
    slots        how many slots it has
    ids          how many ids the allocator asks for, over all allocations
    kept_slots   how many of them stay flags; all of them unless one spills
    sync_points  a Placement for each, as declared
    """

    __slots__ = ()
    name: str | None
    slots: int
    ids: int
    kept_slots: int
    sync_points: tuple[Placement, ...]


class Plan(namedtuple("Plan", "depth namespaces lock_slots rejected")):
    """What the compiler does with a kernel at one depth.

    depth       num_stages
    namespaces  in order of first appearance
    lock_slots  how many slots of the lock pool are used
    rejected    why the compile stops, in a few words; None if it does not
    """

    __slots__ = ()
    depth: int
    namespaces: tuple[Namespace, ...]
    lock_slots: int
    rejected: str | None

    @property
    def spilled(self) -> list[str]:
        """The names of the sync points that spill, as declared."""
        return [
            point.name
            for namespace in self.namespaces
            for point in namespace.sync_points
            if point.placement == "lock"
        ]


def knapsack_keep(widths: Sequence[int], capacity: int) -> list[bool]:
    """Which blocks stay flags: a subset that fills capacity slots best.

    widths are in ids, each at least 1, in id order; capacity is in slots, at
    least 0.  Returns one bool per block.  Among subsets of the same sum the
    choice is that of KnapsackKeep, rewrite_flag_to_buf.cc:203: each sum is
    recorded when it is first reached, with the block that reached it and the
    sum before, and the best sum is traced back.  A block wider than capacity
    is never kept.  Raises ValueError for a width or a capacity out of range.

    >>> knapsack_keep([5, 4, 4], 8)
    [False, True, True]
    """
    if capacity < 0:
        raise ValueError(f"capacity {capacity}: expected at least 0")
    if min(widths, default=1) < 1:
        raise ValueError(f"width {min(widths)}: expected at least 1")
    reached = {0: (-1, 0)}  # sum -> (the block that reached it, the sum before)
    for index, width in enumerate(widths):
        for before in list(reached):  # the sums without this block
            total = before + width
            if total <= capacity and total not in reached:
                reached[total] = index, before
        if capacity in reached:
            break  # nothing beats a full namespace
    kept = [False] * len(widths)
    total = max(reached)
    while total:
        index, total = reached[total]
        kept[index] = True
    return kept


def _allocate(kernel: Kernel, depth: int) -> tuple[list[int], list[int]]:
    """Group the sync points into allocations: FlagAllocator::Plan,
    insert_sync.cc:1851.  Returns the allocation of each sync point, and the
    width in ids of each allocation, in id order."""
    allocation_of: list[int] = []
    widths: list[int] = []
    first_of_group: dict[str, int] = {}
    for point in kernel.sync_points:
        allocation = len(widths)
        if kernel.sharing and point.share is not None:
            allocation = first_of_group.setdefault(point.share, allocation)
        if allocation == len(widths):
            widths.append(depth)
        allocation_of.append(allocation)
    return allocation_of, widths


def plan(kernel: Kernel, depth: int) -> Plan:
    """What the compiler does with kernel at this depth (num_stages, from 1).

    Kept allocations are renumbered from 0 in id order, spilled ones get lock
    slots from 0 in id order (rewrite_flag_to_buf.cc:334-357).  The compile
    stops where the lock pool overflows (rewrite_flag_to_buf.cc:364) and where
    a cross-core flag gets no slot (insert_sync.cc:1993): the plan shows the
    model's knapsack all the same, and says that it is rejected.  Raises
    ValueError for a depth below 1.

    >>> at_3 = plan(built_in_kernel(), depth=3)
    >>> at_3.spilled, at_3.lock_slots
    (['release_A', 'release_B'], 6)
    """
    if depth < 1:
        raise ValueError(f"depth {depth}: expected at least 1")
    # A plan has no cycles. Looking for them in it, over and over while it
    # grows, would be most of the work for a million sync points.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _plan(kernel, depth)
    finally:
        if collecting:
            gc.enable()


def _plan(kernel: Kernel, depth: int) -> Plan:
    slots = CROSS_CORE_SLOTS if kernel.cross_core else INTRA_CORE_SLOTS
    allocation_of, widths = _allocate(kernel, depth)
    kept = knapsack_keep(widths, slots)
    used = [0, 0]  # lock slots, flag slots
    base_ids: list[int] = []
    for width, keep in zip(widths, kept):
        base_ids.append(used[keep])
        used[keep] += width
    locks, flags = used
    placements = tuple(
        Placement(point.name, depth, "flag" if kept[each] else "lock", base_ids[each])
        for point, each in zip(kernel.sync_points, allocation_of)
    )
    namespace = Namespace(
        name=CROSS_CORE if kernel.cross_core else None,
        slots=slots,
        ids=flags + locks,
        kept_slots=flags,
        sync_points=placements,
    )
    rejected = None
    if kernel.cross_core and locks:
        rejected = "no lock pool for cross-core flags"
    elif locks > LOCK_POOL_SLOTS:
        rejected = f"lock pool {locks}/{LOCK_POOL_SLOTS}"
    return Plan(depth, (namespace,), locks, rejected)


def first_spill(kernel: Kernel) -> int:
    """The smallest depth at which a sync point spills.

    There always is one: at depth 17 a sync point is wider than any namespace.
    """
    depths = range(1, CROSS_CORE_SLOTS + 2)
    return next(depth for depth in depths if plan(kernel, depth).spilled)


# The report


def text_report(kernel: Kernel, depths: Sequence[int], summary: bool) -> Iterator[str]:
    """The lines that the command prints: the block of each depth and, with
    summary, the table of demand over slots."""
    rows: list[Sequence[str]] = [("depth", "ids", "locks", "verdict")]
    for number, depth in enumerate(depths):
        depth_plan = plan(kernel, depth)
        if number:
            yield ""
        yield from _depth_lines(depth_plan)
        demands = [f"{each.ids}/{each.slots}" for each in depth_plan.namespaces]
        locks = f"{depth_plan.lock_slots}/{LOCK_POOL_SLOTS}"
        rows.append((str(depth), *demands, locks, _verdict(depth_plan)))
    if summary:
        yield ""
        yield from _table(rows)
        yield _last_line(first_spill(kernel))


def _depth_lines(depth_plan: Plan) -> Iterator[str]:
    depth = depth_plan.depth
    yield f"depth={depth} num_versions per sync point = {depth}"
    for namespace in depth_plan.namespaces:
        yield from _namespace_lines(namespace)
    if depth_plan.spilled:
        full = " -> the compiler rejects this depth"
        used = depth_plan.lock_slots
        over = full if used > LOCK_POOL_SLOTS else ""
        yield f"lock pool: {used}/{LOCK_POOL_SLOTS} slots{over}"
    if any(_spills(each) for each in depth_plan.namespaces if each.name == CROSS_CORE):
        yield (
            "note: the compiler has no lock pool for cross-core flags;"
            " it rejects this depth"
        )


def _spills(namespace: Namespace) -> bool:
    return namespace.kept_slots < namespace.ids


def _namespace_lines(namespace: Namespace) -> Iterator[str]:
    points, slots = namespace.sync_points, namespace.slots
    blocks = ", ".join(f"{each.name}={each.num_versions}" for each in points)
    yield f"blocks: {blocks}"
    on_base: dict[tuple[str, int], list[str]] = {}
    for each in points:
        on_base.setdefault((each.placement, each.base), []).append(each.name)
    for names in on_base.values():
        if len(names) > 1:
            yield f"shared : {', '.join(names)} on one base"
    yield f"allocator sum = {namespace.ids} ids"
    if _spills(namespace):
        kept = [each.name for each in points if each.placement == "flag"]
        spilled = [each.name for each in points if each.placement == "lock"]
        yield (
            f"-> exceeds {slots} slots: 0/1 knapsack keeps"
            f" {namespace.kept_slots}/{slots} slots as set/wait flags"
        )
        yield f"kept : {', '.join(kept) or 'none'}"
        yield (
            f"spilled : {', '.join(spilled)}"
            " -> asc_lock/asc_unlock mutex pool (blocking)"
        )
    else:
        spare = slots - namespace.ids
        yield f"-> fits in {slots} slots; no spill ({spare} slots spare)"
    name_width = max(len(each.name) for each in points)
    base_width = max(len(str(each.base)) for each in points)
    for each in points:
        where = "base" if each.placement == "flag" else "lock"
        yield (
            f"{each.name:{name_width}} {where} {each.base:<{base_width}}"
            f" id = i % {each.num_versions} + {each.base}"
        )


def _verdict(depth_plan: Plan) -> str:
    if depth_plan.rejected:
        return f"rejected: {depth_plan.rejected}"
    if depth_plan.spilled:
        return f"spills {', '.join(depth_plan.spilled)}"
    return "fits"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns right-aligned and two blanks apart; the last one is prose."""
    widths = [max(map(len, column)) for column in zip(*rows)][:-1]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        yield "  ".join([*cells, row[-1]])


def _last_line(spill: int) -> str:
    if spill == 1:
        return "flag slots do not last to any depth; depth 1 already spills"
    return f"flag slots last to depth {spill - 1}; depth {spill} is the first to spill"


# The front end

_MAX_DIGITS = 100  # far more than anybody asks for, far less than int() refuses


def _depth(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text):
        return int(text)
    raise ValueError(
        f"invalid value {text!r}: expected a whole number, at least 1"
        f" and at most {_MAX_DIGITS} digits long"
    )


def _argument(parse: Callable[[str], int]) -> Callable[[str], int]:
    """parse as argparse wants it: its ValueError is the error line."""

    def argument(text: str) -> int:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return argument


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(
            "How deep can an Ascend pipeline go before it runs out of flag slots?"
            " Sweeps the depth (num_stages) of a kernel with four sync points and"
            " prints where tilelang's compiler puts each: which stay set/wait flags,"
            " and which spill to the lock pool."
        ),
        epilog=(
            "Cross-core flags have no lock pool: where they exceed their 16 slots the"
            " compile stops. What is then shown as kept is this model's knapsack."
        ),
        # A width of our own: asking the terminal would import half of shutil.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--depth",
        metavar="N",
        type=_argument(_depth),
        help="this depth only (default: 1 up to 4, or up to the first that spills)",
    )
    parser.add_argument(
        "--max-depth",
        metavar="N",
        type=_argument(_depth),
        help="the last depth of the sweep",
    )
    parser.add_argument(
        "--sharing",
        action="store_true",
        help="reusable sync points (release_A, release_B) share a base id",
    )
    parser.add_argument(
        "--cross-core",
        action="store_true",
        help="the cross-core namespace of 16 slots, not a hard_event's 8",
    )
    return parser


def main(args: Sequence[str] | None = None) -> int:
    """The command: args (sys.argv without the program by default) -> exit status.

    0; 1 where the output cannot be written; 2 for bad arguments; 130 for an
    interrupt.
    """
    try:
        _run(args)
        print(end="", flush=True)
        return 0
    except SystemExit as stop:  # argparse has said why
        return int(stop.code or 0)
    except BrokenPipeError:  # the reader has what it wanted
        status = 1
    except OSError as error:
        print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = 130
    # Leave the interpreter nothing that it could fail to flush when it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(args: Sequence[str] | None) -> None:
    parser = _parser()
    options = parser.parse_args(args)
    kernel = built_in_kernel(options.cross_core, options.sharing)
    if options.depth and options.max_depth:
        parser.error(
            f"argument --max-depth: {options.max_depth} is the end of a sweep, not"
            f" allowed with --depth {options.depth}: expected one of the two"
        )
    if options.depth:
        depths = range(options.depth, options.depth + 1)
    else:
        depths = range(1, (options.max_depth or max(4, first_spill(kernel))) + 1)
    for line in text_report(kernel, depths, summary=not options.depth):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
