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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
KILO = 1024  # bytes
MEGA = KILO * KILO
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
LARGEST = 10**18  # the largest depth and num_versions; sizes in M


# The kernel


def _whole_number(value: object, least: int = 1, most: int = LARGEST) -> int:
    """The value, if it is a whole number in this range.  Raises a ValueError that says
    what was expected, and leaves it to the caller to say of what."""
    if not isinstance(value, int) or not least <= value <= most:
        last = {LARGEST: "10^18", LARGEST * MEGA: "10^18 * 2^20"}.get(most, most)
        raise ValueError(f"expected a whole number from {least} to {last}")
    return value


def _check_number(
    what: str, number: object, least: int = 1, most: int = LARGEST
) -> None:
    try:
        _whole_number(number, least, most)
    except ValueError as error:
        raise ValueError(f"{what} {number!r}: {error}") from None


def _check_name(what: str, text: object) -> None:
    if not isinstance(text, str) or not re.fullmatch(NAME, text):
        raise ValueError(
            f"{what} {text!r}: expected letters, digits and _ . [ ] -,"
            " not starting with a dash"
        )


def _check_event(what: str, event: object, cross_core: str) -> None:
    """Raise ValueError unless event is a hard_event, or what cross_core says."""
    if event not in (cross_core, *HARD_EVENTS):
        raise ValueError(
            f"{what} {event!r}: expected {cross_core}, or PROD_CONS of two different"
            f" pipes of {' '.join(sorted(PIPES))}"
        )


def _check_memory(name: str) -> None:
    if name not in MEMORIES:
        raise ValueError(f"memory {name!r}: expected one of {' '.join(MEMORIES)}")


def _check_names_once(named: Iterable[SyncPoint | Buffer]) -> None:
    names = set()
    for item in named:
        if item.name in names:
            raise ValueError(f"name {item.name!r} twice: expected every name once")
        names.add(item.name)


def _check_versions(item: SyncPoint | Buffer) -> None:
    for what in "versions", "max_versions":
        if getattr(item, what) is not None:
            _check_number(what, getattr(item, what))
    if item.versions and item.max_versions:
        raise ValueError(
            f"versions {item.versions} and max_versions {item.max_versions}: expected"
            " one of them"
        )


def _num_versions(item: SyncPoint | Buffer, depth: int) -> int:
    """What is fixed, or the depth, or the depth up to a limit: the scheduler gives a
    buffer that nobody annotated as many versions as its schedule needs, at most
    num_stages (tilelang/ascend/transform/z3_scheduler.py:435)."""
    return item.versions or min(depth, item.max_versions or depth)


def _all_slots(namespace: str | None) -> range:
    """The slots of the namespace of this name, reserved or not."""
    return range(CROSS_CORE_SLOTS if namespace == CROSS_CORE else INTRA_CORE_SLOTS)


def _reserved_slots(reserved: Mapping[str, Collection[int]]) -> dict[str, set[int]]:
    """By namespace, the slots that these ids take."""
    slots: dict[str, set[int]] = {}
    try:
        for namespace, ids in reserved.items():
            _check_event("namespace", namespace, CROSS_CORE)
            for event_id in map(operator.index, ids):
                if namespace == CROSS_CORE:
                    event_id %= CROSS_CORE_SLOTS
                last = _all_slots(namespace)[-1]
                _check_number(f"reserved {namespace} id", event_id, 0, last)
                slots.setdefault(namespace, set()).add(event_id)
    except (AttributeError, TypeError):
        raise ValueError(
            f"reserved {reserved!r}: expected ids by namespace, as in"
            f" {{{CROSS_CORE!r}: [14, 15]}}"
        ) from None
    return slots


@dataclass(frozen=True)
class SyncPoint:
    """One point of synchronisation between two pipes.

    name          letters, digits and _ . [ ] -, not starting with a dash
    event         the hard_event whose namespace it lives in, PROD_CONS of two
                  PIPES; "cross-core"; or None: wherever the kernel puts those that
                  name no event
    versions      its num_versions, in ids, where that is fixed; None: the depth
    max_versions  where its num_versions follows the depth, but no further than this
    cross_iter    whether it is a dependency on an earlier iteration (a release)
    share         sync points of one namespace and one share group may share a base
                  id; None: with no other (the compiler's proof that they may:
                  CanReuse, insert_sync.cc:1607, kept at :1729 and :1742)
    base          the base id that the compiler has given it, from 0 to 10^18; None:
                  that is still to be worked out.  It counts where every sync point
                  of the namespace has one, and no id of the namespace is reserved

    versions and max_versions are from 1 to 10^18, and never both given.  Raises
    ValueError where a field is not as described.
    """

    name: str
    event: str | None = None
    versions: int | None = None
    max_versions: int | None = None
    cross_iter: bool = False
    share: str | None = None
    base: int | None = None

    def __post_init__(self) -> None:
        _check_name("name", self.name)
        if self.event is not None:
            _check_event("event", self.event, "cross-core")
        _check_versions(self)
        if self.share is not None:
            _check_name("share group", self.share)
        if self.base is not None:
            _check_number("base", self.base, 0)


@dataclass(frozen=True)
class Buffer:
    """One buffer in the on-chip memory.

    name          letters, digits and _ . [ ] -, not starting with a dash
    memory        one of MEMORIES
    bytes         the size of one version, from 1 to 10^18 * 2^20
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
        _check_number("bytes", self.bytes, most=LARGEST * MEGA)
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
    reserved       by namespace, a hard_event or CROSS_CORE, the ids that somebody else
                   holds: the kernel's source, a library, another compiler.  Those of
                   a hard_event are from 0 to 7, those of CROSS_CORE are kept modulo 16
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
    reserved: Mapping[str, Collection[int]] = field(default_factory=dict, hash=False)
    lock_reserved: int = 0
    buffers: Sequence[Buffer] = ()
    capacities: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, value in (
            ("sync_points", tuple(self.sync_points)),
            ("reserved", _reserved_slots(self.reserved)),
            ("buffers", tuple(self.buffers)),
            ("capacities", {**MEMORIES, **self.capacities}),
        ):
            object.__setattr__(self, name, value)
        if not self.sync_points:
            raise ValueError("no sync points: expected at least 1")
        _check_names_once(self.sync_points)
        _check_names_once(self.buffers)
        if self.sharing not in (None, *SHARING):
            raise ValueError(f"sharing {self.sharing!r}: expected one of {SHARING}")
        _check_number("lock_reserved", self.lock_reserved, 0, LOCK_POOL_SLOTS)
        for memory, capacity in self.capacities.items():
            _check_memory(memory)
            _check_number(f"capacity of {memory}", capacity, most=LARGEST * MEGA)

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
        held = {buffer.memory for buffer in self.buffers}
        return tuple(name for name in MEMORIES if name in held)


# Two loads and their releases, without an event and so all in one namespace.  The
# releases are not cross_iter, which would put them first: so they come last in id
# order, and are what spills first.
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
    def cross_core(self) -> bool:
        """Whether its flags are between the cube and the vector cores."""
        return self.name == CROSS_CORE

    @property
    def lock_slots(self) -> int:
        """How many slots of the lock pool its spilled allocations take."""
        return self.ids - self.kept_slots

    def names(self, placement: str) -> list[str]:
        """The sync points that stay a "flag", or that became a "lock"."""
        return [
            point.name for point in self.sync_points if point.placement == placement
        ]


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
    memories          those that hold a buffer, in the order of MEMORIES
    """

    depth: int
    namespaces: tuple[Namespace, ...]
    lock_slots: int
    cross_core_locks: int
    spilled: tuple[str, ...]
    memories: tuple[Memory, ...]

    @property
    def locks_overflow(self) -> bool:
        """Whether more locks are used than the lock pool has
        (rewrite_flag_to_buf.cc:364)."""
        return self.lock_slots > LOCK_POOL_SLOTS

    @property
    def rejected(self) -> str | None:
        """Why the compile stops, in a few words; None if it does not.  A cross-core
        flag that finds no slots stops it (insert_sync.cc:1993) before locks are
        counted."""
        if self.cross_core_locks:
            (cross_core,) = (each for each in self.namespaces if each.cross_core)
            return f"no cross-core slots for {_listed(cross_core.names('lock'))}"
        if self.locks_overflow:
            return f"lock pool {self.lock_slots}/{LOCK_POOL_SLOTS}"
        return None

    @property
    def out_of_memory(self) -> tuple[str, ...]:
        """The memories whose buffers take more than there is."""
        return tuple(memory.name for memory in self.memories if memory.overflows)


