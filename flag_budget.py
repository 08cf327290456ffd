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
allocation spills, whole, to a pool of 32 locks, shared by all hard_events.  A lock
blocks.  A kernel that needs more than 32 locks, or whose cross-core flags find no
slots, does not compile.

The memory.  The buffers between the pipes are multi-buffered too: one version for each
stage, in UB, L1, L0A, L0B or L0C, unless the compiler's scheduler needs fewer or the
kernel fixes their number.  Buffers that are never in use together may share a slot of
their memory.  The compiler rarely checks that they all fit.

The model.  A Kernel holds sync points and buffers, declared one by one or read from
the TIR that the compiler printed.  plan() answers for one depth what the compiler does
with them; limits() says to what depth every flag stays a flag, to what depth the
compiler takes the kernel, and to what depth its buffers fit.  The reports print what
came out.  A plan costs the same at any depth.

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
from collections import ChainMap, Counter
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

__version__ = "0.2.0"

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
ALIGNMENTS = {  # bytes, of the start of a slot, merge_ub_common.h:77, and pipeline.py:171
    "ub": 32,
    "l1": 512,
    "l0a": 512,
    "l0b": 512,
    "l0c": 1024,
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
_MOST_GUARDS = 3  # that are given for one sync point
LARGEST = 10**18  # the largest depth and num_versions, and the largest size in M


# The kernel


def _expected(least: int, most: int) -> str:
    last = {LARGEST: "10^18", LARGEST * MEGA: "10^18 * 2^20"}.get(most, most)
    return f"expected a whole number from {least} to {last}"


def _check_number(
    what: str, number: object, least: int = 1, most: int = LARGEST
) -> None:
    if not isinstance(number, int) or not least <= number <= most:
        raise ValueError(f"{what} {number!r}: {_expected(least, most)}")


def _check_name(what: str, text: object) -> None:
    if not isinstance(text, str) or not re.fullmatch(NAME, text):
        raise ValueError(
            f"{what} {text!r}: expected letters, digits and _ . [ ] -,"
            " not starting with a dash"
        )


def _check_event(what: str, event: object, cross_core: str = "cross-core") -> None:
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
            raise ValueError(f"{item.name!r} is given twice")
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


def _namespace(event: str) -> str:
    """The name of the namespace of an event (FlagDomain, insert_sync.cc:2083)."""
    return CROSS_CORE if event == "cross-core" else event


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


def _both_ways(aliases: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Aliases where each of two names has the other (AddBufferAlias, buffer_alias.h)."""
    found: dict[str, set[str]] = {}
    for name, others in aliases.items():
        for other in others:
            found.setdefault(name, set()).add(other)
            found.setdefault(other, set()).add(name)
    return found


@dataclass(frozen=True)
class SyncPoint:
    """One point of synchronisation between two pipes.

    name          letters, digits and _ . [ ] -, not starting with a dash
    event         the hard_event whose namespace it lives in, PROD_CONS of two
                  PIPES; "cross-core"; or None: wherever the kernel puts those that
                  name no event
    versions      its num_versions, in ids, if that is fixed; None: the depth
    max_versions  its num_versions follows the depth, but no further than this
    cross_iter    whether it is a dependency on an earlier iteration (a release)
    share         sync points of one namespace and one share group may share a base
                  id; None: with no other (the compiler's proof that they may:
                  CanReuse, insert_sync.cc:1607, kept at :1729 and :1742)
    base          the base id that the compiler has given it, from 0 to 10^18; None:
                  that is still to be worked out.  It is used only if every sync
                  point of the namespace has one, and none of its ids is reserved
    guards        the names of buffers that it is known to guard, for display only

    versions and max_versions are from 1 to 10^18, and never both given.  Raises
    ValueError for a value out of range.
    """

    name: str
    event: str | None = None
    versions: int | None = None
    max_versions: int | None = None
    cross_iter: bool = False
    share: str | None = None
    base: int | None = None
    guards: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "guards", tuple(self.guards))
        _check_name("name", self.name)
        if self.event is not None:
            _check_event("event", self.event)
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
    versions      its num_versions if that is fixed; None: the depth
    max_versions  its num_versions follows the depth, but no further than this

    versions and max_versions are from 1 to 10^18, and never both given.  Raises
    ValueError for a value out of range.
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
    aliases        by the name of a buffer, those of the buffers with which it may share
                   a slot of its memory, as the compiler has proved it; said of one, it
                   is said of both.  Names of no buffer are ignored

    Raises ValueError for a value out of range.
    """

    sync_points: Sequence[SyncPoint]
    cross_core: bool = False
    sharing: str | None = None
    reserved: Mapping[str, Collection[int]] = field(default_factory=dict, hash=False)
    lock_reserved: int = 0
    buffers: Sequence[Buffer] = ()
    capacities: Mapping[str, int] = field(default_factory=dict, hash=False)
    aliases: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, value in (
            ("sync_points", tuple(self.sync_points)),
            ("reserved", _reserved_slots(self.reserved)),
            ("buffers", tuple(self.buffers)),
            ("capacities", {**MEMORIES, **self.capacities}),
            ("aliases", _both_ways(self.aliases)),
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
        """The name of the namespace that this sync point lives in, a hard_event or
        CROSS_CORE; None: the unnamed one."""
        event = point.event or ("cross-core" if self.cross_core else None)
        return _namespace(event) if event else None

    @property
    def memories(self) -> tuple[str, ...]:
        """The memories that hold a buffer, in the order of MEMORIES."""
        held = {buffer.memory for buffer in self.buffers}
        return tuple(name for name in MEMORIES if name in held)


# Two loads and their releases, without an event and so all in one namespace.  Without
# cross_iter, which would put them first, the releases come last in id order, and are
# what spills first.
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
    ids          how many ids its allocations need in all
    kept_slots   how many of them stay flags; all of them unless one spills
    sync_points  one for each sync point, as declared
    id_order     the indices of the sync points in id order, before any spills
    """

    name: str | None
    slots: int
    ids: int
    kept_slots: int
    sync_points: tuple[Placement, ...]
    id_order: tuple[int, ...]

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
    used   how many bytes the buffers take, as the compiler lays them out
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
    cross_core = planned.get(CROSS_CORE)
    cross_core_locks = cross_core.lock_slots if cross_core else 0
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


def _plan_namespace(
    kernel: Kernel,
    name: str | None,
    points: Sequence[SyncPoint],
    depth: int,
    first_lock: int,
) -> Namespace:
    """Place the sync points of one namespace, as two passes do one after the other.
    What spills takes the lock slots from first_lock on, in id order."""
    reserved = kernel.reserved.get(name or "", ())
    free = {*_all_slots(name)}.difference(reserved)
    widths = [_num_versions(point, depth) for point in points]

    # The first pass decides on the allocations: the indices of sync points with one
    # base id, which stay flags or spill together, in id order.
    bases = None
    if not reserved and all(point.base is not None for point in points):
        allocations, bases = _as_read(points, widths)
    elif kernel.sharing == "on-demand":
        cross_core = name == CROSS_CORE
        allocations = _share_on_demand(points, widths, free, cross_core)
    else:
        allocations = _share_always(points, widths, bool(kernel.sharing))
    demands = [max(widths[index] for index in members) for members in allocations]

    # The second pass decides which of them stay flags.
    kept = _kept_slots(demands, bases, free)
    placements: dict[int, Placement] = {}  # by index, in id order
    lock = first_lock
    for members, demand, slots in zip(allocations, demands, kept):
        if slots:
            where, base = "flag", slots[0]
        else:
            where, base = "lock", lock
            lock += demand
        for index in members:
            placements[index] = Placement(
                points[index].name, widths[index], where, base
            )
    return Namespace(
        name,
        len(free),
        sum(demands),
        sum(map(len, kept)),
        tuple(placements[index] for index in range(len(points))),
        tuple(placements),
    )


# The first pass, InsertSync


def _as_read(
    points: Sequence[SyncPoint], widths: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """The allocations of sync points that all have a base id, one for each base, and
    the bases, rising."""
    members: dict[int, list[int]] = {}
    for index, point in enumerate(points):
        members.setdefault(point.base or 0, []).append(index)
    bases = sorted(members)
    end, before = 0, ""
    for base in bases:
        name = points[members[base][0]].name
        if base < end:
            raise ValueError(
                f"base {base} of {name!r}: expected at least {end}, where the ids of"
                f" {before!r} end, or its base"
            )
        end, before = base + max(widths[index] for index in members[base]), name
    return [members[base] for base in bases], bases


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
) -> list[list[int]]:
    """The allocations where each sync point is one or, with sharing, each share group
    is one."""
    members: dict[int | str, list[int]] = {}
    for index in _in_id_order(points, widths):
        group = points[index].share if sharing else None
        members.setdefault(group or index, []).append(index)
    return [*members.values()]


def _share_on_demand(
    points: Sequence[SyncPoint],
    widths: Sequence[int],
    free: Collection[int],
    cross_core: bool,
) -> list[list[int]]:
    """The allocations where a sync point joins another of its share group only while
    the namespace is short of slots: insert_sync.cc:1946-1984."""
    slots, required, free = len(free), sum(widths), {*free}
    allocations: list[list[int]] = []
    groups: dict[str, list[list[int]]] = {}
    for index in _in_id_order(points, widths):
        point, width = points[index], widths[index]
        group = groups.setdefault(point.share, []) if point.share else []
        run = _first_fit(free, width)

        # Join the first allocation that is as wide and, within a core, as much of a
        # release: only a handshake between the cores alternates on one ring (:1639).
        joinable = (
            members
            for members in group
            if widths[members[0]] >= width
            and (cross_core or points[members[0]].cross_iter == point.cross_iter)
        )
        joined = next(joinable, None) if required > slots or not run else None
        if joined:
            joined.append(index)
            required -= width
        else:  # take slots of its own
            allocations.append([index])
            group.append(allocations[-1])
            free.difference_update(run)
    return allocations


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
    demands: Sequence[int], bases: Sequence[int] | None, free: Collection[int]
) -> list[range]:
    """The slots of each allocation, in id order; an empty range if it spills
    (rewrite_flag_to_buf.cc:318-357).  bases are those that were read, if they were."""
    # Ids that were read and all lie within the slots stay where they are.
    if bases is not None:
        read = [range(base, base + demand) for base, demand in zip(bases, demands)]
        if all(ids[-1] in free for ids in read):
            return read

    # Else the knapsack decides, and what it keeps is packed from the lowest slot on.
    # Reserved ids can leave slots enough, but not side by side.
    kept = []
    free = {*free}
    for demand, keep in zip(demands, knapsack_keep(demands, len(free))):
        run = _first_fit(free, demand) if keep else range(0)
        free.difference_update(run)
        kept.append(run)
    return kept


# The third pass, MergeUBAllocations


def _plan_memories(kernel: Kernel, depth: int) -> tuple[Memory, ...]:
    """The memories that hold a buffer, in the order of MEMORIES."""
    return tuple(
        Memory(name, kernel.capacities[name], _merged_bytes(kernel, name, depth))
        for name in kernel.memories
    )


def _rounded_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _stage_bytes(buffer: Buffer) -> int:
    """What each of several versions of a buffer takes: in UB, they are rounded up to 32
    bytes (rewrite_buffer_version_layout.cc:152)."""
    alignment = ALIGNMENTS["ub"] if buffer.memory == "ub" else 1
    return _rounded_up(buffer.bytes, alignment)


def _merged_bytes(kernel: Kernel, memory: str, depth: int) -> int:
    """How many bytes the buffers of one memory take, once they have their addresses
    (GreedyCliquePartitioner, merge_ub_allocations.cc:117).

    Buffers that may share a slot do so where that makes the total less; a slot is as
    large as its largest buffer.  All slots of one memory have the same alignment, so
    what the source says of different ones is left out.
    """
    sizes: dict[str, int] = {}
    for buffer in kernel.buffers:
        if buffer.memory == memory:
            versions = _num_versions(buffer, depth)
            stage = _stage_bytes(buffer) if versions > 1 else buffer.bytes
            sizes[buffer.name] = stage * versions
    if len(sizes) == 1:  # it is not merged with anything
        return sum(sizes.values())

    # By name, the buffers that each may share with.  Those that share with nothing
    # conflict with every slot and every buffer, and so get their slots first.
    shares = {name: sizes.keys() & kernel.aliases.get(name, ()) for name in sizes}
    slots = [{name} for name in sizes if not shares[name]]
    unplaced = [name for name in sizes if shares[name]]

    def urgency(name: str) -> tuple[int, int, int]:
        # First the one that conflicts with the most slots, then with the most buffers,
        # then the larger; of equals, max() takes the earlier.
        hostile = sum(not slot <= shares[name] for slot in slots)
        return hostile, -len(shares[name]), sizes[name]

    def total(slots: Iterable[Iterable[str]]) -> int:
        return _laid_out(memory, [max(sizes[name] for name in slot) for slot in slots])

    while unplaced:
        name = max(unplaced, key=urgency)
        unplaced.remove(name)
        # It goes where the total becomes least; of equals, min() takes the earliest slot.
        layouts = [
            [*slots[:place], slot | {name}, *slots[place + 1 :]]
            for place, slot in enumerate(slots)
            if slot <= shares[name]
        ]
        slots = min([*layouts, [*slots, {name}]], key=total)
    return total(slots)


def _laid_out(memory: str, slot_sizes: Iterable[int]) -> int:
    """Where the last slot ends: the largest comes first, the start of each is aligned,
    and the end is rounded up to 32 bytes."""
    *before, last = sorted(slot_sizes, reverse=True)
    start = sum(_rounded_up(size, ALIGNMENTS[memory]) for size in before)
    return _rounded_up(start + last, ALIGNMENTS["ub"])


# The limits over depths


@dataclass(frozen=True)
class MemoryLimit:
    """How large a stage of one memory may be.

    name                     one of MEMORIES
    bytes                    its capacity
    stage_bytes              how many bytes one stage takes: one version of each
                             buffer that follows the depth without end, in UB rounded
                             up to 32 bytes
    largest_stage_for_flags  the largest stage_bytes with which flag slots bind before
                             this memory: with it, the buffers still fit at the first
                             depth that spills, if the added bytes share with nothing.
                             0: no stage is that small; None: no depth spills, or
                             nothing in this memory follows the depth

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
    kernel at that depth.  Raises ValueError where plan() does.
    """
    for depth in readings:
        _check_number("depth", depth)
    first_spill = first_rejected = None
    for depth in _depths_to_try(_flag_depths(kernel), readings):
        at_depth = plan(readings.get(depth, kernel), depth)
        if at_depth.spilled and first_spill is None:
            first_spill = depth
        if at_depth.rejected:  # which needs a spill
            first_rejected = depth
            break
    overflowing = (
        depth
        for depth in _depths_to_try(_memory_depths(kernel), readings)
        if _overflows(readings.get(depth, kernel), depth)
    )
    first_overflow = next(overflowing, None)
    held = {name for read in (kernel, *readings.values()) for name in read.memories}
    spilling = readings.get(first_spill or 0, kernel)
    memories = tuple(
        _memory_limit(spilling, name, first_spill) for name in MEMORIES if name in held
    )
    # What binds first ends at the least depth; what never ends does not bind.
    ends = {"flag slots": first_spill, "memory": first_overflow}
    least = min(filter(None, ends.values()), default=None)
    first = [what for what in ends if ends[what] == least]
    return Limits(
        first_spill and first_spill - 1,
        first_rejected and first_rejected - 1,
        first_overflow and first_overflow - 1,
        (first[0] if len(first) == 1 else "both") if memories and least else None,
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


def _memory_depths(kernel: Kernel) -> Iterator[int]:
    """The depths at which memory can first overflow.  Where buffers share slots, what
    they take can fall as the depth grows, so each of depths 1 to 64 is one; beyond, it
    is assumed to grow, so that bisection finds the only other one."""
    yield from range(1, 65)
    fits, first = 64, LARGEST
    while first - fits > 1:
        depth = (fits + first) // 2
        if _overflows(kernel, depth):
            first = depth
        else:
            fits = depth
    yield first


def _memory_limit(kernel: Kernel, name: str, first_spill: int | None) -> MemoryLimit:
    """The limit of the memory of this name; kernel is that of the first spill."""
    capacity, largest = kernel.capacities[name], None
    stage = sum(
        _stage_bytes(buffer)
        for buffer in kernel.buffers
        if buffer.memory == name and not (buffer.versions or buffer.max_versions)
    )
    if first_spill and stage:
        free = capacity - _merged_bytes(kernel, name, first_spill)
        alignment = ALIGNMENTS[name]
        largest = max(0, stage + free // first_spill // alignment * alignment)
    return MemoryLimit(name, capacity, stage, largest)


# The report


def text_report(
    kernel: Kernel,
    depths: Iterable[int],
    readings: Mapping[int, Kernel] = {},
    blocks: bool = True,
    table: bool = True,
    maps: bool = False,
) -> Iterator[str]:
    """The lines that the command prints: with blocks, the block of each depth; with
    maps, a picture of the slots in place of each block; with table, a row for each
    depth, a line for each limit, and what binds first.  readings are as for limits().
    Raises ValueError where plan() does."""
    named = any(
        point.event
        for each in (kernel, *readings.values())
        for point in each.sync_points
    )
    plans: list[Plan] = []
    for depth in depths:
        at_depth = readings.get(depth, kernel)
        depth_plan = plan(at_depth, depth)
        if (blocks or maps) and plans:
            yield ""
        if maps:
            unread = _unread_mark(depth, readings)
            yield from _map(at_depth, depth_plan, named, unread)
        elif blocks:
            yield from _depth_lines(at_depth, depth_plan, named)
        plans.append(depth_plan)
    if table:
        if blocks or maps:
            yield ""
        yield from _table(kernel, plans, readings, named)
        yield from _limit_lines(kernel, readings, named)


def _heading(name: str | None, named: bool) -> str:
    """What the namespace of this name is called, where events are named or are not."""
    return (name or "unnamed") if named else "ids"


def _ids_and_slots(namespace: Namespace, named: bool) -> str:
    return f"{_heading(namespace.name, named)} {namespace.ids}/{namespace.slots}"


def _labels(kernel: Kernel) -> dict[str, str]:
    """By its name, what a sync point is called beside the buffers that it guards."""
    return {
        point.name: point.name
        + (f" ({_listed(point.guards, _MOST_GUARDS)})" if point.guards else "")
        for point in kernel.sync_points
    }


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


def _map(kernel: Kernel, depth_plan: Plan, named: bool, unread: str) -> Iterator[str]:
    """A picture of the slots: a row for each sync point, and above those of a namespace
    its name and its ids, each by its last digit."""
    verdict = _verdict(depth_plan)
    yield f"depth {unread}{depth_plan.depth}{': ' if verdict else ''}{verdict}"
    labels = _labels(kernel)
    rows = []
    for namespace in depth_plan.namespaces:
        slots = _all_slots(namespace.name)
        reserved = kernel.reserved.get(namespace.name or "", ())
        digits = "".join(str(slot % 10) for slot in slots)
        rows.append([_heading(namespace.name, named), digits])
        on_base = _on_base(namespace)
        for index in namespace.id_order:
            point = namespace.sync_points[index]
            # What shares a base has one allocation, as wide as the widest.
            together = on_base[point.placement, point.base]
            width = max(other.num_versions for other in together)
            ids = range(point.base, point.base + width)
            if point.placement == "flag":
                cells = "".join(
                    "x" if slot in reserved else "#" if slot in ids else "."
                    for slot in slots
                )
            elif namespace.cross_core:
                cells = "no slots"
            else:
                cells = _first_to_last("lock", ids)
            rows.append([f"  {labels[point.name]}", cells])
    yield from _columns(rows, str.ljust)


def _on_base(namespace: Namespace) -> dict[tuple[str, int], list[Placement]]:
    """The sync points of each allocation, by its placement and its base."""
    on_base: dict[tuple[str, int], list[Placement]] = {}
    for point in namespace.sync_points:
        on_base.setdefault((point.placement, point.base), []).append(point)
    return on_base


def _first_to_last(what: str, ids: range) -> str:
    """The ids, as in "lock 4" and "locks 4-7"."""
    first, last = ids[0], ids[-1]
    return f"{what} {first}" if first == last else f"{what}s {first}-{last}"


def _depth_lines(kernel: Kernel, depth_plan: Plan, named: bool) -> Iterator[str]:
    depth = depth_plan.depth
    exceptions = _exceptions(kernel, depth)
    yield f"depth={depth} num_versions per sync point = {depth}{exceptions}"
    for namespace in depth_plan.namespaces:
        if named:
            yield f"[{_heading(namespace.name, named)}]"
        yield from _namespace_lines(kernel, namespace)
    if named or depth_plan.lock_slots or depth_plan.cross_core_locks:
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
    kinds: dict[str, list[str]] = {"fixed": [], "at most": []}
    for point in kernel.sync_points:
        if point.versions or point.max_versions:
            kind = "fixed" if point.versions else "at most"
            kinds[kind].append(f"{point.name}={_num_versions(point, depth)}")
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
    for points in _on_base(namespace).values():
        if len(points) > 1:
            yield f"shared : {', '.join(point.name for point in points)} on one base"
    reserved = kernel.reserved.get(namespace.name or "", ())
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
        labels = _labels(kernel)
        yield (
            f"spilled : {', '.join(labels[name] for name in namespace.names('lock'))}"
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


def _verdict(depth_plan: Plan, spilled: Sequence[str] = ()) -> str:
    """What goes wrong at one depth, with what spills as these labels; empty if nothing
    does."""
    wrong = {
        "rejected:": depth_plan.rejected,
        "spills": _listed(spilled),
        "out of memory:": ", ".join(depth_plan.out_of_memory),
    }
    return "; ".join(f"{what} {which}" for what, which in wrong.items() if which)


def _spilled_labels(kernel: Kernel, depth_plan: Plan) -> list[str]:
    """The labels of what spills; for cross-core flags, the compile is rejected."""
    spilled = {
        name
        for namespace in depth_plan.namespaces
        if not namespace.cross_core
        for name in namespace.names("lock")
    }
    return [label for name, label in _labels(kernel).items() if name in spilled]


def _table(
    kernel: Kernel,
    plans: Sequence[Plan],
    readings: Mapping[int, Kernel],
    named: bool,
) -> Iterator[str]:
    """A row for each depth.  A depth that was read may lack what others have, and one
    that was not has a ~; where there are many namespaces, those that never spill stand
    below."""
    # The namespaces as the kernel of most depths has them, then what others have.
    namespaces = [
        namespace for depth_plan in plans for namespace in depth_plan.namespaces
    ]
    last = {namespace.name: namespace for namespace in namespaces}
    order = [*map(kernel.namespace_of, kernel.sync_points), *last]
    names = sorted(last, key=order.index)
    spill = {namespace.name for namespace in namespaces if namespace.lock_slots}
    few = len(names) <= _MOST_NAMES
    shown = [name for name in names if few or name in spill]
    used = {memory.name for depth_plan in plans for memory in depth_plan.memories}
    memories = [name for name in MEMORIES if name in used]

    headings = [_heading(name, named) for name in shown]
    rows = [["depth", *headings, "locks", *memories, "verdict"]]
    for depth_plan in plans:
        cells: dict[str | None, str] = {
            "locks": f"{depth_plan.lock_slots}/{LOCK_POOL_SLOTS}",
            **{each.name: f"{each.ids}/{each.slots}" for each in depth_plan.namespaces},
            **{each.name: _used_and_bytes(each) for each in depth_plan.memories},
        }
        at_depth = readings.get(depth_plan.depth, kernel)
        rows.append(
            [
                f"{_unread_mark(depth_plan.depth, readings)}{depth_plan.depth}",
                *(cells.get(name, "-") for name in (*shown, "locks", *memories)),
                _verdict(depth_plan, _spilled_labels(at_depth, depth_plan)) or "fits",
            ]
        )
    yield from _columns(rows, str.rjust)
    below = [_ids_and_slots(last[name], named) for name in names if name not in shown]
    if below:
        yield f"never over: {', '.join(below)}"
    if any(_unread_mark(depth_plan.depth, readings) for depth_plan in plans):
        yield f"~ not read: expected from the text of depth {max(readings)}"


def _unread_mark(depth: int, readings: Mapping[int, Kernel]) -> str:
    """What stands before a depth that was not read, where others were."""
    return "~" if readings and depth not in readings else ""


def _limit_lines(
    kernel: Kernel, readings: Mapping[int, Kernel], named: bool
) -> Iterator[str]:
    """The answer: one line for each limit, and which of them binds first."""
    found = limits(kernel, readings)

    def first_beyond(last: int) -> Plan:
        return plan(readings.get(last + 1, kernel), last + 1)

    flags = found.last_depth_without_spill
    if flags is None:
        yield (
            "flag slots never run out: every width is fixed or limited, and nothing"
            " spills"
        )
    else:
        spills = _over(first_beyond(flags).namespaces, named)
        yield (
            f"flag slots last to depth {flags}; depth {flags + 1} is the first to spill:"
            f" {spills}"
            if flags
            else f"flag slots are too few even at depth 1, which spills: {spills}"
        )
    compiles = found.last_depth_that_compiles
    if compiles is not None:
        rejected = first_beyond(compiles)
        cross_core = [each for each in rejected.namespaces if each.cross_core]
        reason = _over(cross_core, named) or rejected.rejected
        yield (
            f"the compiler takes up to depth {compiles}; depth {compiles + 1} is"
            f" rejected: {reason}"
            if compiles
            else f"the compiler rejects even depth 1: {reason}"
        )
    if not found.memories:
        return
    in_memory = found.last_depth_in_memory
    if in_memory is None:
        yield "memory never runs out"
    else:
        needs = ", ".join(
            f"{memory.name} {_used_and_bytes(memory)}"
            for memory in first_beyond(in_memory).memories
            if memory.overflows
        )
        yield (
            f"memory lasts to depth {in_memory}; depth {in_memory + 1} needs {needs}"
            if in_memory
            else f"memory is too small even at depth 1, which needs {needs}"
        )
    if found.binds_first:
        yield {
            "flag slots": "flag slots bind first",
            "memory": "memory binds first",
            "both": "flag slots and memory bind at the same depth",
        }[found.binds_first]
    for memory in found.memories:
        if memory.largest_stage_for_flags:
            yield (
                f"in {memory.name}, flag slots bind first as long as a stage takes at"
                f" most {memory.largest_stage_for_flags} bytes (now {memory.stage_bytes})"
            )
        elif memory.largest_stage_for_flags == 0:
            yield f"in {memory.name}, memory binds first at every stage size"


def _over(namespaces: Iterable[Namespace], named: bool) -> str:
    """What a limit says of those of the namespaces that spill: MTE2_V 10/8, V_MTE2 9/8."""
    return ", ".join(
        _ids_and_slots(namespace, named)
        # Reserved ids can leave slots enough, but not side by side.
        + (" in no contiguous run" if namespace.ids <= namespace.slots else "")
        for namespace in namespaces
        if namespace.lock_slots
    )


def json_report(
    kernel: Kernel,
    depths: Iterable[int],
    readings: Mapping[int, Kernel] = {},
    read: Sequence[object] = (),
) -> Iterator[str]:
    """The plans and the limits as one JSON document, a line per depth.  readings are as
    for limits(), and read becomes the document's "read".  Raises ValueError where
    plan() does."""
    yield '{"depths": ['
    comma = ""
    for depth in depths:
        at_depth = plan(readings.get(depth, kernel), depth)
        from_depth = depth if depth in readings else max(readings, default=None)
        document = _depth_document(at_depth, from_depth)
        # What json does not know are dataclasses, whose fields are the document's.
        yield comma + json.dumps(document, default=vars)
        comma = ","
    answer = {**vars(limits(kernel, readings)), "read": read}
    yield f"], {json.dumps(answer, default=vars)[1:]}"


def _depth_document(depth_plan: Plan, from_depth: int | None) -> dict[str, object]:
    error = depth_plan.rejected
    return {
        "depth": depth_plan.depth,
        "from_depth": from_depth,
        "namespaces": [
            {
                "name": namespace.name,
                "slots": namespace.slots,
                "ids": namespace.ids,
                "kept_slots": namespace.kept_slots,
                "sync_points": namespace.sync_points,
            }
            for namespace in depth_plan.namespaces
        ],
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


# Reading TIR, which is Python

_EXPECTED_TIR = (
    "expected the TIR that tilelang's pass tl.InsertSync leaves, the file ending in"
    ' _tl.InsertSync.py that pass_configs={"tl.enable_dump_ir": True} writes;'
    " a kernel in another language is declared with --sync-point"
)
# Only the text of InsertSync has both, and that of the next pass, which says the same.
_MARKS = ('"tl.ascend_task"', '"tl.buffer_alias_map"')
_FLAGS = {
    "ascend_set_flag",
    "ascend_wait_flag",
    "ascend_cross_core_set_flag",
    "ascend_cross_core_wait_flag",
}
_NO_USE = {  # allocations and annotations
    "sblock_alloc_buffer",
    "Buffer",
    "attr",
    "sblock_attr",
    "reads",
    "writes",
}
_LOOPS = {"serial", "unroll", "parallel", "vectorized", "range"}
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}

_Bounds = tuple[int, int]  # the least and the largest value


@dataclass(frozen=True)
class _Loop:
    """A loop of a text."""

    line: int  # where it starts
    runs: int | None  # how often it runs, if numbers say so
    num_stages: int | None  # what it prints, if it does
    eligible: frozenset[str]  # the buffers that it lists in multi_buffer_eligible


@dataclass(frozen=True)
class _Value:
    """What a name stands for."""

    bounds: _Bounds | None  # those of its value, if there are any
    loops: frozenset[_Loop]  # those with whose iterations it changes


_Values = ChainMap[str, _Value]


@dataclass(frozen=True)
class _FlagCall:
    """A call that sets or waits for a flag."""

    line: int  # where it stands
    event: str  # as a SyncPoint has it
    sets: bool  # whether it sets the flag, and does not wait for it
    event_id: ast.expr  # as it is written
    ids: _Bounds | None  # what its event id can be, if there are bounds
    loops: tuple[_Loop, ...]  # those around it, the outermost first
    id_loops: tuple[_Loop, ...]  # those of them with whose iterations its id changes


@dataclass(frozen=True)
class _Statement:
    """A statement of a text, or the head of one that holds others."""

    node: ast.AST  # the statement, or a part of its head
    loops: tuple[_Loop, ...]  # those around it, the outermost first
    nodes: Sequence[ast.AST]  # all nodes in it
    flags: Sequence[_FlagCall]  # its flag calls
    own_locks: Sequence[str]  # the locks that it takes, and their lines


@dataclass(frozen=True)
class _Ring:
    """The ids of one sync point, as one text has them."""

    point: SyncPoint  # the sync point, with its base id
    ids: range  # the ids of its namespace that it rotates through
    lines: Sequence[int]  # those of its flag calls, ascending
    loop: _Loop | None  # the loop in which it rotates, if there is one
    reserved: bool  # whether somebody else holds all its ids


@dataclass(frozen=True)
class _Text:
    """A kernel as one TIR text has it."""

    file: str  # as given
    depth: int  # what it was compiled with
    num_stages: Sequence[int]  # those that the text prints, ascending
    rings: Sequence[_Ring]  # in the order of their namespaces, and then of their ids
    reserved: Sequence[_Ring]  # whose ids somebody else holds; they count nowhere
    buffers: Sequence[tuple[Buffer, int]]  # each with its line
    aliases: Mapping[str, Collection[str]]  # by buffer, with which it may share a slot
    gemms: Sequence[int]  # the lines of what becomes gemm_l1
    simt: Sequence[int]  # the lines of the SimtVF blocks
    own_locks: Sequence[str]  # the locks that the source takes itself, and their lines

    @property
    def kernel(self) -> Kernel:
        """The kernel, its sync points with their base ids."""
        return Kernel(
            [ring.point for ring in self.rings],
            lock_reserved=GEMM_L1_LOCKS if self.gemms else 0,
            buffers=[buffer for buffer, _ in self.buffers],
            capacities={"ub": SIMT_UB} if self.simt else {},
            aliases=self.aliases,
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
    ids are none.  A ring or a buffer of a loop that prints another num_stages is fixed
    at its width.  Else one as wide as depth follows the depth, a narrower one follows
    it up to its own width, and a wider one is fixed.  With bases, each sync point has
    the base id that the text gives it, which is right at this depth only.  Raises
    ValueError for a text that is no TIR, is that of another pass, has no flags but
    reserved ones, or more than one kernel; for a depth that it does not print, an event
    id without bounds, a buffer without a size, and reserved ids out of range.

    >>> tir = '''
    ... T.attr({"core_mask": 1}, "tl.ascend_task", 1)
    ... T.sblock_attr({"tl.buffer_alias_map": {}})
    ... for s in T.serial(64, annotations={"num_stages": 3}):
    ...     T.ascend_set_flag("MTE2_V", s % 3 + 3)
    ... '''
    >>> read_kernel(tir).sync_points[0].name
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
        function = _kernel_function(_parse(tir), tir)
        statements = [*_statements([function], (), ChainMap())]
        flags = [call for statement in statements for call in statement.flags]
        _check_bounds(flags)
    except (RecursionError, MemoryError):
        raise ValueError(f"no TIR, nested too deeply: {_EXPECTED_TIR}") from None
    _check_one_launch(statements)
    stages = map(_integer, _dict_values(statements, "num_stages"))
    num_stages = sorted(set(filter(None, stages)))
    depth = _depth_read(depth, num_stages)
    buffers = [*_buffers(statements, function, depth)]
    names = [buffer.name for buffer, _ in buffers]
    used = _used_around_flags(statements, names)
    found = [*_rings(flags, used, names, depth, _reserved_slots(reserved))]
    rings = [ring for ring in found if not ring.reserved]
    if not rings:
        raise ValueError("every flag in the text uses a reserved id")
    return _Text(
        file,
        depth,
        num_stages,
        rings,
        [ring for ring in found if ring.reserved],
        buffers,
        _aliases(statements, names),
        gemms=_gemm_l1_lines(statements),
        simt=_block_lines(statements, "SIMT_VF"),
        own_locks=[lock for statement in statements for lock in statement.own_locks],
    )


def _parse(tir: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about what is no TIR
            return ast.parse(tir)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f", from line {line} on" if line else ""
        raise ValueError(f"no TIR{where}: {_EXPECTED_TIR}") from None


def _kernel_function(tree: ast.Module, tir: str) -> ast.AST:
    """The one function that sets flags; all of the text where flags stand outside of
    functions."""

    def has_flags(node: ast.AST) -> bool:
        return any(_called(part) in _FLAGS for part in ast.walk(node))

    marked = all(mark in tir for mark in _MARKS)
    if not has_flags(tree):
        raise ValueError(
            "no flags: this kernel needs no synchronisation"
            if marked
            else f"no flags: {_EXPECTED_TIR}"
        )
    if not marked:
        raise ValueError(f"the text of another pass: {_EXPECTED_TIR}")
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and has_flags(node)
    ]
    if len(functions) > 1:
        lines = ", ".join(str(function.lineno) for function in functions)
        raise ValueError(
            f"the functions of lines {lines} set flags: expected one kernel; read each"
            " from a file of its own"
        )
    return functions[0] if functions else tree


def _statements(
    nodes: Iterable[ast.AST], loops: tuple[_Loop, ...], names: _Values
) -> Iterator[_Statement]:
    """The statements of a text in its order.  names has what is bound there, and changes
    on the way."""
    for node in nodes:
        parts = [*ast.iter_child_nodes(node)]
        inner = [part for part in parts if isinstance(part, ast.stmt)]
        head = [part for part in parts if not isinstance(part, ast.stmt)]
        if isinstance(node, ast.For):
            yield _statement(node.iter, loops, names)
            loop, variables = _loop(node, names)
            yield from _statements(
                node.body, (*loops, loop), names.new_child(variables)
            )
        elif inner:
            yield from (_statement(part, loops, names) for part in head)
            yield from _statements(inner, loops, names)
        else:
            yield _statement(node, loops, names)
            name, value = _assigned(node)
            if name and value:
                names[name] = _Value(_bounds(value, names), _loops_used(value, names))


def _statement(node: ast.AST, loops: tuple[_Loop, ...], names: _Values) -> _Statement:
    nodes = [*ast.walk(node)]
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    return _Statement(
        node,
        loops,
        nodes,
        [_flag_call(call, loops, names) for call in calls if _called(call) in _FLAGS],
        [_own_lock(call, names) for call in calls if _called(call) == "ascend_get_buf"],
    )


def _assigned(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The name that a statement binds, empty if it binds none, and its value."""
    if isinstance(node, ast.AnnAssign):
        return getattr(node.target, "id", ""), node.value
    if isinstance(node, ast.Assign):
        return getattr(node.targets[0], "id", ""), node.value
    return "", None


def _loop(node: ast.For, names: _Values) -> tuple[_Loop, dict[str, _Value]]:
    """A loop, and what its variables can be."""
    targets = getattr(node.target, "elts", [node.target])
    variables = [getattr(target, "id", "") for target in targets]
    called = _called(node.iter)
    arguments = node.iter.args if isinstance(node.iter, ast.Call) else []

    # A grid has an end for each variable; another loop a start, if it is not 0, and an
    # end.
    bounds = [_bounds(argument, names) for argument in arguments]
    ranges: list[tuple[_Bounds | None, _Bounds | None]] = []
    if called == "grid":
        ranges = [((0, 0), end) for end in bounds]
    elif called in _LOOPS and bounds:
        start, end = bounds[:2] if len(bounds) > 1 else ((0, 0), bounds[0])
        ranges = [(start, end)]

    # How often a loop runs counts for those of one variable, which print num_stages.
    runs = None
    if len(ranges) == 1:
        start, end = ranges[0]
        if start and end and start[0] == start[1] and end[0] == end[1]:
            runs = end[0] - start[0]
    annotations = _keyword(node.iter, "annotations")
    printed = {_string(key): value for key, value in _items(annotations)}
    loop = _Loop(
        node.lineno,
        runs,
        _integer(printed.get("num_stages")) or None,
        frozenset(
            map(_variable, getattr(printed.get("multi_buffer_eligible"), "elts", ()))
        ),
    )

    of_loop = frozenset({loop})
    values = dict.fromkeys(variables, _Value(None, of_loop))
    for variable, (start, end) in zip(variables, ranges):
        if start and end and start[0] < end[1]:
            values[variable] = _Value((start[0], end[1] - 1), of_loop)
    return loop, values


def _called(node: ast.AST | None) -> str:
    """The last name of what a call calls; empty if it is no call."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _calls(statements: Iterable[_Statement], *names: str) -> list[ast.Call]:
    """The calls of these names."""
    return [
        node
        for statement in statements
        for node in statement.nodes
        if isinstance(node, ast.Call) and _called(node) in names
    ]


def _keyword(call: ast.AST, name: str) -> ast.expr | None:
    """The value of a keyword argument; None if there is none, or no call."""
    keywords = getattr(call, "keywords", ())
    return {keyword.arg: keyword.value for keyword in keywords}.get(name)


def _items(node: ast.AST | None) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """The keys and values of a dict; none if it is no dict."""
    return zip(getattr(node, "keys", ()), getattr(node, "values", ()))


def _dict_values(statements: Iterable[_Statement], text: str) -> list[ast.expr]:
    """The values of this key in all dicts."""
    return [
        value
        for statement in statements
        for node in statement.nodes
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
    """The value of 4, -4 or T.int64(4); None if it is no such number, or no node."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    if isinstance(node, ast.Call) and _called(node) in {"int32", "int64"}:
        return _integer(node.args[0]) if node.args else None
    value = getattr(node, "value", None)
    return value if type(value) is int else None


def _bounds(node: ast.expr, names: _Values, cross_core: bool = False) -> _Bounds | None:
    """What an expression can be, as TVM's interval arithmetic finds it
    (EventIdRange, rewrite_flag_to_buf.cc:121); None where it finds no bounds."""
    number = _integer(node)
    if number is not None:
        return number, number
    if isinstance(node, ast.Name):
        return names[node.id].bounds if node.id in names else None
    if isinstance(node, ast.Call) and _called(node) == "Cast":
        return _bounds(node.args[-1], names, cross_core) if node.args else None
    if not isinstance(node, ast.BinOp):
        return None

    # What has bounds, even where what it is made of has none.
    modulus = _modulus(node)
    if modulus is not None and modulus > 0:
        dividend = _bounds(_without_multiple(node.left, modulus), names, cross_core)
        within = dividend is not None and dividend[0] >= 0 and dividend[1] < modulus
        return dividend if within else (0, modulus - 1)
    if cross_core and isinstance(node.op, ast.Mult):
        # The cube addresses the second vector core at + 16: insert_sync.cc:1878.
        factor = _integer(node.left) or _integer(node.right)
        if factor and factor % CROSS_CORE_SLOTS == 0:
            return 0, 0

    # What lies between its values at the ends of what it is made of.
    left = _bounds(node.left, names, cross_core)
    right = _bounds(node.right, names, cross_core)
    apply = _OPERATORS.get(type(node.op))
    if left is None or right is None or apply is None:
        return None
    if isinstance(node.op, ast.FloorDiv) and not right[0] == right[1] > 0:
        return None
    ends = [apply(one, other) for one in left for other in right]
    return min(ends), max(ends)


def _modulus(node: ast.BinOp) -> int | None:
    """The n of x % n, which TVM also prints as x - x // n * n."""
    if isinstance(node.op, ast.Mod):
        return _integer(node.right)
    if isinstance(node.op, ast.Sub) and isinstance(node.right, ast.BinOp):
        number = node.right.right
        quotient = ast.BinOp(node.left, ast.FloorDiv(), number)
        product = ast.BinOp(quotient, ast.Mult(), number)
        if ast.dump(node.right) == ast.dump(product):
            return _integer(number)
    return None


def _without_multiple(node: ast.expr, modulus: int) -> ast.expr:
    """The x of x % n as RewriteFlagToBuf finds it: tl.Simplify, which runs before it,
    turns (x - 16) % 8 into x % 8 (3rdparty/tvm/src/arith/rewrite_simplify.cc:1234)."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        number = _integer(node.right)
        if number is not None and number % modulus == 0:
            return node.left
    return node


def _loops_used(node: ast.AST, names: _Values) -> frozenset[_Loop]:
    """The loops with whose iterations an expression changes."""
    return frozenset(
        loop
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and part.id in names
        for loop in names[part.id].loops
    )


def _flag_call(call: ast.Call, loops: tuple[_Loop, ...], names: _Values) -> _FlagCall:
    """A flag call (FlagUsageCollector, rewrite_flag_to_buf.cc:138).  An id that can be
    negative has no bounds."""
    called, line = _called(call), call.lineno
    if len(call.args) < 2:
        raise ValueError(f"line {line}: expected an id in {called}")
    first, *_, event_id = call.args
    cross_core = "cross_core" in called
    event = "cross-core" if cross_core else _string(first)
    _check_event(f"line {line}: event", event)
    ids = _bounds(event_id, names, cross_core)
    if ids and not 0 <= ids[0] <= ids[1] < LARGEST:
        ids = None
    loops_used = _loops_used(event_id, names)
    id_loops = tuple(loop for loop in loops if loop in loops_used)
    return _FlagCall(line, event, "set_flag" in called, event_id, ids, loops, id_loops)


def _check_bounds(calls: Iterable[_FlagCall]) -> None:
    unbounded = [
        f"line {call.line} {ast.unparse(call.event_id)[:40]!r}"
        for call in calls
        if call.ids is None
    ]
    if unbounded:
        raise ValueError(
            f"event ids without bounds: {_listed(unbounded, 10)}: expected a number, a"
            " variable of a loop that numbers bound, x % v with a number v, or a sum of"
            " these"
        )


def _own_lock(call: ast.Call, names: _Values) -> str:
    """The locks that a call of the source's own takes, and its line."""
    ids = _bounds(call.args[1], names) if call.args[1:] else None
    if ids is None:
        return f"some (line {call.lineno})"
    first, last = ids
    return f"{first if first == last else f'{first}-{last}'} (line {call.lineno})"


def _block_lines(statements: Iterable[_Statement], name: str) -> list[int]:
    """The lines of the blocks of this name."""
    return [
        call.lineno
        for call in _calls(statements, "sblock")
        if _string(*call.args[:1]) == name
    ]


def _check_one_launch(statements: Iterable[_Statement]) -> None:
    launches = _block_lines(statements, "tilelang_root")
    if len(launches) > 1:
        lines = ", ".join(map(str, launches))
        raise ValueError(
            f"the launches of lines {lines} each have flags and memory of their own:"
            " expected one"
        )


def _depth_read(depth: int | None, num_stages: Sequence[int]) -> int:
    """The depth of a text: as given, if it prints it or none; None: the largest that
    it prints."""
    if depth is None:
        if not num_stages:
            raise ValueError(
                "the text prints no num_stages: give the depth, as in --read 4=FILE"
            )
        depth = num_stages[-1]
    _check_number("depth", depth)
    if num_stages and depth not in num_stages:
        raise ValueError(
            f"depth {depth}: expected a num_stages that is printed:"
            f" {', '.join(map(str, num_stages))}"
        )
    return depth


def _width_fields(width: int, depth: int, fixed: bool) -> tuple[int | None, int | None]:
    """The versions and max_versions of what is this wide at this depth: what the
    scheduler stopped below this depth, it stops at deeper ones too."""
    if fixed or width > depth or width == 1 < depth:
        return width, None
    return None, (width if width < depth else None)


_Use = tuple[_Bounds, _FlagCall]  # the slots of a namespace that a call uses


def _rings(
    calls: Iterable[_FlagCall],
    used: Mapping[_FlagCall, Collection[object]],
    buffers: Sequence[str],
    depth: int,
    reserved: Mapping[str, Collection[int]],
) -> Iterator[_Ring]:
    """The rings, by namespace and in id order; used has the buffers around each call."""
    uses: dict[str, list[_Use]] = {}
    for call in calls:
        of_event = uses.setdefault(call.event, [])
        first, last = call.ids or (0, 0)
        cross_core = call.event == "cross-core"
        slots = _modulo_16(first, last) if cross_core else [(first, last)]
        of_event += [(part, call) for part in slots]
    for event, of_event in uses.items():
        namespace = _namespace(event)
        rings = _coalesced(of_event)
        for ring, release in zip(rings, _releases(rings)):
            ids, ring_calls = _ids(ring), [call for _, call in ring]
            loop = _loop_of(ring_calls)
            fixed = loop is not None and loop.num_stages not in (None, depth)
            versions, max_versions = _width_fields(len(ids), depth, fixed)
            point = SyncPoint(
                f"{namespace}[{ids.start}]",
                event,
                versions,
                max_versions,
                cross_iter=release,
                base=ids.start,
                guards=_guarded(ids, ring_calls, used, buffers),
            )
            lines = sorted({call.line for call in ring_calls})
            taken = all(slot in reserved.get(namespace, ()) for slot in ids)
            yield _Ring(point, ids, lines, loop, taken)


def _modulo_16(first: int, last: int) -> list[_Bounds]:
    """What the 16 cross-core slots have of these ids."""
    slots = CROSS_CORE_SLOTS
    if last - first >= slots - 1:
        return [(0, slots - 1)]
    first, last = first % slots, last % slots
    return [(first, last)] if first <= last else [(0, last), (first, slots - 1)]


def _coalesced(uses: Iterable[_Use]) -> list[list[_Use]]:
    """The uses of each ring, in id order.  Ids that overlap are of one ring, those that
    only touch are not (CoalesceBlocks, rewrite_flag_to_buf.cc:188)."""
    rings: list[list[_Use]] = []
    end = -1
    for use in sorted(uses, key=lambda use: use[0]):
        (first, last), _ = use
        if first > end:
            rings.append([])
        rings[-1].append(use)
        end = max(end, last)
    return rings


def _ids(ring: Sequence[_Use]) -> range:
    """The ids of a ring, whose uses are in id order."""
    return range(ring[0][0][0], max(last for (_, last), _ in ring) + 1)


def _releases(rings: Sequence[Sequence[_Use]]) -> list[bool]:
    """Which of the rings of a namespace are releases.

    Releases come first in id order, so the rings are looked at from the last one on
    down: once one is found to be a release, all below it are.  It shows in two ways.
    tilelang sets its ids one by one before the loop (insert_sync.cc:2090).  And among
    the releases, as among the others, wider comes before narrower (:1912-1924): of
    rings 2, 1, 3 ids wide, the first two are releases.
    """
    found = []
    release, width = False, 0
    for ring in reversed(rings):
        width_above, width = width, len(_ids(ring))
        one_by_one = width > 1 and any(first == last for (first, last), _ in ring)
        release = release or one_by_one or width < width_above
        found.append(release)
    return found[::-1]


def _loop_of(calls: Iterable[_FlagCall]) -> _Loop | None:
    """The loop in which a ring rotates: the innermost that prints num_stages, if one
    does, among those with which its ids change or, if they do not, among those around
    its calls.  Of several calls, it is the loop that prints the most."""
    found = []
    for loops in [call.id_loops for call in calls if call.id_loops] or [
        call.loops for call in calls
    ]:
        staged = [loop for loop in loops if loop.num_stages]
        found += (staged or [*loops])[-1:]
    return max(found, key=lambda loop: loop.num_stages or 0, default=None)


def _guarded(
    ids: range,
    calls: Iterable[_FlagCall],
    used: Mapping[_FlagCall, Collection[object]],
    buffers: Iterable[str],
) -> list[str]:
    """The buffers that a ring guards, as far as it shows: those used both right before
    it is set and right after it is waited for."""
    # The ids of a wider ring are set one by one before the loop, and waited for after
    # it (insert_sync.cc:2090), far from what they guard.
    near = [call for call in calls if call.loops or len(ids) == 1]
    before = {name for call in near if call.sets for name in used.get(call, ())}
    after = {name for call in near if not call.sets for name in used.get(call, ())}
    both = before & after
    return [name for name in buffers if name in both]


def _used_around_flags(
    statements: Sequence[_Statement], buffers: Sequence[str]
) -> dict[_FlagCall, Sequence[object]]:
    """By flag call, the buffers used right before it, if it sets a flag, or right after
    it, if it waits.  That reaches to the next flag call; those that stand in a row
    count as one, and a loop that contains flag calls is a border."""
    # What a statement may call a buffer: by its name, or that of a view.
    names = {buffer: buffer for buffer in buffers}
    for statement in statements:
        name, value = _assigned(statement.node)
        data = _variable(_keyword(value, "data")) if value else ""
        if data in buffers:
            names[name] = data

    # What counts, in the order of the text: flag calls, and uses of buffers.
    staged = {
        loop for statement in statements if statement.flags for loop in statement.loops
    }
    steps: list[tuple[tuple[_Loop, ...], _FlagCall | str]] = []
    for statement in statements:
        around = tuple(loop for loop in statement.loops if loop in staged)
        uses = [names[name] for name in _names_used(statement) if name in names]
        steps += [(around, step) for step in statement.flags or uses]

    # By runs of the one or the other, between the borders.
    runs = [
        (around, [step for _, step in run])
        for (around, _), run in itertools.groupby(
            steps, key=lambda step: (step[0], isinstance(step[1], str))
        )
    ]
    used: dict[_FlagCall, Sequence[object]] = {}
    for (around, run), (next_around, next_run) in zip(runs, runs[1:]):
        if around == next_around:
            for step in run:
                if isinstance(step, _FlagCall) and not step.sets:
                    used[step] = next_run
            for step in next_run:
                if isinstance(step, _FlagCall) and step.sets:
                    used[step] = run
    return used


def _names_used(statement: _Statement) -> Iterator[str]:
    """The names in a statement that are of use: not those of allocations and
    annotations."""
    if _calls([statement], *_NO_USE):
        return
    annotations = {
        part
        for node in statement.nodes
        if isinstance(node, ast.keyword) and node.arg == "annotations"
        for part in ast.walk(node.value)
    }
    for node in statement.nodes:
        if isinstance(node, ast.Name) and node not in annotations:
            yield node.id


def _buffers(
    statements: Sequence[_Statement], function: ast.AST, depth: int
) -> Iterator[tuple[Buffer, int]]:
    """The buffers in the memories, each with its line."""
    versions = _counts(statements, "tl.buffer_versions_map")
    manual = _counts(statements, "tl.manual_multi_buffer")
    fixed = {
        name
        for statement in statements
        for loop in statement.loops
        if loop.num_stages not in (None, depth)
        for name in loop.eligible
    }
    mentions = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name)
    )
    for statement in statements:
        for call in _calls([statement], "sblock_alloc_buffer"):
            memory = _memory_of(call)
            if not memory:
                continue
            # What has no data= is called what it is assigned to, if it is used at all.
            data, (target, _) = _keyword(call, "data"), _assigned(statement.node)
            if not data and mentions[target] < 2:
                continue
            name = _variable(data) if data else target
            count = manual.get(name) or versions.get(name, 1)
            try:
                # The allocation of a ring of the source's own holds all its versions.
                size = -(-_allocated_bytes(call) // manual.get(name, 1))
                widths = _width_fields(count, depth, name in fixed)
                buffer = Buffer(name, memory, size, *widths)
            except ValueError as error:
                raise ValueError(f"line {call.lineno}: {error}") from None
            yield buffer, call.lineno


def _counts(statements: Iterable[_Statement], key: str) -> dict[str, int]:
    """By buffer, the number of versions that this key's dicts say."""
    counts = {}
    for value in _dict_values(statements, key):
        for buffer, number in _items(value):
            count = _integer(number)
            if count is None or count < 1:
                raise ValueError(f"line {number.lineno}: expected a number of versions")
            counts[_variable(buffer)] = count
    return counts


def _memory_of(call: ast.AST) -> str | None:
    """The memory that scope= names, if it is one of MEMORIES."""
    return SCOPES.get(_string(_keyword(call, "scope")).removesuffix(".dyn"))


def _allocated_bytes(allocation: ast.Call) -> int:
    """What an allocation takes: its shape times its dtype."""
    shape, dtype, *_ = [*allocation.args, None, None]
    bits = 1
    for extent in getattr(shape, "elts", [shape]):
        length = _integer(extent)
        if length is None:
            raise ValueError("expected a shape of numbers")
        bits *= length
    text = _string(dtype) if dtype else "float32"
    # The bits, a suffix as in float8_e4m3, and the lanes.
    match = re.fullmatch(
        r"(?:bool|[a-z]+(\d{1,4})(?:_[a-z\d]+?)?)(?:x(\d{1,4}))?", text
    )
    if not match:
        raise ValueError(f"dtype {text!r}: expected one with a size, as in float32")
    return -(-bits * int(match[1] or 8) * int(match[2] or 1) // 8)


def _aliases(
    statements: Iterable[_Statement], buffers: Collection[str]
) -> dict[str, list[str]]:
    """By buffer, those of the buffers with which it may share a slot."""
    aliases: dict[str, list[str]] = {name: [] for name in buffers}
    for value in _dict_values(statements, "tl.buffer_alias_map"):
        for key, shared in _items(value):
            others = map(_variable, getattr(shared, "elts", ()))
            if _variable(key) in aliases:
                aliases[_variable(key)] += filter(aliases.__contains__, others)
    return aliases


def _gemm_l1_lines(statements: Sequence[_Statement]) -> list[int]:
    """The lines of what becomes gemm_l1: both inputs are in L1
    (tilelang/ascend/op/gemm/gemm_mad.py:167)."""
    assigned = [_assigned(statement.node) for statement in statements]
    in_l1 = {name for name, value in assigned if value and _memory_of(value) == "l1"}
    # An input is T.region(a[0, 0], 1, 64, 64).
    regions = {
        call
        for call in _calls(statements, "region")
        if _variable(*call.args[:1]) in in_l1
    }
    return [
        call.lineno
        for call in _calls(statements, "gemm", "gemm_blockscaled")
        if call.args[1:] and regions.issuperset(call.args[:2])
    ]


# The report of what was read


def _reading_lines(texts: Sequence[_Text], kernel: Kernel) -> Iterator[str]:
    """What was read of the deepest text, the first of these, and in which lines, so that
    a spill can be traced to the source."""
    deepest, *others = texts
    yield f"read at depth {deepest.depth}: {_printable(deepest.file)}"
    if others:
        yield f"also read: {_depth_ranges(sorted(text.depth for text in others))}"
    rows = []
    for ring in deepest.rings:
        point, ids = ring.point, _first_to_last("id", ring.ids)
        guards = _listed(point.guards, _MOST_GUARDS) or "-"
        rows.append([point.name, ids, _growth(point), guards, _lines_of(ring.lines)])
    for buffer, line in deepest.buffers:
        size = f"{buffer.memory} {_kilobytes(buffer.bytes)}"
        rows.append([buffer.name, size, _growth(buffer), "", f"line {line}"])
    yield from _columns(rows, str.ljust)
    if deepest.gemms and kernel.lock_reserved == GEMM_L1_LOCKS:
        yield f"gemm_l1 holds {GEMM_L1_LOCKS} locks, {_lines_of(deepest.gemms)}"
    if deepest.simt and kernel.capacities["ub"] == SIMT_UB:
        yield f"ub has {_kilobytes(SIMT_UB)}: SIMT_VF, {_lines_of(deepest.simt)}"


def _depth_ranges(depths: Sequence[int]) -> str:
    """Rising depths in words: depths 1 to 3 and 5."""
    runs: list[list[int]] = []
    for depth in depths:
        if not runs or runs[-1][-1] != depth - 1:
            runs.append([])
        runs[-1].append(depth)
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if run[2:] else map(str, run)
    *before, last = parts
    what = "depths" if depths[1:] else "depth"
    return f"{what} {', '.join(before)}{' and ' if before else ''}{last}"


def _printable(text: str) -> str:
    """The text, with escapes for what would break the line."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in text
    )


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
                "buffers": ring.point.guards,
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


# The command


# What reads a part of the command line raises a ValueError that says only what it
# expected; who called it adds which part that was.


def _number(text: str, least: int = 1, most: int = LARGEST) -> int:
    # 10^18 has 19 digits, and int() takes its time for many more.
    if not re.fullmatch("[0-9]{1,19}", text) or not least <= int(text) <= most:
        raise ValueError(_expected(least, most))
    return int(text)


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
            raise ValueError(f"{key!r} is given twice")
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
        _check_event("event", event)
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
What is then shown as kept and spilled is this model's own.

Examples: the built-in kernel, one by hand, and one that tilelang compiled.
  %(prog)s --summary
  %(prog)s --sync-point load,event=MTE2_V --depth 9 --map
  %(prog)s --read dump_*/*_tl.InsertSync.py --summary""",
        # The same text in every terminal.
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, width=80
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"flag_budget {__version__}, modelled on tilelang 0.1.15",
        help="print the version and exit",
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
        help="a sync point; replaces the built-in kernel; repeatable",
    )
    sources.add_argument(
        "--read",
        metavar=("[DEPTH=]FILE", "FILE"),
        type=_checked(_depth_and_file),
        action="extend",
        nargs="+",
        default=[],
        help="take the kernel from the TIR that tilelang's pass tl.InsertSync leaves,"
        " one file for each DEPTH that it was compiled with (default: the largest"
        " num_stages that it prints); - is standard input; repeatable",
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
        help="always (if no value is given): one base id for each share group;"
        " on-demand: only while the namespace is short of slots, as the compiler does",
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
        "--map",
        action="store_true",
        help="print a picture of the slots in place of each block",
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


def _expanded(args: Iterable[str]) -> Iterator[str]:
    """The arguments, where those that a file holds stand in place of its @FILE."""
    for arg in args:
        if not arg.startswith("@"):
            yield arg
            continue
        hint = f"a kernel that a compiler printed is read with --read {arg[1:]}"
        try:
            text = _file_text(arg[1:])
        except ValueError as error:
            raise ValueError(f"arguments of {arg!r}: {error}") from None
        try:
            from_file = shlex.split(text, comments=True)
        except ValueError as error:
            raise ValueError(f"arguments of {arg!r}: {error}; {hint}") from None
        if not from_file:
            raise ValueError(f"{arg!r} contains no arguments")
        if not from_file[0].startswith("-"):
            raise ValueError(f"{arg!r} does not begin with an option; {hint}")
        yield from from_file


def _options(
    parser: argparse.ArgumentParser, args: Iterable[str]
) -> argparse.Namespace:
    args = [*_expanded(args)]
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


def _print(line: str) -> None:
    try:
        print(line)
    except UnicodeEncodeError:  # a file's name, where the output is ASCII
        print(line.encode("ascii", "backslashreplace").decode("ascii"))


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
        namespace = _namespace(event or "cross-core")
        reserved.setdefault(namespace, []).extend(ids)
    return reserved


def _texts(options: argparse.Namespace) -> list[_Text]:
    """What --read names, the deepest first."""
    texts: dict[int, _Text] = {}
    for depth, file in options.read:
        try:
            tir = _file_text(0 if file == "-" else file)
            text = _read(tir, depth, _reserved(options), file)
            if text.depth in texts:
                raise ValueError(
                    f"depth {text.depth} was already read from"
                    f" {texts[text.depth].file!r}: give DEPTH="
                )
            for other in texts.values():
                _check_same_kernel(text, other)
        except ValueError as error:
            raise ValueError(f"argument --read: {file!r}: {error}") from None
        texts[text.depth] = text
    return [texts[depth] for depth in sorted(texts, reverse=True)]


def _check_same_kernel(text: _Text, other: _Text) -> None:
    """Raise ValueError where the buffers of two texts differ: a kernel has the same at
    every depth, with other versions."""
    sizes, other_sizes = (
        {(buffer.name, buffer.memory, buffer.bytes) for buffer, _ in buffers}
        for buffers in (text.buffers, other.buffers)
    )
    different = sorted(sizes ^ other_sizes)
    if different:
        name, memory, size = different[0]
        file = text.file if different[0] in sizes else other.file
        raise ValueError(
            f"only {file!r} has a buffer {name!r} of {size} bytes a version in {memory}:"
            " expected texts of one kernel"
        )


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
    cross_core = CROSS_CORE in namespaces or any(
        ring.point.event == "cross-core"
        for text in texts
        for ring in (*text.rings, *text.reserved)
    )
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


def _text_notes(
    options: argparse.Namespace, texts: Sequence[_Text], depths: range
) -> Iterator[str]:
    """What the texts have that the answer for these depths does not show."""
    for text in texts:
        if len(text.num_stages) > 1 and (None, text.file) in options.read:
            yield (
                f"note: {text.file!r} prints num_stages"
                f" {', '.join(map(str, text.num_stages))}: read at depth {text.depth};"
                " DEPTH=FILE says another"
            )
    own = dict.fromkeys(
        f"{ring.point.name} ({_first_to_last('id', ring.ids)})"
        for text in texts
        for ring in text.reserved
    )
    if own:
        yield (
            "note: within reserved ids, and so taken as flags that the source sets"
            f" itself: {', '.join(own)}"
        )
    if not texts:
        return
    deepest, read = texts[0], {text.depth for text in texts}
    if deepest.own_locks:
        yield (
            f"note: in {deepest.file!r} the source takes locks itself:"
            f" {', '.join(deepest.own_locks)}; the compiler does not see them, and gives"
            " the same to what spills"
        )
    if all(depth in read for depth in depths):
        return
    short_loops = {
        (ring.loop.line, ring.loop.runs)
        for ring in deepest.rings
        if not ring.point.versions
        if ring.loop and ring.loop.runs and ring.loop.runs <= depths[-1]
    }
    for line, runs in sorted(short_loops):
        yield (
            f"note: in {deepest.file!r} the loop of line {line} runs {runs} times: from"
            f" depth {runs} on the compiler sizes its rings in another way; read those"
            " depths"
        )


def _unread_note(
    kernel: Kernel, readings: Mapping[int, Kernel], found: Limits
) -> Iterator[str]:
    """The depths on which the limits rest, if some of them were not read."""
    flags, compiles = found.last_depth_without_spill, found.last_depth_that_compiles
    if flags is None:
        # They rest on the first depth at which a ring that follows it cannot fit.
        namespaces = {
            kernel.namespace_of(point)
            for point in kernel.sync_points
            if not point.versions
        }
        only = CROSS_CORE if namespaces == {CROSS_CORE} else None
        rest = {_all_slots(only).stop + 1}
    else:
        rest = {last + 1 for last in (flags, compiles) if last is not None}
    memory = found.last_depth_in_memory
    if memory is not None and memory < max(rest):
        rest.add(memory + 1)
    unread = sorted(rest.difference(readings))
    if readings and unread:
        them = "them" if unread[1:] else "it"
        yield (
            f"note: not read: {_depth_ranges(unread)}, on which the limits rest; compile"
            f" and read {them} to be sure"
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
    found = limits(kernel, readings)
    flags = found.last_depth_without_spill or 0
    last = options.depth or options.max_depth or max(4, flags + 1, *readings)
    depths = range(options.depth or 1, last + 1)
    table = bool(options.summary or not options.depth)
    notes = [
        *_option_notes(options, kernel, texts),
        *_text_notes(options, texts, depths),
        *(_unread_note(kernel, readings, found) if table or options.json else ()),
    ]
    for note in notes:
        _complain(note)
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
        blocks=not (options.summary or options.map),
        table=table,
        maps=options.map,
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
                _print(line)
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
