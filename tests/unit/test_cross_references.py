"""What law text mentions of the law: sections, chapters, ordinances, and the law of others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.cross_references import mentions_in, mentions_of
from appliance.corpus.law_names import Body, body_of, enactment_of
from appliance.domain import Section, Span


def found(text: str) -> list[tuple[str, str, str]]:
    return [(m.span.of(text), m.kind, m.number) for m in mentions_in(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Section 28-118.4.", [("Section 28-118.4", "section", "28-118.4")]),
        (
            "§§ 12-1, 12-2(a) and (b) and 12-5 through 12-9 apply",
            [
                ("§§ 12-1", "section", "12-1"),
                ("12-2(a) and (b)", "section", "12-2"),
                ("12-5", "section", "12-5"),
                ("12-9", "section", "12-9"),
            ],
        ),
        (
            "sections 3-1623 [repealed], 3-1711 and 3-2019",
            [
                ("sections 3-1623", "section", "3-1623"),
                ("3-1711", "section", "3-1711"),
                ("3-2019", "section", "3-2019"),
            ],
        ),
        ("§ 6‑1405.01(a)", [("§ 6‑1405.01(a)", "section", "6-1405.01")]),
        (
            "Table 9.1.1 and Table N1",
            [("Table 9.1.1", "table", "9.1.1"), ("Table N1", "table", "n1")],
        ),
        ("Chapter 5 of Title 17", [("Chapter 5 of Title 17", "chapter", "5")]),
        ("Title 17, Chapter 5", [("Title 17, Chapter 5", "chapter", "5")]),
        (
            "chapter twenty-one of title two-A",
            [("chapter twenty-one of title two-A", "chapter", "21")],
        ),
        ("Article II of this chapter", [("Article II of this chapter", "article", "ii")]),
        ("under this article", [("this article", "relative", "")]),
        ("subsection (b)", [("subsection (b)", "relative", "")]),
        ("paragraph (2) of subsection (a)", [("paragraph (2) of subsection (a)", "relative", "")]),
        ("the preceding section", [("the preceding section", "relative", "preceding")]),
        (
            "subdivision a of section 28-105.1",
            [("subdivision a of section 28-105.1", "section", "28-105.1")],
        ),
        ("subject to § 5; and\n(b) (2) the lot", [("§ 5", "section", "5")]),
    ],
)
def test_parts_of_the_own_code_are_found(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "law"),
    [
        ("Code of Virginia § 15.2-2200", "state", "Code of Virginia"),
        ("Code of Virginia (1950), as amended, § 15.2-2200", "state", "Code of Virginia (1950)"),
        ("Va. Code § 15.2-2200", "state", "Va. Code"),
        ("§ 15.2-2200 of the Code of Virginia", "state", "the Code of Virginia"),
        ("T.C.A. § 13-7-201", "state", "T.C.A."),
        ("M.G.L. c. 40A, § 6", "state", "M.G.L."),
        ("SDCL 11-4", "state", "SDCL"),
        ("Utah Code 10-9a", "state", "Utah Code"),
        ("Gov. Code § 65852.2", "state", "Gov. Code"),
        ("Health and Safety Code section 17958", "state", "Health and Safety Code"),
        ("§ 226-b of the Real Property Law", "state", "the Real Property Law"),
        ("article two-B of the general city law", "state", "the general city law"),
        ("42 U.S.C. § 1983", "federal", "42 U.S.C."),
        ("24 CFR 100", "federal", "24 CFR"),
        ("section 501(c)(3) of the Internal Revenue Code", "federal", "the Internal Revenue Code"),
        ("Pub. L. 93-198", "federal", "Pub. L. 93-198"),
        ("section 5 of the Housing Act of 1937", "act", "the Housing Act of 1937"),
        ("Code 1985, § 32-1", "former", "Code 1985"),
        ("prior code § 109.14", "former", "prior code"),
        ("Ord. No. 1234, § 1", "ordinance", "Ord. No. 1234"),
        ("Ordinance 2020-14", "ordinance", "Ordinance 2020-14"),
        ("Ord. of 7-20-1970, § 2-7(1)", "ordinance", "Ord. of 7-20-1970"),
        ("Local Law 126 of 2021", "ordinance", "Local Law 126 of 2021"),
        ("§ 2 of D.C. Law 10-236", "ordinance", "D.C. Law 10-236"),
        ("47 DCR 8057", "ordinance", "47 DCR 8057"),
        ("35 RCNY § 58-18", "section", "35 RCNY"),
        ("NYC Admin. Code § 28-105", "section", "NYC Admin. Code"),
        ("section 27-1 of the administrative code", "section", "the administrative code"),
    ],
)
def test_a_citation_bears_the_name_of_its_law(text: str, kind: str, law: str) -> None:
    (mention,) = mentions_in(text)
    assert (mention.kind, mention.law, mention.span.of(text)) == (kind, law, text)


def test_a_list_is_of_one_law() -> None:
    text = "as 42 U.S.C. § 1983 and § 1985, Code of Virginia §§ 15.2-2200 and 15.2-2201 say"
    assert [m.kind for m in mentions_in(text)] == ["federal", "federal", "state", "state"]
    other = "as 18 U.S.C. § 922(g) and § 22-4501 say"
    assert [m.kind for m in mentions_in(other)] == ["federal", "section"]
    before = "Sections 6366 and 6366.1 of the Revenue and Taxation Code"
    assert [(m.number, m.kind) for m in mentions_in(before)] == [
        ("6366", "state"),
        ("6366.1", "state"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "c. A person shall pay",
        "chapter six hundred fifty-eight of the laws",
        "parts of the wall",
        "each dwelling unit 0.50",
        "THE CODE IN FORCE",
        "10 feet by 12-1/2 feet",
        "",
    ],
)
def test_what_only_looks_like_a_mention_is_none(text: str) -> None:
    assert mentions_in(text) == []


def test_an_ordinance_does_not_reach_over_the_end_of_its_line() -> None:
    text = "D.C. Law 20-76\n§ 401 of D.C. Law 20-77"
    assert [m.law for m in mentions_in(text)] == ["D.C. Law 20-76", "D.C. Law 20-77"]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("Code of the City of Richmond", Body.NAMED),
        ("New York City Administrative Code", Body.NAMED),
        ("D.C. Official Code", Body.NAMED),
        ("New York State Penal Law", Body.STATE),
        ("Tenn. Code Ann.", Body.STATE),
        ("Business and Professions Code", Body.STATE),
        ("G. L.", Body.STATE),
        ("United States Code", Body.FEDERAL),
        ("Code 2004", Body.FORMER),
        ("the Fair Labor Standards Act", Body.ACT),
    ],
)
def test_the_name_tells_whose_law_it_is(name: str, body: Body) -> None:
    assert body_of(name) is body


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("Local Law 126 of 2021", "local law 126 of 2021"),
        ("local law number 126 for the year 2021", "local law 126 of 2021"),
        ("L.L. 2021/126", "local law 126 of 2021"),
        ("Ord. No. 2020-14", "ordinance 2020-14"),
        ("Ordinance 2020-14", "ordinance 2020-14"),
        ("NYC Admin. Code § 28-105", ""),
    ],
)
def test_an_enactment_has_one_form(written: str, form: str) -> None:
    assert enactment_of(written) == form


def test_spans_of_sections_count_in_the_body() -> None:
    body = "x\nSee § 12-1.\ny\nSee § 12-2."
    sections = [
        Section(external_id=str(i), citation="", number=None, heading="", path=(), span=span)
        for i, span in enumerate([Span(start=2, end=14), Span(start=16, end=len(body))])
    ]
    assert [(i, m.span.of(body)) for i, m in mentions_of(body, sections)] == [
        (0, "§ 12-1"),
        (1, "§ 12-2"),
    ]


PIECES = st.one_of(
    st.sampled_from(
        ["§ ", "§§ ", "Section ", "sections ", "Sec. ", "Chapter 5", "Title ", "c. 40A"]
    ),
    st.sampled_from(
        ["12-1", "28-105.9", "17.102.130", "(a)", "(b)(2)", "II", "A", "Table 9.1", "𝕊"]
    ),
    st.sampled_from([" and ", " through ", ", ", "; ", "\n", " of ", "the ", "[", "]", "é"]),
    st.sampled_from(["this chapter", "this ", "the preceding section", "subsection (b)"]),
    st.sampled_from(
        [" Code", "Va. Code ", "42 U.S.C. ", "Ord. No. 7", "D.C. Law 10-2", "Code of Virginia"]
    ),
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_mentions_lie_apart_and_in_order_and_in_the_text(text: str) -> None:
    end = 0
    for mention in mentions_in(text):
        assert end <= mention.span.start < mention.span.end <= len(text)
        end = mention.span.end
        assert mention.span.of(text).strip()


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for mention in mentions_in(text):
        assert mention.span.of(text)


@pytest.mark.parametrize(
    "piece",
    [
        "§ 12-1, ",
        "sections 1-2 and 3-4 ",
        "section 1 of the ",
        "this chapter of ",
        "A" * 1000,
        "Code of Virginia ",
        "(a)",
        "Title 1, Chapter 2, ",
        "a b c d e f g h i j k l m n o p code ",
        "Ord. No. 1, § 1; ",
        "-1" * 50,
        "§",
    ],
)
def test_time_grows_with_the_text_only(piece: str) -> None:
    """2.4 million characters, the longest law of the corpus, are read in seconds."""
    times = []
    for size in (100_000, 400_000):
        text = piece * (size // len(piece))
        began = time.process_time()
        mentions_in(text)
        times.append(time.process_time() - began)
    assert times[1] < max(8 * times[0], 1.0)


def test_the_links_of_the_dc_code_are_found(
    law_records: Callable[..., list[dict[str, Any]]],
) -> None:
    """Its publisher links 24,668 references; here a sample of the titles that were not developed on."""
    written, seen = 0, 0
    for record in law_records("code-dc/sections-building.jsonl.zst", every=7):
        numbers = {m.number for m in mentions_in(record["text"])}
        for link in record.get("refs") or ():
            number = link.lstrip("§").split("|")[0].casefold()
            if link.startswith("§") and "-" in number and f"§ {number}" in record["text"]:
                written += 1
                seen += number in numbers
    assert written > 300
    assert seen / written > 0.98
