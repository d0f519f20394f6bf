# SPDX-License-Identifier: BSD-3-Clause
"""The verb update: what it does not replace stays, and nothing can break a stream half-way."""
import fcntl
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from conftest import BUILD

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from kills import kill_updates  # noqa: E402


@pytest.mark.parametrize("recipe", ["small", "smallest", "sz3-interp", "sz3-lr", "balanced"])
def test_updates_keep_what_they_do_not_replace(leeway, recipe):
    leeway("sample", "turbulence", "--shape", "48x48x48", "-o", "t.npy")
    leeway("compress", "t.npy", "--abs", 0.01, "--recipe", recipe, "-o", "t.lwy")
    truth = np.load(leeway.folder / "t.npy")
    rng = np.random.default_rng(3)
    for step in range(6):
        first = rng.integers(0, 32, 3)
        box = tuple(slice(i, i + 16) for i in first)
        truth[box] = truth[box] + 3
        np.save(leeway.folder / "p.npy", truth[box])
        region = ",".join(f"{i}:{i + 16}" for i in first)
        leeway("decompress", "t.lwy", "-o", "before.npy", "--force")
        leeway("update", "t.lwy", "p.npy", "--region", region)
        leeway("decompress", "t.lwy", "-o", "after.npy", "--force")
        before, after = np.load(leeway.folder / "before.npy"), np.load(leeway.folder / "after.npy")
        before[box] = after[box]
        assert np.array_equal(before, after)
        assert np.abs(after.astype("f8") - truth).max() <= 0.01
    np.save(leeway.folder / "t.npy", truth)
    leeway("verify", "t.lwy", "--against", "t.npy")
    dead = leeway.json("inspect", "t.lwy")["dead_bytes"]
    report = leeway.json("update", "t.lwy", "--compact")
    assert report["stream_bytes"] < report["stream_bytes_before"] - dead + 1000
    assert leeway.json("inspect", "t.lwy")["dead_bytes"] == 0
    leeway("decompress", "t.lwy", "-o", "compacted.npy")
    assert np.array_equal(np.load(leeway.folder / "compacted.npy"), after)
    leeway.fails(2, "update", "t.lwy")


def test_a_killed_update_leaves_the_old_stream_or_the_new_one(leeway):
    """scripts/kills.sh does the same more often."""
    kill_updates(leeway, kills=12)


def test_a_full_disk_costs_the_update_only(leeway):
    rng = np.random.default_rng(2)
    np.save(leeway.folder / "f.npy", np.cumsum(rng.standard_normal((64, 64, 64)), axis=2).astype("f4"))
    np.save(leeway.folder / "g.npy", rng.standard_normal((64, 64, 64)).astype("f4"))
    leeway("compress", "f.npy", "--abs", 0.01, "-o", "f.lwy")
    before = (leeway.folder / "f.lwy").read_bytes()
    limited = f"ulimit -f {len(before) // 1024 + 100}; exec {BUILD / 'leeway'} update f.lwy g.npy --region :,:,:"
    done = subprocess.run(["bash", "-c", limited], cwd=leeway.folder, capture_output=True, text=True)
    assert done.returncode != 0
    leeway("verify", "f.lwy", "--against", "f.npy")
    leeway("update", "f.lwy", "g.npy", "--region", ":,:,:")
    leeway("verify", "f.lwy", "--against", "g.npy")


def test_only_one_may_write(leeway):
    np.save(leeway.folder / "f.npy", np.zeros((10, 10), "f4"))
    leeway("compress", "f.npy", "--abs", 0.01, "-o", "f.lwy")
    with open(leeway.folder / "f.lwy", "r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "somebody else" in leeway.fails(1, "update", "f.lwy", "f.npy", "--region", ":,:")
