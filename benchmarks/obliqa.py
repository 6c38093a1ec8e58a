"""The public yardstick: ObliQA's test questions over its passages, beside published figures.

13,732 passages of financial regulation, each a record of its own without any structure around it, are
loaded as one city by the product itself; 2,786 machine-written questions are asked.  It is not our
field, but a task on which others have published numbers.  Measures are the field's, trec_eval's
recall_10 and map_cut_10 (see `eval.scores`); what counts is the passage, named by its document and its
number there, which a few passages share.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import zstandard

from appliance.domain import CityId
from appliance.errors import UnreadableFile
from appliance.ingest import Summary, Tell, ingest
from appliance.settings import Settings, read_settings
from appliance.terminal import Ticker
from appliance.wiring import House, open_house
from eval import session
from eval.ablation import AblationResult
from eval.cases import Case, GoldIds
from eval.measure import measure_ablation
from eval.results import Json, Sourced, estimate_json, milliseconds
from eval.scores import Estimate, average_precision, estimate, recall
from eval.variants import Variant, parse_study

CITY = CityId("abu-dhabi-global-market")
_K = 10

# Figures of others on the test split, Recall@10 and MAP@10.  Both rows that learned were trained on
# ObliQA's training split; ours was trained on none of it.
PUBLISHED: tuple[tuple[str, float, float], ...] = (
    ("LeSeR, fine-tuned encoder and BM25 (arXiv 2412.06009, its abstract)", 0.8201, 0.6655),
    ("BM25 baseline (arXiv 2502.16767; recalled, not verified)", 0.7611, 0.6237),
    ("fine-tuned hybrid (arXiv 2502.16767; recalled, not verified)", 0.8333, 0.7016),
)

_STUDY = """
question = "Recall@10 and MAP@10 on ObliQA?"
[[variant]]
name = "BM25"
fusion = "leg"
legs = ["lexical"]
[[variant]]
name = "dense"
fusion = "leg"
legs = ["dense"]
[[variant]]
name = "convex"
fusion = "convex"
legs = ["dense", "lexical"]
[[variant]]
name = "the product"
fusion = "product"
ranker = true
"""
VARIANTS: tuple[Variant, ...] = parse_study(_STUDY, "obliqa").variants


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage as the data set has it."""

    id: str
    document: int
    number: str  # "14.2.3.Guidance.10."
    text: str

    @property
    def key(self) -> str:
        """Return what gold names it by."""
        return f"{self.document}/{self.number}"

    def record(self) -> Json:
        """Return it as a record of a corpus file."""
        return {
            "jurisdiction": CITY,
            "jurisdiction_name": "Abu Dhabi Global Market",
            "id": self.id,
            "citation": f"ADGM document {self.document} § {self.number}",
            "path": [],
            "text": self.text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and the keys of the passages that answer it."""

    id: str
    text: str
    relevant: frozenset[str]


# ------------------------------------------------------------------ the data set


def read_passages(folder: Path) -> list[Passage]:
    """Return the passages of the data set's folder.  Raises UnreadableFile."""
    return [
        Passage(
            id=str(row["ID"]),
            document=int(row["DocumentID"]),
            number=str(row["PassageID"]),
            text=str(row["Passage"]),
        )
        for row in _rows(folder / "passages.jsonl.zst")
    ]


def read_questions(folder: Path, limit: int | None = None) -> list[Question]:
    """Return the test questions, or `limit` of them spread evenly.  Raises UnreadableFile."""
    rows = list(_rows(folder / "obliqa_test.jsonl.zst"))
    if limit is not None and limit < len(rows):
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    return [
        Question(
            id=str(row["QuestionID"]),
            text=str(row["Question"]),
            relevant=frozenset(f"{p['DocumentID']}/{p['PassageID']}" for p in row["Passages"]),
        )
        for row in rows
    ]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as packed:
            text = zstandard.ZstdDecompressor().stream_reader(packed).read().decode("utf-8")
    except OSError as error:
        raise UnreadableFile(str(path), error.strerror or str(error)) from error
    # Not by `splitlines`: law text holds line separators of its own.
    return (json.loads(line) for line in text.split("\n") if line.strip())


def case_of(question: Question, ids: Mapping[str, Sequence[str]]) -> Case:
    """Return the question as a case; any record that bears a relevant key satisfies its group."""
    groups = tuple(tuple(ids[key]) for key in sorted(question.relevant) if key in ids)
    return Case(
        id=question.id,
        city=CITY,
        kind="regulation",
        question=question.text,
        gold=GoldIds(groups=groups),
        facts=(),
        answerable=True,
    )


# ------------------------------------------------------------------ the box


@contextmanager
def home_at(home: Path | None) -> Iterator[Path]:
    """Yield a home: the given one, which is kept, or one that is taken away again."""
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
        yield home
        return
    folder = Path(tempfile.mkdtemp(prefix="pbx-obliqa-"))
    folder.chmod(0o755)  # the database's own user must reach it
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def load(house: House, passages: Iterable[Passage], home: Path, tell: Tell) -> Summary:
    """Bring the passages into the box as a city of its own; what is there already is kept."""
    file = home / "obliqa.jsonl"
    lines = (json.dumps(p.record(), ensure_ascii=False) + "\n" for p in passages)
    file.write_text("".join(lines), "utf-8")
    return await ingest(
        house.loader, house.encoder, [file], city=None, today=date.today(), tell=tell
    )


# ------------------------------------------------------------------ measuring


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one way to search scored."""

    name: str
    recall: Estimate
    map: Estimate
    ms: Mapping[str, float]

    def line(self) -> str:
        """Return one line of the report."""
        r, m = self.recall, self.map
        return (
            f"{self.name:<12} Recall@10 {r.value:.4f} [{r.low:.4f}, {r.high:.4f}]  "
            f"MAP@10 {m.value:.4f} [{m.low:.4f}, {m.high:.4f}]  "
            f"p50 {self.ms['p50']:,.0f} ms  p95 {self.ms['p95']:,.0f} ms  n={r.n:,}"
        )

    def json(self) -> Json:
        """Return it for a script."""
        return {
            "name": self.name,
            "recall@10": estimate_json(self.recall),
            "map@10": estimate_json(self.map),
            "ms": dict(self.ms),
        }


async def measure(
    house: House, passages: Sequence[Passage], questions: Sequence[Question], tell: Tell
) -> list[Scored]:
    """Ask every question in every way and return the scores, in the order of the ways."""
    keys = {p.id: p.key for p in passages}
    ids: dict[str, list[str]] = {}
    for passage in passages:
        ids.setdefault(passage.key, []).append(passage.id)
    cases = [Sourced(file="obliqa", case=case_of(q, ids)) for q in questions]
    relevant = {q.id: q.relevant for q in questions}
    results: dict[str, list[AblationResult]] = {v.name: [] for v in VARIANTS}
    began = time.monotonic()
    async for done, of_case in _counted(_asked(house, cases)):
        for result in of_case:
            results[result.variant].append(result)
        tell(session.progress_of("obliqa", CITY, done, len(cases), began))
    return [_scored(name, of, keys, relevant) for name, of in results.items()]


def _asked(house: House, cases: Sequence[Sourced]) -> AsyncIterator[list[AblationResult]]:
    return measure_ablation(
        house.store, session.search_in(house), cases, VARIANTS, k=_K, today=date.today(), done=()
    )


async def _counted(
    results: AsyncIterator[list[AblationResult]],
) -> AsyncIterator[tuple[int, list[AblationResult]]]:
    count = 0
    async for of_case in results:
        count += 1
        yield count, of_case


def _scored(
    name: str,
    results: Sequence[AblationResult],
    keys: Mapping[str, str],
    relevant: Mapping[str, frozenset[str]],
) -> Scored:
    recalls, precisions = [], []
    for result in results:
        gold = relevant[result.of.case.id]
        # A passage that was found by two of its chunks, or under two of its ids, counts once.
        found = list(dict.fromkeys(keys[name] for name in result.found))
        recalls.append(recall(gold, found, _K))
        precisions.append(average_precision(gold, found, _K))
    return Scored(
        name=name,
        recall=estimate(recalls),
        map=estimate(precisions),
        ms=milliseconds([r.ms for r in results]),
    )


def run(shared: Path, *, limit: int | None, home: Path | None, as_json: bool) -> Iterator[str]:
    """Load, ask, and yield the report, line by line.  Raises UnreadableFile."""
    folder = shared / "corpus" / "eval-obliqa"
    passages, questions = read_passages(folder), read_questions(folder, limit)

    async def work(settings: Settings) -> tuple[Summary, list[Scored]]:
        ticker = Ticker(session.err)
        async with open_house(settings) as house:
            summary = await load(house, passages, settings.home, ticker)
            return summary, await measure(house, passages, questions, ticker)

    with home_at(home) as place:
        summary, scored = asyncio.run(work(replace(read_settings(), home=place, dsn=None)))
    for rejected in summary.rejected:
        session.err.print(f"left out by the gate: {rejected.where}: {'; '.join(rejected.reasons)}")
    if as_json:
        ways = [one.json() for one in scored]
        yield json.dumps({"n": len(questions), "passages": len(passages), "ways": ways})
        return
    yield from report(scored)


def report(scored: Sequence[Scored]) -> Iterator[str]:
    """Yield what was scored, and what others published."""
    for one in scored:
        yield one.line()
    yield "published, on the same split:"
    for name, recall_at, map_at in PUBLISHED:
        yield f"  Recall@10 {recall_at:.4f}  MAP@10 {map_at:.4f}  {name}"
