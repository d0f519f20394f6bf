# SPDX-License-Identifier: BSD-3-Clause
"""leeway.hdf5.read and write, which code chunks on several threads, against h5py, which lets HDF5 do it."""
import pytest

SELECTIONS = """
SELECTIONS = [np.s_[...], np.s_[:], np.s_[3], np.s_[-1, 5:20], np.s_[2:9, ..., 7], np.s_[::3, 1::7, ::-1], np.s_[18:1:-4, 40, ::5],
              np.s_[0, 0, 0], np.s_[5:5], np.s_[:, 47:48, 60:], np.s_[..., -70:], np.s_[9:11, 23:25, 31:33]]
"""
CREATE = SELECTIONS + """
import h5py, leeway.hdf5
KINDS = [dict(recipe="balanced"), dict(recipe="small"), dict(dtype=">f4"), dict(dtype=">f8", fletcher32=True), dict(fletcher32=True),
         dict(fillvalue=np.float32(-77.5)), dict(dtype="f2"), dict(maxshape=(None, None, None)), dict(recipe="small", dtype=">f8")]
def create(file, name, kind, **more):
    kind = dict(dtype="f4") | kind | more
    return file.create_dataset(name, shape=(21, 49, 65), chunks=(10, 24, 32), **{key: kind[key] for key in kind if key != "recipe"},
                               **leeway.hdf5.filter(abs=1e-2, recipe=kind.get("recipe", "balanced")))
def field(step=0):
    return wave((21, 49, 65), special=False) + np.float32(step)
def stored(dataset):
    infos = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks())]
    return {info.chunk_offset: dataset.id.read_direct_chunk(info.chunk_offset) for info in infos}
def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
"""


def test_what_one_reads_the_other_reads(python):
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    for i, kind in enumerate(KINDS):
        create(file, str(i), kind)[:15] = field()[:15]  # the last chunks are never written
    file.create_dataset("plain", data=field())
    file.create_dataset("gzip", data=field(), chunks=(10, 24, 32), compression="gzip", shuffle=True)
    file.create_dataset("line", data=np.arange(100.0), chunks=(7,), **leeway.hdf5.filter(abs=0.1))
""")
    python(CREATE + """
with h5py.File("out.h5") as file:
    for name in [*map(str, range(len(KINDS))), "plain", "gzip"]:
        whole = file[name][...]
        for selection in SELECTIONS:
            for threads in [1, 3]:
                found = leeway.hdf5.read(file[name], selection, threads=threads)
                assert same(np.asarray(found), np.asarray(whole[selection])), (name, selection)
    assert leeway.hdf5.read(file["0"], np.s_[3, None, :, 5]).shape == (1, 49)
    for step in range(1, 20):
        assert same(leeway.hdf5.read(file["line"], np.s_[3:97:step]), file["line"][3:97:step])
        assert same(leeway.hdf5.read(file["line"], np.s_[97:3:-step]), file["line"][...][97:3:-step])
""")


def test_new_chunks_are_those_of_the_filter(python):
    """Byte for byte, whoever writes them and on however many threads."""
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    for i, kind in enumerate(KINDS):
        for selection in [np.s_[...], np.s_[3:15], np.s_[:10, :24], np.s_[2, ..., 5], np.s_[::3, ::5, ::-7], np.s_[20:, 48:, 64:]]:
            by_h5py = create(file, f"{i} {selection} h5py", kind)
            whole = field()
            target = np.zeros(whole.shape)
            # h5py knows no steps backwards.
            rows = tuple(slice(None, None, abs(part.step or 1)) if isinstance(part, slice) and (part.step or 1) < 0 else part
                         for part in (selection if isinstance(selection, tuple) else (selection,)))
            flipped = isinstance(selection, tuple) and any(isinstance(part, slice) and (part.step or 1) < 0 for part in selection)
            if flipped:
                rows = (*rows[:2], slice(64 % 7, None, 7))
            by_h5py[rows] = whole[rows]
            for threads in [1, 2]:
                by_leeway = create(file, f"{i} {selection} {threads}", kind)
                leeway.hdf5.write(by_leeway, whole[selection], selection, threads=threads)
                file.flush()
                assert stored(by_leeway) == stored(by_h5py), (kind, selection)
""")
    python(CREATE + """
with h5py.File("out.h5") as file:
    for name in file:
        decoded, fill = file[name][...].astype("f8"), float(file[name].fillvalue)
        error, from_fill = np.abs(decoded - field().astype(file[name].dtype)), np.abs(decoded - fill)
        assert np.minimum(error, from_fill).max() <= 1e-2 and (from_fill > 1e-2).any(), name
""")


