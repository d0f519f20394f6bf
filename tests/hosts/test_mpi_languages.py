# SPDX-License-Identifier: BSD-3-Clause
"""The same from every language: a file that C, C++, Fortran and mpi4py write; arrays as messages; docs/MPI.md."""
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT
from hosts.mpis import CHUNK, LONG, SHAPE, mpi  # noqa: F401 (a fixture)

# The field "exact" of mpi_program.c in slabs, as its command below has it.
CPLUSPLUS = """
#include <cstdio>
#include <vector>
#include "leeway_mpi.h"
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t begin = 32ull * rank / ranks, end = 32ull * (rank + 1) / ranks;
  std::vector<float> t;
  for (uint64_t i = begin; i < end; ++i)
    for (uint64_t j = 0; j < 40; ++j)
      for (uint64_t k = 0; k < 48; ++k) t.push_back((7 * i + 13 * j + 3 * k) % 101 * 0.25f);
  const uint64_t shape[] = {32, 40, 48}, chunk[] = {8, 16, 16}, first[] = {begin, 0, 0}, extents[] = {end - begin, 40, 48};
  const leeway_block block = {first, {t.data(), LEEWAY_F32, 3, extents, nullptr}};
  leeway_context* leeway = leeway_create();
  leeway_set_bound(leeway, "rel", 1e-3);
  leeway_add_fill(leeway, -999);
  leeway_set_chunk(leeway, 3, chunk);
  const leeway_status status = leeway_mpi_write(leeway, MPI_COMM_WORLD, "cplusplus.lwy", LEEWAY_F32, 3, shape, 1, &block, nullptr, nullptr);
  if (status != LEEWAY_OK) std::puts(leeway_message(leeway));
  leeway_destroy(leeway);
  MPI_Finalize();
  return status;
}
"""
FORTRAN = """
program exact
  use mpi
  use leeway
  use leeway_mpi
  implicit none
  type(leeway_codec) :: codec
  real, allocatable :: t(:, :, :)
  integer :: rank, ranks, ierr, i, j, k, from, to
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  from = 32 * rank / ranks
  to = 32 * (rank + 1) / ranks
  allocate(t(0:47, 0:39, from:to))        ! with a ghost plane behind
  t = -1e30
  do concurrent (k = 0:47, j = 0:39, i = from:to - 1)
    t(k, j, i) = mod(7 * i + 13 * j + 3 * k, 101) * 0.25
  end do
  call codec%set_bound("rel", 1.0d-3)
  call codec%add_fill(-999.0d0)
  call codec%set_chunk([16, 16, 8])
  call leeway_write(codec, MPI_COMM_WORLD, "fortran.lwy", t(:, :, from:to - 1), first=[1, 1, from + 1], shape=[48, 40, 32])
  call mpi_finalize(ierr)
end program
"""
PYTHON = """
import numpy as np
from mpi4py import MPI
import leeway.mpi
comm = MPI.COMM_WORLD
begin, end = 32 * comm.rank // comm.size, 32 * (comm.rank + 1) // comm.size
i, j, k = np.meshgrid(np.arange(begin, end), np.arange(40), np.arange(48), indexing="ij")
t = ((7 * i + 13 * j + 3 * k) % 101 * 0.25).astype("f4")
leeway.mpi.write(comm, "python.lwy", t, first=(begin, 0, 0), shape=(32, 40, 48), rel=1e-3, fill=-999, chunk=(8, 16, 16))
"""


@pytest.mark.parametrize("ranks", [3])
def test_four_languages(mpi, ranks):
    """The file that each of them writes is that of one process."""
    if mpi.name not in ("openmpi-ompio", "mpich"):
        pytest.skip("languages are tried once with each MPI")
    kind, folder = mpi.compiler.split(".")[1], mpi.folder
    library = [ROOT / "mpi/leeway_mpi.c", f"-I{ROOT}", f"-I{ROOT}/mpi", f"-L{BUILD}/lib", "-lleeway", f"-Wl,-rpath,{BUILD}/lib"]
    (folder / "exact.cc").write_text(CPLUSPLUS)
    subprocess.run([f"mpicc.{kind}", "-c", *library[:3], "-o", "leeway_mpi.o"], cwd=folder, check=True)
    subprocess.run([f"mpicxx.{kind}", "-std=c++11", "exact.cc", "leeway_mpi.o", *library[1:], "-o", "cplusplus"], cwd=folder, check=True)
    (folder / "exact.f90").write_text(FORTRAN)
    fortran = [ROOT / "fortran/leeway.f90", ROOT / "fortran/descriptors.c", ROOT / "mpi/leeway_mpi.f90", ROOT / "mpi/leeway_mpi_fortran.c"]
    subprocess.run([f"mpifort.{kind}", *fortran, "exact.f90", f"-I{ROOT}/fortran", *library, "-o", "fortran"], cwd=folder, check=True)
    (folder / "exact.py").write_text(PYTHON)
    mpi(ranks, f"write c.lwy {SHAPE} {CHUNK} slab balanced rel=1e-3 exact")
    written = {"c": mpi.path("c.lwy").read_bytes()}
    for name, command in dict(cplusplus=["./cplusplus"], fortran=["./fortran"], python=[sys.executable, "exact.py"]).items():
        done = subprocess.run([*mpi.launch, "-n", str(ranks), *command], cwd=folder, env=mpi.python(), capture_output=True, text=True)
        assert done.returncode == 0, name + done.stdout + done.stderr
        written[name] = mpi.path(f"{name}.lwy").read_bytes()
    serial = mpi.serial("serial.lwy", "exact", "balanced", "rel=1e-3")
    assert [name for name, stream in written.items() if stream != serial] == []


def test_messages(mpi):
    """Every way to send an array, and random reductions: the same bits for every route, order and rank, none off by more than its bound."""
    mpi.build(ROOT / "tests/hosts/mpi_messages.c", "messages")
    for ranks in range(2, 9) if LONG else (3,):  # more ranks than processors wait for each other's turns
        for values, cases in ((700000 if LONG else 300000, 0), (500, 10000 if LONG else 15)):
            done = subprocess.run([*mpi.launch, "-n", str(ranks), "./messages", str(values), str(cases), str(ranks)], cwd=mpi.folder, env=mpi.env,
                                  capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, done.stdout + done.stderr
    assert 0.01 < float(re.search(r"worst sum ([\d.]+)", done.stdout)[1]) <= 1


def test_the_page_runs(mpi):
    """Every line of docs/MPI.md."""
    if mpi.name not in ("openmpi-ompio", "mpich"):
        pytest.skip("the page runs once with each MPI")
    kind = mpi.compiler.split(".")[1]
    folder = mpi.path("page")
    folder.mkdir()
    env = {**mpi.python(), "LEEWAY_BUILD": str(BUILD), "MPICC": f"mpicc.{kind}", "MPIFORT": f"mpifort.{kind}", "MPIRUN": " ".join(mpi.launch)}
    done = subprocess.run([sys.executable, ROOT / "tests/run_page.py", ROOT / "docs/MPI.md"], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("largest error") >= 1 and "Report(input_bytes=576000" in done.stdout
    for name in ("t", "heat", "ocean"):
        subprocess.run([BUILD / "leeway", "verify", folder / f"{name}.lwy"], check=True)
