# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of a GPU, compressed and decompressed there: the same streams as leeway.compress() makes.

>>> import numpy as np, leeway.gpu
>>> field = np.sin(np.linspace(0, 60, 100 * 200, dtype="f4")).reshape(100, 200)
>>> made = leeway.gpu.compress(field, abs=1e-3, device="emulator")  # without a GPU: its kernels, on the processor
>>> made.tobytes() == leeway.compress(field, abs=1e-3, recipe="cuszp2-outlier", detect_fills=False)
True
>>> bool(np.abs(leeway.gpu.decompress(made).numpy() - field).max() <= 1e-3)
True

Arrays are those of CuPy, PyTorch, JAX, Numba and others: whatever has __dlpack__ or __cuda_array_interface__. Work is put into the
stream of work that `stream` names (None or 1: the default stream; 2: the default stream of the thread; or a cudaStream_t as an
integer) behind what the array's owner has put into his, and nothing waits until somebody asks for the size of a stream, for its bytes,
or for values in the memory of the host.
"""
from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

import leeway

from . import _native
from ._arrays import numbers
from ._selection import Selection

__all__ = ["Array", "Report", "Stream", "compress", "decompress", "open"]

_CUDA, _CUDA_MANAGED = 2, 13  # kinds of memory in DLPack
_gpus: dict[str, _native.Gpu] = {}


def open(device: int | str) -> _native.Gpu:
    """A GPU by its number, or "emulator": its kernels run on the processor, in the memory of the host, slowly. A NotImplementedError says
    what is missing."""
    name = str(device)
    if name not in _gpus:
        _gpus[name] = _native.Gpu(name)
    return _gpus[name]


def _queue(stream: Any) -> int:
    """A stream of work as the array API names it, or an object of CuPy or PyTorch."""
    if stream is None:
        return 0
    for attribute in ("ptr", "cuda_stream", "handle"):
        stream = getattr(stream, attribute, stream)
    return int(getattr(stream, "value", stream))


class _Source:
    """Somebody's array: where it is, and on which device. `owner` keeps it."""

    def __init__(self, array: Any, device: Any, stream: Any):
        self.queue = _queue(stream)
        if isinstance(array, np.ndarray) and device is not None:
            self.gpu = open(device)
            if self.gpu.number >= 0:
                raise TypeError("a NumPy array is in the memory of the host: give one in that of the GPU, or device=\"emulator\"")
            described = _native.gpu_describe(array)
            self.owner: Any = array
        elif hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            kind, number = array.__dlpack_device__()
            if kind not in (_CUDA, _CUDA_MANAGED) and str(device) != "emulator":
                raise TypeError("the array is not in the memory of a GPU; leeway.compress() takes it, or device=\"emulator\"")
            self.gpu = open(number if device is None else device)
            on_host = self.gpu.number < 0
            # Its owner has his work done before ours.
            described = _native.gpu_describe(array.__dlpack__() if on_host else array.__dlpack__(stream=self.queue or 1))
            self.owner = array
        elif hasattr(array, "__cuda_array_interface__"):
            described = self._of_interface(array, device)
        else:
            raise TypeError(f"{type(array).__name__} has neither __dlpack__ nor __cuda_array_interface__")
        self.place, self.dtype, shape, strides = described[:4]
        self.shape: tuple[int, ...] = tuple(shape)
        self.strides: tuple[int, ...] = tuple(strides)
        self.nbytes = int(np.prod(self.shape, dtype=np.int64)) * int(self.dtype[1:])
        if not isinstance(array, np.ndarray) and self.gpu.number >= 0 and self.nbytes and self.gpu.locate(self.place) != self.gpu.number:
            raise ValueError(f"the array is in the memory of another device than {self.gpu.name}")

    def _of_interface(self, array: Any, device: Any) -> tuple[Any, ...]:
        facts = array.__cuda_array_interface__
        if facts.get("mask") is not None:
            raise TypeError("arrays with masks are not for a GPU: give fill values instead")
        dtype, shape = np.dtype(facts["typestr"]), tuple(facts["shape"])
        place = facts["data"][0] or 0
        strides = facts.get("strides") or np.empty(0, dtype).itemsize * np.cumprod((1,) + shape[:0:-1])[::-1]
        self.gpu = open(max(0, open(0).locate(place)) if device is None else device)
        self.owner = array
        before = facts.get("stream")
        if before is not None and _queue(before) != self.queue:
            self.gpu.order(_queue(before), self.queue)
        kind = dtype.kind if dtype.isnative else "x"
        return place, f"{kind}{dtype.itemsize}", shape, tuple(int(step) for step in strides)

    @property
    def is_contiguous(self) -> bool:
        wanted = int(self.dtype[1:])
        for extent, stride in zip(self.shape[::-1], self.strides[::-1]):
            if extent > 1 and stride != wanted:
                return False
            wanted *= extent
        return True


