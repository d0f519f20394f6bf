# SPDX-License-Identifier: BSD-3-Clause
"""h5py with the Python package: what `import leeway.hdf5` offers. No environment variable is set."""
import os

import pytest

CLEAN = {key: value for key, value in os.environ.items() if key != "HDF5_PLUGIN_PATH"}


@pytest.fixture
def clean(python):
    return lambda code, fails=False: python(code, fails=fails, env=CLEAN)


def test_keywords_and_object(clean):
    clean("""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("a", data=wave(), chunks=(10, 48, 32), **leeway.hdf5.filter(abs=1e-3))
            file.create_dataset("b", data=wave(), chunks=(20, 48, 64), compression=leeway.hdf5.filter(abs=1e-2, recipe="small"))
            file.create_dataset("c", data=wave(), chunks=True, **leeway.hdf5.filter_for(wave()[:1], rel=1e-3))
            file.create_dataset("d", data=wave(), chunks=True, fletcher32=True, **leeway.hdf5.filter(lossless=True))
        """)
    clean("""
        import h5py, leeway.hdf5
        with h5py.File("out.h5") as file:
            check(file["a"][...], wave(), 1e-3)
            check(file["b"][...], wave(), 1e-2)
            check(file["b"][3:5, ::7, 9], wave()[3:5, ::7, 9], 1e-2)
            check(file["c"][...], wave(), 1e-3 * 6)
            check(file["d"][...], wave(), 0, must_differ=False)
            said = leeway.hdf5.describe(file["b"])
            assert said["abs_bound"] == 1e-2 and 0 < said["max_error"] <= 1e-2 and "pyramid" in said["recipe"]
            assert said["special_values"] == 14 and leeway.hdf5.describe(file["a"])["chunks"] == 4
        """)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", ">f4", ">f8", "i1", "i2", ">i4", "i8", "u1", "u2", "u4", "u8"])
def test_every_type_and_byte_order(clean, dtype):
    bound = 0.25 if dtype[-2:] in ("f4", "f8") else 2
    clean(f"""
        import h5py, leeway.hdf5
        field = (wave(special=False) * 20 + 60).astype("{dtype}")
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=field, dtype="{dtype}", chunks=(10, 48, 32), **leeway.hdf5.filter(abs={bound}))
        with h5py.File("out.h5", "r+") as file:
            assert file["t"].dtype == np.dtype("{dtype}")
            check(file["t"][...], field, {bound})
        """)


def test_fill_values_partial_writes_and_a_thrashed_cache(clean):
    """Chunks that are written piece by piece are compressed many times: nothing may drift."""
    clean("""
        import h5py, leeway.hdf5
        field, fill = wave((64, 64, 64)), np.float32(-1234.5)
        with h5py.File("out.h5", "w", rdcc_nbytes=0) as file:
            t = file.create_dataset("t", shape=(64, 64, 64), dtype="f4", chunks=(64, 64, 32), fillvalue=fill,
                                    **leeway.hdf5.filter(abs=1e-3))
            for i in range(60):
                t[i] = field[i]
        with h5py.File("out.h5") as file:
            check(file["t"][:60], field[:60], 1e-3)
            assert (file["t"][60:] == fill).all()
        """)


def test_integer_fill_values_that_no_double_holds(clean):
    clean("""
        import h5py, leeway.hdf5
        for dtype, fill, other in [("i8", -9223372036854775806, -2**60 + 1), ("u8", 2**64 - 2, 2**60 + 1)]:
            field = np.arange(10000, dtype=dtype)
            field[::100], field[50::100] = fill, other
            with h5py.File("out.h5", "w") as file:
                file.create_dataset("t", data=field, chunks=(5000,), fillvalue=np.array(fill, dtype),
                                    **leeway.hdf5.filter(abs=5, fill=other))
            with h5py.File("out.h5") as file:
                back = file["t"][...]
                assert (back[::50] == field[::50]).all() and 0 < (np.maximum(back, field) - np.minimum(back, field)).max() <= 5
        """)


