# SPDX-License-Identifier: BSD-3-Clause
"""What is public says so, and says what it is."""
import importlib
import inspect
import pkgutil
import re

import leeway
import pytest

MODULES = ["leeway", *(f"leeway.{module.name}" for module in pkgutil.iter_modules(leeway.__path__) if not module.name.startswith("_"))]


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        return pytest.skip(str(missing))


def members(owner):
    """Methods and properties that a class defines itself, as functions."""
    for name, member in vars(owner).items():
        member = getattr(member, "__func__", getattr(member, "fget", member))
        if not name.startswith("_") and inspect.isfunction(member):
            yield f"{owner.__name__}.{name}", member


def is_explained(value):
    said = value.__doc__ or ""
    only_fields = re.match(rf"{value.__name__}\(\w+: ", said)  # what Python gives to a data class without a docstring
    return len(said.split()) >= 2 and not only_fields


def test_the_modules_are_found():
    assert set(MODULES) == {"leeway", "leeway.gpu", "leeway.hdf5", "leeway.mpi", "leeway.numcodecs", "leeway.references", "leeway.virtual", "leeway.xarray", "leeway.zarr"}


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_listed_and_explained(name):
    module = imported(name)
    assert inspect.getdoc(module) and module.__all__ == sorted(set(module.__all__))
    public = {each: getattr(module, each) for each in module.__all__}
    documented = {each: value for each, value in public.items() if inspect.isfunction(value) or inspect.isclass(value)}
    assert documented
    for owner in [value for value in documented.values() if inspect.isclass(value)]:
        documented.update(members(owner))
    assert [each for each, value in documented.items() if not is_explained(value)] == []


@pytest.mark.parametrize("name", MODULES)
def test_nothing_public_is_left_out(name):
    """What a module defines itself and does not hide."""
    module = imported(name)
    defined = {each for each, value in vars(module).items() if not each.startswith("_") and getattr(value, "__module__", None) == name
               and (inspect.isfunction(value) or inspect.isclass(value))}
    assert defined <= set(module.__all__)
