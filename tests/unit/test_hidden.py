"""Sections that hide in one record get entries of their own, at their own places."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.hidden import FEWEST, LONG, hidden_numbers, with_hidden
from appliance.corpus.labels import labels_of
from appliance.domain import Section, Span

FILL = "The owner of a fence keeps it in good repair at all times of the year. " * 40


def record(body: str, citation: str = "Chapter 20", number: str = "chapter 20") -> Section:
    return Section(
        external_id="town-chapter-20",
        citation=citation,
        number=number,
        heading=f"{citation} Procedures",
        path=("Zoning",),
        span=Span(start=0, end=len(body)),
    )


def chapter(*heads: str) -> str:
    return "Contents. " + "".join(f"{head} {FILL}\n" for head in heads)


def test_each_hidden_section_gets_its_number_its_heading_and_its_place() -> None:
    body = chapter("20.1 General.", "20.1.1 Purpose.", "20.2 Permits.", "20.2.1 Fences.")
    sections = with_hidden(body, record(body))
    assert [s.number for s in sections] == ["chapter 20", "20.1", "20.1.1", "20.2", "20.2.1"]
    assert [s.citation for s in sections[1:]] == ["§ 20.1", "§ 20.1.1", "§ 20.2", "§ 20.2.1"]
    assert [s.heading for s in sections[1:3]] == ["20.1 General", "20.1.1 Purpose"]
    assert [s.parent for s in sections] == [None, 0, 1, 0, 3]
    assert sections[4].path == ("Zoning", "Chapter 20 Procedures", "20.2 Permits")
    assert all(s.external_id == "town-chapter-20" for s in sections)
    for hidden in sections[1:]:
        assert hidden.span.of(body).startswith(hidden.number or "?")
        assert hidden.inside == hidden.span.start


def test_they_cover_the_record_from_its_first_to_its_last_code_point() -> None:
    body = chapter("20.1 General.", "20.2 Permits.", "20.3 Appeals.")
    sections = with_hidden(body, record(body))
    assert sections[0].span.start == 0
    assert sections[-1].span.end == len(body)
    for before, after in pairwise(sections):
        assert before.span.end == after.span.start


@pytest.mark.parametrize(
    ("citation", "number", "head", "hidden"),
    [
        ("Sec. 18-8", "18-8", "18-8-{} Signs.", "Sec. 18-8-2"),
        ("11 DCMR § 2302", "2302", "2302.{} A garage", "11 DCMR § 2302.2"),
        ("9.5", "9.5", "9.5.{} DISTRICT", "9.5.2"),
        ("SFMC § 4.39", "4.39", "4.39.{} General", "SFMC § 4.39.2"),
        ("Chapter 5", "chapter 5", "5.{} Uses", "§ 5.2"),
        ("Appendix B", "appendix b", "b.{} Uses", None),
    ],
)
def test_a_hidden_section_is_cited_as_its_code_cites(
    citation: str, number: str, head: str, hidden: str | None
) -> None:
    body = "".join(f"{head.format(i)} {FILL}\n" for i in (1, 2, 3))
    sections = with_hidden(body, record(body, citation, number))
    assert (sections[2].citation if len(sections) > 2 else None) == hidden


@pytest.mark.parametrize(
    "mention",
    [
        "as Section 20.{} Permits requires",
        "(20.{} Permits)",
        "under 20.{} Permits",
        "Table 20.{} Permits",
        "20.{}, Vesting",
        "120.{} Permits",
        "20.{} feet",
    ],
)
def test_a_number_that_is_only_mentioned_begins_no_section(mention: str) -> None:
    body = "".join(f"A rule {mention.format(i)}. {FILL}\n" for i in range(1, 6))
    assert with_hidden(body, record(body)) == (record(body),)


def test_a_table_of_contents_does_not_begin_the_sections() -> None:
    heads = ("20.1 General.", "20.2 Permits.", "20.3 Appeals.")
    body = " ".join(heads) + "\n" + chapter(*heads)
    sections = with_hidden(body, record(body))
    assert [s.number for s in sections[1:]] == ["20.1", "20.2", "20.3"]
    assert sections[0].span.of(body).startswith("20.1 General. 20.2 Permits.")


def test_a_short_record_stays_whole_and_is_found_by_its_hidden_numbers() -> None:
    body = "20.1 General. Yes.\n20.2 Permits. Yes.\n20.3 Appeals. Yes.\n"
    assert len(body) < LONG
    section = record(body)
    assert with_hidden(body, section) == (section,)
    assert hidden_numbers(body, section) == ("20.1", "20.2", "20.3")
    assert {"20.1", "20.2", "20.3"} <= {
        x.number for x in labels_of(body, (section,)) if x.kind == "section"
    }


def test_a_hidden_section_is_found_by_the_records_name_too() -> None:
    body = chapter("20.1 General.", "20.2 Permits.", "20.3 Appeals.")
    sections = with_hidden(body, record(body))
    named = {(x.kind, x.number) for x in labels_of(body, sections) if x.section == 2}
    assert {("section", "20.2"), ("chapter", "20"), ("whole", "chapter 20")} <= named


@given(st.lists(st.integers(1, 30), max_size=20), st.text(max_size=30))
def test_any_order_of_numbers_gives_ascending_sections_that_tile(
    numbers: list[int], between: str
) -> None:
    body = "".join(f"\n20.{n} Title. {FILL}{between}" for n in numbers)
    section = record(body)
    sections = with_hidden(body, section)
    assert "".join(s.span.of(body) for s in sections) == body
    order = [int((s.number or "").split(".")[1]) for s in sections[1:]]
    assert order == sorted(set(order))
    assert len(sections) == 1 or len(order) >= FEWEST


@pytest.mark.parametrize("unit", ["20.1 A ", "20.", "20.1.1.1", "\n20.9 ", " 20.1a "])
def test_looking_for_hidden_sections_takes_linear_time(unit: str) -> None:
    body = (unit * 100_000)[:400_000]
    begin = time.process_time()
    with_hidden(body, record(body))
    assert time.process_time() - begin < 5