@pytest.mark.parametrize("before", ["shuffle=True", "scaleoffset=3", "shuffle=True, fletcher32=True"])
def test_no_filter_may_come_first(clean, before):
    """Such a filter hands on other bytes than the values: refused when the dataset is created."""
    said = clean(f"""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=wave(special=False), chunks=True, {before}, **leeway.hdf5.filter(abs=1e-3))
        """, fails=True)
    assert "another filter comes before this one" in said


def test_filters_may_come_after(clean):
    clean("""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=wave(), chunks=(10, 48, 32), fletcher32=True, **leeway.hdf5.filter(abs=1e-3))
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk((10, 48, 32))
            dcpl.set_filter(47310, 0, words_of(1e-3))
            dcpl.set_deflate(1)
            space = h5py.h5s.create_simple((20, 48, 64))
            h5py.h5d.create(file.id, b"u", h5py.h5t.IEEE_F32LE, space, dcpl)
            file["u"][...] = wave()
            said = leeway.hdf5.describe(file["t"])
            assert said["abs_bound"] == 1e-3 and said["chunks"] == 4
        with h5py.File("out.h5") as file:
            check(file["t"][...], wave(), 1e-3)
            check(file["u"][...], wave(), 1e-3)
        """)


def test_relative_to_the_range_of_valid_values(clean):
    """As leeway.compress() takes it: without fill values, whoever tells of them."""
    clean("""
        import h5py, leeway, leeway.hdf5
        field = wave(special=False)
        land = np.zeros(field.shape, bool)
        land[0, 0, 0] = land[12:, :20, 5] = True
        bound = 1e-3 * (float(field[~land].max()) - float(field[~land].min()))
        customary, own = np.where(land, np.float32(1e20), field), np.where(land, np.float32(-77.7), field)
        masked = np.ma.masked_array(field, land, fill_value=-77.7)
        with h5py.File("out.h5", "w") as file:
            for name, values, filter in [("a", customary, leeway.hdf5.filter_for(customary, rel=1e-3)),
                                         ("b", own, leeway.hdf5.filter_for(own, rel=1e-3, fill=-77.7)),
                                         ("c", own, leeway.hdf5.filter_for(masked, rel=1e-3))]:
                file.create_dataset(name, data=values, chunks=(5, 48, 64), **filter)
                decoded = file[name][...]
                assert (decoded[land] == values[land]).all()
                check(decoded[~land], field[~land], bound)
                assert leeway.hdf5.describe(file[name])["abs_bound"] == leeway.inspect(leeway.compress(masked, rel=1e-3)).abs_bound
        """)


def test_a_lone_zero_is_lossless(clean):
    """NCO hands the filter to variables it was not meant for, with this."""
    clean("""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=wave(), chunks=(10, 48, 32), compression=47310, compression_opts=(0,))
            check(file["t"][...], wave(), 0, must_differ=False)
            assert leeway.hdf5.describe(file["t"])["abs_bound"] == 0
        """)


@pytest.mark.parametrize("call, message", [
    ("**leeway.hdf5.filter(rel=1e-3)", "range"),
    ("**leeway.hdf5.filter()", "a bound is needed"),
    ("**leeway.hdf5.filter(psnr=60)", "range of all values must be told"),
    ("**leeway.hdf5.filter(l2=1)", "number of all values must be told"),
    ("**leeway.hdf5.filter(pointwise=0.1, abs=1)", "stands alone"),
    ("**leeway.hdf5.filter(abs=1, region_bounds=[(np.s_[:3], 0)])", "leeway.hdf5.write(dataset, values, region_bounds"),
    ("**leeway.hdf5.filter_for(wave(), abs=1)", "refers to all values"),
    ("**leeway.hdf5.filter(abs=-1)", "positive"),
    ("**leeway.hdf5.filter(abs=1e-3, recipe='nosuch')", "nosuch"),
    ("**leeway.hdf5.filter(abs=1e-3, fill=[i * 1.1e20 for i in range(9)])", "too long"),
    ("compression=47310", "the filter needs a bound"),
    ("compression=47310, compression_opts=(1, 0, 0)", "leeway: "),
    ("compression=47310, compression_opts=(9,)", "mode 9"),
])
def test_wrong_parameters(clean, call, message):
    said = clean(f"""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=wave(), chunks=True, {call})
        """, fails=True)
    assert message in said


