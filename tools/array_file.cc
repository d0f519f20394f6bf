// SPDX-License-Identifier: BSD-3-Clause
#include "tools/array_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "leeway/base/byte_order.h"
#include "tools/npy.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

[[noreturn]] void fail_io(const std::string& message) { throw Error(Errc::io, message); }

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_size(const std::string& path, size_t bytes, DType dtype, const Shape& shape) {
  const u64 expected = shape.size() * size_of(dtype);
  if (bytes != expected)
    fail_argument(fmt::format("'{}' has {} bytes, but {} values of {} ({}) need {}", path, bytes,
                              shape.size(), name_of(dtype), to_string(shape), expected));
}

ArrayFile open_npy(const std::string& path, std::shared_ptr<MappedFile> file,
                   const std::optional<DType>& wanted) {
  const NpyHeader header = parse_npy(as_text(file->bytes()), wanted);
  const auto values = file->bytes().subspan(header.bytes);
  const u64 expected = header.shape.size() * size_of(header.dtype);
  if (values.size() != expected)
    fail_io(fmt::format("'{}' should have {} bytes of values, but has {}", path, expected,
                        values.size()));
  ArrayFile result{{values.data(), header.dtype, header.shape}, std::move(file), nullptr};
  if (header.fortran_order) {
    auto step = std::ptrdiff_t(size_of(header.dtype));
    for (size_t axis = 0; axis < header.shape.rank(); step *= std::ptrdiff_t(header.shape[axis++]))
      result.view.strides[axis] = step;
  }
  if (header.big_endian) {
    result.array = std::make_shared<Array>(header.dtype, header.shape);
    const MutableView target = result.array->view();
    copy(result.view, target);
    swap_bytes(target.data, size_t(result.array->bytes()), size_of(header.dtype));
    result.view = View(target.data, header.dtype, header.shape);
  }
  return result;
}

ArrayFile open_stream(std::shared_ptr<MappedFile> file) {
  const auto bytes = file->bytes();
  DecompressOptions options;
  options.execution.threads = available_cores();
  const ByteView stream(reinterpret_cast<const u8*>(bytes.data()), bytes.size());
  auto array = std::make_shared<Array>(decompress(stream, options));
  return {View(array->data(), array->dtype(), array->shape()), nullptr, array,
          inspect(stream).header.fills};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  if (path == "-") {
    std::byte block[65536];
    for (ssize_t got; (got = ::read(STDIN_FILENO, block, sizeof block)) != 0;) {
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_io(std::string("cannot read standard input: ") + std::strerror(errno));
      read_.insert(read_.end(), block, block + got);
    }
    data_ = read_.data();
    size_ = read_.size();
    return;
  }
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail_io("cannot open '" + path + "': " + std::strerror(errno));
  try {
    map();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

void MappedFile::map() {
  if (::fstat(file_, &status_) != 0)
    fail_io("cannot open '" + path_ + "': " + std::strerror(errno));
  if (!S_ISREG(status_.st_mode))
    fail_io("'" + path_ + "' is " +
            (S_ISDIR(status_.st_mode) ? "a directory" : "not a regular file"));
  size_ = size_t(status_.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
  if (mapped == MAP_FAILED) fail_io("cannot map '" + path_ + "': " + std::strerror(errno));
  data_ = static_cast<const std::byte*>(mapped);
  noted_.emplace(path_, mapped, size_);
}

MappedFile::~MappedFile() {
  if (noted_) ::munmap(const_cast<std::byte*>(data_), size_);
  if (file_ >= 0) ::close(file_);
}

void MappedFile::check_unchanged() const {
  struct stat now {};
  if (file_ < 0) return;
  if (::fstat(file_, &now) != 0 || now.st_size != status_.st_size ||
      now.st_mtim.tv_sec != status_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec)
    fail_io("'" + path_ + "' was changed while it was read");
}

void MappedFile::let_go() {
  if (noted_) noted_->let_go();
}

NameInfo read_name(const std::string& path) {
  NameInfo info;
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::string stem = name.substr(0, name.find_last_of('.'));
  const size_t begin = stem.find_last_not_of("0123456789x") + 1;
  const std::string digits = stem.substr(begin);
  const bool apart =
      begin == 0 || std::string_view("_.-").find(stem[begin - 1]) != std::string_view::npos;
  if (apart && !digits.empty() && digits.front() != 'x' && digits.back() != 'x' &&
      digits.find("xx") == std::string::npos)
    info.shape = parse_shape(digits);
  if (const size_t dot = name.find_last_of('.'); dot != std::string::npos)
    for (u8 id = 1; is_dtype(id); ++id)
      if (name_of(DType(id)) == name.substr(dot + 1)) info.dtype = DType(id);
  if (name.ends_with(".d64")) info.dtype = DType::f64;
  return info;
}

ArrayFile open_array(const std::string& path, const ArrayOptions& options) {
  if (const auto address = h5::parse_address(path)) return open_variable(*address);
  const auto file = std::make_shared<MappedFile>(path);
  const std::string_view start = as_text(file->bytes());
  std::optional<DType> dtype;
  if (!options.dtype.empty()) dtype = parse_dtype(options.dtype);
  if (start.starts_with(kNpyMagic)) return open_npy(path, file, dtype);
  if (start.starts_with("\x89LWY")) return open_stream(file);
  const NameInfo named = read_name(path);
  if (!dtype) dtype = named.dtype;
  std::optional<Shape> shape;
  if (!options.shape.empty())
    shape = parse_shape(options.shape);
  else
    shape = named.shape;
  if (file->bytes().empty() && !(shape && shape->size() == 0)) fail_io("'" + path + "' is empty");
  const std::string what = path == "-" ? "standard input" : "'" + path + "'";
  if (!dtype)
    fail_argument("the element type of " + what + " is not known: give --dtype, e.g. --dtype f32");
  if (!shape)
    fail_argument("the shape of " + what + " is not known: give --shape, e.g. --shape 100x500x500");
  check_size(path, file->bytes().size(), *dtype, *shape);
  return {View(file->bytes().data(), *dtype, *shape), file, nullptr};
}

ArrayFile open_unpacked(const std::string& path, const ArrayOptions& options) {
  const auto address = h5::parse_address(path);
  return address ? open_unpacked_variable(*address) : open_array(path, options);
}

}  // namespace leeway::cli
