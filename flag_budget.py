"""How deep can an Ascend pipeline go before it runs out of flag slots, or of memory?

The hardware.  The pipes of an Ascend core (MTE2 loads, V computes, MTE3
stores, M is the matrix unit, ...) run asynchronously.  What orders them is a
flag: the producer pipe sets it, the consumer pipe waits for it.  Flags live
in namespaces.  Each hard_event, that is each (producer pipe, consumer pipe)
pair, is a namespace of 8 slots; all flags between the cube core and the
vector cores share one namespace of 16.  A flag's number in its namespace is
its event id.

The arithmetic.  Multi-buffering to depth v (num_stages = v) keeps v
iterations in flight, and each of them needs a flag of its own.  A sync point
with num_versions = v therefore uses the event id `i % v + base id` in
iteration i: v contiguous slots, which cannot be split at run time.

The compiler.  tilelang hands out the base ids of a hard_event end to end, and
those of the cross-core flags wherever v contiguous slots are free.  Where it
proves that sync points are never in flight together it may give them one base
id: one allocation for several sync points.  (In the source that it prints, the ids
of one allocation are a ring.)  Where the allocations of a
hard_event ask for more than its 8 slots, a 0/1 knapsack keeps the subset that
fills the slots best; every other allocation spills, whole, to a pool of 32
locks, which all hard_events share and which block.  More than 32 locks, or a
cross-core flag without slots, and the compile stops.

The memory.  The buffers between the pipes are multi-buffered too: one version for
each stage, in UB, L1, L0A, L0B or L0C, unless the compiler's scheduler needs fewer
or the kernel fixes their number.  Whether they fit, the compiler mostly does not
check.

The model.  A Kernel holds sync points and buffers, declared one by one or read from
what a compiler printed.  plan() answers for one depth what the compiler does with
them; three limits say to what depth every flag stays a flag, to what depth the
compiler takes the kernel, and to what depth its buffers fit.  The reports print what
came out.  No work grows with the depth itself.

Sources are given as file:line in tilelang 0.1.15, src/ascend/transform/.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

__all__ = [
    "BUILT_IN",
    "CROSS_CORE",
    "CROSS_CORE_SLOTS",
    "INTRA_CORE_SLOTS",
    "LOCK_POOL_SLOTS",
    "MEMORIES",
    "PIPES",
    "Buffer",
    "Kernel",
    "Memory",
    "Namespace",
    "Placement",
    "Plan",
    "SyncPoint",
    "binds_first",
    "json_report",
    "knapsack_keep",
    "largest_stage_for_flags",
    "last_depth_in_memory",
    "last_depth_that_compiles",
    "last_depth_without_spill",
    "main",
    "plan",
    "read_kernel",
    "stage_bytes",
    "text_report",
]

# The hardware's numbers

PIPES = frozenset({"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"})  # ascend_pipe.h:75-93
INTRA_CORE_SLOTS = 8  # kIntraCoreFlagLimit, insert_sync.cc:2135
CROSS_CORE_SLOTS = 16  # kCrossCoreFlagLimit, insert_sync.cc:2136
LOCK_POOL_SLOTS = 32  # kMaxBufId, rewrite_flag_to_buf.cc:62
KILO = 1024
UNITS = {"": 1, "K": KILO, "M": KILO * KILO}  # bytes
MEMORIES = {  # bytes, auto_schedule.cc:106-140
    "ub": 248 * KILO,
    "l1": 512 * KILO,
    "l0a": 64 * KILO,
    "l0b": 64 * KILO,
    "l0c": 256 * KILO,
}
SIMT_UB = 216 * KILO  # what a SimtVF block leaves of UB, auto_schedule.cc:106
SCOPES = {  # in TIR, auto_schedule.cc:1342-1346
    "shared": "ub",
    "shared.l1": "l1",
    "shared.l0a": "l0a",
    "shared.l0b": "l0b",
    "shared.l0c": "l0c",
}
GEMM_L1_LOCKS = 2  # kGemmL1BufSlots, rewrite_flag_to_buf.cc:70

CROSS_CORE = "Cube-Vector"  # the cross-core namespace's name, insert_sync.cc:2085
SHARING = ("always", "on-demand")
LARGEST = 10**18  # the largest depth and num_versions, the largest size in M


# The kernel


def _check_name(what: str, text: str) -> None:
    if not re.fullmatch(r"[\w.\[\]][\w.\[\]-]*", text, re.ASCII):
        raise ValueError(
            f"{what} {text!r}: expected letters, digits and _ . [ ] -,"
            " not starting with a dash"
        )


def _check_number(what: str, number: int, unit: str = "") -> None:
    if not 1 <= number <= LARGEST * UNITS[unit]:
        raise ValueError(
            f"{what} {number}: expected a whole number from 1 to 10^18{unit}"
        )


def _check_versions(versions: int | None, max_versions: int | None) -> None:
    if versions is not None and max_versions is not None:
        raise ValueError(
            f"versions {versions} and max_versions {max_versions}: expected one of them"
        )
    if versions is not None:
        _check_number("versions", versions)
    if max_versions is not None:
        _check_number("max_versions", max_versions)


def _num_versions(versions: int | None, max_versions: int | None, depth: int) -> int:
    """What is fixed, or the depth, or the depth up to a limit: the scheduler gives a
    buffer that nobody annotated as many versions as its schedule needs, at most
    num_stages (tilelang/ascend/transform/z3_scheduler.py:435)."""
    if versions is not None:
        return versions
    return depth if max_versions is None else min(depth, max_versions)


@dataclass(frozen=True)
class SyncPoint:
    """One point of synchronisation between two pipes.

    name          letters, digits and _ . [ ] -, not starting with a dash
    event         the hard_event whose namespace it lives in, PROD_CONS of two
                  PIPES; "cross-core"; or None: wherever the kernel puts those that
                  name no event
    versions      its num_versions, in ids, where that is fixed; None: the depth
    cross_iter    whether it is a dependency on an earlier iteration (a release)
    share         sync points of one namespace and one share group may share a base
                  id; None: with no other (the compiler's proof that they may:
                  CanReuse, insert_sync.cc:1607, kept at :1729 and :1742)
    max_versions  where its num_versions follows the depth, but no further than this

    versions and max_versions are from 1 to 10^18, and never both given.  Raises
    ValueError where a field is not as described.
    """

    name: str
    event: str | None = None
    versions: int | None = None
    cross_iter: bool = False
    share: str | None = None
    max_versions: int | None = None

    def __post_init__(self) -> None:
        _check_name("name", self.name)
        if self.share is not None:
            _check_name("share group", self.share)
        if self.event is not None and self.event != "cross-core":
            producer, _, consumer = self.event.partition("_")
            if not {producer, consumer} <= PIPES or producer == consumer:
                raise ValueError(
                    f"event {self.event!r}: expected cross-core, or PROD_CONS of two"
                    f" different pipes of {' '.join(sorted(PIPES))}"
                )
        _check_versions(self.versions, self.max_versions)

    def num_versions(self, depth: int) -> int:
        """How many contiguous ids it rotates through at this depth."""
        return _num_versions(self.versions, self.max_versions, depth)


@dataclass(frozen=True)
class Buffer:
    """One buffer in the on-chip memory.

    name          letters, digits and _ . [ ] -, not starting with a dash
    memory        one of MEMORIES
    bytes         the size of one version, from 1 to 10^18 M
    versions      its num_versions where that is fixed; None: the depth
    max_versions  where its num_versions follows the depth, but no further than this

    versions and max_versions are from 1 to 10^18, and never both given.  Raises
    ValueError where a field is not as described.
    """

    name: str
    memory: str
    bytes: int
    versions: int | None = None
    max_versions: int | None = None

    def __post_init__(self) -> None:
        _check_name("name", self.name)
        _check_memory(self.memory)
        _check_number("bytes", self.bytes, "M")
        _check_versions(self.versions, self.max_versions)

    def num_versions(self, depth: int) -> int:
        """How many times it is there at this depth."""
        return _num_versions(self.versions, self.max_versions, depth)

    @property
    def follows_depth(self) -> bool:
        """Whether each stage more is one version more, without end."""
        return self.versions is None and self.max_versions is None


def _check_memory(name: str) -> None:
    if name not in MEMORIES:
        raise ValueError(f"memory {name!r}: expected one of {' '.join(MEMORIES)}")


def _check_names_once(named: Iterable[SyncPoint | Buffer]) -> None:
    names: set[str] = set()
    for each in named:
        if each.name in names:
            raise ValueError(f"name {each.name!r} twice: expected every name once")
        names.add(each.name)


@dataclass(frozen=True)
class Kernel:
    """The sync points of one kernel, how their flags are allocated, and the buffers
    that it keeps in the on-chip memories.

    sync_points    in the order that the compiler meets them; at least 1, no name
                   twice
    cross_core     whether those that name no event are cross-core flags, and not of
                   one unnamed namespace of 8 slots
    sharing        None: no base id is shared; "always": every share group is one
                   allocation, as wide as its widest sync point; "on-demand": as the
                   compiler does
    reserved       cross-core ids that the kernel uses explicitly; kept modulo 16
    lock_reserved  how many slots of the lock pool are taken beforehand, 0 to 32;
                   gemm_l1 takes 2 (rewrite_flag_to_buf.cc:70, :318)
    buffers        no name twice
    capacities     in bytes, of those memories whose size is not that of MEMORIES;
                   kept for all of them
    readings       by depth, the kernel as it was read there: at these depths it is
                   in the place of this one

    Raises ValueError where a field is not as described.
    """

    sync_points: Sequence[SyncPoint]
    cross_core: bool = False
    sharing: str | None = None
    reserved: Collection[int] = frozenset()
    lock_reserved: int = 0
    buffers: Sequence[Buffer] = ()
    capacities: Mapping[str, int] = field(default_factory=dict, hash=False)
    readings: Mapping[int, Kernel] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, value in (
            ("sync_points", tuple(self.sync_points)),
            ("reserved", frozenset(each % CROSS_CORE_SLOTS for each in self.reserved)),
            ("buffers", tuple(self.buffers)),
            ("capacities", {**MEMORIES, **self.capacities}),
        ):
            object.__setattr__(self, name, value)
        if not self.sync_points:
            raise ValueError("no sync points: expected at least 1")
        _check_names_once(self.sync_points)
        _check_names_once(self.buffers)
        if self.sharing not in {None, *SHARING}:
            raise ValueError(f"sharing {self.sharing!r}: expected one of {SHARING}")
        if not 0 <= self.lock_reserved <= LOCK_POOL_SLOTS:
            raise ValueError(
                f"lock_reserved {self.lock_reserved}: expected 0 to {LOCK_POOL_SLOTS}"
            )
        for memory, capacity in self.capacities.items():
            _check_memory(memory)
            _check_number(f"capacity of {memory}", capacity, "M")

    def namespace_of(self, point: SyncPoint) -> str | None:
        """The name of the namespace that this sync point lives in, a
        hard_event or CROSS_CORE (FlagDomain, insert_sync.cc:2083); None: the
        unnamed one."""
        if point.event == "cross-core" or (self.cross_core and point.event is None):
            return CROSS_CORE
        return point.event

    def at(self, depth: int) -> Kernel:
        """The kernel as it is at this depth."""
        return self.readings.get(depth, self)

    @property
    def memories(self) -> tuple[str, ...]:
        """The memories that hold a buffer, in the order of MEMORIES."""
        used = {each.memory for each in self.buffers}
        return tuple(memory for memory in MEMORIES if memory in used)


# Two loads and their releases, without an event and so all in one namespace.
BUILT_IN = (
    SyncPoint("acquire_A"),
    SyncPoint("acquire_B"),
    SyncPoint("release_A", share="release"),
    SyncPoint("release_B", share="release"),
)


# The plan


class Placement(NamedTuple):
    """Where one sync point ended up.

    name          the sync point's name
    num_versions  how many contiguous ids it rotates through
    placement     "flag", or "lock" where it spilled
    base          its base id: in its namespace, or in the lock pool
    """

    name: str
    num_versions: int
    placement: str
    base: int


class Namespace(NamedTuple):
    """One namespace at one depth.

    name         the hard_event, CROSS_CORE, or None for the unnamed
                 one
    slots        how many slots it has that are not reserved
    ids          how many ids the allocator asks for, over all
                 allocations
    kept_slots   how many of them stay flags; all of them unless one
                 spills
    sync_points  one for each sync point, as declared
    """

    name: str | None
    slots: int
    ids: int
    kept_slots: int
    sync_points: tuple[Placement, ...]

    @property
    def lock_slots(self) -> int:
        """How many slots of the lock pool its spilled allocations take."""
        return self.ids - self.kept_slots

    def names(self, placement: str) -> list[str]:
        """The sync points that stay a "flag", or that became a "lock"."""
        return [each.name for each in self.sync_points if each.placement == placement]


class Memory(NamedTuple):
    """One memory at one depth.

    name   one of MEMORIES
    bytes  its capacity
    used   how many bytes the buffers take, each as often as it has versions
    """

    name: str
    bytes: int
    used: int


class Plan(NamedTuple):
    """What the compiler does with a kernel at one depth.

    depth             num_stages
    namespaces        in order of first appearance
    lock_slots        how many slots of the lock pool are used, reserved ones included
    cross_core_locks  how many more the spilled cross-core flags would take, if they
                      could spill
    spilled           the names of the sync points that spill, as declared
    rejected          why the compile stops, in a few words; None if it does not
    memories          those that hold a buffer, in the order of MEMORIES
    """

    depth: int
    namespaces: tuple[Namespace, ...]
    lock_slots: int
    cross_core_locks: int
    spilled: tuple[str, ...]
    rejected: str | None
    memories: tuple[Memory, ...]

    @property
    def out_of_memory(self) -> tuple[str, ...]:
        """The memories whose buffers take more than there is."""
        return tuple(each.name for each in self.memories if each.used > each.bytes)


def knapsack_keep(widths: Sequence[int], capacity: int) -> list[bool]:
    """Which allocations stay flags: a subset that fills capacity slots best.

    widths are in ids, each at least 1, in id order; capacity is in slots, at
    least 0.  Returns one bool per allocation.  Among subsets of the same sum the
    choice is that of KnapsackKeep, rewrite_flag_to_buf.cc:203: each sum is
    recorded when it is first reached, with the allocation that reached it and
    the sum before, and the best sum is traced back.  An allocation wider than
    capacity is never kept.  Raises ValueError for a width or a capacity out of
    range.

    >>> knapsack_keep([5, 4, 4], 8)
    [False, True, True]
    """
    if capacity < 0:
        raise ValueError(f"capacity {capacity}: expected at least 0")
    if min(widths, default=1) < 1:
        raise ValueError(f"width {min(widths)}: expected at least 1")
    reached = {0: (-1, 0)}  # sum -> (the allocation that reached it, the sum before)
    for index, width in enumerate(widths):
        for before in list(reached):  # the sums without this one
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


def _first_fit(free: list[bool], width: int) -> int | None:
    """The lowest base of width contiguous free slots, if there is one:
    find_cross_core_range, insert_sync.cc:1901."""
    for base in range(len(free) - width + 1):
        if all(free[base : base + width]):
            return base
    return None


def _take(free: list[bool], base: int, width: int) -> None:
    free[base : base + width] = [False] * width


def _allocate(
    points: Sequence[SyncPoint],
    widths: Sequence[int],
    free: Sequence[bool],
    cross_core: bool,
    sharing: str | None,
) -> list[list[int]]:
    """The allocations of one namespace in id order, each as the indices of its
    sync points: FlagAllocator::Plan, insert_sync.cc:1851.

    widths are in ids, one for each sync point; free says of each slot whether it
    is not reserved.  An allocation is as wide as its widest sync point.
    """
    # Releases first, then wider before narrower, else as declared: :1912-1924.
    order = sorted(
        range(len(points)),
        key=lambda index: (not points[index].cross_iter, -widths[index]),
    )
    if sharing == "on-demand":
        return _share_on_demand(points, widths, list(free), cross_core, order)
    allocations: dict[int | str, list[int]] = {}
    for index in order:
        share = points[index].share if sharing == "always" else None
        allocations.setdefault(index if share is None else share, []).append(index)
    return [*allocations.values()]


def _share_on_demand(
    points: Sequence[SyncPoint],
    widths: Sequence[int],
    free: list[bool],
    cross_core: bool,
    order: Iterable[int],
) -> list[list[int]]:
    """The allocations where a sync point joins another of its share group only
    while the namespace is short of slots: insert_sync.cc:1946-1984."""
    slots, required = free.count(True), sum(widths)
    allocations: list[list[int]] = []
    of_group: dict[str | None, list[list[int]]] = {}
    for index in order:
        point, width = points[index], widths[index]
        group = [] if point.share is None else of_group.setdefault(point.share, [])
        base = _first_fit(free, width)
        joined = None
        if required > slots or base is None:
            for allocation in group:
                first = allocation[0]
                # Only a cross-core handshake alternates on one ring: :1634.
                mixed = points[first].cross_iter != point.cross_iter
                if widths[first] >= width and (cross_core or not mixed):
                    joined = allocation
                    break
        if joined is not None:
            joined.append(index)
            required -= width
            continue
        allocations.append([index])
        group.append(allocations[-1])
        if base is not None:
            _take(free, base, width)
    return allocations


def _plan_namespace(
    kernel: Kernel,
    name: str | None,
    points: Sequence[SyncPoint],
    depth: int,
    first_lock: int,
) -> Namespace:
    """Place the sync points of one namespace.  Kept allocations get the lowest
    slots that are free, spilled ones the lock slots from first_lock on, both in id
    order (rewrite_flag_to_buf.cc:318-357)."""
    cross_core = name == CROSS_CORE
    free = [True] * INTRA_CORE_SLOTS
    if cross_core:
        free = [slot not in kernel.reserved for slot in range(CROSS_CORE_SLOTS)]
    slots = free.count(True)
    widths = [point.num_versions(depth) for point in points]
    allocations = _allocate(points, widths, free, cross_core, kernel.sharing)
    demands = [max(widths[each] for each in members) for members in allocations]
    kept_slots, lock = 0, first_lock
    placements: dict[int, Placement] = {}
    for members, demand, keep in zip(
        allocations, demands, knapsack_keep(demands, slots)
    ):
        base = _first_fit(free, demand) if keep else None
        if base is not None:
            where = "flag"
            _take(free, base, demand)
            kept_slots += demand
        else:  # reserved ids can leave slots enough, but not side by side
            where, base = "lock", lock
            lock += demand
        for each in members:
            placements[each] = Placement(points[each].name, widths[each], where, base)
    declared = tuple(placements[index] for index in range(len(points)))
    return Namespace(name, slots, sum(demands), kept_slots, declared)


def _plan_memories(kernel: Kernel, depth: int) -> tuple[Memory, ...]:
    used = dict.fromkeys(kernel.memories, 0)
    for each in kernel.buffers:
        used[each.memory] += each.bytes * each.num_versions(depth)
    return tuple(Memory(name, kernel.capacities[name], used[name]) for name in used)


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def plan(kernel: Kernel, depth: int) -> Plan:
    """What the compiler does with kernel at this depth (num_stages, 1 to 10^18).

    Lock slots are numbered through all hard_events, behind those that are reserved.
    The compile stops where a cross-core flag finds no slots (insert_sync.cc:1993),
    before it could take a lock, and else where the locks are more than the lock pool
    has (rewrite_flag_to_buf.cc:364).  The plan then says that it is rejected, and
    shows the model's own spill: that of cross-core flags behind all other locks.
    Raises ValueError for a depth out of range.

    >>> at_3 = plan(Kernel(BUILT_IN), depth=3)
    >>> at_3.spilled, at_3.lock_slots
    (('release_A', 'release_B'), 6)
    """
    _check_number("depth", depth)
    kernel = kernel.at(depth)
    members: dict[str | None, list[SyncPoint]] = {}
    for point in kernel.sync_points:
        members.setdefault(kernel.namespace_of(point), []).append(point)
    planned: dict[str | None, Namespace] = {}
    used = locks = kernel.lock_reserved
    for name in sorted(members, key=lambda name: name == CROSS_CORE):
        planned[name] = _plan_namespace(kernel, name, members[name], depth, locks)
        locks += planned[name].lock_slots
        if name != CROSS_CORE:
            used = locks
    spilled = {name for each in planned.values() for name in each.names("lock")}
    rejected = None
    if locks > used:
        names = planned[CROSS_CORE].names("lock")
        rejected = f"no cross-core slots for {_listed(names)}"
    elif used > LOCK_POOL_SLOTS:
        rejected = f"lock pool {used}/{LOCK_POOL_SLOTS}"
    return Plan(
        depth,
        tuple(planned[name] for name in members),
        used,
        locks - used,
        tuple(point.name for point in kernel.sync_points if point.name in spilled),
        rejected,
        _plan_memories(kernel, depth),
    )


# The limits over depths


def _last_before(
    kernel: Kernel, depths: Iterable[int], ends: Callable[[int], bool]
) -> int | None:
    """The depth before the first of these at which something ends, if it does at any.
    Where the kernel was read at some depths, it is another one there, and behind."""
    read = kernel.readings
    behind = {min(depth + 1, LARGEST) for depth in read}
    for depth in sorted({*depths, *read, *behind}):
        if ends(depth):
            return depth - 1
    return None


def last_depth_without_spill(kernel: Kernel) -> int | None:
    """The depth before the first at which a sync point spills: 0 where depth 1
    spills, None where none does, which takes widths that do not grow for ever."""
    depths = range(1, CROSS_CORE_SLOTS + 2)  # the last is wider than any namespace
    return _last_before(kernel, depths, lambda depth: bool(plan(kernel, depth).spilled))


def last_depth_that_compiles(kernel: Kernel) -> int | None:
    """The depth before the first at which the compile stops for want of cross-core
    slots or locks: 0 where depth 1 is rejected, None where none is."""
    depths = range(1, LOCK_POOL_SLOTS + 2)  # the last is wider than the lock pool
    return _last_before(
        kernel, depths, lambda depth: bool(plan(kernel, depth).rejected)
    )


def last_depth_in_memory(kernel: Kernel) -> int | None:
    """The last depth before the first at which the buffers are more than a memory
    holds: 0 where that is depth 1, None where no depth is, or there are no buffers."""

    def overflows(each: Kernel, depth: int) -> bool:
        return any(memory.used > memory.bytes for memory in _plan_memories(each, depth))

    fits, first = 0, LARGEST * UNITS["M"] + 1  # more stages than any memory has bytes
    while overflows(kernel, first) and first - fits > 1:
        depth = (fits + first) // 2
        if overflows(kernel, depth):
            first = depth
        else:
            fits = depth
    return _last_before(
        kernel, [first], lambda depth: overflows(kernel.at(depth), depth)
    )


def binds_first(kernel: Kernel) -> str | None:
    """What a growing depth runs out of first: "flag slots", "memory", "both" at the
    same depth, or None where neither ends or there are no buffers."""
    flags, memory = last_depth_without_spill(kernel), last_depth_in_memory(kernel)
    if not kernel.buffers or flags is memory is None:
        return None
    if flags == memory:
        return "both"
    if memory is None or (flags is not None and flags < memory):
        return "flag slots"
    return "memory"


def stage_bytes(kernel: Kernel, memory: str) -> int:
    """How many bytes of a memory one stage takes: one version of each buffer that
    follows the depth."""
    return sum(
        each.bytes
        for each in kernel.buffers
        if each.memory == memory and each.follows_depth
    )


def largest_stage_for_flags(kernel: Kernel, memory: str) -> int | None:
    """The largest stage_bytes with which flag slots bind before this memory: with
    it, beside what else is in it, the memory still holds one depth more than the
    flags last.  0 where no stage is so small; None where the flags last for ever or
    nothing in this memory follows the depth."""
    flags = last_depth_without_spill(kernel)
    if flags is None or not stage_bytes(kernel, memory):
        return None
    depth = flags + 1
    beside = sum(
        each.bytes * each.num_versions(depth)
        for each in kernel.buffers
        if each.memory == memory and not each.follows_depth
    )
    return max(0, (kernel.capacities[memory] - beside) // depth)


# The report


def text_report(
    kernel: Kernel, depths: Iterable[int], blocks: bool = True, table: bool = True
) -> Iterator[str]:
    """The lines that the command prints: with blocks, the block of each depth; with
    table, a row for each and then the three limits."""
    plans: list[Plan] = []
    for depth in depths:
        plans.append(plan(kernel, depth))
        if blocks:
            if len(plans) > 1:
                yield ""
            yield from _depth_lines(kernel.at(depth), plans[-1])
    if blocks and table:
        yield ""
    if table:
        yield from _table(kernel, plans)
        yield from _limits(kernel)


def _names_events(kernel: Kernel) -> bool:
    return any(point.event is not None for point in kernel.sync_points)


def _heading(kernel: Kernel, namespace: str | None) -> str:
    """What the table calls a namespace."""
    return namespace or "unnamed" if _names_events(kernel) else "ids"


def _demand(memory: Memory) -> str:
    if memory.bytes % KILO:
        return f"{memory.used}/{memory.bytes}"
    return f"{_kilobytes(memory.used)}/{_kilobytes(memory.bytes)}"


def _kilobytes(size: int) -> str:
    if size % KILO == 0:
        return f"{size // KILO}K"
    tenths = -(-size * 10 // KILO)  # rounded up
    return f"{tenths // 10}.{tenths % 10}K"


def _depth_lines(kernel: Kernel, depth_plan: Plan) -> Iterator[str]:
    depth = depth_plan.depth
    exceptions = _exceptions(kernel, depth)
    yield f"depth={depth} num_versions per sync point = {depth}{exceptions}"
    named = _names_events(kernel)
    for namespace in depth_plan.namespaces:
        if named:
            yield f"[{namespace.name or 'unnamed'}]"
        reserved = kernel.reserved if namespace.name == CROSS_CORE else ()
        yield from _namespace_lines(namespace, sorted(reserved))
    if named or depth_plan.spilled:
        yield _lock_line(depth_plan)
    for memory in depth_plan.memories:
        yield f"memory {memory.name}: {_demand(memory)}"
    if depth_plan.cross_core_locks:
        yield (
            "note: the compiler has no lock pool for cross-core flags;"
            " it rejects this depth"
        )


def _exceptions(kernel: Kernel, depth: int) -> str:
    """The sync points whose num_versions are not simply the depth."""
    parts = []
    for what, points in (
        ("fixed", [each for each in kernel.sync_points if each.versions]),
        ("at most", [each for each in kernel.sync_points if each.max_versions]),
    ):
        if points:
            widths = [f"{each.name}={each.num_versions(depth)}" for each in points]
            parts.append(f"{what}: {', '.join(widths)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _namespace_lines(namespace: Namespace, reserved: list[int]) -> Iterator[str]:
    points, slots = namespace.sync_points, namespace.slots
    blocks = ", ".join(f"{each.name}={each.num_versions}" for each in points)
    yield f"blocks: {blocks}"
    on_base: dict[tuple[str, int], list[str]] = {}
    for each in points:
        on_base.setdefault((each.placement, each.base), []).append(each.name)
    for names in on_base.values():
        if len(names) > 1:
            yield f"shared : {', '.join(names)} on one base"
    if reserved:
        yield f"reserved : {', '.join(map(str, reserved))}"
    yield f"allocator sum = {namespace.ids} ids"
    if namespace.lock_slots:
        short = "exceeds" if namespace.ids > slots else "finds no contiguous run in"
        yield (
            f"-> {short} {slots} slots: 0/1 knapsack keeps"
            f" {namespace.kept_slots}/{slots} slots as set/wait flags"
        )
        yield f"kept : {', '.join(namespace.names('flag')) or 'none'}"
        yield (
            f"spilled : {', '.join(namespace.names('lock'))}"
            " -> asc_lock/asc_unlock mutex pool (blocking)"
        )
    else:
        spare = slots - namespace.ids
        yield f"-> fits in {slots} slots; no spill ({spare} slots spare)"
    name_width = max(len(each.name) for each in points)
    base_width = max(len(str(each.base)) for each in points)
    versions_width = max(len(str(each.num_versions)) for each in points)
    for each in points:
        where = "base" if each.placement == "flag" else "lock"
        yield (
            f"{each.name:{name_width}} {where} {each.base:<{base_width}}"
            f" id = i % {each.num_versions:<{versions_width}} + {each.base}"
        )


def _lock_line(depth_plan: Plan) -> str:
    line = f"lock pool: {depth_plan.lock_slots}/{LOCK_POOL_SLOTS} slots"
    if depth_plan.cross_core_locks:
        line += f", and {depth_plan.cross_core_locks} for cross-core flags"
    if depth_plan.lock_slots > LOCK_POOL_SLOTS:
        line += " -> the compiler rejects this depth"
    return line


def _verdict(depth_plan: Plan) -> str:
    """All that happens at one depth."""
    verdict = []
    if depth_plan.rejected:
        verdict.append(f"rejected: {depth_plan.rejected}")
    cross_core = {
        name
        for each in depth_plan.namespaces
        if each.name == CROSS_CORE
        for name in each.names("lock")
    }
    spilled = [name for name in depth_plan.spilled if name not in cross_core]
    if spilled:
        verdict.append(f"spills {_listed(spilled)}")
    if depth_plan.out_of_memory:
        verdict.append(f"out of memory: {', '.join(depth_plan.out_of_memory)}")
    return "; ".join(verdict) or "fits"


def _table(kernel: Kernel, plans: Sequence[Plan]) -> Iterator[str]:
    """A row for each depth: columns right-aligned and two blanks apart, but for the
    last one, which is prose.  A depth that was read may lack what others have."""
    shown = dict.fromkeys(each.name for at in plans for each in at.namespaces)
    order = dict.fromkeys(map(kernel.namespace_of, kernel.sync_points))
    namespaces = [name for name in {**order, **shown} if name in shown]
    used = {each.name for at in plans for each in at.memories}
    memories = [name for name in MEMORIES if name in used]
    headings = [_heading(kernel, name) for name in namespaces]
    rows = [["depth", *headings, "locks", *memories, "verdict"]]
    for at in plans:
        ids = {each.name: f"{each.ids}/{each.slots}" for each in at.namespaces}
        demands = {each.name: _demand(each) for each in at.memories}
        rows.append(
            [
                str(at.depth),
                *(ids.get(name, "-") for name in namespaces),
                f"{at.lock_slots}/{LOCK_POOL_SLOTS}",
                *(demands.get(name, "-") for name in memories),
                _verdict(at),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows)][:-1]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        yield "  ".join([*cells, row[-1]])


def _limits(kernel: Kernel) -> Iterator[str]:
    """The answer: one line for each limit, and which of them binds first."""
    flags = last_depth_without_spill(kernel)
    if flags is None:
        yield (
            "flag slots last to any depth:"
            " every width is fixed or limited, and none spills"
        )
    else:
        spills = ", ".join(_over(kernel, plan(kernel, flags + 1)).values())
        if flags:
            yield (
                f"flag slots last to depth {flags};"
                f" depth {flags + 1} is the first to spill: {spills}"
            )
        else:
            yield f"flag slots do not last to any depth; depth 1 already spills: {spills}"
    compiles = last_depth_that_compiles(kernel)
    if compiles is not None:
        rejected = plan(kernel, compiles + 1)
        reason = _over(kernel, rejected).get(CROSS_CORE, rejected.rejected)
        up_to = f"up to depth {compiles}" if compiles else "no depth"
        yield (
            f"the compiler takes {up_to}; depth {compiles + 1} is rejected: {reason}"
        )
    if kernel.buffers:
        yield from _memory_limits(kernel)


def _over(kernel: Kernel, depth_plan: Plan) -> dict[str | None, str]:
    """The namespaces that spill, with their demand."""
    return {
        each.name: f"{_heading(kernel, each.name)} {each.ids}/{each.slots}"
        # Reserved ids can leave slots enough, but not side by side.
        + (" in no contiguous run" if each.ids <= each.slots else "")
        for each in depth_plan.namespaces
        if each.lock_slots
    }


def _memory_limits(kernel: Kernel) -> Iterator[str]:
    memory = last_depth_in_memory(kernel)
    if memory is None:
        yield "memory lasts to any depth"
    else:
        needs = ", ".join(
            f"{each.name} {_demand(each)}"
            for each in _plan_memories(kernel.at(memory + 1), memory + 1)
            if each.used > each.bytes
        )
        if memory:
            yield f"memory lasts to depth {memory}; depth {memory + 1} needs {needs}"
        else:
            yield f"memory does not last to any depth; depth 1 already needs {needs}"
    first = binds_first(kernel)
    if first == "both":
        yield "flag slots and memory bind at the same depth"
    elif first:
        yield f"{first} {'binds' if first == 'memory' else 'bind'} first"
    for name in kernel.memories:
        largest = largest_stage_for_flags(kernel, name)
        if largest:
            yield (
                f"in {name}, flag slots bind first while a stage takes at most"
                f" {largest} bytes (it takes {stage_bytes(kernel, name)})"
            )
        elif largest == 0:
            yield f"in {name}, flag slots never bind first"


def json_report(
    kernel: Kernel, depths: Iterable[int], read: Sequence[object] = ()
) -> Iterator[str]:
    """The same as one JSON document, a line per depth; read is what stands there of
    the texts that the kernel was read from."""
    yield '{"depths": ['
    comma = ""
    for depth in depths:
        yield comma + json.dumps(_depth_document(plan(kernel, depth)))
        comma = ","
    answer = {
        "last_depth_without_spill": last_depth_without_spill(kernel),
        "last_depth_that_compiles": last_depth_that_compiles(kernel),
        "last_depth_in_memory": last_depth_in_memory(kernel),
        "binds_first": binds_first(kernel),
        "memories": [
            {
                "name": name,
                "bytes": kernel.capacities[name],
                "stage_bytes": stage_bytes(kernel, name),
                "largest_stage_for_flags": largest_stage_for_flags(kernel, name),
            }
            for name in kernel.memories
        ],
        "read": read,
    }
    yield f"], {json.dumps(answer)[1:]}"


def _depth_document(depth_plan: Plan) -> dict[str, object]:
    error = depth_plan.rejected
    return {
        "depth": depth_plan.depth,
        "namespaces": [
            {
                **each._asdict(),
                "sync_points": [*map(Placement._asdict, each.sync_points)],
            }
            for each in depth_plan.namespaces
        ],
        "lock_pool": {
            "slots": LOCK_POOL_SLOTS,
            "used": depth_plan.lock_slots,
            "cross_core": depth_plan.cross_core_locks,
        },
        "spilled": depth_plan.spilled,
        "error": error and f"the compiler rejects this depth: {error}",
        "memories": [*map(Memory._asdict, depth_plan.memories)],
        "out_of_memory": depth_plan.out_of_memory,
    }


def _reading_lines(readings: Sequence[_Reading], kernel: Kernel) -> Iterator[str]:
    """What the deepest reading, the first of these, has in which lines: so a spill
    leads back to the text."""
    deepest, *further = readings
    also = "".join(f"; also at depth {each.depth}: {each.file}" for each in further)
    yield f"read at depth {deepest.depth}: {deepest.file}{also}"
    rows: list[tuple[str, str, str, str]] = []
    for point, ring in deepest.sync_points:
        ids = (
            f"id {ring.low}" if ring.low == ring.high else f"ids {ring.low}-{ring.high}"
        )
        rows.append((point.name, ids, _growth(point), _lines_of(ring.lines)))
    for buffer, _, line in deepest.buffers:
        size = f"{buffer.memory} {_kilobytes(buffer.bytes)}"
        rows.append((buffer.name, size, _growth(buffer), _lines_of([line])))
    widths = [max(map(len, column)) for column in zip(*rows)][:-1]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        yield "  ".join([*cells, row[-1]])
    if deepest.gemms:
        yield f"gemm_l1 holds {GEMM_L1_LOCKS} locks, {_lines_of(deepest.gemms)}"
    if deepest.simt and kernel.capacities["ub"] == SIMT_UB:
        yield f"ub has {_kilobytes(SIMT_UB)}: SIMT_VF, {_lines_of(deepest.simt)}"


def _growth(each: SyncPoint | Buffer) -> str:
    if each.versions:
        return f"fixed {each.versions}"
    return f"at most {each.max_versions}" if each.max_versions else "follows the depth"


def _lines_of(lines: Sequence[int]) -> str:
    return f"line{'s' if len(lines) > 1 else ''} {_listed([*map(str, lines)], 4)}"


def _reading_document(reading: _Reading) -> dict[str, object]:
    return {
        "file": reading.file,
        "depth": reading.depth,
        "sync_points": [
            {"name": point.name, "ids": [ring.low, ring.high], "lines": ring.lines}
            for point, ring in reading.sync_points
        ],
        "buffers": [
            {
                "name": buffer.name,
                "memory": buffer.memory,
                "bytes": buffer.bytes,
                "versions": versions,
                "line": line,
            }
            for buffer, versions, line in reading.buffers
        ],
        "locks": GEMM_L1_LOCKS if reading.gemms else 0,
    }


# Reading TIR, which is Python

_EXPECTED_TIR = (
    "expected the TIR that tilelang's pass tl.InsertSync leaves, the file ending in"
    ' _tl.InsertSync.py that pass_configs={"tl.enable_dump_ir": True} writes;'
    " a kernel in another language is declared with --sync-point"
)
_FLAG_CALLS = {"ascend_set_flag", "ascend_wait_flag"}
_CROSS_CORE_FLAG_CALLS = {"ascend_cross_core_set_flag", "ascend_cross_core_wait_flag"}
_LOOPS = {"serial", "unroll", "parallel", "vectorized", "range"}


class _Ids(NamedTuple):
    """What an event id can be, and whether only a loop keeps it from being more."""

    low: int
    high: int
    by_loop: bool = False


class _Found(NamedTuple):
    """What of a TIR text matters.

    calls    the name of what is called, the call, the loop variables around it
    entries  of all dicts, those whose key is a text
    scopes   by the name of the variable that is a buffer
    """

    calls: list[tuple[str, ast.Call, dict[str, _Ids | None]]]
    entries: list[tuple[str, ast.expr]]
    scopes: dict[str, str | None]


class _Ring(NamedTuple):
    """Ids that overlap, whether they are a release's, and the lines they stand in."""

    low: int
    high: int
    release: bool
    lines: list[int]


