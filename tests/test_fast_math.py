# SPDX-License-Identifier: BSD-3-Clause
"""Programs compiled with -ffast-math: the library serves them as others; stages compiled into them are refused."""
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT

COMPILERS = [compiler for compiler in ["g++", "clang++"] if shutil.which(compiler)]

PROGRAM = r"""
#include <cstdio>
#include <vector>

#include "leeway/leeway.hpp"

int main() {
  for (const float scale : {1.f, 1e-41f})  // ordinary numbers, denormals
    for (const char* recipe : {"balanced", "small", "sz1.4"})
      for (const leeway::Bound& bound : {leeway::Bound::rel(1e-3), leeway::Bound::pointwise(0.01), leeway::Bound::psnr(60)}) {
        std::vector<unsigned> bits(3000);
        for (unsigned i = 0; i < bits.size(); ++i) bits[i] = scale == 1 ? 0x3f800000 + i * i % 99991 : i * 7 % 5003;
        leeway::CompressOptions options;
        options.recipe = recipe;
        options.bound = bound;
        const leeway::View view(reinterpret_cast<const std::byte*>(bits.data()), leeway::DType::f32, {50, 60});
        const leeway::Bytes stream = leeway::compress(view, options);
        std::fwrite(stream.data(), 1, stream.size(), stdout);
        const leeway::Array decoded = leeway::decompress(stream);
        std::fwrite(decoded.data(), 1, decoded.bytes(), stdout);
      }
}
"""


def check_syntax(compiler, source, *flags):
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wfatal-errors", "-Wall", "-Wextra", "-Werror", "-I", ROOT, *flags, source],
                          capture_output=True, text=True)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_stages_are_not_compiled_with_fast_math(compiler, tmp_path):
    source = tmp_path / "composed.cc"
    source.write_text('#include "leeway/compressor.h"\n')
    done = check_syntax(compiler, source, "-O2")
    assert done.returncode == 0, done.stderr
    flags = ["-ffast-math", "-Ofast", "-ffinite-math-only"]
    flags += ["-funsafe-math-optimizations", "-freciprocal-math"] if compiler == "g++" else []  # clang does not tell
    for flag in flags:
        done = check_syntax(compiler, source, flag)
        assert done.returncode != 0, flag
        assert "leeway/compressor.h cannot be compiled with -ffast-math" in done.stderr, flag


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_library_serves_programs_with_fast_math(compiler, tmp_path):
    source = tmp_path / "program.cc"
    source.write_text(PROGRAM)
    output = []
    for flag in ["-O1", "-Ofast"]:  # the latter also starts the program with flushed denormals
        program = tmp_path / f"program{flag}"
        subprocess.run([compiler, "-std=c++20", flag, "-Wall", "-Wextra", "-Werror", "-I", ROOT, source, "-o", program, "-L",
                        BUILD / "lib", "-lleeway", f"-Wl,-rpath,{BUILD / 'lib'}"], check=True)
        output.append(subprocess.run([program], capture_output=True, check=True).stdout)
    assert output[0] == output[1]
