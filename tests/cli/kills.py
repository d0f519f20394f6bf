# SPDX-License-Identifier: BSD-3-Clause
"""Updates that are killed at any moment: what is left must be the old stream or the new one, whole."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from conftest import BUILD, Tool  # noqa: E402


def kill_updates(leeway, kills, recipe="fast", seed=1):
    """Counts what was left: {"old": ..., "new": ...}."""
    rng, chance, left = np.random.default_rng(seed), random.Random(seed), {"old": 0, "new": 0}
    shape = (64, 128, 128)
    arrays = [np.cumsum(rng.standard_normal(shape), axis=2).astype("f4"), (30 * rng.standard_normal(shape)).astype("f4")]
    for k, array in enumerate(arrays):
        np.save(leeway.folder / f"{k}.npy", array)
    leeway("compress", "0.npy", "--abs", 0.01, "--recipe", recipe, "--chunk", "16x64x64", "-o", "s.lwy", "--force")
    truth, command = 0, [str(BUILD / "leeway"), "update", "s.lwy", "", "--region", ":,:,:", "--threads", "1", "--quiet"]
    start = time.perf_counter()
    leeway(*command[1:3], "0.npy", *command[4:])
    usual = time.perf_counter() - start
    for _ in range(kills):
        command[3] = f"{1 - truth}.npy"
        process = subprocess.Popen(command, cwd=leeway.folder)
        time.sleep(chance.uniform(0, 1.2 * usual))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if leeway.run("verify", "s.lwy", "--against", f"{truth}.npy").returncode == 0:
            left["old"] += 1
        else:
            leeway("verify", "s.lwy", "--against", f"{1 - truth}.npy")
            truth, left["new"] = 1 - truth, left["new"] + 1
        if os.path.getsize(leeway.folder / "s.lwy") > 40_000_000:
            leeway("update", "s.lwy", "--compact")
    return left


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
        for recipe in ("fast", "small"):
            print(recipe, kill_updates(Tool(pathlib.Path(folder)), count // 2, recipe), flush=True)