@pytest.mark.parametrize("recipe", ["balanced", "small", "smallest"])
def test_chunks_rewritten_in_part(python, recipe):
    """What is not written keeps its bits, as with the filter; what is written keeps the bound."""
    python(CREATE + f"""
rng = np.random.default_rng(3)
for kind in [dict(), dict(dtype=">f4", fletcher32=True), dict(fillvalue=np.float32(-77.5))]:
    with h5py.File("out.h5", "w") as file:
        dataset = create(file, "t", kind, recipe="{recipe}")
        truth, written = field(), np.zeros(field().shape, bool)
        there = np.zeros(truth.shape, bool)  # what lies in chunks that were written before; others come into being now
        for step in range(12):
            low = [int(rng.integers(0, extent)) for extent in truth.shape]
            selection = tuple(slice(first, first + int(rng.integers(1, 30)), int(rng.integers(1, 3))) for first in low)
            truth[selection] = field(step)[selection]
            before = dataset[...]
            leeway.hdf5.write(dataset, truth[selection], selection, threads=1 + step % 2)
            chosen = np.zeros(truth.shape, bool)
            chosen[selection] = True
            now = dataset[...]
            assert same(leeway.hdf5.read(dataset), now)
            assert (now[there & ~chosen] == before[there & ~chosen]).all()
            written |= chosen
            for offset in stored(dataset):
                there[tuple(slice(first, first + extent) for first, extent in zip(offset, dataset.chunks))] = True
            assert np.abs(now[written].astype("f8") - truth[written]).max() <= 1e-2
            assert np.abs(now[~written].astype("f8") - float(dataset.fillvalue)).max() <= (0 if dataset.fillvalue else 1e-2)
        assert 0 < np.abs(now[written].astype("f8") - truth[written]).max()
    with h5py.File("out.h5", "r+") as file:  # the filter goes on where leeway.hdf5.write left off
        before = file["t"][...]
        file["t"][5] = 7
        now = file["t"][...]
        there[5] = False
        assert np.abs(now[5] - 7).max() <= 1e-2 and (now[there] == before[there]).all()
""")


def test_what_h5py_takes(python):
    """Numbers, arrays that must be repeated, other types, datasets without the filter, a cache of h5py that is not written yet."""
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    dataset = create(file, "t", {})
    leeway.hdf5.write(dataset, 3)
    assert np.abs(dataset[...] - 3).max() <= 1e-2
    leeway.hdf5.write(dataset, np.arange(65.0), np.s_[4])
    assert np.abs(dataset[4] - np.arange(65.0)).max() <= 1e-2 and np.abs(dataset[3] - 3).max() <= 1e-2
    leeway.hdf5.write(dataset, np.arange(49)[None, None], np.s_[:2, :, 7])
    assert np.abs(dataset[:2, :, 7] - np.arange(49)).max() <= 1e-2
    dataset[9] = 5  # in the cache
    assert np.abs(leeway.hdf5.read(dataset, 9) - 5).max() <= 1e-2
    leeway.hdf5.write(dataset, 6, np.s_[9, 3])
    assert np.abs(dataset[9, 3] - 6).max() <= 1e-2 and np.abs(dataset[9, 4] - 5).max() <= 1e-2
    plain = file.create_dataset("plain", shape=(21, 49, 65), dtype="f4", chunks=(10, 24, 32), compression="gzip")
    leeway.hdf5.write(plain, field()[3:5], np.s_[3:5])
    assert (plain[3:5] == field()[3:5]).all()
    for wrong, kind in [(lambda: leeway.hdf5.write(dataset, np.zeros(3)), ValueError), (lambda: leeway.hdf5.read(dataset, 21), IndexError),
                        (lambda: leeway.hdf5.read(dataset, threads=-1), ValueError), (lambda: leeway.hdf5.read(dataset, [1, 2]), TypeError),
                        (lambda: leeway.hdf5.write(plain, 3, region_bounds=[(np.s_[:3], 0)]), ValueError)]:
        try:
            wrong()
        except kind:
            continue
        raise AssertionError
