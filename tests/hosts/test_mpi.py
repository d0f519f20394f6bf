# SPDX-License-Identifier: BSD-3-Clause
"""Collective writing and reading under several MPIs: the file is the serial stream, whatever the ranks and blocks, and nothing
half written is ever taken for whole. scripts/mpi.sh runs more cases (LEEWAY_MPI_LONG)."""
import itertools
import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

LONG = "LEEWAY_MPI_LONG" in os.environ
SHAPE, CHUNK = "32x40x48", "8x16x16"
HOWS = ["slab", "block", "odd", "half", "one"]


class Mpi:
    """One MPI with one way to write files."""

    def __init__(self, name, env, launch, folder):
        self.name, self.launch, self.folder = name, launch, folder
        self.env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env}
        self.compiler = f"mpicc.{name.split('-')[0]}"

    def build(self):
        if not shutil.which(self.compiler):
            pytest.skip(f"{self.compiler} is not installed: nothing is tried with {self.name}")
        subprocess.run([self.compiler, "-Wall", "-Wextra", "-Werror", "-O1", f"-I{ROOT}", f"-I{ROOT}/mpi", ROOT / "tests/hosts/mpi_program.c",
                        ROOT / "mpi/leeway_mpi.c", f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-lm", "-o", self.folder / "program"],
                       check=True)
        return self

    def run(self, ranks, *commands, timeout=120, env=None):
        """Runs commands one after the other on these ranks; returns the finished process."""
        words = [word for command in commands for word in ("--", *command.split())][1:]
        return subprocess.run([*self.launch, "-n", str(ranks), str(self.folder / "program"), *words], cwd=self.folder, capture_output=True,
                              text=True, env={**self.env, **(env or {})}, timeout=timeout)

    def __call__(self, ranks, *commands, **options):
        done = self.run(ranks, *commands, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def path(self, name):
        return self.folder / name

    def serial(self, name, field, recipe, bound, chunk=CHUNK):
        """What the tool makes of the whole array in one piece."""
        if not self.path(f"{field}.raw").exists():
            self(1, f"field {field}.raw {SHAPE} {field}")
        kind, value = bound.split("=")
        subprocess.run([BUILD / "leeway", "compress", f"{field}.raw", "-f", "-o", name, "--dtype", "f32", "--shape", SHAPE, "--chunk", chunk, "--recipe",
                        recipe, "--fill=-999", *([f"--{kind}"] if kind == "lossless" else [f"--{kind}", value])],
                       cwd=self.folder, check=True, capture_output=True)
        return self.path(name).read_bytes()

    def left(self):
        """Files that writing has left behind."""
        return [path.name for path in self.folder.iterdir() if ".part-" in path.name]


OPENMPI = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
MPIS = {"openmpi-ompio": ({}, OPENMPI), "openmpi-romio": ({"OMPI_MCA_io": "romio321"}, OPENMPI), "mpich": ({}, ["mpirun.mpich"]),
        "mpich-posix": ({"LEEWAY_MPI_FILES": "posix"}, ["mpirun.mpich"])}


@pytest.fixture(scope="module", params=MPIS)
def mpi(request, tmp_path_factory):
    if request.param == "mpich-posix" and not LONG:
        pytest.skip("mpich with the system's files is tried by scripts/mpi.sh")
    return Mpi(request.param, *MPIS[request.param], tmp_path_factory.mktemp(request.param)).build()


def test_about(mpi):
    said = mpi(1, "about")
    assert ("Open MPI" if mpi.name.startswith("openmpi") else "MPICH") in said
    assert ("MPI-IO" if mpi.name in ("openmpi-romio", "mpich") else "the operating system") in said


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8] if LONG else [1, 3, 8])
def test_same_stream(mpi, ranks):
    cases = list(itertools.product(HOWS, ["fast", "balanced", "ceaz", "small"], ["abs=1e-3", "rel=1e-4"], ["smooth", "nan", "fill", "const", "huge"]))
    if not LONG:
        cases = random.Random(ranks).sample(cases, 12)
    cases += [(HOWS[i % 5], "balanced", bound, "nan") for i, bound in enumerate(["psnr=60", "l2=0.5", "pointwise=1e-3", "lossless=0"])]
    commands = [f"write {i}.lwy {SHAPE} {CHUNK} {how} {recipe} {bound} {field}" + (" writers=3 check" if i % 2 else "")
                for i, (how, recipe, bound, field) in enumerate(cases)]
    said = mpi(ranks, *commands, timeout=600)
    assert said.count("wrote") == len(cases)
    for i, (how, recipe, bound, field) in enumerate(cases):
        assert mpi.path(f"{i}.lwy").read_bytes() == mpi.serial("serial.lwy", field, recipe, bound), commands[i]
    assert mpi.left() == []


def test_nothing_travels_if_blocks_meet_the_chunks(mpi):
    said = mpi(4, f"write a.lwy {SHAPE} 0x0x0 slab fast abs=1e-3", f"write b.lwy {SHAPE} {CHUNK} slab fast abs=1e-3")
    assert re.findall(r"sent (\d+)", said) == ["0", "0"]
    assert mpi.path("b.lwy").read_bytes() == mpi.serial("serial.lwy", "smooth", "fast", "abs=1e-3")


