# SPDX-License-Identifier: BSD-3-Clause
"""Zarr: the codec of version 3, and the numcodecs one with zarr-python 3 and 2."""
import pytest

from conftest import ROOT

ZARR2 = ROOT / ".venv-zarr2/bin/python"


def test_version_3(python):
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        zarr.create_array("out.zarr", data=wave((40, 48, 64)), chunks=(20, 48, 64), serializer=LeewayCodec(abs=1e-3), compressors=None)
        zarr.create_array("sharded.zarr", data=wave((40, 48, 64)), chunks=(10, 24, 32), shards=(20, 48, 64),
                          serializer=LeewayCodec(abs=1e-3, recipe="small", fill=9.96921e36), compressors=None)
        """)
    python("""
        import zarr  # the codec is found by its name
        for name in ["out.zarr", "sharded.zarr"]:
            array = zarr.open_array(name)
            check(array[...], wave((40, 48, 64)), 1e-3)
            check(array[3:25:2, 5, 7:9], wave((40, 48, 64))[3:25:2, 5, 7:9], 1e-3)
            check(array.oindex[[1, 30], :, [5, 6, 60]], wave((40, 48, 64))[np.ix_([1, 30], range(48), [5, 6, 60])], 1e-3)
            assert array.nbytes_stored() < array.nbytes / 3
        """)


def test_partial_decoding_reads_a_part(python):
    """A chunk of 64 MB, of which a corner is asked for."""
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        field = wave((256, 256, 256), special=False)
        store = zarr.storage.LocalStore("out.zarr")
        zarr.create_array(store, data=field, chunks=field.shape, serializer=LeewayCodec(abs=1e-4, recipe="fast"), compressors=None)
        """)
    python("""
        import zarr
        asked = 0
        class Counting(zarr.storage.LocalStore):
            async def get(self, key, prototype, byte_range=None):
                global asked
                found = await super().get(key, prototype, byte_range)
                if found is not None and "c/" in key: asked += len(found)
                return found
        array = zarr.open_array(Counting("out.zarr"))
        part = array[:10, 3:8, 100:120]
        check(part, wave((256, 256, 256), special=False)[:10, 3:8, 100:120], 1e-4)
        assert 0 < asked < array.nbytes_stored() / 10, (asked, array.nbytes_stored())
        """)


def test_many_chunks_of_a_local_store(python):
    """Chunks are read side by side by the few threads that also read the files: none of them may wait for another."""
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        zarr.create_array("out.zarr", data=wave((40, 48, 64)), chunks=(10, 24, 32), serializer=LeewayCodec(abs=1e-3), compressors=None)
        """)
    python("""
        import zarr
        check(zarr.open_array("out.zarr")[...], wave((40, 48, 64)), 1e-3)  # 16 chunks
        """, timeout=60)
    python("""
        import dask, dask.array as da
        with dask.config.set(scheduler="threads", num_workers=8):
            check(da.from_zarr("out.zarr", chunks=(20, 24, 64)).compute(), wave((40, 48, 64)), 1e-3)
        """, timeout=60)


COUNTING = """
import zarr
class Counting(zarr.storage.LocalStore):
    requests, bytes = 0, 0
    async def get(self, key, prototype, byte_range=None):
        found = await super().get(key, prototype, byte_range)
        if found is not None and "c/" in key:
            Counting.requests += 1
            Counting.bytes += len(found)
        return found
    async def getsize(self, key):
        Counting.requests += 1
        return await super().getsize(key)
