"""The kernels that record_vectors.py compiles, in tilelang's own language.

Each takes the depth: as many stages of a loop, and as a rule as many versions of
its buffers.  What the compiler prints of them is under tests/compiled; it reads
their source, so what they are called here is what they are called there.
"""

# No annotations from __future__: those of a kernel hold values of what is around it.

from collections.abc import Callable
from typing import Any

import tilelang.ascend.language as T

NB = 8  # blocks, each of which takes every eighth tile


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


def flash_fwd(
    depth: int, S: int = 1024, D: int = 64, BR: int = 64, BC: int = 64
) -> Any:
    """Attention: both products on the cube, the softmax on the vector cores."""
    ROWS = BR // 2

    @T.prim_func
    def main(
        Q: T.Tensor((S, D), "bfloat16"),
        K: T.Tensor((S, D), "bfloat16"),
        V: T.Tensor((D, S), "bfloat16"),
        O: T.Tensor((S, D), "float32"),
    ):
        with T.Kernel(NB) as bx:
            q = T.alloc_l1((BR, D), "bfloat16")
            k = T.alloc_l1((BC, D), "bfloat16")
            v = T.alloc_l1((D, BC), "bfloat16")
            p_l1 = T.alloc_l1((BR, BC), "bfloat16")
            s_c = T.alloc_l0c((BR, BC), "float32")
            o_c = T.alloc_l0c((BR, D), "float32")
            s = T.alloc_shared((ROWS, BC), "float32")
            p = T.alloc_shared((ROWS, BC), "bfloat16")
            ot = T.alloc_shared((ROWS, D), "float32")
            o = T.alloc_shared((ROWS, D), "float32")
            m = T.alloc_shared((ROWS,), "float32")
            mo = T.alloc_shared((ROWS,), "float32")
            l = T.alloc_shared((ROWS,), "float32")
            al = T.alloc_shared((ROWS,), "float32")
            for t in T.serial(S // BR // NB):
                r = (t * NB + bx) * BR
                T.copy(Q[r : r + BR, 0:D], q)
                with T.SimtVF(threads=128):
                    for i in T.Parallel(ROWS):
                        m[i] = -T.infinity("float32")
                        l[i] = T.float32(0)
                    for i, j in T.Parallel(ROWS, D):
                        o[i, j] = T.float32(0)
                for c in T.Pipelined(
                    S // BC, num_stages=depth, annotations={"enable_offset": True}
                ):
                    T.copy(K[c * BC : (c + 1) * BC, 0:D], k)
                    T.gemm(q, k, s_c, transpose_B=True, clear_accum=True)
                    T.dual_copy(s_c, s)
                    with T.SimtVF(threads=32):
                        for i in T.Parallel(ROWS):
                            mo[i] = m[i]
                            for j in T.serial(BC):
                                m[i] = T.max(m[i], s[i, j])
                            al[i] = T.exp(mo[i] - m[i])
                            l[i] = l[i] * al[i]
                            for j in T.serial(BC):
                                s[i, j] = T.exp(s[i, j] - m[i])
                                l[i] = l[i] + s[i, j]
                                p[i, j] = T.cast(s[i, j], "bfloat16")
                    T.dual_copy(p, p_l1)
                    T.copy(V[0:D, c * BC : (c + 1) * BC], v)
                    T.gemm(p_l1, v, o_c, transpose_B=True, clear_accum=True)
                    T.dual_copy(o_c, ot)
                    with T.SimtVF(threads=128):
                        for i, j in T.Parallel(ROWS, D):
                            o[i, j] = o[i, j] * al[i] + ot[i, j]
                with T.SimtVF(threads=128):
                    for i, j in T.Parallel(ROWS, D):
                        o[i, j] = o[i, j] / l[i]
                T.dual_copy(o, O[r : r + BR, 0:D])

    return main


def both_cores(
    depth: int, M: int = 512, N: int = 512, K: int = 2048, b: int = 32
) -> Any:
    """Three rings in L1 and three in UB, so that both cores spill."""

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "bfloat16"),
        B: T.Tensor((N, K), "bfloat16"),
        D: T.Tensor((N, K), "bfloat16"),
        X: T.Tensor((M, K), "float32"),
        Z: T.Tensor((M, K), "float32"),
        Y: T.Tensor((M, K), "float32"),
        C: T.Tensor((M, N), "float32"),
        E: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(NB) as bx:
            a = T.alloc_l1((b, b), "bfloat16")
            w = T.alloc_l1((b, b), "bfloat16")
            v = T.alloc_l1((b, b), "bfloat16")
            a0 = T.alloc_l0a((b, b), "bfloat16")
            w0 = T.alloc_l0b((b, b), "bfloat16")
            v0 = T.alloc_l0b((b, b), "bfloat16")
            acc = T.alloc_l0c((b, b), "float32")
            acc2 = T.alloc_l0c((b, b), "float32")
            x = T.alloc_shared((b // 2, b), "float32")
            z = T.alloc_shared((b // 2, b), "float32")
            y = T.alloc_shared((b // 2, b), "float32")
            T.annotate_buffer_versions(
                {
                    a: depth,
                    w: depth,
                    v: depth,
                    x: depth,
                    z: depth,
                    y: depth,
                    a0: 2,
                    w0: 2,
                    v0: 2,
                }
            )
            for t in T.serial((M // b) * (N // b) // NB):
                m = (t * NB + bx) // (N // b) * b
                n = (t * NB + bx) % (N // b) * b
                for k in T.Pipelined(K // b, num_stages=depth):
                    T.copy(A[m, k * b], a)
                    T.copy(B[n, k * b], w)
                    T.copy(a, a0)
                    T.copy(w, w0)
                    T.gemm(a0, w0, acc, transpose_B=True, clear_accum=(k == 0))
                    T.copy(D[n, k * b], v)
                    T.copy(v, v0)
                    T.gemm(a0, v0, acc2, transpose_B=True, clear_accum=(k == 0))
                    T.dual_copy(X[m : m + b, k * b : (k + 1) * b], x)
                    with T.SimtVF(threads=128):
                        for i, j in T.Parallel(b // 2, b):
                            y[i, j] = x[i, j] * T.float32(2)
                    T.dual_copy(Z[m : m + b, k * b : (k + 1) * b], z)
                    with T.SimtVF(threads=128):
                        for i, j in T.Parallel(b // 2, b):
                            y[i, j] = y[i, j] + z[i, j]
                    T.dual_copy(y, Y[m : m + b, k * b : (k + 1) * b])
                T.copy(acc, C[m, n])
                T.copy(acc2, E[m, n])

    return main


def ping_pong(depth: int, M: int = 1024, N: int = 512, b: int = 32, K: int = 32) -> Any:
    """The cube hands tiles to the vector cores, which hand them back through L1."""

    @T.prim_func
    def main(
        A: T.Tensor((M, K), "bfloat16"),
        B: T.Tensor((N, K), "bfloat16"),
        W: T.Tensor((N, N), "bfloat16"),
        C: T.Tensor((M, b), "float32"),
    ):
        with T.Kernel(NB) as bx:
            a = T.alloc_l1((b, K), "bfloat16")
            w = T.alloc_l1((b, K), "bfloat16")
            w2 = T.alloc_l1((b, b), "bfloat16")
            s_c = T.alloc_l0c((b, b), "float32")
            o_c = T.alloc_l0c((b, b), "float32")
            s = T.alloc_shared((b // 2, b), "float32")
            p = T.alloc_shared((b // 2, b), "bfloat16")
            p1 = T.alloc_l1((b, b), "bfloat16")
            T.annotate_buffer_versions({s: depth, p: depth, p1: depth})
            for t in T.Pipelined(M // b // NB, num_stages=depth):
                r = (t * NB + bx) * b
                T.copy(A[r, 0], a)
                T.copy(B[0, 0], w)
                T.gemm(a, w, s_c, transpose_B=True, clear_accum=True)
                T.dual_copy(s_c, s)
                with T.SimtVF(threads=128):
                    for i, j in T.Parallel(b // 2, b):
                        p[i, j] = T.cast(T.max(s[i, j], 0), "bfloat16")
                T.dual_copy(p, p1)
                T.copy(W[0, 0], w2)
                T.gemm(p1, w2, o_c, transpose_B=True, clear_accum=True)
                T.copy(o_c, C[r, 0])

    return main


def short_from3(depth: int, n: int = 4096, tile: int = 64) -> Any:
    """A loop from 3 to 9, shorter than the deeper rings."""

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((tile,), "float32")
            y = T.alloc_shared((tile,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            for s in T.Pipelined(3, 9, num_stages=depth):
                o = ((s - 3) * NB + bx) * tile
                T.copy(X[o : o + tile], x)
                with T.SimdVF():
                    for i in T.Parallel(tile):
                        y[i] = x[i] + T.float32(1)
                T.copy(y, Y[o : o + tile])

    return main


def late_start(depth: int) -> Any:
    """A loop from 72 to 77, which is shorter than the deeper rings and begins at a
    multiple of most depths."""

    @T.prim_func
    def main(X: T.Tensor((2048,), "float32"), Y: T.Tensor((2048,), "float32")):
        with T.Kernel(4) as bx:
            x = T.alloc_shared((64,), "float32")
            y = T.alloc_shared((64,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            for s in T.Pipelined(72, 77, num_stages=depth):
                T.copy(X[(s - 72) * 256 + bx * 64], x)
                with T.SimdVF():
                    for i in T.Parallel(64):
                        y[i] = x[i] + T.float32(1)
                T.copy(y, Y[(s - 72) * 256 + bx * 64])

    return main


def own_flags(depth: int, n: int = 131072, tile: int = 512) -> Any:
    """The source sets flag 7 itself, beside those that the compiler inserts."""

    @T.prim_func
    def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "float32")):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((tile,), "float32")
            y = T.alloc_shared((tile,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            T.ascend_set_flag("MTE2_V", 7)
            T.ascend_wait_flag("MTE2_V", 7)
            for s in T.Pipelined(n // tile // NB, num_stages=depth):
                o = (s * NB + bx) * tile
                T.copy(X[o : o + tile], x)
                with T.SimdVF():
                    for i in T.Parallel(tile):
                        y[i] = x[i] * T.float32(2)
                T.copy(y, Y[o : o + tile])

    return main


def dynamic_64(depth: int, width: int = 512) -> Any:
    """As many rows as an argument says, which is of int64."""
    m = T.dynamic("m", "int64")

    @T.prim_func
    def main(X: T.Tensor((m, width), "float32"), Y: T.Tensor((m, width), "float32")):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((width,), "float32")
            y = T.alloc_shared((width,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth})
            for r in T.Pipelined(m // NB, num_stages=depth):
                T.copy(X[r * NB + bx, 0:width], x)
                with T.SimdVF():
                    for i in T.Parallel(width):
                        y[i] = x[i] * T.float32(2)
                T.copy(y, Y[r * NB + bx, 0:width])

    return main


def fp8_cast(
    depth: int, rows: int = 1024, width: int = 768, kind: str = "float8_e5m2"
) -> Any:
    """float8 in, bfloat16 out, with a scale for each row."""

    @T.prim_func
    def main(
        X: T.Tensor((rows, width), kind),
        S: T.Tensor((rows,), "float32"),
        Y: T.Tensor((rows, width), "bfloat16"),
    ):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((width,), kind)
            s = T.alloc_shared((1,), "float32")
            y = T.alloc_shared((width,), "bfloat16")
            for r in T.Pipelined(rows // NB, num_stages=depth):
                T.copy(X[r * NB + bx, 0:width], x)
                T.copy(S[r * NB + bx : r * NB + bx + 1], s)
                with T.SimtVF(threads=128):
                    for i in T.Parallel(width):
                        y[i] = T.cast(T.cast(x[i], "float32") * s[0], "bfloat16")
                T.copy(y, Y[r * NB + bx, 0:width])

    return main


def simt_gather(depth: int, n: int = 65536, tile: int = 256, table: int = 4096) -> Any:
    """Indices of int64 pick from a table that stays in UB."""

    @T.prim_func
    def main(
        I: T.Tensor((n,), "int64"),
        L: T.Tensor((table,), "float32"),
        K: T.Tensor((n,), "bool"),
        Y: T.Tensor((n,), "float32"),
    ):
        with T.Kernel(NB) as bx:
            lut = T.alloc_shared((table,), "float32")
            ix = T.alloc_shared((tile,), "int64")
            keep = T.alloc_shared((tile,), "bool")
            y = T.alloc_shared((tile,), "float32")
            T.copy(L[0:table], lut)
            for s in T.Pipelined(n // tile // NB, num_stages=depth):
                o = (s * NB + bx) * tile
                T.copy(I[o : o + tile], ix)
                T.copy(K[o : o + tile], keep)
                with T.SimtVF(threads=128):
                    for i in T.Parallel(tile):
                        y[i] = T.if_then_else(keep[i], lut[ix[i]], T.float32(0))
                T.copy(y, Y[o : o + tile])

    return main


def three_phases(depth: int, rows: int = 128, n: int = 8192, tile: int = 2048) -> Any:
    """Three loops, one after the other, whose buffers share their addresses."""

    @T.prim_func
    def main(
        X: T.Tensor((rows, n), "float32"),
        Y: T.Tensor((rows, n), "float32"),
        Z: T.Tensor((rows, n), "float32"),
    ):
        with T.Kernel(NB) as bx:
            a = T.alloc_shared((tile,), "float32")
            b = T.alloc_shared((tile,), "float32")
            c = T.alloc_shared((tile,), "float16")
            d = T.alloc_shared((tile,), "float32")
            e = T.alloc_shared((tile // 2,), "float32")
            f = T.alloc_shared((tile // 2,), "float32")
            T.annotate_buffer_versions(
                {a: depth, b: depth, c: 1, d: depth, e: depth, f: depth}
            )
            for r in T.serial(rows // NB):
                for k in T.Pipelined(n // tile, num_stages=depth):
                    T.copy(X[r * NB + bx, k * tile : (k + 1) * tile], a)
                    with T.SimdVF():
                        for i in T.Parallel(tile):
                            b[i] = a[i] + T.float32(1)
                    T.copy(b, Y[r * NB + bx, k * tile : (k + 1) * tile])
                for k in T.Pipelined(n // tile, num_stages=depth):
                    T.copy(Y[r * NB + bx, k * tile : (k + 1) * tile], d)
                    with T.SimdVF():
                        for i in T.Parallel(tile):
                            d[i] = d[i] * T.float32(2)
                    T.copy(d, Z[r * NB + bx, k * tile : (k + 1) * tile])
                for k in T.Pipelined(n // tile * 2, num_stages=depth):
                    T.copy(Z[r * NB + bx, k * tile // 2 : (k + 1) * tile // 2], e)
                    with T.SimdVF():
                        for i in T.Parallel(tile // 2):
                            f[i] = e[i] * e[i]
                    T.copy(f, X[r * NB + bx, k * tile // 2 : (k + 1) * tile // 2])

    return main


def reduce_scratch(depth: int, rows: int = 4096, width: int = 1024) -> Any:
    """Two reducers, whose scratch memory no text shows."""

    @T.prim_func
    def main(
        X: T.Tensor((rows, width), "float32"),
        S: T.Tensor((rows,), "float32"),
        M: T.Tensor((rows,), "float32"),
    ):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((width,), "float32")
            s = T.alloc_shared((8,), "float32")
            m = T.alloc_shared((8,), "float32")
            T.annotate_buffer_versions({x: depth, s: depth, m: depth})
            for r in T.Pipelined(rows // NB, num_stages=depth):
                T.copy(X[r * NB + bx, 0:width], x)
                with T.SimtVF(threads=128):
                    total = T.alloc_reducer(
                        (1,), "float32", op="sum", replication="all"
                    )
                    most = T.alloc_reducer((1,), "float32", op="max", replication="all")
                    T.clear(total)
                    T.fill(most, -T.infinity("float32"))
                    for i in T.Parallel(width):
                        total[0] += x[i]
                        most[0] = T.max(most[0], x[i])
                    T.finalize_reducer(total)
                    T.finalize_reducer(most)
                    s[0] = total[0]
                    m[0] = most[0]
                T.copy(s[0:1], S[r * NB + bx : r * NB + bx + 1])
                T.copy(m[0:1], M[r * NB + bx : r * NB + bx + 1])

    return main


def ub_partly(depth: int, n: int = 786432, tile: int = 4096) -> Any:
    """Versions for one buffer only: the scheduler then checks the memory of UB."""

    @T.prim_func
    def main(
        X: T.Tensor((n,), "float32"),
        Z: T.Tensor((n,), "float32"),
        Y: T.Tensor((n,), "float32"),
    ):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((tile,), "float32")
            z = T.alloc_shared((tile,), "float32")
            y = T.alloc_shared((tile,), "float32")
            T.annotate_buffer_versions({x: 2 * depth})
            for s in T.Pipelined(n // tile // NB, num_stages=depth):
                o = (s * NB + bx) * tile
                T.copy(X[o : o + tile], x)
                T.copy(Z[o : o + tile], z)
                with T.SimdVF():
                    for i in T.Parallel(tile):
                        y[i] = x[i] * z[i]
                T.copy(y, Y[o : o + tile])

    return main


def two_launches(depth: int, n: int = 131072, tile: int = 512) -> Any:
    """Two launches in one function, with different buffers."""

    @T.prim_func
    def main(
        X: T.Tensor((n,), "float32"),
        Y: T.Tensor((n,), "float32"),
        Z: T.Tensor((n,), "float32"),
    ):
        with T.Kernel(NB) as bx:
            x = T.alloc_shared((tile,), "float32")
            y = T.alloc_shared((tile,), "float32")
            z = T.alloc_shared((tile,), "float32")
            T.annotate_buffer_versions({x: depth, y: depth, z: depth})
            for s in T.Pipelined(n // tile // NB, num_stages=depth):
                o = (s * NB + bx) * tile
                T.copy(X[o : o + tile], x)
                with T.SimdVF():
                    for i in T.Parallel(tile):
                        z[i] = x[i] + T.float32(1)
                T.copy(Y[o : o + tile], y)
                with T.SimdVF():
                    for i in T.Parallel(tile):
                        z[i] = z[i] * y[i]
                T.copy(z, Z[o : o + tile])
        with T.Kernel(NB) as by:
            p = T.alloc_shared((8192,), "float32")
            q = T.alloc_shared((8192,), "float32")
            T.annotate_buffer_versions({p: 3, q: 3})
            for s in T.Pipelined(n // 8192 // NB, num_stages=depth):
                o = (s * NB + by) * 8192
                T.copy(Z[o : o + 8192], p)
                with T.SimdVF():
                    for i in T.Parallel(8192):
                        q[i] = p[i] * T.float32(2)
                T.copy(q, Y[o : o + 8192])

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
    flash_fwd,
    both_cores,
    ping_pong,
    short_from3,
    late_start,
    own_flags,
    dynamic_64,
    fp8_cast,
    simt_gather,
    three_phases,
    reduce_scratch,
    ub_partly,
    two_launches,
]
