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
        zarr.create_array(store, data=field, chunks=field.shape, serializer=LeewayCodec(abs=1e-4), compressors=None)
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


def test_version_3_complains(python):
    for code, message in [("LeewayCodec()", "a bound is needed"), ("LeewayCodec(abs=0)", "bound"),
                          ("LeewayCodec(abs=1, recipe='nosuch')", "nosuch"),
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
