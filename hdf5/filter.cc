// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 filter: a chunk of a dataset in, a stream out, and back. It never alters data it was not
// asked to alter: what it cannot do fails, and HDF5 then stores the chunk as it is or gives up.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#include "hdf5/parameters.h"
#include "leeway/base/byte_order.h"
#include "leeway/base/kept.h"
#include "leeway/chunk_memory.h"
#include "leeway/hdf5.h"
#include "leeway/leeway.hpp"

namespace leeway::hdf5 {
namespace {

// A process may hold several HDF5 libraries (those of h5py and netCDF4 are private copies), and all
// of them share this filter. The address that a call comes from tells whose functions to call back.
class Hosts {
 public:
  static Hosts& instance() {
    static auto* const hosts = new Hosts;  // never destroyed: HDF5 may still write at the end
    return *hosts;
  }
  void add(const void* address, const leeway_h5_host& host) {
    const std::lock_guard lock(mutex_);
    const void* base = base_of(address);
    callers_.fill({});
    for (Entry& entry : entries_)
      if (entry.base == base) return void(entry.host = host);
    entries_.push_back({base, host});
  }
  leeway_h5_host of(const void* caller) {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(callers_, caller, &Caller::address);
    if (known != callers_.end()) return entries_[known->entry].host;
    const void* base = base_of(caller);
    size_t i = 0;
    while (i + 1 < entries_.size() && entries_[i].base != base) ++i;
    callers_[next_caller_++ % callers_.size()] = {caller, i};
    return entries_[i].host;
  }

