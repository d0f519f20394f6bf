# SPDX-License-Identifier: BSD-3-Clause
"""netCDF4, nccopy and ncdump."""
import shutil

import netCDF4
import numpy as np
import pytest

from hosts.conftest import ERA
from hosts.field import wave

ID = 47310


@pytest.fixture
def plain(shell):
    field = wave()
    with netCDF4.Dataset(shell.folder / "in.nc", "w") as file:
        for name, extent in zip("zyx", field.shape):
            file.createDimension(name, extent)
        t = file.createVariable("t", "f4", ("z", "y", "x"))
        t.units = "K"
        t[...] = np.ma.masked_array(field, mask=False)
        file.createVariable("count", "i4", ("z",))[:] = np.arange(20)
    return field


def test_nccopy_ncdump_and_back(shell, plain, python):
    shell("nccopy", "-F", f"t,{ID},1,1e-3d", "-c", "t:10,48,32", "in.nc", "out.nc")
    assert f't:_Filter = "{ID},' in shell("ncdump", "-hs", "out.nc")
    assert "nan" in shell("ncdump", "-v", "t", "out.nc").lower()
    python("""
        import netCDF4
        with netCDF4.Dataset("out.nc") as file:
            file.set_auto_mask(False)
            assert file["t"].units == "K" and file["t"].dimensions == ("z", "y", "x")
            check(file["t"][...], wave(), 1e-3)
            assert (file["count"][:] == np.arange(20)).all()
        """)
    # The stored parameters are handed back when a file is copied.
    shell("nccopy", "out.nc", "copy.nc")
    shell("h5diff", "out.nc", "copy.nc", "/t")


@pytest.mark.skipif(not shutil.which("ncks"), reason="NCO is not installed")
def test_nco_hands_the_filter_on(shell, plain, python):
    """It gives the filter of one variable to the others, too, with a word that was left in memory, 0 in this case: these others
    must stay as they are."""
    with netCDF4.Dataset(shell.folder / "filled.nc", "w") as file:
        for name, extent in zip("zyx", plain.shape):
            file.createDimension(name, extent)
        file.createVariable("t", "f4", ("z", "y", "x"), fill_value=np.float32(1e20))[...] = wave(special=False)
        file.createVariable("count", "i4", ("z",))[:] = np.arange(20)
    shell("nccopy", "-F", f"t,{ID},1,1e-3d", "-c", "t:10,48,32", "filled.nc", "out.nc")
    shell("ncks", "-O", "-d", "z,0,9", "out.nc", "part.nc")
    python("""
        import netCDF4
        field = wave(special=False)
        with netCDF4.Dataset("part.nc") as file:
            check(file["t"][...].data, field[:10], 1e-3)
            assert (file["count"][:] == np.arange(10)).all()
        """)


def test_nccopy_refuses_nonsense(shell, plain):
    assert "HDF error" in shell("nccopy", "-F", f"t,{ID},2,1e-3d", "in.nc", "out.nc", fails=True)


def test_the_c_interface(shell):
    """nc_def_var_filter in a program that knows nothing of leeway but the number of the filter."""
    (shell.folder / "writer.c").write_text("""
        #include <netcdf.h>
        #include <math.h>
        #include <stdio.h>
        #include <string.h>
        static float field[50][60], again[50][60];
        #define TRY(call) do { int s = call; if (s) { puts(nc_strerror(s)); return 1; } } while (0)
        int main(void) {
          int file, dims[2], t; size_t chunk[2] = {25, 60}; double bound = 1e-2, worst = 0; unsigned words[3] = {1};
          memcpy(words + 1, &bound, 8);
          for (int i = 0; i < 50; ++i) for (int j = 0; j < 60; ++j) field[i][j] = sinf(0.1f * i) + cosf(0.2f * j);
          TRY(nc_create("c.nc", NC_NETCDF4, &file));
          TRY(nc_inq_filter_avail(file, 47310));
          TRY(nc_def_dim(file, "y", 50, dims)); TRY(nc_def_dim(file, "x", 60, dims + 1));
          TRY(nc_def_var(file, "t", NC_FLOAT, 2, dims, &t));
          TRY(nc_def_var_chunking(file, t, NC_CHUNKED, chunk));
          TRY(nc_def_var_filter(file, t, 47310, 3, words));
          TRY(nc_put_var_float(file, t, &field[0][0])); TRY(nc_close(file));
          TRY(nc_open("c.nc", NC_NOWRITE, &file)); TRY(nc_get_var_float(file, 0, &again[0][0])); TRY(nc_close(file));
          for (int i = 0; i < 50; ++i) for (int j = 0; j < 60; ++j) worst = fmax(worst, fabs(field[i][j] - again[i][j]));
          return !(worst > 0 && worst <= bound);
        }""")
    flags = shell("nc-config", "--cflags", "--libs").split()
    shell("cc", "writer.c", "-o", "writer", *flags, "-lm")
    shell(shell.folder / "writer")


@pytest.mark.skipif(not ERA.exists(), reason="the reanalysis file is not there")
def test_reanalysis(shell, python):
    """A classic file of packed integers, as the command line takes it."""
    from conftest import BUILD
    shell(BUILD / "leeway", "compress", f"{ERA}:u,v", "--abs", "0.01", "--variable", "z=abs:5", "-o", "out.nc")
    python(f"""
        import netCDF4
        with netCDF4.Dataset({str(ERA)!r}) as before, netCDF4.Dataset("out.nc") as after:
            assert set(before.variables) == set(after.variables)
            for name, bound in dict(u=0.01, v=0.01, z=5).items():
                assert after[name].dimensions == before[name].dimensions and after[name].units == before[name].units
                error = np.abs(before[name][...].data.astype("f8") - after[name][...].data).max()
                assert 0 < error <= bound * (1 + 1e-12)
                assert abs(after[name].lossy_compression_maximum_error - error) < 1e-6 * bound
                assert after[name].lossy_compression_bound == f"abs={{bound}}"
            assert (before["longitude"][...] == after["longitude"][...]).all()
        """)
