! SPDX-License-Identifier: BSD-3-Clause
! leeway for MPI in Fortran: arrays that lie on many ranks, in one stream.
!
!   use leeway
!   use leeway_mpi
!   type(leeway_codec) :: codec
!   call codec%set_bound("abs", 1.0d-3)
!   call leeway_write(codec, MPI_COMM_WORLD, "t.lwy", t(1:nx, 1:ny), first=[i0, j0], shape=[nxg, nyg])
!   call leeway_read(codec, MPI_COMM_WORLD, "t.lwy", t(1:nx, 1:ny), first=[i0, j0])
!   call leeway_append(codec, MPI_COMM_WORLD, "run.lwy", t(1:nx, 1:ny, 1:1), first=[i0, j0, 1], shape=[nxg, nyg, 1])
!
! All ranks of the communicator call each of them. The block is any section: ghost zones are left out by
! its bounds; a rank that has nothing gives a section without values, t(1:0, 1:0). leeway_append puts the
! array behind a file along the last axis, and makes the file if there is none. `first` is the index of
! the block's first value in the whole array, counted from 1. The communicator is that of `use mpi`; with
! `use mpi_f08` it is comm%MPI_VAL.
!
! Compile it, leeway_mpi.c and leeway_mpi_fortran.c with the compiler of your MPI; CMake's target
! leeway::mpi_fortran does so.
module leeway_mpi
  use, intrinsic :: iso_c_binding
  use leeway
  implicit none
  private
  public :: leeway_write, leeway_append, leeway_read

  interface
    function c_write(context, comm, path, values, first, shape) result(status) bind(c, name="leeway_mpi_fortran_write")
      import :: c_ptr, c_char, c_int64_t, c_int
      type(c_ptr), value :: context
      integer, intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(*), dimension(..), intent(in) :: values
      integer(c_int64_t), intent(in) :: first(*), shape(*)
      integer(c_int) :: status
    end function
    function c_append(context, comm, path, values, first, shape) result(status) bind(c, name="leeway_mpi_fortran_append")
      import :: c_ptr, c_char, c_int64_t, c_int
      type(c_ptr), value :: context
      integer, intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(*), dimension(..), intent(in) :: values
      integer(c_int64_t), intent(in) :: first(*), shape(*)
      integer(c_int) :: status
    end function
    function c_read(context, comm, path, values, first) result(status) bind(c, name="leeway_mpi_fortran_read")
      import :: c_ptr, c_char, c_int64_t, c_int
      type(c_ptr), value :: context
      integer, intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(*), dimension(..), intent(inout) :: values
      integer(c_int64_t), intent(in) :: first(*)
      integer(c_int) :: status
    end function
  end interface

contains

  subroutine leeway_write(codec, comm, path, block, first, shape, stat)
    class(leeway_codec), intent(inout) :: codec
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    type(*), dimension(..), intent(in) :: block
    integer, intent(in) :: first(:), shape(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    if (size(first) /= rank(block) .or. size(shape) /= rank(block)) &
      error stop "leeway_write: first and shape need one number for each axis of the block"
    context = leeway_context_of(codec)
    call leeway_finish(codec, context, c_write(context, comm, trim(path) // c_null_char, block, &
                                               int(first, c_int64_t), int(shape, c_int64_t)), stat)
  end subroutine

  subroutine leeway_append(codec, comm, path, block, first, shape, stat)
    class(leeway_codec), intent(inout) :: codec
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    type(*), dimension(..), intent(in) :: block
    integer, intent(in) :: first(:), shape(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    if (size(first) /= rank(block) .or. size(shape) /= rank(block)) &
      error stop "leeway_append: first and shape need one number for each axis of the block"
    context = leeway_context_of(codec)
    call leeway_finish(codec, context, c_append(context, comm, trim(path) // c_null_char, block, &
                                                int(first, c_int64_t), int(shape, c_int64_t)), stat)
  end subroutine

  subroutine leeway_read(codec, comm, path, block, first, stat)
    class(leeway_codec), intent(inout) :: codec
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    type(*), dimension(..), intent(inout) :: block
    integer, intent(in) :: first(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    if (size(first) /= rank(block)) error stop "leeway_read: first needs one index for each axis of the block"
    context = leeway_context_of(codec)
    call leeway_finish(codec, context, c_read(context, comm, trim(path) // c_null_char, block, &
                                              int(first, c_int64_t)), stat)
  end subroutine
end module