 private:
  struct Entry {
    const void* base;
    leeway_h5_host host;
  };
  struct Caller {
    const void* address = nullptr;
    size_t entry = 0;
  };
  static const void* base_of(const void* address) {
    Dl_info info{};
    return ::dladdr(address, &info) ? info.dli_fbase : nullptr;
  }
  std::mutex mutex_;
  std::vector<Entry> entries_;
  // The last answers are kept: asking the system costs more than coding a small chunk.
  std::array<Caller, 16> callers_{};
  size_t next_caller_ = 0;
};

void complain(const leeway_h5_host& host, const char* function, const char* what) {
  host.Epush2(H5E_DEFAULT, "hdf5/filter.cc", function, __LINE__, host.error_class, host.error_major,
              host.error_minor, "leeway: %s", what);
}

// Runs f; what it throws becomes an entry of HDF5's error stack and `failed`.
template <class R, class F>
R guarded(const leeway_h5_host& host, const char* function, R failed, F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    complain(host, function, error.what());
    return failed;
  }
}

DType float_type(const leeway_h5_host& host, hid_t type, size_t bytes) {
  size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
  host.Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
  if (bytes == 4 && exponent == 8 && mantissa == 23) return DType::f32;
  if (bytes == 8 && exponent == 11 && mantissa == 52) return DType::f64;
  if (bytes == 2 && exponent == 5 && mantissa == 10) return DType::f16;
  if (bytes == 2 && exponent == 8 && mantissa == 7) return DType::bf16;
  throw Error(Errc::unsupported, "this kind of floating-point number is not supported");
}

DType dtype_of(const leeway_h5_host& host, hid_t type) {
  const size_t bytes = host.Tget_size(type);
  const H5T_class_t kind = host.Tget_class(type);
  if (kind == H5T_FLOAT) return float_type(host, type, bytes);
  if (kind != H5T_INTEGER)
    throw Error(Errc::unsupported,
                "only integers and floating-point numbers can be compressed, no strings, compounds "
                "or other types");
  if (!std::has_single_bit(bytes) || bytes > 8 || host.Tget_precision(type) != 8 * bytes)
    throw Error(Errc::unsupported, "integers of this size are not supported");
  const DType first = host.Tget_sign(type) == H5T_SGN_NONE ? DType::u8 : DType::i8;
  return DType(int(first) + std::countr_zero(bytes));
}

Shape shape_of(const leeway_h5_host& host, hid_t space) {
  hsize_t extents[H5S_MAX_RANK];
  const int rank = host.Sget_simple_extent_dims(space, extents, nullptr);
  if (rank < 0) throw Error(Errc::unsupported, "the chunk has no simple shape");
  return joined(std::vector<u64>(extents, extents + rank));
}

// The fill value that the dataset was given, if any.
std::optional<u64> fill_of(const leeway_h5_host& host, hid_t dcpl, hid_t type, bool big_endian) {
  H5D_fill_value_t status{};
  u64 bits = 0;
  if (host.Pfill_value_defined(dcpl, &status) < 0 || status != H5D_FILL_VALUE_USER_DEFINED ||
      host.Pget_fill_value(dcpl, type, &bits) < 0)
    return std::nullopt;
  if (big_endian) swap_bytes(&bits, host.Tget_size(type), host.Tget_size(type));
  return bits;
}

Parameters current_parameters(const leeway_h5_host& host, hid_t dcpl, unsigned& flags) {
  size_t count = 64;
  unsigned words[64];
  if (host.Pget_filter_by_id2(dcpl, LEEWAY_H5Z_ID, &flags, &count, words, 0, nullptr, nullptr) < 0)
    throw Error(Errc::internal, "the parameters of the filter cannot be read");
  return parse_words({words, std::min<size_t>(count, 64)});
}

// A filter that comes first hands on other bytes than the dataset's values: bounds mean nothing for
// them.
void refuse_filters_before(const leeway_h5_host& host, hid_t dcpl) {
  unsigned flags = 0, config = 0;
  size_t words = 0;
  char name[64] = "";
  if (host.Pget_nfilters(dcpl) < 1) return;
  const H5Z_filter_t first =
      host.Pget_filter2(dcpl, 0, &flags, &words, nullptr, sizeof name, name, &config);
  if (first < 0 || first == LEEWAY_H5Z_ID) return;
  throw Error(Errc::unsupported,
              "another filter comes before this one, number " + std::to_string(first) +
                  (*name ? ", " : "") + name +
                  ": leeway must be the first, as it needs the values themselves");
}

htri_t can_apply(hid_t, hid_t type, hid_t) {
  const leeway_h5_host host = Hosts::instance().of(__builtin_return_address(0));
  return guarded<htri_t>(host, __func__, 0, [&] {
    dtype_of(host, type);
    return 1;
  });
}

// HDF5 1.10 comes here for optional filters even if can_apply() said no: refuse again.
herr_t set_local(hid_t dcpl, hid_t type, hid_t space) {
  const leeway_h5_host host = Hosts::instance().of(__builtin_return_address(0));
  return guarded<herr_t>(host, __func__, -1, [&] {
    refuse_filters_before(host, dcpl);
    unsigned flags = 0;
    Parameters parameters = current_parameters(host, dcpl, flags);
    const bool big_endian = host.Tget_order(type) == H5T_ORDER_BE;
    parameters.chunk = Chunk{dtype_of(host, type), big_endian, shape_of(host, space),
                             fill_of(host, dcpl, type, big_endian)};
    parameters.check();
    const Words words = stored_words(parameters);
    return host.Pmodify_filter(dcpl, LEEWAY_H5Z_ID, flags, words.size(), words.data());
  });
}

Execution execution() {
  Execution result;
  if (const char* threads = std::getenv("LEEWAY_NUM_THREADS"))
    result.threads = std::clamp(std::atoi(threads), 1, 1024);
  return result;
}

// Gives HDF5 a new buffer in place of the old one.
struct Exchange {
  const leeway_h5_host& host;
  size_t* buffer_bytes;
  void** buffer;
  void* made = nullptr;