"""


def test_requests(python):
    """A whole chunk, or any part of a small one, is one request; a part of a large one three, of which two go together."""
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        zarr.create_array("small.zarr", data=wave((40, 48, 64)), chunks=(10, 24, 32), serializer=LeewayCodec(abs=1e-3), compressors=None)
        zarr.create_array("large.zarr", data=wave((256, 256, 256)), chunks=(256, 256, 256), serializer=LeewayCodec(abs=1e-3, recipe="fast"),
                          compressors=None)
        """)
    python(COUNTING + """
small, large = zarr.open_array(Counting("small.zarr")), zarr.open_array(Counting("large.zarr"))
check(small[...], wave((40, 48, 64)), 1e-3)
assert Counting.requests == 16, Counting.requests
check(small[3, 5:7, :9], wave((40, 48, 64))[3, 5:7, :9], 1e-3)
assert Counting.requests == 17
whole = wave((256, 256, 256))
Counting.requests = Counting.bytes = 0
check(large[...], whole, 1e-3)
assert Counting.requests == 1
everything = Counting.bytes
for selection in [np.s_[:10, 3:8, 100:120], np.s_[250, :9:2, 5], np.s_[-1:, -1:, -1:]]:
    Counting.requests = Counting.bytes = 0
    check(large[selection], whole[selection], 1e-3, must_differ=False)
    assert Counting.requests == 3 and Counting.bytes < everything / 4, (Counting.requests, Counting.bytes, everything)
rows, columns = [3, 5, 250], [0, 255]
check(large.oindex[rows, 7, columns], whole[np.ix_(rows, [7], columns)][:, 0], 1e-3)
check(large.vindex[[3, 4], [5, 6], [7, 8]], whole[[3, 4], [5, 6], [7, 8]], 1e-3)
""")


