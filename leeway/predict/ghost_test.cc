// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/ghost.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

// Keeps every value as it is, and notes what was predicted for it.
struct Recorder {
  std::vector<float> predicted;
  void exact(float&, float) { predicted.push_back(NAN); }
  void point(float&, float p) { predicted.push_back(p); }
  double step() const { return 1; }
  bool decoding() const { return false; }
  const u8* flags() const { return nullptr; }
  const Recorder& grid() const { return *this; }
  std::optional<float> rounded(float value, float) const { return value; }
};

TEST(Ghost, FollowsItsOwnPredictions) {
  // A miss at the second value gives a slope, and the line goes on for ever: bent values that are
  // not too far away do not change it.
  std::vector<float> values = {0, 10000, 20500, 31000, 41000};
  const Shape shape{5};
  Recorder recorder;
  Writer notes;
  Ghost().walk(Field<float>{values.data(), shape}, recorder, notes);
  EXPECT_EQ((std::vector<float>(recorder.predicted.begin() + 1, recorder.predicted.end())),
            (std::vector<float>{0, 20000, 30000, 40000}));
  ASSERT_EQ(notes.size(), 1u);
  Reader noted(notes.bytes());
  Recorder again;
  Ghost().walk(Field<float>{values.data(), shape}, again, noted);
  EXPECT_TRUE(std::equal(recorder.predicted.begin() + 1, recorder.predicted.end(),
                         again.predicted.begin() + 1));
}

TEST(Ghost, RefusesAFourthCurve) {
  std::vector<float> values(9);
  const Bytes bad(4, 0xff);
  Reader noted(bad);
  Recorder recorder;
  EXPECT_THROW(Ghost().walk(Field<float>{values.data(), Shape{9}}, recorder, noted), Error);
}

TEST(Ghost, NeedsAStep) {
  EXPECT_THROW(parse_recipe("ghost+exact"), Error);
  EXPECT_THROW(parse_recipe("linear+ghost"), Error);
  EXPECT_NO_THROW(parse_recipe("ghost+linear+raw+deflate"));
}

}  // namespace
}  // namespace leeway::test
