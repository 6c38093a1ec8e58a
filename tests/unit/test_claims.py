"""A text to its sentences, and which of them may be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.claims import FAILED, sentences, states_a_rule
from appliance.answers.drafts import check_draft
from appliance.domain import Draft, Flag
from tests.growth import grows_linearly
from tests.unit.test_drafts import KNOWN, PASSAGES, TODAY, TROLL

OVER_SIX = '[1: "build a fence over six (6) feet high"]'
FEE = '[2: "fee for a permit is $1,000"]'
GOATS = '[2: "means any goat, wild or not"]'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Yes. No.", ["Yes.", "No."]),
        ("Yes! Really? No", ["Yes!", "Really?", "No"]),
        ("See Sec. 4-2 of it. Then go.", ["See Sec. 4-2 of it.", "Then go."]),
        ("At most 4 ft. in height. No more.", ["At most 4 ft. in height.", "No more."]),
        ("At most 4 ft. Ask first.", ["At most 4 ft.", "Ask first."]),
        ("The U.S. Code applies.", ["The U.S. Code applies."]),
        ("It costs $1.50 a foot. Pay it.", ["It costs $1.50 a foot.", "Pay it."]),
        ("You need:\n- a plan\n- a fee\nDone.", ["You need:", "- a plan", "- a fee\nDone."]),
        ("One.\n\nTwo.", ["One.", "Two."]),
        ('He said "no." Then yes.', ['He said "no."', "Then yes."]),
        ("Yes.\ue0001\ue001 No.", ["Yes.\ue0001\ue001", "No."]),
        (f"Yes. {FAILED} No.", [f"Yes. {FAILED}", "No."]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_sentences_and_lines(text: str, parts: list[str]) -> None:
    assert [span.of(text).strip() for span in sentences(text)] == parts


@given(st.text(alphabet='aA1. \n-?!)"[]\ue000\ue001\ue002', max_size=80))
def test_the_sentences_of_a_text_are_the_text(text: str) -> None:
    spans = sentences(text)
    assert "".join(span.of(text) for span in spans) == text
    assert all(len(span) for span in spans)


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("A permit is required.", True),
        ("Fences may not be over six feet.", True),
        ("Sheds up to 120 square feet are exempt.", True),
        ("The maximum is in the table.", True),
        ("Goats are animals.", False),
        ("This chapter is about fences.", False),
    ],
)
def test_what_states_a_rule_is_told_from_what_does_not(sentence: str, rule: bool) -> None:
    assert states_a_rule(sentence) is rule


@pytest.mark.parametrize(
    ("draft", "text", "withheld"),
    [
        (
            f"You need a permit {OVER_SIX}. Short walls are exempt.",
            "You need a permit [1].",
            {"Short walls are exempt.": [Flag.UNPROVEN]},
        ),
        (
            f"Over 6 ft you need one {OVER_SIX}. It costs $2,000 {FEE}.",
            "Over 6 ft you need one [1].",
            {"It costs $2,000.": [Flag.UNTRACED_NUMBER]},
        ),
        (
            f"You need a permit {OVER_SIX}. § 9-9 is about goats {GOATS}.",
            "You need a permit [1].",
            {"§ 9-9 is about goats.": [Flag.PHANTOM]},
        ),
        # Of another sentence's quote: right in the answer, wrong for this claim.
        (
            f"Fences over 6 feet need one {OVER_SIX}. The fee is 6 feet {FEE}.",
            "Fences over 6 feet need one [1].",
            {"The fee is 6 feet.": [Flag.UNTRACED_NUMBER]},
        ),
        # A sentence that states nothing needs no proof.
        (
            f"Here is the code. You need a permit {OVER_SIX}.",
            "Here is the code. You need a permit [1].",
            {},
        ),
        # Each has a proof that is none, and one that is: what is proven carries it.
        (f'A permit {OVER_SIX} [2: "burn it all down"].', "A permit [1].", {}),
    ],
)
def test_a_sentence_that_nothing_carries_is_withheld(
    draft: str, text: str, withheld: dict[str, list[Flag]]
) -> None:
    answer = check_draft(
        Draft(text=draft, model="fake"), PASSAGES, city=TROLL, as_of=TODAY, known=KNOWN
    ).answer
    assert answer is not None
    assert answer.text == text
    assert {c.text: list(c.flags) for c in answer.withheld} == withheld
    assert all(not c.flags for c in answer.claims)
    used = {n for c in answer.claims for n in c.citations}
    assert used == set(range(1, len(answer.citations) + 1))


def test_stacked_citations_are_folded_to_the_best_two() -> None:
    stack = "".join(
        f'[{label}: "{quote}"]'
        for label, quote in [
            (1, "No person shall build"),
            (2, "The fee for a permit"),
            (2, "fee for a permit is $1,000"),
            (2, "any goat, wild or not"),
        ]
    )
    found = check_draft(
        Draft(text=f"The fee for a permit is $1,000 {stack}.", model="fake"),
        PASSAGES,
        city=TROLL,
        as_of=TODAY,
        known=KNOWN,
    )
    assert found.answer is not None
    assert [c.quote for c in found.answer.citations] == [
        "The fee for a permit",
        "fee for a permit is $1,000",
    ]
    assert found.answer.text == "The fee for a permit is $1,000[1][2]."


@pytest.mark.parametrize(
    "piece", ["a. ", "Sec. ", "\n- ", "\n", "[1", " ", ". ", "\ue000", "must "]
)
def test_cutting_takes_linear_time(piece: str) -> None:
    assert grows_linearly(sentences, piece, size=20_000)
