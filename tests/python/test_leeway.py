# SPDX-License-Identifier: BSD-3-Clause
"""The Python package as installed."""
import doctest
import subprocess
import sys
import threading
import warnings

import leeway
import numpy as np
import pytest
from leeway import _arrays


def field(shape=(20, 30, 40), dtype="f4"):
    rng = np.random.default_rng(3)
    return (rng.normal(size=shape).cumsum(axis=-1) * 5 + 50).astype(dtype)


def test_the_docstrings_tell_the_truth():
    assert doctest.testmod(leeway).failed == 0


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">f4", ">f8", ">i2", "<u4"])
def test_every_type_and_layout(dtype):
    array = field(dtype=dtype)
    layouts = [array, np.asfortranarray(array), array[::-1, ::2, 3:], array.T, array[3], array[3, 4], array[:, 0, 0],
               np.broadcast_to(array[0], (5, 30, 40)), array[:0], array[0, 0, 0].reshape(())]
    readonly = array.copy()
    readonly.flags.writeable = False
    for values in [*layouts, readonly]:
        for threads in (1, 3):
            stream = leeway.compress(values, abs=2, threads=threads)
            decoded = leeway.decompress(stream, threads=threads)
            assert decoded.shape == values.shape and decoded.dtype == values.dtype.newbyteorder("=")
            assert values.size == 0 or np.abs(decoded.astype("f8") - values.astype("f8")).max() <= 2


def test_records_lists_and_other_libraries():
    records = np.zeros(100, dtype=[("a", "i1"), ("t", "f4")])
    records["t"] = np.linspace(0, 1, 100)
    assert np.abs(leeway.decompress(leeway.compress(records["t"], abs=1e-3)) - records["t"]).max() <= 1e-3
    assert leeway.decompress(leeway.compress([[1.0, 2.0], [3.0, 4.0]], lossless=True)).tolist() == [[1, 2], [3, 4]]

    class Foreign:  # what torch, jax and cupy arrays in host memory offer
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    values = field()
    assert leeway.compress(Foreign(values), abs=0.1) == leeway.compress(values, abs=0.1)
    assert leeway.decompress(memoryview(bytearray(leeway.compress(values, lossless=True)))).tobytes() == values.tobytes()


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = field().astype(ml_dtypes.bfloat16)
    decoded = leeway.decompress(leeway.compress(values, abs=1))
    assert decoded.dtype == values.dtype and np.abs(decoded.astype("f4") - values.astype("f4")).max() <= 1


def test_bounds_and_special_values():
    values = field()
    values[0, 0, :3] = np.nan, np.inf, -9999
    ordinary = np.isfinite(values) & (values != -9999)
    for options in [dict(abs=0.01), dict(rel=1e-3), dict(psnr=60), dict(l2=2.0), dict(abs=0.5, psnr=40), dict(lossless=True)]:
        stream = leeway.compress(values, fill=-9999, recipe="small", **options)
        decoded, info = leeway.decompress(stream), leeway.inspect(stream)
        assert np.array_equal(decoded[~ordinary], values[~ordinary], equal_nan=True)
        assert np.abs(decoded[ordinary] - values[ordinary]).max() <= info.abs_bound
        assert info.special_values == 3 and dict(info.bound).keys() == options.keys()
        assert leeway.verify(stream, values) and leeway.verify(stream)
        assert info.shape == values.shape and info.dtype == "f32" and info.ratio > 1
    span = float(values[ordinary].max()) - float(values[ordinary].min())
    assert leeway.inspect(leeway.compress(values, rel=1e-3, fill=[-9999])).abs_bound == pytest.approx(1e-3 * span)


