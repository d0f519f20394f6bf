// SPDX-License-Identifier: BSD-3-Clause
#include "tools/array_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <charconv>

#include "leeway/core/byte_order.h"
#include "tools/h5.h"

namespace leeway::cli {
namespace {

[[noreturn]] void fail_io(const std::string& message) { throw Error(Errc::io, message); }

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  DType dtype;
  Shape shape;
  bool fortran_order = false, big_endian = false;
  size_t bytes = 0;  // of the header
};

DType dtype_of_npy(const std::string& kind, const std::optional<DType>& wanted) {
  for (u8 id = 1; is_dtype(id); ++id) {
    const std::string name(name_of(DType(id)));  // f32 -> f4
    if (DType(id) != DType::bf16 && kind == name[0] + std::to_string(size_of(DType(id))))
      return DType(id);
  }
  if (kind == "V2" && wanted == DType::bf16) return DType::bf16;
  throw Error(Errc::unsupported, "the .npy file holds the type '" + kind +
                                     "', which leeway does not compress" +
                                     (kind == "V2" ? "; if it is bfloat16, say --dtype bf16" : ""));
}

// What stands between the first `open` and `close` behind a key; nothing if they are not there.
std::string_view between(std::string_view text, std::string_view key, char open, char close) {
  const size_t at = text.find(key);
  if (at == text.npos) return {};
  const size_t begin = text.find(open, at + key.size()), end = text.find(close, begin + 1);
  if (begin == text.npos || end == text.npos) return {};
  return text.substr(begin + 1, end - begin - 1);
}

NpyHeader parse_npy(std::span<const std::byte> file, const std::optional<DType>& wanted) {
  const std::string_view text = as_text(file);
  if (text.size() < 12) fail_io("the .npy file ends within its header");
  const auto byte = [&](size_t i) { return size_t(u8(text[i])); };
  const bool is_long = byte(6) >= 2;
  const size_t start = is_long ? 12 : 10;
  const size_t length = byte(8) | byte(9) << 8 | (is_long ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > text.size() - start) fail_io("the .npy file ends within its header");
  const std::string_view dict = text.substr(start, length);
  // "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
  const std::string_view type = between(dict, "'descr':", '\'', '\''),
                         order = between(dict, "'fortran_order':", ' ', ','),
                         extents = between(dict, "'shape':", '(', ')');
  if (type.size() < 3 || (order != "True" && order != "False") ||
      dict.find("'shape':") == dict.npos)
    throw Error(Errc::unsupported,
                "the .npy header is not understood (structured types are not supported)");
  NpyHeader header;
  header.dtype = dtype_of_npy(std::string(type.substr(1)), wanted);
  header.big_endian = type[0] == '>';
  header.fortran_order = order == "True";
  header.bytes = start + length;
  std::vector<u64> shape;
  for (const char* from = extents.data(); from < extents.data() + extents.size();) {
    u64 extent = 0;
    const auto [next, error] = std::from_chars(from, extents.data() + extents.size(), extent);
    if (error == std::errc()) shape.push_back(extent);
    from = std::max(next, from + 1);
  }
  header.shape = Shape(std::span<const u64>(shape));
  return header;
}

void check_size(const std::string& path, size_t bytes, DType dtype, const Shape& shape) {
  const u64 expected = shape.size() * size_of(dtype);
  if (bytes != expected)
    fail_argument(fmt::format("'{}' has {} bytes, but {} values of {} ({}) need {}", path, bytes,
                              shape.size(), name_of(dtype), to_string(shape), expected));
}

ArrayFile open_npy(const std::string& path, std::shared_ptr<MappedFile> file,
                   const std::optional<DType>& wanted) {
  const NpyHeader header = parse_npy(file->bytes(), wanted);
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

ArrayFile open_variable(const h5::Address& address, std::optional<h5::Packing>* packing = nullptr) {
  const h5::File file(address.path, address.names);
  if (address.names.size() != 1) {
    fail_argument("name one variable: " + address.path + ":NAME; there are " + file.list());
  }
  const h5::Variable variable = file.variable(address.names[0]);
  auto array = std::make_shared<Array>(variable.read());
  const View view(array->data(), array->dtype(), array->shape());
  if (packing) *packing = variable.packing();
  return {view, nullptr, array, variable.fill_patterns(view)};
}

// scale * stored + offset.
ArrayFile unpacked(const ArrayFile& packed, const h5::Packing& packing) {
  auto array = std::make_shared<Array>(DType::f64, packed.view.shape);
  auto* out = reinterpret_cast<double*>(array->view().data);
  visit_dtype(packed.view.dtype, [&]<class T>(std::type_identity<T>) {
    const auto* stored = reinterpret_cast<const T*>(packed.view.data);
    for (size_t i = 0; i < size_t(packed.view.shape.size()); ++i)
      out[i] = std::ranges::find(packed.fills, u64(bits_of(stored[i]))) == packed.fills.end()
                   ? packing.scale * double(stored[i]) + packing.offset
                   : std::numeric_limits<double>::quiet_NaN();
  });
  return {View(array->data(), array->dtype(), array->shape()), nullptr, array};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
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
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0)
    fail_io("cannot open '" + path + "': " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    fail_io("'" + path + "' is " +
            (S_ISDIR(status.st_mode) ? "a directory" : "not a regular file"));
  }
  size_ = size_t(status.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      ::close(file);
      fail_io("cannot map '" + path + "': " + std::strerror(errno));
    }
    data_ = static_cast<const std::byte*>(mapped);
    mapped_ = true;
  }
  ::close(file);
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::let_go() {
  if (mapped_ && ++calls_ % 8 == 0) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
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
  if (!address) return open_array(path, options);
  std::optional<h5::Packing> packing;
  ArrayFile file = open_variable(*address, &packing);
  return packing ? unpacked(file, *packing) : file;
}

std::string npy_header(DType dtype, const Shape& shape) {
  std::string extents;
  for (const u64 extent : shape.extents()) extents += std::to_string(extent) + ", ";
  if (shape.rank() > 1)
    extents.resize(extents.size() - 2);
  else if (shape.rank() == 1)
    extents.resize(extents.size() - 1);
  const size_t width = size_of(dtype);
  const std::string type =
      dtype == DType::bf16 ? "V2" : std::string(1, name_of(dtype)[0]) + std::to_string(width);
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 width == 1 ? '|' : '<', type, extents);
  dict.resize((dict.size() + 10) / 64 * 64 + 64 - 10 - 1, ' ');
  dict += '\n';
  std::string header(kNpyMagic);
  header += {'\x01', '\x00', char(dict.size() & 0xff), char(dict.size() >> 8)};
  return header + dict;
}

}  // namespace leeway::cli
