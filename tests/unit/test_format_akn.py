"""Akoma Ntoso to Markdown: headings with their numbers, paragraphs in depth, tables, dates."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from appliance.corpus.sections import parse_markdown
from appliance.corpus.tables import find_tables
from appliance.domain import Section
from appliance.formats.akn import parse_akn
from appliance.formats.parsed import Unparsable

BYLAWS = Path(__file__).parents[2].parent / "shared" / "corpus" / "pdf-za-bylaws"

ACT = """<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">
  <act>
    <meta>
      <identification source="#x"><FRBRWork><FRBRalias value="Bridge By-law"/></FRBRWork></identification>
      <publication date="2019-05-02" name="Gazette" showAs="Trollland Gazette" number="7"/>
      {lifecycle}
    </meta>
    <preface><p>To govern bridges</p></preface>
    <body>{body}</body>
    {components}
  </act>
</akomaNtoso>"""


def act(body: str, *, lifecycle: str = "", components: str = "") -> Any:
    text = ACT.format(body=body, lifecycle=lifecycle, components=components)
    return parse_akn(text.encode())


SECTION = "<section><num>3.</num><heading>Tolls</heading>{}</section>"


def test_the_title_is_the_name_by_which_the_law_is_known() -> None:
    parsed = act(SECTION.format("<content><p>None.</p></content>"))
    assert parsed.title == "Bridge By-law"
    assert parsed.body == "# Bridge By-law\n\nTo govern bridges\n\n## Section 3. Tolls\n\nNone.\n"


@pytest.mark.parametrize(
    ("container", "heading"),
    [
        ("<chapter><num>1</num><heading>General</heading>{}</chapter>", "Chapter 1. General"),
        (
            "<chapter><num>CHAPTER II</num><heading>Trolls</heading>{}</chapter>",
            "CHAPTER II. Trolls",
        ),
        ("<part><num>A.</num><heading>Tolls</heading>{}</part>", "Part A. Tolls"),
        ("<part><heading>Tolls</heading>{}</part>", "Tolls"),
        ("<part><num>4</num>{}</part>", "Part 4"),
    ],
)
def test_a_container_is_a_heading_over_its_sections(container: str, heading: str) -> None:
    parsed = act(container.format(SECTION.format("<content><p>None.</p></content>")))
    assert f"## {heading}\n\n### Section 3. Tolls\n\nNone.\n" in parsed.body


def test_a_container_without_a_name_takes_no_level() -> None:
    assert (
        "\n## Section 3. Tolls\n"
        in act(f"<part>{SECTION.format('<content><p>x</p></content>')}</part>").body
    )


def test_numbered_paragraphs_keep_their_depth() -> None:
    inner = """
      <subsection><num>(1)</num><content><blockList>
        <listIntroduction>A troll <term>may</term>-</listIntroduction>
        <item><num>(a)</num><p>ask; or</p></item>
        <item><num>(b)</num><blockList><listIntroduction>demand</listIntroduction>
          <item><num>(i)</num><p>goats.</p></item></blockList></item>
      </blockList></content></subsection>
      <subsection><num>(2)</num><subsection><num>(a)</num><content><p>One.</p></content></subsection>
      </subsection>"""
    body = act(SECTION.format(inner)).body
    assert body.partition("## Section 3. Tolls\n\n")[2] == (
        "(1) A troll may-\n\n  (a) ask; or\n\n  (b) demand\n\n    (i) goats.\n\n(2)\n\n  (a) One.\n"
    )


def test_text_that_looks_like_markup_stays_text() -> None:
    body = act(SECTION.format("<content><p># of goats</p><p>| wall |</p></content>")).body
    assert "\\# of goats" in body
    assert "\\| wall |" in body
    assert len(parse_markdown(body, city="x", document_id="d", title="t")) == 2


def test_a_table_keeps_every_cell() -> None:
    rows = (
        "<tr><th><p>Bridge</p></th><th colspan='2'><p>Toll</p></th></tr>"
        "<tr><td><p>Stone</p><p>arch</p></td><td><p>3 goats</p></td><td><p>4 | 5</p></td></tr>"
    )
    body = act(SECTION.format(f"<content><table>{rows}</table></content>")).body
    (found,) = find_tables(body)
    text = found.span.of(body)
    for words in ("Bridge", "Toll", "Stone", "arch", "3 goats", "4 \\| 5"):
        assert words in text


@pytest.mark.parametrize("beside", [False, True], ids=["in the act", "beside the act"])
def test_schedules_stand_under_their_own_names(beside: bool) -> None:
    components = """<components><component><doc name="schedule">
      <meta><identification><FRBRWork><FRBRalias value="Schedule 1"/></FRBRWork></identification></meta>
      <mainBody><article><heading>Signs</heading><paragraph><content><p>A sign.</p></content></paragraph>
      </article></mainBody></doc></component></components>"""
    if beside:
        text = ACT.format(body=SECTION.format(""), lifecycle="", components="")
        body = parse_akn(text.replace("</act>", f"</act>{components}").encode()).body
    else:
        body = act(SECTION.format(""), components=components).body
    assert body.endswith("## Schedule 1\n\n### Signs\n\nA sign.\n")


@pytest.mark.parametrize(
    ("events", "begins", "ends"),
    [
        ("", None, None),
        ('<eventRef type="generation" date="2019-05-02"/>', None, None),
        ('<eventRef type="commencement" date="2019-06-01"/>', date(2019, 6, 1), None),
        (
            '<eventRef type="entryIntoForce" date="2019-06-01"/><eventRef type="repeal" date="2021-01-31"/>',
            date(2019, 6, 1),
            date(2021, 1, 31),
        ),
        ('<eventRef type="repeal" date="soon"/>', None, None),
    ],
)
def test_dates_are_those_that_the_file_states(
    events: str, begins: date | None, ends: date | None
) -> None:
    parsed = act(SECTION.format(""), lifecycle=f"<lifecycle>{events}</lifecycle>")
    assert (parsed.effective_from, parsed.effective_until) == (begins, ends)
    assert "Published on 2019-05-02 in Trollland Gazette." in parsed.notes
    said = "The file does not say when the text takes effect." in parsed.notes
    assert said == (begins is None)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"<akomaNtoso><act>", "not well formed"),
        (b"<akomaNtoso/>", "no act"),
        (b"", "not well formed"),
        (b"<akomaNtoso>" + b"<part>" * 5000, "not well formed or too deep"),
    ],
)
def test_what_is_no_act_is_refused(raw: bytes, words: str) -> None:
    with pytest.raises(Unparsable, match=words):
        parse_akn(raw)


LAUGHS = (
    b"<!DOCTYPE akomaNtoso [<!ENTITY a 'ha'>"
    + b"".join(
        b"<!ENTITY %c '%s'>" % (c, b"&%c;" % (c - 1) * 10) for c in range(ord("b"), ord("l"))
    )
    + b"]><akomaNtoso><act><body><p>&k;</p></body></act></akomaNtoso>"
)


@pytest.mark.parametrize(
    "raw",
    [
        LAUGHS,
        b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><akomaNtoso>&e;</akomaNtoso>",
        b"<!DOCTYPE x [<!ENTITY % e SYSTEM 'http://127.0.0.1:9/x.dtd'> %e;]><akomaNtoso/>",
    ],
    ids=["billion laughs", "file", "network"],
)
def test_entities_are_refused_not_unfolded(raw: bytes) -> None:
    with pytest.raises(Unparsable):
        parse_akn(raw)


def test_an_outside_document_type_is_not_fetched() -> None:
    raw = b"<!DOCTYPE akomaNtoso SYSTEM 'http://127.0.0.1:9/a.dtd'><akomaNtoso><act><body>"
    parsed = parse_akn(raw + b"<section><num>1</num></section></body></act></akomaNtoso>")
    assert parsed.body == "## Section 1\n"


# ------------------------------------------------------------------ real by-laws


def sections_of(body: str) -> tuple[Section, ...]:
    return parse_markdown(body, city="x", document_id="d", title="t")


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def test_the_real_by_laws_lose_no_word_and_no_heading(law_lines: object) -> None:
    files = sorted(BYLAWS.glob("*.akn.xml"))
    assert len(files) == 8
    for path in files:
        raw = path.read_bytes()
        parsed = parse_akn(raw)
        root = etree.fromstring(raw)
        for meta in root.iter("{*}meta"):
            for inner in list(meta):
                meta.remove(inner)
        written = words("".join(root.itertext()))
        assert not written - words(parsed.body), path.name
        numbered = sum(1 for e in root.iter("{*}section") if e.findtext("{*}num"))
        assert sum(s.number is not None for s in sections_of(parsed.body)) >= numbered
        headed = sum(1 for _ in root.iter("{*}section", "{*}chapter", "{*}part"))
        assert len(sections_of(parsed.body)) >= headed, path.name
        tables = [t for t in root.iter("{*}table") if len(t.findall(".//{*}tr")) > 1]
        assert len(find_tables(parsed.body)) >= len(tables), path.name