class _ReadPoint(NamedTuple):
    """One ring, and the sync point that it is."""

    point: SyncPoint
    ring: _Ring


class _ReadBuffer(NamedTuple):
    """One buffer, how many versions of it were read, and in which line."""

    buffer: Buffer
    versions: int
    line: int


class _Reading(NamedTuple):
    """A kernel as one TIR text has it.

    file         as given
    depth        what it was compiled with
    num_stages   those that the text prints, ascending
    sync_points  in the order that the text has the namespaces
    buffers      in the order of the text
    gemms        the lines of what becomes gemm_l1
    simt         the lines of the SimtVF blocks
    by_loop      the lines with an id that only a loop keeps from being more
    cross_core   whether there is a cross-core flag, reserved or not
    """

    file: str
    depth: int
    num_stages: list[int]
    sync_points: list[_ReadPoint]
    buffers: list[_ReadBuffer]
    gemms: list[int]
    simt: list[int]
    by_loop: list[int]
    cross_core: bool

    @property
    def kernel(self) -> Kernel:
        """What was read, with nothing that an option says."""
        return Kernel(
            [each.point for each in self.sync_points],
            lock_reserved=GEMM_L1_LOCKS if self.gemms else 0,
            buffers=[each.buffer for each in self.buffers],
            capacities={"ub": SIMT_UB} if self.simt else {},
        )


