"""The gate: pages that stand in place of the page, damaged texts, other places; and law that passes."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.gate import Candidate, judge, judge_markup, objections
from appliance.corpus.objection import MEANINGS, Objection
from appliance.corpus.places import other_place, place_name
from benchmarks.gate import judged_pages

DOCS = Path(__file__).parents[2] / "docs"
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
LAW = (
    "No person shall build a bridge without a permit. The toll keeper shall issue the permit within "
    "thirty days of the application, if the plans show a parapet of at least four feet on both sides.\n\n"
    "(a) The fee for a permit is $40. (b) A permit expires after one year, unless the work has begun.\n"
)


def page(title: str, inside: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{inside}</body></html>"


def slugs(reasons: tuple[str, ...]) -> set[str]:
    return {reason.split(":", 1)[0] for reason in reasons}


# ------------------------------------------------------------------ pages in place of the page


@pytest.mark.parametrize(
    ("title", "said", "slug"),
    [
        ("Just a moment...", "Checking your browser before you enter.", "bot-wall"),
        ("Toll bridge", "Show that you are a human and not a robot.", "bot-wall"),
        ("Access Denied", "You do not have permission to view this. Reference #18.4a", "bot-wall"),
        ("Sorry", "Too many requests came from your address.", "bot-wall"),
        ("Bridges", "The page that you were looking for does not exist.", "soft-404"),
        ("404", "Oops.", "soft-404"),
        ("Bridges", "Our server met an unexpected error. Try again later.", "error-page"),
        ("Bridges", "The site is down for scheduled maintenance.", "error-page"),
        ("", "Invalid parameters!", "unconfigured"),
        ("Bridges", "You must be logged in to read this chapter.", "login-wall"),
        (
            "Bridges",
            "We use cookies. Accept all cookies or manage your preferences.",
            "consent-wall",
        ),
        ("Bridges", "Loading", "app-shell"),
        ("Bridges", "Home Departments Contact", "navigation"),
        ("Bridges", "Pick a chapter from our list of chapters on the left.", "navigation"),
    ],
)
def test_a_page_in_place_of_the_page_is_named(title: str, said: str, slug: str) -> None:
    assert slugs(judge_markup(page(title, f"<h1>{title}</h1><p>{said}</p>"))) == {slug}
    assert slugs(judge(Candidate(body=said, title=title))) == {slug}


@pytest.mark.parametrize(
    ("markup", "slug"),
    [
        (page("", "<script src='/_Incapsula_Resource?x=1'></script>"), "bot-wall"),
        (page("", "<p>Wait</p>", "<script src='https://x.captcha-delivery.com/c.js'>"), "bot-wall"),
        (page("Codes", "<div id='root'></div><script src='m.js'></script>"), "app-shell"),
        (
            '<html ng-app="mcc.library_desktop"><head><title>Codes</title></head></html>',
            "app-shell",
        ),
        (page("Codes", "<script src='a.js'></script>"), "app-shell"),
        (page("Enter", "<form><input name=u><input type=PASSWORD name=p></form>"), "login-wall"),
        (page("Codes", "".join(f"<a href=/{i}>Title {i}</a> " for i in range(30))), "navigation"),
        (page("Law", f"<p>{LAW}</p>")[:-20], "truncated"),
        (page("Law", f"<p>{LAW}</p>") + "<div cla", "truncated"),
        ("", "empty"),
        ("<html>\0", "binary"),
    ],
)
def test_the_markup_gives_a_page_away_before_it_is_parsed(markup: str, slug: str) -> None:
    assert slugs(judge_markup(markup)) == {slug}


@pytest.mark.parametrize(
    "inside",
    [
        f"<p>{LAW}</p>",
        # Most sites behind Cloudflare carry its marks; some have a contact form with a captcha.
        f"<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script><p>{LAW}</p>",
        f"<p>{LAW}</p><form><div class='g-recaptcha'></div></form>",
        f"<nav>{'<a href=/x>Departments</a>' * 80}</nav><p>{LAW * 3}</p>",
        f"<div id='root'><p>{LAW}</p></div>",
        f"<p>{LAW}</p><footer>We use cookies. <a href=/c>Accept all</a></footer>",
        "<p>The fee for a fence permit is $50.</p>",
        (
            "<p>No person under eighteen shall be denied access to a toll bridge. A blocked gate shall be"
            " reported as an error of the keeper, who verifies it.</p>"
        ),
    ],
)
def test_a_good_page_passes_whatever_its_site_hangs_around_it(inside: str) -> None:
    assert judge_markup(page("Toll bridges", inside)) == ()


def test_a_page_that_is_not_the_one_asked_for_has_that_one_reason() -> None:
    wall = page("Access Denied", "<p>Access to this page has been denied. Ray ID 1f")
    assert len(judge(Candidate(body="Access…", markup=wall, city="Elm, VT"))) == 1


def test_a_reserved_section_is_a_page_of_its_own() -> None:
    assert judge(Candidate(body="[Reserved]", title="§ 5-2. (Reserved)")) == ()


# ------------------------------------------------------------------ damaged texts

TYPESET = LAW.replace("permit", "“permit”").replace("fee", "keeper’s fee (§ 4)")


@pytest.mark.parametrize("codec", ["cp1252", "latin-1", "cp1250", "cp1251", "mac_roman", "cp437"])
@pytest.mark.parametrize("times", [1, 2])
def test_text_that_was_read_in_a_wrong_encoding_is_seen(codec: str, times: int) -> None:
    text = TYPESET
    for _ in range(times):
        text = text.encode().decode(codec, "replace")
    assert slugs(judge(Candidate(body=text))) == {"mojibake"}
    assert judge(Candidate(body=TYPESET)) == ()


@pytest.mark.parametrize(
    "mark", ["\ufffd", "&#8217;", "&amp;rsquo;", "\\u2019", "=E2=80=99", "(cid:12)"]
)
def test_characters_that_were_lost_or_left_escaped_are_seen(mark: str) -> None:
    text = "".join(mark if ord(c) > 127 else c for c in TYPESET)
    assert slugs(judge(Candidate(body=text))) == {"mojibake"}


@pytest.mark.parametrize(
    "end",
    [
        "The keeper shall not open the gate unless the goats have",
        "The keeper shall not open the gate unless the goats have pai",
        "A toll is due (except for kids, lambs and other young animals that are",
        "The toll shall be paid in the",
        "A goat pays one toll, a kid half a toll,",
        "The toll is due at the gate... Read more",
        "The toll is due at the gate […]",
        "The toll is due at [the gate](https://exam",
        "```\nThe toll.",
        "| Animal | Toll |\n| --- | --- |\n| Goat | 3 |\n| Kid",
    ],
)
def test_a_text_that_breaks_off_is_seen(end: str) -> None:
    assert slugs(judge(Candidate(body=f"{LAW}\n{end}"))) == {"truncated"}


@pytest.mark.parametrize(
    "end",
    [
        "The toll is due at the gate.",
        "The keeper may waive the toll of\n(1) goats;\n(2) kids; and\n(3) lambs",
        "(Ord. No. 12, § 3, 4-5-2019)",
        "Amended by Ord. 28-2023 Amending Title 6 of the Toll Bridge Municipal Code on 12/12/2023",
        "| Animal | Toll |\n| --- | --- |\n| Goat | 3 |",
        "Write to the keeper of the bridges at tolls@example.gov",
        "# Appendix of the bridges that are",
        'the word "toll"',
    ],
)
def test_the_ways_in_which_law_ends_are_no_breaks(end: str) -> None:
    assert judge(Candidate(body=f"{LAW}\n{end}")) == ()


def test_a_table_of_contents_that_promises_more_than_there_is_is_seen() -> None:
    entries = "\n".join(f"- 7.{i} Bridge {i}" for i in range(1, 7))
    whole = "\n".join(f"## 7.{i} Bridge {i}\n\n{LAW}" for i in range(1, 7))
    half = "\n".join(f"## 7.{i} Bridge {i}\n\n{LAW}" for i in range(1, 4))
    assert judge(Candidate(body=f"# Bridges\n\nSections:\n\n{entries}\n\n{whole}")) == ()
    assert slugs(judge(Candidate(body=f"# Bridges\n\nSections:\n\n{entries}\n\n{half}"))) == {
        "truncated"
    }


@pytest.mark.parametrize(
    "text",
    [
        (
            "El guardián del puente debe cobrar el peaje a las cabras que pasan. No se puede cruzar sin pagar. "
            "La tarifa es de tres monedas por cada animal y el guardián entrega un recibo al dueño."
        ),
        (
            "Der Brückenwärter muss den Zoll von den Ziegen erheben. Die Brücke darf nicht ohne Zahlung betreten "
            "werden. Der Wärter gibt dem Besitzer eine Quittung und die Ziegen gehen über die Brücke."
        ),
        "桥梁看守人必须向过桥的山羊收取过路费。未付费者不得过桥。看守人应向主人出具收据。每只动物的费用为三枚硬币。"
        * 4,
    ],
)
def test_a_text_in_another_language_is_seen_unless_it_is_expected(text: str) -> None:
    assert slugs(judge(Candidate(body=text))) == {"wrong-language"}
    if "El guard" in text:
        assert judge(Candidate(body=text, language="es")) == ()


# ------------------------------------------------------------------ whose law, how old, what was lost


@pytest.mark.parametrize(
    ("text", "title", "expected", "other"),
    [
        ("The City of Elmhurst. In Elmhurst. Elmhurst only.", "", "Oakhaven, IL", "Elmhurst"),
        ("The City of Elmhurst. In Elmhurst. Elmhurst only.", "", "Elmhurst, IL", None),
        ("The CITY OF ELMHURST and the city of Elmhurst, Elmhurst", "", "Oakhaven", "Elmhurst"),
        ("Tolls.", "Tolls | Elmhurst, IL | Code Library", "Oakhaven, IL", "Elmhurst"),
        ("Tolls.", "Tolls | Elmhurst, IL | Code Library", "Elmhurst, IL", None),
        ("County of Troll. Troll County. Troll.", "", "Bridge County, XX", "Troll"),
        ("Oakhaven borders on the City of Elmhurst. Elmhurst. Elmhurst.", "", "Oakhaven, IL", None),
        ("The City Council of the city may fine.", "", "Oakhaven, IL", None),
    ],
)
def test_the_place_that_a_text_names_as_its_own(
    text: str, title: str, expected: str, other: str | None
) -> None:
    found = other_place(text, title, expected)
    assert (found is None) if other is None else (other in (found or ""))


def test_an_id_is_read_as_a_name() -> None:
    assert place_name("san-mateo-ca") == "San Mateo, CA"
    assert place_name("San Mateo, CA") == "San Mateo, CA"


@pytest.mark.parametrize(
    "notice",
    [
        "ARCHIVED",
        "This page has been archived and is no longer updated.",
        "You are viewing a previous version of the code.",
        "This ordinance has been superseded by Ordinance 12.",
        "Not current law.",
    ],
)
def test_a_page_that_calls_itself_outdated_is_stale(notice: str) -> None:
    assert slugs(judge(Candidate(body=f"{notice}\n\n{LAW}"))) == {"stale"}


@pytest.mark.parametrize(
    "law",
    [
        "This chapter supersedes Ordinance 11.",
        "A permit that is no longer in effect shall be returned.",
        "The Code of 2019 is no longer in effect.",
    ],
)
def test_law_about_older_law_is_not_stale(law: str) -> None:
    assert judge(Candidate(body=f"{law}\n\n{LAW}")) == ()


def test_age_is_only_a_reason_where_today_is_known() -> None:
    old = Candidate(body=LAW, fetched_at=datetime(2011, 5, 1, tzinfo=UTC))
    assert judge(old) == ()
    assert slugs(judge(old, today=date(2026, 7, 1))) == {"stale"}


TABLE = "<table><tr><th>Animal</th><th>Toll</th></tr><tr><td>Goat</td><td>3</td></tr><tr><td>Kid</td><td>1</td></tr></table>"


@pytest.mark.parametrize(
    ("rows", "slug"),
    [
        ("| Animal | Toll |\n| --- | --- |\n| Goat | 3 |\n| Kid | 1 |", set()),
        ("Animal Toll Goat 3 Kid 1.", {"tables-lost"}),
        ("", {"tables-lost"}),
    ],
)
def test_tables_of_the_page_must_be_tables_of_the_text(rows: str, slug: set[str]) -> None:
    candidate = Candidate(body=f"{LAW}\n{rows}", markup=page("Tolls", f"<p>{LAW}</p>{TABLE}"))
    assert slugs(judge(candidate)) == slug


# ------------------------------------------------------------------ records and the closed set


@pytest.mark.parametrize(
    "body",
    [
        "",
        "None.",
        "The page has been removed from the book of tolls.",
        "Access to the bridge is denied to goats.",
        "A browser of goats, a cookie and a robot.",
        "This section is repealed",
        "A permit shall be posted at the",
    ],
)
def test_a_short_record_of_a_code_is_let_in(body: str) -> None:
    assert objections(body, stub_allowed=True) == ()


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        (
            "Please enable JavaScript and cookies to continue. Verifying that you are human.",
            "bot-wall",
        ),
        ("Sorry, the page that you requested could not be found. Check the URL.", "soft-404"),
        ("B\ufffd\ufffd\ufffdlow the bridge.", "mojibake"),
        ("The owner’s “goat”, § 4.".encode().decode("cp1252", "replace"), "mojibake"),
    ],
)
def test_a_record_that_is_surely_no_law_is_turned_away(body: str, slug: str) -> None:
    assert slugs(objections(body, stub_allowed=True)) == {slug}
    assert "bot-wall" not in slugs(objections(body, stub_allowed=True, dead=True))


def test_every_reason_has_a_meaning_and_a_line_in_the_documents() -> None:
    assert set(MEANINGS) == set(Objection)
    text = (DOCS / "corpus.md").read_text("utf-8")
    assert {o for o in Objection if f"| `{o.value}` |" not in text} == set()


@given(st.text(), st.text() | st.none())
def test_any_text_and_markup_are_judged(body: str, markup: str | None) -> None:
    for reason in judge(Candidate(body=body, markup=markup, city="Elm, VT")):
        slug, _, sentence = reason.partition(": ")
        assert Objection(slug)
        assert sentence


def test_the_blocked_pages_are_blocked_and_city_pages_are_not(shared_pages) -> None:
    for path, reasons in shared_pages("fixtures-blocked-pages"):
        assert bool(reasons) is (path.name != "cfscrape_requested_page.html"), (path.name, reasons)
    assert {p.name: r for p, r in shared_pages("fixtures-city-pages") if r} == {}


@pytest.fixture
def shared_pages(law_lines):
    """Return a judge of the saved pages beside the checkout; skipped or failed as `law_lines` is."""
    del law_lines
    return lambda folder: judged_pages(sorted((CORPUS / folder).rglob("*.htm*")))


def test_few_sections_of_real_law_are_turned_away_as_pages(law_records) -> None:
    records = [
        r for r in law_records("code-va-tn-zoning/*.jsonl.zst", every=10) if len(r["text"]) >= 200
    ]
    blocked = [r["id"] for r in records if judge(Candidate(body=r["text"], title=r["heading"]))]
    assert len(records) > 500
    assert len(blocked) <= len(records) // 100, json.dumps(blocked)
