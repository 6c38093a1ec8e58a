"""The links that publishers keep as data, read for the benchmark of references."""

from __future__ import annotations

import pytest

from benchmarks.references import link_of


@pytest.mark.parametrize(
    ("written", "section", "units", "number"),
    [
        ("§6-1405.01", "6-1405.01", (), "6-1405.01"),
        ("§32-1501|(10)", "32-1501", (), "32-1501"),
        ("§28:9-306A|(a)|(2)", "28:9-306A", (), "28:9-306a"),
        ("§47-4802(Perm)", "47-4802(Perm)", (), "47-4802"),
        ("6|14", None, ("6", "14"), "14"),
        ("2|5|I-A", None, ("2", "5", "i-a"), "i-a"),
        ("code/13.35.105#(b)", "13.35.105", (), "13.35.105"),
        ("code/11.32", None, ("11", "11.32"), "11.32"),
        ("code/11", None, ("11",), "11"),
        ("charter/6.01", "6.01", (), "6.01"),
    ],
)
def test_a_link_is_read(
    written: str, section: str | None, units: tuple[str, ...], number: str
) -> None:
    link = link_of(written)
    assert link is not None
    assert (link.section, link.units, link.number) == (section, units, number)


@pytest.mark.parametrize("written", ["D.C. Law 22-257", "https://example.org/a", "I", ""])
def test_other_links_are_left_out(written: str) -> None:
    assert link_of(written) is None
