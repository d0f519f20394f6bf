# SPDX-License-Identifier: BSD-3-Clause
"""The library as installed: found by CMake and pkg-config, cheap to include."""
import ast
import json
import re
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


def test_fortran_and_hdf5_consumers(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer C Fortran)\nfind_package(leeway 0.1 REQUIRED)\n"
        "find_package(PkgConfig REQUIRED)\npkg_search_module(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)\n"
        f"add_executable(fortran {ROOT}/examples/hello.f90)\ntarget_link_libraries(fortran leeway::fortran)\n"
        f"add_executable(hdf5 {ROOT}/examples/hello_hdf5.c)\ntarget_link_libraries(hdf5 leeway::leeway PkgConfig::hdf5 m)\n")
    subprocess.run(["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "build"], cwd=tmp_path, check=True, capture_output=True)
    for program in ["fortran", "hdf5"]:
        done = subprocess.run([tmp_path / "build" / program], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert "largest error" in done.stdout


def test_debian_packages(tmp_path):
    """They are built, unpacked into a folder, and used from there."""
    made = subprocess.run([ROOT / "scripts/package.sh"], check=True, capture_output=True, text=True).stdout
    names = {line.split("/")[-1].split("_")[0]: ROOT / line.strip() for line in made.splitlines() if line.strip().endswith(".deb")}
    assert set(names) == {"libleeway0", "libleeway-dev", "leeway", "hdf5-filter-plugin-leeway"}
    for package in names.values():
        subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    library = tmp_path / "usr/lib/x86_64-linux-gnu"
    assert "libleeway0 (= 0.1.0)" in subprocess.run(["dpkg-deb", "-f", names["libleeway-dev"], "Depends"], capture_output=True, text=True).stdout
    for flavour in ["serial", "openmpi"]:
        env = {"HDF5_PLUGIN_PATH": str(library / f"hdf5/{flavour}/plugins"), "PATH": "/usr/bin:/bin"}
        found = json.loads(subprocess.run([tmp_path / "usr/bin/leeway", "doctor", "--json"], env=env, check=True, capture_output=True).stdout)
        assert {entry["filter"] for entry in found["hdf5"]["libraries"]} == {"ok"}
    subprocess.run(["cc", ROOT / "examples/hello.c", "-I", tmp_path / "usr/include", f"-L{library}", "-lleeway", "-lm",
                    f"-Wl,-rpath,{library}", "-o", tmp_path / "hello"], check=True)
    subprocess.run([tmp_path / "hello"], check=True, capture_output=True)


def test_recipes_of_other_package_managers():
    """Their syntax, and that the CMake options they set exist."""
    options = set(re.findall(r"option\((LEEWAY_\w+)", (ROOT / "CMakeLists.txt").read_text())) | {"LEEWAY_HDF5_PLUGIN_DIR"}
    version = re.search(r"project\(leeway VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    spack = (ROOT / "packaging/spack/packages/leeway/package.py").read_text()
    ast.parse(spack)
    assert set(re.findall(r'"(LEEWAY_\w+)"', spack)) <= options and f'version("{version}")' in spack
    conda = (ROOT / "packaging/conda/meta.yaml").read_text()
    import jinja2
    import yaml
    rendered = jinja2.Template(conda).render(compiler=lambda c: f"{c}-compiler", stdlib=lambda c: f"{c}-stdlib",
                                             pin_subpackage=lambda name, max_pin: f"{name} >={version}")
    meta = yaml.safe_load(rendered)
    assert meta["package"] == {"name": "leeway", "version": version} and "libhwy" in meta["requirements"]["host"]
    script = (ROOT / "packaging/conda/build.sh").read_text()
    assert set(re.findall(r"-D(LEEWAY_\w+)", script)) <= options
    subprocess.run(["bash", "-n", ROOT / "packaging/conda/build.sh"], check=True)


def pkg_config(prefix, *args):
    config = next(prefix.glob("lib*/**/leeway.pc")).parent
    # The file names the prefix it was configured for; a moved one is told by its own variable.
    return subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", *args, "leeway"], check=True,
                          capture_output=True, text=True, env={"PKG_CONFIG_PATH": str(config), "PATH": "/usr/bin:/bin"}
                          ).stdout.split()


def test_a_static_library_works_too(tmp_path):
    subprocess.run(["cmake", "-G", "Ninja", "-B", tmp_path / "build", "-DLEEWAY_SHARED=OFF", "-DLEEWAY_TESTS=OFF",
                    "-DLEEWAY_TOOLS=OFF", ROOT], check=True, capture_output=True)


def test_a_tool_without_hdf5(tmp_path):
    """It works with raw, .npy and .lwy files, and says what it cannot do."""
    build = BUILD.with_name(f"{BUILD.name}-no-hdf5")  # beside the other one, so that ccache has the library already
    subprocess.run(["cmake", "-G", "Ninja", "-B", build, "-DLEEWAY_TOOLS_HDF5=OFF", "-DLEEWAY_TESTS=OFF", ROOT],
                   check=True, capture_output=True)
    subprocess.run(["cmake", "--build", build, "--target", "leeway_cli"], check=True, capture_output=True)
    tool = build / "leeway"
    assert "libhdf5" not in subprocess.run(["ldd", tool], capture_output=True, text=True, check=True).stdout

    def run(*args):
        return subprocess.run([tool, *args], cwd=tmp_path, capture_output=True, text=True)
    for args in [["sample", "climate", "--shape", "60x80", "-o", "a.npy"], ["compress", "a.npy", "--abs", "0.1", "-o", "a.lwy"],
                 ["verify", "a.lwy", "--against", "a.npy"], ["decompress", "a.lwy", "-o", "b_60x80.f32"]]:
        assert run(*args).returncode == 0
    assert run("compare", "a.npy", "b_60x80.f32").returncode == 0
    (tmp_path / "run.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    (tmp_path / "old.nc").write_bytes(b"CDF\x01" + bytes(100))
    for args in [["compress", "run.nc", "--abs", "1", "-o", "c.nc"], ["compress", "run.nc:t", "--abs", "1", "-o", "c.lwy"],
                 ["decompress", "old.nc", "-o", "c.nc"], ["decompress", "run.nc:t", "-o", "c.npy"], ["inspect", "run.nc"],
                 ["verify", "run.nc"], ["compare", "a.npy", "old.nc:t"]]:
        done = run(*args)
        assert done.returncode == 1 and done.stderr.startswith("leeway: '") and "this build of the tool has no HDF5" in done.stderr
        assert done.stderr.count("\n") == 1 and not list(tmp_path.glob("c.*"))
    assert "this build of the tool has no HDF5" in run("filter", "--abs", "1").stderr
    doctor = run("doctor")
    assert doctor.returncode == 0 and "none: this build of the tool has no HDF5" in doctor.stdout and "healthy" in doctor.stdout


def test_pkg_config_finds_it(prefix, tmp_path):
    program = tmp_path / "hello"
    library = next(prefix.glob("lib*/**/libleeway.so")).parent
    subprocess.run(["cc", ROOT / "examples/hello.c", "-o", program, *pkg_config(prefix, "--cflags", "--libs"), "-lm",
                    f"-Wl,-rpath,{library}"], check=True)
    subprocess.run([program], check=True, capture_output=True)


def test_every_header_compiles_alone(prefix, tmp_path):
    """Also the promise that no header needs a third-party one: only the prefix is searched."""
    for header in sorted((prefix / "include").glob("leeway/**/*.h*")):
        flags = subprocess.run(["pkg-config", "--cflags", "hdf5-serial"], capture_output=True, text=True).stdout.split()
        source = tmp_path / "alone.cc"
        source.write_text(f'#include "{header.relative_to(prefix / "include")}"\n')
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-I", prefix / "include", source,
                               *(flags if header.name == "hdf5.h" else [])],
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
