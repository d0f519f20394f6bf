// SPDX-License-Identifier: BSD-3-Clause
#include "tools/h5.h"

#include <hdf5_hl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "leeway/hdf5.h"

namespace leeway::cli::h5 {
namespace {

// HDF5 tells what went wrong from the innermost function outwards; the first line is the most
// exact.
std::string last_words() {
  std::string words;
  const auto collect = [](unsigned depth, const H5E_error2_t* error, void* to) -> herr_t {
    if (depth == 0 && error->desc) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &words);
  H5Eclear2(H5E_DEFAULT);
  return words;
}

// Errors are ours to report; the filter is known without a plugin.
void prepare() {
  static const bool ready = [] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return leeway_h5z_register() >= 0;
  }();
  if (!ready) throw Error(Errc::internal, "the HDF5 filter cannot be registered");
}

DType dtype_of(hid_t type, const std::string& name) {
  const H5T_class_t kind = H5Tget_class(type);
  const size_t bytes = H5Tget_size(type);
  if (kind == H5T_FLOAT && bytes == 4) return DType::f32;
  if (kind == H5T_FLOAT && bytes == 8) return DType::f64;
  if (kind == H5T_INTEGER && std::has_single_bit(bytes) && bytes <= 8)
    return DType(int(H5Tget_sign(type) == H5T_SGN_NONE ? DType::u8 : DType::i8) +
                 std::countr_zero(bytes));
  throw Error(Errc::unsupported,
              "'" + name + "' holds neither integers nor floating-point numbers of 4 or 8 bytes");
}

hid_t memory_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return H5T_NATIVE_FLOAT;
    case DType::f64:
      return H5T_NATIVE_DOUBLE;
    case DType::i8:
      return H5T_NATIVE_INT8;
    case DType::i16:
      return H5T_NATIVE_INT16;
    case DType::i32:
      return H5T_NATIVE_INT32;
    case DType::i64:
      return H5T_NATIVE_INT64;
    case DType::u8:
      return H5T_NATIVE_UINT8;
    case DType::u16:
      return H5T_NATIVE_UINT16;
    case DType::u32:
      return H5T_NATIVE_UINT32;
    default:
      return H5T_NATIVE_UINT64;
  }
}

Shape shape_of(hid_t dataset, const std::string& name) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  hsize_t extents[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space, extents, nullptr);
  if (rank < 0 || rank > int(kMaxRank))
    throw Error(Errc::unsupported, "'" + name + "' has no shape that leeway can work with");
  return Shape(std::span<const u64>(std::vector<u64>(extents, extents + rank)));
}

// A part of a dataset, in the file and as it lies in memory.
struct Selection {
  Handle file, memory;
  Selection(hid_t dataset, const Box& part)
      : file(H5Dget_space(dataset), H5Sclose), memory(H5Screate(H5S_SCALAR), H5Sclose) {
    const size_t rank = part.shape.rank();
    if (rank == 0) return;
    const std::vector<hsize_t> first(part.first.begin(), part.first.begin() + std::ptrdiff_t(rank)),
        count(part.shape.extents().begin(), part.shape.extents().end());
    H5Sselect_hyperslab(file, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    memory = Handle(H5Screate_simple(int(rank), count.data(), nullptr), H5Sclose);
  }
};

// What happens to the chunks of a dataset when they are read.
struct Pipeline {
  std::vector<u64> chunk;                  // extents
  std::optional<hdf5::Parameters> leeway;  // if it is among the filters
  bool keeps_size = true;                  // whether what leeway returns is what HDF5 gets
  unsigned all = 0;                        // the mask of a chunk that no filter was applied to
  size_t behind = 0;                       // bytes that a checksum puts after leeway's
  bool is_wrapped = false;                 // whether others code what leeway has written