def read_kernel(
    tir: str, depth: int | None = None, reserved: Collection[int] = ()
) -> Kernel:
    """The kernel in a TIR text of tilelang, as the pass tl.InsertSync leaves it.

    depth is what it was compiled with; None: the largest num_stages that the text
    prints.  Ids of one namespace that overlap are a ring, and each ring is a sync
    point, named after the namespace and its first id.  Cross-core ids in reserved
    belong to none.  A ring as wide as depth follows the depth, a narrower one follows
    it up to its own width, a wider one is fixed; so it is with the versions of the
    buffers.  Raises ValueError for a text that is no TIR, has no flags, or has spilled
    to locks already; for a depth that it does not print, an event id without bounds,
    and a buffer without a size.

    >>> tir = 'for s in range(64): T.ascend_set_flag("MTE2_V", s % 3 + 3)'
    >>> read_kernel(tir, depth=3).sync_points[0].name
    'MTE2_V[3]'
    """
    return replace(_read(tir, depth, reserved).kernel, reserved=reserved)


def _read(
    tir: str, depth: int | None, reserved: Collection[int], file: str = ""
) -> _Reading:
    try:
        tree = _parse(tir)
        _check_not_spilled(tree)
        found = _Found([], [], {})
        _find(_body_with_flags(tree), {}, found)
        uses = _flag_uses(tir, found)
    except (RecursionError, MemoryError):
        raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None
    stages = {_number_in(node) for key, node in found.entries if key == "num_stages"}
    num_stages = sorted(each for each in stages if each)
    depth = _depth_read(depth, num_stages)
    return _Reading(
        file,
        depth,
        num_stages,
        _sync_points(uses, depth, reserved),
        _buffers(found, depth),
        _gemm_l1_lines(found),
        [
            call.lineno
            for name, call, _ in found.calls
            if name == "sblock" and [*map(_text_in, call.args)] == ["SIMT_VF"]
        ],
        sorted({line for each in uses.values() for ids, line in each if ids.by_loop}),
        "cross-core" in uses,
    )


