"""The pure parts of reading a PDF: words to lines, columns, cells, headings, and nothing lost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.formats.pdf_furniture import sweep
from appliance.formats.pdf_headings import Heading, Kind, Look, heading_of, levels, run_in
from appliance.formats.pdf_layout import reading_order
from appliance.formats.pdf_lines import (
    Box,
    Line,
    Rule,
    Word,
    line_of,
    rows_of,
    run_on,
    settled,
    words_known,
)
from appliance.formats.pdf_prose import Stretch, blocks_of, write
from appliance.formats.pdf_tables import Table, ruled_tables
from benchmarks.pdf import holds, longest_rise, order_of, words_of

BOLD = Look(bold=True, centred=False, lines=1, size=1.0)
PLAIN = Look(bold=False, centred=False, lines=1, size=1.0)
CENTRED = Look(bold=False, centred=True, lines=1, size=1.0)
LONG = Look(bold=False, centred=False, lines=4, size=1.0)


def word(text: str, x: float, y: float, *, size: float = 10, **how: bool) -> Word:
    box = Box(x0=x, y0=y - size, x1=x + 0.5 * size * len(text), y1=y)
    return Word(text=text, box=box, base=y, size=size, **how)


def rule(x: float, y: float, length: float, *, level: bool) -> Rule:
    wide, high = (length, 1) if level else (1, length)
    return Rule(x0=x, y0=y, x1=x + wide, y1=y + high)


# ------------------------------------------------------------------ nothing is lost

PLACES = st.tuples(st.integers(0, 580), st.integers(10, 780), st.sampled_from([6, 8, 10, 14]))
SCATTERED = st.lists(PLACES, max_size=120).map(
    lambda places: [word(f"w{i}", x, y, size=s) for i, (x, y, s) in enumerate(places)]
)
RULES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 78), st.booleans(), st.integers(6, 60)),
    max_size=40,
).map(lambda drawn: [rule(10 * x, 10 * y, 10 * n, level=level) for x, y, level, n in drawn])


def said(items: tuple[Line | Table, ...]) -> Counter[str]:
    """Return how often each word stands in some lines and tables, repeated cells once."""
    found: Counter[str] = Counter()
    for item in items:
        if isinstance(item, Line):
            found.update(w.text for w in item.words)
        else:
            cells = {c for row in item.rows for c in row} | {item.caption}
            found.update({w for cell in cells for w in cell.split()})
    return found


@given(SCATTERED, RULES)
def test_each_word_of_a_page_is_read_exactly_once(words: list[Word], rules: list[Rule]) -> None:
    tables, outside = ruled_tables(words, rules)
    order = reading_order(outside, tables)
    assert said(tuple(i for band in order for i in band.items)) == Counter(w.text for w in words)


@given(SCATTERED)
def test_rows_hold_each_word_once_and_go_down(words: list[Word]) -> None:
    rows = rows_of(words)
    assert Counter(w.text for r in rows for w in r) == Counter(w.text for w in words)
    tops = [min(w.base for w in r) for r in rows]
    assert tops == sorted(tops)


@given(st.lists(SCATTERED, min_size=1, max_size=4))
def test_the_spans_of_pages_follow_one_another_in_the_body(pages: list[list[Word]]) -> None:
    stretches = [
        Stretch(page=number, items=band.items)
        for number, words in enumerate(pages, start=1)
        for band in reading_order(words, ())
    ]
    written = write(blocks_of(stretches), len(pages))
    assert len(written.pages) == len(pages)
    assert all(s.end <= len(written.body) for s in written.pages)
    ends = [0, *(s.end for s in written.pages)]
    assert all(before <= s.start for before, s in zip(ends, written.pages, strict=False))


@given(st.lists(SCATTERED, max_size=6))
def test_furniture_is_left_out_and_nothing_is_added(pages: list[list[Word]]) -> None:
    swept = sweep(pages, [792.0] * len(pages))
    for before, after in zip(pages, swept.pages, strict=True):
        assert not Counter(w.text for w in after) - Counter(w.text for w in before)


# ------------------------------------------------------------------ lines


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("a regu-", "lation", "a regu\u00adlation"),
        ("the R-", "1 district", "the R-1 district"),
        ("§ 60-", "200", "§ 60-200"),
        ("a fee -", "payable now", "a fee - payable now"),
        ("and/", "or", "and/or"),
        ("must be—", "paid", "must be—paid"),
        ("a fence", "is", "a fence is"),
        ("", "is", "is"),
    ],
)
def test_two_lines_run_on(before: str, after: str, joined: str) -> None:
    assert run_on(before, after) == joined


@pytest.mark.parametrize(
    ("text", "document", "read_as"),
    [
        ("regu\u00adlation", "", "regulation"),
        ("set\u00adback", "each set-back of a lot", "set-back"),
        ("set\u00adback", "each setback, not a set-back", "setback"),
        ("two\u00adwire", "", "two-wire"),
        ("non\u00adconforming", "a nonconforming use", "nonconforming"),
    ],
)
def test_a_doubtful_hyphen_is_settled_by_the_document(
    text: str, document: str, read_as: str
) -> None:
    assert settled(text, words_known([document])) == read_as


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([word("lot", 0, 20), word("3", 15, 15, size=6, glued=True)], "lot[^3]"),
        ([word("50", 0, 20), word("m", 12, 20), word("2", 18, 15, size=6, glued=True)], "50 m²"),
        ([word("SO", 0, 20), word("4", 11, 22, size=6, glued=True)], "SO4"),
    ],
)
def test_a_raised_number_is_a_note_or_a_power(words: list[Word], text: str) -> None:
    assert line_of(words).text == text


# ------------------------------------------------------------------ headings


@pytest.mark.parametrize(
    ("text", "look", "kind"),
    [
        ("ARTICLE II", CENTRED, Kind.CONTAINER),
        ("Chapter A200 PENALTIES", BOLD, Kind.CONTAINER),
        ("CHAPTER 3: RESPONSIBILITIES OF CONSUMERS", PLAIN, Kind.CONTAINER),
        ("SCHEDULE 2", CENTRED, Kind.ANNEX),
        ("Appendix B. Fee schedule", BOLD, Kind.ANNEX),
        ("§ 60-200. Pets and other animals.", BOLD, Kind.SECTION),
        ("Sec. 29. Street openings", PLAIN, Kind.SECTION),
        ("2. Application of this by-law", BOLD, Kind.SECTION),
        ("GAS PIPING AND GAS APPLIANCES", CENTRED, Kind.BANNER),
        ("Power cables and conduits to signs", BOLD, Kind.CAPTION),
        ("2. Application of this by-law", PLAIN, None),
        ("Chapter 40A of the General Laws", PLAIN, None),
        ("Section 5, paragraph 2", PLAIN, None),
        ("CHAPTER I General Provisions.................Page 3", BOLD, None),
        ("[Adopted as Art. 1 of the 1981 Bylaws]", BOLD, None),
        ("(Amended 7/2000)", BOLD, None),
        ("Added July 2017. (AG approved June 29, 2017)", BOLD, None),
        ("The fee is due on the first day of each month of the year.", BOLD, None),
        ("No person shall keep a rooster", PLAIN, None),
        ("27", BOLD, None),
    ],
)
def test_a_block_is_a_heading_by_its_words_and_its_looks(
    text: str, look: Look, kind: Kind | None
) -> None:
    heading = heading_of(text, look)
    assert (heading.kind if heading else None) is kind


@pytest.mark.parametrize(
    ("text", "bold", "head"),
    [
        ("Section 2: The annual meeting is held in March.", "", "Section 2:"),
        ("§ 5. Fees. A fee is due.", "§ 5. Fees.", "§ 5. Fees."),
        ("Sec. 4 of the act applies here.", "", ""),
        ("Section 156 of the Constitution applies.", "", ""),
        ("The fee is due.", "", ""),
    ],
)
def test_a_heading_at_the_head_of_its_text_is_told(text: str, bold: str, head: str) -> None:
    assert text[: run_in(text, bold)] == head


def containers(*words: str) -> list[Heading]:
    return [Heading(kind=Kind.CONTAINER, word=w) for w in words]


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (containers("title", "chapter", "article"), [1, 2, 3]),
        (containers("part", "chapter", "chapter", "part", "chapter"), [1, 2, 2, 1, 2]),
        (containers("chapter", "part", "part", "chapter", "part"), [1, 2, 2, 1, 2]),
        ([*containers("chapter"), Heading(kind=Kind.SECTION)], [1, 2]),
        (
            [*containers("chapter"), Heading(kind=Kind.BANNER), Heading(kind=Kind.SECTION)],
            [1, 2, 3],
        ),
        ([Heading(kind=Kind.SECTION), Heading(kind=Kind.ANNEX)], [1, 1]),
        ([], []),
    ],
)
def test_levels_follow_the_nesting_of_the_document(
    headings: list[Heading], expected: list[int]
) -> None:
    assert levels(headings) == expected


# ------------------------------------------------------------------ the benchmark's scores


@pytest.mark.parametrize(
    ("places", "length"), [([], 0), ([1, 2, 3], 3), ([3, 1, 2], 2), ([3, 2, 1], 1)]
)
def test_the_longest_rise(places: list[int], length: int) -> None:
    assert longest_rise(places) == length


def test_text_out_of_order_is_found_but_not_in_order() -> None:
    truth = [f"w{i}" for i in range(100)]
    swapped = truth[50:] + truth[:50]
    right, wrong = order_of(truth, truth), order_of(truth, swapped)
    assert (right.found, right.in_order) == (1.0, 1.0)
    assert wrong.found == pytest.approx(92 / 96)
    assert wrong.in_order == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "fact", "held"),
    [
        ("| 60-115 | Violation | $300 |", "60-115 Violation $300", True),
        ("the ofﬁce of the clerk", "the office of the clerk", True),
        ("a fence[^2] is", "a fence is", True),
        ("a fence is not", "a fence is no", False),
        ("is a fence", "a fence is", False),
    ],
)
def test_a_fact_is_held_by_its_words_in_order(text: str, fact: str, *, held: bool) -> None:
    assert holds(words_of(text), words_of(fact)) is held
