# SPDX-License-Identifier: BSD-3-Clause
"""What compilers make of the kernels for GPUs, without a GPU: nvcc and nvdisasm for NVIDIA's, clang for AMD's.

The budgets are those of docs/notes/gpu-model.md, made with nvcc 13.0. LEEWAY_SASS="75 86 90" looks at other
architectures than sm_80; each takes half a minute."""
import os
import pathlib
import re
import shutil
import site
import subprocess

import pytest

import sass
from conftest import ROOT

pytestmark = pytest.mark.xdist_group("sass")  # compiled once
NVCC = shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
DISASSEMBLERS = [shutil.which("nvdisasm", path=f"{os.environ['PATH']}:/usr/local/cuda/bin"),
                 *(str(path) for folder in site.getsitepackages() for path in pathlib.Path(folder).glob("nvidia/*/bin/nvdisasm"))]
NVDISASM = next(filter(None, DISASSEMBLERS), None)
ARCHITECTURES = os.environ.get("LEEWAY_SASS", "80").split()
FAST = ("leeway_compress_f32", "leeway_decompress_f32")
VALUES = 32  # of a lane in a turn of the main loop
LOCAL = re.compile(r"(LDL|STL)\b")
CONTRACTED = re.compile(r"(FFMA|DFMA|HFMA2\.(?!MMA)|MUFU)")


@pytest.fixture(scope="session", params=ARCHITECTURES)
def compiled(request, tmp_path_factory):
    """Kernels by name."""
    if not NVCC:
        pytest.skip("there is no nvcc")
    if not NVDISASM:
        pytest.skip("there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
    cubin = tmp_path_factory.mktemp("sass") / "kernels.cubin"
    done = subprocess.run([NVCC, "-std=c++17", f"-arch=sm_{request.param}", "-O3", "-fmad=false", "-prec-div=true", "-ftz=false", f"-I{ROOT}",
                           "-cubin", ROOT / "leeway/gpu/kernels.cu", "-o", cubin], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sass.read(subprocess.run([NVDISASM, cubin], capture_output=True, text=True, check=True).stdout)


def main_loop(kernels, name):
    """The way through the main loop on which nothing is ragged: eight 128-bit accesses of values a lane."""
    wanted = r"LDG?\.E\S*\.128" if "_compress" in name else r"STG?\.E\S*\.128"
    kernel = kernels[name]
    loops = [kernel.loop(block) for block in kernel.blocks_with(wanted, 4)]
    loops = [kernel.operations(loop) for loop in loops if loop]
    loops = [loop for loop in loops if sum(bool(re.match(wanted, op)) for op in loop) >= 8 and any("SHFL" in op for op in loop)
             and any("PRMT" in op for op in loop)]
    assert loops, f"{name} has no loop of 128-bit accesses"
    return min(loops, key=len)


def test_all_kernels_are_there(compiled):
    assert set(FAST) <= set(compiled) and all(kernel.code and kernel.registers for kernel in compiled.values())


def test_main_loops_use_wide_accesses_and_no_local_memory(compiled):
    for name in FAST:
        loop = main_loop(compiled, name)
        assert not [op for op in loop if LOCAL.match(op)], name
        # Nothing but whole quads goes to and from values; a decoder reads bodies in a loop of its own.
        assert not [op for op in loop if re.match(r"(LDG|STG)\.E(?!\S*\.128)", op) and "STRONG" not in op], name


def test_instructions_a_value(compiled):
    most = {"leeway_compress_f32": 31, "leeway_decompress_f32": 28}
    for name in FAST:
        per_value = len(main_loop(compiled, name)) / VALUES
        assert per_value <= most[name], (name, per_value)


def test_nothing_is_contracted(compiled):
    for name, kernel in compiled.items():
        assert not [op for op in kernel.operations() if op.startswith("FFMA") or op.startswith("HFMA2 ")], name
    for name in FAST:
        assert not [op for op in main_loop(compiled, name) if CONTRACTED.match(op)], name
    # A division of f64 is made of DFMA and rounds correctly; there is one where a step is made from a bound.
    for name in ("leeway_find_frames", "leeway_range_f32", "leeway_range_f64", "leeway_decompress_f32", "leeway_decompress_f64"):
        assert not [op for op in compiled[name].operations() if op.startswith("DFMA")], name


def test_registers(compiled):
    # Three CTAs of 256 threads share 65536 registers.
    for name in FAST:
        assert compiled[name].registers <= 80, name
    assert all(kernel.registers <= 128 for kernel in compiled.values())


def test_look_back_alone_is_ordered(compiled):
    """Every copy of the look-back has two relaxed stores; nothing is volatile, which would be ordered for the whole system."""
    kernel = compiled["leeway_compress_f32"].operations()
    assert sum(op.startswith("STG.E.64.STRONG.GPU") for op in kernel) % 2 == 0
    assert not [op for op in kernel if "STRONG.SYS" in op]


@pytest.fixture(scope="session", params=["gfx90a"])
def assembly(request, tmp_path_factory):
    """The text of each kernel, and its metadata."""
    clang = shutil.which("clang++")
    if not clang or "amdgcn" not in subprocess.run([clang, "--print-targets"], capture_output=True, text=True).stdout:
        pytest.skip("there is no clang for AMD's GPUs")
    out = tmp_path_factory.mktemp("amd") / "kernels.s"
    done = subprocess.run([clang, "-x", "hip", f"--offload-arch={request.param}", "-nogpulib", "-nogpuinc", "--cuda-device-only", "-O3",
                           "-ffp-contract=off", "-std=c++17", "-w", "-DLEEWAY_GPU_HIP", f"-I{ROOT}", "-S", ROOT / "leeway/gpu/kernels.cu", "-o", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    return {name: body for name, body in re.findall(r"^(leeway_\w+):.*?\n(.*?)^\.Lfunc_end", text, re.S | re.M)}, text


def test_amd_uses_wide_accesses_and_spills_no_vectors(assembly):
    kernels, text = assembly
    for name in FAST:
        assert re.search(r"(global|flat)_load_dwordx4", kernels[name]) and re.search(r"(global|flat)_store_dwordx4", kernels[name]), name
    spills = re.findall(r"\.vgpr_spill_count: *(\d+)", text)
    assert len(spills) >= len(FAST) and set(spills) == {"0"}


def test_amd_contracts_nothing(assembly):
    for name, body in assembly[0].items():
        operations = re.findall(r"^\s+(v_\w+)", body, re.M)
        assert not [op for op in operations if re.match(r"v_(pk_)?(fma|fmac|mad|mac)_f(16|32)", op)], name
        # Five in each division of f64, which rounds correctly.
        fused = [op for op in operations if re.match(r"v_(fma|fmac)_f64", op)]
        assert len(fused) <= 5 * sum(op.startswith("v_div_fixup_f64") for op in operations), name


def test_amd_shared_memory_fits(assembly):
    sizes = re.findall(r"\.group_segment_fixed_size: *(\d+)", assembly[1])
    assert len(sizes) >= len(FAST) and all(int(size) <= 64 << 10 for size in sizes)