@pytest.mark.parametrize("options, message", [("pointwise=0.1", "is for floating-point numbers"), ("abs=1, fill=0.5", "is not of type i32"),
                                              ("abs=1, recipe='logscale+huffman'", "is for floating-point numbers")])
def test_what_is_not_for_the_type_is_refused(clean, options, message):
    """When the dataset is created: a filter that fails later is left out by h5py without a word."""
    assert message in clean(f"""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data=np.arange(1000, dtype="i4"), chunks=True, **leeway.hdf5.filter({options}))
        """, fails=True)


@pytest.mark.parametrize("values", ["np.zeros(100, 'c8')", "np.array([b'text'] * 100)", "np.zeros(100, bool)", "np.zeros(100, [('a', 'f4')])"])
def test_other_types_are_refused(clean, values):
    said = clean(f"""
        import h5py, leeway.hdf5
        with h5py.File("out.h5", "w") as file:
            file.create_dataset("t", data={values}, chunks=True, **leeway.hdf5.filter(abs=1e-3))
        """, fails=True)
    assert "only integers and floating-point numbers" in said


def test_two_hdf5_libraries_in_one_process(clean):
    """h5py and netCDF4 bring a copy of HDF5 each; the filter serves both, in turns."""
    clean("""
        import h5py, leeway.hdf5, netCDF4
        assert h5py.version.hdf5_version != "" and netCDF4.__hdf5libversion__ != ""
        for turn in range(2):
            with h5py.File("out.nc", "w") as file:
                file.create_dataset("t", data=wave(), chunks=(10, 48, 32), **leeway.hdf5.filter(abs=1e-3))
            with netCDF4.Dataset("out.nc") as file:
                file.set_auto_mask(False)
                check(file["t"][...], wave(), 1e-3)
        """)


@pytest.mark.parametrize("words, mask, stream", [("(0x10003, 0x201, 1, 1)", 0, "leeway.compress(np.ones((1, 1), 'f4'), lossless=True)"),
                                                 ("(0x10003, 0x202, 40, 40)", 0, "leeway.compress(np.ones((40, 40)), lossless=True)"),
                                                 ("(0x10003, 0x201, 40, 40)", 1, "b'1234'"), ("(3,)", 0, "b'1234'"), ("(0x10003,)", 0, "b'1234'")])
def test_files_of_strangers_can_be_checked(python, words, mask, stream):
    """The process that writes does not have the filter, which would correct the words."""
    python(f"""
        import h5py, leeway
        with h5py.File("evil.h5", "w") as file:
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk((40, 40))
            dcpl.set_filter(47310, h5py.h5z.FLAG_OPTIONAL, {words})
            made = h5py.h5d.create(file.id, b"t", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((40, 40)), dcpl)
            made.write_direct_chunk((0, 0), {stream}, {mask})
        """, env={**CLEAN, "HDF5_PLUGIN_PATH": "/nowhere"})
    python("""
        import h5py, leeway.hdf5
        with h5py.File("evil.h5") as file:
            for look in (leeway.hdf5.check, leeway.hdf5.describe):
                try:
                    look(file["t"])
                except ValueError as error:
                    assert "chunk" in str(error)
                else:
                    raise SystemExit("it was not refused")
        with h5py.File("fine.h5", "w") as file:
            for name, chunk, kind in [("a", (2,) * 10, "f4"), ("b", (5, 7), ">i2"), ("c", (5, 7), "f2")]:
                data = file.create_dataset(name, data=np.ones([2 * n for n in chunk], kind), chunks=chunk, fletcher32=name == "b", **leeway.hdf5.filter(abs=1))
                leeway.hdf5.check(data)
            leeway.hdf5.check(file.create_dataset("d", data=np.ones(5)))
        """, env=CLEAN)
