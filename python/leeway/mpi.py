# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that lie on many ranks of MPI, written into one stream and read back, with mpi4py.

    from mpi4py import MPI
    import leeway.mpi
    leeway.mpi.write(MPI.COMM_WORLD, "t.lwy", block, first=(i, j, k), shape=(nz, ny, nx), abs=1e-3)
    part = leeway.mpi.read(MPI.COMM_WORLD, "t.lwy", first=(i, j, k), shape=(n, m, l))

All ranks of the communicator call each function, and all get the same result or the same error. The file is an ordinary stream,
byte for byte what leeway.compress() makes of the whole array with the same chunks.

    leeway.mpi.append(comm, "run.lwy", block, first=(0, j, k), shape=(1, ny, nx), abs=1e-3)     # after every step
"""
from __future__ import annotations

import dataclasses
import os
import types
from typing import Any, Callable, Iterable, Sequence

import numpy as np

import leeway
from leeway import _native
from leeway._arrays import as_array, bfloat16, fill_values, split_fills

__all__ = ["Report", "append", "read", "write"]

_PIECE = 1 << 30  # counts of MPI are ints


class _Team:
    """What the native code needs of MPI, on a communicator of its own: no message of leeway's can meet one of the caller's."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI
        self._mpi = MPI
        self._comm = comm.Dup()
        self.rank, self.size = self._comm.rank, self._comm.size
        node = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
        is_first = int(node.rank == 0)
        node.Free()
        self.nodes = self._comm.allreduce(is_first)
        self.node = self._comm.scan(is_first) - 1

    def __enter__(self) -> "_Team":
        return self

    def __exit__(self, *_: Any) -> None:
        self._comm.Free()

    @staticmethod
    def _pieces(data: memoryview) -> list[memoryview]:
        return [data[at:at + _PIECE] for at in range(0, len(data), _PIECE)] or [data]

    def bcast(self, data: memoryview, root: int) -> None:
        for piece in self._pieces(data):
            self._comm.Bcast([piece, self._mpi.BYTE], root)

    def allgatherv(self, mine: memoryview, everything: memoryview, counts: list[int]) -> None:
        if sum(counts) < _PIECE:
            self._comm.Allgatherv([mine, self._mpi.BYTE], [everything, (counts, None), self._mpi.BYTE])
            return
        for rank, at in enumerate(np.cumsum([0, *counts[:-1]]).tolist()):
            part = everything[at:at + counts[rank]]
            if rank == self.rank:
                part[:] = mine
            self.bcast(part, rank)

    def reduce(self, values: memoryview, operation: int) -> None:
        op = (self._mpi.SUM, self._mpi.MIN, self._mpi.MAX)[operation]
        # Minima and maxima are found of signed numbers, turned to the other end of their line: MPICH 4.0 compares UINT64_T with a sign.
        turn = np.uint64(1 << 63 if operation else 0)
        numbers = np.frombuffer(values, np.uint64)
        numbers ^= turn
        for piece in self._pieces(values):
            self._comm.Allreduce(self._mpi.IN_PLACE, [piece, self._mpi.INT64_T], op)
        numbers ^= turn

    def isend(self, data: memoryview, to: int) -> list[Any]:
        return [self._comm.Isend([piece, self._mpi.BYTE], to) for piece in self._pieces(data)]

    def irecv(self, data: memoryview, source: int) -> list[Any]:
        return [self._comm.Irecv([piece, self._mpi.BYTE], source) for piece in self._pieces(data)]

    def test(self, requests: list[Any]) -> bool:
        return bool(self._mpi.Request.Testall(requests))

    def wait(self, requests: list[Any]) -> None:
        self._mpi.Request.Waitall(requests)

    def described(self, path: str) -> tuple[str, tuple[int, ...]]:
        """Type and shape of the array in a file, which one rank reads for all."""
        found: Any = None
        if self.rank == 0:
            try:
                opened = leeway._open(path)
                found = opened.dtype, opened.shape
            except (OSError, ValueError, NotImplementedError) as error:
                found = error
        found = self._comm.bcast(found)
        if isinstance(found, Exception):
            raise found
        return found


