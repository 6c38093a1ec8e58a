"""Old Word files to Markdown: their text and tables against what antiword gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.tables import find_tables
from appliance.formats.parsed import Unparsable
from appliance.formats.word97 import parse_word97

FILES = Path(__file__).parents[2].parent / "shared" / "corpus" / "fixtures-word"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize("raw", [b"", OLE, OLE + bytes(4096), b"PK\x03\x04"])
def test_what_is_no_word_file_is_refused(raw: bytes) -> None:
    with pytest.raises(Unparsable):
        parse_word97(raw)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def score(found: Counter[str], wanted: Counter[str]) -> float:
    return 2 * (found & wanted).total() / (found.total() + wanted.total())


def test_the_real_files_keep_their_text_and_every_cell(
    law_records: Callable[..., list[dict[str, Any]]],
) -> None:
    texts = [words(r["text"]) for r in law_records("code-dcmr-zoning-housing/*.jsonl.zst")]
    rows = [
        [line for line in r["text"].split("\n") if line.count("|") > 1]
        for r in law_records("code-dcmr-zoning-housing/*.jsonl.zst")
    ]
    scores, with_table = [], 0
    for path in sorted(FILES.glob("*.doc")):
        parsed = parse_word97(path.read_bytes())
        assert parsed.format == "doc"
        found = words(parsed.body)
        best, at = max((score(found, text), i) for i, text in enumerate(texts))
        scores.append(best)
        in_cells = words("\n".join(rows[at]))
        in_tables = words(" ".join(t.span.of(parsed.body) for t in find_tables(parsed.body)))
        assert not in_cells - in_tables, path.name
        with_table += bool(in_cells)
    assert len(scores) == 17
    assert with_table == 8
    assert min(scores) > 0.96
    assert sum(scores) / len(scores) > 0.995


@given(at=st.integers(0, 1 << 16), byte=st.integers(0, 255), cut=st.integers(0, 1 << 17))
def test_a_damaged_file_gives_text_or_a_reason(
    law_lines: object, at: int, byte: int, cut: int
) -> None:
    raw = bytearray((FILES / "14-700_GENERAL_PROVISIONS.doc").read_bytes())
    raw[at % len(raw)] = byte
    try:
        assert parse_word97(bytes(raw[: max(cut, 512)])).format == "doc"
    except Unparsable as refused:
        assert str(refused)  # noqa: PT017  either way is right
