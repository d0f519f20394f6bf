# SPDX-License-Identifier: BSD-3-Clause
"""The library as installed and as a part of other projects: found by CMake and pkg-config, cheap to include, and no
burden on the programs that use it."""
import ast
import json
import re
import shutil
import subprocess
import time

import pytest

from conftest import BUILD, ROOT


def run(*command, cwd=None, env=None):
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(build, folder):
    """An install tree that was moved after it had been made."""
    run("cmake", "--install", build, "--prefix", folder / "first")
    (folder / "first").rename(folder / "moved")
    return folder / "moved"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return installed(BUILD, tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def static_build():
    """A static library, and a tool without HDF5: beside the other build, so that ccache has all of it already."""
    build = BUILD.with_name(f"{BUILD.name}-static")
    run("cmake", "-G", "Ninja", "-B", build, "-DBUILD_SHARED_LIBS=OFF", "-DLEEWAY_TOOLS_HDF5=OFF", "-DLEEWAY_TESTS=OFF", "-DLEEWAY_WERROR=ON", ROOT)
    run("cmake", "--build", build, "--target", "libleeway.a", "leeway_cli")
    return build


@pytest.fixture(scope="module")
def static_prefix(static_build, tmp_path_factory):
    return installed(static_build, tmp_path_factory.mktemp("static"))


CONSUMER = f"""
cmake_minimum_required(VERSION 3.22)
project(consumer CXX C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_STANDARD 17)
find_package(leeway 0.1 REQUIRED)
add_executable(hello {ROOT}/examples/hello.cc)
target_compile_features(hello PRIVATE cxx_std_20)
target_link_libraries(hello leeway::leeway)
add_executable(own_stage {ROOT}/examples/own_stage.cc)
target_link_libraries(own_stage leeway::compose)
add_executable(hello_c {ROOT}/examples/hello.c)
target_link_libraries(hello_c leeway::leeway m)
add_executable(old old.cc)
target_link_libraries(old leeway::leeway)
"""


def check_cmake_consumers(prefix, folder):
    (folder / "CMakeLists.txt").write_text(CONSUMER)
    (folder / "old.cc").write_text("#include <leeway/leeway.h>\nint main() { return __cplusplus != 201703L || !leeway_version(); }\n")
    run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    for program in ["hello", "own_stage", "hello_c", "old"]:
        run(folder / "build" / program)
    for compiled in json.loads((folder / "build/compile_commands.json").read_text()):
        options = [option for option in compiled["command"].split() if option.startswith("-") and option not in ("-c", "-o")]
        composes = compiled["file"].endswith("own_stage.cc")
        assert ("-ffp-contract=off" in options) == composes
        assert all(re.match("-(std=|isystem|ffp-contract)", option) for option in options), options


def check_pkg_config_consumers(prefix, folder, *how):
    library = next(prefix.glob("lib*/**/leeway.pc")).parent.parent
    env = {"PKG_CONFIG_PATH": str(library / "pkgconfig"), "PATH": "/usr/bin:/bin"}
    for compiler, source, package, flags in [("cc", "hello.c", "leeway", []), ("c++", "hello.cc", "leeway", ["-std=c++20"]),
                                             ("c++", "own_stage.cc", "leeway-compose", [])]:
        options = run("pkg-config", *how, "--cflags", package, env=env).split()
        assert package == "leeway-compose" or all(option.startswith("-I") for option in options), options
        options += run("pkg-config", *how, "--libs", package, env=env).split()
        program = folder / source.replace(".", "_")
        run(compiler, ROOT / "examples" / source, "-o", program, *flags, *options, "-lm", f"-Wl,-rpath,{library}")
        run(program)


def test_a_shared_library_is_found(prefix, tmp_path):
    check_cmake_consumers(prefix, tmp_path)
    check_pkg_config_consumers(prefix, tmp_path)


def test_a_static_library_is_found(static_prefix, tmp_path):
    check_cmake_consumers(static_prefix, tmp_path)
    check_pkg_config_consumers(static_prefix, tmp_path, "--static")
    assert not list(static_prefix.glob("**/libleeway.so*"))
    # Programs in C need not know that the library is in C++.
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(consumer C)\nfind_package(leeway REQUIRED)\n"
        f"add_executable(hello_c {ROOT}/examples/hello.c)\ntarget_link_libraries(hello_c leeway::leeway m)\n")
    run("cmake", "-B", "build-c", f"-DCMAKE_PREFIX_PATH={static_prefix}", cwd=tmp_path)
    run("cmake", "--build", "build-c", cwd=tmp_path)
    run(tmp_path / "build-c/hello_c")


