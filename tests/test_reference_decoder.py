# SPDX-License-Identifier: BSD-3-Clause
"""The format is what docs/FORMAT.md says: a decoder written from it alone reads the golden streams."""
import pathlib

import pytest
import reference_decoder

GOLDEN = sorted((pathlib.Path(__file__).parent / "golden").glob("*.lwy"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_golden_stream(path):
    header, values = reference_decoder.decode(path.read_bytes())
    assert values == path.with_suffix(".raw").read_bytes()


def test_there_are_golden_streams():
    assert len(GOLDEN) >= 20


@pytest.mark.parametrize("cut", [10, 100, 200])
def test_truncation_is_refused(cut):
    with pytest.raises(reference_decoder.Corrupt):
        reference_decoder.decode(GOLDEN[0].read_bytes()[:-cut])
