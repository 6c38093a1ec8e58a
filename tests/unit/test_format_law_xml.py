"""The D.C. Council's law XML and USLM to Markdown."""

from __future__ import annotations

import io
import re
import tarfile
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import zstandard

from appliance.corpus.sections import parse_markdown
from appliance.formats.law_xml import parse_law_xml
from appliance.formats.parsed import Unparsable

RAW = Path(__file__).parents[2].parent / "shared/corpus/code-dc/raw-xml-titles-6-10-42.tar.zst"

DC = 'xmlns="https://code.dccouncil.us/schemas/dc-library"'
CODIFY = 'xmlns:codify="https://code.dccouncil.us/schemas/codify"'
XI = 'xmlns:xi="http://www.w3.org/2001/XInclude"'


def dc(text: str) -> Any:
    return parse_law_xml(text.encode())


SECTION = f"""<section {DC} {CODIFY}>
  <num>6-101</num>
  <text>*NOTE: temporary.*</text>
  <heading>Tolls.</heading>
  {{}}
  <annotations>
    <annotation type="History" doc="Law 1" eff="2016-05-18">May 18, 2016, Law 1</annotation>
    <annotation type="History" doc="Law 2" eff="2023-03-22"/>
    <annotation type="Prior Codifications">1981 Ed., § 5-1.</annotation>
    <text type="Editor's Notes">See <cite path="6|14">this chapter</cite>.</text>
  </annotations>
</section>"""


def test_a_section_is_its_heading_its_text_and_apart_the_notes() -> None:
    parsed = dc(SECTION.format("<text>A troll may.</text>"))
    assert parsed.title == "§ 6-101. Tolls."
    assert parsed.body == (
        "# § 6-101. Tolls.\n\n*NOTE: temporary.*\n\nA troll may.\n\n"
        "## History and notes\n\nHistory: May 18, 2016, Law 1\n\n"
        "Prior Codifications: 1981 Ed., § 5-1.\n\nEditor's Notes: See this chapter.\n"
    )
    first, notes = parse_markdown(parsed.body, city="x", document_id="d", title="t")
    assert (first.number, notes.number) == ("6-101", None)


def test_the_effective_date_is_that_of_the_newest_history_note() -> None:
    parsed = dc(SECTION.format(""))
    assert parsed.effective_from == date(2023, 3, 22)
    assert "The effective date is that of the newest history note." in parsed.notes


@pytest.mark.parametrize("eff", ["", 'eff=""', 'eff="soon"', 'eff="0001-01-01"'])
def test_without_a_date_in_the_notes_none_is_given(eff: str) -> None:
    note = f'<annotation type="History" {eff}>1901</annotation>'
    parsed = dc(f"<section {DC}><num>1</num><annotations>{note}</annotations></section>")
    assert parsed.effective_from is None
    assert "The file does not say when the text takes effect." in parsed.notes


def test_nested_paragraphs_keep_number_and_depth() -> None:
    body = dc(
        SECTION.format(
            """<para><num>(a)</num>
                 <para><num>(1)</num><text>One <em>pro se</em>
                    goat.</text></para>
                 <para><num>(2)</num><text>Two:</text>
                   <para><num>(A)</num><text>goats</text></para>
                   <aftertext>; and</aftertext></para>
               </para>
               <codify:insert><text>not law</text></codify:insert>
               <codify:find-replace><find>x</find><replace>not law</replace></codify:find-replace>"""
        )
    ).body
    text = body.partition("*NOTE: temporary.*\n\n")[2].partition("\n\n##")[0]
    assert text == ("(a)\n\n  (1) One pro se goat.\n\n  (2) Two:\n\n    (A) goats\n\n    ; and")


