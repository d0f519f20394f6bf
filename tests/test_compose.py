# SPDX-License-Identifier: BSD-3-Clause
"""Stages that do not fit together do not compile, and one sentence says why."""
import subprocess

import pytest

from conftest import ROOT
from test_fast_math import COMPILERS

PROGRAM = r"""
#include "leeway/compressor.h"
#include "leeway/recipe/all_stages.h"
using namespace leeway;
struct Plus : Store { static constexpr std::string_view kName = "a+b"; };
struct Blind : Store { static constexpr std::string_view kName = "blind"; static constexpr Kind kKind = Kind::quantizer; };
struct Untold { static constexpr std::string_view kName = "u", kAbout = ""; static constexpr Kind kKind = Kind::lossless; NoParams params; };
int main() {
"""

# What is composed, and a part of what is said.
REFUSED = {
    "Linear, Huffman, Lorenzo": "the order is preprocessors, predictor and quantizer (either first), encoder, lossless",
    "Linear, Lorenzo, Linear, Huffman": "at most one quantizer",
    "Zstd, Zstd, Zstd, Zstd, Zstd": "at most 4 lossless stages",
    "Cross, Linear, Huffman": "this predictor cannot come before the quantizer: it is made for its integers",
    "Blocks, Linear, Huffman": "this predictor cannot come before the quantizer: it has no walk() over values",
    "Linear, Wavefront, Rans": "this predictor cannot come after the quantizer",
    "Lorenzo, Truncate, Huffman": "its codes do not depend on predictions",
    "Composite, Logscale, Huffman": "this predictor asks for the step of the quantizer after it",
    "Ghost, Elementwise, Huffman": "this predictor needs one step for all values",
    "Elementwise, Lorenzo, Huffman": "a quantizer with a bound for each value needs a predictor before it",
    "Transpose, Lorenzo, Elementwise": "cannot come after a preprocessor",
    "Dft, Lorenzo, Linear, Huffman": "a preprocessor must do the same with decoded values as with the original ones",
    "Plus": "the name of a stage has letters, digits",
    "Lorenzo, Blind, Huffman": "the quantizer does not fit: see the concept Quantizer",
    "Untold": "every part must be a stage: see the concept Stage",
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_does_not_fit_does_not_compile(compiler, tmp_path):
    source = tmp_path / "composed.cc"
    lines = [f"  {{ [[maybe_unused]] Compressor<float, {stages}> made; }}\n" for stages in REFUSED]
    lines.append("  { [[maybe_unused]] Compressor<int, Wavefront, Linear, Huffman> made; }\n")
    source.write_text(PROGRAM + "".join(lines) + "}\n")
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", ROOT, source], capture_output=True, text=True)
    assert done.returncode != 0
    missing = [stages for stages, reason in REFUSED.items() if reason not in done.stderr]
    assert not missing, done.stderr
    assert "one of the stages takes floating-point numbers only" in done.stderr
    assert done.stderr.count("error: ") == len(lines), done.stderr  # one sentence each