def test_a_store_without_ranges(python):
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        class Whole(zarr.storage.LocalStore):
            async def get(self, key, prototype, byte_range=None):
                if byte_range is not None:
                    raise NotImplementedError("no ranges here")
                return await super().get(key, prototype)
        field = wave((128, 128, 128))
        array = zarr.create_array(Whole("out.zarr"), data=field, chunks=field.shape, serializer=LeewayCodec(abs=1e-3), compressors=None)
        check(array[3:5, 5, :9], field[3:5, 5, :9], 1e-3)
        missing = zarr.create_array(Whole("none.zarr"), shape=field.shape, dtype="f4", chunks=field.shape, fill_value=7,
                                    serializer=LeewayCodec(abs=1e-3), compressors=None)
        assert (missing[3:5, 5, :9] == 7).all()
        """)


def test_a_missing_large_chunk(python):
    python("""
        import zarr
        from leeway.zarr import LeewayCodec
        array = zarr.create_array("out.zarr", shape=(128, 128, 128), dtype="f4", chunks=(128, 128, 128), fill_value=7,
                                  serializer=LeewayCodec(abs=1e-3), compressors=None)
        assert (array[3:5, 5, :9] == 7).all()
        """)


@pytest.mark.parametrize("dtype, fill", [("f4", -999.9), ("f4", -99.9), ("f8", 20.0), ("i2", -32767), ("i8", -9223372036854775806)])
def test_the_fill_value_of_the_array(python, dtype, fill):
    """Also a single one in a chunk."""
    python(f"""
        import zarr
        from leeway.zarr import LeewayCodec
        field = (wave((40, 48, 64), special=False) * 100).astype("{dtype}")
        field[3, 7, 9] = field[20:, :20, 5] = np.array({fill}).astype("{dtype}")
        array = zarr.create_array("out.zarr", data=field, chunks=(10, 24, 32), fill_value={fill}, serializer=LeewayCodec(abs=3),
                                  compressors=None)
        missing = field == np.array({fill}).astype("{dtype}")
        decoded = zarr.open_array("out.zarr")[...]
        assert missing.sum() >= 401 and (decoded[missing] == field[missing]).all()
        assert 0 < np.abs(decoded - field)[~missing].max() <= 3
        """)


def test_a_filter_that_hands_on_another_type(python):
    """bitround hands on the bits of the values as integers: they must be bounded, and come back, as values."""
    python("""
        import warnings
        warnings.simplefilter("ignore")
        import zarr, zarr.codecs.numcodecs as others
        from leeway.zarr import LeewayCodec
        field = wave((40, 48, 64), special=False)
        for codec, bound in [(LeewayCodec(lossless=True), 0), (LeewayCodec(abs=1e-3), 1e-3)]:
            array = zarr.create_array({}, data=field, chunks=(20, 48, 64), filters=[others.BitRound(keepbits=10)], serializer=codec,
                                      compressors=None)
            check(array[...], field, bound + 4 * 2.0**-11)
        """)
    assert "a filter before leeway hands on" in python("""
        import zarr
        from dataclasses import dataclass
        from zarr.abc.codec import ArrayArrayCodec
        from leeway.zarr import LeewayCodec
        @dataclass(frozen=True)
        class Widens(ArrayArrayCodec):
            is_fixed_size = True
            async def _encode_single(self, chunk, spec):
                return spec.prototype.nd_buffer.from_ndarray_like(chunk.as_numpy_array().astype("f8"))
            def compute_encoded_size(self, size, spec): return 2 * size
            def to_dict(self): return {"name": "widens", "configuration": {}}
        zarr.create_array({}, data=wave(), chunks=(20, 48, 64), filters=[Widens()], serializer=LeewayCodec(abs=1), compressors=None)
        """, fails=True)


def test_a_filter_that_hands_on_one_axis(python):
    """Most filters of numcodecs flatten a chunk. It is compressed in its shape, and chunks that were written flat are read."""
    python("""
        import warnings
        warnings.simplefilter("ignore")
        import zarr, zarr.codecs.numcodecs as others
        import leeway
        from leeway.zarr import LeewayCodec
        field = wave((40, 48, 64), special=False)
        scale = others.FixedScaleOffset(offset=0, scale=1000, dtype="<f4", astype="<f4")
        store = zarr.storage.LocalStore("out.zarr")
        array = zarr.create_array(store, data=field, chunks=(20, 48, 64), filters=[scale], serializer=LeewayCodec(abs=1), compressors=None)
        check(array[...], field, 2e-3)
        check(array[3:5, 7, ::9], field[3:5, 7, ::9], 2e-3)
        chunks = [path for path in store.root.glob("c/**/*") if path.is_file()]
        assert len(chunks) == 2
        for path in chunks:
            values = leeway.decompress(path.read_bytes())
            assert values.shape == (20, 48, 64)
            path.write_bytes(leeway.compress(values.ravel(), abs=1))
        check(array[...], field, 4e-3)
        check(array[3:5, 7, ::9], field[3:5, 7, ::9], 4e-3)
        """)
    assert "is not a chunk of (20, 48, 64)" in python("""
        import zarr, leeway
        array = zarr.open_array("out.zarr")
        array.store.root.joinpath("c/0/0/0").write_bytes(leeway.compress(np.zeros((48, 20, 64), "f4"), abs=1))
        array[...]
        """, fails=True)


def test_numcodecs_takes_any_buffer(python):
    """Bytes of which nobody says what they are come back as they were."""
    python("""
        import array, numcodecs
        codec = numcodecs.get_codec({"id": "leeway", "abs": 5})
        text = bytes(range(256)) * 40
        for buffer in [text, bytearray(text), memoryview(text)]:
            assert codec.decode(codec.encode(buffer)).tobytes() == text
        values = array.array("d", np.linspace(0, 1000, 5000))
        decoded = codec.decode(codec.encode(values))
        assert decoded.dtype == np.float64 and 0 < np.abs(decoded - np.asarray(values)).max() <= 5
        masked = np.ma.masked_greater(wave(special=False), 2)
        masked.fill_value = 12345678
        codec = numcodecs.get_codec({"id": "leeway", "abs": 1e-3})
        decoded = codec.decode(codec.encode(masked))
        assert (decoded[masked.mask] == 12345678).all() and masked.mask.any()
        check(decoded[~masked.mask], masked.compressed(), 1e-3)
        """)


def test_fill_values_that_no_double_holds(python):
    python("""
        import numcodecs, zarr
        from leeway.zarr import LeewayCodec
        field = np.arange(2**60, 2**60 + 10_000)
        fill = 2**60 + 1
        field[::3] = fill
        codec = numcodecs.get_codec({"id": "leeway", "abs": 30, "fill": [fill]})
        array = zarr.create_array({}, data=field, serializer=LeewayCodec(abs=30, fill=[fill]), compressors=None)
        for decoded in codec.decode(codec.encode(field)), array[...]:
            assert (decoded[::3] == fill).all() and 0 < np.abs(decoded - field).max() <= 30
        assert numcodecs.get_codec(codec.get_config()).fill == (fill,)
        """)


def test_version_3_complains(python):
    for code, message in [("LeewayCodec()", "a bound is needed"), ("LeewayCodec(abs=0)", "bound"),
                          ("LeewayCodec(abs=1, recipe='nosuch')", "nosuch"),
                          ("zarr.create_array({}, shape=10, dtype='i4', serializer=LeewayCodec(abs=1, recipe='logscale+huffman'))",
                           "is for floating-point numbers"),
                          ("zarr.create_array({}, shape=10, dtype=bool, serializer=LeewayCodec(abs=1))", "not bool"),
                          ("zarr.create_array({}, shape=10, dtype='c8', serializer=LeewayCodec(abs=1))", "not complex64")]:
        assert message in python(f"import zarr\nfrom leeway.zarr import LeewayCodec\n{code}", fails=True)


NUMCODECS = """
import zarr, numcodecs
codec = numcodecs.get_codec({"id": "leeway", "abs": 1e-3})  # found through its entry point
field = wave((40, 48, 64))
major = int(zarr.__version__.split(".")[0])
def create(name, values, **options):
    if major == 2:
        array = zarr.open_array(name, "w", shape=values.shape, dtype=values.dtype, chunks=(20, 48, 32), compressor=codec, **options)
    else:
        array = zarr.create_array(name, shape=values.shape, dtype=values.dtype, chunks=(20, 48, 32), compressors=codec,
                                  zarr_format=2, **options)
    array[...] = values