@pytest.mark.parametrize(
    ("reason", "heading", "title"),
    [
        ("Repealed", "Tolls.", "§ 6-101. Tolls. [Repealed]"),
        ("Repealed", "Tolls. [Repealed]", "§ 6-101. Tolls. [Repealed]"),
        ("Reserved", "", "§ 6-101 [Reserved]"),
    ],
)
def test_a_dead_section_says_why_in_its_heading(reason: str, heading: str, title: str) -> None:
    fields = f"<num>6-101</num><reason>{reason}</reason><heading>{heading}</heading>"
    assert dc(f"<section {DC}>{fields}</section>").title == title


def test_a_container_whose_sections_lie_elsewhere_says_so() -> None:
    parsed = dc(
        f"""<container {DC} {XI}><prefix>Title</prefix><num>6</num><heading>Housing.</heading>
        <container><prefix>Chapter</prefix><num>1</num><heading>General.</heading>
        <xi:include href="file:///etc/passwd"/><xi:include href="./sections/6-102.xml"/>
        </container></container>"""
    )
    assert parsed.body == "# Title 6. Housing.\n\n## Chapter 1. General.\n"
    assert "The text of 2 sections lies in other files." in parsed.notes


USLM = """<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <meta><dc:title>Title 99—Trolls</dc:title></meta>
  <main><title><num value="99">Title 99—</num><heading>TROLLS</heading>
    <chapter><num value="1">CHAPTER 1—</num><heading>TOLLS</heading>
      <section><num value="101">§ 101.</num><heading> Definitions</heading>
        <chapeau>In this title:</chapeau>
        <paragraph><num value="1">(1)</num><heading> Troll</heading>
          <content>The term “troll” means <ref href="/x">a troll</ref>.</content></paragraph>
        <continuation>and so on.</continuation>
        <sourceCredit>(July 1, 1947)</sourceCredit>
      </section></chapter></title></main></uscDoc>"""


def test_federal_markup_is_read_too() -> None:
    parsed = parse_law_xml(USLM.encode())
    assert parsed.title == "Title 99—Trolls"
    assert "### CHAPTER 1. TOLLS\n\n#### § 101. Definitions\n\nIn this title:\n\n(1) Troll\n" in (
        parsed.body
    )
    assert "\n  The term “troll” means a troll.\n\nand so on.\n" in parsed.body


@pytest.mark.parametrize("raw", [b"", b"<section", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"])
def test_what_is_no_xml_is_refused(raw: bytes) -> None:
    with pytest.raises(Unparsable):
        parse_law_xml(raw)


# ------------------------------------------------------------------ the real code


def score(found: Counter[str], wanted: Counter[str]) -> float:
    same = sum((found & wanted).values())
    total = sum(found.values()) + sum(wanted.values())
    return 2 * same / total if total else 1.0


def test_the_real_titles_give_the_text_of_the_records(
    law_records: Callable[..., list[dict[str, Any]]],
) -> None:
    """The records' own faults (codify marks kept as text, telephone numbers changed) cost the rest."""
    known = {r["id"]: r for r in law_records("code-dc/sections-building.jsonl.zst")}
    scores = []
    with (
        RAW.open("rb") as packed,
        tarfile.open(fileobj=zstandard.ZstdDecompressor().stream_reader(packed), mode="r|") as tar,
    ):
        for member in tar:
            record = known.get(f"dc-{Path(member.name).stem}")
            file = tar.extractfile(member)
            if record is None or file is None:
                continue
            body = parse_law_xml(io.BytesIO(file.read()).getvalue()).body
            heading, _, text = body.partition("## History and notes")[0].partition("\n")
            number = record["citation"].removeprefix("D.C. Code ")
            assert heading.startswith(f"# {number}"), member.name
            dead = re.search(r" \[([A-Z][\w ]+)\]$", heading)
            if dead and record["text"].startswith(dead[1]):
                text += dead[1]  # the record repeats the reason as text
            scores.append(score(words(text), words(record["text"])))
    assert len(scores) == 1991
    assert sum(scores) / len(scores) > 0.996


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))