def _parse(tir: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about what is no TIR
            return ast.parse(tir)
    except (SyntaxError, ValueError):
        raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None


def _called(node: ast.AST) -> str:
    """The last name of what a call calls; nothing if it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def _text_in(node: ast.expr) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def _number_in(node: ast.expr) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int else None


def _check_not_spilled(tree: ast.Module) -> None:
    """A flag that has spilled is unlocked as soon as it is locked
    (rewrite_flag_to_buf.cc:293)."""
    for node in ast.walk(tree):
        for body in getattr(node, "body", None), getattr(node, "orelse", None):
            if not isinstance(body, list):
                continue
            for lock, unlock in zip(body, body[1:]):
                if _called(getattr(lock, "value", lock)) != "ascend_get_buf":
                    continue
                unlocked = ast.dump(lock).replace("ascend_get_buf", "ascend_rls_buf")
                if ast.dump(unlock) == unlocked:
                    raise ValueError(
                        f"line {lock.lineno}: flags have spilled to locks already:"
                        f" {_EXPECTED_TIR}"
                    )


def _body_with_flags(tree: ast.Module) -> list[ast.stmt]:
    """The function that sets flags, or all, where none does."""
    kernels = [
        function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(
            _called(node) in _FLAG_CALLS | _CROSS_CORE_FLAG_CALLS
            for node in ast.walk(function)
        )
    ]
    if len(kernels) > 1:
        lines = ", ".join(str(each.lineno) for each in kernels)
        raise ValueError(
            f"the functions of lines {lines} set flags: expected one kernel; read each"
            " from a file of its own"
        )
    return kernels[0].body if kernels else tree.body


def _find(
    body: Iterable[ast.stmt], loops: dict[str, _Ids | None], found: _Found
) -> None:
    """Add to found what stands in these statements; loops has the loop variables
    around them."""
    for statement in body:
        inner = loops
        if isinstance(statement, ast.For):
            inner = {**loops, **_loop_variables(statement)}
        elif isinstance(statement, ast.Assign) and isinstance(
            statement.value, ast.Call
        ):
            (target, *_), call = statement.targets, statement.value
            for keyword in call.keywords:
                if keyword.arg == "scope" and isinstance(target, ast.Name):
                    found.scopes[target.id] = _text_in(keyword.value)
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                _find([child], inner, found)
                continue
            for node in ast.walk(child):
                if isinstance(node, ast.Call):
                    found.calls.append((_called(node), node, loops))
                elif isinstance(node, ast.Dict):
                    for key, value in zip(node.keys, node.values):
                        text = None if key is None else _text_in(key)
                        if text is not None:
                            found.entries.append((text, value))


def _loop_variables(loop: ast.For) -> dict[str, _Ids | None]:
    """The variables of a loop and, where it says so with numbers, what they can be."""
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    limits: list[int | None] = []
    if isinstance(loop.iter, ast.Call):
        limits = [*map(_number_in, loop.iter.args)]
    starts: list[int | None] = [0] * len(limits)
    if _called(loop.iter) in _LOOPS and limits[1:]:  # serial(2, 6)
        starts, limits = limits[:1], limits[1:]
    elif _called(loop.iter) not in _LOOPS | {"grid"}:
        limits = []
    variables: dict[str, _Ids | None] = dict.fromkeys(names)
    for name, start, stop in zip(names, starts, limits):
        if start is not None and stop is not None and start < stop:
            variables[name] = _Ids(start, stop - 1, by_loop=True)
    return variables


def _bounds(
    node: ast.expr, loops: Mapping[str, _Ids | None], cross_core: bool
) -> _Ids | None:
    """What an event id can be, if that is known (EventIdRange,
    rewrite_flag_to_buf.cc:121)."""
    number = _number_in(node)
    if number is not None:
        return _Ids(number, number)
    if isinstance(node, ast.Name):
        return loops.get(node.id)
    if not isinstance(node, ast.BinOp):
        return None
    if isinstance(node.op, ast.Mod):
        modulus = _number_in(node.right)
        if not modulus:
            return None
        left = _bounds(node.left, loops, cross_core)
        return left if left and left.high < modulus else _Ids(0, modulus - 1)
    if isinstance(node.op, ast.Add):
        left = _bounds(node.left, loops, cross_core)
        right = _bounds(node.right, loops, cross_core)
        if left and right:
            return _Ids(
                left.low + right.low,
                left.high + right.high,
                left.by_loop or right.by_loop,
            )
    if isinstance(node.op, ast.Mult) and cross_core:
        # The cube addresses the second vector core at + 16: insert_sync.cc:1878.
        factors = _number_in(node.left), _number_in(node.right)
        if any(each is not None and each % CROSS_CORE_SLOTS == 0 for each in factors):
            return _Ids(0, 0)
    return None


def _flag_uses(tir: str, found: _Found) -> dict[str, list[tuple[_Ids, int]]]:
    """Per event of a SyncPoint, in order of appearance, the ids and the line of each
    flag call (FlagUsageCollector, rewrite_flag_to_buf.cc:138)."""
    uses: dict[str, list[tuple[_Ids, int]]] = {}
    unbounded: list[str] = []
    for name, call, loops in found.calls:
        cross_core = name in _CROSS_CORE_FLAG_CALLS
        if not cross_core and name not in _FLAG_CALLS:
            continue
        line = call.lineno
        event = "cross-core" if cross_core else call.args and _text_in(call.args[0])
        if not event or len(call.args) != (3 if cross_core else 2):
            where = "a mode, a pipe" if cross_core else "a hard_event"
            raise ValueError(f"line {line}: expected {where} and an id in {name}")
        try:
            SyncPoint("_", event)  # is it one?
        except ValueError as error:
            raise ValueError(f"line {line}: {error}") from None
        ids = _bounds(call.args[-1], loops, cross_core)
        if ids is None:
            text = " ".join((ast.get_source_segment(tir, call.args[-1]) or "").split())
            unbounded.append(f"line {line} {text[:40]!r}")
        else:
            uses.setdefault(event, []).append((ids, line))
    if unbounded:
        raise ValueError(
            f"event ids without bounds: {_listed(unbounded, 10)}: expected a number, a"
            " variable of a loop that numbers bound, x % v with a number v, or a sum of"
            " these"
        )
    if not uses:
        raise ValueError(f"no flags: {_EXPECTED_TIR}")
    return uses


def _modulo_16(ids: _Ids) -> list[tuple[int, int]]:
    """What the 16 cross-core slots have of these ids."""
    last = CROSS_CORE_SLOTS - 1
    if ids.high - ids.low >= last:
        return [(0, last)]
    low, high = ids.low % CROSS_CORE_SLOTS, ids.high % CROSS_CORE_SLOTS
    return [(low, high)] if low <= high else [(low, last), (0, high)]


def _rings(uses: Iterable[tuple[int, int, int]]) -> list[_Ring]:
    """Join the ids that overlap, each given as lowest, highest and line, into rings.
    Those that only touch stay apart (CoalesceBlocks, rewrite_flag_to_buf.cc:188)."""
    rings: list[_Ring] = []
    for low, high, line in sorted(uses):
        # A single id primes the ring that it is in.
        joined = _Ring(low, high, low == high, [line])
        if rings and low <= rings[-1].high:
            before = rings.pop()
            joined = _Ring(
                before.low,
                max(before.high, high),
                before.release or joined.release,
                [*before.lines, line],
            )
        rings.append(joined)
    # tilelang primes only releases before the loop (insert_sync.cc:2090), and gives
    # them the lower ids; among them, as behind them, wider comes before narrower
    # (:1912-1924).  So nothing narrower than what follows it can be anything else.
    release, widest = False, 0
    for index, ring in reversed([*enumerate(rings)]):
        width = ring.high + 1 - ring.low
        release = release or width < widest or (ring.release and width > 1)
        widest = max(widest, width)
        rings[index] = ring._replace(release=release, lines=sorted({*ring.lines}))
    return rings


def _follows(width: int, depth: int) -> dict[str, Any]:
    """How what is this wide at this depth grows, as fields of a SyncPoint or Buffer:
    what the scheduler stopped below the depth, it stops at deeper ones too."""
    if width == depth:
        return {}
    return {"max_versions" if 1 < width < depth else "versions": width}


def _sync_points(
    uses: dict[str, list[tuple[_Ids, int]]], depth: int, reserved: Collection[int]
) -> list[_ReadPoint]:
    """The rings of each namespace, in id order, but for those of reserved ids."""
    taken = {each % CROSS_CORE_SLOTS for each in reserved}
    points: list[_ReadPoint] = []
    for event, each in uses.items():
        namespace, ranges = event, [(ids.low, ids.high, line) for ids, line in each]
        if event == "cross-core":
            namespace = CROSS_CORE
            ranges = [(*part, line) for ids, line in each for part in _modulo_16(ids)]
        for ring in _rings(ranges):
            ids = range(ring.low, ring.high + 1)
            if event == "cross-core" and taken.issuperset(ids):
                continue
            point = SyncPoint(
                f"{namespace}[{ring.low}]",
                event,
                cross_iter=ring.release,
                **_follows(len(ids), depth),
            )
            points.append(_ReadPoint(point, ring))
    if not points:
        raise ValueError("all flags are reserved: expected one that is not")
    return points


def _depth_read(depth: int | None, num_stages: list[int]) -> int:
    if depth is None:
        if not num_stages:
            raise ValueError(
                "no num_stages is printed: expected the depth that it was compiled with,"
                " as in 4=FILE"
            )
        return num_stages[-1]
    if num_stages and depth not in num_stages:
        raise ValueError(
            f"depth {depth}: expected a num_stages that is printed:"
            f" {', '.join(map(str, num_stages))}"
        )
    return depth


def _memory_of(scope: str | None) -> str | None:
    return SCOPES.get((scope or "").removesuffix(".dyn"))


def _buffers(found: _Found, depth: int) -> list[_ReadBuffer]:
    """The buffers in the memories.  One that has no data is used by nothing."""
    versions: dict[str, int] = {}
    for entry, value in found.entries:
        if entry == "tl.buffer_versions_map" and isinstance(value, ast.Dict):
            for key, node in zip(value.keys, value.values):
                number = _number_in(node)
                if key is None or number is None:
                    raise ValueError(
                        f"line {node.lineno}: versions {ast.unparse(node)}: expected a"
                        " number"
                    )
                versions[_data_name(key)] = number
    buffers: list[_ReadBuffer] = []
    for name, call, _ in found.calls:
        keywords = {each.arg: each.value for each in call.keywords}
        if name != "sblock_alloc_buffer" or not {"data", "scope"} <= keywords.keys():
            continue
        memory = _memory_of(_text_in(keywords["scope"]))
        if memory is None:
            continue
        data = _data_name(keywords["data"])
        count = versions.get(data, 1)
        try:
            buffer = Buffer(
                data, memory, _version_bytes(call), **_follows(count, depth)
            )
        except ValueError as error:
            raise ValueError(f"line {call.lineno}: {error}") from None
        buffers.append(_ReadBuffer(buffer, count, call.lineno))
    return buffers


def _data_name(data: ast.expr) -> str:
    return ast.unparse(data).removesuffix(".data")


def _version_bytes(allocation: ast.Call) -> int:
    """What one version of a buffer takes: its shape times its dtype."""
    shape, *rest = allocation.args or [ast.Constant(None)]
    lengths = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    elements = 1
    for length in map(_number_in, lengths):
        if length is None:
            raise ValueError(f"shape {ast.unparse(shape)}: expected numbers")
        elements *= length
    dtype = _text_in(rest[0]) if rest else "float32"
    # The bits, then what else tells it from others, then its lanes.
    match = re.fullmatch(
        r"(?:bool|[a-z]+(\d{1,4})(?:_[a-z\d]*[a-z])?)(?:x(\d{1,4}))?", dtype or ""
    )
    if match is None:
        raise ValueError(f"dtype {dtype!r}: expected one with a size, as in float32")
    bits = int(match[1] or 8) * int(match[2] or 1)
    return -(-elements * bits // 8)


def _gemm_l1_lines(found: _Found) -> list[int]:
    """The lines of what becomes gemm_l1: both inputs are in L1
    (tilelang/ascend/op/gemm/gemm_mad.py:167)."""
    return [
        call.lineno
        for name, call, _ in found.calls
        if name in {"gemm", "gemm_blockscaled"}
        and [_memory_of(found.scopes.get(_region_name(each))) for each in call.args[:2]]
        == ["l1", "l1"]
    ]


def _region_name(node: ast.expr) -> str:
    """The a of T.region(a[0, 0], 1, 64, 64)."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


# The command


# What reads a part of the command line says only what it expected; who called it
# knows which part that was.


def _number(text: str, least: int = 1, most: int = LARGEST) -> int:
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    if digits and least <= int(text) <= most:
        return int(text)
    end = "10^18" if most == LARGEST else most
    raise ValueError(f"expected a whole number from {least} to {end}")


def _size(text: str) -> int:
    unit = text[-1:].upper()
    try:
        return _number(text[:-1] if unit in UNITS else text) * UNITS.get(unit, 1)
    except ValueError as error:
        raise ValueError(f"{error}, of bytes, K or M, as in 4K") from None


def _capacity(text: str) -> tuple[str, int]:
    memory, _, size = text.partition("=")
    if memory not in MEMORIES:
        raise ValueError(
            f"expected MEMORY=SIZE, as in ub=192K, for one of {' '.join(MEMORIES)}"
        )
    return memory, _size(size)


def _declared(
    text: str, parsers: dict[str, Callable[[str], object] | None], usage: str
) -> dict[str, Any]:
    """The fields of NAME,KEY=VALUE,...: parsers has a function for each key that has
    a value, and None for each that stands alone."""
    name, *parts = text.split(",")
    fields: dict[str, Any] = {"name": name}
    for part in parts:
        key, equals, value = part.partition("=")
        field = key.replace("-", "_")
        if key not in parsers or bool(parsers[key]) != bool(equals):
            raise ValueError(f"{part!r}: expected {usage}")
        if field in fields:
            raise ValueError(f"key {key!r} twice: expected every key once")
        parse = parsers[key]
        try:
            fields[field] = parse(value) if parse else True
        except ValueError as error:
            raise ValueError(f"{part!r}: {error}") from None
    return fields


def _sync_point(text: str) -> SyncPoint:
    parsers: dict[str, Callable[[str], object] | None] = {
        "event": str,
        "versions": _number,
        "max-versions": _number,
        "cross-iter": None,
        "share": str,
    }
    usage = "event=PROD_CONS, versions=N, max-versions=N, cross-iter or share=GROUP"
    return SyncPoint(**_declared(text, parsers, usage))


def _buffer(text: str) -> Buffer:
    parsers: dict[str, Callable[[str], object] | None] = {
        "memory": str,
        "bytes": _size,
        "versions": _number,
        "max-versions": _number,
    }
    usage = "memory=MEMORY, bytes=SIZE, versions=N or max-versions=N"
    fields = _declared(text, parsers, usage)
    for key in "memory", "bytes":
        if key not in fields:
            raise ValueError(f"no {key}: expected {key}= in every buffer")
    return Buffer(**fields)


def _ids(text: str) -> list[int]:
    ids: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        try:
            first = _number(low, 0)
            last = _number(high, 0) if dash else first
        except ValueError:
            raise ValueError(
                f"{part!r}: expected an id or a range of ids, as in 15 or 14,15 or 0-3,9"
            ) from None
        if first > last:
            raise ValueError(f"{part!r}: expected a range LOW-HIGH")
        # More than the whole namespace says nothing more.
        ids += range(first, min(last + 1, first + CROSS_CORE_SLOTS))
    return ids


def _depth_and_file(text: str) -> tuple[int | None, str]:
    depth, equals, file = text.partition("=")
    if equals and depth.isascii() and depth.isdigit():
        return _number(depth), file
    return None, text


def _checked(parse: Callable[[str], object]) -> Callable[[str], object]:
    """parse as argparse wants it: its ValueError is the error line."""

    def argument(text: str) -> object:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None

    return argument


class _Once(argparse.Action):
    """An option that takes one value, and no second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Keep the value."""
        before = getattr(namespace, self.dest)
        if before is not None:
            raise argparse.ArgumentError(
                self, f"{before!r} and {values!r}: expected one value"
            )
        setattr(namespace, self.dest, values)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="""\
How deep can an Ascend pipeline go before it runs out of flag slots, or of
memory? Sweeps the depth (num_stages) of a kernel and prints where tilelang's
compiler puts each sync point, which stay set/wait flags and which spill to the
lock pool, and how full the memories are. The last lines name each limit.""",
        epilog="""\
POINT is NAME[,event=PROD_CONS][,versions=N][,max-versions=N][,cross-iter]
[,share=GROUP]:
  event=MTE2_V      the hard_event whose 8 slots it uses, or event=cross-core;
                    without one: an unnamed hard_event, see --cross-core
  versions=1        a fixed number of ids; without it, the depth
  max-versions=3    the depth, but at most this; not with versions=
  cross-iter        a dependency on an earlier iteration (a release)
  share=GROUP       may share a base id with the others of the group

BUFFER is NAME,memory=MEMORY,bytes=SIZE[,versions=N][,max-versions=N]:
  memory=ub         one of ub l1 l0a l0b l0c
  bytes=4K          the size of one version, in bytes, K or M
  versions=1        a fixed number of versions; without it, one for each stage
  max-versions=3    one for each stage, but at most this; not with versions=

@FILE anywhere on the command line reads arguments from a file: several to a
line, # comments, shell quoting.

Cross-core flags have no lock pool: where they find no slots the compile stops.
What is then shown as kept and spilled is this model's own.""",
        # The same text in every terminal.
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, width=80
        ),
        allow_abbrev=False,
    )
    depths = parser.add_mutually_exclusive_group()
    depths.add_argument(
        "--depth",
        metavar="N",
        action=_Once,
        type=_checked(_number),
        help="this depth only",
    )
    depths.add_argument(
        "--max-depth",
        metavar="N",
        action=_Once,
        type=_checked(_number),
        help="the last depth of the sweep (default: 4, or the first that spills or the"
        " deepest that was read, if later)",
    )
    points = parser.add_mutually_exclusive_group()
    points.add_argument(
        "--sync-point",
        metavar="POINT",
        type=_checked(_sync_point),
        action="append",
        help="a sync point of your kernel, in place of the built-in one; repeatable",
    )
    points.add_argument(
        "--read",
        metavar="[DEPTH=]FILE",
        type=_checked(_depth_and_file),
        action="append",
        default=[],
        help="take the kernel from the TIR that tilelang's pass tl.InsertSync leaves; -"
        " is standard input; repeatable, one for each DEPTH that it was compiled with"
        " (default: the largest num_stages that is printed)",
    )
    add = parser.add_argument
    add(
        "--buffer",
        metavar="BUFFER",
        type=_checked(_buffer),
        action="append",
        default=[],
        help="a buffer that your kernel keeps in a memory; repeatable",
    )
    add(
        "--memory",
        metavar="MEMORY=SIZE",
        type=_checked(_capacity),
        action="append",
        default=[],
        help="the size of a memory, for another chip or kernel (default: ub=248K, or"
        " ub=216K where a SimtVF block is read, l1=512K, l0a=64K, l0b=64K, l0c=256K);"
        " once for each memory",
    )
    add(
        "--sharing",
        choices=SHARING,
        nargs="?",
        const=SHARING[0],
        action=_Once,
        help="give one base id to each share group: always (the default: the upper"
        " bound), or on-demand, while the namespace is short, as the compiler does",
    )
    add(
        "--cross-core",
        action="store_true",
        help="sync points without an event are cross-core flags, which share 16 slots",
    )
    add(
        "--reserve",
        metavar="IDS",
        type=_checked(_ids),
        action="extend",
        default=[],
        help="cross-core ids that the kernel uses explicitly: 15 or 14,15 or 0-3,9",
    )
    add(
        "--lock-reserved",
        metavar="N",
        action=_Once,
        type=_checked(lambda text: _number(text, 0, LOCK_POOL_SLOTS)),
        help="locks that are taken beforehand (default: 2 where a gemm_l1 is read, which"
        " holds them; else 0)",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--summary",
        action="store_true",
        help="print the table and the limits only, without a block for each depth",
    )
    output.add_argument(
        "--json", action="store_true", help="print one JSON document instead"
    )
    return parser


