# SPDX-License-Identifier: BSD-3-Clause
"""What writing together costs beyond compressing: time with one rank, memory of a rank. Measured by the program of bench/mpi; the longer
cases are run by scripts/mpi.sh."""
import json
import os
import shutil
import statistics
import subprocess

import numpy as np
import pytest

from conftest import BUILD, ROOT

LONG = "LEEWAY_MPI_LONG" in os.environ
SIDE = 256 if LONG else 160  # 64 MiB or 16 MiB
pytestmark = pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="mpicc.openmpi is not installed: costs are not measured")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs")
    subprocess.run(["mpicc.openmpi", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", f"-I{ROOT}/mpi", ROOT / "bench/mpi/program.c",
                    ROOT / "mpi/leeway_mpi.c", f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib", "-lm", "-o", folder / "program"], check=True)
    subprocess.run([BUILD / "leeway", "sample", "turbulence", "--shape", f"{SIDE}x{SIDE}x{SIDE}", "-o", folder / "field.f32"], check=True,
                   capture_output=True)

    def run(ranks, *words, repeat=5):
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), folder / "program", folder / "field.f32", "f32",
                               "1e-3", str(repeat), *map(str, words)], env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    run.folder = folder
    return run


@pytest.mark.parametrize("recipe", ["fast", "balanced", "small"] if LONG else ["balanced"])
def test_time_of_one_rank(program, recipe):
    """Processor time, turn by turn with that of one process that compresses and writes: other work on the machine disturbs both. The bar is
    5 %; a short run on a busy machine gets room for noise."""
    turns = [line for line in program(1, "overhead", recipe, program.folder, repeat=15 if LONG else 7) if line["what"] == "overhead"]
    ratio = statistics.median(line["more"] / line["seconds"] for line in turns)
    print(f"{recipe}: {ratio:.3f} times the processor time of one process")
    assert ratio <= (1.05 if LONG else 1.2)


@pytest.mark.parametrize("how, most", [("ordered", 0.5), ("streamed", 0.34)])
def test_memory_of_a_rank(program, how, most):
    line = next(line for line in program(2, "memory", program.folder, how, "balanced") if line["what"].startswith("memory"))
    print(f"{how}: {line['more'] / line['bytes']:.2f} of the block")
    if LONG:  # a small block does not hide the buffers of a chunk
        assert line["more"] <= most * line["bytes"]


@pytest.mark.skipif(not LONG, reason="a file above 2 GiB is written by scripts/mpi.sh")
def test_more_than_2_gib(program):
    """Noise that hardly shrinks, 40 ranks of 64 MiB: ranges and offsets beyond 2^31."""
    noise = program.folder / "noise.f32"
    np.random.default_rng(1).normal(size=16 << 20).astype("f4").tofile(noise)
    out = program.folder / "big"
    out.mkdir()
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "40", program.folder / "program", noise, "f32", "1e-10", "1", "keep",
                           out, "fast"], env=env, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (out / "out").stat().st_size > 1 << 31
    subprocess.run([BUILD / "leeway", "verify", out / "out"], check=True, capture_output=True)