  explicit Pipeline(hid_t dataset) {
    const Handle dcpl(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(dcpl) != H5D_CHUNKED) return;
    hsize_t extents[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, extents), filters = H5Pget_nfilters(dcpl);
    chunk.assign(extents, extents + std::max(rank, 0));
    for (int i = 0; i < filters; ++i) {
      unsigned words[64], flags = 0, config = 0;
      size_t count = 64;
      const H5Z_filter_t id =
          H5Pget_filter2(dcpl, unsigned(i), &flags, &count, words, 0, nullptr, &config);
      all |= 1u << i;
      if (leeway) {
        if (id == H5Z_FILTER_FLETCHER32) behind = 4;
        is_wrapped |= id != H5Z_FILTER_FLETCHER32;
        continue;
      }
      if (id == LEEWAY_H5Z_ID)
        leeway = hdf5::parse_words({words, std::min<size_t>(count, 64)});
      else if (id != H5Z_FILTER_SHUFFLE)
        keeps_size = false;
    }
    keeps_size |= !leeway;
  }
};

// Refuses chunks that were stored without any filter and are shorter than a chunk: HDF5 would read
// on after their end.
void check_unfiltered_chunks(hid_t dataset, const std::string& name, const Box& part) {
  const Pipeline pipeline(dataset);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const u64 bytes = Shape(std::span<const u64>(pipeline.chunk)).size() * H5Tget_size(type);
  std::array<u64, kMaxRank> counts{};
  for (size_t axis = 0; axis < part.shape.rank(); ++axis)
    counts[axis] = (part.first[axis] + part.shape[axis] - 1) / pipeline.chunk[axis] -
                   part.first[axis] / pipeline.chunk[axis] + 1;
  for_each_outer(
      Shape(std::span<const u64>(counts).first(part.shape.rank())), 0, [&](const Index& index) {
        hsize_t first[kMaxRank] = {}, stored = 0;
        for (size_t axis = 0; axis < part.shape.rank(); ++axis)
          first[axis] =
              (part.first[axis] / pipeline.chunk[axis] + index[axis]) * pipeline.chunk[axis];
        unsigned mask = 0;
        haddr_t address = HADDR_UNDEF;
        if (H5Dget_chunk_info_by_coord(dataset, first, &mask, &address, &stored) < 0 ||
            address == HADDR_UNDEF)
          return;
        if ((mask & pipeline.all) == pipeline.all && stored != bytes)
          throw Error(Errc::corrupt, "a chunk of '" + name + "' does not have the size of a chunk");
      });
}

// The numbers of an attribute; nothing if it is missing or not a number.
template <class T = double>
std::vector<T> numbers_of(hid_t object, const char* name, hid_t memory = H5T_NATIVE_DOUBLE) {
  if (H5Aexists(object, name) <= 0) return {};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  const H5T_class_t kind = H5Tget_class(type);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || count < 1 || count > 64) return {};
  std::vector<T> numbers;
  numbers.resize(size_t(count));
  if (H5Aread(attribute, memory, numbers.data()) < 0) return {};
  return numbers;
}

}  // namespace

hid_t checked(hid_t id, const std::string& what) {
  if (id >= 0) return id;
  const std::string words = last_words();
  throw Error(Errc::io, what + (words.empty() ? "" : ": " + words));
}

std::optional<hdf5::Parameters> filter_of(hid_t dataset, const std::string& name) {
  const Pipeline pipeline(dataset);
  if (!pipeline.leeway) return std::nullopt;
  const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
  const hdf5::Parameters& parameters = *pipeline.leeway;
  if (!pipeline.keeps_size || !parameters.chunk || parameters.chunk->shape.size() == 0 ||
      int(pipeline.chunk.size()) != H5Sget_simple_extent_ndims(space) ||
      !(parameters.chunk->shape == hdf5::joined(pipeline.chunk)) ||
      parameters.chunk->dtype != dtype_of(type, name))
    throw Error(Errc::corrupt, "the filter of '" + name +
                                   "' was set up for chunks of another type or shape: the file is "
                                   "damaged, or it was made to do harm");
  return parameters;
}

bool is_dimension_scale(hid_t dataset) { return H5DSis_scale(dataset) > 0; }

