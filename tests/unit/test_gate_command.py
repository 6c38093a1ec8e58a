"""`permitbox gate`: one verdict a file, without a database; and the faults that it is measured by."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard
from typer.testing import CliRunner

from appliance.cli import app
from appliance.corpus.fingerprints import Seen
from appliance.corpus.gate import Candidate, judge, judge_next
from benchmarks.faults import FAULTS, Good

LAW = (
    "No person shall build a bridge in the City of Elmhurst without a permit of Elmhurst. The fee is $40, "
    "and for a bridge of more than 30 feet $95. The keeper shall issue the permit within 30 days of the "
    "application, if the plans show a parapet of at least 4 feet on both sides of the bridge.\n\n"
    "A permit expires after 365 days, unless the work has begun and goes on without a break of more than "
    "90 days. The council of Elmhurst may extend the permit once by 180 days, if the owner asks for it in "
    "writing before the permit has expired and pays the fee of $25 for the extension of the permit.\n\n"
    "Every bridge shall be looked over by the inspector of the council at least once in each calendar "
    "year. The owner shall give the inspector access to all parts of the bridge and shall mend what the "
    "inspector finds to be unsafe within 60 days, or within 7 days if the report says that lives depend "
    "on it. Until then the bridge shall be closed by a gate and a sign shall name the nearest ford.\n"
)
RECORD = {
    "jurisdiction": "elmhurst-xx",
    "id": "1",
    "citation": "Sec. 1",
    "heading": "Bridges",
    "text": LAW,
}


def run(*arguments: object) -> tuple[int, list[dict[str, Any]], str]:
    result = CliRunner().invoke(app, ["gate", *map(str, arguments), "--json"])
    return result.exit_code, [json.loads(x) for x in result.stdout.splitlines()], result.stderr


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def web(inside: str, title: str = "Bridges") -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{inside}</body></html>"


@pytest.mark.parametrize(
    ("name", "content", "slug"),
    [
        ("law.html", web(f"<h1>Bridges</h1><p>{LAW}</p>"), None),
        ("law.htm", web(f"<h1>Bridges</h1><p>{LAW}</p>"), None),
        ("wall.html", web("<p>Prove that you are human.</p>", "Just a moment..."), "bot-wall"),
        ("law.md", f"---\ncity: elmhurst-xx\ntitle: Bridges\n---\n{LAW}", None),
        ("plain.md", f"# Bridges\n\n{LAW}", None),
        ("other.md", f"---\ncity: oakhaven-xx\ntitle: Bridges\n---\n{LAW}", "wrong-city"),
        ("bad.md", "---\n- a\n---\nx", "unparsable"),
        ("digest.md", f"---\ncontent_sha256: {'a' * 64}\n---\n{LAW}", "changed"),
        ("law.txt", LAW, None),
        ("tenant.txt", "Invalid parameters!", "unconfigured"),
        ("page.txt", web("<p>Prove that you are human.</p>"), "bot-wall"),
        ("empty.pdf", b"", "empty"),
        ("broken.pdf", b"%PDF-1.7 and nothing else", "unparsable"),
        ("answer.json", '{"clients": []}', "unparsable"),
        ("record.json", json.dumps(RECORD, indent=1), None),
        ("record.json", json.dumps({**RECORD, "text": "a\0b"}), "binary"),
        ("law.jsonl", json.dumps(RECORD) + "\n", None),
        ("law.jsonl.zst", zstandard.compress(json.dumps(RECORD).encode()), None),
        ("none.jsonl", "", "empty"),
    ],
)
def test_each_file_has_a_verdict(
    tmp_path: Path, name: str, content: str | bytes, slug: str | None
) -> None:
    path = write(tmp_path, name, content)
    code, (line,), _ = run(path)
    assert line["file"] == str(path)
    assert line["verdict"] == ("accepted" if slug is None else "rejected")
    assert [r.split(":")[0] for r in line["reasons"]] == ([] if slug is None else [slug])
    assert code == (0 if slug is None else 1)


def test_a_corpus_file_is_judged_as_a_whole(tmp_path: Path) -> None:
    bad = {**RECORD, "text": "<script>alert(1)</script>"}
    mostly = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, [RECORD] * 9 + [bad])))
    half = write(tmp_path, "b.jsonl", "\n".join(map(json.dumps, [RECORD, bad])))
    code, (first, second), _ = run(mostly, half)
    assert (first["verdict"], first["records"], first["rejected_records"]) == ("accepted", 10, 1)
    assert second["verdict"] == "rejected"
    assert second["reasons"][0].startswith("markup: ")
    assert second["reasons"][0].endswith("(1 of 2 records)")
    assert code == 1


def test_files_of_one_call_are_compared_and_the_city_can_be_given(tmp_path: Path) -> None:
    first = write(tmp_path, "a.md", LAW)
    second = write(tmp_path, "b.md", LAW.replace("$40", "$41"))
    assert [x["verdict"] for x in run(first, second)[1]] == ["accepted", "rejected"]
    assert run(first, "--city", "elmhurst-xx")[1][0]["verdict"] == "accepted"
    assert run(first, "--city", "Oakhaven, XX")[1][0]["reasons"][0].startswith("wrong-city: ")


def test_a_file_that_cannot_be_read_is_said_and_the_others_go_on(tmp_path: Path) -> None:
    good = write(tmp_path, "a.md", LAW)
    code, lines, complaint = run(
        tmp_path / "none.md", write(tmp_path, "x.exe", b"x"), tmp_path, good
    )
    assert code == 1
    assert [x["file"] for x in lines] == [str(good)]
    assert complaint.count("not read:") == 3


# ------------------------------------------------------------------ the injector

GOOD = Good(title="Bridges", body=LAW, city="Elmhurst, XX")


def test_the_document_that_is_broken_is_sound() -> None:
    assert judge(Candidate(body=GOOD.body, title=GOOD.title, city=GOOD.city)) == ()


@pytest.mark.parametrize("kind", FAULTS)
def test_nearly_every_fault_of_a_kind_is_blocked(kind: str) -> None:
    random = Random(kind)
    blocked = 0
    for _ in range(25):
        fault = FAULTS[kind](GOOD, random)
        seen = Seen() if fault.before is None else judge_next(fault.before, Seen())[1]
        blocked += bool(judge_next(fault.candidate, seen)[0])
    assert blocked >= 24


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_are_the_same_for_the_same_seed_and_vary_with_it(kind: str) -> None:
    one, same, *others = (FAULTS[kind](GOOD, Random(seed)) for seed in (1, 1, *range(2, 12)))
    assert one == same
    assert any(other != one for other in others)
