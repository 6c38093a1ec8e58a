"""Where each definition of a glossary begins, in the styles of the codes."""

from __future__ import annotations

import time

import pytest

from appliance.corpus.glossary import FEWEST, entries, is_glossary

STYLES = {
    "means": "{} means a thing that is built. ",
    "quoted": "“{}” shall mean a thing that is built.\n",
    "bold": "**{}** means a thing that is built.\n",
    "stop": "{}. A thing that is built on a lot. ",
    "colon": "{}: A thing that is built on a lot.\n",
    "dash": "{}—A thing that is built on a lot. ",
    "spaced dash": "{} - A thing that is built on a lot.\n",
    "lettered": "(B) {}. A thing that is built on a lot. ",
    "numbered": "177. {}: A thing that is built on a lot. ",
    "pointed": ".4 {} means a thing that is built. ",
    "inverted": "{}, front. A thing that is built on a lot. ",
    "initials": "{} (CPD) means a thing that is built. ",
}
TERMS = ("Alley", "Building height", "Carport", "DWELLING", "Easement")


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_each_definition_begins_an_entry(style: str) -> None:
    text = "".join(style.format(term) for term in TERMS)
    starts = entries(text)
    ends = [*starts[1:], len(text)]
    found = [text[a:b] for a, b in zip(starts, ends, strict=True)]
    assert len(found) == len(TERMS)
    assert all(term in entry for term, entry in zip(TERMS, found, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The board shall decide. It must do so in ten days. Such days are business days.",
        "Alley means a way. Carport means a roof.",
        "If the owner is absent: notice is mailed. When he returns, the days begin.",
    ],
)
def test_prose_and_few_definitions_are_read_together(text: str) -> None:
    assert entries(text) == ()
    assert FEWEST > 2


@pytest.mark.parametrize(
    ("heading", "glossary"),
    [
        ("Sec. 3.1 - Definitions.", True),
        ("DEFINED TERMS", True),
        ("Glossary", True),
        ("Determination of height", False),
        ("Fences", False),
    ],
)
def test_a_heading_tells_a_glossary(heading: str, glossary: bool) -> None:
    assert is_glossary(heading) is glossary


@pytest.mark.parametrize("unit", ["A. ", "\n", "A: ", "“", "(a) B. ", " - A", "A b c. ", "A\n"])
def test_finding_entries_takes_linear_time(unit: str) -> None:
    text = (unit * 400_000)[:400_000]
    begin = time.process_time()
    entries(text)
    assert time.process_time() - begin < 10
