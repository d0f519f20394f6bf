# SPDX-License-Identifier: BSD-3-Clause
"""--device: the emulator, and a CUDA that is none (tests/gpu/fake_cuda)."""
import numpy as np
import pytest

from conftest import BUILD

FAKE = {"LD_LIBRARY_PATH": str(BUILD / "fake_gpu")}


@pytest.fixture
def field(leeway):
    values = np.sin(np.arange(3000, dtype="f4") * 0.01)
    values[::97] = np.nan
    values.tofile(leeway.folder / "f_30x100.f32")
    return leeway.folder / "f_30x100.f32"


@pytest.mark.parametrize("device", ["emulator", "0"])
def test_the_same_stream_and_the_same_values(leeway, field, device):
    leeway("compress", field, "--rel", "1e-3", "--recipe", "cuszp2-outlier", "--no-detect-fill", "-o", "host.lwy")
    leeway("compress", field, "--rel", "1e-3", "--device", device, "-o", "device.lwy", env=FAKE)
    stream = (leeway.folder / "host.lwy").read_bytes()
    assert (leeway.folder / "device.lwy").read_bytes() == stream
    leeway("decompress", "host.lwy", "-o", "host.f32")
    leeway("decompress", "host.lwy", "-o", "device.f32", "--device", device, env=FAKE)
    assert (leeway.folder / "device.f32").read_bytes() == (leeway.folder / "host.f32").read_bytes()
    leeway("decompress", "host.lwy", "-o", "part.f32", "--region", "5:20,7", "--device", device, env=FAKE)
    whole = np.fromfile(leeway.folder / "host.f32", "f4").reshape(30, 100)
    assert (leeway.folder / "part.f32").read_bytes() == whole[5:20, 7].tobytes()
    assert "cuszp2-outlier" in leeway("bench", field, "--rel", "1e-3", "--device", device, "--repeat", "1", env=FAKE)


def test_the_doctor_tries_it(leeway):
    found = leeway.json("doctor")["gpu"]
    assert found["emulator"] == "ok" and (found.get("name") or "no GPU" in found["device"])
    done = leeway.run("doctor", env=FAKE)
    assert done.returncode == 0 and b"fake GPU (sm_80): ok" in done.stdout


def test_what_is_missing_is_said(leeway, field):
    assert "device of this number" in leeway.fails(1, "compress", field, "--abs", "1", "--device", "7", env=FAKE)
    assert "'emulated'" in leeway.fails(2, "compress", field, "--abs", "1", "--device", "emulated")
    assert "cuszp2-outlier" in leeway.fails(1, "compress", field, "--abs", "1", "--recipe", "balanced", "--device", "emulator")
