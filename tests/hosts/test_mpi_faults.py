# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on many ranks: they disagree, die, lack room or memory, lose bytes. All are told the same, and nothing half written is ever
taken for whole. scripts/mpi.sh runs more cases (LEEWAY_MPI_LONG)."""
import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import pytest

from conftest import BUILD
from hosts.mpis import CHUNK, LONG, SHAPE, mpi  # noqa: F401 (a fixture)


def test_ranks_that_disagree(mpi):
    done = mpi.run(4, f"write d.lwy {SHAPE} {CHUNK} slab fast abs=1e-3 smooth disagree", f"write no/d.lwy {SHAPE} {CHUNK} slab fast abs=1e-3")
    assert done.stdout.count("the ranks disagree on the bound") == 4
    assert done.stdout.count("rank 0: cannot create 'no/.d.lwy.part-") == 4
    assert not mpi.path("d.lwy").exists() and mpi.left() == []


@pytest.mark.parametrize("layout", ["", "streamed=8192"])
def test_no_room(mpi, layout):
    """Files may not be larger than 8 KiB: all say so, the old file stays, and nothing else is there."""
    old = mpi.serial("full.lwy", "smooth", "fast", "abs=1e-3")
    for ranks in (1, 4):
        done = mpi.run(ranks, f"write full.lwy {SHAPE} {CHUNK} slab lossless lossless=0 smooth limit=8192 {layout}")
        assert done.stdout.count("input or output failed: ") == ranks, done.stdout + done.stderr
    assert mpi.path("full.lwy").read_bytes() == old and mpi.left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_full_disk(mpi):
    disk = mpi.path("disk")
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        for writers in ("", "writers=2", "streamed=8192"):
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


def test_no_memory(mpi):
    """One rank gets no memory: all say so, and which."""
    done = mpi.run(3, "write m.lwy 96x128x128 32x128x128 slab fast abs=1e-3 smooth memory=300000", timeout=60)
    assert done.stdout.count("rank 2: out of memory") == 3, done.stdout + done.stderr
    assert not mpi.path("m.lwy").exists() and mpi.left() == []


def test_lost_page(mpi):
    """A page that never reaches the disk, though nobody reports it: found when all is read back, and at the latest by a reader."""
    noise = f"write p.lwy {SHAPE} {CHUNK} slab lossless lossless=0 smooth lose=1"
    done = mpi.run(3, f"{noise} check")
    assert done.stdout.count("rank 1: the file does not hold what was written to it") == 3, done.stdout + done.stderr
    assert not mpi.path("p.lwy").exists() and mpi.left() == []
    mpi(3, noise)  # the ends of what a rank wrote are there
    for verb in (["verify", "p.lwy"], ["decompress", "p.lwy", "-f", "-o", "p.raw"]):
        assert subprocess.run([BUILD / "leeway", *verb], cwd=mpi.folder, capture_output=True).returncode in (1, 3)
    done = mpi.run(2, f"read p.lwy {SHAPE} 1")
    assert done.returncode != 0 and done.stdout.count("rank 0: damaged stream") == 2


def ranks_of(run):
    """The processes of a job that are ranks of it, as far as they are running yet."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"LEEWAY_TEST_JOB=%d\0" % run in (folder / "environ").read_bytes() and os.readlink(folder / "exe").endswith("/program"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("runs", [200 if LONG else 3])
def test_killed_at_any_time(mpi, runs):
    """A rank is killed at some moment, asleep or at work: the target is the whole old file or the whole new one."""
    command = f"write any.lwy {SHAPE} {CHUNK} odd balanced abs=1e-3 smooth writers=2"
    new, old = mpi.serial("new.lwy", "smooth", "balanced", "abs=1e-3"), mpi.serial("old.lwy", "smooth", "balanced", "abs=1e-2")
    chance, outcomes = random.Random(8), set()
    for turn in range(runs):
        mpi.path("any.lwy").write_bytes(old)
        job = os.getpid() * 1000 + turn
        run = subprocess.Popen(mpi.command(3, command), cwd=mpi.folder, env={**mpi.env, "LEEWAY_TEST_JOB": str(job)}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        ranks = []
        while run.poll() is None and len(ranks) < 3:
            ranks = ranks_of(job)
        time.sleep(chance.uniform(0, 0.4))
        if ranks:
            try:
                os.kill(chance.choice(ranks), signal.SIGKILL)
            except ProcessLookupError:
                pass
        run.wait(timeout=60)
        found = mpi.path("any.lwy").read_bytes()
        assert found in (old, new), turn
        outcomes.add(found == new)
        for left in mpi.left():
            mpi.path(left).unlink()
    assert not LONG or outcomes == {False, True}
