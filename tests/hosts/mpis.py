# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that are here, each with its way to reach files: what test_mpi*.py have in common."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

LONG = "LEEWAY_MPI_LONG" in os.environ
SHAPE, CHUNK = "32x40x48", "8x16x16"


class Mpi:
    """One MPI with one way to write files."""

    def __init__(self, name, env, launch, folder):
        self.name, self.launch, self.folder = name, launch, folder
        self.env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env}
        self.compiler = f"mpicc.{name.split('-')[0]}"

    def build(self, source=ROOT / "tests/hosts/mpi_program.c", program="program"):
        if not shutil.which(self.compiler):
            pytest.skip(f"{self.compiler} is not installed: nothing is tried with {self.name}")
        subprocess.run([self.compiler, "-Wall", "-Wextra", "-Werror", "-O1", f"-I{ROOT}", f"-I{ROOT}/mpi", source, ROOT / "mpi/leeway_mpi.c",
                        f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-lm", "-o", self.folder / program], check=True)
        return self

    def command(self, ranks, *commands):
        """The words that run commands one after the other on these ranks."""
        words = [word for command in commands for word in ("--", *command.split())][1:]
        return [*self.launch, "-n", str(ranks), str(self.folder / "program"), *words]

    def run(self, ranks, *commands, timeout=120, env=None):
        """Returns the finished process."""
        return subprocess.run(self.command(ranks, *commands), cwd=self.folder, capture_output=True, text=True, env={**self.env, **(env or {})},
                              timeout=timeout)

    def __call__(self, ranks, *commands, **options):
        done = self.run(ranks, *commands, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def path(self, name):
        return self.folder / name

    def serial(self, name, field, recipe, bound, chunk=CHUNK, dtype="f32"):
        """What the tool makes of the whole array in one piece."""
        raw = f"{field}.{dtype}.raw"
        if not self.path(raw).exists():
            self(1, f"field {raw} {SHAPE} {field} type={dtype}")
        kind, value = bound.split("=")
        subprocess.run([BUILD / "leeway", "compress", raw, "-f", "-o", name, "--dtype", dtype, "--shape", SHAPE, "--chunk", chunk, "--recipe",
                        recipe, "--fill=-999", *([f"--{kind}"] if kind == "lossless" else [f"--{kind}", value])],
                       cwd=self.folder, check=True, capture_output=True)
        return self.path(name).read_bytes()

    def left(self):
        """Files that writing has left behind."""
        return [path.name for path in self.folder.iterdir() if ".part-" in path.name]

    def python(self):
        """The environment of Python programs, in whose folders mpi4py finds this MPI."""
        # mpi4py's wheel looks for MPICH under the name that MPICH gives it; Debian gives it another.
        kind, library = self.compiler.split(".")[1], "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
        names = self.folder / "names"
        names.mkdir(exist_ok=True)
        if kind == "mpich" and os.path.exists(library) and not (names / "libmpi.so.12").exists():
            (names / "libmpi.so.12").symlink_to(library)
        return {**self.env, "LD_LIBRARY_PATH": f"{names}:{os.environ.get('LD_LIBRARY_PATH', '')}", "MPI4PY_MPIABI": kind,
                "PATH": f"{BUILD}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


OPENMPI = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
MPIS = {"openmpi-ompio": ({}, OPENMPI), "openmpi-romio": ({"OMPI_MCA_io": "romio321"}, OPENMPI), "mpich": ({}, ["mpirun.mpich"]),
        "mpich-posix": ({"LEEWAY_MPI_FILES": "posix"}, ["mpirun.mpich"])}


@pytest.fixture(scope="module", params=MPIS)
def mpi(request, tmp_path_factory):
    if request.param == "mpich-posix" and not LONG:
        pytest.skip("mpich with the system's files is tried by scripts/mpi.sh")
    return Mpi(request.param, *MPIS[request.param], tmp_path_factory.mktemp(request.param)).build()
