# SPDX-License-Identifier: BSD-3-Clause
"""digests.py GOLDEN: compresses the arrays of the golden streams with every named recipe, and prints a checksum of each stream
and its values. The output must be the same on every processor, from every compiler."""
import hashlib
import pathlib
import sys

import leeway
import numpy as np


def small_fields(golden):
    for path in sorted(golden.glob("*.lwy")):
        if "_bf16_" not in path.name:  # NumPy has no such numbers
            yield path.stem, leeway.decompress(path.read_bytes())


def large_fields():
    """Of several chunks; made of whole numbers and divisions, so that they have the same bits everywhere."""
    i = np.indices((40, 150, 260))
    field = ((i[0] * 31 + i[1] ** 2 + (i[2] - 20) ** 3) % 100003 / np.float32(64)).astype("f4")
    return [("large f4", field), ("large f8", field.astype("f8") / 3), ("large i2", field.astype("i2"))]


def digest(field, recipe, bound):
    try:
        stream = leeway.compress(field, recipe=recipe, threads=2, **bound)
        return hashlib.sha256(stream + leeway.decompress(stream).tobytes()).hexdigest()[:16]
    except (ValueError, NotImplementedError) as error:
        return type(error).__name__


for fields, recipes in [(small_fields(pathlib.Path(sys.argv[1])), leeway.recipes()), (large_fields(), ["fast", "balanced", "small"])]:
    for name, field in fields:
        for recipe in recipes:
            for bound in ({"rel": 1e-3}, {"pointwise": 1e-2}, {"lossless": True}):
                print(name, recipe, *bound, digest(field, recipe, bound))