def test_regions():
    values = field((30, 40, 50))
    stream = leeway.compress(values, abs=0.01, chunk=(10, 20, 25))
    whole = leeway.decompress(stream)
    for selection in [np.s_[:], np.s_[3], np.s_[-1, 2:5], np.s_[..., 7], np.s_[2, ..., 3], np.s_[5:25:3, ::-1, -8:-2], np.s_[4:4],
                      np.s_[0, 0, 0], np.s_[::7, 39:0:-4]]:
        part = leeway.region(stream, selection)
        assert part.shape == whole[selection].shape and np.array_equal(part, whole[selection])
    for wrong in [np.s_[30], np.s_[0, 0, 0, 0], np.s_[:, -41]]:
        with pytest.raises(IndexError):
            leeway.region(stream, wrong)
    with pytest.raises((TypeError, IndexError)):
        leeway.region(stream, np.s_[[1, 2]])


def test_previews():
    values = field((70, 60, 50)).cumsum(axis=0).astype("f4")
    for recipe in ["small", "balanced"]:
        stream = leeway.compress(values, rel=1e-3, recipe=recipe, chunk=values.shape)
        whole = leeway.decompress(stream)
        for level in [0, 1, 2, 5]:
            assert np.array_equal(leeway.preview(stream, level), whole[(slice(None, None, 2**level),) * 3])


def test_files_and_memory_given(tmp_path):
    values = field((200, 100, 50))
    path = tmp_path / "a.lwy"
    path.write_bytes(leeway.compress(values, abs=0.01, chunk=(20, 100, 50)))
    assert np.array_equal(leeway.decompress(path), leeway.decompress(str(path)))
    assert np.array_equal(leeway.region(path, np.s_[150:152]), leeway.decompress(path)[150:152])
    assert leeway.inspect(path).stream_bytes == path.stat().st_size and leeway.verify(path, values)
    out = np.zeros((200, 100, 100), "f4")
    assert leeway.decompress(path, out=out[..., ::2]).base is out
    assert np.array_equal(out[..., ::2], leeway.decompress(path)) and not out[..., 1::2].any()
    for wrong in [np.zeros((200, 100, 49), "f4"), np.zeros((200, 100, 50), "f8")]:
        with pytest.raises(ValueError):
            leeway.decompress(path, out=wrong)


def test_a_size_instead_of_an_error():
    values = field()
    stream = leeway.compress(values, ratio=10)
    assert values.nbytes / len(stream) == pytest.approx(10, rel=0.03)
    assert leeway.inspect(stream).bound == {"ratio": 10}
    assert leeway.verify(stream, values)
    with pytest.warns(RuntimeWarning, match="asked for"):
        capped = leeway.compress(values, ratio=1000, abs=1e-6)
    assert np.abs(leeway.decompress(capped) - values).max() <= 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = leeway.compress(np.full((100, 100), 2.5), ratio=10)
    assert len(flat) < 8000 and (leeway.decompress(flat) == 2.5).all()


def test_a_bound_relative_to_each_value():
    values = np.exp2(field() / 8)
    stream = leeway.compress(values, pointwise=1e-3)
    decoded = leeway.decompress(stream)
    assert (np.abs(decoded.astype("f8") - values) <= 1e-3 * np.abs(values.astype("f8"))).all()
    assert leeway.verify(stream, values) and len(stream) < values.nbytes / 2


