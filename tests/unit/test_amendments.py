"""What enacted laws do to a code: clauses, targets, days; small laws of our own, and New York's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.amendments import (
    NOT_STATED,
    amendments_of,
    concerns,
    incorporated,
    takes_effect,
)
from appliance.corpus.dates import NO_DAY_OF_LAW, WITH_ANOTHER, moment_of, number_of, ordinals
from appliance.domain import Amendment

PASSED = date(2024, 1, 31)


def of(clause: str, rest: str = "") -> list[tuple[str, str | None]]:
    """Return (kind, number) of what one clause does."""
    return [
        (a.kind, a.number) for a in amendments_of(f"Section 1. {clause}\n{rest}", enacted=PASSED)
    ]


# ------------------------------------------------------------------ targets


@pytest.mark.parametrize(
    ("clause", "does"),
    [
        ("Section 12-5 of the Elm code is amended to read as follows:", [("amended", "12-5")]),
        ("Section 12-5 of the Elm code is hereby amended to read:", [("amended", "12-5")]),
        ("Section 12-5 of the Elm code is REPEALED.", [("repealed", "12-5")]),
        ("Subdivision b of section 12-5 of the Elm code is REPEALED.", [("amended", "12-5")]),
        (
            "Sections 12-5, 12-6 and 12-7 of the Elm code are REPEALED.",
            [("repealed", "12-5"), ("repealed", "12-6"), ("repealed", "12-7")],
        ),
        (
            (
                "Chapter 1 of title 12 of the Elm code is amended by adding a new section 12-9.1 to read as "
                "follows:"
            ),
            [("added", "12-9.1")],
        ),
        (
            (
                "Section 12-5 of the Elm code, as added by local law number 3 for the year 2010 and amended "
                "by section 12-8 of local law 4 for the year 2011, is amended to read as follows:"
            ),
            [("amended", "12-5")],
        ),
        (
            (
                "Section 12-5 of the Elm code, as amended by a local law relating to sheds under section "
                "12-44, as proposed in introduction number 393-A, is amended by adding a new section 12-5.1 "
                "to read as follows:"
            ),
            [("amended", "12-5"), ("added", "12-5.1")],
        ),
        (
            "Section 12-5.4 of the Elm code is renumbered 12-7.1 and amended to read as follows:",
            [("renumbered", "12-5.4"), ("added", "12-7.1")],
        ),
        (
            "Table 12-8.1 of the Elm code is amended by adding a fee for sheds, to read as follows:",
            [("amended", "12-8.1")],
        ),
        (
            "The definition of shed in section 12-1 of the Elm code is amended to read as follows:",
            [("amended", "12-1")],
        ),
        ("There is hereby added to the Elm code a new Section 12-9 to read:", [("added", "12-9")]),
        ("The Elm code is amended by revising Section 12-5 to read:", [("amended", "12-5")]),
        ("The Elm code is amended by deleting Section 12-5.", [("repealed", "12-5")]),
        # nothing is done to what is only cited
        ("The office shall study fences under section 12-5 of the Elm code.", []),
        ("Section 5 of local law number 19 for the year 2014 is amended to read as follows:", []),
        ("Licences issued under section 12-5 of the Elm code remain in effect.", []),
        ("The heading of chapter 9 of title 12 of the Elm code is amended to read as follows:", []),
    ],
)
def test_a_clause_acts_on_the_sections_that_it_names_as_its_objects(
    clause: str, does: list[tuple[str, str | None]]
) -> None:
    assert (
        of(clause, "§ 12-99 See section 12-77 and sections 12-78, 12-79, which are amended.")
        == does
    )


def test_a_chapter_is_named_by_all_its_levels() -> None:
    text = "Section 1. Chapter 3 of title 27 of the administrative code of the city of New York is REPEALED."
    (chapter,) = amendments_of(text, enacted=PASSED)
    assert (chapter.kind, chapter.number, chapter.within) == (
        "repealed",
        None,
        ("title 27", "chapter 3"),
    )


def test_each_article_of_a_law_is_read_for_itself() -> None:
    text = (
        "Be it enacted:\nSection 1. Section 1.1 of the Elm code is amended to read as follows:\n"
        "§ 1.1 Section 9.9 is amended no more.\n\ufffd 2. Section 1.2 of such code is REPEALED.\n"
        "§ 3. This local law takes effect immediately.\n"
    )
    first, second = amendments_of(text, enacted=PASSED)
    assert (first.number, second.number) == ("1.1", "1.2")
    assert second.code == first.code == ("elm", "code")
    assert first.clause.of(text) == "Section 1.1 of the Elm code is amended to read as follows:"
    assert first.matter.of(text).strip() == "§ 1.1 Section 9.9 is amended no more."
    assert first.effective_clause is not None
    assert first.effective_clause.of(text) == "This local law takes effect immediately"


@pytest.mark.parametrize(
    ("code", "citation", "same"),
    [
        ("administrative code of the city of new york", "NYC Admin. Code § 28-105.8", True),
        ("new york city administrative code", "NYC Admin. Code § 28-105.8", True),
        ("new york city building code", "NYC Admin. Code § 28-105.8", False),
        ("administrative code of the city of new york", "28 RCNY § 105", False),
        ("", "Sec. 12-5", True),
    ],
)
def test_the_code_that_a_law_names_is_told_from_others(
    code: str, citation: str, same: bool
) -> None:
    place = ("new", "york", "ny")
    assert concerns(code.split(), (), citation=citation, path=(), place=place) is same


def test_a_section_lies_in_a_chapter_if_every_level_fits() -> None:
    path = ("Code", "Title 27: Construction", "Chapter 3: Electrical Code")
    for within, lies in ((("title 27", "chapter 3"), True), (("title 26", "chapter 3"), False)):
        assert concerns((), within, citation="§ 27-3001", path=path, place=()) is lies


# ------------------------------------------------------------------ worked in already


NEW = "§ 1.1 Fences. A fence shall not be higher than [four] six feet. No barbed wire is allowed in it."


@pytest.mark.parametrize(
    ("section", "held"),
    [
        ("A fence shall not be higher than six feet. No barbed wire is allowed in it.", True),
        ("A fence shall not be higher than four feet. No barbed wire is allowed in it.", False),
        ("A fence shall not be higher than six feet.", False),
        ("", False),
    ],
)
def test_a_law_is_worked_in_when_all_of_it_is_there(section: str, held: bool) -> None:
    assert incorporated(NEW, "1.1", section) is held


def test_a_law_is_not_worked_in_while_what_it_strikes_is_there() -> None:
    law = "§ 1.1 A fence is a wall of wood. [A hedge shall count as a fence of wood.]"
    text = "A fence is a wall of wood. A hedge shall count as a fence of wood."
    assert not incorporated(law, "1.1", text)
    assert not incorporated("", "1.1", text), "without new words nothing can be told"


# ------------------------------------------------------------------ days


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("immediately.", PASSED),
        ("120 days after it becomes law, except that", date(2024, 5, 30)),
        ("one hundred and twenty days after becoming law", date(2024, 5, 30)),
        ("thirty (30) days after its final passage", date(2024, 3, 1)),
        ("1 month after it becomes law", date(2024, 2, 29)),
        ("18 months after it becomes law", date(2025, 7, 31)),
        ("2 years after it becomes law", date(2026, 1, 31)),
        ("in 120 days.", date(2024, 5, 30)),
        ("on January 1, 2022", date(2022, 1, 1)),
        ("October 15, 2019, except", date(2019, 10, 15)),
        ("upon its adoption", PASSED),
    ],
)
def test_a_day_is_computed_from_the_clause(words: str, day: date) -> None:
    moment = moment_of(f" {words}", enacted=PASSED)
    assert (moment.day, moment.unknown) == (day, None)


@pytest.mark.parametrize(
    ("words", "enacted", "why"),
    [
        ("on the same date that a local law takes effect", PASSED, WITH_ANOTHER),
        ("on the same day as local law number 126 for the year 2021", PASSED, WITH_ANOTHER),
        ("90 days after the commissioner adopts a rule", PASSED, WITH_ANOTHER),
        ("30 days after it becomes law", None, NO_DAY_OF_LAW),
        ("immediately", None, NO_DAY_OF_LAW),
        ("when the moon is full", PASSED, "its clause gives no day"),
        ("on June 31, 2022", PASSED, "its clause gives no day"),
        ("999999 years after it becomes law", PASSED, "its clause gives no day"),
    ],
)
def test_a_day_that_cannot_be_computed_is_not_guessed(
    words: str, enacted: date | None, why: str
) -> None:
    moment = moment_of(f" {words}", enacted=enacted)
    assert (moment.day, moment.unknown) == (None, why)


def law(*clauses: str) -> str:
    body = "\n".join(
        f"§ {n}. Section 1.{n} of the Elm code is amended to read as follows:\nText {n}."
        for n in range(1, 5)
    )
    return body + "".join(f"\n§ {n}. {c}" for n, c in enumerate(clauses, start=5))


@pytest.mark.parametrize(
    ("clauses", "days"),
    [
        (["This local law takes effect immediately."], ["2024-01-31"] * 4),
        (
            [("This local law takes effect July 1, 2024, except that section two shall take effect "
             "immediately; and (ii) sections 3 and 4 of this local law take effect on January 1, 2025.")],
            ["2024-07-01", "2024-01-31", "2025-01-01", "2025-01-01"],
        ),
        (
            ["Sections one through three of this local law take effect 30 days after they become law.",
             "Section four of this local law takes effect on June 15, 2024."],
            ["2024-03-01", "2024-03-01", "2024-03-01", "2024-06-15"],
        ),
        (
            [("This local law takes effect immediately, except that section 1.2 of the Elm code, as "
             "amended by section two of this local law, takes effect 60 days after it becomes law.")],
            ["2024-01-31", "2024-03-31", "2024-01-31", "2024-01-31"],
        ),
        (
            [("This local law takes effect immediately, except that subdivision c of section 1.2 of the "
             "Elm code, as amended by section two of this local law, takes effect on May 1, 2025.")],
            ["2024-01-31"] * 4,
        ),
        (
            [("This ordinance shall take effect 30 days after adoption, except that section one of this "
             "ordinance expires and is deemed repealed on the day that another law takes effect.")],
            ["2024-03-01"] * 4,
        ),
        (["This act shall become effective on May 2, 2024."], ["2024-05-02"] * 4),
        (
            [("This local law takes effect immediately, except that section 1.2 of the Elm code, as "
             "amended by section three of this local law, takes effect 60 days after it becomes law.")],
            ["2024-01-31", "2024-03-31", "2024-01-31", "2024-01-31"],
        ),
        ([], [None] * 4),
    ],
)  # fmt: skip
def test_every_part_of_a_law_has_its_own_day(clauses: list[str], days: list[str | None]) -> None:
    found = amendments_of(law(*clauses), enacted=PASSED)
    assert [a.effective and a.effective.isoformat() for a in found] == days
    assert all((a.effective is None) == (a.undated is not None) for a in found)


def test_a_law_without_a_clause_says_so() -> None:
    assert {a.undated for a in amendments_of(law(), enacted=PASSED)} == {NOT_STATED}
    assert takes_effect(law(), enacted=PASSED) is None


def test_a_clause_that_the_law_quotes_from_another_law_is_not_its_own() -> None:
    text = (
        "§ 1. Section 1.1 of the Elm code is REPEALED.\n"
        "§ 2. Section 5 of local law 1 for the year 2018 is amended to read as follows:\n"
        "§ 5. This local law takes effect 270 days after it becomes a law.\n"
        "§ 3. This local law takes effect immediately.\n"
    )
    assert [a.effective for a in amendments_of(text, enacted=PASSED)] == [PASSED]


def test_a_law_applies_from_the_first_day_of_any_part() -> None:
    text = law("Section one of this local law takes effect on June 1, 2025.",
               "Section two of this local law takes effect on May 1, 2025.")  # fmt: skip
    assert takes_effect(text, enacted=PASSED) == date(2025, 5, 1)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("one hundred and three", 103),
        ("twenty-seven", 27),
        ("fourteen", 14),
        ("60", 60),
        ("ninety", 90),
    ],
)
def test_numbers_are_read_in_words_and_digits(words: str, number: int) -> None:
    assert number_of(words) == number


def test_lists_and_ranges_of_sections_are_read() -> None:
    assert ordinals("thirty-four, thirty-five, and 40 through forty-two") == {34, 35, 40, 41, 42}
    assert ordinals("one hundred and three") == {103}
    assert ordinals("9 through 3") == set()


_WORDS = st.sampled_from(
    ["Section", "§", "1.", "2.", "12-5", "section 12-6", "of the Elm code", "is amended", "REPEALED",
     "to read as follows:", "\n", "[", "]", "This local law takes effect", "immediately", "30 days after",
     "it becomes law", "chapter 3 of title 2", "as added by local law 4", ",", "and", "new", "\ufffd"]
)  # fmt: skip


@given(st.lists(_WORDS, max_size=60))
def test_spans_lie_in_the_law_whatever_it_says(words: list[str]) -> None:
    text = " ".join(words)
    for a in amendments_of(text, enacted=PASSED):
        assert a.clause.end <= a.matter.start <= a.matter.end <= len(text)
        assert a.clause.of(text).strip()
        assert (a.number is None) == bool(a.within)
        assert (a.effective is None) == (a.undated is not None)


# ------------------------------------------------------------------ New York's laws


@pytest.fixture(scope="session")
def enacted(
    law_records: Callable[..., list[dict[str, Any]]],
) -> list[tuple[str, tuple[Amendment, ...]]]:
    return [
        (
            r["LocalLaw"],
            amendments_of(r["Text"], enacted=date.fromisoformat(r["EnactmentDate"][:10])),
        )
        for r in law_records("code-nyc-local-laws/*.jsonl.zst")
    ]


def test_the_laws_of_new_york_are_read(enacted: list[tuple[str, tuple[Amendment, ...]]]) -> None:
    """Floors below what was measured (151 laws, 455 numbers of the administrative code, 779 dated)."""
    found = [a for _, amendments in enacted for a in amendments]
    own = {a.number for a in found if a.number and "administrative" in a.code}
    assert len(enacted) == 151
    assert len(own) >= 440
    assert sum(a.effective is not None for a in found) >= 0.93 * len(found)
    assert all(a.effective is None or a.effective.year >= 2018 for a in found)