create("c.zarr", field)
create("f.zarr", field, order="F")
create("b.zarr", field.astype(">f4"))
create("i.zarr", np.arange(40 * 48 * 64, dtype="i4").reshape(40, 48, 64))
"""

READ = """
import zarr
field = wave((40, 48, 64))
for name in ["c.zarr", "f.zarr", "b.zarr"]:
    array = zarr.open_array(name, mode="r")
    check(np.asarray(array[...]).astype("f4"), field, 1e-3)
    check(np.asarray(array[3:25, 5]).astype("f4"), field[3:25, 5], 1e-3)
assert (zarr.open_array("i.zarr", mode="r")[...].ravel() == np.arange(40 * 48 * 64)).all()
"""


def test_version_2_format_by_zarr_3(python):
    python(NUMCODECS)
    python(READ)


@pytest.mark.skipif(not ZARR2.exists(), reason="scripts/setup.sh has not made .venv-zarr2")
def test_version_2(python):
    python(NUMCODECS, interpreter=ZARR2)
    python(READ, interpreter=ZARR2)
    python(READ)  # and zarr-python 3 reads what zarr-python 2 wrote


def test_a_chunk_of_another_shape_is_refused(python):
    """NumPy would spread a single value over the whole place of a chunk."""
    python("""
        import leeway, zarr
        from leeway.zarr import LeewayCodec
        store = zarr.storage.MemoryStore()
        array = zarr.create_array(store, shape=(8, 8), chunks=(4, 4), dtype="f4", serializer=LeewayCodec(abs=1e-3), compressors=None)
        array[...] = np.arange(64, dtype="f4").reshape(8, 8)
        key = next(k for k in store._store_dict if "c/0/0" in k)
        for wrong in [np.ones(1, "f4"), np.ones((2, 8), "f4"), np.ones((4, 4, 1), "f4")]:
            store._store_dict[key] = type(store._store_dict[key]).from_bytes(leeway.compress(wrong, abs=1e-3, brief=True))
            for read in [lambda: array[...], lambda: array[1:3, 2], lambda: array.__setitem__((1, 1), 5.0)]:
                try:
                    read()
                except ValueError as error:
                    assert "is not a chunk of (4, 4)" in str(error), error
                else:
                    raise AssertionError(f"{wrong.shape} was taken")
        assert np.abs(array[4:, 4:] - np.arange(64, dtype="f4").reshape(8, 8)[4:, 4:]).max() <= 1e-3
        """)