@pytest.mark.parametrize("ratio", [5, 10.5])
def test_size_over_all_ranks(mpi, ratio):
    streams = []
    for ranks in (1, 3, 8):
        said = mpi(ranks, f"write r.lwy {SHAPE} 4x8x8 odd fast ratio={ratio}")
        wrote, asked = (int(n) for n in re.search(r"wrote (\d+) of \d+ asked (\d+)", said).groups())
        assert abs(wrote - asked) < 0.03 * asked
        streams.append(mpi.path("r.lwy").read_bytes())
    assert streams[0] == streams[1] == streams[2]


def test_restart_on_other_ranks(mpi):
    mpi(3, f"write a.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 nan")
    said = {ranks: mpi(ranks, *(f"read a.lwy {SHAPE} {seed}" for seed in range(4))) for ranks in (1, 2, 5, 8)}
    assert len(set(said.values())) == 1 and said[1].count("sum") == 4
    (mpi.path("damaged.lwy")).write_bytes(mpi.path("a.lwy").read_bytes()[:-30])
    done = mpi.run(3, f"read damaged.lwy {SHAPE} 1", f"read no.lwy {SHAPE} 1")
    assert done.returncode != 0 and done.stdout.count("rank 0: damaged stream") == 3 and done.stdout.count("cannot open 'no.lwy'") == 3


def test_ranks_that_disagree(mpi):
    done = mpi.run(4, f"write d.lwy {SHAPE} {CHUNK} slab fast abs=1e-3 smooth disagree", f"write no/d.lwy {SHAPE} {CHUNK} slab fast abs=1e-3")
    assert done.stdout.count("the ranks disagree on the bound") == 4
    assert done.stdout.count("rank 0: cannot create 'no/.d.lwy.part-") == 4
    assert not mpi.path("d.lwy").exists() and mpi.left() == []


def test_no_room(mpi):
    """Files may not be larger than 8 KiB: all say so, the old file stays, and nothing else is there."""
    old = mpi.serial("full.lwy", "smooth", "fast", "abs=1e-3")
    for ranks in (1, 4):
        done = mpi.run(ranks, f"write full.lwy {SHAPE} {CHUNK} slab lossless lossless=0 smooth limit=8192")
        assert done.stdout.count("input or output failed: ") == ranks, done.stdout + done.stderr
    assert mpi.path("full.lwy").read_bytes() == old and mpi.left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_full_disk(mpi):
    disk = mpi.path("disk")
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        for writers in ("", "writers=2"):
            done = mpi.run(4, f"write disk/a.lwy {SHAPE} {CHUNK} slab lossless lossless=0 smooth {writers}", timeout=30)
            assert done.stdout.count("input or output failed: ") == 4, done.stdout + done.stderr
            assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_killed(mpi):
    """A rank dies (kill -9) in every step: the job ends, and the target is the whole old file or the whole new one."""
    command = f"write k.lwy {SHAPE} {CHUNK} odd fast abs=1e-3 smooth writers=2"
    new = mpi.serial("new.lwy", "smooth", "fast", "abs=1e-3")
    calls = 100000 - int(re.search(r"calls (\d+)", mpi(3, f"{command} die=0,100000"))[1])
    assert calls > 20
    old = mpi.serial("k.lwy", "smooth", "fast", "abs=1e-2")
    turns = list(itertools.product(range(3), range(calls)))
    for rank, call in turns if LONG else random.Random(5).sample(turns, 5) + [(0, calls - 1), (0, calls - 2)]:
        mpi.path("k.lwy").write_bytes(old)
        done = mpi.run(3, f"{command} die={rank},{call}", timeout=60)
        found = mpi.path("k.lwy").read_bytes()
        assert found in (old, new), (rank, call)
        assert done.returncode != 0 or found == new, (rank, call, done.stdout)
        for left in mpi.left():  # what is whole in it can be read
            salvaged = subprocess.run([BUILD / "leeway", "decompress", left, "--salvage", "-f", "-o", "salvaged.raw"], cwd=mpi.folder, capture_output=True)
            assert salvaged.returncode in (0, 1, 2, 3, 4, 5), salvaged.stderr
            mpi.path(left).unlink()


