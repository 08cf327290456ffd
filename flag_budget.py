"""How deep can an Ascend pipeline go before it runs out of flag slots, or of memory?

The hardware.  The pipes of an Ascend core (MTE2 loads, V computes, MTE3 stores, M is
the matrix unit, ...) run asynchronously.  What orders them is a flag: the producer
pipe sets it, the consumer pipe waits for it.  Flags live in namespaces.  Each
hard_event, that is each (producer pipe, consumer pipe) pair, is a namespace of 8
slots; all flags between the cube core and the vector cores share one of 16.  A flag's
number in its namespace is its event id.

The arithmetic.  Multi-buffering to depth v (num_stages = v) keeps v iterations in
flight, and each of them needs a flag of its own.  A sync point with num_versions = v
therefore uses the event id `i % v + base id` in iteration i: v contiguous slots, which
cannot be split at run time.

The compiler.  tilelang hands out the base ids of a hard_event end to end, and those of
the cross-core flags wherever v contiguous slots are free.  Where it proves that sync
points are never in flight together it may give them one base id: one allocation for
several sync points.  Where the allocations of a hard_event ask for more than its 8
slots, a 0/1 knapsack keeps the subset that fills the slots best; every other
allocation spills, whole, to a pool of 32 locks, which all hard_events share and which
block.  More than 32 locks, or a cross-core flag without slots, and the compile stops.

The memory.  The buffers between the pipes are multi-buffered too: one version for each
stage, in UB, L1, L0A, L0B or L0C, unless the compiler's scheduler needs fewer or the
kernel fixes their number.  Whether they fit, the compiler mostly does not check.

The model.  A Kernel holds sync points and buffers, declared one by one or read from
the TIR that the compiler printed.  plan() answers for one depth what the compiler does
with them; limits() says to what depth every flag stays a flag, to what depth the
compiler takes the kernel, and to what depth its buffers fit.  The reports print what
came out.  No work grows with the depth itself.

Sources are given as file:line in tilelang 0.1.15, src/ascend/transform/.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import operator
import os
import re
import shlex
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
    "Limits",
    "Memory",
    "MemoryLimit",
    "Namespace",
    "Placement",
    "Plan",
    "SyncPoint",
    "json_report",
    "knapsack_keep",
    "limits",
    "main",
    "plan",
    "read_kernel",
    "text_report",
]

# The hardware's numbers

PIPES = frozenset({"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"})  # ascend_pipe.h:75-93
HARD_EVENTS = ["_".join(pair) for pair in itertools.permutations(sorted(PIPES), 2)]
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
NAME = r"[a-zA-Z0-9_.\[\]][a-zA-Z0-9_.\[\]-]*"
_MOST_NAMES = 6  # that one line gives
LARGEST = 10**18  # the largest depth and num_versions, the largest size in M


# The kernel


def _check_name(what, text):
    if not isinstance(text, str) or not re.fullmatch(NAME, text):
        raise ValueError(
            f"{what} {text!r}: expected letters, digits and _ . [ ] -,"
            " not starting with a dash"
        )


def _check_number(what, number, unit=""):
    if not isinstance(number, int) or not 1 <= number <= LARGEST * UNITS[unit]:
        raise ValueError(
            f"{what} {number!r}: expected a whole number from 1 to 10^18 {unit}".rstrip()
        )


def _check_memory(name):
    if name not in MEMORIES:
        raise ValueError(f"memory {name!r}: expected one of {' '.join(MEMORIES)}")


def _check_names_once(named):
    names = set()
    for each in named:
        if each.name in names:
            raise ValueError(f"name {each.name!r} twice: expected every name once")
        names.add(each.name)


def _slots_of(ids):
    """The cross-core slots that these ids take."""
    try:
        return frozenset(operator.index(each) % CROSS_CORE_SLOTS for each in ids)
    except TypeError:
        raise ValueError(f"reserved {ids!r}: expected ids, as in [14, 15]") from None


def _check_versions(each):
    for what in "versions", "max_versions":
        if getattr(each, what) is not None:
            _check_number(what, getattr(each, what))
    if each.versions and each.max_versions:
        raise ValueError(
            f"versions {each.versions} and max_versions {each.max_versions}: expected"
            " one of them"
        )


def _num_versions(each, depth):
    """What is fixed, or the depth, or the depth up to a limit: the scheduler gives a
    buffer that nobody annotated as many versions as its schedule needs, at most
    num_stages (tilelang/ascend/transform/z3_scheduler.py:435)."""
    return each.versions or min(depth, each.max_versions or depth)


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
        if self.event not in (None, "cross-core", *HARD_EVENTS):
            raise ValueError(
                f"event {self.event!r}: expected cross-core, or PROD_CONS of two"
                f" different pipes of {' '.join(sorted(PIPES))}"
            )
        _check_versions(self)


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
        _check_versions(self)


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
                   the others are filled in

    Raises ValueError for a value that is not as described.
    """

    sync_points: Sequence[SyncPoint]
    cross_core: bool = False
    sharing: str | None = None
    reserved: Collection[int] = frozenset()
    lock_reserved: int = 0
    buffers: Sequence[Buffer] = ()
    capacities: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, value in (
            ("sync_points", tuple(self.sync_points)),
            ("reserved", _slots_of(self.reserved)),
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
        if self.lock_reserved not in range(LOCK_POOL_SLOTS + 1):
            raise ValueError(
                f"lock_reserved {self.lock_reserved!r}: expected 0 to {LOCK_POOL_SLOTS}"
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

    @property
    def memories(self) -> tuple[str, ...]:
        """The memories that hold a buffer, in the order of MEMORIES."""
        held = {each.memory for each in self.buffers}
        return tuple(name for name in MEMORIES if name in held)


# Two loads and their releases, without an event and so all in one namespace.
BUILT_IN = (
    SyncPoint("acquire_A"),
    SyncPoint("acquire_B"),
    SyncPoint("release_A", share="release"),
    SyncPoint("release_B", share="release"),
)


# The plan


@dataclass(frozen=True)
class Placement:
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


@dataclass(frozen=True)
class Namespace:
    """One namespace at one depth.

    name         the hard_event, CROSS_CORE, or None for the unnamed one
    slots        how many slots it has that are not reserved
    ids          how many ids the allocator asks for, over all allocations
    kept_slots   how many of them stay flags; all of them unless one spills
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


@dataclass(frozen=True)
class Memory:
    """One memory at one depth.

    name   one of MEMORIES
    bytes  its capacity
    used   how many bytes the buffers take, each as often as it has versions
    """

    name: str
    bytes: int
    used: int

    @property
    def overflows(self) -> bool:
        """Whether the buffers take more than there is."""
        return self.used > self.bytes


@dataclass(frozen=True)
class Plan:
    """What the compiler does with a kernel at one depth.

    depth             num_stages
    namespaces        in order of first appearance
    lock_slots        how many slots of the lock pool are used, reserved ones included
                      and cross-core flags left out
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
        return tuple(each.name for each in self.memories if each.overflows)


def knapsack_keep(widths: Sequence[int], capacity: int) -> list[bool]:
    """Which allocations stay flags: a subset that fills capacity slots best.

    widths are in ids, each at least 1, in id order; capacity is in slots, at least 0.
    Returns one bool per allocation.  Among subsets of the same sum the choice is that
    of KnapsackKeep, rewrite_flag_to_buf.cc:203: the subset with which a sum is first
    reached, allocation by allocation, stays that of this sum.  An allocation wider than
    capacity is never kept.  Raises ValueError for a width or a capacity out of range.

    >>> knapsack_keep([5, 4, 4], 8)
    [False, True, True]
    """
    if capacity < 0:
        raise ValueError(f"capacity {capacity}: expected at least 0")
    if any(width < 1 for width in widths):
        raise ValueError(f"width {min(widths)}: expected at least 1")
    subsets: dict[int, tuple[int, ...]] = {0: ()}  # by their sums
    for index, width in enumerate(widths):
        for before, subset in list(subsets.items()):  # those without this one
            total = before + width
            if total <= capacity and total not in subsets:
                subsets[total] = (*subset, index)
    best = subsets[max(subsets)]
    return [index in best for index in range(len(widths))]


def _first_fit(free, width):
    """The lowest contiguous free slots, as many as width; an empty range if there are
    not so many: find_cross_core_range, insert_sync.cc:1901."""
    for base in sorted(free):
        run = range(base, base + width)
        if all(slot in free for slot in run):
            return run
    return range(0)


def _allocate(points, widths, free, cross_core, sharing):
    """The allocations of one namespace in id order, each as the indices of its
    sync points: FlagAllocator::Plan, insert_sync.cc:1851.

    widths are in ids, one for each sync point; free are the slots that are not
    reserved.  An allocation is as wide as its widest sync point.
    """
    # Releases first, then wider before narrower, else as declared: :1912-1924.
    order = sorted(
        range(len(points)),
        key=lambda index: (not points[index].cross_iter, -widths[index]),
    )
    if sharing == "on-demand":
        return _share_on_demand(points, widths, set(free), cross_core, order)
    allocations: dict[int | str, list[int]] = {}
    for index in order:
        share = points[index].share if sharing else None
        allocations.setdefault(share or index, []).append(index)
    return [*allocations.values()]


def _share_on_demand(points, widths, free, cross_core, order):
    """The allocations where a sync point joins another of its share group only
    while the namespace is short of slots: insert_sync.cc:1946-1984.  Takes their slots
    out of free."""
    slots, required = len(free), sum(widths)
    allocations: list[list[int]] = []
    groups: dict[str, list[list[int]]] = {}
    for index in order:
        point, width = points[index], widths[index]
        group = groups.setdefault(point.share, []) if point.share else []
        run = _first_fit(free, width)
        short = required > slots or not run
        for allocation in group if short else ():
            first = allocation[0]
            # Only a cross-core handshake alternates on one ring: :1639.
            mixed = points[first].cross_iter != point.cross_iter
            if widths[first] >= width and (cross_core or not mixed):
                allocation.append(index)
                required -= width
                break
        else:
            allocations.append([index])
            group.append(allocations[-1])
            free.difference_update(run)
    return allocations


def _plan_namespace(kernel, name, points, depth, first_lock):
    """Place the sync points of one namespace.  Kept allocations get the lowest
    slots that are free, spilled ones the lock slots from first_lock on, both in id
    order (rewrite_flag_to_buf.cc:318-357)."""
    cross_core = name == CROSS_CORE
    free = set(range(INTRA_CORE_SLOTS))
    if cross_core:
        free = set(range(CROSS_CORE_SLOTS)) - kernel.reserved
    slots = len(free)
    widths = [_num_versions(point, depth) for point in points]
    allocations = _allocate(points, widths, free, cross_core, kernel.sharing)
    demands = [max(widths[each] for each in members) for members in allocations]
    lock = first_lock
    placements = {}  # by index
    for members, demand, keep in zip(
        allocations, demands, knapsack_keep(demands, slots)
    ):
        # Reserved ids can leave slots enough, but not side by side.
        run = _first_fit(free, demand) if keep else range(0)
        if run:
            where, base = "flag", run[0]
            free.difference_update(run)
        else:
            where, base = "lock", lock
            lock += demand
        for each in members:
            placements[each] = Placement(points[each].name, widths[each], where, base)
    kept_slots = slots - len(free)
    declared = tuple(placements[index] for index in range(len(points)))
    return Namespace(name, slots, sum(demands), kept_slots, declared)


def _plan_memories(kernel, depth):
    used = dict.fromkeys(kernel.memories, 0)
    for each in kernel.buffers:
        used[each.memory] += each.bytes * _num_versions(each, depth)
    return tuple(Memory(name, kernel.capacities[name], used[name]) for name in used)


def _listed(names, most=_MOST_NAMES):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def plan(kernel: Kernel, depth: int) -> Plan:
    """What the compiler does with kernel at this depth (num_stages, 1 to 10^18).

    Lock slots are numbered through all hard_events, after those that are reserved.
    The compile stops where a cross-core flag finds no slots (insert_sync.cc:1993),
    before it could take a lock, and else where the locks are more than the lock pool
    has (rewrite_flag_to_buf.cc:364).  The plan then says that it is rejected, and
    shows the model's own spill: that of cross-core flags after all other locks.
    Raises ValueError for a depth out of range.

    >>> at_3 = plan(Kernel(BUILT_IN), depth=3)
    >>> at_3.spilled, at_3.lock_slots
    (('release_A', 'release_B'), 6)
    """
    _check_number("depth", depth)
    members: dict[str | None, list[SyncPoint]] = {}
    for point in kernel.sync_points:
        members.setdefault(kernel.namespace_of(point), []).append(point)
    planned = {}
    locks = kernel.lock_reserved
    for name in sorted(members, key=lambda name: name == CROSS_CORE):
        planned[name] = _plan_namespace(kernel, name, members[name], depth, locks)
        locks += planned[name].lock_slots
    cross_core_locks = planned[CROSS_CORE].lock_slots if CROSS_CORE in planned else 0
    locks -= cross_core_locks
    spilled = {name for each in planned.values() for name in each.names("lock")}
    rejected = None
    if cross_core_locks:
        names = planned[CROSS_CORE].names("lock")
        rejected = f"no cross-core slots for {_listed(names)}"
    elif locks > LOCK_POOL_SLOTS:
        rejected = f"lock pool {locks}/{LOCK_POOL_SLOTS}"
    return Plan(
        depth,
        tuple(planned[name] for name in members),
        locks,
        cross_core_locks,
        tuple(point.name for point in kernel.sync_points if point.name in spilled),
        rejected,
        _plan_memories(kernel, depth),
    )


# The limits over depths


@dataclass(frozen=True)
class MemoryLimit:
    """How large a stage of one memory may be.

    name                     one of MEMORIES
    bytes                    its capacity
    stage_bytes              how many bytes one stage takes: one version of each
                             buffer that follows the depth without end
    largest_stage_for_flags  the largest stage_bytes with which flag slots bind before
                             this memory: with it, beside what else is in it, the
                             memory still holds one depth more than the flags last.  0
                             where no stage is so small; None where the flags last for
                             ever or nothing in this memory follows the depth

    All of it is that of the kernel at the first depth that spills.
    """

    name: str
    bytes: int
    stage_bytes: int
    largest_stage_for_flags: int | None


@dataclass(frozen=True)
class Limits:
    """How deep a kernel can go.  Each limit is the depth before the first that is over
    it: 0 where that is depth 1, None where no depth is.

    last_depth_without_spill  no sync point spills
    last_depth_that_compiles  the compiler finds the cross-core slots and the locks
    last_depth_in_memory      the buffers fit; None if there are no buffers
    binds_first               what a growing depth runs out of first: "flag slots",
                              "memory", "both" at the same depth, or None where
                              neither ends or there are no buffers
    memories                  those that hold a buffer, in the order of MEMORIES
    """

    last_depth_without_spill: int | None
    last_depth_that_compiles: int | None
    last_depth_in_memory: int | None
    binds_first: str | None
    memories: tuple[MemoryLimit, ...]


def limits(kernel: Kernel, readings: Mapping[int, Kernel] = {}) -> Limits:
    """How deep kernel can go.

    readings has, by depth, the kernel as it was read there, which takes the place of
    kernel at that depth.  Raises ValueError for a depth out of range.
    """
    for depth in readings:
        _check_number("depth", depth)
    first_spill = first_rejected = first_overflow = None
    for depth in _depths_to_try(_flag_depths(kernel), readings):
        at_depth = plan(readings.get(depth, kernel), depth)
        if at_depth.spilled and first_spill is None:
            first_spill = depth
        if at_depth.rejected:  # which needs a spill
            first_rejected = depth
            break
    for depth in _depths_to_try([_first_overflow(kernel)], readings):
        if _overflows(readings.get(depth, kernel), depth):
            first_overflow = depth
            break
    memories = _memory_limits(kernel, readings, first_spill)
    # What binds first ends at the least depth; what never ends does not bind.
    ends = {
        what: depth
        for what, depth in (("flag slots", first_spill), ("memory", first_overflow))
        if depth
    }
    first = [what for what in ends if ends[what] == min(ends.values())]
    return Limits(
        first_spill and first_spill - 1,
        first_rejected and first_rejected - 1,
        first_overflow and first_overflow - 1,
        ("both" if len(first) > 1 else first[0]) if memories and first else None,
        memories,
    )


def _depths_to_try(depths: Iterable[int], readings: Mapping[int, Kernel]) -> list[int]:
    """These depths, and those at which the kernel is another one: where one was read,
    and at the depth after it."""
    after = (min(depth + 1, LARGEST) for depth in readings)
    return sorted({*depths, *readings, *after})


def _flag_depths(kernel: Kernel) -> range:
    """The depths at which flags can first spill or stop the compile: at the last, every
    width has stopped growing, or one is wider than the namespaces and the lock pool."""
    widest = max(_num_versions(point, LARGEST) for point in kernel.sync_points)
    return range(1, LOCK_POOL_SLOTS + 2)[:widest]


def _overflows(kernel: Kernel, depth: int) -> bool:
    return any(memory.overflows for memory in _plan_memories(kernel, depth))


def _first_overflow(kernel: Kernel) -> int:
    """The only depth at which memory can first overflow, by bisection."""
    fits, first = 0, LARGEST
    while first - fits > 1:
        depth = (fits + first) // 2
        if _overflows(kernel, depth):
            first = depth
        else:
            fits = depth
    return first


def _memory_limits(
    kernel: Kernel, readings: Mapping[int, Kernel], first_spill: int | None
) -> tuple[MemoryLimit, ...]:
    """The limits of each memory that holds a buffer at any depth."""
    held = {name for each in (kernel, *readings.values()) for name in each.memories}
    found = []
    if first_spill is not None:
        kernel = readings.get(first_spill, kernel)
    for name in MEMORIES:
        if name not in held:
            continue
        capacity, largest = kernel.capacities[name], None
        stage = sum(
            buffer.bytes
            for buffer in kernel.buffers
            if buffer.memory == name and not (buffer.versions or buffer.max_versions)
        )
        if first_spill is not None and stage:
            (used,) = (
                memory.used
                for memory in _plan_memories(kernel, first_spill)
                if memory.name == name
            )
            largest = max(0, stage + (capacity - used) // first_spill)
        found.append(MemoryLimit(name, capacity, stage, largest))
    return tuple(found)


# The report


def text_report(
    kernel: Kernel,
    depths: Iterable[int],
    readings: Mapping[int, Kernel] = {},
    blocks: bool = True,
    table: bool = True,
) -> Iterator[str]:
    """The lines that the command prints: with blocks, the block of each depth; with
    table, a row for each and then the three limits.  readings are as for limits()."""
    plans: list[Plan] = []
    for depth in depths:
        at_depth = readings.get(depth, kernel)
        depth_plan = plan(at_depth, depth)
        if blocks:
            if plans:
                yield ""
            yield from _depth_lines(at_depth, depth_plan)
        plans.append(depth_plan)
    if table:
        if blocks:
            yield ""
        yield from _table(kernel, plans)
        yield from _limit_lines(kernel, readings)


def _names_events(kernel):
    return any(point.event for point in kernel.sync_points)


def _heading(kernel, name):
    """What a block and the table call the namespace of this name."""
    return (name or "unnamed") if _names_events(kernel) else "ids"


def _ids_of(kernel, namespace):
    return f"{_heading(kernel, namespace.name)} {namespace.ids}/{namespace.slots}"


def _demand(memory):
    size = str if memory.bytes % KILO else _kilobytes
    return f"{size(memory.used)}/{size(memory.bytes)}"


def _kilobytes(size):
    if size % KILO:
        tenths = -(-size * 10 // KILO)  # rounded up
        return f"{tenths // 10}.{tenths % 10}K"
    return f"{size // KILO}K"


def _depth_lines(kernel, depth_plan):
    depth = depth_plan.depth
    named = _names_events(kernel)
    exceptions = _exceptions(kernel, depth)
    yield f"depth={depth} num_versions per sync point = {depth}{exceptions}"
    for namespace in depth_plan.namespaces:
        if named:
            yield f"[{_heading(kernel, namespace.name)}]"
        yield from _namespace_lines(namespace, kernel.reserved)
    if named or depth_plan.spilled:
        locks = f"lock pool: {depth_plan.lock_slots}/{LOCK_POOL_SLOTS} slots"
        if depth_plan.cross_core_locks:
            locks += f", and {depth_plan.cross_core_locks} for cross-core flags"
        if depth_plan.lock_slots > LOCK_POOL_SLOTS:
            locks += " -> the compiler rejects this depth"
        yield locks
    for memory in depth_plan.memories:
        yield f"memory {memory.name}: {_demand(memory)}"
    if depth_plan.cross_core_locks:
        yield (
            "note: the compiler has no lock pool for cross-core flags;"
            " it rejects this depth"
        )


def _exceptions(kernel, depth):
    """The sync points whose num_versions are not simply the depth, up to 6 by name."""
    kinds = {
        "fixed": [
            f"{each.name}={each.versions}"
            for each in kernel.sync_points
            if each.versions
        ],
        "at most": [
            f"{each.name}={_num_versions(each, depth)}"
            for each in kernel.sync_points
            if each.max_versions
        ],
    }
    many = sum(map(len, kinds.values())) > _MOST_NAMES
    said = [
        f"{len(widths)} {kind}" if many else f"{kind}: {', '.join(widths)}"
        for kind, widths in kinds.items()
        if widths
    ]
    return f" ({(', ' if many else '; ').join(said)})" if said else ""


def _namespace_lines(namespace, reserved):
    slots = namespace.slots
    widths = [f"{each.name}={each.num_versions}" for each in namespace.sync_points]
    yield f"blocks: {', '.join(widths)}"
    rows = []
    on_base: dict[str, list[str]] = {}
    for each in namespace.sync_points:
        base = f"{'base' if each.placement == 'flag' else 'lock'} {each.base}"
        rows.append(
            [each.name, base, f"id = i % {each.num_versions}", f"+ {each.base}"]
        )
        on_base.setdefault(base, []).append(each.name)
    for names in on_base.values():
        if len(names) > 1:
            yield f"shared : {', '.join(names)} on one base"
    if reserved and namespace.name == CROSS_CORE:
        yield f"reserved : {', '.join(map(str, sorted(reserved)))}"
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
    yield from _columns(rows, str.ljust, " ")


def _verdict(depth_plan):
    """All that happens at one depth."""
    cross_core = {
        name
        for each in depth_plan.namespaces
        if each.name == CROSS_CORE
        for name in each.names("lock")
    }
    spilled = [name for name in depth_plan.spilled if name not in cross_core]
    happens = {
        "rejected:": depth_plan.rejected,
        "spills": _listed(spilled),
        "out of memory:": ", ".join(depth_plan.out_of_memory),
    }
    said = [f"{what} {which}" for what, which in happens.items() if which]
    return "; ".join(said) or "fits"


def _table(kernel, plans):
    """A row for each depth.  A depth that was read may lack what others have; where
    there are many namespaces, those that never spill stand below."""
    namespaces = [each for depth_plan in plans for each in depth_plan.namespaces]
    last = {each.name: each for each in namespaces}
    # As the deepest reading has them, then what only others have.
    order = [*map(kernel.namespace_of, kernel.sync_points), *last]
    shown = sorted(last, key=order.index)
    below = []
    if len(shown) > _MOST_NAMES:
        spill = {each.name for each in namespaces if each.lock_slots}
        below = [_ids_of(kernel, last[name]) for name in shown if name not in spill]
        shown = [name for name in shown if name in spill]
    used = {each.name for depth_plan in plans for each in depth_plan.memories}
    memories = sorted(used, key=list(MEMORIES).index)
    headings = [_heading(kernel, name) for name in shown]
    rows = [["depth", *headings, "locks", *memories, "verdict"]]
    for depth_plan in plans:
        ids = {each.name: f"{each.ids}/{each.slots}" for each in depth_plan.namespaces}
        demands = {each.name: _demand(each) for each in depth_plan.memories}
        rows.append(
            [
                str(depth_plan.depth),
                *(ids.get(name, "-") for name in shown),
                f"{depth_plan.lock_slots}/{LOCK_POOL_SLOTS}",
                *(demands.get(name, "-") for name in memories),
                _verdict(depth_plan),
            ]
        )
    yield from _columns(rows, str.rjust)
    if below:
        yield f"never over: {', '.join(below)}"


def _columns(rows, justify, gap="  "):
    """The rows with all columns but the last as wide as their widest cell."""
    *widths, _ = [max(map(len, column)) for column in zip(*rows)]
    for *cells, last in rows:
        yield gap.join([*map(justify, cells, widths), last])


def _limit_lines(kernel, readings):
    """The answer: one line for each limit, and which of them binds first."""
    found = limits(kernel, readings)
    flags = found.last_depth_without_spill
    if flags is None:
        yield (
            "flag slots last to any depth:"
            " every width is fixed or limited, and none spills"
        )
    else:
        lasts = (
            f"flag slots last to depth {flags}; depth {flags + 1} is the first to spill"
            if flags
            else "flag slots do not last to any depth; depth 1 already spills"
        )
        at_depth = readings.get(flags + 1, kernel)
        spills = _over(kernel, plan(at_depth, flags + 1)).values()
        yield f"{lasts}: {', '.join(spills)}"
    compiles = found.last_depth_that_compiles
    if compiles is not None:
        rejected = plan(readings.get(compiles + 1, kernel), compiles + 1)
        reason = _over(kernel, rejected).get(CROSS_CORE, rejected.rejected)
        up_to = f"up to depth {compiles}" if compiles else "no depth"
        yield (
            f"the compiler takes {up_to}; depth {compiles + 1} is rejected: {reason}"
        )
    if found.memories:
        yield from _memory_limit_lines(kernel, readings, found)


def _over(kernel, depth_plan):
    """By name, what a limit says of the namespaces that spill: MTE2_V 10/8."""
    return {
        each.name: _ids_of(kernel, each)
        # Reserved ids can leave slots enough, but not side by side.
        + (" in no contiguous run" if each.ids <= each.slots else "")
        for each in depth_plan.namespaces
        if each.lock_slots
    }


def _memory_limit_lines(kernel, readings, found):
    memory = found.last_depth_in_memory
    if memory is None:
        yield "memory lasts to any depth"
    else:
        lasts = (
            f"memory lasts to depth {memory}; depth {memory + 1} needs"
            if memory
            else "memory does not last to any depth; depth 1 already needs"
        )
        needs = [
            f"{each.name} {_demand(each)}"
            for each in plan(readings.get(memory + 1, kernel), memory + 1).memories
            if each.overflows
        ]
        yield f"{lasts} {', '.join(needs)}"
    if found.binds_first:
        yield {
            "flag slots": "flag slots bind first",
            "memory": "memory binds first",
            "both": "flag slots and memory bind at the same depth",
        }[found.binds_first]
    for each in found.memories:
        if each.largest_stage_for_flags:
            yield (
                f"in {each.name}, flag slots bind first while a stage takes at most"
                f" {each.largest_stage_for_flags} bytes (it takes {each.stage_bytes})"
            )
        elif each.largest_stage_for_flags == 0:
            yield f"in {each.name}, flag slots never bind first"


def json_report(
    kernel: Kernel,
    depths: Iterable[int],
    readings: Mapping[int, Kernel] = {},
    read: Sequence[object] = (),
) -> Iterator[str]:
    """The same as one JSON document, a line per depth; readings are as for limits(),
    and read is what it says of the texts that they were read from."""
    yield '{"depths": ['
    comma = ""
    for depth in depths:
        document = _depth_document(plan(readings.get(depth, kernel), depth))
        # What json does not know are dataclasses, whose fields are the document's.
        yield comma + json.dumps(document, default=vars)
        comma = ","
    answer = {**vars(limits(kernel, readings)), "read": read}
    yield f"], {json.dumps(answer, default=vars)[1:]}"


def _depth_document(depth_plan):
    error = depth_plan.rejected
    return {
        "depth": depth_plan.depth,
        "namespaces": depth_plan.namespaces,
        "lock_pool": {
            "slots": LOCK_POOL_SLOTS,
            "used": depth_plan.lock_slots,
            "cross_core": depth_plan.cross_core_locks,
        },
        "spilled": depth_plan.spilled,
        "error": error and f"the compiler rejects this depth: {error}",
        "memories": depth_plan.memories,
        "out_of_memory": depth_plan.out_of_memory,
    }


def _reading_lines(readings, kernel):
    """What the deepest reading, the first of these, has in which lines: so a spill
    leads back to the text."""
    files = [f"at depth {each.depth}: {each.file}" for each in readings]
    yield f"read {'; also '.join(files)}"
    deepest = readings[0]
    rows = []
    for point, low, high, lines in deepest.rings:
        ids = f"id {low}" if low == high else f"ids {low}-{high}"
        rows.append([point.name, ids, _growth(point), _lines_of(lines)])
    for buffer, line in deepest.buffers:
        size = f"{buffer.memory} {_kilobytes(buffer.bytes)}"
        rows.append([buffer.name, size, _growth(buffer), f"line {line}"])
    yield from _columns(rows, str.ljust)
    if deepest.gemms and kernel.lock_reserved == GEMM_L1_LOCKS:
        yield f"gemm_l1 holds {GEMM_L1_LOCKS} locks, {_lines_of(deepest.gemms)}"
    if deepest.simt and kernel.capacities["ub"] == SIMT_UB:
        yield f"ub has {_kilobytes(SIMT_UB)}: SIMT_VF, {_lines_of(deepest.simt)}"


def _growth(each):
    if each.versions:
        return f"fixed {each.versions}"
    return f"at most {each.max_versions}" if each.max_versions else "follows the depth"


def _lines_of(lines):
    return f"{'lines' if len(lines) > 1 else 'line'} {_listed([*map(str, lines)], 4)}"


def _reading_document(reading):
    return {
        "file": reading.file,
        "depth": reading.depth,
        "sync_points": [
            {"name": point.name, "ids": [low, high], "lines": lines}
            for point, low, high, lines in reading.rings
        ],
        "buffers": [
            {
                "name": buffer.name,
                "memory": buffer.memory,
                "bytes": buffer.bytes,
                "versions": _num_versions(buffer, reading.depth),
                "line": line,
            }
            for buffer, line in reading.buffers
        ],
        "locks": reading.kernel.lock_reserved,
    }


# Reading TIR, which is Python

_EXPECTED_TIR = (
    "expected the TIR that tilelang's pass tl.InsertSync leaves, the file ending in"
    ' _tl.InsertSync.py that pass_configs={"tl.enable_dump_ir": True} writes;'
    " a kernel in another language is declared with --sync-point"
)
_FLAGS = {
    "ascend_set_flag",
    "ascend_wait_flag",
    "ascend_cross_core_set_flag",
    "ascend_cross_core_wait_flag",
}
_LOOPS = {"serial", "unroll", "parallel", "vectorized", "range"}
_UNBOUNDED = range(LARGEST)


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
    return replace(_Reading(tir, depth, reserved).kernel, reserved=reserved)


class _Reading:
    """A kernel as one TIR text has it.

    file        as given
    depth       what it was compiled with
    num_stages  those that the text prints, ascending
    kernel      what the text says of it; of the options, only the reserved ids count
    rings       each of its sync points with its first id, its last, and its lines
    buffers     each of its buffers with its line
    gemms       the lines of what becomes gemm_l1
    simt        the lines of the SimtVF blocks
    by_loop     the lines with ids that would be others without the loops
    aliases     the lines that say which buffers share addresses
    cross_core  whether there are cross-core flags, reserved or not
    """

    def __init__(self, tir, depth, reserved, file=""):
        try:
            nodes = [*_nodes(_function_with_flags(_parse(tir)))]
            _check_that_none_spilled(nodes)
            uses, self.by_loop = _flag_uses(nodes)
        except (RecursionError, MemoryError):
            raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None
        self.file = file
        self.cross_core = "cross-core" in uses
        stages = {_integer(value) for value in _values(nodes, "num_stages")}
        self.num_stages = sorted(stages - {None, 0})
        self.depth = _depth_read(depth, self.num_stages)
        self.rings = [*_sync_points(uses, self.depth, reserved)]
        if not self.rings:
            raise ValueError("all flags are reserved: expected one that is not")
        self.buffers = [*_buffers(nodes, self.depth)]
        self.gemms = _gemm_l1_lines(nodes)
        self.aliases = [
            value.lineno
            for value in _values(nodes, "tl.buffer_alias_map")
            if any(getattr(shared, "elts", ()) for _, shared in _items(value))
        ]
        self.simt = [
            call.lineno
            for call in _calls(nodes, "sblock")
            if _text(*call.args[:1]) == "SIMT_VF"
        ]
        self.kernel = Kernel(
            [point for point, *_ in self.rings],
            lock_reserved=GEMM_L1_LOCKS if self.gemms else 0,
            buffers=[buffer for buffer, _ in self.buffers],
            capacities={"ub": SIMT_UB} if self.simt else {},
        )


def _parse(tir):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about what is no TIR
            return ast.parse(tir)
    except (SyntaxError, ValueError):
        raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None


def _function_with_flags(tree):
    """The one function that sets flags; all of the text where none does."""
    functions = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef)
        and any(_called(node) in _FLAGS for node in ast.walk(each))
    ]
    if len(functions) > 1:
        lines = ", ".join(str(each.lineno) for each in functions)
        raise ValueError(
            f"the functions of lines {lines} set flags: expected one kernel; read each"
            " from a file of its own"
        )
    return functions[0] if functions else tree


def _nodes(function):
    """What counts in a text, in its order: the calls, the dicts and the assignments,
    each with the loops around it, which are what _loop_variables() says.  Without
    recursion: a sum may be deeper than Python's stack."""
    ahead: list[tuple[ast.AST, dict[str, range | None]]] = [(function, {})]
    while ahead:
        node, loops = ahead.pop()  # the last is the next
        if isinstance(node, (ast.Call, ast.Dict, ast.Assign)):
            yield node, loops
        if isinstance(node, ast.For):
            loops = {**loops, **_loop_variables(node)}
        ahead += reversed([(child, loops) for child in ast.iter_child_nodes(node)])


def _loop_variables(loop):
    """By name, what the variables of a loop can be: a range, or None where no numbers
    bound them."""
    targets = getattr(loop.target, "elts", [loop.target])
    names = [getattr(each, "id", "") for each in targets]
    called = _called(loop.iter)
    limits = [_integer(each, LARGEST) for each in loop.iter.args] if called else []
    known = []
    if called == "grid":
        known = [range(limit) for limit in limits]
    elif called in _LOOPS and limits:
        known = [range(*limits[:2])]
    return {**dict.fromkeys(names), **dict(zip(names, known))}


def _called(node):
    """The last name of what a call calls; nothing if it is no call."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def _calls(nodes, *names):
    """The calls of these names."""
    return [node for node, _ in nodes if _called(node) in names]


def _keyword(call, name):
    """The value of a keyword argument; None if there is none, or no call."""
    keywords = getattr(call, "keywords", ())
    return {each.arg: each.value for each in keywords}.get(name)


def _items(node):
    """The keys and values of a dict; none if it is no dict."""
    return zip(getattr(node, "keys", ()), getattr(node, "values", ()))


def _values(nodes, text):
    """The values of this key in all dicts."""
    return [
        value for node, _ in nodes for key, value in _items(node) if _text(key) == text
    ]


def _variable(node=None):
    """The name in x, x.data or x[0, 0]; empty if there is none, or no node."""
    return getattr(getattr(node, "value", node), "id", "")


def _text(node=None):
    """What a string says; empty if it is none, or no node."""
    value = getattr(node, "value", None)
    return value if isinstance(value, str) else ""


def _integer(node, otherwise=None):
    value = getattr(node, "value", None)
    return value if type(value) is int else otherwise


def _check_that_none_spilled(nodes):
    """What spills is unlocked in the line after its lock: rewrite_flag_to_buf.cc:293."""
    unlocks = {call.lineno: ast.dump(call) for call in _calls(nodes, "ascend_rls_buf")}
    for lock in _calls(nodes, "ascend_get_buf"):
        unlock = ast.dump(lock).replace("ascend_get_buf", "ascend_rls_buf")
        if unlocks.get(lock.lineno + 1) == unlock:
            raise ValueError(
                f"line {lock.lineno}: flags have spilled to locks already:"
                f" {_EXPECTED_TIR}"
            )


def _flag_uses(nodes):
    """By the event of a SyncPoint, in order of appearance, its flag calls, each as the
    first of its ids, the one after the last, and the line (FlagUsageCollector,
    rewrite_flag_to_buf.cc:138); and the lines with ids that would be others without
    the loops."""
    uses: dict[str, list[tuple[int, int, int]]] = {}
    unbounded, by_loop = [], []
    for call, loops in nodes:
        name = _called(call)
        if name not in _FLAGS:
            continue
        cross_core = "cross_core" in name
        try:
            if len(call.args) < 2:
                raise ValueError(f"expected an id in {name}")
            first, *_, event_id = call.args
            event = "cross-core" if cross_core else _text(first)
            SyncPoint("_", event)  # raises ValueError where the event is none
        except ValueError as error:
            raise ValueError(f"line {call.lineno}: {error}") from None
        ids = _event_ids(event_id, loops, cross_core)
        if ids.stop >= LARGEST:
            unbounded.append(f"line {call.lineno} {ast.unparse(event_id)[:40]!r}")
        if ids != _event_ids(event_id, {}, cross_core):
            by_loop.append(call.lineno)
        for part in _modulo_16(ids) if cross_core else [ids]:
            uses.setdefault(event, []).append((part.start, part.stop, call.lineno))
    if unbounded:
        raise ValueError(
            f"event ids without bounds: {_listed(unbounded, 10)}: expected a number, a"
            " variable of a loop that numbers bound, x % v with a number v, or a sum of"
            " these"
        )
    if not uses:
        raise ValueError(f"no flags: {_EXPECTED_TIR}")
    return uses, by_loop


def _event_ids(node, loops, cross_core):
    """What an event id can be (EventIdRange, rewrite_flag_to_buf.cc:121)."""
    number = _integer(node)
    if number is not None:
        return range(number, number + 1)
    if not isinstance(node, ast.BinOp):
        return loops.get(getattr(node, "id", None)) or _UNBOUNDED
    left = _event_ids(node.left, loops, cross_core)
    right = _event_ids(node.right, loops, cross_core)
    modulus = _integer(node.right)
    if isinstance(node.op, ast.Mod) and modulus:
        return left if left.stop <= modulus else range(modulus)
    if isinstance(node.op, ast.Add):
        return range(left.start + right.start, left.stop + right.stop - 1)
    # The cube addresses the second vector core at + 16: insert_sync.cc:1878.
    if isinstance(node.op, ast.Mult) and cross_core:
        factor = _integer(node.left) or _integer(node.right)
        if factor and factor % CROSS_CORE_SLOTS == 0:
            return range(1)
    return _UNBOUNDED


def _modulo_16(ids):
    """What the 16 cross-core slots have of these ids."""
    slots = CROSS_CORE_SLOTS
    start = ids.start % slots
    stop = start + ids.stop - ids.start
    if stop - start >= slots:
        return [range(slots)]
    if stop <= slots:
        return [range(start, stop)]
    return [range(start, slots), range(stop - slots)]


def _rings(uses):
    """The ids of each ring, whether it is a release's, and the lines of its flags.
    Ids that overlap are of one ring, those that only touch are not (CoalesceBlocks,
    rewrite_flag_to_buf.cc:188)."""
    joined = []
    end = 0
    for use in sorted(uses):
        start, stop, _ = use
        if start >= end:
            joined.append([use])
        else:
            joined[-1].append(use)
        end = max(end, stop)
    # From the last ring on down: once one is a release, all below it are.  That it is
    # shows in two ways.  tilelang sets its ids one by one before the loop
    # (insert_sync.cc:2090).  And releases have the lower ids, while among them, as
    # among the others, wider comes before narrower (:1912-1924): of rings 2, 1, 3 ids
    # wide, the first two are releases.
    rings = []
    release, width = False, 0
    for ring in reversed(joined):
        starts, stops, lines = zip(*ring)
        ids = range(min(starts), max(stops))
        width_above, width = width, ids.stop - ids.start
        one_by_one = width > 1 and any(stop - start == 1 for start, stop, _ in ring)
        release = release or one_by_one or width < width_above
        rings.append((ids, release, sorted(set(lines))))
    return reversed(rings)


def _sync_points(uses, depth, reserved):
    """A sync point for each ring, by namespace and in id order, but for those of
    reserved ids; each with its first id, its last, and its lines."""
    taken = _slots_of(reserved)
    for event, of_event in uses.items():
        namespace = CROSS_CORE if event == "cross-core" else event
        for ids, release, lines in _rings(of_event):
            if namespace == CROSS_CORE and taken.issuperset(ids):
                continue
            name = f"{namespace}[{ids.start}]"
            fields = _width_fields(ids.stop - ids.start, depth)
            point = SyncPoint(name, event, cross_iter=release, **fields)
            yield point, ids[0], ids[-1], lines


def _width_fields(width, depth):
    """With which fields a SyncPoint or Buffer is this wide at this depth: what the
    scheduler stopped below this depth, it stops at deeper ones too."""
    if width == depth:
        return {}
    return {"max_versions" if 1 < width < depth else "versions": width}


def _depth_read(depth, num_stages):
    """The depth of a text: as given, if it prints it or none; None: the largest that
    it prints."""
    if depth is None:
        if not num_stages:
            raise ValueError(
                "no num_stages is printed: expected the depth that it was compiled with,"
                " as in 4=FILE"
            )
        depth = num_stages[-1]
    _check_number("depth", depth)
    if num_stages and depth not in num_stages:
        raise ValueError(
            f"depth {depth}: expected a num_stages that is printed:"
            f" {', '.join(map(str, num_stages))}"
        )
    return depth


def _memory(call):
    """The memory that scope= names, if it is one of MEMORIES."""
    return SCOPES.get(_text(_keyword(call, "scope")).removesuffix(".dyn"))


def _buffers(nodes, depth):
    """The buffers in the memories, each with its line.  What has no data= is used by
    nothing."""
    versions = {}
    for value in _values(nodes, "tl.buffer_versions_map"):
        for key, number in _items(value):
            count = _integer(number)
            if count is None:
                raise ValueError(f"line {number.lineno}: expected a number of versions")
            versions[_variable(key)] = count
    for call in _calls(nodes, "sblock_alloc_buffer"):
        memory, data = _memory(call), _keyword(call, "data")
        if not (memory and data):
            continue
        name = _variable(data)
        fields = _width_fields(versions.get(name, 1), depth)
        try:
            buffer = Buffer(name, memory, _version_bytes(call), **fields)
        except ValueError as error:
            raise ValueError(f"line {call.lineno}: {error}") from None
        yield buffer, call.lineno


def _version_bytes(allocation):
    """What one version of a buffer takes: its shape times its dtype."""
    shape, dtype = [*allocation.args, None, None][:2]
    bits = 1
    for each in getattr(shape, "elts", [shape]):
        length = _integer(each)
        if length is None:
            raise ValueError("expected a shape of numbers")
        bits *= length
    text = _text(dtype) if dtype else "float32"
    # The bits, then what else tells it from others, then its lanes.
    match = re.fullmatch(
        r"(?:bool|[a-z]+(\d{1,4})(?:_[a-z\d]*[a-z])?)(?:x(\d{1,4}))?", text
    )
    if not match:
        raise ValueError(f"dtype {text!r}: expected one with a size, as in float32")
    return -(-bits * int(match[1] or 8) * int(match[2] or 1) // 8)


def _gemm_l1_lines(nodes):
    """The lines of what becomes gemm_l1: both inputs are in L1
    (tilelang/ascend/op/gemm/gemm_mad.py:167).  Two nodes are never equal."""
    in_l1 = {
        _variable(target)
        for node, _ in nodes
        for target in getattr(node, "targets", ())
        if _memory(node.value) == "l1"
    }
    # An input is T.region(a[0, 0], 1, 64, 64).
    inputs = {
        call for call in _calls(nodes, "region") if _variable(*call.args[:1]) in in_l1
    }
    return [
        call.lineno
        for call in _calls(nodes, "gemm", "gemm_blockscaled")
        if call.args[1:] and inputs.issuperset(call.args[:2])
    ]


# The command


# What reads a part of the command line raises a ValueError that says only what it
# expected; who called it adds which part that was.
def _number(text, least=1, most=LARGEST, of=""):
    # 10^18 has 19 digits, and int() takes its time for many more.
    if re.fullmatch("[0-9]{1,19}", text) and least <= int(text) <= most:
        return int(text)
    end = "10^18" if most == LARGEST else most
    raise ValueError(f"expected a whole number from {least} to {end}{of}")


def _size(text):
    unit = text[-1:].upper()
    digits = text[:-1] if unit in UNITS else text
    return _number(digits, of=", of bytes, K or M, as in 4K") * UNITS.get(unit, 1)


def _capacity(text):
    memory, _, size = text.partition("=")
    if memory not in MEMORIES:
        raise ValueError(
            f"expected MEMORY=SIZE, as in ub=192K, for one of {' '.join(MEMORIES)}"
        )
    return memory, _size(size)


def _declared(text, make, keys):
    """What NAME,KEY=VALUE,... declares: keys has what reads each value, and, without
    =, those that stand alone."""
    name, *parts = text.split(",")
    fields: dict[str, object] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if key + equals not in keys:
            raise ValueError(f"{part!r}: expected {', '.join(keys)}")
        field_name = key.replace("-", "_")
        if field_name in fields:
            raise ValueError(f"key {key!r} twice: expected every key once")
        try:
            fields[field_name] = keys[key + equals](value) if equals else True
        except ValueError as error:
            raise ValueError(f"{part!r}: {error}") from None
    try:
        return make(name, **fields)
    except TypeError:  # Buffer() lacks one of them
        raise ValueError("expected memory= and bytes= in every buffer") from None


def _ids(text):
    ids: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        try:
            first = _number(low, 0)
            last = _number(high, first) if dash else first
        except ValueError:
            raise ValueError(
                f"{part!r}: expected an id or a range of ids, as in 15 or 14,15 or 0-3,9"
            ) from None
        # More than the whole namespace says nothing more.
        ids += range(first, last + 1)[:CROSS_CORE_SLOTS]
    return ids


def _depth_and_file(text):
    if re.match("[0-9]+=", text):
        depth, file = text.split("=", 1)
        return _number(depth), file
    return None, text


def _checked(parse, *how):
    """A type= for argparse: parse(text, *how), whose ValueError is the error line."""

    def argument(text):
        try:
            return parse(text, *how)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None

    return argument


class _Once(argparse.Action):
    """An option that takes one value, and no second one."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Keep the value."""
        before = getattr(namespace, self.dest)
        if before is not None:
            raise argparse.ArgumentError(
                self, f"{before!r} and {values!r}: expected one value"
            )
        setattr(namespace, self.dest, values)


def _parser():
    parser = argparse.ArgumentParser(
        description="""\
How deep can an Ascend pipeline go before it runs out of flag slots, or of
memory? Sweeps the depth (num_stages) of a kernel and prints where tilelang's
compiler puts each sync point, which stay set/wait flags and which spill to the
lock pool, and how full the memories are. The last lines name each limit.""",
        epilog="""\
POINT is NAME[,event=PROD_CONS][,versions=N][,max-versions=N][,cross-iter]
[,share=GROUP]:
  event=MTE2_V      the hard_event whose 8 slots it uses, or event=cross-core
                    (Cube-Vector in the output); without one: an unnamed
                    hard_event, see --cross-core
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
    versions = {"versions=": _number, "max-versions=": _number}
    point_keys = {"event=": str, **versions, "cross-iter": bool, "share=": str}
    buffer_keys = {"memory=": str, "bytes=": _size, **versions}
    add = parser.add_mutually_exclusive_group().add_argument  # one of these
    add(
        "--depth",
        metavar="N",
        action=_Once,
        type=_checked(_number),
        help="this depth only",
    )
    add(
        "--max-depth",
        metavar="N",
        action=_Once,
        type=_checked(_number),
        help="the last depth of the sweep (default: 4, or the first that spills or the"
        " deepest that was read, if later)",
    )
    add = parser.add_mutually_exclusive_group().add_argument
    add(
        "--sync-point",
        metavar="POINT",
        type=_checked(_declared, SyncPoint, point_keys),
        action="append",
        default=[],
        help="a sync point of your kernel, in place of the built-in one; repeatable",
    )
    add(
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
        type=_checked(_declared, Buffer, buffer_keys),
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
        type=_checked(_number, 0, LOCK_POOL_SLOTS),
        help="locks that are taken beforehand (default: 2 where a gemm_l1 is read, which"
        " holds them; else 0)",
    )
    add = parser.add_mutually_exclusive_group().add_argument
    add(
        "--summary",
        action="store_true",
        help="print the table and the limits only, without a block for each depth",
    )
    add("--json", action="store_true", help="print one JSON document instead")
    return parser


def _file_text(path):
    """What a file holds, or, at 0, the standard input."""
    try:
        with open(path, encoding="utf-8", closefd=path != 0) as file:
            return file.read().removeprefix("\ufeff")
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError("cannot be read: expected UTF-8 text") from None


def _expand(args):
    """Put the arguments that a file holds in place of its @FILE."""
    for arg in args:
        if not arg.startswith("@"):
            yield arg
            continue
        try:
            expanded = shlex.split(_file_text(arg[1:]), comments=True)
            if not expanded:
                raise ValueError("it has none")
        except ValueError as error:
            raise ValueError(f"arguments of {arg!r}: {error}") from None
        yield from expanded


def _options(parser, args):
    args = list(_expand(args))
    for arg in args:
        # What argparse stumbles over: it takes the -- of --depth=-- away before Python
        # 3.13, and looks for a letter after -h= in 3.9.
        option, equals, value = arg.partition("=")
        if equals and (value == "--" or option == "-h"):
            raise ValueError(f"argument {option}: {value!r}: expected another value")
    options, unknown = parser.parse_known_args(args)
    if unknown:
        message = f"unrecognized arguments: {' '.join(unknown)}"
        if not unknown[0].startswith("-"):
            message += (
                f"; expected an option: --read {unknown[0]} for a kernel that a compiler"
                f" printed, @{unknown[0]} for a file of arguments"
            )
        raise ValueError(message)
    return options


def _complain(text):
    try:
        if sys.stderr is not None:  # print() would take stdout
            print(text, file=sys.stderr)
    except OSError:
        pass  # there is nobody to tell


def _readings(options):
    """What --read names, the deepest first."""
    readings: dict[int, _Reading] = {}
    for depth, file in options.read:
        try:
            tir = _file_text(0 if file == "-" else file)
            reading = _Reading(tir, depth, options.reserve, file)
            before = readings.setdefault(reading.depth, reading)
            if before is not reading:
                raise ValueError(
                    f"of depth {reading.depth}, as {before.file!r} is:"
                    " expected one reading of a depth"
                )
        except ValueError as error:
            raise ValueError(f"argument --read: {file!r}: {error}") from None
    return [readings[depth] for depth in sorted(readings, reverse=True)]


def _kernels(options, readings):
    """The kernel that the options describe, and what takes its place at the depths that
    were read."""
    locks = options.lock_reserved

    def with_options(kernel):
        return replace(
            kernel,
            cross_core=options.cross_core,
            sharing=options.sharing,
            reserved=options.reserve,
            lock_reserved=kernel.lock_reserved if locks is None else locks,
            buffers=[*kernel.buffers, *options.buffer],
            capacities={**kernel.capacities, **dict(options.memory)},
        )

    by_depth = {each.depth: with_options(each.kernel) for each in readings}
    if by_depth:
        return by_depth[max(by_depth)], by_depth
    return with_options(Kernel(options.sync_point or BUILT_IN)), by_depth


def _check_that_all_counts(options, kernel, by_depth, readings):
    """Refuse a capacity and reserved ids that nothing is there for."""
    kernels = kernel, *by_depth.values()
    named = [memory for memory, _ in options.memory]
    for memory in named:
        what = f"argument --memory: {memory!r}"
        if named.count(memory) > 1:
            raise ValueError(f"{what}: twice: expected every memory once")
        if not any(memory in each.memories for each in kernels):
            raise ValueError(f"{what}: expected a memory that holds a buffer")
    cross_core = CROSS_CORE in map(kernel.namespace_of, kernel.sync_points) or any(
        each.cross_core for each in readings
    )
    if options.reserve and not cross_core:
        raise ValueError(
            f"argument --reserve: {', '.join(map(str, options.reserve))}: expected a"
            " sync point that is a cross-core flag"
        )


def _notes(options, readings):
    """What the answer does not say of itself."""
    if not options.sharing and any(each.share for each in options.sync_point):
        yield "note: without --sharing, share groups share no base id"
    for each in readings:
        if len(each.num_stages) > 1 and (None, each.file) in options.read:
            yield (
                f"note: {each.file!r} prints num_stages"
                f" {', '.join(map(str, each.num_stages))}: read at depth {each.depth};"
                " DEPTH=FILE says another"
            )
    if readings:
        deepest = readings[0]
        if deepest.depth < 4:
            yield (
                f"note: {deepest.file!r} was compiled at depth {deepest.depth}: what"
                " stops growing at 2 or 3 looks as if it followed the depth; read one"
                " compiled at 4 or more"
            )
        if deepest.aliases:
            yield (
                f"note: in {deepest.file!r} buffers share addresses (line"
                f" {deepest.aliases[0]}): they take less memory than shown"
            )
        if deepest.by_loop:
            yield (
                f"note: in {deepest.file!r} a loop is shorter than a ring (line"
                f" {deepest.by_loop[0]}): at other depths the ring is cut otherwise; read"
                " each depth"
            )


def _lines(args):
    """What the command prints for these arguments."""
    parser = _parser()
    try:
        options = _options(parser, args)
        readings = _readings(options)
        kernel, by_depth = _kernels(options, readings)
        _check_that_all_counts(options, kernel, by_depth, readings)
    except ValueError as error:
        parser.error(str(error))
    for note in _notes(options, readings):
        _complain(note)
    last = (
        options.depth
        or options.max_depth
        or max(
            4,
            (limits(kernel, by_depth).last_depth_without_spill or 0) + 1,
            *by_depth,
        )
    )
    depths = range(options.depth or 1, last + 1)
    if options.json:
        read = [*map(_reading_document, readings)]
        yield from json_report(kernel, depths, by_depth, read)
        return
    if readings:
        yield from _reading_lines(readings, kernel)
        yield ""
    yield from text_report(
        kernel,
        depths,
        by_depth,
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
    except (OSError, UnicodeEncodeError) as error:  # the latter: a file's name
        reason = getattr(error, "strerror", error)
        _complain(f"error: cannot write the output: {reason}")
        status = 1
    except KeyboardInterrupt:
        status = 130
    # Leave nothing that the interpreter could fail to flush when it exits.
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
