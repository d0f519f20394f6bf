# SPDX-License-Identifier: BSD-3-Clause
"""The single-header decoder, compiled in the ways its users compile it."""
import pathlib
import subprocess

import pytest
from conftest import ROOT

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZED = ["-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
VARIANTS = {
    "c99": ["cc", "-std=c99", "-O2"],
    "c17": ["cc", "-std=c17", "-O3"],
    "c++11": ["c++", "-x", "c++", "-std=c++11", "-O1"],
    "sanitized": ["clang", *SANITIZED],
    # With checksums passed over, damage gets deeper.
    "unguarded": ["clang", *SANITIZED, "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"],
    "libzstd": ["cc", "-std=c99", "-O2", "-DLEEWAY_DECODE_USE_ZSTD"],
}


class Driver:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments, status=0):
        """Its standard output, if it ends with this status."""
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, timeout=600)
        assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout

    def compare(self, *streams):
        """By name of the stream, what became of it: same, or the reason why not."""
        done = subprocess.run([self.path, "compare", *map(str, streams)], capture_output=True, text=True, timeout=600)
        assert not done.stderr, done.stderr[-4000:]
        lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
        return {pathlib.Path(path).stem: what for path, what in lines}


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """driver(variant): the program of the tests, compiled so; once each."""
    folder, made = tmp_path_factory.mktemp("driver"), {}

    def make(variant="c99"):
        if variant not in made:
            program = folder / variant
            libraries = ["-lzstd"] if variant == "libzstd" else []
            command = [*VARIANTS[variant], *STRICT, ROOT / "tests/decoder/driver.c", "-o", program, *libraries]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            made[variant] = Driver(program)
        return made[variant]

    return make
