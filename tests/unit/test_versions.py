"""Two states of a city's law compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.versions import Entry, compare, word_changes


def entry(number: str, text: str, **facts: str) -> Entry:
    plain = Entry(
        external_id=f"elm-{number}",
        citation=f"Elm Code § {number}",
        number=number,
        heading=f"Section {number}",
        standing="in_force",
        text=text,
    )
    return replace(plain, **facts)  # type: ignore[arg-type]


SHED = (
    "A shed of more than 120 square feet needs a permit, which the officer grants within ten days."
)
BEES = "Bees may be kept in two hives on a lot, if the neighbours on both sides were told of it."


def ids(entries: tuple[Entry, ...]) -> list[str | None]:
    return [e.number for e in entries]


def test_what_came_and_what_went_is_told_apart() -> None:
    found = compare(
        [entry("1", SHED), entry("2", BEES)], [entry("2", BEES), entry("3", "New law.")]
    )
    assert (ids(found.added), ids(found.removed)) == (["3"], ["1"])
    assert (found.changed, found.renumbered, found.unchanged) == ((), (), 1)


@pytest.mark.parametrize(
    "change",
    [{"text": SHED + " Forts too."}, {"heading": "Sheds"}, {"standing": "repealed"}],
)
def test_a_section_that_says_or_is_something_else_is_changed(change: dict[str, str]) -> None:
    found = compare([entry("1", SHED)], [replace(entry("1", SHED), **change)])  # type: ignore[arg-type]
    assert [p.after.number for p in found.changed] == ["1"]
    assert not found.added
    assert not found.removed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SHED, SHED),
        (f"1 {SHED}", f"9 {SHED}"),
        (SHED, SHED.replace("ten", "twenty")),
    ],
)
def test_the_same_text_under_another_number_is_a_renumbering(before: str, after: str) -> None:
    old, other = entry("1", before), entry("2", BEES)
    found = compare(
        [old, other], [entry("9", after), other, entry("10", "Something new altogether.")]
    )
    assert [(p.before.number, p.after.number) for p in found.renumbered] == [("1", "9")]
    assert ids(found.added) == ["10"]
    assert not found.removed


def test_a_record_that_keeps_its_id_under_another_number_is_renumbered() -> None:
    found = compare([entry("1", SHED)], [entry("9", SHED, external_id="elm-1")])
    assert [(p.before.number, p.after.number) for p in found.renumbered] == [("1", "9")]
    assert not found.changed


@pytest.mark.parametrize("text", ["Reserved.", "", "See the fee table."])
def test_a_few_words_are_too_common_to_be_recognised(text: str) -> None:
    found = compare([entry("1", text)], [entry("9", text)])
    assert (ids(found.added), ids(found.removed), found.renumbered) == (["9"], ["1"], ())


def test_a_text_that_went_once_is_found_once() -> None:
    found = compare([entry("1", SHED)], [entry("8", SHED), entry("9", SHED)])
    assert len(found.renumbered) == 1
    assert len(found.added) == 1


_SECTIONS = st.dictionaries(
    st.integers(1, 12).map(str), st.sampled_from([SHED, BEES, "Reserved.", SHED + BEES]), max_size=8
)


@given(_SECTIONS, _SECTIONS)
def test_every_section_of_both_states_is_in_one_list(
    before: dict[str, str], after: dict[str, str]
) -> None:
    found = compare([entry(*i) for i in before.items()], [entry(*i) for i in after.items()])
    stays = len(found.changed) + found.unchanged
    assert len(found.removed) + len(found.renumbered) + stays == len(before)
    assert len(found.added) + len(found.renumbered) + stays == len(after)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("four feet high", "six feet high", "[-four-]{+six+} feet high"),
        ("four feet", "four feet high", "four feet {+high+}"),
        ("a b c d e f g h i j k l X", "a b c d e f g h i j k l Y", "… i j k l [-X-]{+Y+}"),
        (
            "X a b c d e f g h i j k l X",
            "Y a b c d e f g h i j k l Y",
            "[-X-]{+Y+} a b c d … i j k l [-X-]{+Y+}",
        ),
    ],
)
def test_changed_words_are_shown_with_what_stands_around_them(
    before: str, after: str, shown: str
) -> None:
    assert word_changes(before, after) == shown


def test_a_long_change_is_cut() -> None:
    assert len(word_changes("old " * 900, "new " * 900, limit=100)) <= 100