@dataclasses.dataclass(frozen=True)
class Report:
    """What write() did; the same on all ranks but for the seconds."""

    input_bytes: int
    output_bytes: int
    asked_bytes: int  #: by ratio or rate; 0: none
    abs_bound: float  #: in force; 0: no loss
    max_error: float
    special_values: int
    extent: int  #: of the array along its first axis, now
    chunks: int
    least_chunks: int  #: of the rank with fewest
    most_chunks: int
    sent_raw: int  #: bytes of values that went to another rank
    sent_compressed: int  #: bytes of frames that went to a writer
    chunk: tuple[int, ...]
    seconds: tuple[float, ...]  #: arranging, compressing, writing, committing


def _together(comm: Any, prepare: Callable[[_Team], tuple[Any, ...]], call: Callable[..., Any]) -> Any:
    """call(team, *prepare(team)); if preparing fails on a rank, it fails on all."""
    with _Team(comm) as team:
        try:
            arguments = prepare(team)
        except Exception as error:
            try:
                _native.team_fail(team, str(error))
            except ValueError:
                raise error from None
        return call(team, *arguments)


def _blocks(block: Any, first: Any, axes: int) -> tuple[list[Any], list[list[int]]]:
    """One block and its first index, or lists of both."""
    if block is None:
        return [], []
    blocks, firsts = (list(block), list(first)) if isinstance(block, (list, tuple)) else ([block], [first])
    if len(blocks) != len(firsts):
        raise ValueError(f"there are {len(blocks)} blocks, but {len(firsts)} first indices")
    result = [[int(index) for index in one] for one in firsts]
    if any(len(one) != axes for one in result):
        raise ValueError(f"first= has an index for each of the {axes} axes of the array")
    return blocks, result


def write(
    comm: Any,
    path: str | os.PathLike,
    block: Any,
    *,
    first: Any,
    shape: Sequence[int],
    dtype: Any = None,
    abs: float | None = None,
    rel: float | None = None,
    psnr: float | None = None,
    l2: float | None = None,
    lossless: bool = False,
    ratio: float | None = None,
    rate: float | None = None,
    pointwise: float | None = None,
    recipe: str = "balanced",
    fill: float | Iterable[float] | None = (),
    detect_fills: bool = True,
    chunk: Sequence[int] | None = None,
    region_bounds: Iterable[tuple[Any, float]] = (),
    threads: int = 1,
    exclusive: bool = False,
    durable: bool = True,
    check: bool = False,
    writers: int = 0,
    streamed: bool | int = False,
    progress: Callable[[float], Any] | None = None,
) -> Report:
    """Writes an array of which every rank has a part into the file `path`. All ranks call it with the same settings.

    block      this rank's part, of any layout (t[2:-2, 2:-2] leaves ghost zones out); a list of several; None: this rank has nothing
    first      where it begins in the whole array: an index for each axis; a list of such, for a list of blocks
    shape      of the whole array
    dtype      its type; needed only on ranks without a block, if other ranks have something else than f32

    Bounds, recipe, fill, chunk and the rest are those of leeway.compress(), and refer to the whole array. Without chunk=, chunks follow
    the blocks if these are regular, so that no value has to travel.

    threads    of each rank
    exclusive  refuse to replace a file
    durable    whether to wait until the disk has it
    check      read back all that was written, not only the ends of it
    writers    how many ranks write; 0: as suits the machines
    streamed   write while compressing, in rounds of so many bytes of the array on each rank (True: 64 MiB): less memory, and writing costs
               no time of its own where compressing takes longer. Frames then lie in the order in which they were made.

    The file appears under its name when it is whole; until then the name leads to what it led to before.
    """
    prepare = _arguments(path, block, first, shape, dtype, leeway._limits(abs, rel, psnr, l2, lossless, ratio, rate, pointwise), recipe, fill,
                         detect_fills, chunk, region_bounds, threads, exclusive, durable, check, writers, int(streamed), False, progress)
    return Report(**_together(comm, prepare, _native.team_write))