std::string text_of(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return "";
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_STRING || count < 1) return "";
  if (H5Tis_variable_str(type) > 0) {
    const Handle memory(H5Tcopy(type), H5Tclose);
    std::vector<char*> texts;
    texts.resize(size_t(count));
    if (H5Aread(attribute, memory, texts.data()) < 0) return "";
    std::string joined;
    for (const char* text : texts)
      if (text) joined += (joined.empty() ? "" : " ") + std::string(text);
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, texts.data());
    return joined;
  }
  std::string text(H5Tget_size(type) * size_t(count), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return "";
  std::ranges::replace(text, '\0', ' ');
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::optional<double> number_of(hid_t object, const char* name) {
  const std::vector<double> numbers = numbers_of(object, name);
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

Variable::Variable(hid_t file, const std::string& name)
    : name_(name),
      dataset_(checked(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "cannot open '" + name + "'"),
               H5Dclose) {
  const Handle type(H5Dget_type(dataset_), H5Tclose);
  dtype_ = dtype_of(type, name);
  shape_ = shape_of(dataset_, name);
  filter_ = filter_of(dataset_, name);
}

bool Variable::holds_floating() const {
  if (dtype_ == DType::f32 || dtype_ == DType::f64) return true;
  return packing().has_value() && !is_unsigned_in_disguise();
}
bool Variable::is_scale() const { return is_dimension_scale(dataset_); }

bool Variable::is_bare_dimension() const {
  char title[128] = "";
  return is_scale() && H5DSget_scale_name(dataset_, title, sizeof title) > 0 &&
         std::string_view(title).starts_with(
             "This is a netCDF dimension but not a netCDF variable");
}

void Variable::declare_fills(CompressOptions& options) const {
  for (const char* name : {"_FillValue", "missing_value"}) {
    const std::vector<double> numbers = numbers_of(dataset_, name);
    visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>) {
        // Not every integer of 64 bits is a double. One that the type does not have comes out as
        // another number.
        const std::vector<T> integers = numbers_of<T>(dataset_, name, memory_type(dtype_));
        for (size_t i = 0; i < std::min(numbers.size(), integers.size()); ++i)
          if (double(integers[i]) == numbers[i]) options.fill_bits.push_back(bits_of(integers[i]));
      } else {
        for (const double number : numbers)
          if (!std::isnan(number)) options.fills.push_back(number);  // NaN is kept anyway
      }
    });
  }
  if (const auto bits = fill_bits()) options.fill_bits.push_back(*bits);
}

std::optional<u64> Variable::fill_bits() const {
  const Handle dcpl(H5Dget_create_plist(dataset_), H5Pclose);
  H5D_fill_value_t status{};
  u64 bits = 0;
  if (H5Pfill_value_defined(dcpl, &status) < 0 || status != H5D_FILL_VALUE_USER_DEFINED ||
      H5Pget_fill_value(dcpl, memory_type(dtype_), &bits) < 0)
    return std::nullopt;
  return bits;
}

std::vector<u64> Variable::fill_patterns(const View& values) const {
  CompressOptions options;
  options.detect_fills = false;
  declare_fills(options);
  const std::optional<ValidRange> range = value_range(values, options);
  return range ? range->fills : std::vector<u64>();
}

double Variable::unit() const {
  const double scale = packing().value_or(Packing{}).scale;
  return scale != 0 ? std::fabs(scale) : 1;
}

bool Variable::is_unsigned_in_disguise() const {
  const bool is_signed =
      dtype_ == DType::i8 || dtype_ == DType::i16 || dtype_ == DType::i32 || dtype_ == DType::i64;
  const std::string said = is_signed ? text_of(dataset_, "_Unsigned") : "";
  return said == "true" || said == "True" || said == "TRUE";
}

std::optional<Packing> Variable::packing() const {
  const std::vector<double> scale = numbers_of(dataset_, "scale_factor"),
                            offset = numbers_of(dataset_, "add_offset");
  if (scale.size() != 1 && offset.size() != 1) return std::nullopt;
  return Packing{scale.size() == 1 ? scale[0] : 1, offset.size() == 1 ? offset[0] : 0};
}

Array Variable::read(const Box& part) const {
  Array array(dtype_, part.shape);
  if (array.bytes() == 0) return array;
  if (filter_) check_unfiltered_chunks(dataset_, name_, part);
  const Selection selected(dataset_, part);
  checked(H5Dread(dataset_, memory_type(dtype_), selected.memory, selected.file, H5P_DEFAULT,
                  array.view().data),
          "cannot read '" + name_ + "'");
  return array;
}

void Variable::write(const Box& part, const Array& values) const {
  if (values.bytes() == 0) return;
  const Selection selected(dataset_, part);
  checked(H5Dwrite(dataset_, memory_type(dtype_), selected.memory, selected.file, H5P_DEFAULT,
                   values.data()),
          "cannot write '" + name_ + "'");
}

void Variable::for_each_part(u64 thickness,
                             const std::function<void(const Box&, const Array&)>& f) const {
  if (shape_.rank() == 0 || shape_.size() == 0) return f({{}, shape_}, read());
  const u64 row = shape_.size() / shape_[0] * size_of(dtype_);
  const u64 step = std::max<u64>(1, (u64(128) << 20) / row / thickness) * thickness;
  for (u64 first = 0; first < shape_[0]; first += step) {
    const Box part = slab(shape_, first, step);
    f(part, read(part));
  }
}

void Variable::while_parts(u64 bytes, const std::function<bool(const Array&)>& f) const {
  if (shape_.rank() == 0 || shape_.size() == 0) return void(f(read()));
  const u64 row = shape_.size() / shape_[0] * size_of(dtype_);
  const u64 step = std::max<u64>(1, bytes / row);
  for (u64 first = 0; first < shape_[0]; first += step)
    if (!f(read(slab(shape_, first, step)))) return;
}

