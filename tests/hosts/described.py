# SPDX-License-Identifier: BSD-3-Clause
"""A netCDF file with what CF and UGRID say must not be touched, of every kind, and two variables with data: t and q."""
import netCDF4
import numpy as np

from hosts.field import check, wave

UNTOUCHED = ["time", "time_bnds", "time_clim", "reference", "nav_lat", "nav_lon", "height", "sigma", "s", "ps", "area", "quality",
             "error", "level", "node_x", "node_y"]


def make(path):
    with netCDF4.Dataset(path, "w") as file:
        for name, extent in dict(time=20, y=48, x=64, two=2, node=5000).items():
            file.createDimension(name, extent)

        def add(name, dims, scale=1.0, **attributes):
            variable = file.createVariable(name, "f8", dims)
            variable.setncatts(attributes)
            shape = tuple(file.dimensions[dim].size for dim in dims)
            variable[...] = (wave(special=False).ravel()[:np.prod(shape, dtype=int)].reshape(shape) + 3.7) * scale

        add("time", ("time",), 24.0, units="hours since 1970-01-01", bounds="time_bnds", climatology="time_clim")
        add("time_bnds", ("time", "two"), 1e4)
        add("time_clim", ("time", "two"), 1e4)
        add("reference", ("time",), 1e4, units="hours since 1970-01-01")
        add("nav_lat", ("y", "x"), 10.0, units="degrees_north")
        add("nav_lon", ("y", "x"), 10.0, standard_name="longitude")
        add("height", ("y", "x"), 10.0)
        add("sigma", ("y",), 0.1)
        add("s", ("time",), 0.1, standard_name="atmosphere_sigma_coordinate", formula_terms="sigma: sigma ps: ps ptop: ptop")
        add("ps", ("time", "y", "x"), 1e5)
        add("area", ("y", "x"), 1e6)
        add("quality", ("time", "y", "x"), flag_values=np.array([0.0, 1.0]), flag_meanings="bad good")
        add("error", ("time", "y", "x"))
        add("level", ("y",), axis="Z")
        add("node_x", ("node",), 10.0)
        add("node_y", ("node",), 10.0)
        file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        mesh = file.createVariable("mesh", "i4", ())
        mesh.setncatts(dict(cf_role="mesh_topology", node_coordinates="node_x node_y"))
        add("t", ("time", "y", "x"), coordinates="nav_lat nav_lon height", cell_measures="area: area", grid_mapping="crs: x y",
            ancillary_variables="quality error", units="K")
        add("q", ("time", "y", "x"), 1e-3)


def values(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: file[name][...] for name in file.variables}


def compare(before, after, bounds):
    """Within these bounds, and the same where there is none."""
    for name in UNTOUCHED:
        assert name in bounds or (before[name] == after[name]).all(), (name, np.abs(before[name] - after[name]).max())
    for name, bound in bounds.items():
        check(after[name], before[name], bound)