def append(
    comm: Any,
    path: str | os.PathLike,
    block: Any,
    *,
    first: Any,
    shape: Sequence[int],
    dtype: Any = None,
    abs: float | None = None,
    rel: float | None = None,
    lossless: bool = False,
    pointwise: float | None = None,
    recipe: str = "balanced",
    fill: float | Iterable[float] | None = (),
    detect_fills: bool = True,
    chunk: Sequence[int] | None = None,
    threads: int = 1,
    durable: bool = True,
    check: bool = False,
    writers: int = 0,
    progress: Callable[[float], Any] | None = None,
) -> Report:
    """Puts rows behind the array in a growing stream's file, along the first axis; makes the file if there is none. A step of a simulation
    is one row, or some. All ranks call it with the same settings.

    block, first, shape  as for write(), of the rows that are appended now: shape=(1, ny, nx), and first=(0, j, k)

    Bound, recipe, fill and chunk count for the first rows; later ones follow them. A bound relative to the range is that of the first rows.
    Rows are compressed in chunks: chunk[0] of them together. Appends of a multiple of chunk[0] make the smallest streams; without chunk=,
    it is at most what the first append has.

    The other arguments are those of write(). Whoever reads the file finds the rows of the last call that returned, also while the next
    one is under way, and after a run was killed.
    """
    prepare = _arguments(path, block, first, shape, dtype, leeway._limits(abs, rel, None, None, lossless, None, None, pointwise), recipe, fill,
                         detect_fills, chunk, (), threads, False, durable, check, writers, 0, True, progress)
    return Report(**_together(comm, prepare, _native.team_write))


def _arguments(path: Any, block: Any, first: Any, shape: Sequence[int], dtype: Any, limits: list[tuple[str, float]], recipe: str, fill: Any,
               detect_fills: bool, chunk: Any, region_bounds: Iterable[tuple[Any, float]], threads: int, exclusive: bool, durable: bool,
               check: bool, writers: int, streamed: int, appends: bool, progress: Any) -> Callable[[Any], tuple[Any, ...]]:
    """What makes the arguments of _native.team_write() of those of write() and append()."""
    def prepare(_: Any) -> tuple[Any, ...]:
        blocks, firsts = _blocks(block, first, len(shape))
        arrays = [as_array(one) for one in blocks]
        names = {as_type or {"f": "f", "i": "i", "u": "u"}[values.dtype.kind] + str(8 * values.dtype.itemsize) for values, as_type in arrays}
        if dtype is not None or not names:
            wanted, as_type = as_array(np.empty(0, bfloat16() if dtype == "bfloat16" else np.float32 if dtype is None else dtype))
            names.add(as_type or wanted.dtype.kind + str(8 * wanted.dtype.itemsize))
        if len(names) != 1:
            raise ValueError(f"the blocks have different types: {', '.join(sorted(names))}")
        sample, as_type = arrays[0] if arrays else (np.empty(0, np.float32), "")
        fills, bits = split_fills(sample, as_type, fill_values(blocks[0] if blocks else None, fill))
        return (os.fspath(path), [values for values, _ in arrays], firsts, names.pop(), [int(n) for n in shape],
                limits, recipe, fills, bits, detect_fills,
                [] if chunk is None else leeway._chunk(chunk),
                [(*leeway._box(region, shape), float(bound)) for region, bound in region_bounds], threads, exclusive, durable, check, writers,
                streamed, appends, progress)

    return prepare


def read(comm: Any, path: str | os.PathLike, *, first: Sequence[int] | None = None, shape: Sequence[int] | None = None,
         out: np.ndarray | None = None, threads: int = 1, salvage: bool = False) -> np.ndarray:
    """The part of the array in the file that begins at `first` and has this shape; parts of different ranks may overlap, and have nothing
    to do with those that it was written from. Without first= and shape=, the whole array. All ranks call it; one that wants nothing
    gives a shape with a 0 in it.

    out        an array to be filled and returned; then shape= is not needed
    salvage    leave out damaged chunks, whose values become NaN or 0, instead of failing
    """
    def prepare(team: _Team) -> tuple[Any, ...]:
        if salvage:
            if out is None:
                raise ValueError("salvage=True needs out=: what is damaged may not say what it holds")
            is_bfloat16 = out.dtype.name == "bfloat16"
            return [out.view(np.uint16) if is_bfloat16 else out], out, "bf16" if is_bfloat16 else ""
        dtype, whole = team.described(os.fspath(path))
        extents = [int(n) for n in (out.shape if out is not None else whole if shape is None else shape)]
        result, target, as_type = leeway._result(types.SimpleNamespace(dtype=dtype), extents, out)
        return [target], result, as_type

    def call(team: _Team, targets: list[np.ndarray], result: np.ndarray, as_type: str) -> np.ndarray:
        begin = [0] * result.ndim if first is None else [int(index) for index in first]
        _native.team_read(team, os.fspath(path), targets, [begin], as_type, threads, salvage)
        return result

    return _together(comm, prepare, call)
