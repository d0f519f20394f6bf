! SPDX-License-Identifier: BSD-3-Clause
! Compresses a field, a section of it, and integers; reads all of it back, and a part.
program hello
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
  use leeway
  implicit none
  type(leeway_codec) :: codec
  type(leeway_stream_info) :: info
  integer(int8), allocatable :: stream(:)
  real(real32) :: field(60, 50, 40), again(60, 50, 40), section(30, 50), part(10, 5, 3)
  real(real64) :: line(1000), line_again(1000)
  integer(int16) :: counts(100, 30), counts_again(100, 30)
  integer :: i, j, k, stat

  do concurrent (i = 1:60, j = 1:50, k = 1:40)
    field(i, j, k) = sin(0.1 * i) * cos(0.07 * j) + 0.01 * k
  end do
  line = [(sqrt(real(i, real64)), i = 1, 1000)]
  counts = reshape([(int(mod(i, 97), int16), i = 1, 3000)], [100, 30])

  call codec%set_bound("abs", 1.0d-3)
  call codec%set_recipe("small")
  call codec%compress(field, stream)
  call codec%decompress(stream, again)
  if (maxval(abs(again - field)) > 1.0e-3) error stop "the bound is broken"
  call codec%inspect(stream, info)
  if (info%dtype /= "f32" .or. info%rank /= 3 .or. any(info%shape(1:3) /= [60, 50, 40])) error stop "the shape is wrong"
  print "(a, i0, a, i0, a, es9.2)", "60 x 50 x 40 values in ", size(stream), " of ", 4 * size(field), &
    " bytes, largest error ", info%max_error

  ! Every second column of a plane, in place; back into a section, too.
  call codec%compress(field(1:60:2, :, 7), stream)
  call codec%decompress(stream, section)
  if (maxval(abs(section - field(1:60:2, :, 7))) > 1.0e-3) error stop "the bound is broken in a section"
  again = 0
  call codec%decompress(stream, again(1:60:2, :, 9))
  if (any(again(1:60:2, :, 9) /= section) .or. any(again(2:60:2, :, 9) /= 0)) error stop "a section was not filled"

  call codec%compress(field, stream)
  call codec%decompress_region(stream, [11, 21, 31], part)
  if (maxval(abs(part - field(11:20, 21:25, 31:33))) > 1.0e-3) error stop "the region is wrong"

  call codec%clear_bounds()
  call codec%set_bound("lossless", 0.0d0)
  call codec%set_recipe("balanced")
  call codec%compress(counts, stream)
  call codec%decompress(stream, counts_again)
  if (any(counts /= counts_again)) error stop "integers were altered"
  call codec%compress(line, stream)
  call codec%decompress(stream, line_again)
  if (any(line /= line_again)) error stop "lossless it was not"

  call codec%set_bound("no such bound", 1.0d0, stat=stat)
  if (stat == leeway_ok) error stop "nonsense was accepted"
  print "(a)", codec%message()
  call codec%decompress(stream, counts, stat=stat)
  if (stat == leeway_ok) error stop "a stream of other values was accepted"
  call codec%compress([(1.0, 2.0)], stream, stat=stat)
  if (stat == leeway_ok) error stop "complex numbers were accepted"
end program