std::optional<Shape> Variable::chunk() const {
  const Handle dcpl(H5Dget_create_plist(dataset_), H5Pclose);
  if (H5Pget_layout(dcpl) != H5D_CHUNKED) return std::nullopt;
  hsize_t extents[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, extents);
  return Shape(std::span<const u64>(std::vector<u64>(extents, extents + rank)));
}

TemporaryFile::TemporaryFile()
    : folder_([this] {
        path_ = (std::filesystem::temp_directory_path() / "leewayXXXXXX").string();
        if (!::mkdtemp(path_.data()))
          throw Error(Errc::io,
                      std::string("cannot make a temporary folder: ") + std::strerror(errno));
        return path_;
      }),
      file_([this] { return path_ += "/converted.nc"; }) {}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove_all(std::filesystem::path(path_).parent_path(), ignored);
}

File::File(const std::string& path, const std::vector<std::string>& names) : path_(path) {
  prepare();
  std::string real = path;
  if (is_classic(path)) {
    temporary_ = std::make_unique<TemporaryFile>();
    real = temporary_->path();
    convert_classic(path, real, names);
  }
  file_ = Handle(checked(H5Fopen(real.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                         "cannot open '" + path + "' as an HDF5 file"),
                 H5Fclose);
}

std::vector<std::string> File::arrays() const {
  struct Found {
    std::vector<std::string> names;
    std::exception_ptr failure;
  } found;
  const auto visit = [](hid_t object, const char* name, const H5O_info_t* info,
                        void* to) -> herr_t {
    Found& found = *static_cast<Found*>(to);
    if (info->type != H5O_TYPE_DATASET) return 0;
    try {
      const Variable variable(object, name);
      if (variable.shape().rank() > 0 && !variable.is_bare_dimension()) found.names.push_back(name);
    } catch (const Error& error) {
      if (error.code() == Errc::unsupported) return 0;  // strings, compounds: not ours
      found.failure = std::current_exception();
    } catch (...) {
      found.failure = std::current_exception();
    }
    return found.failure ? -1 : 0;
  };
  const herr_t status = H5Ovisit(file_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found);
  if (found.failure) std::rethrow_exception(found.failure);
  checked(status, "cannot list '" + path_ + "'");
  return found.names;
}

std::string File::list() const {
  std::string known;
  for (const std::string& array : arrays()) known += (known.empty() ? "" : ", ") + array;
  return known.empty() ? "none" : known;
}

bool File::has(const std::string& name) const {
  const bool is_there = H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
  H5Eclear2(H5E_DEFAULT);
  return is_there;
}

Variable File::variable(const std::string& name) const {
  if (!has(name))
    fail_argument("'" + path_ + "' has no variable '" + name + "'; there are " + list());
  return Variable(file_, name);
}

Stored inspect_stored(const Variable& variable) {
  Stored stored;
  const hid_t dataset = variable.id();
  const Pipeline pipeline(dataset);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const Handle file(H5Iget_file_id(dataset), H5Fclose);
  hsize_t count = 0, file_bytes = 0;
  checked(H5Fget_filesize(file, &file_bytes), "cannot see how long the file is");
  checked(H5Dget_num_chunks(dataset, space, &count), "cannot list chunks");
  for (hsize_t i = 0; i < count; ++i) {
    hsize_t first[H5S_MAX_RANK], bytes = 0;
    unsigned mask = 0;
    haddr_t address = 0;
    checked(H5Dget_chunk_info(dataset, space, i, first, &mask, &address, &bytes),
            "cannot find a chunk");
    if (bytes > file_bytes) throw Error(Errc::corrupt, "a chunk is larger than its file");
    Bytes stream(bytes);
    u32 skipped = 0;
    checked(H5Dread_chunk(dataset, H5P_DEFAULT, first, &skipped, stream.data()),
            "cannot read a chunk");
    stored.stream_bytes += bytes;
    ++stored.chunks;
    // Kept as it is, or not to be read without these other filters.
    if (skipped || pipeline.is_wrapped || bytes < pipeline.behind) continue;
    const Info info = inspect(ByteView(stream).first(size_t(bytes) - pipeline.behind));
    stored.special += info.statement.special;
    stored.exact += info.statement.exact;
    stored.abs_bound = std::max(stored.abs_bound, info.header.abs_bound);
    stored.max_error = std::max(stored.max_error, info.statement.max_error);
    stored.recipe = info.header.recipe;
  }
  return stored;
}

}  // namespace leeway::cli::h5
