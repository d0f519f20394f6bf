# SPDX-License-Identifier: BSD-3-Clause
"""A Fortran program writes fields and streams; other processes check them."""
import leeway
import numpy as np

from conftest import BUILD
from hosts.field import check

PROGRAM = """
program writer
  use, intrinsic :: iso_fortran_env, only: int8, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use leeway
  implicit none
  type(leeway_codec) :: codec
  type(leeway_stream_info) :: info
  integer(int8), allocatable :: stream(:)
  real(real32) :: field(64, 48, 20)
  real(real64) :: wide(100, 30)
  integer :: i, j, k
  do concurrent (i = 1:64, j = 1:48, k = 1:20)
    field(i, j, k) = sin(0.1 * i) * cos(0.07 * j) + 0.05 * k
  end do
  do concurrent (i = 1:100, j = 1:30)
    wide(i, j) = exp(-0.01d0 * i) * j
  end do
  field(3, 4, 5) = ieee_value(field(1, 1, 1), ieee_quiet_nan)
  field(7, 8, 9) = -999
  call codec%set_bound("abs", 1.0d-3)
  call codec%add_fill(-999.0d0)
  call codec%set_threads(2)
  call codec%compress(field, stream)
  call save("field.lwy", stream)
  call codec%compress(wide(100:1:-3, 2:30:4), stream)
  call save("section.lwy", stream)
  call codec%set_brief(.true.)
  call codec%compress(wide(:, 3), stream)
  call codec%inspect(stream, info)
  if (.not. info%brief .or. info%shape(1) /= 100) error stop "not the brief form"
  call save("brief.lwy", stream)
  open (10, file="field.raw", access="stream")
  write (10) field
  close (10)
  open (10, file="section.raw", access="stream")
  write (10) wide(100:1:-3, 2:30:4)
  close (10)
contains
  subroutine save(name, bytes)
    character(len=*), intent(in) :: name
    integer(int8), intent(in) :: bytes(:)
    open (10, file=name, access="stream")
    write (10) bytes
    close (10)
  end subroutine
end program
"""

READER = """
program reader
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32
  use leeway
  implicit none
  type(leeway_codec) :: codec
  integer(int8), allocatable :: stream(:)
  integer(int64) :: bytes
  real(real32) :: field(64, 48, 20)
  open (10, file="python.lwy", access="stream", status="old")
  inquire (10, size=bytes)
  allocate (stream(bytes))
  read (10) stream
  call codec%decompress(stream, field)
  open (11, file="back.raw", access="stream")
  write (11) field
end program
"""


def build(shell, name, source):
    (shell.folder / f"{name}.f90").write_text(source)
    shell("gfortran", f"{name}.f90", "-I", BUILD / "modules", BUILD / "libleeway_fortran.a", f"-L{BUILD}/lib", "-lleeway",
          f"-Wl,-rpath,{BUILD}/lib", "-o", name)
    shell(shell.folder / name)


def test_what_fortran_writes(shell):
    build(shell, "writer", PROGRAM)
    field = np.fromfile(shell.folder / "field.raw", "f4").reshape(20, 48, 64)  # Fortran's axes, reversed
    decoded = leeway.decompress(shell.folder / "field.lwy")
    check(decoded, field, 1e-3)
    assert np.isnan(decoded[4, 3, 2]) and decoded[8, 7, 6] == -999
    assert leeway.verify(shell.folder / "field.lwy", field)
    section = np.fromfile(shell.folder / "section.raw", "f8").reshape(8, 34)
    check(leeway.decompress(shell.folder / "section.lwy"), section, 1e-3)
    brief = np.exp(-0.01 * np.arange(1, 101)) * 3
    check(leeway.decompress(shell.folder / "brief.lwy"), brief, 1e-3)
    assert leeway.inspect(shell.folder / "brief.lwy").form == "brief" and leeway.inspect(shell.folder / "field.lwy").form == "standard"
    shell(BUILD / "leeway", "verify", "field.lwy", "--against", "field.raw", "--shape", "20x48x64", "--dtype", "f32")


def test_what_fortran_reads(shell):
    field = np.linspace(0, 1, 64 * 48 * 20, dtype="f4").reshape(20, 48, 64)
    (shell.folder / "python.lwy").write_bytes(leeway.compress(field, abs=1e-3))
    build(shell, "reader", READER)
    check(np.fromfile(shell.folder / "back.raw", "f4").reshape(20, 48, 64), field, 1e-3)
