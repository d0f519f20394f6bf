// SPDX-License-Identifier: BSD-3-Clause
// The verilated waveSZ, and what a host does to put it in the place of the library's own loop.
#pragma once

#include <bit>
#include <vector>

#include "Vlwy_wavesz.h"
#include "Vlwy_wavesz_decoder.h"
#include "leeway/join/predict_first.h"
#include "leeway/predict/wavefront.h"
#include "leeway/quantize/linear.h"
#include "rtl/tests/clocked.h"

namespace leeway::rtl {

// The places of a table's values, column by column of the wavefront.
inline std::vector<size_t> wave_order(size_t rows, size_t length) {
  std::vector<size_t> order;
  order.reserve(rows * length);
  for (size_t k = 0; k + 1 < rows + length; ++k)
    for (size_t i = k < length ? 0 : k - length + 1; i <= std::min(k, rows - 1); ++i)
      order.push_back(i * length + (k - i));
  return order;
}

struct WavePoint {
  bool coded;
  i32 code;
  float y;
  friend bool operator==(const WavePoint& a, const WavePoint& b) {
    return a.coded == b.coded && a.code == b.code && bits_of(a.y) == bits_of(b.y);
  }
};

// What the registers of a table are set to.
struct WaveTable {
  size_t rows, length;
  int step_exp;
  float limit;
  WaveTable(size_t r, size_t l, const LinearGrid<float>& grid)
      : rows(r), length(l), step_exp(std::ilogb(grid.short_step)), limit(grid.short_limit) {}
};

// What both directions have in common: how a table begins.
template <class Module>
class WaveMachine {
 public:
  WaveMachine(Stalls input, Stalls output) : input_(input), output_(output) {
    module_->table_valid_i = module_->valid_i = module_->ready_i = 0;
    module_.reset();
  }
  void reset() { module_.reset(); }
  u64 cycles = 0;  // of the last table, from its first point's start

 protected:
  void begin(const WaveTable& table) {
    module_->last_row_i = u32(table.rows - 1);
    module_->last_place_i = u32(table.length - 1);
    module_->step_exp_i = u32(table.step_exp) & 1023;
    module_->table_valid_i = 1;
    module_->ready_i = 1;
    hand_over(module_, [&] { return module_->table_ready_o; });
    module_->table_valid_i = 0;
  }
  // put(place) and take(place) for all points, in the order of the wavefront.
  template <class Put, class Take>
  void run(const WaveTable& table, Put&& put, Take&& take) {
    begin(table);
    const std::vector<size_t> order = wave_order(table.rows, table.length);
    const u64 start = module_.cycles;
    size_t out = 0;
    stream_through(
        module_, order.size(), input_, output_, [&](size_t i) { put(order[i]); },
        [&] {
          take(order[out++]);
          const bool is_last = out == order.size();
          if (is_last != bool(module_->last_o)) throw std::runtime_error("last_o is wrong");
          return is_last;
        });
    cycles = module_.cycles - start;
  }

  Clocked<Module> module_;
  Stalls input_, output_;
};

class WaveszMachine : public WaveMachine<Vlwy_wavesz> {
 public:
  static constexpr size_t kMostRows = 1024;
  explicit WaveszMachine(Stalls input = Stalls(), Stalls output = Stalls())
      : WaveMachine(input, output) {}

  // All points of a table, in the order of its rows.
  std::vector<WavePoint> run(const WaveTable& table, std::span<const float> values) {
    std::vector<WavePoint> points(values.size());
    module_->limit_i = std::bit_cast<u32>(table.limit);
    WaveMachine::run(
        table, [&](size_t place) { module_->x_i = std::bit_cast<u32>(values[place]); },
        [&](size_t place) {
          points[place] = {bool(module_->coded_o), i16(module_->code_o),
                           std::bit_cast<float>(u32(module_->y_o))};
        });
    return points;
  }
  // A table is begun and some values are put in, but nothing is waited for.
  void begin_some(const WaveTable& table, size_t cycles) {
    begin(table);
    module_->ready_i = 0;
    module_->valid_i = 1;
    for (size_t i = 0; i < cycles; ++i) module_.settle(), module_.rise();
    module_->valid_i = 0;
  }
};

class WaveszDecoder : public WaveMachine<Vlwy_wavesz_decoder> {
 public:
  explicit WaveszDecoder(Stalls input = Stalls(), Stalls output = Stalls())
      : WaveMachine(input, output) {}

  std::vector<float> run(const WaveTable& table, std::span<const WavePoint> points) {
    std::vector<float> values(points.size());
    WaveMachine::run(
        table,
        [&](size_t place) {
          const WavePoint& point = points[place];
          module_->coded_i = point.coded;
          module_->code_i = u16(point.code);
          module_->exact_i = point.coded ? 0 : std::bit_cast<u32>(point.y);
        },
        [&](size_t place) { values[place] = std::bit_cast<float>(u32(module_->y_o)); });
    return values;
  }
};

// In the place of `wavefront+linear`: chunks that the design takes go through it. The others, with
// special values or fill values or too many rows, are the library's.
class WaveszJoin final : public Join<float> {
 public:
  WaveszJoin(const LinearParams& params, WaveszMachine& machine)
      : params_(params), library_(Wavefront(), Linear{params}), machine_(machine) {}

  bool encode(const ToEncode<float>& job, ValueSink& decoded, Encoded<float>& out) const override {
    const View& source = job.values;
    const Table table(source.shape);
    const LinearGrid<float> grid(job.bound.most, params_);
    if (!job.special.flags.empty() || !job.special.fills.empty() || source.shape.rank() < 2 ||
        table.rows > WaveszMachine::kMostRows || grid.short_step == 0)
      return library_.encode(job, decoded, out);
    WholeField<float> whole(decoded, source.shape);
    const std::span<float> x = whole.field.values();
    if (!is_in_place(source, whole.field)) gather(source, x.data());
    const auto points = machine_.run({size_t(table.rows), size_t(table.length), grid}, x);
    points_ += points.size(), cycles_ += machine_.cycles;
    std::vector<i32> codes(points.size());
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i].coded)
        out.max_error = std::max(out.max_error, rounded_error(x[i], points[i].y));
      codes[i] = points[i].coded ? points[i].code : kExactCode<i32>;
      x[i] = points[i].y;
      if (!points[i].coded) out.exact.add(i, x[i]);
    }
    CodeSink<i32>& sink = typed<i32>(out.codes);
    sink.put_all(codes, {});
    sink.finish();
    whole.finish();
    return true;
  }
  bool decode(const ToDecode& job, const Coded<float>& in, ValueSink& decoded) const override {
    return library_.decode(job, in, decoded);
  }
  JoinTraits traits() const override { return library_.traits(); }
  u64 points() const { return points_; }
  u64 cycles() const { return cycles_; }

 private:
  LinearParams params_;
  PredictFirst<float, Wavefront, Linear> library_;
  WaveszMachine& machine_;
  mutable u64 points_ = 0, cycles_ = 0;
};

}  // namespace leeway::rtl
