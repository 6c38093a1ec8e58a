"""A cell's fact is the quantity that answers, an exact part of a clause of the section, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.answers.citations import prove
from appliance.answers.extraction import (
    AROUND,
    asked_of,
    best_of,
    candidates,
    clauses,
    extracted,
    nouns_of,
    question_terms,
    things_of,
)
from appliance.domain import (
    Citation,
    CityId,
    Digest,
    Passage,
    SectionId,
    Span,
    Standing,
    StoredSection,
)
from tests.integration.conftest import TODAY


def passage(
    text: str,
    *,
    heading: str = "Fences",
    label: int = 1,
    span: Span | None = None,
    similarity: float = 0.7,
    leads: tuple[Span, ...] = (),
) -> Passage:
    section = StoredSection(
        id=SectionId(label),
        city=CityId("elm-hollow-xx"),
        external_id=f"elm-{label}",
        citation=f"Sec. {label}",
        number=str(label),
        heading=heading,
        path=("Zoning",),
        standing=Standing.IN_FORCE,
        version=Digest("0" * 64),
        effective_from=None,
        effective_until=None,
        text=text,
    )
    return Passage(
        label=str(label),
        section=section,
        span=span or Span(start=0, end=len(text)),
        score=1.0,
        similarity=similarity,
        legs=("dense",),
        leads=leads,
    )


def fact(question: str, *passages: Passage) -> str | None:
    asked = asked_of(question, dict.fromkeys(question_terms(question), 20), 1000)
    best = best_of(candidates(asked, passages))
    return best and best.candidate.fact.of(best.candidate.clause.passage.section.text)


FENCE = "How tall may a fence in a front yard be?"


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            FENCE,
            (
                "A fence in a front yard shall not exceed four (4) feet in height, and a fence in a rear yard shall"
                " not exceed six (6) feet in height."
            ),
            "four (4) feet",
        ),
        (
            FENCE,
            (
                "A fence in a front yard shall be set back two feet from the street. The height of a fence in a"
                " front yard shall not exceed 42 inches."
            ),
            "42 inches",
        ),
        (
            "How far must a beehive stand from the lot line?",
            (
                "Beehives: (1) No more than four beehives are allowed. (2) Hives shall be at least ten feet from"
                " any lot line."
            ),
            "ten feet",
        ),
        (
            "How many hens may I keep?",
            (
                "The keeping of chickens is allowed on lots of 5,000 square feet. No more than six (6) hens shall"
                " be kept. A coop shall be 20 feet from a house."
            ),
            "six (6)",
        ),
        (
            "How long may a storage container stay at a house?",
            (
                "A storage container may stay for no longer than sixteen (16) consecutive days. The administrator"
                " may grant an extension of 30 additional days."
            ),
            "sixteen (16) consecutive days",
        ),
        (
            "What is the fine for a first violation?",
            "A first violation is punished by a fine of $50.00. Each further violation costs $500.",
            "$50.00",
        ),
        (
            "What does a fence permit cost?",
            "| Permit | Fee |\n|---|---|\n| Deck permit | $90 |\n| Fence permit | $45 |\n",
            "$45",
        ),
        ("How tall may a fence be?", "A fence must be painted.", None),
    ],
)
def test_the_quantity_that_answers_wins(question: str, text: str, answer: str | None) -> None:
    assert fact(question, passage(text)) == answer


def test_a_question_for_no_quantity_is_answered_in_a_clause() -> None:
    text = "The council grants permits. The board of zoning appeals decides on a variance."
    words = "Who decides on a variance?"
    assert fact(words, passage(text)) == "The board of zoning appeals decides on a variance."


def test_a_cell_stays_empty_where_little_speaks_for_it() -> None:
    asked = asked_of(FENCE, dict.fromkeys(question_terms(FENCE), 20), 1000)
    assert extracted(asked, [passage("A fence in a front yard shall not exceed 4 feet.")])
    far = passage("A dog is kept 9 feet from a well, or 12.", heading="Dogs", similarity=0.2)
    assert extracted(asked, [far]) is None
    # A setback is no height, however much else agrees.
    other = "A fence in a front yard shall be at least 4 feet from the street."
    assert extracted(asked, [passage(other)]) is None
    assert extracted(asked, []) is None


def test_what_stands_beside_a_passage_is_read_too_and_whole_clauses_only() -> None:
    text = (
        "Fences are told of here. "
        + "Nothing is said of them. " * 90
        + "A fence may be 5 feet high."
    )
    near = passage(text, span=Span(start=0, end=24))
    read = [c.text for c in clauses(near)]
    assert read[0] == "Fences are told of here."
    assert set(read[1:]) == {"Nothing is said of them."}
    assert len(read) < AROUND // 24 + 2
    end = passage(text, span=Span(start=len(text) - 200, end=len(text) - 150))
    assert next(iter(clauses(end))).text == "Nothing is said of them."
    assert fact("How high may a fence be?", end) == "5 feet"


def test_rows_are_read_under_their_header_and_items_under_what_introduces_them() -> None:
    text = (
        "Hens are kept as follows: (1) Six at most. (2) In a coop.\n| a | b |\n|---|---|\n| c | d |"
    )
    found = {c.text: c.leads for c in clauses(passage(text))}
    assert "Hens are kept as follows:" in found["(2) In a coop."]
    assert "| c | d |" in found


def test_things_are_named_as_the_question_writes_them() -> None:
    things = [words for words, _ in things_of("How far must a beehive stand from the lot line?")]
    assert things[0] == "beehive"
    assert things_of("a grandfathered shop")[0] == ("grandfathered", frozenset({"grandfath"}))
    assert len(things_of("a grandfathered shop")) == 2
    assert {"lot", "line"} <= set(things)
    assert "far" not in things


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("How tall may a fence in a front yard be?", {"fence", "yard"}),
        ("How far must a beehive stand?", {"beehive"}),
        ("How long may a grandfathered shop sit idle?", {"grandfathered"}),
        ("How long is a permit good for if the work has not begun?", {"work"}),
    ],
)
def test_only_nouns_are_told_to_be_absent(question: str, nouns: set[str]) -> None:
    assert nouns_of(question) - {"permit"} >= nouns
    assert not nouns_of(question) & {"begun", "idle", "sit"}


# ------------------------------------------------------------------ for any text

words = st.sampled_from(
    [
        "fence",
        "six (6)",
        "feet",
        "front yard",
        "30 days",
        "shall",
        "exceed",
        "hens",
        "3'-6\"",
        "$50",
        "4",
    ]
)
marks = st.sampled_from([" ", ". ", "; ", ": ", "\n", "\n\n", " (a) ", " | ", "|\n|"])
texts = st.lists(st.tuples(words, marks), min_size=1, max_size=30).map(
    lambda pairs: "".join(w + m for w, m in pairs)
)


@settings(max_examples=60, deadline=None)
@given(texts, st.data())
def test_every_fact_is_an_exact_part_of_a_proven_quote_of_its_own_section(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = passage(text, span=Span(start=start, end=end))
    for question in (FENCE, "How many hens may I keep?", "What may be kept?"):
        asked = asked_of(question, {}, 1)
        for candidate in candidates(asked, [found]):
            clause = candidate.clause
            proof = prove(found.section, clause.span, as_of=TODAY, retrieved=[found])
            assert isinstance(proof, Citation)
            assert candidate.fact.within(clause.span)
            assert candidate.fact.of(text).strip()
            assert candidate.fact.of(text) in proof.quote
