# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that grow in their file, streams put together, and streams as Zarr arrays by reference."""
import numpy as np
import pytest

import leeway


def field(rows):
    return (np.sin(np.arange(rows)[:, None, None] * 0.3) * np.cos(np.arange(20)[:, None] * 0.2) + np.arange(30) * 0.01).astype("f4")


def test_append(tmp_path):
    values, path = field(10), tmp_path / "run.lwy"
    assert leeway.append(path, values[:2], abs=1e-3, chunk=(2, 20, 30)) == 2
    for i in range(2, 10):
        assert leeway.append(path, values[i:i + 1]) == i + 1
        assert np.abs(leeway.decompress(path) - values[:i + 1]).max() <= 1e-3
    assert leeway.inspect(path).growing and leeway.verify(path)
    with pytest.raises(ValueError, match="do not go on"):
        leeway.append(path, values[:1, :5])
    with pytest.raises(ValueError, match="a bound is needed"):
        leeway.append(tmp_path / "new.lwy", values)
    stream = leeway.compress(values, abs=1e-3, growing=True)
    assert leeway.inspect(stream).growing and (leeway.decompress(stream).shape == values.shape)


@pytest.mark.parametrize("dtype", ["f8", "i2", "f2"])
def test_append_types(tmp_path, dtype):
    values, path = (100 * field(4)).astype(dtype), tmp_path / "run.lwy"
    for i in range(4):
        leeway.append(path, values[i:i + 1], abs=2)
    assert np.abs(leeway.decompress(path).astype("f8") - values.astype("f8")).max() <= 2


def test_join(tmp_path):
    values = field(12)
    for i in range(3):
        (tmp_path / f"{i}.lwy").write_bytes(leeway.compress(values[4 * i:4 * i + 4], abs=1e-3, chunk=(4, 20, 30)))
    leeway.join([tmp_path / f"{i}.lwy" for i in range(3)], tmp_path / "all.lwy")
    assert (tmp_path / "all.lwy").read_bytes() == leeway.compress(values, abs=1e-3, chunk=(4, 20, 30))
    (tmp_path / "0.lwy").write_bytes(leeway.compress(values[:4], abs=1e-3, chunk=(4, 16, 30)))
    (tmp_path / "1.lwy").write_bytes(leeway.compress(values[4:8], abs=1e-3, chunk=(4, 16, 30)))
    with pytest.raises(ValueError, match="axis 1"):
        leeway.join([tmp_path / f"{i}.lwy" for i in range(2)], tmp_path / "no.lwy", axis=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.lwy", "1.lwy", "2.lwy", "all.lwy"]


@pytest.mark.parametrize("kind", ["plain", "growing", "updated"])
def test_virtual(tmp_path, kind):
    zarr = pytest.importorskip("zarr", minversion="3")
    pytest.importorskip("fsspec")
    import leeway.virtual
    values, path = field(11), tmp_path / "t.lwy"
    if kind == "growing":
        for begin, end in ((0, 3), (3, 7), (7, 11)):
            leeway.append(path, values[begin:end], abs=1e-3, chunk=(3, 8, 16))
    else:
        path.write_bytes(leeway.compress(values, abs=1e-3, chunk=(3, 8, 16)))
    array = leeway.virtual.open(path)
    assert isinstance(array, zarr.Array) and array.shape == values.shape and array.chunks == (3, 8, 16)
    assert (array[...] == leeway.decompress(path)).all()
    assert (array[5:9, 3, ::7] == leeway.decompress(path)[5:9, 3, ::7]).all()
    assert array.attrs["lossy_compression_bound"] == 1e-3


def test_virtual_with_xarray_and_dask(tmp_path):
    xr = pytest.importorskip("xarray")
    dask_array = pytest.importorskip("dask.array")
    import leeway.virtual
    values, path = field(11), tmp_path / "t.lwy"
    path.write_bytes(leeway.compress(values, abs=1e-3, chunk=(3, 8, 16)))
    refs = leeway.virtual.references(path, name="t", dims=("time", "y", "x"), attrs={"units": "K"})
    ds = xr.open_dataset("reference://", engine="zarr", backend_kwargs={"consolidated": False, "storage_options": {"fo": refs}}, chunks={})
    assert ds["t"].dims == ("time", "y", "x") and ds["t"].attrs["units"] == "K"
    assert (ds["t"].mean("time").values == leeway.decompress(path).mean(0)).all() or np.allclose(ds["t"].mean("time"), leeway.decompress(path).mean(0))
    lazy = dask_array.from_zarr(leeway.virtual.open(path))
    assert (lazy[4].compute() == leeway.region(path, np.s_[4])).all()


def test_virtual_from_an_object_store(tmp_path):
    """Through fsspec's memory file system, which stands for a bucket: only ranges of bytes are read."""
    fsspec = pytest.importorskip("fsspec")
    import leeway.virtual
    values = field(11)
    stream = leeway.compress(values, abs=1e-3, chunk=(3, 8, 16))
    with fsspec.open("memory://bucket/t.lwy", "wb") as file:
        file.write(stream)
    refs = leeway.virtual.references("memory://bucket/t.lwy")["refs"]
    where, offset, size = refs["data/1.0.1"]
    assert where == "memory://bucket/t.lwy" and 0 < offset < offset + size < len(stream)


def test_virtual_refuses(tmp_path):
    import leeway.virtual
    values = field(3)
    (tmp_path / "b.lwy").write_bytes(leeway.compress(values, abs=1e-3, brief=True))
    with pytest.raises(ValueError, match="brief"):
        leeway.virtual.references(tmp_path / "b.lwy")
    (tmp_path / "t.lwy").write_bytes(leeway.compress(values, abs=1e-3, chunk=(2, 20, 30)))
    with pytest.raises(ValueError, match="dims"):
        leeway.virtual.references(tmp_path / "t.lwy", dims=("x",))
    import json
    refs = leeway.virtual.references(tmp_path / "t.lwy")["refs"]
    config = json.loads(refs["data/.zarray"])["compressor"]
    codec = leeway.virtual.Frame(**{k: v for k, v in config.items() if k != "id"})
    _, offset, size = refs["data/1.0.0"]
    frame = bytearray((tmp_path / "t.lwy").read_bytes()[offset:offset + size])
    assert (codec.decode(bytes(frame))[:1] == leeway.decompress(tmp_path / "t.lwy")[2:]).all()
    for at in (0, 9, 70, len(frame) - 1):
        damaged = bytes(frame[:at]) + bytes([frame[at] ^ 1]) + bytes(frame[at + 1:])
        with pytest.raises(ValueError):
            codec.decode(damaged)
    with pytest.raises(NotImplementedError):
        codec.encode(values)
