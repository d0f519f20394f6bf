# SPDX-License-Identifier: BSD-3-Clause
"""The comparison with other compressors, on a small field and with those that are installed."""
import json
import os
import signal
import subprocess
import sys
import tarfile
import time

import numpy as np
import pytest

from conftest import ROOT

pytest.importorskip("leeway")
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

import fields  # noqa: E402
import peers  # noqa: E402
import summary  # noqa: E402


@pytest.fixture
def field(tmp_path):
    """Waves with land in them, which fields.json tells from the sea."""
    y, x = np.mgrid[0:64, 0:96] / 20
    values = np.stack([np.sin(x + t / 5) * np.cos(y) + 0.1 * x for t in range(3)]).astype("<f4")
    values[:, :20, :30] = 1e20
    path = tmp_path / "sea_3x64x96.f32"
    values.tofile(path)
    (tmp_path / "fields.json").write_text(json.dumps({path.name: {"fill": 1e20, "domain": "ocean"}}))
    return path


def run(field, *options):
    out = field.parent / "rows.json"
    done = subprocess.run([sys.executable, BENCH / "peers.py", field, "--repeat", "2", *options, "--json", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    assert document["packages"]["leeway"] and document["fields"] == {"sea": {"shape": [3, 64, 96], "type": "float32", "domain": "ocean"}}
    for row in document["rows"]:
        assert row["field"] == "sea"
        if "failed" in row:
            assert row["failed"], row
            continue
        assert row["ratio"] == pytest.approx(3 * 64 * 96 * 4 / row["bytes"], rel=1e-3) and row["bits"] == pytest.approx(32 / row["ratio"], rel=1e-3)
        assert row["missing"] in ("kept", "lost", "replaced")
    return document["rows"], done.stdout


def test_at_equal_bound(field):
    rows, text = run(field, "--rel", "1e-3", "1e-2")
    ours = [row for row in rows if row["codec"].startswith("leeway")]
    assert {(row["codec"], row["asked"]) for row in ours} == {
        (name, rel) for name in ("leeway", "leeway fast", "leeway small", "leeway smallest") for rel in (1e-3, 1e-2)}
    for row in ours:
        assert row["equal"] == "bound" and row["missing"] == "kept" and not row["violated"]
        assert row["error_over_bound"] <= 1 and row["psnr"] > 20 * np.log10(1 / row["asked"])
        assert row["compress_mb_s"] > 0 and row["decompress_mb_s"] > 0 and row["memcpy_mb_s"] > 0
    assert "geometric mean" in text and all(f"{row['codec']:<18}" in text for row in rows)


def test_at_equal_psnr(field):
    rows, _ = run(field, "--equal", "psnr", "--psnr", "60", "--recipes", "default,small")
    ours = {row["codec"]: row for row in rows if row["codec"].startswith("leeway")}
    # The PSNR of `small` jumps from bound to bound on a field as small and smooth as this one.
    assert set(ours) == {"leeway", "leeway small"} and 60 <= ours["leeway"]["psnr"] < 61 and 60 <= ours["leeway small"]["psnr"] < 63
    assert all(row["psnr"] is None or row["psnr"] >= 60 for row in rows if "failed" not in row)


def test_at_the_psnr_of_another_at_some_rates(field):
    pytest.importorskip("hdf5plugin")
    rows, text = run(field, "--equal", "psnr", "--bits", "0.5", "2", "--recipes", "small", "--peers", "SPERR", "--plot", field.parent / "rates.svg")
    ours = [row for row in rows if row["codec"] == "leeway small"]
    assert len(ours) == 2 and all(0 <= row["psnr"] - row["asked"] < 0.05 for row in ours)
    assert "BD-rate" in text and (field.parent / "rates.svg").read_text().startswith("<?xml")


def test_bits_belong_to_psnr(field):
    done = subprocess.run([sys.executable, BENCH / "peers.py", field, "--bits", "1"], capture_output=True, text=True)
    assert done.returncode != 0 and "belong to --equal psnr" in done.stderr


def test_bd_rates():
    ours = [(30.0, 0.1), (40.0, 0.5), (50.0, 2.0)]
    assert summary.bd_rate(ours, [(decibel, 2 * bits) for decibel, bits in ours]) == pytest.approx(-0.5)
    # A line in the logarithm: half the rate at one end, the same at the other.
    assert summary.bd_rate([(30.0, 1.0), (40.0, 1.0)], [(30.0, 2.0), (40.0, 1.0)]) == pytest.approx(2**-0.5 - 1)
    # What both have is what counts: from 40 to 50 dB ours rises from 0.5 to 2.
    assert summary.bd_rate(ours, [(40.0, 1.0), (60.0, 1.0)]) == pytest.approx(0)
    assert summary.bd_rate(ours, [(50.5, 1.0), (60.0, 2.0)]) is None
    rows = [{**row_of(codec, 32 / bits), "equal": "psnr", "bits": bits, "psnr": decibel}
            for codec, factor in (("leeway", 1), ("SPERR", 2)) for decibel, bits in ((d, factor * b) for d, b in ours)]
    assert "-50.0 (-50.0)" in summary.bd_rates(rows)


def test_rows_that_are_not_measured_again_can_stay(field):
    first, _ = run(field, "--rel", "1e-3", "--recipes", "default,fast", "--peers", "")
    rows, _ = run(field, "--rel", "1e-3", "1e-2", "--recipes", "fast", "--peers", "", "--repeat", "1", "--keep")
    assert [(row["codec"], row["asked"]) for row in rows] == [("leeway", 1e-3), ("leeway fast", 1e-3), ("leeway fast", 1e-2)]
    assert rows[0] == first[0] and rows[0]["compress_mb_s"] > 0
    assert rows[1]["bytes"] == first[1]["bytes"] and "compress_mb_s" not in rows[1]  # a single pass gives no speeds


def test_without_loss(field):
    rows, _ = run(field, "--equal", "lossless")
    assert "leeway lossless" in [row["codec"] for row in rows]
    assert all(row["psnr"] is None and row["missing"] == "kept" and not row["violated"] for row in rows if "failed" not in row)


def test_a_name_that_nobody_has(field):
    done = subprocess.run([sys.executable, BENCH / "peers.py", field, "--peers", "SZ4"], capture_output=True, text=True)
    assert done.returncode != 0 and "no such peer: SZ4; there are SZ3, " in done.stderr


def test_a_peer_that_fails_dies_or_hangs_is_a_row():
    def fail():
        raise ValueError("two axes, please")

    assert peers.in_child(fail, 60) == {"failed": "ValueError: two axes, please"}
    assert peers.in_child(lambda: os.kill(os.getpid(), signal.SIGKILL), 60) == {"failed": "died: SIGKILL"}
    assert peers.in_child(lambda: time.sleep(60), 0.2) == {"failed": "took more than 0 s"}
    assert peers.in_child(lambda: {"bytes": 3}, 60) == {"bytes": 3}


def row_of(codec, ratio, **more):
    return {"field": "f", "equal": "bound", "asked": 1e-3, "codec": codec, "ratio": ratio, "missing": "none", "error_over_bound": 1.0, **more}


def test_means_leave_out_what_broke_its_bound():
    rows = [row_of("leeway", 8.0), row_of("SZ3", 4.0), row_of("EBCC", 100.0, error_over_bound=1.5),
            row_of("zfp", 50.0, missing="lost"), {"field": "f", "equal": "bound", "asked": 1e-3, "codec": "SPERR", "failed": "died"}]
    assert summary.gains(rows, "leeway", ["SZ3", "EBCC", "zfp", "SPERR"]) == {("f", 1e-3): 2.0}
    assert summary.gains(rows, "leeway", ["SPERR"]) == {}
    assert summary.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


def test_speeds_are_parts_of_the_best_memcpy():
    rows = [row_of("leeway", 8.0, compress_mb_s=300.0, memcpy_mb_s=1000.0), row_of("SZ3", 4.0, compress_mb_s=100.0, memcpy_mb_s=1200.0)]
    assert summary.speeds(rows, "leeway", "compress") == [0.25] and summary.speeds(rows, "zfp", "compress") == []


def test_readers_of_fields():
    def record(content):
        size = len(content).to_bytes(4, "little")
        return size + content + size

    frames = np.arange(24, dtype="<f4").reshape(2, 3, 4)  # frame, axis, atom
    trajectory = b"".join(map(record, [b"head", b"title", b"atoms", *(row.tobytes() for row in frames.reshape(6, 4))]))
    assert np.array_equal(fields.dcd(trajectory, "y")[0], frames[:, 1])
    catalogue = b"".join(map(record, [b"a", b"b", b"c", *(row.tobytes() for row in frames[0])]))
    assert np.array_equal(fields.fast_food(catalogue, "z")[0], frames[0, 2])
    cards = ["SIMPLE  = T", "BITPIX  = -32 / bits", "NAXIS   = 2", "NAXIS1  = 4 / fastest", "NAXIS2  = 6", "END"]
    image = "".join(f"{card:<80}" for card in cards).ljust(2880).encode() + frames.reshape(6, 4).astype(">f4").tobytes()
    assert np.array_equal(fields.fits(image, "")[0], frames.reshape(6, 4))


def test_archives_are_checked(tmp_path):
    with tarfile.open(tmp_path / "thing-1.0.tar.gz", "w:gz"):
        pass
    with pytest.raises(SystemExit, match="SHA-256 differs"):
        fields.fetch("thing-1.0.tar.gz", "0" * 64, tmp_path)


def test_the_tables_are_current():
    done = subprocess.run([sys.executable, BENCH / "tables.py", ROOT / "docs/figures", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