""")


def test_bounds_of_regions(python):
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    for recipe in ["balanced", "small"]:
        dataset = create(file, recipe, dict(recipe=recipe))
        leeway.hdf5.write(dataset, field(), region_bounds=[(np.s_[12:15, 30:], 1e-5), (np.s_[0, 0, 0], 0)])
""")
    python(CREATE + """
for recipe in ["balanced", "small"]:
    with h5py.File("out.h5", "r+") as file:
        error = np.abs(file[recipe][...].astype("f8") - field())
        assert error[12:15, 30:].max() <= 1e-5 and error[0, 0, 0] == 0 and 5e-3 < error[:10, 24:, 32:].max() <= 1e-2
        before = file[recipe][...]
        file[recipe][14, 47] = 3  # by the filter, which knows nothing of the region
    with h5py.File("out.h5") as file:
        now = file[recipe][...]
        assert (np.delete(now, 14, 0) == np.delete(before, 14, 0)).all() and np.abs(now[14, 47] - 3).max() <= 1e-2
""")


def test_damage_is_noticed(python):
    for keyword in ["fletcher32=True", "fletcher32=False"]:
        said = python(CREATE + f"""
with h5py.File("out.h5", "w") as file:
    create(file, "t", dict({keyword}))[...] = field()
with h5py.File("out.h5") as file:
    info = file["t"].id.get_chunk_info(5)
with open("out.h5", "r+b") as file:
    file.seek(info.byte_offset + info.size // 2)
    byte = file.read(1)
    file.seek(-1, 1)
    file.write(bytes([byte[0] ^ 1]))
with h5py.File("out.h5") as file:
    leeway.hdf5.read(file["t"], threads=2)
""", fails=True)
        assert "ValueError" in said and "damaged" in said


def test_attributes_that_say_how_to_read_it(python):
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    dataset = create(file, "t", {})
    dataset[...] = field()
    leeway.hdf5.annotate(dataset)
    lossless = file.create_dataset("u", data=field(), chunks=True, **leeway.hdf5.filter(lossless=True))
    leeway.hdf5.annotate(lossless)
with h5py.File("out.h5") as file:
    said = dict(file["t"].attrs)
    assert "47310" in said["lossy_compression_reader"] and "install its" in said["lossy_compression_reader"]
    assert said["lossy_compression_bound"] == "abs=0.01" and 0 < said["lossy_compression_maximum_error"] <= 0.01
    assert file["u"].attrs["lossy_compression_bound"] == "lossless"
""")


def test_a_reader_without_the_filter(python):
    """What HDF5 says then: h5py prints its whole error stack, of which the name of the filter is a part."""
    import os
    python(CREATE + """
with h5py.File("out.h5", "w") as file:
    create(file, "t", {})[...] = field()
""")
    env = {**os.environ, "HDF5_PLUGIN_PATH": "/nonexistent"}
    said = python("""
        import h5py
        h5py.File("out.h5")["t"][...]
        """, env=env, fails=True)
    print(said)
    assert "OSError" in said


def test_other_types_are_converted_as_hdf5_does(python):
    python("""
        import h5py, io, leeway.hdf5, pytest
        file = h5py.File(io.BytesIO(), "w")
        for given in [np.arange(-40000, 110000, 10000, dtype="i4"), np.array([-1e9, -0.5, 0.7, 1e9] * 4)[:15], np.arange(15, dtype="u1")]:
            for name in ["direct", "h5py"]:
                file.pop(name, None)
                data = file.create_dataset(name, (15,), "i2", chunks=(15,), **leeway.hdf5.filter(lossless=True))
                leeway.hdf5.write(data, given) if name == "direct" else data.__setitem__(..., given)
            assert np.array_equal(file["direct"][...], file["h5py"][...]), (file["direct"][...], file["h5py"][...])
        with pytest.raises(OverflowError):
            leeway.hdf5.write(file["direct"], [100000] * 15)
        """)