def _listed(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def plan(kernel: Kernel, depth: int) -> Plan:
    """What the compiler does with kernel at this depth (num_stages, 1 to 10^18).

    Lock slots are numbered through all hard_events, after those that are reserved.
    Where the compile stops, the plan shows the model's own spill: that of cross-core
    flags after all other locks.  Raises ValueError for a depth out of range, and for
    base ids with which the ids of two sync points overlap.

    >>> at_3 = plan(Kernel(BUILT_IN), depth=3)
    >>> at_3.spilled, at_3.lock_slots
    (('release_A', 'release_B'), 6)
    """
    _check_number("depth", depth)
    members: dict[str | None, list[SyncPoint]] = {}
    for point in kernel.sync_points:
        members.setdefault(kernel.namespace_of(point), []).append(point)
    planned: dict[str | None, Namespace] = {}
    locks = kernel.lock_reserved
    for name in sorted(members, key=_lock_order):
        planned[name] = _plan_namespace(kernel, name, members[name], depth, locks)
        locks += planned[name].lock_slots
    cross_core_locks = sum(
        namespace.lock_slots for namespace in planned.values() if namespace.cross_core
    )
    spilled = {
        name for namespace in planned.values() for name in namespace.names("lock")
    }
    return Plan(
        depth,
        tuple(planned[name] for name in members),
        locks - cross_core_locks,
        cross_core_locks,
        tuple(point.name for point in kernel.sync_points if point.name in spilled),
        _plan_memories(kernel, depth),
    )


def _lock_order(namespace: str | None) -> tuple[bool, bool]:
    """Where the namespace of this name comes when lock slots are numbered: those of the
    cube first, whose code the compiler emits first, and cross-core flags, which have
    no locks, last (FlagUsageCollector, rewrite_flag_to_buf.cc:138)."""
    cube = {"M", "MTE1", "FIX"}.intersection((namespace or "").split("_"))
    return namespace == CROSS_CORE, not cube


@dataclass(frozen=True)
class _Allocation:
    """Sync points with one base id, which stay flags or spill together.

    members  the indices of its sync points in their namespace
    width    how many ids it takes: as many as its widest sync point
    base     its base id, if it was read; None: wherever there is room
    """

    members: Sequence[int]
    width: int
    base: int | None = None


def _plan_namespace(
    kernel: Kernel,
    name: str | None,
    points: Sequence[SyncPoint],
    depth: int,
    first_lock: int,
) -> Namespace:
    """Place the sync points of one namespace, as two passes do one after the other.
    What spills takes the lock slots from first_lock on, in id order."""
    reserved = kernel.reserved.get(name, ()) if name else ()
    free = {*_all_slots(name)}.difference(reserved)
    widths = [_num_versions(point, depth) for point in points]

    # The first pass decides which sync points are one allocation, and their order.
    if not reserved and all(point.base is not None for point in points):
        allocations = _as_read(points, widths)
    elif kernel.sharing == "on-demand":
        cross_core = name == CROSS_CORE
        allocations = _share_on_demand(points, widths, free, cross_core)
    else:
        allocations = _share_always(points, widths, bool(kernel.sharing))

    # The second pass decides which of them stay flags.
    placements: dict[int, Placement] = {}  # by index
    lock, kept_slots = first_lock, 0
    for allocation, slots in zip(allocations, _kept_slots(allocations, free)):
        if slots:
            where, base = "flag", slots[0]
            kept_slots += allocation.width
        else:
            where, base = "lock", lock
            lock += allocation.width
        for index in allocation.members:
            placements[index] = Placement(
                points[index].name, widths[index], where, base
            )
    return Namespace(
        name,
        len(free),
        sum(allocation.width for allocation in allocations),
        kept_slots,
        tuple(placements[index] for index in range(len(points))),
    )


# The first pass, InsertSync


def _as_read(points: Sequence[SyncPoint], widths: Sequence[int]) -> list[_Allocation]:
    """The allocations of sync points that all have a base id: one for each base."""
    members: dict[int, list[int]] = {}
    for index, point in enumerate(points):
        members.setdefault(point.base or 0, []).append(index)
    allocations = [
        _Allocation(members[base], max(widths[index] for index in members[base]), base)
        for base in sorted(members)
    ]
    end, before = 0, ""
    for allocation in allocations:
        name, base = points[allocation.members[0]].name, allocation.base or 0
        if base < end:
            raise ValueError(
                f"base {base} of {name!r}: expected at least {end}, where the ids of"
                f" {before!r} end, or its base"
            )
        end, before = base + allocation.width, name
    return allocations


def _in_id_order(points: Sequence[SyncPoint], widths: Sequence[int]) -> list[int]:
    """The indices of the sync points in the order in which they are given base ids:
    releases first, then wider before narrower, else as declared
    (insert_sync.cc:1912-1924)."""
    return sorted(
        range(len(points)),
        key=lambda index: (not points[index].cross_iter, -widths[index]),
    )


def _share_always(
    points: Sequence[SyncPoint], widths: Sequence[int], sharing: bool
) -> list[_Allocation]:
    """The allocations in id order, where each sync point is one or, with sharing, each
    share group is one."""
    members: dict[int | str, list[int]] = {}
    for index in _in_id_order(points, widths):
        group = points[index].share if sharing else None
        members.setdefault(group or index, []).append(index)
    return [
        _Allocation(indices, max(widths[index] for index in indices))
        for indices in members.values()
    ]


def _share_on_demand(
    points: Sequence[SyncPoint],
    widths: Sequence[int],
    free: Collection[int],
    cross_core: bool,
) -> list[_Allocation]:
    """The allocations in id order, where a sync point joins another of its share group
    only while the namespace is short of slots: insert_sync.cc:1946-1984."""
    slots, required, free = len(free), sum(widths), {*free}
    allocations: list[list[int]] = []
    groups: dict[str, list[list[int]]] = {}
    for index in _in_id_order(points, widths):
        point, width = points[index], widths[index]
        group = groups.setdefault(point.share, []) if point.share else []
        run = _first_fit(free, width)

        # Join the first allocation that is as wide and, within a core, as much of a
        # release: only a handshake between the cores alternates on one ring (:1639).
        joined = None
        if required > slots or not run:
            for allocation in group:
                first = allocation[0]
                mixed = points[first].cross_iter != point.cross_iter
                if widths[first] >= width and (cross_core or not mixed):
                    joined = allocation
                    break

        # Where there is none, take slots of its own.
        if joined is not None:
            joined.append(index)
            required -= width
        else:
            allocations.append([index])
            group.append(allocations[-1])
            free.difference_update(run)
    return [_Allocation(members, widths[members[0]]) for members in allocations]


# The second pass, RewriteFlagToBuf


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


def _first_fit(free: Collection[int], width: int) -> range:
    """The lowest contiguous free slots, as many as width; an empty range if there are
    not so many: find_cross_core_range, insert_sync.cc:1901."""
    for base in sorted(free):
        run = range(base, base + width)
        if all(slot in free for slot in run):
            return run
    return range(0)


def _kept_slots(
    allocations: Sequence[_Allocation], free: Collection[int]
) -> list[range]:
    """The slots of each allocation, in id order; an empty range if it spills
    (rewrite_flag_to_buf.cc:318-357)."""
    # Ids that were read and all lie within the slots stay where they are.
    read = [
        range(allocation.base, allocation.base + allocation.width)
        for allocation in allocations
        if allocation.base is not None
    ]
    if len(read) == len(allocations) and all(ids[-1] in free for ids in read):
        return read

    # Else the knapsack decides, and what it keeps is packed from the lowest slot on.
    # Reserved ids can leave slots enough, but not side by side.
    kept = []
    free = {*free}
    widths = [allocation.width for allocation in allocations]
    for width, keep in zip(widths, knapsack_keep(widths, len(free))):
        run = _first_fit(free, width) if keep else range(0)
        free.difference_update(run)
        kept.append(run)
    return kept


def _plan_memories(kernel: Kernel, depth: int) -> tuple[Memory, ...]:
    used = dict.fromkeys(kernel.memories, 0)
    for buffer in kernel.buffers:
        used[buffer.memory] += buffer.bytes * _num_versions(buffer, depth)
    return tuple(Memory(name, kernel.capacities[name], used[name]) for name in used)


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
            yield from _block(at_depth, depth_plan)
        plans.append(depth_plan)
    if table:
        if blocks:
            yield ""
        yield from _table(kernel, plans)
        yield from _limit_lines(kernel, readings)


def _names_events(kernel: Kernel) -> bool:
    return any(point.event for point in kernel.sync_points)


def _heading(kernel: Kernel, name: str | None) -> str:
    """What a block and the table call the namespace of this name."""
    return (name or "unnamed") if _names_events(kernel) else "ids"


def _ids_and_slots(kernel: Kernel, namespace: Namespace) -> str:
    return f"{_heading(kernel, namespace.name)} {namespace.ids}/{namespace.slots}"


def _used_and_bytes(memory: Memory) -> str:
    size = str if memory.bytes % KILO else _kilobytes
    return f"{size(memory.used)}/{size(memory.bytes)}"


def _kilobytes(size: int) -> str:
    if size % KILO:
        tenths = -(-size * 10 // KILO)  # rounded up
        return f"{tenths // 10}.{tenths % 10}K"
    return f"{size // KILO}K"


def _columns(
    rows: Sequence[Sequence[str]], justify: Callable[[str, int], str], gap: str = "  "
) -> Iterator[str]:
    """The rows with all columns but the last as wide as their widest cell."""
    *widths, _ = [max(map(len, column)) for column in zip(*rows)]
    for *cells, last in rows:
        yield gap.join([*map(justify, cells, widths), last])


def _block(kernel: Kernel, depth_plan: Plan) -> Iterator[str]:
    depth = depth_plan.depth
    named = _names_events(kernel)
    exceptions = _exceptions(kernel, depth)
    yield f"depth={depth} num_versions per sync point = {depth}{exceptions}"
    for namespace in depth_plan.namespaces:
        if named:
            yield f"[{_heading(kernel, namespace.name)}]"
        yield from _namespace_lines(kernel, namespace)
    if named or depth_plan.spilled:
        locks = f"lock pool: {depth_plan.lock_slots}/{LOCK_POOL_SLOTS} slots"
        if depth_plan.cross_core_locks:
            locks += f", and {depth_plan.cross_core_locks} for cross-core flags"
        if depth_plan.locks_overflow:
            locks += " -> the compiler rejects this depth"
        yield locks
    for memory in depth_plan.memories:
        yield f"memory {memory.name}: {_used_and_bytes(memory)}"
    if depth_plan.cross_core_locks:
        yield (
            "note: the compiler has no lock pool for cross-core flags;"
            " it rejects this depth"
        )


def _exceptions(kernel: Kernel, depth: int) -> str:
    """The sync points whose num_versions are not simply the depth, up to 6 by name."""
    kinds = {
        "fixed": [
            f"{point.name}={point.versions}"
            for point in kernel.sync_points
            if point.versions
        ],
        "at most": [
            f"{point.name}={_num_versions(point, depth)}"
            for point in kernel.sync_points
            if point.max_versions
        ],
    }
    many = sum(map(len, kinds.values())) > _MOST_NAMES
    said = [
        f"{len(widths)} {kind}" if many else f"{kind}: {', '.join(widths)}"
        for kind, widths in kinds.items()
        if widths
    ]
    return f" ({(', ' if many else '; ').join(said)})" if said else ""


def _namespace_lines(kernel: Kernel, namespace: Namespace) -> Iterator[str]:
    # What the allocator was asked for.
    slots = namespace.slots
    widths = [f"{point.name}={point.num_versions}" for point in namespace.sync_points]
    yield f"blocks: {', '.join(widths)}"
    on_base: dict[tuple[str, int], list[str]] = {}
    for point in namespace.sync_points:
        on_base.setdefault((point.placement, point.base), []).append(point.name)
    for names in on_base.values():
        if len(names) > 1:
            yield f"shared : {', '.join(names)} on one base"
    reserved = kernel.reserved.get(namespace.name) if namespace.name else None
    if reserved:
        yield f"reserved : {', '.join(map(str, sorted(reserved)))}"
    yield f"allocator sum = {namespace.ids} ids"

    # What it comes to.
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

    # Where each sync point is.
    rows = [
        [
            point.name,
            f"{'base' if point.placement == 'flag' else 'lock'} {point.base}",
            f"id = i % {point.num_versions}",
            f"+ {point.base}",
        ]
        for point in namespace.sync_points
    ]
    yield from _columns(rows, str.ljust, " ")


def _verdict(depth_plan: Plan) -> str:
    """All that happens at one depth."""
    cross_core = {
        name
        for namespace in depth_plan.namespaces
        if namespace.cross_core
        for name in namespace.names("lock")
    }
    spilled = [name for name in depth_plan.spilled if name not in cross_core]
    happens = {
        "rejected:": depth_plan.rejected,
        "spills": _listed(spilled),
        "out of memory:": ", ".join(depth_plan.out_of_memory),
    }
    said = [f"{what} {which}" for what, which in happens.items() if which]
    return "; ".join(said) or "fits"


def _table(kernel: Kernel, plans: Sequence[Plan]) -> Iterator[str]:
    """A row for each depth.  A depth that was read may lack what others have; where
    there are many namespaces, those that never spill stand below."""
    # The namespaces as the kernel of most depths has them, then what others have.
    namespaces = [
        namespace for depth_plan in plans for namespace in depth_plan.namespaces
    ]
    last = {namespace.name: namespace for namespace in namespaces}
    order = [*map(kernel.namespace_of, kernel.sync_points), *last]
    shown = sorted(last, key=order.index)
    below = []
    if len(shown) > _MOST_NAMES:
        spill = {namespace.name for namespace in namespaces if namespace.lock_slots}
        below = [
            _ids_and_slots(kernel, last[name]) for name in shown if name not in spill
        ]
        shown = [name for name in shown if name in spill]
    used = {memory.name for depth_plan in plans for memory in depth_plan.memories}
    memories = [name for name in MEMORIES if name in used]

    headings = [_heading(kernel, name) for name in shown]
    rows = [["depth", *headings, "locks", *memories, "verdict"]]
    for depth_plan in plans:
        cells = {
            namespace.name: f"{namespace.ids}/{namespace.slots}"
            for namespace in depth_plan.namespaces
        }
        sizes = {memory.name: _used_and_bytes(memory) for memory in depth_plan.memories}
        rows.append(
            [
                str(depth_plan.depth),
                *(cells.get(name, "-") for name in shown),
                f"{depth_plan.lock_slots}/{LOCK_POOL_SLOTS}",
                *(sizes.get(name, "-") for name in memories),
                _verdict(depth_plan),
            ]
        )
    yield from _columns(rows, str.rjust)
    if below:
        yield f"never over: {', '.join(below)}"


def _limit_lines(kernel: Kernel, readings: Mapping[int, Kernel]) -> Iterator[str]:
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
        over = [text for _, text in _over(at_depth, plan(at_depth, flags + 1))]
        yield f"{lasts}: {', '.join(over)}"
    compiles = found.last_depth_that_compiles
    if compiles is not None:
        up_to = f"up to depth {compiles}" if compiles else "no depth"
        at_depth = readings.get(compiles + 1, kernel)
        rejected = plan(at_depth, compiles + 1)
        reasons = [
            text
            for namespace, text in _over(at_depth, rejected)
            if namespace.cross_core
        ]
        yield (
            f"the compiler takes {up_to}; depth {compiles + 1} is rejected:"
            f" {', '.join(reasons) or rejected.rejected}"
        )
    if found.memories:
        yield from _memory_limit_lines(kernel, readings, found)


def _over(kernel: Kernel, depth_plan: Plan) -> Iterator[tuple[Namespace, str]]:
    """The namespaces that spill, and what a limit says of each: MTE2_V 10/8."""
    for namespace in depth_plan.namespaces:
        if namespace.lock_slots:
            # Reserved ids can leave slots enough, but not side by side.
            split = " in no contiguous run" if namespace.ids <= namespace.slots else ""
            yield namespace, _ids_and_slots(kernel, namespace) + split


def _memory_limit_lines(
    kernel: Kernel, readings: Mapping[int, Kernel], found: Limits
) -> Iterator[str]:
    last = found.last_depth_in_memory
    if last is None:
        yield "memory lasts to any depth"
    else:
        lasts = (
            f"memory lasts to depth {last}; depth {last + 1} needs"
            if last
            else "memory does not last to any depth; depth 1 already needs"
        )
        needs = [
            f"{memory.name} {_used_and_bytes(memory)}"
            for memory in plan(readings.get(last + 1, kernel), last + 1).memories
            if memory.overflows
        ]
        yield f"{lasts} {', '.join(needs)}"
    if found.binds_first:
        yield {
            "flag slots": "flag slots bind first",
            "memory": "memory binds first",
            "both": "flag slots and memory bind at the same depth",
        }[found.binds_first]
    for memory in found.memories:
        if memory.largest_stage_for_flags:
            yield (
                f"in {memory.name}, flag slots bind first while a stage takes at most"
                f" {memory.largest_stage_for_flags} bytes"
                f" (it takes {memory.stage_bytes})"
            )
        elif memory.largest_stage_for_flags == 0:
            yield f"in {memory.name}, flag slots never bind first"


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


def _depth_document(depth_plan: Plan) -> dict[str, object]:
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


def _reading_lines(texts: Sequence[_Text], kernel: Kernel) -> Iterator[str]:
    """What the deepest text, the first of these, has in which lines: so a spill leads
    back to it."""
    files = [f"at depth {text.depth}: {text.file}" for text in texts]
    yield f"read {'; also '.join(files)}"
    deepest = texts[0]
    rows = []
    for ring in deepest.rings:
        first, last = ring.ids[0], ring.ids[-1]
        ids = f"id {first}" if first == last else f"ids {first}-{last}"
        rows.append([ring.point.name, ids, _growth(ring.point), _lines_of(ring.lines)])
    for buffer, line in deepest.buffers:
        size = f"{buffer.memory} {_kilobytes(buffer.bytes)}"
        rows.append([buffer.name, size, _growth(buffer), f"line {line}"])
    yield from _columns(rows, str.ljust)
    if deepest.gemms and kernel.lock_reserved == GEMM_L1_LOCKS:
        yield f"gemm_l1 holds {GEMM_L1_LOCKS} locks, {_lines_of(deepest.gemms)}"
    if deepest.simt and kernel.capacities["ub"] == SIMT_UB:
        yield f"ub has {_kilobytes(SIMT_UB)}: SIMT_VF, {_lines_of(deepest.simt)}"


def _growth(item: SyncPoint | Buffer) -> str:
    if item.versions:
        return f"fixed {item.versions}"
    return f"at most {item.max_versions}" if item.max_versions else "follows the depth"


def _lines_of(lines: Sequence[int]) -> str:
    return f"{'lines' if len(lines) > 1 else 'line'} {_listed([*map(str, lines)], 4)}"


def _text_document(text: _Text) -> dict[str, object]:
    return {
        "file": text.file,
        "depth": text.depth,
        "sync_points": [
            {
                "name": ring.point.name,
                "ids": [ring.ids[0], ring.ids[-1]],
                "lines": ring.lines,
            }
            for ring in text.rings
        ],
        "buffers": [
            {
                "name": buffer.name,
                "memory": buffer.memory,
                "bytes": buffer.bytes,
                "versions": _num_versions(buffer, text.depth),
                "line": line,
            }
            for buffer, line in text.buffers
        ],
        "locks": text.kernel.lock_reserved,
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


@dataclass(frozen=True)
class _Ring:
    """The ids of one sync point, as one text has them.

    point  the sync point, with its base id
    ids    the ids of its namespace that it rotates through
    lines  those of its flag calls, ascending
    """

    point: SyncPoint
    ids: range
    lines: Sequence[int]


@dataclass(frozen=True)
class _Text:
    """A kernel as one TIR text has it.

    file        as given
    depth       what it was compiled with
    num_stages  those that the text prints, ascending
    rings       in the order of their namespaces, and then of their ids
    buffers     each of its buffers with its line
    gemms       the lines of what becomes gemm_l1
    simt        the lines of the SimtVF blocks
    by_loop     the lines with ids that would be others without the loops
    aliases     the lines that say which buffers share addresses
    cross_core  whether there are cross-core flags, reserved or not
    """

    file: str
    depth: int
    num_stages: Sequence[int]
    rings: Sequence[_Ring]
    buffers: Sequence[tuple[Buffer, int]]
    gemms: Sequence[int]
    simt: Sequence[int]
    by_loop: Sequence[int]
    aliases: Sequence[int]
    cross_core: bool

    @property
    def kernel(self) -> Kernel:
        """The kernel, its sync points with their base ids."""
        return Kernel(
            [ring.point for ring in self.rings],
            lock_reserved=GEMM_L1_LOCKS if self.gemms else 0,
            buffers=[buffer for buffer, _ in self.buffers],
            capacities={"ub": SIMT_UB} if self.simt else {},
        )


def read_kernel(
    tir: str,
    depth: int | None = None,
    reserved: Mapping[str, Collection[int]] = {},
    bases: bool = False,
) -> Kernel:
    """The kernel in a TIR text of tilelang, as the pass tl.InsertSync leaves it.

    depth is what it was compiled with; None: the largest num_stages that the text
    prints.  Ids of one namespace that overlap are a ring, and each ring is a sync
    point, named after the namespace and its first id.  Rings that lie within reserved
    ids are none.  A ring as wide as depth follows the depth, a narrower one follows it
    up to its own width, a wider one is fixed; so it is with the versions of the
    buffers.  With bases, each sync point has the base id that the text gives it, which
    is right at this depth only.  Raises ValueError for a text that is no TIR, has no
    flags, or has spilled to locks already; for a depth that it does not print, an event
    id without bounds, and a buffer without a size.

    >>> tir = 'for s in range(64): T.ascend_set_flag("MTE2_V", s % 3 + 3)'
    >>> read_kernel(tir, depth=3).sync_points[0].name
    'MTE2_V[3]'
    """
    kernel = replace(_read(tir, depth, reserved).kernel, reserved=reserved)
    return kernel if bases else _without_bases(kernel)


def _without_bases(kernel: Kernel) -> Kernel:
    """The kernel as it is planned at depths that were not read."""
    points = [replace(point, base=None) for point in kernel.sync_points]
    return replace(kernel, sync_points=points)


def _read(
    tir: str,
    depth: int | None,
    reserved: Mapping[str, Collection[int]],
    file: str = "",
) -> _Text:
    try:
        nodes = [*_nodes(_function_with_flags(_parse(tir)))]
        _check_that_none_spilled(nodes)
        uses, by_loop = _flag_uses(nodes)
    except (RecursionError, MemoryError):
        raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None
    stages = {_integer(value) for value in _values(nodes, "num_stages")}
    num_stages = sorted(number for number in stages if number)
    depth = _depth_read(depth, num_stages)
    rings = [*_rings(uses, depth, _reserved_slots(reserved))]
    if not rings:
        raise ValueError("all flags are reserved: expected one that is not")
    return _Text(
        file,
        depth,
        num_stages,
        rings,
        buffers=[*_buffers(nodes, depth)],
        gemms=_gemm_l1_lines(nodes),
        simt=[
            call.lineno
            for call in _calls(nodes, "sblock")
            if _string(*call.args[:1]) == "SIMT_VF"
        ],
        by_loop=by_loop,
        aliases=[
            value.lineno
            for value in _values(nodes, "tl.buffer_alias_map")
            if any(getattr(shared, "elts", ()) for _, shared in _items(value))
        ],
        cross_core="cross-core" in uses,
    )


def _parse(tir: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about what is no TIR
            return ast.parse(tir)
    except (SyntaxError, ValueError):
        raise ValueError(f"no TIR: {_EXPECTED_TIR}") from None


def _function_with_flags(tree: ast.Module) -> ast.AST:
    """The one function that sets flags; all of the text where none does."""
    functions = [
        function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(_called(node) in _FLAGS for node in ast.walk(function))
    ]
    if len(functions) > 1:
        lines = ", ".join(str(function.lineno) for function in functions)
        raise ValueError(
            f"the functions of lines {lines} set flags: expected one kernel; read each"
            " from a file of its own"
        )
    return functions[0] if functions else tree


# What the names of the loops around a node can be; None where no numbers bound one.
_Bounds = Mapping[str, "range | None"]
_Node = tuple["ast.Call | ast.Dict | ast.Assign", _Bounds]


def _nodes(function: ast.AST) -> Iterator[_Node]:
    """What counts in a text, in its order: the calls, the dicts and the assignments,
    each with what the loops around it say.  Without recursion: a sum may be deeper than
    Python's stack."""
    stack: list[tuple[ast.AST, _Bounds]] = [(function, {})]
    while stack:
        node, loops = stack.pop()
        if isinstance(node, (ast.Call, ast.Dict, ast.Assign)):
            yield node, loops
        if isinstance(node, ast.For):
            loops = {**loops, **_loop_variables(node)}
        # The first child comes last, and so is popped first.
        stack += reversed([(child, loops) for child in ast.iter_child_nodes(node)])


def _loop_variables(loop: ast.For) -> dict[str, range | None]:
    targets = getattr(loop.target, "elts", [loop.target])
    names = [getattr(target, "id", "") for target in targets]
    called = _called(loop.iter)
    arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    # An argument that is no number counts as one without end.
    limits = [_integer(argument) for argument in arguments]
    numbers = [_UNBOUNDED.stop if limit is None else limit for limit in limits]
    known: list[range] = []
    if called == "grid":
        known = [range(number) for number in numbers]
    elif called in _LOOPS and numbers:
        known = [range(*numbers[:2])]
    return {**dict.fromkeys(names), **dict(zip(names, known))}


def _called(node: ast.AST) -> str:
    """The last name of what a call calls; nothing if it is no call."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _calls(nodes: Sequence[_Node], *names: str) -> list[ast.Call]:
    """The calls of these names."""
    return [
        node
        for node, _ in nodes
        if isinstance(node, ast.Call) and _called(node) in names
    ]


def _keyword(call: ast.AST, name: str) -> ast.expr | None:
    """The value of a keyword argument; None if there is none, or no call."""
    keywords = getattr(call, "keywords", ())
    return {keyword.arg: keyword.value for keyword in keywords}.get(name)


def _items(node: ast.AST) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """The keys and values of a dict; none if it is no dict."""
    return zip(getattr(node, "keys", ()), getattr(node, "values", ()))


def _values(nodes: Sequence[_Node], text: str) -> list[ast.expr]:
    """The values of this key in all dicts."""
    return [
        value
        for node, _ in nodes
        for key, value in _items(node)
        if _string(key) == text
    ]


def _variable(node: ast.AST | None = None) -> str:
    """The name in x, x.data or x[0, 0]; empty if there is none, or no node."""
    return str(getattr(getattr(node, "value", node), "id", ""))


def _string(node: ast.AST | None = None) -> str:
    """What a string says; empty if it is none, or no node."""
    value = getattr(node, "value", None)
    return value if isinstance(value, str) else ""


def _integer(node: ast.AST | None) -> int | None:
    """The value of a whole number; None if it is none, or no node."""
    value = getattr(node, "value", None)
    return value if type(value) is int else None


def _check_that_none_spilled(nodes: Sequence[_Node]) -> None:
    """What spills is unlocked in the line after its lock: rewrite_flag_to_buf.cc:293."""
    unlocks = {call.lineno: ast.dump(call) for call in _calls(nodes, "ascend_rls_buf")}
    for lock in _calls(nodes, "ascend_get_buf"):
        unlock = ast.dump(lock).replace("ascend_get_buf", "ascend_rls_buf")
        if unlocks.get(lock.lineno + 1) == unlock:
            raise ValueError(
                f"line {lock.lineno}: flags have spilled to locks already:"
                f" {_EXPECTED_TIR}"
            )


_UNBOUNDED = range(2**62)  # more than any id or loop of a kernel
_Use = tuple[int, int, int]  # the first of the ids, the one after the last, the line


def _flag_uses(nodes: Sequence[_Node]) -> tuple[dict[str, list[_Use]], list[int]]:
    """By the event of a SyncPoint, in order of appearance, its flag calls
    (FlagUsageCollector, rewrite_flag_to_buf.cc:138); and the lines with ids that would
    be others without the loops."""
    uses: dict[str, list[_Use]] = {}
    unbounded, by_loop = [], []
    for call, loops in nodes:
        name = _called(call)
        if not isinstance(call, ast.Call) or name not in _FLAGS:
            continue
        cross_core = "cross_core" in name
        try:
            if len(call.args) < 2:
                raise ValueError(f"expected an id in {name}")
            first, *_, event_id = call.args
            event = "cross-core" if cross_core else _string(first)
            _check_event("event", event, "cross-core")
        except ValueError as error:
            raise ValueError(f"line {call.lineno}: {error}") from None
        ids = _event_ids(event_id, loops, cross_core)
        if ids.stop >= _UNBOUNDED.stop:
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


def _event_ids(node: ast.expr, loops: _Bounds, cross_core: bool) -> range:
    """What an event id can be (EventIdRange, rewrite_flag_to_buf.cc:121)."""
    number = _integer(node)
    if number is not None:
        return range(number, number + 1)
    if not isinstance(node, ast.BinOp):
        return loops.get(getattr(node, "id", "")) or _UNBOUNDED
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


def _modulo_16(ids: range) -> list[range]:
    """What the 16 cross-core slots have of these ids."""
    slots = CROSS_CORE_SLOTS
    start = ids.start % slots
    stop = start + ids.stop - ids.start
    if stop - start >= slots:
        return [range(slots)]
    if stop <= slots:
        return [range(start, stop)]
    return [range(start, slots), range(stop - slots)]


def _coalesced(uses: Iterable[_Use]) -> Iterator[tuple[range, bool, list[int]]]:
    """The ids of each ring, whether it is a release's, and the lines of its flags.
    Ids that overlap are of one ring, those that only touch are not (CoalesceBlocks,
    rewrite_flag_to_buf.cc:188)."""
    joined: list[list[_Use]] = []
    end = 0
    for use in sorted(uses):
        start, stop, _ = use
        if start >= end:
            joined.append([use])
        else:
            joined[-1].append(use)
        end = max(end, stop)
    # Releases come first in id order, so the rings are looked at from the last one on
    # down: once one is found to be a release, all below it are.  It shows in two ways.
    # tilelang sets its ids one by one before the loop (insert_sync.cc:2090).  And among
    # the releases, as among the others, wider comes before narrower (:1912-1924): of
    # rings 2, 1, 3 ids wide, the first two are releases.
    rings = []
    release, width = False, 0
    for ring in reversed(joined):
        ids = range(ring[0][0], max(stop for _, stop, _ in ring))
        width_above, width = width, ids.stop - ids.start
        one_by_one = width > 1 and any(stop - start == 1 for start, stop, _ in ring)
        release = release or one_by_one or width < width_above
        rings.append((ids, release, sorted({line for *_, line in ring})))
    yield from reversed(rings)


def _rings(
    uses: Mapping[str, Iterable[_Use]], depth: int, reserved: Mapping[str, set[int]]
) -> Iterator[_Ring]:
    """The rings, by namespace and in id order, but for those of reserved ids."""
    for event, of_event in uses.items():
        namespace = CROSS_CORE if event == "cross-core" else event
        taken = reserved.get(namespace, set())
        for ids, release, lines in _coalesced(of_event):
            if all(event_id in taken for event_id in ids):
                continue
            versions, max_versions = _versions(ids.stop - ids.start, depth)
            point = SyncPoint(
                f"{namespace}[{ids.start}]",
                event,
                versions,
                max_versions,
                cross_iter=release,
                base=ids.start,
            )
            yield _Ring(point, ids, lines)


def _versions(width: int, depth: int) -> tuple[int | None, int | None]:
    """The versions and max_versions of what is this wide at this depth: what the
    scheduler stopped below this depth, it stops at deeper ones too."""
    if width == depth:
        return None, None
    return (None, width) if 1 < width < depth else (width, None)


def _depth_read(depth: int | None, num_stages: Sequence[int]) -> int:
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


def _memory_of(call: ast.AST) -> str | None:
    """The memory that scope= names, if it is one of MEMORIES."""
    return SCOPES.get(_string(_keyword(call, "scope")).removesuffix(".dyn"))


def _buffers(nodes: Sequence[_Node], depth: int) -> Iterator[tuple[Buffer, int]]:
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
        memory, data = _memory_of(call), _keyword(call, "data")
        if not (memory and data):
            continue
        name = _variable(data)
        widths = _versions(versions.get(name, 1), depth)
        try:
            buffer = Buffer(name, memory, _version_bytes(call), *widths)
        except ValueError as error:
            raise ValueError(f"line {call.lineno}: {error}") from None
        yield buffer, call.lineno


def _version_bytes(allocation: ast.Call) -> int:
    """What one version of a buffer takes: its shape times its dtype."""
    shape, dtype, *_ = [*allocation.args, None, None]
    bits = 1
    for extent in getattr(shape, "elts", [shape]):
        length = _integer(extent)
        if length is None:
            raise ValueError("expected a shape of numbers")
        bits *= length
    text = _string(dtype) if dtype else "float32"
    # The bits, then what else tells it from others, then its lanes.
    match = re.fullmatch(
        r"(?:bool|[a-z]+(\d{1,4})(?:_[a-z\d]*[a-z])?)(?:x(\d{1,4}))?", text
    )
    if not match:
        raise ValueError(f"dtype {text!r}: expected one with a size, as in float32")
    return -(-bits * int(match[1] or 8) * int(match[2] or 1) // 8)


def _gemm_l1_lines(nodes: Sequence[_Node]) -> list[int]:
    """The lines of what becomes gemm_l1: both inputs are in L1
    (tilelang/ascend/op/gemm/gemm_mad.py:167)."""
    in_l1 = {
        _variable(target)
        for node, _ in nodes
        if isinstance(node, ast.Assign) and _memory_of(node.value) == "l1"
        for target in node.targets
    }
    # An input is T.region(a[0, 0], 1, 64, 64).
    regions = {
        call for call in _calls(nodes, "region") if _variable(*call.args[:1]) in in_l1
    }
    return [
        call.lineno
        for call in _calls(nodes, "gemm", "gemm_blockscaled")
        if call.args[1:] and regions.issuperset(call.args[:2])
    ]


# The command


# What reads a part of the command line raises a ValueError that says only what it
# expected; who called it adds which part that was.


def _number(text: str, least: int = 1, most: int = LARGEST) -> int:
    # 10^18 has 19 digits, and int() takes its time for many more.
    digits = re.fullmatch("[0-9]{1,19}", text)
    return _whole_number(int(text) if digits else text, least, most)


def _size(text: str) -> int:
    units = {"K": KILO, "M": MEGA}
    unit = text[-1:].upper()
    try:
        return _number(text[:-1] if unit in units else text) * units.get(unit, 1)
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
    text: str, make: Callable[..., object], keys: Mapping[str, Callable[[str], object]]
) -> object:
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


def _reservation(text: str) -> tuple[str, list[int]]:
    """What [EVENT=]IDS reserves: the event, "" if there is none, and its ids."""
    event, equals, listed = text.rpartition("=")
    if equals:
        _check_event("event", event, "cross-core")
    in_one_core = event and event != "cross-core"
    most = INTRA_CORE_SLOTS - 1 if in_one_core else LARGEST
    ids: list[int] = []
    for part in listed.split(","):
        low, dash, high = part.partition("-")
        try:
            first = _number(low, 0, most)
            last = _number(high, first, most) if dash else first
        except ValueError:
            ends = f" from 0 to {most}" if in_one_core else ""
            raise ValueError(
                f"{part!r}: expected an id or a range of ids{ends}, as in"
                + (" 7 or 6,7 or 4-7" if in_one_core else " 15 or 14,15 or 0-3,9")
            ) from None
        # More than the whole namespace says nothing more.
        ids += range(first, last + 1)[:CROSS_CORE_SLOTS]
    return event, ids


def _depth_and_file(text: str) -> tuple[int | None, str]:
    if re.match("[0-9]+=", text):
        depth, file = text.split("=", 1)
        return _number(depth), file
    return None, text


def _checked(parse: Callable[..., object], *how: object) -> Callable[[str], object]:
    """A type= for argparse: parse(text, *how), whose ValueError is the error line."""

    def argument(text: str) -> object:
        try:
            return parse(text, *how)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None

    return argument


def _parser() -> argparse.ArgumentParser:
    memories = " ".join(MEMORIES)
    sizes = ", ".join(f"{name}={_kilobytes(MEMORIES[name])}" for name in MEMORIES)
    parser = argparse.ArgumentParser(
        description="""\
How deep can an Ascend pipeline go before it runs out of flag slots, or of
memory? Sweeps the depth (num_stages) of a kernel and prints where tilelang's
compiler puts each sync point, which stay set/wait flags and which spill to the
lock pool, and how full the memories are. The last lines name each limit.""",
        epilog=f"""\
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
  memory=ub         one of {memories}
  bytes=4K          the size of one version, in bytes, K or M
  versions=1        a fixed number of versions; without it, one for each stage
  max-versions=3    one for each stage, but at most this; not with versions=

@FILE anywhere on the command line reads arguments from a file: several to a
line, # comments, shell quoting. Of an option that takes one value, the last
value counts.

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

    depths = parser.add_mutually_exclusive_group()
    depths.add_argument(
        "--depth", metavar="N", type=_checked(_number), help="this depth only"
    )
    depths.add_argument(
        "--max-depth",
        metavar="N",
        type=_checked(_number),
        help="the last depth of the sweep (default: 4, or the first that spills or the"
        " deepest that was read, if later)",
    )
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument(
        "--sync-point",
        metavar="POINT",
        type=_checked(_declared, SyncPoint, point_keys),
        action="append",
        default=[],
        help="a sync point of your kernel, in place of the built-in one; repeatable",
    )
    sources.add_argument(
        "--read",
        metavar="[DEPTH=]FILE",
        type=_checked(_depth_and_file),
        action="append",
        default=[],
        help="take the kernel from the TIR that tilelang's pass tl.InsertSync leaves; -"
        " is standard input; repeatable, one for each DEPTH that it was compiled with"
        " (default: the largest num_stages that is printed)",
    )
    parser.add_argument(
        "--buffer",
        type=_checked(_declared, Buffer, buffer_keys),
        action="append",
        default=[],
        help="a buffer that your kernel keeps in a memory; repeatable",
    )
    parser.add_argument(
        "--memory",
        metavar="MEMORY=SIZE",
        type=_checked(_capacity),
        action="append",
        default=[],
        help="the size of a memory, for another chip or kernel; repeatable (default:"
        f" {sizes}; where a SimtVF block is read, ub={_kilobytes(SIMT_UB)})",
    )
    parser.add_argument(
        "--sharing",
        choices=SHARING,
        nargs="?",
        const=SHARING[0],
        help="give one base id to each share group: always (the default: the upper"
        " bound), or on-demand, while the namespace is short, as the compiler does",
    )
    parser.add_argument(
        "--cross-core",
        action="store_true",
        help="sync points without an event are cross-core flags, which share 16 slots",
    )
    parser.add_argument(
        "--reserve",
        metavar="[EVENT=]IDS",
        type=_checked(_reservation),
        action="append",
        default=[],
        help="ids that somebody else holds: cross-core ids (15 or 14,15 or 0-3,9), or"
        " those of an event (MTE2_V=7 or cross-core=15); repeatable",
    )
    parser.add_argument(
        "--lock-reserved",
        metavar="N",
        type=_checked(_number, 0, LOCK_POOL_SLOTS),
        help="locks that are taken beforehand (default: 2 where a gemm_l1 is read, which"
        " holds them; else 0)",
    )
    outputs = parser.add_mutually_exclusive_group()
    outputs.add_argument(
        "--summary",
        action="store_true",
        help="print the table and the limits only, without a block for each depth",
    )
    outputs.add_argument(
        "--json", action="store_true", help="print one JSON document instead"
    )
    return parser


def _file_text(path: str | int) -> str:
    """What a file holds, or, at 0, the standard input."""
    try:
        with open(path, encoding="utf-8", closefd=path != 0) as file:
            return file.read().removeprefix("\ufeff")
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError("cannot be read: expected UTF-8 text") from None


def _expand(args: Iterable[str]) -> Iterator[str]:
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


def _options(
    parser: argparse.ArgumentParser, args: Iterable[str]
) -> argparse.Namespace:
    args = list(_expand(args))
    for arg in args:
        # argparse takes such a -- away before Python 3.13, and fails at -h= in 3.9.
        if re.fullmatch("--[a-z-]+=--|-h=", arg):
            raise ValueError(f"argument {arg!r}: expected another value")
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


def _complain(text: str) -> None:
    try:
        if sys.stderr is not None:  # print() would take stdout
            print(text, file=sys.stderr)
    except OSError:
        pass  # there is nobody to tell


def _reserved(options: argparse.Namespace) -> dict[str, list[int]]:
    """By namespace, the ids of all --reserve."""
    reserved: dict[str, list[int]] = {}
    for event, ids in options.reserve:
        namespace = event if event in HARD_EVENTS else CROSS_CORE
        reserved.setdefault(namespace, []).extend(ids)
    return reserved


def _texts(options: argparse.Namespace) -> list[_Text]:
    """What --read names, the deepest first."""
    texts: dict[int, _Text] = {}
    for depth, file in options.read:
        try:
            tir = _file_text(0 if file == "-" else file)
            text = _read(tir, depth, _reserved(options), file)
            before = texts.setdefault(text.depth, text)
            if before is not text:
                raise ValueError(
                    f"of depth {text.depth}, as {before.file!r} is:"
                    " expected one reading of a depth"
                )
        except ValueError as error:
            raise ValueError(f"argument --read: {file!r}: {error}") from None
    return [texts[depth] for depth in sorted(texts, reverse=True)]


def _kernels(
    options: argparse.Namespace, texts: Sequence[_Text]
) -> tuple[Kernel, dict[int, Kernel]]:
    """The kernel that the options describe, and what takes its place at the depths that
    were read."""
    locks = options.lock_reserved

    def with_options(kernel: Kernel) -> Kernel:
        return replace(
            kernel,
            cross_core=options.cross_core,
            sharing=options.sharing,
            reserved=_reserved(options),
            lock_reserved=kernel.lock_reserved if locks is None else locks,
            buffers=[*kernel.buffers, *options.buffer],
            capacities={**kernel.capacities, **dict(options.memory)},
        )

    readings = {text.depth: with_options(text.kernel) for text in texts}
    if readings:
        return _without_bases(readings[max(readings)]), readings
    return with_options(Kernel(options.sync_point or BUILT_IN)), readings


def _option_notes(
    options: argparse.Namespace, kernel: Kernel, texts: Sequence[_Text]
) -> Iterator[str]:
    """Which options have no effect on this kernel."""
    namespaces = [kernel.namespace_of(point) for point in kernel.sync_points]
    cross_core = CROSS_CORE in namespaces or any(text.cross_core for text in texts)
    if any(not event for event, _ in options.reserve) and not cross_core:
        yield (
            "note: --reserve IDS has no effect: no sync point is a cross-core flag;"
            " say --reserve MTE2_V=7 for an id of a hard_event"
        )
    if options.cross_core and texts:
        yield "note: --cross-core has no effect beside --read"
    elif options.cross_core and all(point.event for point in kernel.sync_points):
        yield "note: --cross-core has no effect: every sync point has an event"
    groups = [
        (namespace, point.share)
        for namespace, point in zip(namespaces, kernel.sync_points)
        if point.share
    ]
    if options.sharing and texts:
        yield "note: --sharing has no effect beside --read"
    elif options.sharing and len(set(groups)) == len(groups):
        yield (
            "note: --sharing has no effect: no two sync points of a namespace share a"
            " group"
        )
    elif not options.sharing and any(point.share for point in options.sync_point):
        yield "note: without --sharing, share groups share no base id"


def _text_notes(options: argparse.Namespace, texts: Sequence[_Text]) -> Iterator[str]:
    """What the answer does not say of itself."""
    for text in texts:
        if len(text.num_stages) > 1 and (None, text.file) in options.read:
            yield (
                f"note: {text.file!r} prints num_stages"
                f" {', '.join(map(str, text.num_stages))}: read at depth {text.depth};"
                " DEPTH=FILE says another"
            )
    for text in texts[:1]:
        if text.depth < 4:
            yield (
                f"note: {text.file!r} was compiled at depth {text.depth}: what"
                " stops growing at 2 or 3 looks as if it followed the depth; read one"
                " compiled at 4 or more"
            )
        if text.aliases:
            yield (
                f"note: in {text.file!r} buffers share addresses (line"
                f" {text.aliases[0]}): they take less memory than shown"
            )
        if text.by_loop:
            yield (
                f"note: in {text.file!r} a loop is shorter than a ring (line"
                f" {text.by_loop[0]}): at other depths the ring is cut otherwise; read"
                " each depth"
            )


def _lines(args: Iterable[str]) -> Iterator[str]:
    """What the command prints for these arguments."""
    parser = _parser()
    try:
        options = _options(parser, args)
        texts = _texts(options)
        kernel, readings = _kernels(options, texts)
    except ValueError as error:
        parser.error(str(error))
    for note in (*_option_notes(options, kernel, texts), *_text_notes(options, texts)):
        _complain(note)
    flags = limits(kernel, readings).last_depth_without_spill or 0
    last = options.depth or options.max_depth or max(4, flags + 1, *readings)
    depths = range(options.depth or 1, last + 1)
    if options.json:
        read = [*map(_text_document, texts)]
        yield from json_report(kernel, depths, readings, read)
        return
    if texts:
        yield from _reading_lines(texts, kernel)
        yield ""
    yield from text_report(
        kernel,
        depths,
        readings,
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