def test_appended_rows(mpi):
    """A run that is restarted on other ranks, read while it goes on: the file is that of one process."""
    rows, at, serial = [4, 3, 1, 6, 2], 0, mpi.path("serial_run.lwy")
    for ranks, count in zip((3, 1, 8, 4, 2), rows):
        shape = f"{count}x40x48"
        mpi(ranks, f"append run.lwy {shape} 4x16x16 odd small abs=1e-3 smooth at={at}")
        # What a serial run makes of it.
        mpi(1, f"write step.lwy {shape} 0x0x0 one lossless lossless=0 smooth at={at}")
        subprocess.run([BUILD / "leeway", "append", serial, "step.lwy", "--abs", "1e-3", "--recipe", "small", "--chunk", "4x16x16", "--fill=-999", "-q"],
                       cwd=mpi.folder, check=True, capture_output=True)
        at += count
        assert mpi.path("run.lwy").read_bytes() == serial.read_bytes(), at
        mpi(2, f"read run.lwy {at}x40x48 3")
    assert mpi.left() == []
    done = mpi.run(2, "append run.lwy 2x40x47 0x0x0 slab small abs=1e-3", f"append run.lwy 2x40x48 0x0x0 slab small abs=1e-3 smooth disagree")
    assert done.stdout.count("do not go on an array of 16x40x48") == 2 and done.stdout.count("the ranks disagree on the bound") == 2
    assert mpi.path("run.lwy").read_bytes() == serial.read_bytes()
    serial.unlink()


def test_killed_while_appending(mpi):
    """Every row that was committed is there, whenever a rank dies, and the run goes on behind it."""
    first, second = "append k2.lwy 3x40x48 2x16x16 slab fast abs=1e-3 smooth", "append k2.lwy 3x40x48 2x16x16 odd fast abs=1e-3 smooth at=3"
    mpi(3, first)
    before = mpi.path("k2.lwy").read_bytes()
    calls = 100000 - int(re.search(r"calls (\d+)", mpi(3, f"{second} die=0,100000"))[1])
    after = mpi.path("k2.lwy").read_bytes()
    turns = list(itertools.product(range(3), range(calls)))
    for rank, call in turns if LONG else random.Random(6).sample(turns, 4) + [(0, calls - 1), (0, calls - 3)]:
        mpi.path("k2.lwy").write_bytes(before)
        mpi.run(3, f"{second} die={rank},{call}", timeout=60)
        found = mpi.path("k2.lwy").read_bytes()
        assert found.startswith(before)
        info = subprocess.run([BUILD / "leeway", "decompress", "k2.lwy", "-f", "-o", "rows.npy"], cwd=mpi.folder, capture_output=True, text=True)
        assert info.returncode == 0, (rank, call, info.stderr)
        if found != after:
            mpi(2, second)
        assert mpi.path("k2.lwy").read_bytes() == after, (rank, call)


def test_streamed(mpi):
    """Written while it is compressed: the same frames, and the same values."""
    said = mpi(4, f"write s.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 nan streamed=8192 check", f"read s.lwy {SHAPE} 5")
    mpi(4, f"write o.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 nan")
    assert re.search(r"sum \w+", said)[0] == re.search(r"sum \w+", mpi(2, f"read o.lwy {SHAPE} 5"))[0]
    subprocess.run([BUILD / "leeway", "verify", "s.lwy"], cwd=mpi.folder, check=True, capture_output=True)
    if os.geteuid() == 0:
        done = mpi.run(4, f"write full.lwy {SHAPE} {CHUNK} slab lossless lossless=0 smooth streamed=8192 limit=8192")
        assert done.stdout.count("input or output failed: ") == 4 and mpi.left() == []


def test_what_stands_in_the_way(mpi):
    """A folder for a target, a file of a dead run, a slow rank, four ways to the same file."""
    mpi.path("folder").mkdir()
    done = mpi.run(2, f"write folder {SHAPE} {CHUNK} slab fast abs=1e-3")
    assert done.stdout.count("'folder' is not a regular file") == 2
    mpi.path(".late.lwy.part-abcdefgh").write_bytes(b"of a dead run")
    mpi(3, f"write late.lwy {SHAPE} {CHUNK} slab fast abs=1e-3 smooth sleep=1")
    assert mpi.path("late.lwy").read_bytes() == mpi.serial("serial.lwy", "smooth", "fast", "abs=1e-3")
    assert mpi.left() == [".late.lwy.part-abcdefgh"]
    mpi.path(".late.lwy.part-abcdefgh").unlink()


def test_the_page_runs(mpi):
    """Every line of docs/MPI.md."""
    if mpi.name not in ("openmpi-ompio", "mpich"):
        pytest.skip("the page runs once with each MPI")
    kind = mpi.compiler.split(".")[1]
    folder = mpi.path("page")
    folder.mkdir()
    # mpi4py's wheel looks for MPICH under the name that MPICH gives it; Debian gives it another.
    library = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"
    if kind == "mpich" and os.path.exists(library):
        (folder / "libmpi.so.12").symlink_to(library)
    env = {**mpi.env, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}", "PATH": f"{BUILD}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "LEEWAY_BUILD": str(BUILD), "MPICC": f"mpicc.{kind}",
           "MPIFORT": f"mpifort.{kind}", "MPIRUN": " ".join(mpi.launch), "MPI4PY_MPIABI": kind}
    done = subprocess.run([sys.executable, ROOT / "tests/run_page.py", ROOT / "docs/MPI.md"], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("largest error") >= 1 and "Report(input_bytes=576000" in done.stdout
    for name in ("t", "heat", "ocean"):
        subprocess.run([BUILD / "leeway", "verify", folder / f"{name}.lwy"], check=True)
