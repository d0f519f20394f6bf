! SPDX-License-Identifier: BSD-3-Clause
! leeway: error-bounded lossy compression of scientific arrays. The Fortran interface.
!
!   use leeway
!   type(leeway_codec) :: codec
!   integer(int8), allocatable :: stream(:)
!   call codec%set_bound("abs", 1.0d-3)
!   call codec%compress(field, stream)          ! real(4), real(8), integers; any rank; sections, too
!   call codec%decompress(stream, again)
!
! Every procedure that can fail takes an optional stat; without it, an error ends the program with a
! message. codec%message() says what went wrong.
module leeway
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  implicit none
  private
  public :: leeway_codec, leeway_stream_info, leeway_library_version
  integer, parameter, public :: leeway_ok = 0, leeway_max_rank = 8

  ! What a stream says about itself.
  type :: leeway_stream_info
    character(len=4) :: dtype = ""              ! "f32", "i16", ...
    integer :: rank = 0
    integer(int64) :: shape(leeway_max_rank) = 0 ! first axis first, as in Fortran
    real(real64) :: abs_bound = 0               ! in force; 0: no loss
    real(real64) :: max_error = 0               ! reached
    integer(int64) :: special = 0               ! NaN, infinities and fill values
    character(len=256) :: recipe = ""
    logical :: brief = .false.                  ! the short form of a stream
  end type

  type :: leeway_codec
    private
    type(c_ptr) :: context = c_null_ptr
  contains
    procedure :: set_bound
    procedure :: clear_bounds
    procedure :: set_recipe
    procedure, private :: add_fill_real, add_fill_integer
    generic :: add_fill => add_fill_real, add_fill_integer
    procedure :: set_brief
    procedure :: set_threads
    procedure :: compress
    procedure :: decompress
    procedure :: decompress_region
    procedure :: inspect
    procedure :: message
    final :: destroy
  end type

  type, bind(c) :: c_info
    integer(c_int) :: dtype, rank
    integer(c_int64_t) :: shape(8), chunk(8), chunks
    real(c_double) :: abs_bound, max_error
    integer(c_int64_t) :: special, exact, decoded_hash
    character(kind=c_char) :: recipe(256)
    integer(c_int64_t) :: brief, reserved(7)
  end type

  interface
    function c_version() result(text) bind(c, name="leeway_version")
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_create() result(context) bind(c, name="leeway_create")
      import :: c_ptr
      type(c_ptr) :: context
    end function
    subroutine c_destroy(context) bind(c, name="leeway_destroy")
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    function c_message(context) result(text) bind(c, name="leeway_message")
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function
    function c_strlen(text) result(length) bind(c, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
    function c_set_bound(context, kind, amount) result(status) bind(c, name="leeway_set_bound")
      import :: c_ptr, c_char, c_double, c_int
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: kind(*)
      real(c_double), value :: amount
      integer(c_int) :: status
    end function
    subroutine c_clear_bounds(context) bind(c, name="leeway_clear_bounds")
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    function c_set_recipe(context, recipe) result(status) bind(c, name="leeway_set_recipe")
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: recipe(*)
      integer(c_int) :: status
    end function
    subroutine c_add_fill(context, amount) bind(c, name="leeway_add_fill")
      import :: c_ptr, c_double
      type(c_ptr), value :: context
      real(c_double), value :: amount
    end subroutine
    subroutine c_add_fill_bits(context, bits) bind(c, name="leeway_add_fill_bits")
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: context
      integer(c_int64_t), value :: bits
    end subroutine
    subroutine c_set_brief(context, brief) bind(c, name="leeway_set_brief")
      import :: c_ptr, c_int
      type(c_ptr), value :: context
      integer(c_int), value :: brief
    end subroutine
    subroutine c_set_threads(context, threads) bind(c, name="leeway_set_threads")
      import :: c_ptr, c_int
      type(c_ptr), value :: context
      integer(c_int), value :: threads
    end subroutine
    function c_compress(context, array, stream) result(status) bind(c, name="leeway_fortran_compress")
      import :: c_ptr, c_int
      type(c_ptr), value :: context
      type(*), dimension(..), intent(in) :: array
      type(c_ptr), intent(out) :: stream
      integer(c_int) :: status
    end function
    function c_decompress(context, stream, size, first, array) result(status) &
        bind(c, name="leeway_fortran_decompress")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: context, stream, first
      integer(c_size_t), value :: size
      type(*), dimension(..), intent(inout) :: array
      integer(c_int) :: status
    end function
    function c_buffer_data(buffer) result(bytes) bind(c, name="leeway_buffer_data")
      import :: c_ptr
      type(c_ptr), value :: buffer
      type(c_ptr) :: bytes
    end function
    function c_buffer_size(buffer) result(size) bind(c, name="leeway_buffer_size")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: buffer
      integer(c_size_t) :: size
    end function
    subroutine c_buffer_free(buffer) bind(c, name="leeway_buffer_free")
      import :: c_ptr
      type(c_ptr), value :: buffer
    end subroutine
    function c_inspect(context, stream, size, info) result(status) bind(c, name="leeway_inspect")
      import :: c_ptr, c_size_t, c_int, c_info
      type(c_ptr), value :: context, stream
      integer(c_size_t), value :: size
      type(c_info), intent(out) :: info
      integer(c_int) :: status
    end function
  end interface

contains

  function leeway_library_version() result(text)
    character(len=:), allocatable :: text
    text = from_c(c_version())
  end function

  ! kind: "abs", "rel", "psnr", "l2" or "lossless" (amount ignored). Bounds can be combined: all must hold.
  ! "ratio" and "rate" (bits a value) ask for a size, as near as the others allow.
  subroutine set_bound(self, kind, amount, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: kind
    real(real64), intent(in) :: amount
    integer, intent(out), optional :: stat
    call ensure(self)
    call finish(self, c_set_bound(self%context, trim(kind) // c_null_char, amount), stat)
  end subroutine

  subroutine clear_bounds(self)
    class(leeway_codec), intent(inout) :: self
    call ensure(self)
    call c_clear_bounds(self%context)
  end subroutine

  ! A preset ("fast", "balanced", "small", "smallest") or a recipe.
  subroutine set_recipe(self, recipe, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: recipe
    integer, intent(out), optional :: stat
    call ensure(self)
    call finish(self, c_set_recipe(self%context, trim(recipe) // c_null_char), stat)
  end subroutine

  ! Declares a value that stands for "nothing here".
  subroutine add_fill_real(self, amount)
    class(leeway_codec), intent(inout) :: self
    real(real64), intent(in) :: amount
    call ensure(self)
    call c_add_fill(self%context, amount)
  end subroutine

  ! The same for arrays of integers: not every one is a real number.
  subroutine add_fill_integer(self, amount)
    class(leeway_codec), intent(inout) :: self
    integer(int64), intent(in) :: amount
    call ensure(self)
    call c_add_fill_bits(self%context, amount)
  end subroutine

  ! Whether arrays that fit into one chunk get the brief form of a stream, some 250 bytes smaller.
  subroutine set_brief(self, brief)
    class(leeway_codec), intent(inout) :: self
    logical, intent(in) :: brief
    call ensure(self)
    call c_set_brief(self%context, merge(1_c_int, 0_c_int, brief))
  end subroutine

  subroutine set_threads(self, threads)
    class(leeway_codec), intent(inout) :: self
    integer, intent(in) :: threads
    call ensure(self)
    call c_set_threads(self%context, int(threads, c_int))
  end subroutine

  subroutine compress(self, array, stream, stat)
    class(leeway_codec), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    integer(int8), allocatable, intent(out) :: stream(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: buffer
    integer(int8), pointer :: bytes(:)
    integer(c_int) :: status
    call ensure(self)
    buffer = c_null_ptr
    status = c_compress(self%context, array, buffer)
    if (status == leeway_ok) then
      call c_f_pointer(c_buffer_data(buffer), bytes, [c_buffer_size(buffer)])
      stream = bytes
      call c_buffer_free(buffer)
    end if
    call finish(self, status, stat)
  end subroutine

  ! The array must have the type and shape of the one that was compressed.
  subroutine decompress(self, stream, array, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    type(*), dimension(..), intent(inout) :: array
    integer, intent(out), optional :: stat
    call ensure(self)
    call finish(self, c_decompress(self%context, c_loc(stream), size(stream, kind=c_size_t), c_null_ptr, array), stat)
  end subroutine

  ! The part of the array that begins at `first` (counted from 1) and has the shape of `array`.
  subroutine decompress_region(self, stream, first, array, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    integer, intent(in) :: first(:)
    type(*), dimension(..), intent(inout) :: array
    integer, intent(out), optional :: stat
    integer(c_int64_t), target :: begin(leeway_max_rank)
    if (size(first) /= rank(array)) error stop "leeway: first needs one index for each axis of the array"
    call ensure(self)
    begin = 1
    begin(1:size(first)) = first
    call finish(self, c_decompress(self%context, c_loc(stream), size(stream, kind=c_size_t), c_loc(begin), array), stat)
  end subroutine

  subroutine inspect(self, stream, info, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    type(leeway_stream_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=4), parameter :: names(12) = &
      [character(len=4) :: "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
    type(c_info) :: found
    integer(c_int) :: status
    integer :: i
    call ensure(self)
    status = c_inspect(self%context, c_loc(stream), size(stream, kind=c_size_t), found)
    if (status == leeway_ok) then
      info%dtype = names(found%dtype)
      info%rank = found%rank
      info%shape(1:found%rank) = found%shape(found%rank:1:-1)
      info%abs_bound = found%abs_bound
      info%max_error = found%max_error
      info%special = found%special
      info%brief = found%brief /= 0
      do i = 1, 256
        if (found%recipe(i) == c_null_char) exit
        info%recipe(i:i) = found%recipe(i)
      end do
    end if
    call finish(self, status, stat)
  end subroutine

  ! What the last call that failed had to say.
  function message(self) result(text)
    class(leeway_codec), intent(in) :: self
    character(len=:), allocatable :: text
    text = ""
    if (c_associated(self%context)) text = from_c(c_message(self%context))
  end function

  subroutine destroy(self)
    type(leeway_codec), intent(inout) :: self
    if (c_associated(self%context)) call c_destroy(self%context)
    self%context = c_null_ptr
  end subroutine

  subroutine ensure(self)
    class(leeway_codec), intent(inout) :: self
    if (.not. c_associated(self%context)) self%context = c_create()
    if (.not. c_associated(self%context)) error stop "leeway: out of memory"
  end subroutine

  subroutine finish(self, status, stat)
    class(leeway_codec), intent(in) :: self
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(len=:), allocatable :: text
    if (present(stat)) then
      stat = status
    else if (status /= leeway_ok) then
      text = "leeway: " // self%message()
      error stop text
    end if
  end subroutine

  function from_c(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate(character(len=size(letters)) :: string)
    do i = 1, size(letters)
      string(i:i) = letters(i)
    end do
  end function

end module
