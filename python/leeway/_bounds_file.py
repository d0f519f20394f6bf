# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of many variables, from a file in TOML or from a mapping (docs/CLIMATE.md). tools/variable_bounds.cc reads the same."""
from __future__ import annotations

import fnmatch
import os
from typing import Any, Iterable, Mapping, NamedTuple

KINDS = ("abs", "rel", "psnr", "l2", "pointwise")
RULES = ("keep", "min", "max")


class OwnBound(NamedTuple):
    """What is asked of a variable, or of all whose names match a pattern."""

    limits: dict[str, Any]
    recipe: str | None = None
    rules: Mapping[str, Any] = {}  #: keep, min, max


class Bounds(NamedTuple):
    """What a file says."""

    general: dict[str, Any]  #: for the floating-point variables that are not named; empty: they stay as they are
    recipe: str | None
    excluded: list[str]
    own: dict[str, OwnBound]  #: by name or pattern, in the order of the file

    def of(self, name: str, is_candidate: bool) -> OwnBound | None:
        """A name counts more than a pattern, which means only variables that hold data; of several patterns the last one counts."""
        if name in self.own:
            return self.own[name]
        found = [bound for pattern, bound in self.own.items() if is_pattern(pattern) and fnmatch.fnmatchcase(name, pattern)]
        return found[-1] if found and is_candidate else None

    def without_meaning(self, names: Iterable[str]) -> list[str]:
        """The names and patterns that mean none of these variables."""
        names = list(names)
        return [own for own in self.own if not any(name == own or fnmatch.fnmatchcase(name, own) for name in names)]


NONE = Bounds({}, None, [], {})


def is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def read(given: str | os.PathLike | Mapping[str, Any] | None) -> Bounds:
    """From a file, or from a mapping like its table [variables]."""
    if given is None:
        return NONE
    if isinstance(given, Mapping):
        return NONE._replace(own={str(name): _own_bound(str(name), value) for name, value in given.items()})
    try:
        import tomllib
    except ImportError:  # Python before 3.11
        try:
            import tomli as tomllib
        except ImportError:
            raise ImportError("Python before 3.11 needs the package tomli to read a bounds file") from None
    with open(given, "rb") as file:
        try:
            said = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{os.fspath(given)!r}: {error}") from None
    return _bounds(said, os.fspath(given))


def _bounds(said: Mapping[str, Any], path: str) -> Bounds:
    unknown = set(said) - {"default", "recipe", "exclude", "variables"}
    if unknown or not isinstance(said.get("variables", {}), Mapping):
        raise ValueError(f"{path!r}: {min(unknown, default='variables')!r} means nothing; there are default, recipe, exclude and the "
                         "table [variables]")
    exclude = said.get("exclude", [])
    if not isinstance(exclude, (str, list)) or not all(isinstance(name, str) for name in exclude):
        raise ValueError(f"{path!r}: exclude is a name or a list of names")
    try:
        general = _own_bound("default", said["default"]).limits if "default" in said else {}
        own = {name: _own_bound(name, value) for name, value in said.get("variables", {}).items()}
    except ValueError as error:
        raise ValueError(f"{path!r}: {error}") from None
    return Bounds(general, said.get("recipe"), [exclude] if isinstance(exclude, str) else exclude, own)


def _own_bound(name: str, said: Any) -> OwnBound:
    """From a text like "abs:0.01,psnr:60" or "abs:1e-6,keep:zeros,min:0", or a table like { rel = 1e-4, recipe = "small" }."""
    limits: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    items = dict(said) if isinstance(said, Mapping) else dict(_parsed(said)) if isinstance(said, str) else {}
    recipe = items.pop("recipe", None) if isinstance(said, Mapping) else None
    for kind, value in items.items():
        if kind in RULES and isinstance(value, str if kind == "keep" else (int, float)):
            rules[kind] = value if kind == "keep" else float(value)
        elif kind == "lossless" and value is True:
            limits[kind] = True
        elif kind in KINDS and isinstance(value, (int, float)) and not isinstance(value, bool):
            limits[kind] = float(value)
        else:
            limits = {}
            break
    if not limits:
        raise ValueError(f"{name!r} needs a bound, like \"abs:0.01\", \"lossless\" or {{ rel = 1e-4 }}, not {said!r}; there are "
                         f"{', '.join(KINDS)} and lossless")
    return OwnBound(limits, recipe, rules)


def _parsed(text: str) -> Iterable[tuple[str, Any]]:
    kept = [item.partition(":")[2] for item in text.split(",") if item.startswith("keep:")]
    if kept:
        yield "keep", ",".join(kept)
    for item in text.split(","):
        kind, _, value = item.partition(":")
        if kind == "keep":
            continue
        try:
            yield kind, True if item == "lossless" else float(value)
        except ValueError:
            yield kind, value  # no number: refused above
