# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that grow in their file, and arrays put together of parts."""
from __future__ import annotations

import os
from typing import Any, Iterable, Sequence

import leeway
from leeway import _native
from leeway._arrays import as_array, default_threads, fill_values, split_fills


class _Alone:
    """A team of one rank, which sends nothing."""

    rank, size, node, nodes = 0, 1, 0, 1

    def bcast(self, data: memoryview, root: int) -> None:
        """Everybody has it already."""

    def allgatherv(self, mine: memoryview, everything: memoryview, counts: list[int]) -> None:
        """Everybody's bytes are these."""
        everything[:] = mine

    def reduce(self, values: memoryview, operation: int) -> None:
        """The result is what the only rank has."""


def append(
    path: str | os.PathLike,
    rows: Any,
    *,
    abs: float | None = None,
    rel: float | None = None,
    lossless: bool = False,
    pointwise: float | None = None,
    recipe: str = "balanced",
    fill: float | Iterable[float] | None = (),
    detect_fills: bool = True,
    chunk: Sequence[int] = (),
    threads: int | None = None,
    durable: bool = True,
) -> int:
    """Puts rows behind the array in a growing stream's file, along the first axis, and returns how many it has then; makes the file if there
    is none. `rows` is an array like the first one, of any extent along that axis: one step is t[np.newaxis].

    Bound, recipe, fill and chunk count for the first rows, and may be left out later. A bound relative to the range is that of the first
    rows. Rows are compressed in chunks, chunk[0] of them together: appends of a multiple of chunk[0] make the smallest streams. Without
    chunk=, it is at most what the first append has.

    Whoever reads the file finds the rows of the last call that returned, also while the next one is under way, and after a run was
    killed. durable=False does not wait for the disk.
    """
    values, as_type = as_array(rows)
    fills, bits = split_fills(values, as_type, fill_values(rows, fill))
    if os.path.exists(path) and abs is rel is pointwise is None and not lossless:
        limits = [("lossless", 0.0)]  # not looked at: the file says it
    else:
        limits = leeway._limits(abs, rel, None, None, lossless, None, None, pointwise)
    report = _native.team_write(
        _Alone(), os.fspath(path), [values], [[0] * values.ndim], as_type or values.dtype.kind + str(8 * values.dtype.itemsize),
        list(values.shape), limits, recipe, fills, bits, detect_fills, leeway._chunk(chunk), [], threads or default_threads(), False, durable,
        False, 0, 0, True, None)
    return int(report["extent"])


def join(parts: Sequence[str | os.PathLike], path: str | os.PathLike, *, axis: int = 0) -> None:
    """Makes one stream, in the file `path`, of streams in files whose arrays follow each other along an axis: those of a file-per-process
    run, of a job array, of tasks. Nothing is decoded. They have the same type, chunks and recipe, and all but the last end where a chunk
    ends. The file appears when it is whole."""
    temporary = f"{os.fspath(path)}.part-{os.getpid()}"
    try:
        with open(temporary, "xb") as out:
            _native.join([os.fspath(part) for part in parts], axis, lambda piece: out.write(piece))
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