def _file_text(path: str | int) -> str:
    """What a file holds, or, at 0, the standard input: UTF-8.  Its ValueError says
    why that is not to be had."""
    try:
        with open(path, encoding="utf-8-sig", closefd=path != 0) as file:
            return file.read()
    except OSError as error:
        raise ValueError(error.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8 text") from None


def _expand(args: Iterable[str]) -> Iterator[str]:
    """Put the arguments that a file holds in place of its @FILE."""
    for arg in args:
        if not arg.startswith("@"):
            yield arg
            continue
        try:
            expanded = shlex.split(_file_text(arg[1:]), comments=True)
            if not expanded:
                raise ValueError("it holds no arguments")
        except ValueError as error:
            raise ValueError(
                f"cannot read {arg!r}: {error}; expected @ and the name of a file of"
                " arguments, quoted as in a shell"
            ) from None
        yield from expanded


def _check_for_argparse(args: Iterable[str]) -> None:
    """Refuse what argparse stumbles over: it takes the -- of --depth=-- away before
    Python 3.13, and looks for a letter behind -h= in 3.9."""
    for arg in args:
        option, equals, value = arg.partition("=")
        if equals and (value == "--" or option == "-h"):
            raise ValueError(f"argument {option}: {value!r}: expected another value")


def _options(
    parser: argparse.ArgumentParser, args: Iterable[str]
) -> argparse.Namespace:
    args = [*_expand(args)]
    _check_for_argparse(args)
    options, unknown = parser.parse_known_args(args)
    if unknown:
        hint = ""
        if not unknown[0].startswith("-"):
            hint = (
                f"; expected an option: --read {unknown[0]} for a kernel that a compiler"
                f" printed, @{unknown[0]} for a file of arguments"
            )
        raise ValueError(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return options


def _complain(text: str) -> None:
    try:
        if sys.stderr is not None:  # print() would take stdout
            print(text, file=sys.stderr)
    except OSError:
        pass  # there is nobody to tell


def _readings(options: argparse.Namespace) -> list[_Reading]:
    """What --read names, the deepest first."""
    readings: dict[int, _Reading] = {}
    for depth, file in options.read:
        try:
            tir = _file_text(0 if file == "-" else file)
        except ValueError as error:
            raise ValueError(
                f"argument --read: cannot read {file!r}: {error};"
                " expected a file, or - for standard input"
            ) from None
        try:
            reading = _read(tir, depth, options.reserve, file)
        except ValueError as error:
            raise ValueError(f"argument --read: {file!r}: {error}") from None
        if reading.depth in readings:
            raise ValueError(
                f"argument --read: {readings[reading.depth].file!r} and {file!r} are both"
                f" of depth {reading.depth}: expected one reading of a depth"
            )
        readings[reading.depth] = reading
    return [readings[depth] for depth in sorted(readings, reverse=True)]


def _with_options(kernel: Kernel, options: argparse.Namespace) -> Kernel:
    """The kernel with what the options say of it."""
    locks = options.lock_reserved
    return replace(
        kernel,
        cross_core=options.cross_core,
        sharing=options.sharing,
        reserved=options.reserve,
        lock_reserved=kernel.lock_reserved if locks is None else locks,
        buffers=[*kernel.buffers, *options.buffer],
        capacities={**kernel.capacities, **dict(options.memory)},
    )


def _kernel(options: argparse.Namespace, readings: Sequence[_Reading]) -> Kernel:
    """The kernel that the options describe."""
    if not readings:
        return _with_options(Kernel(options.sync_point or BUILT_IN), options)
    kernels = {each.depth: _with_options(each.kernel, options) for each in readings}
    return replace(kernels.pop(readings[0].depth), readings=kernels)


def _check_that_all_counts(
    options: argparse.Namespace, kernel: Kernel, readings: Sequence[_Reading]
) -> None:
    """Refuse what would change nothing in the answer."""
    memories = [memory for memory, _ in options.memory]
    for memory in memories:
        if memories.count(memory) > 1:
            raise ValueError(
                f"argument --memory: {memory!r} twice: expected every memory once"
            )
        if not any(
            memory in each.memories for each in (kernel, *kernel.readings.values())
        ):
            raise ValueError(
                f"argument --memory: {memory!r}: expected a memory that holds a buffer"
            )
    namespaces = map(kernel.namespace_of, kernel.sync_points)
    if options.reserve and not (
        CROSS_CORE in namespaces or any(each.cross_core for each in readings)
    ):
        raise ValueError(
            f"argument --reserve: {', '.join(map(str, options.reserve))}: expected a"
            " sync point that is a cross-core flag"
        )


def _notes(options: argparse.Namespace, readings: Sequence[_Reading]) -> Iterator[str]:
    """What the answer does not say of itself."""
    if not options.sharing and any(each.share for each in options.sync_point or ()):
        yield "note: without --sharing, share groups share no base id"
    for each in readings:
        if len(each.num_stages) > 1 and (None, each.file) in options.read:
            yield (
                f"note: {each.file!r} prints num_stages"
                f" {', '.join(map(str, each.num_stages))}: read at depth {each.depth}"
            )
    for deepest in readings[:1]:
        if deepest.depth < 4:
            yield (
                f"note: {deepest.file!r} was compiled at depth {deepest.depth}: what"
                " stops growing at 2 or 3 looks as if it followed the depth; read one"
                " compiled at 4 or more"
            )
        if deepest.by_loop:
            yield (
                f"note: in {deepest.file!r} a loop is shorter than a ring (line"
                f" {deepest.by_loop[0]}): at other depths the ring is cut otherwise; read"
                " each depth"
            )


def _lines(args: Iterable[str]) -> Iterator[str]:
    """What the command prints for these arguments."""
    parser = _parser()
    try:
        options = _options(parser, args)
        readings = _readings(options)
        kernel = _kernel(options, readings)
        _check_that_all_counts(options, kernel, readings)
    except ValueError as error:
        parser.error(str(error))
    for note in _notes(options, readings):
        _complain(note)
    deepest = readings[0].depth if readings else 0
    last = options.depth or options.max_depth
    if last is None:
        last = max(4, (last_depth_without_spill(kernel) or 0) + 1, deepest)
    depths = range(options.depth or 1, last + 1)
    if options.json:
        yield from json_report(kernel, depths, [*map(_reading_document, readings)])
        return
    if readings:
        yield from _reading_lines(readings, kernel)
        yield ""
    yield from text_report(
        kernel,
        depths,
        blocks=not options.summary,
        table=options.summary or not options.depth,
    )


def main(args: Sequence[str] | None = None) -> int:
    """The command: args (sys.argv without the program by default) -> exit status.

    0; 1 where the output cannot be written; 2 for bad arguments; 130 for an
    interrupt.
    """
    status = 0
    try:
        try:
            for line in _lines(sys.argv[1:] if args is None else args):
                print(line)
        except SystemExit as stop:  # argparse has said why
            status = int(stop.code or 0)
        if sys.stdout is not None:
            sys.stdout.flush()
        elif not status:  # closed, and so print() has done nothing
            raise OSError(0, "it is closed")
        return status
    except BrokenPipeError:  # the reader has what it wanted
        status = 1
    except OSError as error:
        _complain(f"error: cannot write the output: {error.strerror}")
        status = 1
    except KeyboardInterrupt:
        status = 130
    # Leave nothing that the interpreter could fail to flush when it exits.
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
