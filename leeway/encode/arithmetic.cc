// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/arithmetic.h"

#include <vector>

#include "leeway/encode/parts/range_coder.h"
#include "leeway/encode/parts/token.h"

namespace leeway {
namespace {

// Codes whether a token is 0 and, if not, which it is; the context is the sizes of the two before.
class Model {
 public:
  u8 code(u8 token, auto& coder) {
    const size_t context = size_t(last_ + second_);
    u8 found = 0;
    if (coder.decide(token > 0, is_any_[context])) {
      found = u8(which_[context].code(token, coder));
      if (found == 0) fail_corrupt("a token that has another form");
    }
    second_ = last_;
    last_ = std::min(int(std::bit_width(found)), 6);
    return found;
  }

 private:
  static constexpr size_t kContexts = 13;
  std::array<Probability, kContexts> is_any_;
  std::array<BitTree<8>, kContexts> which_;
  int last_ = 0, second_ = 0;
};

template <class I>
void encode_codes(std::span<const I> codes, Writer& out) {
  std::vector<u8> tokens(codes.size());
  BitWriter raw;
  tokenize(codes, tokens, raw);
  out.put_section(raw.take().bytes());
  RangeWriter coder(out);
  Model model;
  for (const u8 token : tokens) model.code(token, coder);
  coder.finish();
}

template <class I>
void decode_codes(Reader& in, std::span<I> codes) {
  BitReader raw(in.take_section());
  std::vector<u8> tokens(codes.size());
  RangeReader coder(in);
  Model model;
  for (u8& token : tokens) token = model.code(0, coder);
  detokenize(tokens, raw, codes);
  raw.expect_end();
}

}  // namespace

void Arithmetic::encode(std::span<const i32> codes, Writer& out) const { encode_codes(codes, out); }
void Arithmetic::encode(std::span<const i64> codes, Writer& out) const { encode_codes(codes, out); }
void Arithmetic::decode(Reader& in, std::span<i32> codes) const { decode_codes(in, codes); }
void Arithmetic::decode(Reader& in, std::span<i64> codes) const { decode_codes(in, codes); }

}  // namespace leeway
