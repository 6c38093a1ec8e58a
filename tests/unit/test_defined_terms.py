"""The terms that a section defines, with the spans of their definitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.defined_terms import definitions_in

GLOSSARY = """As used in this chapter:
"Alley" means a public way behind lots.
(b) Fence. A barrier of wood or wire.
Lot line: The boundary of a lot.
Yard means open ground on a lot."""


def test_a_glossary_gives_each_term_its_definition() -> None:
    found = {d.term: d.span.of(GLOSSARY) for d in definitions_in("Definitions.", GLOSSARY)}
    assert set(found) == {"alley", "fence", "lot line", "yard"}
    assert found["yard"] == "Yard means open ground on a lot."
    assert found["fence"].endswith("wire.")


def test_a_quoted_term_is_defined_anywhere() -> None:
    text = 'No alley is closed. The term "alley" means a public way.\nNothing more.'
    (definition,) = definitions_in("Closing of alleys.", text)
    assert definition.term == "alley"
    assert definition.span.of(text) == '"alley" means a public way.'


def test_other_text_defines_nothing() -> None:
    assert definitions_in("Fences.", "A fence means trouble. Height: 6 feet.") == []


@given(st.text(alphabet='"“”Aa. :\nmeans()1', max_size=200))
def test_definitions_lie_apart_in_the_text(text: str) -> None:
    for heading in ("Definitions", "Fences"):
        for definition in definitions_in(heading, text):
            assert definition.span.of(text)
            assert definition.term == definition.term.casefold()
