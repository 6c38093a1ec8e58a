"""Which section a mention means: exactly one, or a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.corpus.cross_references import mentions_in
from appliance.corpus.resolution import (
    Container,
    Entry,
    Registry,
    Unresolved,
    part_of_heading,
    plain_number,
)
from appliance.domain import Part, Standing

TITLE_6 = "Title 6. Housing."
TITLE_9 = "Title 9. Streets."
CHAPTER_14 = "Chapter 14. Fences."


def entry(
    key: int,
    number: str,
    path: tuple[str, ...],
    citation: str = "Elm Code § {}",
    heading: str = "h",
) -> Entry:
    return Entry(
        key=key,
        external_id=f"elm-{number}",
        document=key,
        citation=citation.format(number),
        number=number,
        heading=heading,
        path=path,
    )


ENTRIES = [
    entry(1, "6-1401", (TITLE_6, CHAPTER_14)),
    entry(2, "6-1402", (TITLE_6, CHAPTER_14)),
    entry(3, "6-1501", (TITLE_6, "Chapter 15. Walls.", "ARTICLE II. - HEIGHT")),
    entry(4, "9-1401", (TITLE_9, CHAPTER_14)),
    entry(5, "15.2-2200", (TITLE_9, "Chapter 2. Signs.")),
    replace(entry(6, "9-201", (TITLE_9, "Chapter 2. Signs.")), standing=Standing.REPEALED),
    replace(entry(7, "9-202", (TITLE_9, "Chapter 2. Signs.")), tables=("9.1.1",)),
    replace(entry(8, "9-203", (TITLE_9, "Chapter 2. Signs.")), external_id="elm-9-203"),
    replace(entry(9, "9-203", (TITLE_9, "Chapter 2. Signs.")), external_id="elm-9-203~2"),
    entry(10, "5", ("Elm Rules", "Chapter 1"), citation="3 RCE § {}"),
    replace(
        entry(11, "", ("Local Laws", "2021")),
        citation="Local Law 126 of 2021",
        number=None,
        external_id="law-126",
    ),
]
ELM = Registry(ENTRIES, ("elm", "va"))


def led(text: str, source: int = 1) -> str | Unresolved:
    """Return the external id that the one mention of a text leads to, else the reason."""
    (mention,) = mentions_in(text)
    found = ELM.resolve(mention, next(e for e in ENTRIES if e.key == source))
    if found.target is not None:
        assert found.reason is None
        return found.target.external_id
    assert found.reason is not None
    return found.reason


@pytest.mark.parametrize(
    ("text", "source", "target"),
    [
        ("§ 6-1402", 1, "elm-6-1402"),
        ("§ 6-1402(b)(2)", 1, "elm-6-1402"),
        ("Elm Code § 9-1401", 1, "elm-9-1401"),
        ("section 9-1401 of the city code", 1, "elm-9-1401"),
        ("section 6-1402 of this chapter", 1, "elm-6-1402"),
        ("3 RCE § 5", 1, "elm-5"),
        ("this section", 2, "elm-6-1402"),
        ("subsection (b)", 2, "elm-6-1402"),
        ("the preceding section", 2, "elm-6-1401"),
        ("the following section", 1, "elm-6-1402"),
        ("this chapter", 1, f"{TITLE_6} > {CHAPTER_14}"),
        ("this title", 3, TITLE_6),
        ("Chapter 14", 1, f"{TITLE_6} > {CHAPTER_14}"),
        ("Chapter 14", 5, f"{TITLE_9} > {CHAPTER_14}"),
        ("Chapter 14 of Title 9", 1, f"{TITLE_9} > {CHAPTER_14}"),
        ("Chapter 14 of this title", 1, f"{TITLE_6} > {CHAPTER_14}"),
        ("Article 2 of Chapter 15", 1, " > ".join(ENTRIES[2].path)),
        ("Table 9.1.1", 1, "elm-9-202"),
        ("§ 9-201", 1, "elm-9-201"),
        ("§ 9-203", 9, "elm-9-203~2"),
        ("Local Law 126 of 2021", 1, "law-126"),
        ("L.L. 2021/126", 1, "law-126"),
    ],
)
def test_a_mention_leads_to_one_node(text: str, source: int, target: str) -> None:
    assert led(text, source) == target


@pytest.mark.parametrize(
    ("text", "source", "reason"),
    [
        ("§ 6-1499", 1, Unresolved.NO_SUCH_SECTION),
        ("Chapter 99", 1, Unresolved.NO_SUCH_SECTION),
        ("Chapter 15 of Title 9", 1, Unresolved.NO_SUCH_SECTION),
        ("section 5", 1, Unresolved.NO_SUCH_SECTION),  # of this code, not of the rules
        ("§ 9-203", 1, Unresolved.SEVERAL),
        ("Code of Virginia § 15.2-2200", 1, Unresolved.EXTERNAL_LAW),
        ("§ 15.2-2200 of the Code of Virginia", 1, Unresolved.EXTERNAL_LAW),
        ("Va. Code § 15.2-2200", 5, Unresolved.EXTERNAL_LAW),
        ("42 U.S.C. § 6-1402", 1, Unresolved.EXTERNAL_LAW),
        ("Code 1985, § 6-1402", 1, Unresolved.EXTERNAL_LAW),
        ("section 6-1402 of the Fence Act", 1, Unresolved.EXTERNAL_LAW),
        ("section 6-1402 of the International Building Code", 1, Unresolved.EXTERNAL_LAW),
        ("Ord. No. 1234, § 6-1402", 1, Unresolved.ORDINANCE_NOT_HELD),
        ("this article", 1, Unresolved.NO_CONTAINER),
        ("the preceding section", 1, Unresolved.NO_CONTAINER),
    ],
)
def test_what_leads_nowhere_says_why(text: str, source: int, reason: Unresolved) -> None:
    assert led(text, source) is reason


def test_several_candidates_are_named() -> None:
    (mention,) = mentions_in("§ 9-203")
    found = ELM.resolve(mention, ENTRIES[0])
    assert [c.external_id for c in found.candidates] == ["elm-9-203", "elm-9-203~2"]


def test_the_graph_of_a_code() -> None:
    assert ELM.parent_of(ENTRIES[2]) == Container(path=ENTRIES[2].path)
    assert ELM.parent_of(Container(path=(TITLE_6,))) is None
    assert ELM.next_of(ENTRIES[0]) == ENTRIES[1]
    assert ELM.next_of(ENTRIES[2]) is None  # the next title begins
    paths = {c.path for c in ELM.containers()}
    assert {(TITLE_6,), (TITLE_6, CHAPTER_14), (TITLE_9, CHAPTER_14)} <= paths


def test_a_heading_that_is_a_section_is_no_container_besides() -> None:
    """In a Markdown document the chapter is a section of its own, over those that stand in it."""
    chapter = replace(
        entry(1, "chapter 15.04", ("Town",), heading="Chapter 15.04 Permits"), document=1
    )
    inside = replace(entry(2, "15.04.010", ("Town", "Chapter 15.04 Permits")), document=1)
    registry = Registry([chapter, inside], ("elm",))
    (mention,) = mentions_in("this chapter")
    assert registry.resolve(mention, inside).target == chapter
    assert registry.parent_of(inside) == chapter


def test_a_chapter_without_a_number_has_that_of_its_sections() -> None:
    entries = [entry(i, f"18.125.0{i}0", ("Zoning", "SUPPLEMENTARY REGULATIONS")) for i in (1, 2)]
    (mention,) = mentions_in("Chapter 18.125")
    found = Registry(entries, ("elm",)).resolve(mention, entries[0])
    assert found.target == Container(path=("Zoning", "SUPPLEMENTARY REGULATIONS"))


def test_a_section_can_be_cited_with_its_chapter() -> None:
    entries = [entry(1, "4.3.1", ("CHAPTER 18 - ZONING",), citation="Sec. {}")]
    registry = Registry(entries, ("elm",))
    (mention,) = mentions_in("§ 18-4.3.1")
    assert registry.resolve(mention, entries[0]).target == entries[0]
    (other,) = mentions_in("§ 20-4.3.1")
    assert registry.resolve(other, entries[0]).reason is Unresolved.NO_SUCH_SECTION


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("ARTICLE II. - USE", Part(unit="article", number="ii")),
        ("Chapter 15.04 Permits", Part(unit="chapter", number="15.04")),
        ("Title 28A. Other", Part(unit="title", number="28a")),
        ("14-48 PRE-FILING REVIEW", Part(unit="chapter", number="48")),
        ("Sec. 4.3 - Tree cutting.", Part(unit="section", number="4.3")),
        ("Zoning", None),
    ],
)
def test_the_number_of_a_heading(heading: str, part: Part | None) -> None:
    assert part_of_heading(heading) == part


@pytest.mark.parametrize(
    ("number", "plain"),
    [("ii", "2"), ("xiv", "14"), ("c", "c"), ("v", "5"), ("12a", "12a"), ("iiii", "iiii")],
)
def test_roman_numerals_are_numbers(number: str, plain: str) -> None:
    assert plain_number(number) == plain
