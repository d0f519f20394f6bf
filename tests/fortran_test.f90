! SPDX-License-Identifier: BSD-3-Clause
! The Fortran interface: copies of codecs, errors that stat= takes, and what examples/hello.f90 does not show.
program fortran_test
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use leeway
  implicit none
  type :: holder
    type(leeway_codec) :: codec
  end type
  type(leeway_codec) :: codec, copy
  type(leeway_codec), allocatable :: made, list(:)
  type(holder) :: one, other
  type(leeway_stream_info) :: info
  integer(int8), allocatable :: stream(:), again(:), memory(:)
  real, allocatable :: nothing(:, :)
  real :: field(30, 20), decoded(30, 20)
  real(real64) :: lowest, highest
  integer(int64) :: used
  integer :: st, unit
  call random_number(field)

  ! Copies of every kind have the settings, and lives of their own.
  call codec%set_bound("abs", 1.0d-2)
  call codec%set_recipe("small")
  call codec%compress(field, stream)
  copy = codec
  allocate(made, source=codec)
  list = [codec, copy]
  one%codec = codec
  other = one
  call codec%clear_bounds()
  call codec%compress(field, again, stat=st)
  call expect(st == leeway_invalid_argument, "no bound is left")
  call same(copy)
  call same(made)
  call same(list(2))
  call same(other%codec)
  deallocate(made, list)
  call same(copy)

  ! Errors do not end the program.
  call copy%decompress_region(stream, [1], decoded, stat=st)
  call expect(st == leeway_invalid_argument .and. index(copy%message(), "one index") > 0, "a first that is too short")
  call copy%compress(nothing, again, stat=st)
  call expect(st == leeway_invalid_argument .and. index(copy%message(), "no data") > 0, "an array that is not allocated")
  call copy%set_bound("nonsense", 1.0d0, stat=st)
  call expect(st == leeway_invalid_argument, "a kind of bound that there is not")
  call copy%add_region_bound([1, 1], [2], 0.0d0, stat=st)
  call expect(st == leeway_invalid_argument, "extents that are too few")
  call copy%decompress(stream(1:20), decoded, stat=st)
  call expect(st == leeway_corrupt, "a stream that was cut")
  call same(copy)

  ! Memory of the caller.
  allocate(memory(10))
  call copy%compress_into(field, memory, used, stat=st)
  call expect(st == leeway_too_small .and. used >= size(stream), "memory that is too small")
  deallocate(memory)
  call copy%max_compressed_size(field, used)
  allocate(memory(used))
  call copy%compress_into(field, memory, used)
  call expect(all(memory(1:used) == stream), "the stream in memory")
  call copy%value_range(field, lowest, highest)
  call expect(real(lowest) == minval(field) .and. real(highest) == maxval(field), "the range")

  ! Chunks, regions with bounds of their own, updates.
  call copy%set_chunk([30, 10])
  call copy%add_region_bound([3, 4], [2, 5], 0.0d0)
  call copy%set_memory(10000000_int64)
  call copy%compress(field, stream)
  call copy%inspect(stream, info)
  call expect(info%rank == 2 .and. all(info%shape(1:2) == [30, 20]), "the shape")
  call copy%decompress(stream, decoded)
  call expect(all(decoded(3:4, 4:8) == field(3:4, 4:8)), "the region without loss")
  call expect(maxval(abs(decoded - field)) <= 1.0e-2 .and. any(decoded /= field), "the bound")
  open(newunit=unit, file="fortran_test.lwy", access="stream", form="unformatted", status="replace")
  write(unit) stream
  close(unit)
  call copy%update_file("fortran_test.lwy", [1, 11], field(:, 1:3))
  open(newunit=unit, file="fortran_test.lwy", access="stream", form="unformatted", status="old")
  inquire(unit, size=used)
  deallocate(memory)
  allocate(memory(used))
  read(unit) memory
  close(unit, status="delete")
  call copy%decompress(memory, decoded)
  call expect(maxval(abs(decoded(:, 11:13) - field(:, 1:3))) <= 1.0e-2, "the update")

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) then
      print *, "failed: ", what
      error stop 1
    end if
  end subroutine

  ! The codec still writes the first stream.
  subroutine same(it)
    type(leeway_codec), intent(inout) :: it
    call it%compress(field, again)
    call expect(size(again) == size(stream), "the settings of a copy")
    call expect(all(again == stream), "the stream of a copy")
  end subroutine

end program
