"""The kernels that record_vectors.py compiles, in tilelang's own language.

Each takes the depth: as many stages of a loop, and as a rule as many versions of
its buffers.  What the compiler prints of them is under tests/compiled; it reads
their source, so what they are called here is what they are called there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tilelang.ascend.language as T


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
                    m = T.simd.pset(32, "PAT_ALL")
                    for k in range(4):
                        T.simd.vsts(
                            z[k * 64],
                            T.simd.vadd(
                                T.simd.vld(x[k * 64]), T.simd.vld(y[k * 64]), m
                            ),
                            m,
                        )
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
                        T.simd.vsts(
                            p[k * 64],
                            T.simd.vadds(T.simd.vld(x[k * 64]), T.float32(1), m),
                            m,
                        )
                T.copy(p, P[s * 2048 + bx * 256])
                T.copy(Y[s * 2048 + bx * 256], y)
                with T.SimdVF():
                    m2 = T.simd.pset(32, "PAT_ALL")
                    for k in range(4):
                        T.simd.vsts(
                            q[k * 64],
                            T.simd.vadds(T.simd.vld(y[k * 64]), T.float32(2), m2),
                            m2,
                        )
                T.copy(q, Q[s * 2048 + bx * 256])

    return main


def gemm(depth: int, annotated: bool) -> Any:
    """A tile of C after the other, on the cube alone."""

    @T.prim_func
    def main(
        A: T.Tensor((1024, 4096), "bfloat16"),
        B: T.Tensor((1024, 4096), "bfloat16"),
        C: T.Tensor((1024, 1024), "float32"),
    ):
        with T.Kernel(16) as bx:
            acc = T.alloc_l0c((64, 64), "float32")
            a_l1 = T.alloc_l1((64, 64), "bfloat16")
            b_l1 = T.alloc_l1((64, 64), "bfloat16")
            if annotated:
                T.annotate_buffer_versions({a_l1: depth, b_l1: depth})
            for w in T.serial(16):
                for k in T.Pipelined(64, num_stages=depth):
                    T.copy(A[w * 64, k * 64], a_l1)
                    T.copy(B[bx * 64, k * 64], b_l1)
                    T.gemm(a_l1, b_l1, acc, transpose_B=True, clear_accum=(k == 0))
                T.copy(acc, C[w * 64, bx * 64])

    return main


def gemm_auto(depth: int) -> Any:
    """gemm, with the versions of its buffers left to the scheduler."""
    return gemm(depth, False)


def matmul(depth: int) -> Any:
    """gemm, with as many versions as stages."""
    return gemm(depth, True)


def mixed(depth: int) -> Any:
    """The cube multiplies, the vector cores store; the depth is the inner loop's."""

    @T.prim_func
    def main(
        A: T.Tensor((1024, 2048), "bfloat16"),
        B: T.Tensor((1024, 2048), "bfloat16"),
        C: T.Tensor((1024, 1024), "float32"),
    ):
        with T.Kernel(16) as bx:
            acc = T.alloc_l0c((64, 64), "float32")
            a_l1 = T.alloc_l1((64, 64), "bfloat16")
            b_l1 = T.alloc_l1((64, 64), "bfloat16")
            out = T.alloc_shared((32, 64), "float32")
            T.annotate_buffer_versions({a_l1: depth, b_l1: depth})
            for w in T.serial(16):
                for k in T.Pipelined(32, num_stages=depth):
                    T.copy(A[w * 64, k * 64], a_l1)
                    T.copy(B[bx * 64, k * 64], b_l1)
                    T.gemm(a_l1, b_l1, acc, transpose_B=True, clear_accum=(k == 0))
                T.dual_copy(acc, out)
                T.dual_copy(out, C[w * 64 : w * 64 + 64, bx * 64 : bx * 64 + 64])

    return main


def mixed_deep(depth: int) -> Any:
    """Like mixed, but the outer loop is what follows the depth."""

    @T.prim_func
    def main(
        A: T.Tensor((1024, 512), "bfloat16"),
        B: T.Tensor((1024, 512), "bfloat16"),
        C: T.Tensor((1024, 1024), "float32"),
    ):
        with T.Kernel(16) as bx:
            acc = T.alloc_l0c((64, 64), "float32")
            a_l1 = T.alloc_l1((64, 64), "bfloat16")
            b_l1 = T.alloc_l1((64, 64), "bfloat16")
            out = T.alloc_shared((32, 64), "float32")
            T.annotate_buffer_versions({a_l1: 2, b_l1: 2, out: depth})
            for w in T.Pipelined(16, num_stages=depth):
                for k in T.Pipelined(8, num_stages=2):
                    T.copy(A[w * 64, k * 64], a_l1)
                    T.copy(B[bx * 64, k * 64], b_l1)
                    T.gemm(a_l1, b_l1, acc, transpose_B=True, clear_accum=(k == 0))
                T.dual_copy(acc, out)
                T.dual_copy(out, C[w * 64 : w * 64 + 64, bx * 64 : bx * 64 + 64])

    return main


def persistent_scale(depth: int) -> Any:
    """Rows that some iterations skip, so a counter rotates the ids; g stays."""

    @T.prim_func
    def main(
        X: T.Tensor((4096, 1024), "float32"),
        G: T.Tensor((1024,), "float32"),
        Y: T.Tensor((4096, 1024), "float32"),
    ):
        with T.Kernel(8) as bx:
            x = T.alloc_shared((1024,), "float32")
            g = T.alloc_shared((1024,), "float32")
            y = T.alloc_shared((1024,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            T.copy(G[0], g)
            for w in T.Pipelined(512, num_stages=depth):
                if (w * 8 + bx) % 3 != 1:
                    T.copy(X[w * 8 + bx, 0], x)
                    with T.SimdVF():
                        for i in T.Parallel(1024):
                            y[i] = x[i] * g[i]
                    T.copy(y, Y[w * 8 + bx, 0])

    return main


def short_loop(depth: int) -> Any:
    """Six iterations, however deep the ring is."""

    @T.prim_func
    def main(X: T.Tensor((24576,), "float32"), Y: T.Tensor((24576,), "float32")):
        with T.Kernel(8) as bx:
            x = T.alloc_shared((512,), "float32")
            y = T.alloc_shared((512,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            for s in T.Pipelined(6, num_stages=depth):
                T.copy(X[s * 4096 + bx * 512], x)
                with T.SimdVF():
                    for i in T.Parallel(512):
                        y[i] = x[i] + T.float32(3)
                T.copy(y, Y[s * 4096 + bx * 512])

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


KERNELS: list[Callable[[int], Any]] = [
    axpy,
    two_consumers,
    matmul,
    mixed,
    gemm_auto,
    persistent_scale,
    short_loop,
    mixed_deep,
    one_input_kept,
]
