// SPDX-License-Identifier: BSD-3-Clause
// MDZ, the compressor of SZ3's authors for molecular dynamics, as a function that Python can call.
// Built by bench/mdz.py.
#include <cstring>
#include <mdz.hpp>

// Compresses the values of one coordinate, a row for every frame, and decompresses them again: MDZ
// offers no stream. Gives the number of bytes that the stream would have. Options as in MDZ's own
// tool, which chooses the method.
extern "C" size_t mdz_round_trip(const float* values, size_t frames, size_t atoms, double bound,
                                 float* back) {
  SZ::Config config({frames, atoms});
  config.errorBoundMode = SZ::EB_ABS;
  config.absErrorBound = bound;
  config.blockSize = 128;
  config.stride = 128;
  config.quantbinCnt = 1024;
  std::vector<float> scratch(values, values + frames * atoms);  // is overwritten
  return MDZ_Compress<float, 2>(config, scratch.data(), back, 0);
}