def test_wrong_calls():
    values = field()
    for error, message, call in [
        (ValueError, "a bound is needed", lambda: leeway.compress(values)),
        (ValueError, None, lambda: leeway.compress(values, abs=0)),
        (ValueError, None, lambda: leeway.compress(values, rel=float("nan"))),
        (ValueError, "nosuch", lambda: leeway.compress(values, abs=1, recipe="nosuch")),
        (TypeError, "not complex64", lambda: leeway.compress(values.astype("c8"), abs=1)),
        (TypeError, "not bool", lambda: leeway.compress(values > 0, abs=1)),
        (TypeError, "not <U3", lambda: leeway.compress(np.array(["abc"]), abs=1)),
        (ValueError, "not a leeway stream", lambda: leeway.decompress(b"nonsense" * 20)),
        (ValueError, "damaged stream", lambda: leeway.decompress(leeway.compress(values, abs=1)[:-5])),
        (OSError, "cannot open", lambda: leeway.decompress("/no/such/file.lwy")),
        (ValueError, None, lambda: leeway.compare(values, values[:-1])),
        (ValueError, "8 axes", lambda: leeway.compress(np.zeros((1,) * 9), abs=1)),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_verify_finds_what_is_wrong():
    values = field()
    stream = leeway.compress(values, abs=0.01)
    other = values.copy()
    other[1, 2, 3] += 1
    found = leeway.verify(stream, other)
    assert not found and "exceeds the bound" in found.complaints[0]
    damaged = bytearray(stream)
    damaged[len(stream) // 2] ^= 1
    assert not leeway.verify(bytes(damaged))


def test_compare_and_advise():
    values = field()
    said = leeway.compare(values, values + np.float32(0.5))
    assert said["max_abs"] == pytest.approx(0.5, 1e-4) and said["psnr"] > 20 and said["special_mismatches"] == 0
    advice = leeway.advise(values, rel=1e-3)
    assert [entry["ratio"] for entry in advice] == sorted((entry["ratio"] for entry in advice), reverse=True)
    assert {entry["recipe"] for entry in advice} == {"fast", "balanced", "small", "smallest"}
    assert "balanced" in leeway.recipes()


def test_threads_work_side_by_side():
    """The interpreter's lock is free while leeway works: another thread counts meanwhile."""
    values = field((200, 200, 200))
    done = threading.Event()
    counted = 0

    def work():
        leeway.compress(values, abs=0.001, recipe="smallest", threads=1)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.wait(0.001):
        counted += 1
    worker.join()
    assert counted > 50


def test_smaller_bounds_in_regions():
    array = field((40, 50))
    stream = leeway.compress(array, abs=1, region_bounds=[(np.s_[0:5], 1e-4), (np.s_[-1:, 3:4], 0)], chunk=(10, 10))
    error = np.abs(leeway.decompress(stream).astype("f8") - array)
    assert error[:5].max() <= 1e-4 and error[-1, 3] == 0 and error[20:30].max() > 0.1
    bounds = np.full(array.shape, np.inf)
    bounds[12, 13] = 1e-5
    error = np.abs(leeway.decompress(leeway.compress(array, abs=1, bounds=bounds, chunk=(10, 10))).astype("f8") - array)
    assert error[10:20, 10:20].max() <= 1e-5 < error[30:].max()
    stream = leeway.compress(array, abs=1, region_bounds=[(3, 1e-4), (np.s_[..., -1], 1e-3)], chunk=(1, 10))
    error = np.abs(leeway.decompress(stream).astype("f8") - array)
    assert error[3].max() <= 1e-4 and error[:, -1].max() <= 1e-3 < error[:, 0].max()
    for wrong, kind in [(np.s_[0:5, 0:5, 0:5], IndexError), (np.s_[0:10:2], ValueError), (40, IndexError), ("a", TypeError)]:
        with pytest.raises(kind):
            leeway.compress(array, abs=1, region_bounds=[(wrong, 1e-4)])
    with pytest.raises(ValueError):
        leeway.compress(array, abs=1, bounds=bounds[0])


def test_auto():
    assert leeway.inspect(leeway.compress(field(), abs=0.1, recipe="auto")).recipe
    assert "auto" in leeway.recipes()


@pytest.mark.parametrize("chunk, complaint", [((5,), "as many axes"), ((0, 5), "extent 0"), ((5, 5, 5), "as many axes"), ((-1, 5), "negative: -1"),
                                              ((1,) * 9, "at most 8 axes")])
def test_chunks_that_make_no_sense(chunk, complaint):
    for recipe in ("balanced", "auto"):
        with pytest.raises(ValueError, match=complaint):
            leeway.compress(field((10, 10)), abs=1, chunk=chunk, recipe=recipe)


def test_arguments_that_make_no_sense():
    array = field((10, 10))
    stream = leeway.compress(array, abs=1)
    for wrong in [lambda: leeway.compress(array, abs=1, threads=-1), lambda: leeway.decompress(stream, threads=-1),
                  lambda: leeway.advise(array, abs=1, threads=-1), lambda: leeway.preview(stream, -1)]:
        with pytest.raises(ValueError, match="-1"):
            wrong()
    # What the public functions never say, but would end in foreign memory.
    native, out = leeway._native, np.empty((10, 10), "f4")
    for first in [[0], [0] * 3, [0] * 20, [-1, 0], [2**40, 0], []]:
        with pytest.raises(ValueError):
            native.Stream(np.frombuffer(stream, "u1")).read(first, out, "", 1, None)
        with pytest.raises(ValueError):
            native.compress(array, "", [("abs", 1.0)], "balanced", [], True, [], 1, [(first, [1, 1], 0.1)], None, [], False, None, False, None)
    with pytest.raises(ValueError):
        native.compress(np.zeros(100, "u1"), "bf16", [("abs", 1.0)], "balanced", [], True, [], 1, [], None, [], False, None, False, None)


def test_masked_arrays():
    """What is masked counts as a fill value; it must not be part of the range."""
    values = field((40, 50, 60)).astype("f4")
    land = values > np.quantile(values, 0.8)
    marked = np.ma.masked_array(np.where(land, np.float32(12345678), values), land, fill_value=12345678)
    span = float(values[~land].max()) - float(values[~land].min())
    stream = leeway.compress(marked, rel=1e-3)
    decoded = leeway.decompress(stream)
    assert np.abs(decoded[~land].astype("f8") - values[~land]).max() <= 1e-3 * span
    assert (decoded[land] == 12345678).all() and (np.ma.masked_equal(decoded, 12345678).mask == land).all()
    assert leeway.verify(stream, against=marked)
    found = leeway.compare(marked, decoded)
    assert found["compared"] == (~land).sum() and found["max"] - found["min"] == pytest.approx(span) and found["max_rel"] <= 1e-3
    # The values under the mask do not matter, a fill value of one's own does.
    other = np.ma.masked_array(np.where(land, np.float32(-1), values), land, fill_value=-5555)
    decoded = leeway.decompress(leeway.compress(other, rel=1e-3))
    assert (decoded[land] == -5555).all() and np.abs(decoded[~land].astype("f8") - values[~land]).max() <= 1e-3 * span
    # Nothing masked, no fill value.
    plain = np.ma.masked_array(values)
    assert leeway.compress(plain, rel=1e-3) == leeway.compress(values, rel=1e-3)
    whole = np.ma.masked_array(np.arange(1000, dtype="i8") - 2**62, np.arange(1000) % 7 == 0, fill_value=-2**62 - 1)
    decoded = leeway.decompress(leeway.compress(whole, abs=3))
    assert (decoded[::7] == -2**62 - 1).all() and np.abs(decoded - whole).max() <= 3
    assert leeway.advise(marked, rel=1e-2)


def test_comparing_leaves_fill_values_out():
    values = field((40, 50, 60)).astype("f4")
    for fill, told in [(1e20, {}), (-77.7, {"fill": -77.7})]:
        land = values > np.quantile(values, 0.8)
        marked = np.where(land, np.float32(fill), values)
        decoded = leeway.decompress(leeway.compress(marked, rel=1e-3, **told))
        found = leeway.compare(marked, decoded, **told)
        assert found["max"] == values[~land].max() and found["compared"] == (~land).sum() and found["special_mismatches"] == 0
        assert 50 < found["psnr"] < 80 and found["max_rel"] <= 1e-3
        decoded[land] = 0
        assert leeway.compare(marked, decoded, **told)["special_mismatches"] == land.sum()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i2", "u1", "i8"])
def test_the_range_of_parts_is_that_of_the_whole(dtype):
    """Found by the few extremes of each part; a fill value may occur once in each of two parts."""
    values = (field((30, 40)) * 10).astype(dtype)
    values[0, 0] = values[29, 39] = np.array(-9999 if dtype != "u1" else 255).astype(dtype)
    for extra in [[], [7]]:
        for parts in [1, 2, 7, 30]:
            found = np.concatenate([_arrays.extremes(part, extra) for part in np.array_split(values, parts)])
            assert found.size <= 16 * parts and _arrays.value_range(found, extra) == _arrays.value_range(values, extra)
    assert _arrays.extremes(np.full(5, np.nan)).size == 0 and _arrays.value_range(np.full(5, np.nan)) is None


def test_the_brief_form():
    array = field((10, 100))
    standard, brief = leeway.compress(array, abs=0.01), leeway.compress(array, abs=0.01, brief=True)
    assert len(brief) < len(standard) - 200
    assert (leeway.inspect(standard).form, leeway.inspect(brief).form) == ("standard", "brief")
    assert np.array_equal(leeway.decompress(standard), leeway.decompress(brief))
    assert np.array_equal(leeway.region(brief, np.s_[2:5, ::7]), leeway.decompress(brief)[2:5, ::7])
    assert np.array_equal(leeway.preview(brief, 2), leeway.decompress(brief)[::4, ::4])
    assert leeway.verify(brief, array)
    assert leeway.inspect(leeway.compress(array, abs=0.01, brief=True, chunk=(5, 100))).form == "standard"
    for at in range(len(brief)):
        with pytest.raises((ValueError, NotImplementedError)):
            leeway.decompress(brief[:at] + bytes([brief[at] ^ 4]) + brief[at + 1:])


def test_progress():
    values = np.cumsum(np.random.default_rng(3).standard_normal((64, 256, 256), dtype="f4"), axis=0)
    done = []
    stream = leeway.compress(values, abs=1e-2, progress=done.append, chunk=(8, 256, 256))
    assert done == sorted(done) and 0 <= done[0] and done[-1] == 1
    assert stream == leeway.compress(values, abs=1e-2, chunk=(8, 256, 256))
    done.clear()
    decoded = leeway.decompress(stream, progress=done.append)
    assert done == sorted(done) and done[-1] == 1 and np.abs(decoded - values).max() <= 1e-2

    def stop(part):
        raise RuntimeError(f"enough at {part <= 1}")

    for work in [lambda: leeway.compress(values, abs=1e-2, progress=stop), lambda: leeway.decompress(stream, progress=stop)]:
        with pytest.raises(RuntimeError, match="enough at True"):
            work()


@pytest.mark.parametrize("work", ["leeway.compress(values, abs=1e-4, recipe='smallest')", "leeway.compress(values, psnr=90)",
                                  "[leeway.decompress(stream) for again in range(1000)]"])
def test_ctrl_c_ends_the_work_soon(work):
    """Counted in seconds of a processor: others may use it, too. What was interrupted can be begun anew."""
    said = subprocess.run([sys.executable, "-c", f"""
import os, signal, threading, time
import leeway, numpy as np
values = np.cumsum(np.random.default_rng(3).standard_normal((128, 256, 256), dtype="f4"), axis=0)
stream = leeway.compress(values, abs=1e-2)
sent = []
def send():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.2, send).start()
try:
    while True:
        {work}
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
assert np.abs(leeway.decompress(stream) - values).max() <= 1e-2
"""], capture_output=True, text=True, check=True, timeout=300).stdout
    assert float(said) < 1


def test_verify_where_the_error_is_larger_than_the_range():
    values = np.array([1.0, 2.0, 3.0])
    assert leeway.verify(leeway.compress(values, abs=50.0), values).max_error <= 50


@pytest.mark.parametrize("work", ["leeway.compress(values, abs=1e-3, threads=2)", "leeway.decompress(stream, threads=2)",
                                  "leeway.compress(values, abs=1e-3, progress=lambda done: time.sleep(1e-3))"])
def test_a_daemon_thread_does_not_disturb_the_end(work):
    program = f"""
import threading, time
import leeway, numpy as np
values = np.random.default_rng(0).normal(size=(64, 64, 64)).astype("f4")
stream = leeway.compress(values, abs=1e-3)
def loop():
    while True:
        {work}
for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert ended.returncode == 0, ended.stderr
