# SPDX-License-Identifier: BSD-3-Clause
"""The format is what docs/FORMAT.md says: a decoder written from it alone reads the golden streams."""
import pathlib
import re

import pytest
import reference_decoder

ROOT = pathlib.Path(__file__).parent.parent
GOLDEN = sorted((pathlib.Path(__file__).parent / "golden").glob("*.lwy"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_golden_stream(path):
    header, values = reference_decoder.decode(path.read_bytes())
    assert values == path.with_suffix(".raw").read_bytes()


def test_there_are_golden_streams():
    assert len(GOLDEN) >= 20


def test_recipe_numbers_are_those_of_the_page():
    rows = re.findall(r"^\| (\d+) \| `([^`]+)` \|$", (ROOT / "docs/FORMAT.md").read_text(), re.M)
    assert [recipe.replace("\\|", "|") for _, recipe in rows] == reference_decoder.RECIPES
    assert [int(number) for number, _ in rows] == list(range(len(rows)))


def test_every_changed_byte_of_a_brief_stream_is_noticed():
    stream = next(path for path in GOLDEN if path.stem.endswith("_brief_9x10x11")).read_bytes()
    assert stream[:4] == b"\x89LWb"
    for at in range(4, len(stream)):
        with pytest.raises(reference_decoder.Corrupt):
            reference_decoder.decode(stream[:at] + bytes([stream[at] ^ 16]) + stream[at + 1:])
        with pytest.raises(reference_decoder.Corrupt):
            reference_decoder.decode(stream[:at])


@pytest.mark.parametrize("cut", [10, 100, 200])
def test_truncation_is_refused(cut):
    with pytest.raises(reference_decoder.Corrupt):
        reference_decoder.decode(GOLDEN[0].read_bytes()[:-cut])
