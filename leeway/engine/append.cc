// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/environment.h"
#include "leeway/engine/analyze.h"
#include "leeway/engine/appending.h"
#include "leeway/engine/part.h"
#include "leeway/engine/rows.h"
#include "leeway/engine/with_codec.h"

namespace leeway {
namespace {

// All of an array, held by one process.
class WholeArray final : public Part {
 public:
  WholeArray(const View& array, const Header& header, const Execution& execution)
      : array_(array), header_(header), execution_(execution) {}
  std::vector<u64> held() const override {
    std::vector<u64> ordinals(size_t(header_.grid().size()));
    for (size_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i;
    return ordinals;
  }
  bool holds(u64) const override { return true; }
  View chunk(u64 ordinal) const override { return array_.part(header_.chunk_box(ordinal)); }
  Summary summary(const std::vector<u64>& declared) const override {
    return summarize(array_, declared, std::max(1u, execution_.threads), execution_.executor,
                     execution_.pause);
  }
  void sum(std::span<u64>) const override {}

 private:
  View array_;
  const Header& header_;
  const Execution& execution_;
};

}  // namespace

UpdateReport append_with(const CodecMaker& maker, ByteStore& store, const View& rows,
                         const Execution& execution) {
  const DefaultFloatingPoint environment;
  const StreamReader stream(store);
  const Header& header = stream.header();
  check_rows(header, rows.dtype, rows.shape);
  const auto codec = maker(header.recipe, header.dtype);
  Appending appending(store, stream);
  for (const RowsPart& part : parts_of_rows(header, rows.shape[0])) {
    Box box{{}, part.shape(header)};
    box.first[0] = part.first;
    const CompressOptions options = part.options(header, execution);
    const View values = rows.part(box);
    const Header made_of =
        header_of_parts(*codec, header.recipe, rows.dtype, values.shape, options);
    const WholeArray array(values, made_of, execution);
    PartCompression made(*codec, header.recipe, rows.dtype, values.shape, options, array);
    Writer frame;
    made.run([&](std::span<const FrameHead> heads, ByteView frames) {
      for (const FrameHead& head : heads) {
        frame.truncate(0);
        const FrameHead adopted =
            adopt_frame(*codec, stream, part, head, take_payload(head, frames), frame);
        appending.put(adopted, frame.bytes());
      }
    });
  }
  appending.reach(header.shape[0] + rows.shape[0]);
  return appending.commit();
}

}  // namespace leeway
