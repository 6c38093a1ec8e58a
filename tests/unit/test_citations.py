"""A citation exists only if its quote stands in the stored text."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from appliance.answers.citations import judge, locate, long_enough, prove, quotes_in
from appliance.domain import (
    Citation,
    CityId,
    Digest,
    Passage,
    SectionId,
    Span,
    Standing,
    StoredSection,
    Verdict,
)

TODAY = date(2026, 7, 1)
TEXT = (
    "No troll shall build a bridge over 2.5 feet high without a permit; the fee is $1,000. "
    "The owner\u2019s \u201cgoat\u201d shall keep off non-conforming bridges\u2014the city may fine a troll."
)


def section(
    text: str = TEXT,
    *,
    number: int = 1,
    city: str = "troll-bridge-xx",
    citation: str = "Sec. 1-1",
    standing: Standing = Standing.IN_FORCE,
    effective_from: date | None = None,
    effective_until: date | None = None,
) -> StoredSection:
    return StoredSection(
        id=SectionId(number),
        city=CityId(city),
        external_id=str(number),
        citation=citation,
        number="1-1",
        heading="Bridges",
        path=(),
        standing=standing,
        version=Digest("0" * 64),
        effective_from=effective_from,
        effective_until=effective_until,
        text=text,
    )


def passage(of: StoredSection) -> Passage:
    span = Span(start=0, end=len(of.text))
    return Passage(label="1", section=of, span=span, score=1, similarity=1, legs=("dense",))


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("shall build a bridge", TEXT, "shall build a bridge"),
        (TEXT, TEXT, TEXT),
        ('The owner\'s "goat" shall', TEXT, "The owner\u2019s \u201cgoat\u201d shall"),
        ("bridges-the city may", TEXT, "bridges\u2014the city may"),
        ("the city may fine", TEXT, "the city may fine"),
        ("The city may fine", TEXT, "the city may fine"),
        ("the owner's", TEXT, "The owner\u2019s"),
        ("without a permit.", TEXT, "without a permit"),
        ("without a permit;", TEXT, "without a permit;"),
        ("without a\n  permit", TEXT, "without a permit"),
        ("  without a permit  ", TEXT, "without a permit"),
        ("the fee is $1,000", TEXT, "the fee is $1,000"),
        ("over 2.5 feet", TEXT, "over 2.5 feet"),
        ("two words here", "per two\u00a0\n words here", "two\u00a0\n words here"),
        ("permit required", "a per\u00admit re\u200bquired", "per\u00admit re\u200bquired"),
        ("28-105.9", "§ 28\u2011105.9.", "28\u2011105.9"),
        ("a fence (6 feet)", "a fence (6 feet) high", "a fence (6 feet)"),
        ("permit", "permits and a permit", "permit"),
        ("goat", "goat", "goat"),
    ],
)
def test_a_quote_is_found_where_it_stands(quote: str, text: str, found: str) -> None:
    span = locate(quote, text)
    assert span is not None
    assert span.of(text) == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", TEXT),
        (" \u00ad ", TEXT),
        (".,;", "abc"),
        ("may build a bridge", TEXT),
        ("build the bridge", TEXT),
        ("over 3.5 feet high", TEXT),
        ("shall Build a bridge", TEXT),
        ("SHALL BUILD A BRIDGE", TEXT),
        ("the fee is $1,001", TEXT),
        ("a permit", "two permits: a permitted use"),
        ("ermit is needed", "a permit is needed"),
        # A part of a number is another number.
        ("5 feet high", TEXT),
        ("over 2", TEXT),
        ("over 2.", TEXT),
        ("the fee is $1", TEXT),
        ("000", TEXT),
        ("section 28-105", "see section 28-105.9 for"),
        ("105.9 for", "see section 28-105.9 for"),
        ("2 inch", "a 1/2 inch pipe"),
        ("60 days after", "30-60 days after"),
        ("is 3", "is 3½ feet"),
        # So is a part of a compound another word.
        ("conforming bridges", TEXT),
        ("The owner", TEXT),
        ("caf", "cafe\u0301"),
        ("the cafe", "the cafe\u0301"),
        ("a per", "a per\u00admit"),
        ("a per", "a per" + "\u200b" * 40 + "mit"),
        ("5 for each", "$5 for each"),
        ("at most 5", "at most 5% of it"),
    ],
)
def test_a_changed_quote_is_not_found(quote: str, text: str) -> None:
    assert locate(quote, text) is None


WORD = st.sampled_from(
    [
        *("the", "a", "permit", "fence", "shall", "not", "be", "6", "2.5", "$1,000", "feet"),
        *("lot;", "City", "(a)", "28-105.9", "\u201cyard\u201d", "owner\u2019s", "\u2014"),
    ]
)
BLANK = st.sampled_from([" ", "\n", "  ", "\u00a0", "\r\n\t"])


def same(text: str) -> str:
    """Return a text as quotes are compared, written anew."""
    text = re.sub("[\u00ad\u200b]", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    for mark, alike in (("\u201c\u201d", '"'), ("\u2019", "'"), ("\u2014\u2011", "-")):
        text = re.sub(f"[{mark}]", alike, text)
    return text


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, str]:
    words = draw(st.lists(WORD, min_size=4, max_size=25))
    text = "".join(w + draw(BLANK) for w in words)
    first = draw(st.integers(0, len(words) - 3))
    last = draw(st.integers(first + 3, len(words)))
    return text, draw(BLANK).join(words[first:last])


@given(windows())
def test_any_window_of_words_is_found_as_it_stands(case: tuple[str, str]) -> None:
    text, window = case
    for quote in (window, same(window)):
        span = locate(quote, text)
        assert span is not None
        found = same(span.of(text))
        assert found == same(window) or found == same(window).rstrip(".,;: ")


@given(windows(), st.data())
def test_a_changed_character_is_found_only_if_the_change_stands_there(
    case: tuple[str, str], data: st.DataObject
) -> None:
    text, window = case
    places = [i for i, c in enumerate(window) if c.isalnum() and i > 0]
    assume(places)
    at = data.draw(st.sampled_from(places))
    new = data.draw(st.sampled_from("abzQ079"))
    changed = window[:at] + new + window[at + 1 :]
    span = locate(changed, text)
    if span is not None:
        found, wanted = same(span.of(text)), same(changed).rstrip(".,;: ")
        assert found[1:].rstrip(".,;: ") == wanted[1:]
        assert found[0].casefold() == wanted[0].casefold()


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_are_compared_without_an_error(quote: str, text: str) -> None:
    span = locate(quote, text)
    if span is not None:
        assert 0 < len(span) <= len(text)
        assert locate(span.of(text), text) is not None


def test_looking_takes_linear_time() -> None:
    """Four times the text takes about four times as long; 16 times would be quadratic."""
    quarter, whole = _looked(1), _looked(4)
    assert whole < 9 * quarter


def _looked(times: int) -> float:
    """Return the seconds of processor time that looking takes, the least of three."""
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        locate("permits permits permit", "permits " * (1_500 * times))
        locate("a" * 1000, "a" * (12_500 * times))
        locate(" " * (12_500 * times), "\u00ad" * (12_500 * times))
        locate("1." * 50, "1." * (6_250 * times))
        quotes_in('"' * (12_500 * times))
        seconds.append(time.process_time() - begin)
    return min(seconds)


@pytest.mark.parametrize(
    ("quote", "enough"),
    [
        ("a permit is needed", True),
        ("no fence here", True),
        ("a is b", False),
        ("permit needed", False),
        ("permitrequired", False),
        ("", False),
        (" . . . . . . . . ", False),
    ],
)
def test_few_words_prove_nothing(quote: str, enough: bool) -> None:
    assert long_enough(quote) is enough


# ------------------------------------------------------------------ prove


def test_what_is_proven_is_the_stored_text() -> None:
    stored = section()
    citation = prove(
        stored,
        'the owner\'s "goat" shall keep',
        as_of=TODAY,
        retrieved=[passage(stored)],
        legs=("dense",),
    )
    assert isinstance(citation, Citation)
    assert citation.quote == "The owner\u2019s \u201cgoat\u201d shall keep"
    assert citation.legs == ("dense",)


GOOD, BAD, SHORT = "shall build a bridge", "shall burn a bridge", "a bridge"
OTHER = "A goat shall not cross a bridge at night without a lamp."


@pytest.mark.parametrize(
    ("stored", "quote", "retrieved", "verdict"),
    [
        (section(standing=Standing.REPEALED), GOOD, [], Verdict.REPEALED),
        (section(standing=Standing.RESERVED), SHORT, [], Verdict.REPEALED),
        (section(effective_from=date(2027, 1, 1)), BAD, [], Verdict.NOT_YET_IN_FORCE),
        (
            section(effective_from=date(2027, 1, 1), standing=Standing.REPEALED),
            GOOD,
            None,
            Verdict.REPEALED,
        ),
        (section(effective_until=TODAY), GOOD, None, Verdict.REPEALED),
        (section(), GOOD, [], Verdict.UNRETRIEVED),
        (section(), SHORT, [passage(section(number=2))], Verdict.UNRETRIEVED),
        (section(), SHORT, None, Verdict.UNSUPPORTED),
        (section(), "", None, Verdict.UNSUPPORTED),
        (section(), BAD, None, Verdict.MISQUOTED),
        (section(), BAD, [passage(section())], Verdict.MISQUOTED),
        (section(), Span(start=0, end=len(TEXT) + 1), None, Verdict.MISQUOTED),
        (section(), Span(start=3, end=3), None, Verdict.MISQUOTED),
        # Another passage says it: the wrong section is cited.
        (
            section(),
            OTHER,
            [passage(section()), passage(section(OTHER, number=2))],
            Verdict.WRONG_SECTION,
        ),
        (
            section(),
            OTHER,
            [passage(section()), passage(section(OTHER, number=2, effective_until=TODAY))],
            Verdict.MISQUOTED,
        ),
    ],
)
def test_the_first_thing_that_is_wrong_is_the_verdict(
    stored: StoredSection, quote: str | Span, retrieved: list[Passage] | None, verdict: Verdict
) -> None:
    assert prove(stored, quote, as_of=TODAY, retrieved=retrieved) is verdict


def test_a_section_counts_on_its_first_day_and_not_on_its_last() -> None:
    stored = section(effective_from=TODAY, effective_until=date(2026, 7, 2))
    assert isinstance(prove(stored, GOOD, as_of=TODAY, retrieved=None), Citation)
    assert prove(stored, GOOD, as_of=date(2026, 7, 2), retrieved=None) is Verdict.REPEALED
    early = prove(stored, GOOD, as_of=date(2026, 6, 30), retrieved=None)
    assert early is Verdict.NOT_YET_IN_FORCE


def test_a_section_of_another_city_proves_nothing() -> None:
    found = prove(section(), GOOD, as_of=TODAY, retrieved=None, city=CityId("goat-hill-xx"))
    assert found is Verdict.WRONG_CITY
    own = prove(section(), GOOD, as_of=TODAY, retrieved=None, city=CityId("troll-bridge-xx"))
    assert isinstance(own, Citation)


def test_a_citation_cannot_be_built_with_another_quote() -> None:
    with pytest.raises(ValueError, match="must be the text at its span"):
        Citation(section=section(), span=Span(start=0, end=8), quote="No goat!")


# ------------------------------------------------------------------ judge


PLACE = ("troll", "bridge", "xx")
NESTED = 'The term "troll" means any person who lives under a bridge.'


def verdict(
    citation: str,
    claim: str,
    here: Sequence[StoredSection] = (),
    elsewhere: Sequence[StoredSection] = (),
) -> tuple[Verdict, int | None]:
    found = judge(citation, claim, place=PLACE, here=here, elsewhere=elsewhere, as_of=TODAY)
    return found.verdict, found.section.id if found.section else None


HERE = section(citation="Trollville Code § 1-1")
REPEALED = section(number=2, standing=Standing.REPEALED)
STRANGER = section(OTHER, number=9, city="goat-hill-xx", citation="GHMC § 1-1")


@pytest.mark.parametrize(
    ("citation", "claim", "here", "elsewhere", "expected"),
    [
        ("Sec. 1-1", f'It says "{GOOD}".', [HERE], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f"It says \u201c{GOOD}\u201d.", [HERE], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f'It says "{BAD}".', [HERE], [], (Verdict.MISQUOTED, 1)),
        ("Sec. 1-1", f'"{GOOD}" and "{BAD}"', [HERE], [], (Verdict.MISQUOTED, 1)),
        ("Sec. 1-1", f'"{GOOD}" and "the fee is $1,000"', [HERE], [], (Verdict.PROVEN, 1)),
        # A short quote proves nothing, but it can be false.
        ("Sec. 1-1", f'"{GOOD}" of "nine feet"', [HERE], [], (Verdict.MISQUOTED, 1)),
        ("Sec. 1-1", f'"{GOOD}" over "2.5 feet"', [HERE], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", "A permit is needed.", [HERE], [], (Verdict.UNSUPPORTED, 1)),
        ("Sec. 1-1", 'A "permit" is needed.', [HERE], [], (Verdict.UNSUPPORTED, 1)),
        ("Sec. 1-1", 'An odd " mark', [HERE], [], (Verdict.UNSUPPORTED, 1)),
        ("Sec. 1-1", "", [HERE], [], (Verdict.UNSUPPORTED, 1)),
        ("Sec. 9-9", "Anything.", [], [], (Verdict.PHANTOM, None)),
        ("Sec. 9-9", f'"{GOOD}"', [], [], (Verdict.PHANTOM, None)),
        ("Sec. 1-1", "Anything.", [REPEALED], [], (Verdict.REPEALED, 2)),
        # Repealed sections keep their text.
        ("Sec. 1-1", f'"{GOOD}"', [REPEALED], [], (Verdict.REPEALED, 2)),
        ("Sec. 1-1", f'"{BAD}"', [REPEALED], [], (Verdict.REPEALED, 2)),
        ("Sec. 1-1", f'"{GOOD}"', [REPEALED, HERE], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f'"{BAD}"', [REPEALED, HERE], [], (Verdict.MISQUOTED, 1)),
        ("Sec. 1-1", "Anything.", [REPEALED, HERE], [], (Verdict.UNSUPPORTED, 1)),
        # Several records with one number: one that holds the quote is enough.
        ("Sec. 1-1", f'"{GOOD}"', [section(OTHER, number=3), HERE], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f'"{OTHER}"', [section(OTHER, number=3), HERE], [], (Verdict.PROVEN, 3)),
        # Another city's words, or another city's code.
        ("Sec. 1-1", f'"{OTHER}"', [HERE], [STRANGER], (Verdict.WRONG_CITY, 9)),
        ("Sec. 1-1", f'"{GOOD}"', [HERE], [STRANGER], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f'"{BAD}"', [HERE], [STRANGER], (Verdict.MISQUOTED, 1)),
        ("Sec. 1-1", "Anything.", [HERE], [STRANGER], (Verdict.UNSUPPORTED, 1)),
        ("Sec. 1-1", "Anything.", [], [STRANGER], (Verdict.WRONG_CITY, 9)),
        ("GHMC § 1-1", "Anything.", [HERE], [STRANGER], (Verdict.WRONG_CITY, 9)),
        ("Goat Hill Municipal Code 1-1", f'"{GOOD}"', [HERE], [STRANGER], (Verdict.WRONG_CITY, 9)),
        ("Trollville Code § 1-1", f'"{GOOD}"', [HERE], [STRANGER], (Verdict.PROVEN, 1)),
        # A quote that itself holds quotation marks.
        ("Sec. 1-1", f'It says "{NESTED}"', [section(NESTED)], [], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f"It says \u201c{NESTED}\u201d", [section(NESTED)], [], (Verdict.PROVEN, 1)),
    ],
)
def test_a_persons_citation_is_judged(
    citation: str,
    claim: str,
    here: list[StoredSection],
    elsewhere: list[StoredSection],
    expected: tuple[Verdict, int | None],
) -> None:
    assert verdict(citation, claim, here, elsewhere) == expected


@pytest.mark.parametrize(
    ("claim", "readings"),
    [
        ('"a" and "b"', [["a", "b"], ['a" and "b']]),
        # What stands between two pairs is quoted, too, where the marks do not close.
        (
            '"No troll shall build "any tower" over 2.5 feet"',
            [['No troll shall build "any tower" over 2.5 feet']],
        ),
        ("\u201cbuild \u201cany tower\u201d over\u201d", [["build \u201cany tower\u201d over"]]),
        ('one "', []),
        ('the "term" of it', [["term"]]),
        ('"a) and "b" c of d"', [['a) and "b" c of d']]),
        ('"a)" and "b" c of d"', [['a)" and "b" c of d']]),
        ('6" high: "a b c"', [["a b c"]]),
        ('"a) and "b c of 4"', [['a) and "b c of 4']]),
    ],
)
def test_quotes_are_read_in_pairs_only_where_the_marks_open_and_close(
    claim: str, readings: list[list[str]]
) -> None:
    assert quotes_in(claim) == readings


THIRD = section(OTHER, number=5, citation="Trollville Code § 7-3")


@pytest.mark.parametrize(
    ("citation", "claim", "here", "others", "expected"),
    [
        ("Sec. 1-1", f'"{OTHER}"', [HERE], [THIRD], (Verdict.WRONG_SECTION, 5)),
        ("Sec. 1-1", f'"{GOOD}"', [HERE], [THIRD], (Verdict.PROVEN, 1)),
        ("Sec. 1-1", f'"{BAD}"', [HERE], [THIRD], (Verdict.MISQUOTED, 1)),
        # A number that does not exist stays one, whatever stands elsewhere.
        ("Sec. 1-9", f'"{OTHER}"', [], [THIRD], (Verdict.PHANTOM, None)),
        # A section that is gone is no better place for the quote.
        (
            "Sec. 1-1",
            f'"{OTHER}"',
            [HERE],
            [section(OTHER, number=5, effective_until=TODAY)],
            (Verdict.MISQUOTED, 1),
        ),
        # Of several versions the one in force is judged; the one that holds the quote is named.
        (
            "Sec. 1-1",
            f'"{OTHER}"',
            [HERE, section(OTHER, number=6, effective_from=date(2027, 1, 1))],
            [],
            (Verdict.NOT_YET_IN_FORCE, 6),
        ),
        (
            "Sec. 1-1",
            f'"{OTHER}"',
            [HERE, section(OTHER, number=6, effective_until=date(2020, 1, 1))],
            [],
            (Verdict.REPEALED, 6),
        ),
        (
            "Sec. 1-1",
            "Anything.",
            [section(effective_from=date(2027, 1, 1))],
            [],
            (Verdict.NOT_YET_IN_FORCE, 1),
        ),
    ],
)
def test_a_quote_that_stands_elsewhere_in_the_city_is_told_apart(
    citation: str,
    claim: str,
    here: list[StoredSection],
    others: list[StoredSection],
    expected: tuple[Verdict, int | None],
) -> None:
    found = judge(citation, claim, place=PLACE, here=here, elsewhere=[], others=others, as_of=TODAY)
    assert (found.verdict, found.section.id if found.section else None) == expected
    assert (found.why is None) is (found.verdict is Verdict.PROVEN)


def test_a_citation_that_names_another_city_is_of_that_city() -> None:
    found = judge(
        "Goat Hill Municipal Code § 1-1",
        f'"{GOOD}"',
        place=PLACE,
        here=[HERE],
        elsewhere=[],
        as_of=TODAY,
        foreign=True,
    )
    assert found.verdict is Verdict.WRONG_CITY


@given(st.text(), st.text())
def test_any_claim_is_judged(citation: str, claim: str) -> None:
    found, _ = verdict(citation, claim, [HERE, REPEALED], [STRANGER])
    assert found is not Verdict.PROVEN or any(len(q) > 11 for r in quotes_in(claim) for q in r)