  ~Exchange() {
    if (made) host.free_memory(made);
  }
  u8* make(size_t bytes) {
    made = host.allocate_memory(std::max<size_t>(bytes, 1), 0);
    if (!made) throw std::bad_alloc();
    return static_cast<u8*>(made);
  }
  size_t finish(size_t capacity, size_t used) {
    host.free_memory(*buffer);
    *buffer = std::exchange(made, nullptr);
    *buffer_bytes = capacity;
    return used;
  }
};

size_t encode(const Parameters& parameters, size_t bytes, Exchange& exchange) {
  const Chunk& chunk = *parameters.chunk;
  const size_t width = size_of(chunk.dtype);
  if (bytes != chunk.shape.size() * width)
    throw Error(Errc::unsupported,
                "the chunk does not have the size that the filter was set up for; another filter "
                "before this one?");
  CompressOptions options = parameters.options();
  options.execution = execution();
  const auto* values = static_cast<const std::byte*>(*exchange.buffer);
  std::vector<std::byte> swapped;
  if (chunk.big_endian) {
    swapped.assign(values, values + bytes);
    swap_bytes(swapped.data(), bytes, width);
    values = swapped.data();
  }
  const View view(values, chunk.dtype, chunk.shape);
  const size_t capacity =
      std::max(bytes, size_t(derived::most_bytes_of_part(view, options, parameters.rules)));
  u8* stream = exchange.make(capacity);
  const auto coder = [&](const CompressOptions& asked, std::span<u8> memory) {
    return ChunkMemory::of_process().compress_into(view, asked, memory);
  };
  const u64 used =
      derived::compress_part(view, options, parameters.rules, {stream, capacity}, coder)
          .output_bytes;
  return exchange.finish(capacity, size_t(used));
}

size_t decode(const Parameters& parameters, size_t bytes, Exchange& exchange) {
  const Chunk& chunk = *parameters.chunk;
  const ByteView stored(static_cast<const u8*>(*exchange.buffer), bytes);
  const MemorySource source(stored);
  const StreamReader stream(source);
  if (stream.header().dtype != chunk.dtype || !(stream.header().shape == chunk.shape))
    fail_corrupt("it does not hold the chunk that the dataset expects");
  const size_t width = size_of(chunk.dtype), decoded = size_t(chunk.shape.size()) * width;
  auto* values = reinterpret_cast<std::byte*>(exchange.make(decoded));
  DecompressOptions options;
  options.execution = execution();
  decompress_into(stream, {}, MutableView(values, chunk.dtype, chunk.shape), options);
  // If a part of the chunk is to be written, HDF5 hands back the whole.
  ChunkMemory::of_process().remember(stored, View(values, chunk.dtype, chunk.shape));
  if (chunk.big_endian) swap_bytes(values, decoded, width);
  return exchange.finish(decoded, decoded);
}

// Chunk after chunk comes with the same words.
struct LastParameters {
  Words words;
  Parameters parameters;
};

size_t filter_for(const leeway_h5_host& host, unsigned flags, size_t count, const unsigned* words,
                  size_t bytes, size_t* buffer_bytes, void** buffer) {
  return guarded<size_t>(host, "filter", 0, [&] {
    const BufferPool::UseOwn pool;
    const auto last = keep<LastParameters>();
    const std::span given(words, count);
    if (last->words.empty() || !std::ranges::equal(last->words, given))
      *last = {Words(given.begin(), given.end()), parse_words(given)};
    const Parameters& parameters = last->parameters;
    if (!parameters.chunk)
      throw Error(Errc::unsupported, "the filter was not set up for this dataset");
    Exchange exchange{host, buffer_bytes, buffer};
    return flags & H5Z_FLAG_REVERSE ? decode(parameters, bytes, exchange)
                                    : encode(parameters, bytes, exchange);
  });
}

size_t filter(unsigned flags, size_t count, const unsigned* words, size_t bytes,
              size_t* buffer_bytes, void** buffer) {
  return filter_for(Hosts::instance().of(__builtin_return_address(0)), flags, count, words, bytes,
                    buffer_bytes, buffer);
}

herr_t say_nothing(hid_t, const char*, const char*, unsigned, hid_t, hid_t, hid_t, const char*,
                   ...) {
  return 0;
}

// For a library whose functions are hidden: chunks need memory only, and such libraries take theirs
// from malloc(). What went wrong is said to nobody; the library says that the filter failed.
size_t filter_alone(unsigned flags, size_t count, const unsigned* words, size_t bytes,
                    size_t* buffer_bytes, void** buffer) {
  leeway_h5_host host{};
  host.allocate_memory = [](size_t size, hbool_t) { return std::malloc(size); };
  host.free_memory = [](void* memory) {
    std::free(memory);
    return herr_t(0);
  };
  host.Epush2 = say_nothing;
  return filter_for(host, flags, count, words, bytes, buffer_bytes, buffer);
}

const H5Z_class2_t kClassAlone = {H5Z_CLASS_T_VERS, LEEWAY_H5Z_ID, 1,       1,
                                  "leeway",         nullptr,       nullptr, filter_alone};

const H5Z_class2_t kClass = {H5Z_CLASS_T_VERS, LEEWAY_H5Z_ID, 1,         1,
                             "leeway",         can_apply,     set_local, filter};

}  // namespace
}  // namespace leeway::hdf5

const H5Z_class2_t* leeway_h5z_class(const leeway_h5_host* host) {
  if (!host) return &leeway::hdf5::kClassAlone;
  try {
    leeway::hdf5::Hosts::instance().add(reinterpret_cast<const void*>(host->Tget_class), *host);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return &leeway::hdf5::kClass;
}

size_t leeway_h5z_words(const char* text, unsigned* words) {
  try {
    leeway::hdf5::parse_text(text);
    const leeway::hdf5::Words result = leeway::hdf5::words_of_text(text);
    if (result.size() > LEEWAY_H5Z_MAX_WORDS) return 0;
    std::ranges::copy(result, words);
    return result.size();
  } catch (const std::exception&) {
    return 0;
  }
}