def test_what_was_not_built_is_not_installed(static_prefix):
    """The static build made neither the HDF5 plugin nor tests."""
    assert not [path for path in static_prefix.glob("**/libh5zleeway.so") if path.exists()]
    assert (static_prefix / "bin/leeway").exists()


@pytest.mark.parametrize("kind", ["STATIC_LIBRARY", "SHARED_LIBRARY"])
def test_as_a_part_of_another_project(kind, tmp_path):
    """It brings a library only, of the kind the project asks for, and installs nothing."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(host CXX C)\nadd_subdirectory({ROOT} leeway)\n"
        "get_target_property(kind leeway TYPE)\nmessage(STATUS \"kind: ${kind}\")\n"
        "get_directory_property(made DIRECTORY leeway BUILDSYSTEM_TARGETS)\nmessage(STATUS \"made: ${made}\")\n"
        "add_executable(mine mine.c)\ntarget_link_libraries(mine leeway::leeway)\n".replace("DIRECTORY leeway", f"DIRECTORY {ROOT}"))
    (tmp_path / "mine.c").write_text('#include "leeway/leeway.h"\nint main(void) { return !leeway_version(); }\n')
    said = run("cmake", "-G", "Ninja", "-B", "build", f"-DBUILD_SHARED_LIBS={'ON' if kind[1] == 'H' else 'OFF'}", cwd=tmp_path)
    assert f"kind: {kind}" in said and "made: leeway_objects;leeway;leeway_compose" in said, said
    assert run("cmake", "--install", "build", "--prefix", tmp_path / "prefix", cwd=tmp_path).count("Installing") == 0
    assert not (tmp_path / "prefix").exists() or not list((tmp_path / "prefix").rglob("*leeway*"))
    assert "-ffp-contract" not in run("ninja", "-C", tmp_path / "build", "-t", "commands", "CMakeFiles/mine.dir/mine.c.o")


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
    assert set(names) == {"libleeway0.1", "libleeway-dev", "leeway", "hdf5-filter-plugin-leeway"}
    for package in names.values():
        subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    library = tmp_path / "usr/lib/x86_64-linux-gnu"
    assert "libleeway0.1 (= 0.1.0)" in subprocess.run(["dpkg-deb", "-f", names["libleeway-dev"], "Depends"], capture_output=True, text=True).stdout
    for flavour in ["serial", "openmpi"]:
        env = {"HDF5_PLUGIN_PATH": str(library / f"hdf5/{flavour}/plugins"), "PATH": "/usr/bin:/bin"}
        found = json.loads(subprocess.run([tmp_path / "usr/bin/leeway", "doctor", "--json"], env=env, check=True, capture_output=True).stdout)
        assert {entry["filter"] for entry in found["hdf5"]["libraries"]} == {"ok"}
    subprocess.run(["cc", ROOT / "examples/hello.c", "-I", tmp_path / "usr/include", f"-L{library}", "-lleeway", "-lm",
                    f"-Wl,-rpath,{library}", "-o", tmp_path / "hello"], check=True)
    subprocess.run([tmp_path / "hello"], check=True, capture_output=True)


def test_recipes_of_other_package_managers():
    """Their syntax, and that the CMake options they set exist."""
    options = set(re.findall(r"option\((LEEWAY_\w+)", (ROOT / "CMakeLists.txt").read_text())) | {"LEEWAY_HDF5_PLUGIN_DIR", "LEEWAY_GPU"}
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


def test_a_tool_without_hdf5(static_build, tmp_path):
    """It works with raw, .npy and .lwy files, and says what it cannot do."""
    tool = static_build / "leeway"
    assert "libhdf5" not in subprocess.run(["ldd", tool], capture_output=True, text=True, check=True).stdout

    def call(*args):
        return subprocess.run([tool, *args], cwd=tmp_path, capture_output=True, text=True)
    for args in [["sample", "climate", "--shape", "60x80", "-o", "a.npy"], ["compress", "a.npy", "--abs", "0.1", "-o", "a.lwy"],
                 ["verify", "a.lwy", "--against", "a.npy"], ["decompress", "a.lwy", "-o", "b_60x80.f32"]]:
        assert call(*args).returncode == 0
    assert call("compare", "a.npy", "b_60x80.f32").returncode == 0
    (tmp_path / "run.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    (tmp_path / "old.nc").write_bytes(b"CDF\x01" + bytes(100))
    for args in [["compress", "run.nc", "--abs", "1", "-o", "c.nc"], ["compress", "run.nc:t", "--abs", "1", "-o", "c.lwy"],
                 ["decompress", "old.nc", "-o", "c.nc"], ["decompress", "run.nc:t", "-o", "c.npy"], ["inspect", "run.nc"],
                 ["verify", "run.nc"], ["compare", "a.npy", "old.nc:t"]]:
        done = call(*args)
        assert done.returncode == 1 and done.stderr.startswith("leeway: '") and "this build of the tool has no HDF5" in done.stderr
        assert done.stderr.count("\n") == 1 and not list(tmp_path.glob("c.*"))
    assert "this build of the tool has no HDF5" in call("filter", "--abs", "1").stderr
    doctor = call("doctor")
    assert doctor.returncode == 0 and "none: this build of the tool has no HDF5" in doctor.stdout and "healthy" in doctor.stdout


def test_every_header_compiles_alone(prefix, tmp_path):
    """Also the promise that no header needs a third-party one: only the prefix is searched."""
    for header in sorted((prefix / "include").glob("leeway/**/*.h*")):
        if header.name == "leeway_mpi.h":
            continue  # for the compiler of an MPI; tests/hosts/test_mpi.py includes it
        flags = subprocess.run(["pkg-config", "--cflags", "hdf5-serial"], capture_output=True, text=True).stdout.split()
        source = tmp_path / "alone.cc"
        source.write_text(f'#include "{header.relative_to(prefix / "include")}"\n')
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-I", prefix / "include", source,
                               *(flags if header.name == "hdf5.h" else [])],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_only_public_headers_are_installed(prefix):
    """Whoever includes others than these gets what the interfaces need and no more."""
    headers = {str(path.relative_to(prefix / "include/leeway")) for path in (prefix / "include").rglob("*.h*")}
    assert {"leeway.h", "leeway.hpp", "compressor.h", "array.h", "hdf5.h", "leeway_decode.h", "recipe/recipe.h", "predict/lorenzo.h"} <= headers
    assert not [name for name in headers if name.endswith("_test.h") or name.endswith("-inl.h")]
    assert not headers & {"chunk_memory.h", "whole_bound.h", "choose/choose.h", "engine/rate.h", "codec/make_codec.h"}


def test_only_the_interface_is_exported(prefix):
    library = BUILD / "lib/libleeway.so"
    assert "[libleeway.so.0.1]" in run("readelf", "-d", library)
    names = [line.split(maxsplit=2)[2] for line in run("nm", "-DC", "--defined-only", library).splitlines() if " A " not in line]
    # Templates begin with what they return.
    strange = [name for name in names if not re.match(r"leeway_|((typeinfo|typeinfo name|vtable) for |[^(]* )?leeway::", name)]
    assert strange == []
    # Each has a place in a header that users have.
    words = {word for path in (prefix / "include").rglob("*.h*") for word in re.findall(r"\w+", path.read_text())}
    unknown = set()
    for name in names:
        plain = re.sub(r"\(.*|@.*|\[abi:.*", "", name)
        while "<" in plain.replace("operator<", ""):
            plain, before = re.sub(r"<[^<>]*>", "", plain), plain
            if plain == before:
                break
        if re.findall(r"\w+", plain)[-1] not in words:
            unknown.add(name)
    assert unknown == set()


def test_including_the_interface_is_cheap(tmp_path):
    source = tmp_path / "user.cc"
    source.write_text('#include "leeway/leeway.hpp"\nint main() { return leeway::version()[0] == 0; }\n')
    start = time.monotonic()
    subprocess.run(["g++", "-std=c++20", "-O2", "-I", ROOT, "-c", source, "-o", tmp_path / "user.o"], check=True)
    print(f"{time.monotonic() - start:.2f} s")
    size = len(subprocess.run(["g++", "-std=c++20", "-E", "-P", "-I", ROOT, source], capture_output=True, text=True).stdout.splitlines())
    assert size < 60000  # lines behind the preprocessor: what the time depends on
