"""A model's draft is hostile text: what it cites is checked, and what fails is taken out."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.claims import named_numbers, phantoms
from appliance.answers.drafts import check_draft
from appliance.answers.prompts import NOT_FOUND
from appliance.domain import (
    CityId,
    Digest,
    Draft,
    Passage,
    SectionId,
    Span,
    Standing,
    StoredSection,
)

TODAY = date(2026, 7, 1)
TROLL = CityId("troll-xx")
TEXTS = (
    "No person shall build a fence over six (6) feet high without a permit.",
    "The fee for a permit is $1,000. \u201cGoat\u201d means any goat, wild or not.",
)


def passage(number: int, text: str, standing: Standing = Standing.IN_FORCE) -> Passage:
    section = StoredSection(
        id=SectionId(number),
        city=TROLL,
        external_id=str(number),
        citation=f"Sec. 1-{number}",
        number=f"1-{number}",
        heading="Fences",
        path=(),
        standing=standing,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text=f"Lead. {text} Tail.",
    )
    span = Span(start=6, end=6 + len(text))
    return Passage(
        label=str(number), section=section, span=span, score=1, similarity=1, legs=("lexical",)
    )


PASSAGES = [passage(i, text) for i, text in enumerate(TEXTS, start=1)]
KNOWN = {("section", "1-1"), ("table", "a"), ("chapter", "15")}


def checked(text: str, passages: list[Passage] = PASSAGES):
    draft = Draft(text=text, model="fake")
    return check_draft(draft, passages, city=TROLL, as_of=TODAY, known=KNOWN)


@pytest.mark.parametrize(
    ("draft", "text", "quotes"),
    [
        ('Yes [1: "build a fence over six"].', "Yes [1].", ["build a fence over six"]),
        ("Yes [1: \u201cbuild a fence over six\u201d].", "Yes [1].", ["build a fence over six"]),
        ('Yes [ 1 :"build a fence over six" ].', "Yes [1].", ["build a fence over six"]),
        ('Yes [1:\n"build a fence\nover six"].', "Yes [1].", ["build a fence over six"]),
        ('Yes [1, 2: "fee for a permit"].', "Yes [1].", ["fee for a permit"]),
        ('Yes [2,1: "fee for a permit"].', "Yes [1].", ["fee for a permit"]),
        (
            'A [2: "fee for a permit"]. B [1: "build a fence over"]. C [2: "fee for a permit"].',
            "A [1]. B [2]. C [1].",
            ["fee for a permit", "build a fence over"],
        ),
        (
            'Goats [2: "\'Goat\' means any"] [2: "\u201cGoat\u201d means any goat"].',
            "Goats [1].",
            ["\u201cGoat\u201d means any goat"],
        ),
        # A sentence whose proof is none is not shown.
        (
            'A [1: "build a fence over"]. B [1: "burn a fence over"].',
            "A [1].",
            ["build a fence over"],
        ),
        ('A [1: "build a fence over"]. B [2].', "A [1].", ["build a fence over"]),
        (
            'A [1: "build a fence over"]. B [7: "build a fence over"].',
            "A [1].",
            ["build a fence over"],
        ),
        ('A [1: "build a fence over"]. B [1: "a permit"].', "A [1].", ["build a fence over"]),
        (
            'A [1: "build a fence over"]. B [2: "build a fence over"].',
            "A [1].",
            ["build a fence over"],
        ),
        # The quote must stand in the passage that was shown, not only in its section.
        (
            'A [1: "build a fence over"]. B [1: "permit. Tail."].',
            "A [1].",
            ["build a fence over"],
        ),
        # Brackets that are no marks stay.
        (
            'A [x] (a) [one] [1: "build a fence over"]',
            "A [x] (a) [one] [1]",
            ["build a fence over"],
        ),
    ],
)
def test_marks_are_checked_and_numbered_anew(draft: str, text: str, quotes: list[str]) -> None:
    answer = checked(draft).answer
    assert answer is not None
    assert answer.text == text
    assert [c.quote for c in answer.citations] == quotes
    for citation in answer.citations:
        assert citation.span.of(citation.section.text) == citation.quote
        assert citation.legs == ("lexical",)


@pytest.mark.parametrize(
    "draft",
    [
        "",
        "Yes, you need a permit.",
        "Yes [1].",
        'Yes [1: "burn a fence over six"].',
        'Yes [1: "a permit"].',
        'Yes [3: "build a fence over six"].',
        'Yes [0: "build a fence over six"].',
        'Yes [1: "build a fence over 7 feet"].',
        'Yes [1: "build a fence over six].',
        'Yes [one: "build a fence over six"].',
        'Yes (1: "build a fence over six").',
        'Yes [1: "BUILD A FENCE OVER SIX"].',
        '[1: "' * 50,
        "<script>alert(1)</script>",
        NOT_FOUND,
        "\ud800\0\u202e",
    ],
)
def test_a_draft_that_proves_nothing_does_not_survive(draft: str) -> None:
    found = checked(draft)
    assert found.answer is None
    assert found.why_not == "nothing in the model's draft could be proven"


def test_another_citys_passage_proves_nothing() -> None:
    draft = Draft(text='Yes [1: "build a fence over six"].', model="fake")
    found = check_draft(draft, PASSAGES, city=CityId("ogre-xx"), as_of=TODAY, known=KNOWN)
    assert found.answer is None


def test_a_section_that_is_not_in_force_proves_nothing() -> None:
    repealed = [passage(1, TEXTS[0], Standing.REPEALED)]
    assert checked('Yes [1: "build a fence over six"].', repealed).answer is None


def test_numbers_that_the_cited_sections_lack_are_reported() -> None:
    found = checked('At most 6 ft, or 8 feet by $1,000 [1: "build a fence over six (6) feet"].')
    assert found.unsupported_numbers == ("8 feet", "$1,000")
    assert found.answer is None  # its one sentence has numbers from nowhere


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("See § 1-1.", ()),
        ("See § 9-9 and Section 9-9.", ("§ 9-9", "Section 9-9")),
        ("See Table A and Table B.", ("Table B",)),
        ("See section 15.", ()),
        ("See Sections 1-1 and 1-2.", ("1-2",)),
        ("In 28-105.9 and Chapter 99", ()),
        ("nothing", ()),
    ],
)
def test_numbers_that_the_city_lacks_are_reported(text: str, missing: tuple[str, ...]) -> None:
    assert phantoms(text, KNOWN) == missing
    found = checked(f'{text} [1: "build a fence over six"]')
    assert found.phantoms == missing
    assert (found.answer is None) == bool(missing)


def test_the_numbers_to_look_up_are_named_once() -> None:
    assert named_numbers("§ 9-9, Section 9-9, Table A, Chapter 3, 28-105.9") == [
        "28-105.9",
        "9-9",
        "a",
    ]


MARKS = st.lists(
    st.sampled_from(
        [
            '[1: "',
            '"]',
            "[2: \u201c",
            "\u201d]",
            "[1]",
            "[1, 2: ",
            "build a fence over",
            "fee for a permit",
            " ",
            "\n",
            "x",
            "[",
            "]",
            '"',
        ]
    ),
    max_size=25,
).map("".join)


@given(st.text() | MARKS)
def test_whatever_the_model_writes_only_stored_text_is_cited(text: str) -> None:
    answer = checked(text).answer
    if answer is not None:
        assert answer.citations
        for citation in answer.citations:
            assert citation.quote == citation.span.of(citation.section.text)
            assert citation.section in [p.section for p in PASSAGES]


@pytest.mark.parametrize(
    "unit", ['[1: "', "[1", "[1,", "[", " ", "[1 ", '[1: "a"]', "[1: \u201c", "\n"]
)
def test_checking_takes_linear_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    begin = time.process_time()
    checked(text)
    assert time.process_time() - begin < 4
    begin = time.process_time()
    checked("[1" + text)
    assert time.process_time() - begin < 4
