# SPDX-License-Identifier: BSD-3-Clause
"""What the conventions for netCDF files (CF, UGRID) mark as a description of other variables: coordinates, cell bounds,
meshes, flags. Nothing of that may be altered unless it is named. tools/h5_cf.cc says the same for the command line."""
from __future__ import annotations

from typing import Any, Iterator

#: Attributes whose values are names of other variables.
NAMING = {"coordinates", "bounds", "climatology", "formula_terms", "grid_mapping", "ancillary_variables", "cell_measures",
          "node_coordinates", "node_count", "part_node_count", "interior_ring", "geometry"}
NAMING_ENDS = ("_coordinates", "_connectivity")

#: Attributes that only such variables have.
MARKS = ("axis", "flag_values", "flag_masks", "flag_meanings", "cf_role", "_CoordinateAxisType", "formula_terms", "bounds",
         "climatology")
DEGREES = {f"{degree}{end}" for degree in ("degree", "degrees") for end in ("_north", "_N", "N", "_east", "_E", "E")}
STANDARD_NAMES = {"latitude", "longitude", "time", "grid_latitude", "grid_longitude", "projection_x_coordinate",
                  "projection_y_coordinate"}


def _own_reason(attributes: dict[str, Any]) -> str | None:
    for mark in MARKS:
        if mark in attributes:
            return f"it has the attribute {mark!r}"
    units, standard_name = str(attributes.get("units", "")), attributes.get("standard_name")
    if units in DEGREES or " since " in units:
        return f"its unit is {units!r}"
    if isinstance(standard_name, str) and standard_name in STANDARD_NAMES:
        return f"its standard name is {standard_name!r}"
    return None


def _named(attributes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Attributes, and the names of variables in them."""
    for attribute, text in attributes.items():
        if not isinstance(text, str) or not (attribute in NAMING or attribute.endswith(NAMING_ENDS)):
            continue
        for word in text.split():
            # "area: cell_area" and "sigma: s ps: p" say what a variable is for; "crs: x y" names it.
            if not word.endswith(":") or attribute == "grid_mapping":
                yield attribute, word.rstrip(":")


def descriptions(ds: Any) -> dict[str, str]:
    """The variables of a dataset that describe others, each with the reason."""
    reasons = {name: "it is a coordinate" for name in ds.coords}
    said = {name: {**variable.encoding, **variable.attrs} for name, variable in ds.variables.items()}
    for name, attributes in said.items():
        reason = _own_reason(attributes)
        if reason:
            reasons.setdefault(name, reason)
    for owner, attributes in {**said, "the dataset": {**ds.encoding, **ds.attrs}}.items():
        for attribute, name in _named(attributes):
            if name in ds.variables:
                reasons.setdefault(name, f"{attribute!r} of {owner} names it")
    return reasons
