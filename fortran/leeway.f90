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
! Every procedure that can fail takes an optional stat, which becomes leeway_ok or one of the other
! statuses; without it, an error ends the program with a message. codec%message() says what went
! wrong. A codec holds settings only and can be copied like any other value.
module leeway
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  implicit none
  private
  public :: leeway_codec, leeway_stream_info, leeway_library_version
  public :: leeway_context_of, leeway_finish  ! for modules on top of this one
  integer, parameter, public :: leeway_max_rank = 8
  ! Statuses: see leeway/leeway.h.
  integer, parameter, public :: leeway_ok = 0, leeway_invalid_argument = 1, leeway_corrupt = 2, leeway_unsupported = 3, &
    leeway_io = 4, leeway_canceled = 5, leeway_out_of_memory = 6, leeway_internal = 7, leeway_too_small = 8

  character(len=*), parameter :: one_index_each = "first needs one index for each axis of the array"

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

  ! Something that a codec was told; every call tells it all to a context of its own.
  integer, parameter :: is_bound = 1, is_region = 2, is_recipe = 3, is_fill = 4, is_fill_bits = 5, is_brief = 6, &
    is_threads = 7, is_memory = 8, is_chunk = 9
  type :: setting
    integer :: what = 0
    character(len=:), allocatable :: text
    real(real64) :: amount = 0
    integer(int64) :: number = 0
    integer(int64), allocatable :: first(:), extents(:)  ! of leeway: from 0, last axis first
  end type

  type :: leeway_codec
    private
    type(setting), allocatable :: settings(:)
    character(len=:), allocatable :: last_message
  contains
    procedure :: set_bound
    procedure :: clear_bounds
    procedure :: add_region_bound
    procedure :: set_recipe
    procedure, private :: add_fill_real, add_fill_integer
    generic :: add_fill => add_fill_real, add_fill_integer
    procedure :: set_brief
    procedure :: set_threads
    procedure :: set_memory
    procedure :: set_chunk
    procedure :: compress
    procedure :: compress_into
    procedure :: max_compressed_size
    procedure :: value_range
    procedure :: decompress
    procedure :: decompress_region
    procedure :: update_file
    procedure :: append_file
    procedure :: inspect
    procedure :: message
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
    function c_add_region_bound(context, rank, first, extents, bound) result(status) &
        bind(c, name="leeway_add_region_bound")
      import :: c_ptr, c_int, c_int64_t, c_double
      type(c_ptr), value :: context
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: first(*), extents(*)
      real(c_double), value :: bound
      integer(c_int) :: status
    end function
    function c_set_chunk(context, rank, extents) result(status) bind(c, name="leeway_set_chunk")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: context
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int) :: status
    end function
    subroutine c_set_memory(context, bytes) bind(c, name="leeway_set_memory")
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: context
      integer(c_int64_t), value :: bytes
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
    function c_compress_into(context, array, stream, capacity, size) result(status) &
        bind(c, name="leeway_fortran_compress_into")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: context, stream
      type(*), dimension(..), intent(in) :: array
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(out) :: size
      integer(c_int) :: status
    end function
    function c_max_compressed_size(context, array, size) result(status) &
        bind(c, name="leeway_fortran_max_compressed_size")
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: context
      type(*), dimension(..), intent(in) :: array
      integer(c_size_t), intent(out) :: size
      integer(c_int) :: status
    end function
    function c_value_range(context, array, lowest, highest) result(status) &
        bind(c, name="leeway_fortran_value_range")
      import :: c_ptr, c_double, c_int
      type(c_ptr), value :: context
      type(*), dimension(..), intent(in) :: array
      real(c_double), intent(out) :: lowest, highest
      integer(c_int) :: status
    end function
    function c_update_file(context, path, first, array) result(status) bind(c, name="leeway_fortran_update_file")
      import :: c_ptr, c_char, c_int64_t, c_int
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), intent(in) :: first(*)
      type(*), dimension(..), intent(in) :: array
      integer(c_int) :: status
    end function
    function c_append_file(context, path, array) result(status) bind(c, name="leeway_fortran_append_file")
      import :: c_ptr, c_char, c_int
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*)
      type(*), dimension(..), intent(in) :: array
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
  ! "ratio" and "rate" (bits a value) ask for a size, as near as the others allow. "pointwise", a part of each
  ! value, stands alone.
  subroutine set_bound(self, kind, amount, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: kind
    real(real64), intent(in) :: amount
    integer, intent(out), optional :: stat
    call add(self, setting(is_bound, trim(kind), amount), stat)
  end subroutine

  subroutine clear_bounds(self)
    class(leeway_codec), intent(inout) :: self
    type(setting), allocatable :: kept(:)
    if (.not. allocated(self%settings)) return
    allocate(kept, source=pack(self%settings, self%settings%what /= is_bound))
    call move_alloc(kept, self%settings)
  end subroutine

  ! A smaller absolute bound, 0: no loss, in the part of the arrays to come that begins at `first` (counted from 1).
  subroutine add_region_bound(self, first, extents, bound, stat)
    class(leeway_codec), intent(inout) :: self
    integer, intent(in) :: first(:), extents(:)
    real(real64), intent(in) :: bound
    integer, intent(out), optional :: stat
    if (size(first) /= size(extents)) then
      call leeway_finish(self, c_null_ptr, leeway_invalid_argument, stat, "first and extents need the same length")
    else
      call add(self, setting(is_region, amount=bound, first=turned(first) - 1, extents=turned(extents)), stat)
    end if
  end subroutine

  ! A preset ("fast", "balanced", "small", "smallest") or a recipe.
  subroutine set_recipe(self, recipe, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: recipe
    integer, intent(out), optional :: stat
    call add(self, setting(is_recipe, trim(recipe)), stat)
  end subroutine

  ! Declares a value that stands for "nothing here".
  subroutine add_fill_real(self, amount)
    class(leeway_codec), intent(inout) :: self
    real(real64), intent(in) :: amount
    call add(self, setting(is_fill, amount=amount))
  end subroutine

  ! The same for arrays of integers: not every one is a real number.
  subroutine add_fill_integer(self, amount)
    class(leeway_codec), intent(inout) :: self
    integer(int64), intent(in) :: amount
    call add(self, setting(is_fill_bits, number=amount))
  end subroutine

  ! Whether arrays that fit into one chunk get the brief form of a stream, some 250 bytes smaller.
  subroutine set_brief(self, brief)
    class(leeway_codec), intent(inout) :: self
    logical, intent(in) :: brief
    call add(self, setting(is_brief, number=merge(1_int64, 0_int64, brief)))
  end subroutine

  subroutine set_threads(self, threads)
    class(leeway_codec), intent(inout) :: self
    integer, intent(in) :: threads
    call add(self, setting(is_threads, number=int(threads, int64)))
  end subroutine

  ! Working memory to stay below if possible; 0: no limit.
  subroutine set_memory(self, bytes)
    class(leeway_codec), intent(inout) :: self
    integer(int64), intent(in) :: bytes
    call add(self, setting(is_memory, number=bytes))
  end subroutine

  ! The extents of the chunks in which arrays are cut, compressed and read.
  subroutine set_chunk(self, extents, stat)
    class(leeway_codec), intent(inout) :: self
    integer, intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    call add(self, setting(is_chunk, extents=turned(extents)), stat)
  end subroutine

  subroutine compress(self, array, stream, stat)
    class(leeway_codec), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    integer(int8), allocatable, intent(out) :: stream(:)
    integer, intent(out), optional :: stat
    type(c_ptr) :: context, buffer
    integer(int8), pointer :: bytes(:)
    integer(c_int) :: status
    context = leeway_context_of(self)
    buffer = c_null_ptr
    status = c_compress(context, array, buffer)
    if (status == leeway_ok) then
      call c_f_pointer(c_buffer_data(buffer), bytes, [c_buffer_size(buffer)])
      stream = bytes
      call c_buffer_free(buffer)
    end if
    call leeway_finish(self, context, status, stat)
  end subroutine

  ! Into memory of the caller, of which the stream takes the first `used` bytes. With leeway_too_small `used` is a size
  ! that is enough.
  subroutine compress_into(self, array, stream, used, stat)
    class(leeway_codec), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    integer(int8), contiguous, target, intent(inout) :: stream(:)
    integer(int64), intent(out) :: used
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    integer(c_size_t) :: bytes
    integer(c_int) :: status
    context = leeway_context_of(self)
    status = c_compress_into(context, array, c_loc(stream), size(stream, kind=c_size_t), bytes)
    used = bytes
    call leeway_finish(self, context, status, stat)
  end subroutine

  ! A size of memory that is always enough for compress_into().
  subroutine max_compressed_size(self, array, bytes, stat)
    class(leeway_codec), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    integer(int64), intent(out) :: bytes
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    integer(c_size_t) :: most
    integer(c_int) :: status
    context = leeway_context_of(self)
    status = c_max_compressed_size(context, array, most)
    bytes = most
    call leeway_finish(self, context, status, stat)
  end subroutine

  ! The lowest and the highest value that is neither NaN, infinite nor a fill value: the range that "rel" refers to.
  ! Minimum and maximum over all ranks give the range of an array in parts.
  subroutine value_range(self, array, lowest, highest, stat)
    class(leeway_codec), intent(inout) :: self
    type(*), dimension(..), intent(in) :: array
    real(real64), intent(out) :: lowest, highest
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    context = leeway_context_of(self)
    call leeway_finish(self, context, c_value_range(context, array, lowest, highest), stat)
  end subroutine

  ! The array must have the type and shape of the one that was compressed.
  subroutine decompress(self, stream, array, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    type(*), dimension(..), intent(inout) :: array
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    context = leeway_context_of(self)
    call leeway_finish(self, context, c_decompress(context, c_loc(stream), size(stream, kind=c_size_t), c_null_ptr, array), stat)
  end subroutine

  ! The part of the array that begins at `first` (counted from 1) and has the shape of `array`.
  subroutine decompress_region(self, stream, first, array, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    integer, intent(in) :: first(:)
    type(*), dimension(..), intent(inout) :: array
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    integer(c_int64_t), allocatable, target :: begin(:)
    if (size(first) /= rank(array)) then
      call leeway_finish(self, c_null_ptr, leeway_invalid_argument, stat, one_index_each)
      return
    end if
    context = leeway_context_of(self)
    begin = int(first, c_int64_t)
    call leeway_finish(self, context, c_decompress(context, c_loc(stream), size(stream, kind=c_size_t), c_loc(begin), array), stat)
  end subroutine

  ! Replaces the part of the array in a stream's file that begins at `first` and has the shape of `values`, under the
  ! bound of the stream.
  subroutine update_file(self, path, first, values, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: path
    integer, intent(in) :: first(:)
    type(*), dimension(..), intent(in) :: values
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    if (size(first) /= rank(values)) then
      call leeway_finish(self, c_null_ptr, leeway_invalid_argument, stat, one_index_each)
      return
    end if
    context = leeway_context_of(self)
    call leeway_finish(self, context, c_update_file(context, trim(path) // c_null_char, int(first, c_int64_t), values), stat)
  end subroutine

  ! Puts values behind the array in a growing stream's file, along the last axis; makes the file if there is none.
  subroutine append_file(self, path, values, stat)
    class(leeway_codec), intent(inout) :: self
    character(len=*), intent(in) :: path
    type(*), dimension(..), intent(in) :: values
    integer, intent(out), optional :: stat
    type(c_ptr) :: context
    context = leeway_context_of(self)
    call leeway_finish(self, context, c_append_file(context, trim(path) // c_null_char, values), stat)
  end subroutine

  subroutine inspect(self, stream, info, stat)
    class(leeway_codec), intent(inout) :: self
    integer(int8), contiguous, target, intent(in) :: stream(:)
    type(leeway_stream_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=4), parameter :: names(12) = &
      [character(len=4) :: "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
    type(c_info) :: found
    type(c_ptr) :: context
    integer(c_int) :: status
    integer :: i
    context = leeway_context_of(self)
    status = c_inspect(context, c_loc(stream), size(stream, kind=c_size_t), found)
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
    call leeway_finish(self, context, status, stat)
  end subroutine

  ! What the last call had to say if it failed; "" if it did not.
  function message(self) result(text)
    class(leeway_codec), intent(in) :: self
    character(len=:), allocatable :: text
    text = ""
    if (allocated(self%last_message)) text = self%last_message
  end function

  ! Adds a setting, if a context takes it.
  subroutine add(self, new, stat)
    class(leeway_codec), intent(inout) :: self
    type(setting), intent(in) :: new
    integer, intent(out), optional :: stat
    type(setting), allocatable :: all(:)
    type(c_ptr) :: context
    integer(c_int) :: status
    integer :: i, count
    context = leeway_context_of(self)
    status = tell(context, new)
    if (status == leeway_ok) then
      count = 0
      if (allocated(self%settings)) count = size(self%settings)
      allocate(all(count + 1))
      do i = 1, count
        all(i) = self%settings(i)
      end do
      all(count + 1) = new
      call move_alloc(all, self%settings)
    end if
    call leeway_finish(self, context, status, stat)
  end subroutine

  ! A context that knows all settings; null if there is no memory for it, which every call reports.
  function leeway_context_of(self) result(context)
    class(leeway_codec), intent(in) :: self
    type(c_ptr) :: context
    integer(c_int) :: status
    integer :: i
    context = c_create()
    if (.not. c_associated(context) .or. .not. allocated(self%settings)) return
    do i = 1, size(self%settings)
      status = tell(context, self%settings(i))
      if (status /= leeway_ok) then
        call c_destroy(context)
        context = c_null_ptr
        return
      end if
    end do
  end function

  function tell(context, it) result(status)
    type(c_ptr), intent(in) :: context
    type(setting), intent(in) :: it
    integer(c_int) :: status
    status = leeway_ok
    select case (it%what)
    case (is_bound)
      status = c_set_bound(context, it%text // c_null_char, it%amount)
    case (is_region)
      status = c_add_region_bound(context, size(it%first, kind=c_int), it%first, it%extents, it%amount)
    case (is_recipe)
      status = c_set_recipe(context, it%text // c_null_char)
    case (is_fill)
      call c_add_fill(context, it%amount)
    case (is_fill_bits)
      call c_add_fill_bits(context, it%number)
    case (is_brief)
      call c_set_brief(context, int(it%number, c_int))
    case (is_threads)
      call c_set_threads(context, int(it%number, c_int))
    case (is_memory)
      call c_set_memory(context, it%number)
    case (is_chunk)
      status = c_set_chunk(context, size(it%extents, kind=c_int), it%extents)
    end select
  end function

  ! Numbers of axes, last axis first.
  function turned(numbers) result(there)
    integer, intent(in) :: numbers(:)
    integer(int64), allocatable :: there(:)
    there = int(numbers(size(numbers):1:-1), int64)
  end function

  ! Keeps the message of a call, lets go of its context, and gives the status or ends the program. What was wrong before
  ! there was a context is in `reason`.
  subroutine leeway_finish(self, context, status, stat, reason)
    class(leeway_codec), intent(inout) :: self
    type(c_ptr), intent(in) :: context
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(in), optional :: reason
    character(len=:), allocatable :: text
    integer :: result
    result = status
    if (present(reason)) then
      self%last_message = reason
    else if (c_associated(context)) then
      self%last_message = from_c(c_message(context))
      call c_destroy(context)
    else
      self%last_message = "out of memory"
      result = leeway_out_of_memory
    end if
    if (present(stat)) then
      stat = result
    else if (result /= leeway_ok) then
      text = "leeway: " // self%last_message
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
