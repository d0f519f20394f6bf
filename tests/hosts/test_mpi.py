# SPDX-License-Identifier: BSD-3-Clause
"""Collective writing and reading under several MPIs: the file is the serial stream, whatever the ranks and blocks. scripts/mpi.sh runs
more cases (LEEWAY_MPI_LONG)."""
import itertools
import random
import re
import subprocess

import numpy as np
import pytest

from conftest import BUILD
from hosts.mpis import CHUNK, LONG, SHAPE, mpi  # noqa: F401 (a fixture)

HOWS = ["slab", "block", "odd", "half", "one"]


def test_about(mpi):
    said = mpi(1, "about")
    assert ("Open MPI" if mpi.name.startswith("openmpi") else "MPICH") in said
    assert ("MPI-IO" if mpi.name in ("openmpi-romio", "mpich") else "the operating system") in said


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8] if LONG else [1, 3, 8])
def test_same_stream(mpi, ranks):
    cases = list(itertools.product(HOWS, ["fast", "balanced", "ceaz", "small"], ["abs=1e-3", "rel=1e-4"], ["smooth", "nan", "fill", "const", "huge"],
                                   ["f32"]))
    if not LONG:
        cases = random.Random(ranks).sample(cases, 8)
    cases += [(HOWS[i % 5], "balanced", bound, "nan", "f32") for i, bound in enumerate(["psnr=60", "l2=0.5", "pointwise=1e-3", "lossless=0"])]
    cases += [(HOWS[ranks % 5], recipe, "rel=1e-4", "smooth", dtype) for recipe in ("balanced", "small") for dtype in ("f64", "i16")]
    cases += [("odd", "ceaz", "rel=1e-3", "huge", "f64"), ("block", "auto", "abs=1e-3", "smooth", "f32"), ("half", "small", "psnr=70", "smooth", "f64")]
    commands = [f"write {i}.lwy {SHAPE} {CHUNK} {how} {recipe} {bound} {field} type={dtype}" + (" writers=3 check" if i % 2 else "")
                for i, (how, recipe, bound, field, dtype) in enumerate(cases)]
    said = mpi(ranks, *commands, timeout=600)
    assert said.count("wrote") == len(cases)
    for i, (how, recipe, bound, field, dtype) in enumerate(cases):
        assert mpi.path(f"{i}.lwy").read_bytes() == mpi.serial("serial.lwy", field, recipe, bound, dtype=dtype), commands[i]
    assert mpi.left() == []


def test_nothing_travels_if_blocks_meet_the_chunks(mpi):
    said = mpi(4, f"write a.lwy {SHAPE} 0x0x0 slab fast abs=1e-3", f"write b.lwy {SHAPE} {CHUNK} slab fast abs=1e-3")
    assert re.findall(r"sent (\d+)", said) == ["0", "0"]
    assert mpi.path("b.lwy").read_bytes() == mpi.serial("serial.lwy", "smooth", "fast", "abs=1e-3")


@pytest.mark.parametrize("ratio", [5, 20])
def test_size_over_all_ranks(mpi, ratio):
    streams = []
    for ranks in (1, 3, 8):
        said = mpi(ranks, f"write r.lwy {SHAPE} {CHUNK} odd fast ratio={ratio}")
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


@pytest.mark.parametrize("steps", [40 if LONG else 6])
def test_read_while_written(mpi, steps):
    """A run of many steps, started twice more on other ranks: a reader that looks at any time finds whole steps, and those."""
    path, at, seen = mpi.path("watched.lwy"), 0, []
    for ranks, count in zip((4, 2, 3), (steps // 2, steps // 3, steps - steps // 2 - steps // 3)):
        words = [f"append watched.lwy 1x40x48 1x16x16 slab fast abs=1e-3 smooth at={at + i}" for i in range(count)]
        run = subprocess.Popen(mpi.command(ranks, *words), cwd=mpi.folder, env=mpi.env, stdout=subprocess.DEVNULL)
        is_over = False
        while not is_over:
            is_over = run.poll() is not None
            if path.exists():
                done = subprocess.run([BUILD / "leeway", "decompress", path, "-f", "-o", "watched.raw"], cwd=mpi.folder, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                planes, rest = divmod(mpi.path("watched.raw").stat().st_size, 4 * 40 * 48)
                assert rest == 0 and planes >= (seen or [0])[-1]
                seen.append(planes)
        at += count
        assert run.returncode == 0 and seen[-1] == at
    mpi(1, f"field whole.raw {steps}x40x48 smooth")
    error = np.abs(np.fromfile(mpi.path("whole.raw"), "f4") - np.fromfile(mpi.path("watched.raw"), "f4"))
    assert error.max() <= 1e-3


def test_streamed(mpi):
    """Written while it is compressed: the same frames, and the same values."""
    said = mpi(4, f"write s.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 nan streamed=8192 check", f"read s.lwy {SHAPE} 5")
    mpi(4, f"write o.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 nan")
    assert re.search(r"sum \w+", said)[0] == re.search(r"sum \w+", mpi(2, f"read o.lwy {SHAPE} 5"))[0]
    subprocess.run([BUILD / "leeway", "verify", "s.lwy"], cwd=mpi.folder, check=True, capture_output=True)
