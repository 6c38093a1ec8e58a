"""The command as a script sees it: JSON, exit codes, one sentence on standard error, no traceback."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.integration.conftest import (
    PERMITBOX,
    SAMPLES,
    Database,
    Ran,
    environment,
    permitbox,
    record,
)

ALDER = ("--city", "alder-falls-xx")
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def box(cluster: object, sampled: str) -> Database:
    """Return the samples for commands that only read."""
    from tests.integration.conftest import _copy_of

    return _copy_of(cluster, sampled)  # type: ignore[arg-type]


def _refusal(ran: Ran, code: int) -> str:
    """Return what a command said that failed as it is to fail: a code, one line, nothing on stdout."""
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1, ran.err
    assert ran.err.startswith("permitbox: ")
    assert ran.err.rstrip().endswith((".", "?", "?'")), ran.err
    return ran.err


def _section_text(database: Database, section: int) -> str:
    """Return the text of a stored section, looked up from outside."""
    return str(
        database.one(
            "select substr(d.body, s.span_start + 1, s.span_end - s.span_start) from section s"
            " join document d on d.id = s.document_id where s.id = %s",
            section,
        )
    )


# ------------------------------------------------------------------ the fixed interfaces


def test_ingest_prints_its_counts_as_the_last_line(empty: Database) -> None:
    first = permitbox("ingest", str(SAMPLES), "--json", database=empty)
    assert first.code == 0, first.err
    assert first.json["documents"] == 63
    assert first.json["chunks"] >= first.json["sections"] > 63
    assert first.json["seconds"] > 0
    again = permitbox("ingest", str(SAMPLES), "--json", database=empty)
    assert (again.json["documents"], again.json["sections"], again.json["chunks"]) == (0, 0, 0)
    assert again.json["unchanged_files"] == 7


def test_an_unreadable_file_is_named_and_the_counts_are_still_printed(
    empty: Database, write: Write, tmp_path: Path
) -> None:
    write([record("1.1", "Fences.")])
    (tmp_path / "bad.jsonl").write_bytes(b"\xff")
    ran = permitbox("ingest", str(tmp_path), str(tmp_path / "none.md"), "--json", database=empty)
    assert ran.code == 1
    assert (ran.json["documents"], ran.json["unreadable"]) == (1, 2)
    assert "bad.jsonl: is not UTF-8" in ran.err
    assert "none.md: there is no such file" in ran.err
    assert "Traceback" not in ran.err


def test_cities_lists_what_is_held(box: Database) -> None:
    ran = permitbox("cities", "--json", database=box)
    assert [c["city"] for c in ran.json] == ["alder-falls-xx", "brackwater-county-xx"]
    for city in ran.json:
        assert {"city", "sections", "chunks", "newest", "status"} <= set(city)
        assert city["status"] == "ready"
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", city["newest"])


def test_search_gives_stored_text_at_its_span(box: Database) -> None:
    ran = permitbox("search", "how high may a fence be", *ALDER, "--k", "5", "--json", database=box)
    hits = ran.json["hits"]
    assert [h["rank"] for h in hits] == [1, 2, 3, 4, 5]
    for hit in hits:
        assert set(hit) >= {
            *("rank", "section", "external_id", "heading", "path"),
            *("score", "text", "start", "end"),
        }
        text = _section_text(box, hit["section_id"])
        assert hit["text"] == text[hit["start"] : hit["end"]]


@pytest.mark.parametrize(
    "legs", ["dense", "lexical", "named", "named,dense", "dense,lexical,named"]
)
def test_search_uses_the_legs_that_are_named(box: Database, legs: str) -> None:
    ran = permitbox("search", "§ 15.12.020 fee", *ALDER, "--legs", legs, "--json", database=box)
    assert ran.code == 0, ran.err
    assert {leg for hit in ran.json["hits"] for leg in hit["legs"]} == set(legs.split(","))


def test_ask_gives_proven_citations(box: Database) -> None:
    question = "How long is my building permit good for if I never start the work?"
    ran = permitbox("ask", question, *ALDER, "--json", database=box)
    answer = ran.json
    assert set(answer) >= {
        *("outcome", "text", "citations", "phantoms", "unsupported_numbers", "reason"),
        "timings_ms",
    }
    assert answer["outcome"] == "quotes"  # no model server runs
    assert answer["citations"]
    for citation in answer["citations"]:
        assert set(citation) >= {
            *("section", "external_id", "quote", "start", "end", "version", "effective_from"),
        }
        text = _section_text(box, citation["section_id"])
        assert citation["quote"] == text[citation["start"] : citation["end"]]
    assert answer["timings_ms"]["total"] > 0
    assert box.one("select count(*) from answer where sealed is not null") >= 1


def test_ask_abstains_with_a_reason(box: Database) -> None:
    ran = permitbox(
        "ask", "Who won the football world cup in 1998?", *ALDER, "--json", database=box
    )
    assert ran.code == 0
    assert ran.json["outcome"] == "abstention"
    assert ran.json["reason"] == "not_found"
    assert ran.json["citations"] == []


def _claim(city: str, citation: str, claim: str) -> str:
    return json.dumps({"city": city, "citation": citation, "claim": claim})


_SAYS = 'It says "The fees in this chapter are due when the application is filed".'
_TABLE = [
    ("alder-falls-xx", "§ 15.12.010", _SAYS, "proven", "alder-falls-xx/15.12.010"),
    ("alder-falls-xx", "Sec. 15.12.010", _SAYS, "proven", "alder-falls-xx/15.12.010"),
    ("alder-falls-xx", "§ 15.12.010", 'It says "no fee is ever due".', "misquoted", None),
    ("alder-falls-xx", "§ 15.12.010", "Fees are due.", "unsupported", "alder-falls-xx/15.12.010"),
    ("alder-falls-xx", "§ 99.99.990", 'It says "no fee is ever due".', "phantom", None),
    ("brackwater-county-xx", "§ 15.12.010", _SAYS, "wrong_city", "alder-falls-xx/15.12.010"),
    (
        "brackwater-county-xx",
        "Brackwater Code Sec. 1-1",
        'It says "This code is fictional."',
        "proven",
        "brackwater-1-1",
    ),
]


def test_verify_judges_each_line(box: Database) -> None:
    lines = "\n".join(_claim(*row[:3]) for row in _TABLE)
    ran = permitbox("verify", "--json", database=box, stdin=lines.encode())
    assert ran.code == 0, ran.err
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [f["verdict"] for f in found] == [row[3] for row in _TABLE]
    for row, verdict in zip(_TABLE, found, strict=True):
        if row[4] is not None:
            assert verdict["external_id"] == row[4]


def test_verify_of_nothing_prints_nothing(box: Database) -> None:
    assert permitbox("verify", "--json", database=box) == Ran(code=0, out="", err="")


def test_verify_as_of_a_day_before_the_law_is_no_proof(box: Database) -> None:
    line = _claim(*_TABLE[0][:3])
    ran = permitbox("verify", "--json", "--as-of", "2020-01-01", database=box, stdin=line.encode())
    assert ran.json["verdict"] == "not_yet_in_force"
    assert "in force from" in ran.json["why"]


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "fence", "--city", "alder-fals-xx"), "Did you mean alder-falls-xx?"),
        (("ask", "fence", "--city", "nowhere-zz"), "There is no city 'nowhere-zz'"),
        (("ask", "fence", "--city", "Not A City!"), "is not a city id"),
        (("ask", "", *ALDER), "The question is empty"),
        (("ask", "?!", *ALDER), "The question is empty"),
        (("ask", "🏠🚧", *ALDER), "The question is empty"),
        (("ask", "fence " * 16_667, *ALDER), "the most is 4,000"),
        (("search", "fence " * 16_667, *ALDER), "the most is 4,000"),
        (("search", "fence", *ALDER, "--legs", "dense,smell"), "must name some of"),
        (("search", "fence", *ALDER, "--legs", ""), "must name some of"),
        (("ask", "fence", *ALDER, "--as-of", "yesterday"), "is not a date like"),
        (("ask", "fence", *ALDER, "--as-of", "2025-02-30"), "is not a date like"),
        (("ingest", ".", "--city", "??"), "is not a city id"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(
    box: Database, arguments: tuple[str, ...], words: str
) -> None:
    assert words in _refusal(permitbox(*arguments, "--json", database=box), 2)


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"not json", 'Line 1 is not a JSON object with "city", "citation" and "claim"'),
        (b"{}", "Line 1 is not a JSON object"),
        (b"[1]", "Line 1 is not a JSON object"),
        (b"[" * 100_000, "Line 1 is not a JSON object"),
        (b'{"city": 1, "citation": "x", "claim": "y"}', "must be texts"),
        (b'{"city": "No City", "citation": "x", "claim": "y"}', "is not a city id"),
        (b'{"city": "nowhere-zz", "citation": "x", "claim": "y"}', "There is no city"),
        (_claim("alder-falls-xx", "§ 1", "x").encode() + b"\n\xff\xfe\n", "Line 2 is not UTF-8"),
    ],
)
def test_a_claim_that_cannot_be_read_is_one_sentence(
    box: Database, stdin: bytes, words: str
) -> None:
    assert words in _refusal(permitbox("verify", "--json", database=box, stdin=stdin), 2)


def test_claims_with_characters_that_no_text_has_are_judged(box: Database) -> None:
    lines = "\n".join(
        [
            _claim("alder-falls-xx", "§ 15.12.010\0", 'It says "a\0b c d e f g h".'),
            _claim("alder-falls-xx", "§ 15.12.010 \ud800", 'It says "\udfff two three four".'),
            _claim("alder-falls-xx", "", ""),
            _claim("alder-falls-xx", "§" * 10_000, '"' * 10_000),
        ]
    )
    ran = permitbox("verify", "--json", database=box, stdin=lines.encode())
    assert ran.code == 0, ran.err
    verdicts = [json.loads(line)["verdict"] for line in ran.out.splitlines()]
    assert verdicts == ["misquoted", "misquoted", "phantom", "phantom"]


@pytest.mark.parametrize("arguments", [("ask", "fence", *ALDER), ("search", "fence", *ALDER)])
def test_an_empty_box_says_so(empty: Database, arguments: tuple[str, ...]) -> None:
    ran = permitbox(*arguments, "--json", database=empty)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "Traceback" not in ran.err


def test_an_empty_box_has_no_cities(empty: Database) -> None:
    assert permitbox("cities", "--json", database=empty).json == []
    assert "Nothing has been ingested yet" in _refusal(permitbox("cities", database=empty), 2)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PERMITBOX_PORT", "x", "PERMITBOX_PORT='x' must be a whole number from 0 to 65535"),
        ("PERMITBOX_TYPO", "1", "PERMITBOX_TYPO is not a setting"),
        ("PERMITBOX_CHAT_URL", "ftp://x", "must begin with http://"),
        ("PERMITBOX_CHAT_SECONDS", "nan", "must be a number of seconds"),
        ("PERMITBOX_PROFILE", "abacus", "abacus"),
    ],
)
def test_a_bad_setting_is_one_sentence(variable: str, value: str, words: str) -> None:
    assert words in _refusal(permitbox("cities", "--json", **{variable: value}), 2)


@pytest.mark.parametrize("dsn", ["host=/nonexistent dbname=x", "no dsn at all"])
def test_a_database_that_is_not_there_is_one_sentence(dsn: str) -> None:
    assert "The database" in _refusal(permitbox("cities", "--json", PERMITBOX_DSN=dsn), 1)


def test_a_home_that_cannot_be_made_is_one_sentence() -> None:
    assert "PERMITBOX_HOME" in _refusal(permitbox("cities", PERMITBOX_HOME="/proc/nowhere"), 1)


@pytest.mark.parametrize("arguments", [("--nonsense",), ("ask",), ("search", "x", "--k", "0")])
def test_a_wrong_call_explains_itself(arguments: tuple[str, ...]) -> None:
    ran = permitbox(*arguments)
    assert ran.code == 2
    assert "Usage:" in ran.err
    assert "Traceback" not in ran.err


def test_the_version_is_printed() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", permitbox("version").out)


# ------------------------------------------------------------------ pipes


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_that_leaves_is_no_traceback(box: Database, options: tuple[str, ...]) -> None:
    """The pipe is closed before the first line is written, as by `| head -0`."""
    command = subprocess.Popen(
        [*PERMITBOX, "search", "fence permit fee", *ALDER, "--k", "100", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PERMITBOX_DSN=box.dsn),
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.close()
    assert command.stderr.read() == b""
    command.stderr.close()
    assert command.wait(60) != 0


# ------------------------------------------------------------------ two at once, Ctrl-C


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a way to start a command that outlives no test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*PERMITBOX, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**variables),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _many(write: Write, count: int = 400) -> Path:
    """Write a code that takes some seconds to encode."""
    samples = (SAMPLES / "brackwater-county.jsonl").read_text("utf-8").splitlines()
    # Another place's name in it would be a reason not to search it.
    texts = [json.loads(line)["text"].replace("Brackwater", "Elm Hollow") for line in samples]
    return write([record(f"1.{i}", f"Rule {i}. {texts[i % len(texts)]}") for i in range(count)])


def _until_encoding(database: Database, process: subprocess.Popen[str], at_least: int = 64) -> None:
    """Wait until the process has encoded a part of its work."""
    end = time.monotonic() + 60
    while process.poll() is None:
        assert time.monotonic() < end, "it never encoded anything"
        try:
            if (
                database.one(
                    "select coalesce(max(done), 0) from job where state = 'running' and kind = 'encode'"
                )
                >= at_least
            ):
                return
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
            pass
        time.sleep(0.05)
    raise AssertionError(f"it ended early: {process.communicate()}")


def test_ctrl_c_stops_an_ingest_in_one_line_and_the_next_run_goes_on(
    empty: Database, write: Write, start: Callable[..., subprocess.Popen[str]]
) -> None:
    path = _many(write)
    process = start("ingest", str(path), "--json", PERMITBOX_DSN=empty.dsn)
    _until_encoding(empty, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    lines = [
        line
        for line in err.splitlines()
        if not line.startswith(("reading", "references", "encoding"))
    ]
    assert lines == ["permitbox: stopped; what was done is kept."]
    done = empty.one("select count(*) from embedding_m1")
    total = empty.one("select count(distinct input) from chunk")
    assert 64 <= done < total
    assert empty.one("select count(*) from job where state = 'running'") == 0
    again = permitbox("ingest", str(path), "--json", database=empty)
    assert again.json["unchanged_files"] == 1
    assert again.json["encoded"] == total - done
    assert empty.one("select dense_ready from city")


def test_questions_are_answered_and_a_second_ingest_refused_while_one_runs(
    samples: Database, write: Write, start: Callable[..., subprocess.Popen[str]]
) -> None:
    process = start("ingest", str(_many(write, 600)), "--json", PERMITBOX_DSN=samples.dsn)
    _until_encoding(samples, process)
    second = permitbox("ingest", str(SAMPLES), "--json", database=samples)
    assert "Another ingest is running on this box" in _refusal(second, 1)
    answer = permitbox("ask", "How high may a fence be?", *ALDER, "--json", database=samples)
    assert answer.json["citations"]
    words = permitbox(
        "search", "fence permit", "--city", "elm-hollow-xx", "--json", database=samples
    )
    assert words.json["hits"], "the new city is searched by words already"
    assert process.poll() is None, "the ingest was still at work"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_two_commands_share_one_home(
    reachable: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """An embedded home, made and used by two processes at once, stopped by the last one."""
    home = reachable / "shared-home"
    sample = str(SAMPLES / "brackwater-county.jsonl")
    first = start("ingest", sample, "--json", PERMITBOX_HOME=str(home))
    second = start("cities", "--json", PERMITBOX_HOME=str(home))
    for process in (first, second):
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out
    ran = permitbox(
        "ask",
        "Do I need a fence permit?",
        "--city",
        "brackwater-county-xx",
        "--json",
        PERMITBOX_HOME=str(home),
    )
    assert ran.code == 0, ran.err
    assert ran.json["citations"] or ran.json["reason"]
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()


@pytest.mark.parametrize("moment", [0.9, 1.3, 1.7, 2.2])
def test_ctrl_c_at_any_moment_leaves_no_server_behind(
    reachable: Path, start: Callable[..., subprocess.Popen[str]], moment: float
) -> None:
    home = reachable / f"interrupted-{moment}"
    process = start("cities", PERMITBOX_HOME=str(home))
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert not (home / "postgres" / "data" / "postmaster.pid").exists()
