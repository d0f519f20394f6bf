# SPDX-License-Identifier: BSD-3-Clause
"""The library as installed: found by CMake and pkg-config, cheap to include."""
import subprocess
import time

import pytest

from conftest import BUILD, ROOT


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True)
    return folder


def test_cmake_finds_it(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer CXX C)\nfind_package(leeway 0.1 REQUIRED)\n"
        f"add_executable(hello {ROOT}/examples/hello.cc)\ntarget_link_libraries(hello leeway::leeway)\n"
        f"add_executable(own_stage {ROOT}/examples/own_stage.cc)\ntarget_link_libraries(own_stage leeway::leeway)\n"
        f"add_executable(hello_c {ROOT}/examples/hello.c)\ntarget_link_libraries(hello_c leeway::leeway m)\n")
    subprocess.run(["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "build"], cwd=tmp_path, check=True, capture_output=True)
    for program in ["hello", "own_stage", "hello_c"]:
        subprocess.run([tmp_path / "build" / program], check=True, capture_output=True)


def pkg_config(prefix, *args):
    config = next(prefix.glob("lib*/**/leeway.pc")).parent
    # The file names the prefix it was configured for; a moved one is told by its own variable.
    return subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", *args, "leeway"], check=True,
                          capture_output=True, text=True, env={"PKG_CONFIG_PATH": str(config), "PATH": "/usr/bin:/bin"}
                          ).stdout.split()


def test_a_static_library_works_too(tmp_path):
    subprocess.run(["cmake", "-G", "Ninja", "-B", tmp_path / "build", "-DLEEWAY_SHARED=OFF", "-DLEEWAY_TESTS=OFF",
                    "-DLEEWAY_TOOLS=OFF", ROOT], check=True, capture_output=True)


def test_pkg_config_finds_it(prefix, tmp_path):
    program = tmp_path / "hello"
    library = next(prefix.glob("lib*/**/libleeway.so")).parent
    subprocess.run(["cc", ROOT / "examples/hello.c", "-o", program, *pkg_config(prefix, "--cflags", "--libs"), "-lm",
                    f"-Wl,-rpath,{library}"], check=True)
    subprocess.run([program], check=True, capture_output=True)


def test_every_header_compiles_alone(prefix, tmp_path):
    """Also the promise that no header needs a third-party one: only the prefix is searched."""
    for header in sorted((prefix / "include").glob("leeway/**/*.h*")):
        source = tmp_path / "alone.cc"
        source.write_text(f'#include "{header.relative_to(prefix / "include")}"\n')
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-I", prefix / "include", source],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_only_the_interface_is_exported():
    symbols = subprocess.run(["nm", "-DC", "--defined-only", BUILD / "lib/libleeway.so"], capture_output=True, text=True,
                             check=True).stdout
    names = [line.split(maxsplit=2)[2] for line in symbols.splitlines()]
    strange = [n for n in names if "leeway" not in n and "std::" not in n]  # templates of the standard library are weak
    assert strange == []


def test_including_the_interface_is_cheap(tmp_path):
    source = tmp_path / "user.cc"
    source.write_text('#include "leeway/leeway.hpp"\nint main() { return leeway::version()[0] == 0; }\n')
    start = time.monotonic()
    subprocess.run(["g++", "-std=c++20", "-O2", "-I", ROOT, "-c", source, "-o", tmp_path / "user.o"], check=True)
    print(f"{time.monotonic() - start:.2f} s")
    size = len(subprocess.run(["g++", "-std=c++20", "-E", "-P", "-I", ROOT, source], capture_output=True, text=True).stdout.splitlines())
    assert size < 75000  # lines behind the preprocessor: what the time depends on