class _Held:
    """Memory of a device that looks like an array to others."""

    _memory: _native.GpuMemory
    _gpu: _native.Gpu
    _queue: int
    _dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def _array(self) -> Any:
        return _native.GpuMemory.array(self._memory, self._dtype, list(self.shape))

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        if self._gpu.number >= 0 and stream != -1 and _queue(stream) != self._queue:
            self._gpu.order(self._queue, _queue(stream))
        return self._array().__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array().__dlpack_device__()

    def __getattr__(self, name: str) -> Any:
        # Only memory of a GPU has it.
        if name != "__cuda_array_interface__" or self._gpu.number < 0:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return {"shape": self.shape, "typestr": "|u1" if self._dtype == "u1" else f"<{self._dtype}", "data": (self._memory.place, False),
                "version": 3, "strides": None, "stream": self._queue or 1}


class Report(dict):  # type: ignore[type-arg]
    """What the device says when it is done: bytes, abs_bound, max_error, special_values, exact_values, stored_chunks."""


class Stream(_Held):
    """A stream in the memory of a device. `nbytes`, `shape`, `report()` and `tobytes()` wait for it, and raise what has gone wrong."""

    def __init__(self, gpu: _native.Gpu, plan: _native.GpuPlan, memory: _native.GpuMemory, made: _native.GpuMemory, keeps: Any, queue: int):
        self._gpu, self._plan, self._memory, self._made, self._queue = gpu, plan, memory, made, queue
        self._keeps = keeps  # until it is done
        self._dtype = "u1"
        self._report: Report | None = None

    def report(self) -> Report:
        """What the device says of it."""
        if self._report is None:
            self._report = Report(_native.gpu_report(np.frombuffer(self._made.to_host(_native.GPU_REPORT_BYTES, self._queue), np.uint8)))
            self._keeps = None
        return self._report

    @property
    def nbytes(self) -> int:
        """The size of the stream."""
        return int(self.report()["bytes"])

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array of bytes."""
        return (self.nbytes,)

    def tobytes(self) -> bytes:
        """In the memory of the host, as leeway.decompress() and all others take it."""
        return self._memory.to_host(self.nbytes, self._queue)

    def compact(self) -> Stream:
        """The same in memory of its own size: until then it has as much as the worst case takes. Waits."""
        memory = _native.GpuMemory(self._gpu, self.nbytes, self._queue)
        memory.copy_from(self._memory.place, self.nbytes, self._queue)
        made = Stream(self._gpu, self._plan, memory, self._made, self._memory, self._queue)
        made._report = self._report
        return made


class Array(_Held):
    """Decoded values in the memory of a device. `check()` and `numpy()` wait, and raise if the stream was damaged: until then nobody
    knows."""

    def __init__(self, gpu: _native.Gpu, dtype: str, shape: Sequence[int], memory: _native.GpuMemory, read: _native.GpuMemory | None,
                 keeps: Any, queue: int):
        self._gpu, self._dtype, self._shape, self._memory, self._read, self._queue = gpu, dtype, tuple(shape), memory, read, queue
        self._keeps = keeps

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, slowest axis first."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return np.dtype(self._dtype)

    def check(self) -> Array:
        """Waits, and raises what is wrong with the stream; returns the array itself."""
        if self._read is not None:
            _native.gpu_report(np.frombuffer(self._read.to_host(_native.GPU_REPORT_BYTES, self._queue), np.uint8))
        self._read = self._keeps = None
        return self

    def numpy(self) -> np.ndarray:
        """The values in the memory of the host, checked."""
        self.check()
        values = self._memory.to_host(int(np.prod(self._shape, dtype=np.int64)) * self.dtype.itemsize, self._queue)
        return np.frombuffer(values, self.dtype).reshape(self._shape)


def compress(array: Any, *, abs: float | None = None, rel: float | None = None, recipe: str = "cuszp2-outlier",
             fill: float | Iterable[float] | None = (), chunk: Sequence[int] = (), stream: Any = None, out: Any = None,
             device: int | str | None = None) -> Stream:
    """Compresses f32 or f64 values on the device whose memory they are in: one kernel, one more for rel=.

    abs, rel, fill, chunk  as for leeway.compress(); fill values are not detected
    recipe                 "cuszp2-outlier", "cuszp2-plain" or "ceresz"
    stream                 the stream of work, as the array API names it
    out                    an array of uint8 on the device for the stream, aligned to 16 bytes; a ValueError of Stream.nbytes says if it was
                           too small
    device                 only to try it without a GPU: "emulator"
    """
    source = _Source(array, device, stream)
    limits = [(kind, float(value)) for kind, value in (("abs", abs), ("rel", rel)) if value is not None]
    if not limits:
        raise ValueError("a bound is needed: abs= or rel=")
    plan = _native.GpuPlan(source.gpu, source.dtype, source.shape, source.strides, limits, recipe,
                           [float(value) for value in numbers(fill)], [], [int(extent) for extent in chunk])
    queue = source.queue
    target = None if out is None else _Source(out, device, stream)
    if target is not None and (target.dtype != "u1" or not target.is_contiguous):
        raise TypeError("out= is for a contiguous array of uint8")
    memory = _native.GpuMemory(source.gpu, plan.most if target is None else 16, queue)
    made = _native.GpuMemory(source.gpu, _native.GPU_REPORT_BYTES, queue)
    workspace = _native.GpuMemory(source.gpu, plan.workspace, queue)
    place, capacity = (memory.place, memory.nbytes) if target is None else (target.place, target.nbytes)
    plan.compress(source.place, place, capacity, made.place, workspace.place, queue)
    if target is None:
        return Stream(source.gpu, plan, memory, made, (source.owner, workspace), queue)
    return _Borrowed(source.gpu, plan, target, made, (source.owner, workspace), queue)


class _Borrowed(Stream):
    """A stream in memory that the caller has given."""

    def __init__(self, gpu: _native.Gpu, plan: _native.GpuPlan, target: _Source, made: _native.GpuMemory, keeps: Any, queue: int):
        super().__init__(gpu, plan, made, made, keeps, queue)
        self._target = target

    def _own(self) -> Stream:
        memory = _native.GpuMemory(self._gpu, self.nbytes, self._queue)
        memory.copy_from(self._target.place, self.nbytes, self._queue)
        return Stream(self._gpu, self._plan, memory, self._made, self._target.owner, self._queue)

    def tobytes(self) -> bytes:
        return self._own().tobytes()

    def compact(self) -> Stream:
        return self._own()

    def _array(self) -> Any:
        return self._own()._array()


def _on_device(stream: Any, gpu: _native.Gpu, queue: int) -> tuple[_native.GpuMemory, int]:
    data = np.frombuffer(stream, np.uint8)
    memory = _native.GpuMemory(gpu, len(data), queue)
    memory.from_host(data, queue)
    return memory, len(data)


def _decoded_by_host(data: Any, region: Any, gpu: _native.Gpu, queue: int) -> Array:
    values = np.ascontiguousarray(leeway.decompress(data) if region is None else leeway.region(data, region))
    memory = _native.GpuMemory(gpu, values.nbytes, queue)
    memory.from_host(values.view(np.uint8).reshape(-1), queue)
    return Array(gpu, values.dtype.str[1:], values.shape, memory, None, None, queue)


def decompress(compressed: Any, *, region: Any = None, stream: Any = None, device: int | str | None = None) -> Array:
    """The values of a stream, in the memory of the device.

    compressed  what compress() has returned, which need not be done; an array of uint8 on a device; or bytes in the memory of the host,
                for the device `device` (0 if not given). To see what is in an array of uint8 its first bytes are waited for.
    region      indices and slices of step 1, like np.s_[10:20, 5]: only the chunks that it touches are read
    stream      the stream of work, as the array API names it

    Streams of recipes that a GPU does not have are decoded by the host, which waits.
    """
    if isinstance(compressed, Stream):
        gpu, plan, queue = compressed._gpu, compressed._plan, _queue(compressed._queue if stream is None else stream)
        if queue != compressed._queue:
            gpu.order(compressed._queue, queue)
        borrowed = isinstance(compressed, _Borrowed)
        place, size = (compressed._target.place if borrowed else compressed._memory.place), 0
        made = compressed._made.place
        keeps: Any = (compressed, compressed._memory)
    else:
        made = 0
        if isinstance(compressed, (bytes, bytearray, memoryview)) or isinstance(compressed, np.ndarray):
            gpu, queue = open(0 if device is None else device), _queue(stream)
            try:
                plan = _native.GpuPlan(gpu, np.frombuffer(compressed, np.uint8)[:65536])
            except NotImplementedError:
                return _decoded_by_host(compressed, region, gpu, queue)
            keeps, size = _on_device(compressed, gpu, queue)
            place = keeps.place
        else:
            source = _Source(compressed, device, stream)
            if source.dtype != "u1" or not source.is_contiguous:
                raise TypeError("a stream on a device is a contiguous array of uint8")
            gpu, queue, place, size, keeps = source.gpu, source.queue, source.place, source.nbytes, source.owner
            begin = _native.GpuMemory(gpu, min(size, 65536), queue)
            begin.copy_from(place, size, queue)
            plan = _native.GpuPlan(gpu, np.frombuffer(begin.to_host(size, queue), np.uint8))
    selection = Selection(() if region is None else region, plan.shape)
    if any(isinstance(part, slice) and part.step not in (None, 1) for part in (region if isinstance(region, tuple) else (region,))):
        raise ValueError("a region on a device has slices of step 1")
    extents, itemsize = list(selection.extents), int(plan.dtype[1:])
    strides = [int(np.prod(extents[axis + 1:], dtype=np.int64)) * itemsize for axis in range(len(extents))]
    values = _native.GpuMemory(gpu, int(np.prod(extents, dtype=np.int64)) * itemsize, queue)
    read = _native.GpuMemory(gpu, _native.GPU_REPORT_BYTES, queue)
    workspace = _native.GpuMemory(gpu, plan.workspace, queue)
    plan.decompress(place, size, made, selection.first, extents, strides, values.place, read.place, workspace.place, queue)
    return Array(gpu, plan.dtype, selection.shape, values, read, (keeps, workspace), queue)
