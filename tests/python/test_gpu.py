# SPDX-License-Identifier: BSD-3-Clause
"""leeway.gpu on the emulator, and on a CUDA that is none (tests/gpu/fake_cuda)."""
import doctest
import os
import pathlib
import subprocess
import sys

import leeway
import leeway.gpu
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE = pathlib.Path(os.environ.get("LEEWAY_BUILD", ROOT / "build")) / "fake_gpu"


def field(shape=(40, 100), dtype="f4"):
    values = np.sin(np.arange(np.prod(shape), dtype="f8") * 0.01).reshape(shape).astype(dtype)
    values.flat[::97] = np.nan
    return values


def on_host(values, **options):
    return leeway.compress(values, recipe="cuszp2-outlier", detect_fills=False, **options)


def test_the_docstrings_tell_the_truth():
    assert doctest.testmod(leeway.gpu).failed == 0


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("bound", [{"abs": 1e-3}, {"rel": 1e-4}, {"abs": 0.1, "rel": 1e-2}])
def test_streams_and_values_are_those_of_the_host(dtype, bound):
    values = field(dtype=dtype)
    values[3] = -9999
    made = leeway.gpu.compress(values, **bound, fill=-9999, chunk=(7, 100), device="emulator")
    expected = on_host(values, **bound, fill=-9999, chunk=(7, 100))
    assert made.tobytes() == expected and made.nbytes == len(expected) and made.shape == (len(expected),)
    report = made.report()
    info = leeway.inspect(expected)
    assert report["max_error"] == info.max_error and report["special_values"] == info.special_values
    right = leeway.decompress(expected)
    for compressed in (made, expected, made.compact()):
        again = leeway.gpu.decompress(compressed, device="emulator")
        assert again.dtype == values.dtype and again.shape == values.shape
        assert again.numpy().tobytes() == right.tobytes()
        assert np.from_dlpack(again).tobytes() == right.tobytes()
    part = leeway.gpu.decompress(expected, region=np.s_[5:20, 7], device="emulator")
    assert part.shape == (15,) and part.numpy().tobytes() == right[5:20, 7].tobytes()


def test_strides_and_memory_of_the_caller():
    values = field()[::2, ::-1]
    out = np.zeros(100000, "u1")
    made = leeway.gpu.compress(values, abs=1e-3, out=out[-out.ctypes.data % 16:], device="emulator")
    assert made.tobytes() == on_host(values, abs=1e-3)
    assert out[-out.ctypes.data % 16:][:made.nbytes].tobytes() == made.tobytes()
    assert leeway.gpu.decompress(made).numpy().tobytes() == leeway.decompress(made.tobytes()).tobytes()
    small = np.zeros(1000, "u1")
    made = leeway.gpu.compress(values, abs=1e-3, out=small[-small.ctypes.data % 16:], device="emulator")
    with pytest.raises(Exception, match="too small"):
        made.nbytes


def test_streams_of_other_recipes_are_decoded_by_the_host():
    values = field()
    stream = leeway.compress(values, abs=1e-3, recipe="small")
    assert leeway.gpu.decompress(stream, device="emulator").numpy().tobytes() == leeway.decompress(stream).tobytes()


def test_what_is_wrong_is_said():
    values = field()
    with pytest.raises(TypeError, match="memory of the GPU|memory of a GPU"):
        leeway.gpu.compress(values, abs=1)
    with pytest.raises(TypeError, match="__dlpack__"):
        leeway.gpu.compress([1.0], abs=1)
    with pytest.raises(ValueError, match="a bound is needed"):
        leeway.gpu.compress(values, device="emulator")
    with pytest.raises(NotImplementedError, match="f32 and f64"):
        leeway.gpu.compress(np.arange(10), abs=1, device="emulator")
    with pytest.raises(NotImplementedError, match="cuszp2-outlier"):
        leeway.gpu.compress(values, abs=1, recipe="balanced", device="emulator")
    with pytest.raises(ValueError, match="'nothing'"):
        leeway.gpu.open("nothing")
    stream = bytearray(on_host(values, abs=1e-3))
    stream[len(stream) // 2] ^= 1
    damaged = leeway.gpu.decompress(stream, device="emulator")
    with pytest.raises(ValueError, match="damaged"):
        damaged.numpy()
    with pytest.raises(ValueError, match="step 1"):
        leeway.gpu.decompress(on_host(values, abs=1e-3), region=np.s_[::2], device="emulator")


def test_without_a_library_for_gpus():
    try:
        leeway.gpu.open(0)
    except NotImplementedError as error:
        assert "no GPU" in str(error) and "emulator" in str(error)


ON_A_GPU = """
import leeway, leeway.gpu, numpy as np

assert leeway.gpu.open(0).name == "fake GPU (sm_80)"
values = np.sin(np.arange(4000, dtype="f4") * 0.01).reshape(40, 100)
expected = leeway.compress(values, abs=1e-3, recipe="cuszp2-outlier", detect_fills=False)
right = leeway.decompress(expected)
again = leeway.gpu.decompress(expected)
assert again.__dlpack_device__() == (2, 0)


class ByDlpack:
    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack__(self, *, stream=None, **options):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ByInterface:
    def __init__(self, array, **more):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__ | more


# What is decompressed goes on to compressing: on the default stream of work, and on others, where it must be waited for.
import ctypes
fake = ctypes.CDLL("libleeway_cuda.so")
queues = [ctypes.c_void_p(), ctypes.c_void_p()]
for queue in queues:
    assert fake.cudaStreamCreate(ctypes.byref(queue)) == 0
first, second = (queue.value for queue in queues)
host = leeway.compress(right, abs=1e-3, recipe="cuszp2-outlier", detect_fills=False)
for producer, consumer in ((None, None), (first, first), (first, second), (None, second), (2, 1)):
    again = leeway.gpu.decompress(expected, stream=producer)
    for kind in (ByDlpack, ByInterface):
        source = kind(again)
        made = leeway.gpu.compress(source, abs=1e-3, stream=consumer)
        if kind is ByDlpack:
            assert source.streams == [consumer or 1], source.streams
        assert made.tobytes() == host, (producer, consumer, kind)
    interface = again.__cuda_array_interface__
    assert interface["version"] == 3 and interface["typestr"] == "<f4" and interface["shape"] == (40, 100)

# A stream on the device, as another library has it.
made = leeway.gpu.compress(again, abs=1e-3).compact()
assert made.__cuda_array_interface__["typestr"] == "|u1"
assert leeway.gpu.decompress(ByDlpack(made)).numpy().tobytes() == leeway.decompress(host).tobytes()
assert leeway.gpu.decompress(ByInterface(made)).numpy().tobytes() == leeway.decompress(host).tobytes()
other = leeway.gpu.decompress(expected, device=1)
assert other.__dlpack_device__() == (2, 1) and other.numpy().tobytes() == right.tobytes()
assert leeway.gpu.compress(ByInterface(other), abs=1e-3).tobytes() == host
try:
    leeway.gpu.compress(ByInterface(other), abs=1e-3, device=0)
except ValueError as error:
    assert "another device" in str(error)
else:
    raise AssertionError
try:
    leeway.gpu.compress(values, abs=1e-3, device=0)
except TypeError as error:
    assert "memory of the host" in str(error)
else:
    raise AssertionError
print("ok")
"""


def test_on_a_cuda_that_is_none():
    assert (FAKE / "libleeway_cuda.so").exists(), "scripts/build.sh makes it"
    done = subprocess.run([sys.executable, "-c", ON_A_GPU], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LD_LIBRARY_PATH": str(FAKE)})
    assert done.stdout == "ok\n", done.stderr
