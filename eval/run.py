"""`permitbox eval`: is it right?  Parse options, open the house, measure, print.

Averages go to standard output, progress and remarks to standard error, results
case by case to --out.  Measures are defined in `scores`, flows in `measure`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, TextIO, TypeVar

import typer
from rich.console import Console

from appliance.cli import parse_legs
from appliance.commands.options import city_of
from appliance.domain import LEGS
from appliance.errors import BadRequest, PermitBoxError, UnreadableFile
from appliance.ingest import Progress, corpus_files
from appliance.settings import read_settings
from appliance.terminal import Ticker
from appliance.wiring import House, open_house
from eval import floors as pinned
from eval.cases import CaseError, parse_cases, parse_temporal_cases
from eval.measure import Selection, measure_answers, measure_retrieval, select
from eval.results import (
    AnswerResult,
    Json,
    Result,
    RunUnreadable,
    Sourced,
    abstentions,
    averages,
    by_file,
    compare,
    comparison_json,
    outcomes,
    parse_run,
    result_line,
    summary_json,
)
from eval.tables import averages_table, comparison_table, floors_table
from eval.temporal import TemporalResult, measure_temporal

app = typer.Typer(
    help="Is it right?  Retrieval and answers against questions with known answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# Where nobody looks, a table needs no fitting into 80 columns.
_out = Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else 160)
_err = Console(stderr=True, soft_wrap=True, highlight=False)

FLOORS = Path(__file__).with_name("floors.toml")
_DEFAULT_LEGS = ",".join(LEGS)
_DEFAULT_K = 10

# The options of a run that floors may rest on.
_STANDARD: Mapping[str, tuple[str, ...]] = {
    "retrieval": (),
    "answers": ("--no-model",),
    "temporal": (),
}

R = TypeVar("R", bound=Result)
T = TypeVar("T")

Cases = Annotated[
    list[Path], typer.Option("--cases", help="A file of cases; may be given several times.")
]
More = Annotated[
    list[Path] | None,
    typer.Argument(help="Further case files: what a pattern after --cases expands into."),
]
Corpus = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        help="The corpus file or folder that the box was loaded from; may be given several times.",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N cases.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write each case's scores there, as JSON lines.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
CheckFloor = Annotated[
    bool, typer.Option("--check-floor", help="Fail if a score is below its pinned floor.")
]
FloorsFile = Annotated[Path, typer.Option("--floors", help="The file of pinned floors.")]


class NothingToScore(PermitBoxError):
    """No case is left that this box can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one run was asked to do."""

    name: str  # of the command
    cases: tuple[Path, ...]
    corpus: tuple[Path, ...]
    limit: int | None
    options: tuple[str, ...]  # those that differ from the command's defaults
    out: Path | None
    check_floor: bool
    floors: Path
    as_json: bool

    @property
    def standard(self) -> bool:
        """Tell whether a floor may rest on it: all cases, all legs, no model.

        A model's words differ from server to server, so a floor of the answers is one of quotes.
        """
        return self.limit is None and self.options == _STANDARD[self.name]

    @property
    def command(self) -> str:
        """Return the command line that does the same again."""
        words = ["permitbox", "eval", self.name]
        words += [w for path in self.cases for w in ("--cases", str(path))]
        words += [w for path in self.corpus for w in ("--corpus", str(path))]
        words += self.options
        words += [] if self.limit is None else ["--limit", str(self.limit)]
        return shlex.join(words)


# ------------------------------------------------------------------ the commands


@app.command("retrieval")
def retrieval_command(
    cases: Cases,
    more: More = None,
    legs: Annotated[
        str, typer.Option("--legs", help="Which legs search: any of dense,lexical,named.")
    ] = _DEFAULT_LEGS,
    k: Annotated[int, typer.Option("--k", min=1, max=100, help="How many passages.")] = _DEFAULT_K,
    corpus: Corpus = None,
    limit: Limit = None,
    as_json: AsJson = False,
    check_floor: CheckFloor = False,
    floors: FloorsFile = FLOORS,
    out: Out = None,
) -> None:
    """Is the right section among the first?  Hit@k, MRR and nDCG over the answerable cases."""
    with _errors_in_one_line():
        chosen = parse_legs(legs)
        plan = Plan(
            name="retrieval",
            cases=(*cases, *(more or ())),
            corpus=tuple(corpus or ()),
            limit=limit,
            options=_given("--legs", ",".join(chosen), _DEFAULT_LEGS)
            + _given("--k", k, _DEFAULT_K),
            out=out,
            check_floor=check_floor,
            floors=floors,
            as_json=as_json,
        )
        sourced = read_case_files(plan.cases)
        digests = _digests(plan)

        async def work(house: House) -> tuple[Selection, list[Result], Json]:
            coverages = await house.store.cities()
            chosen_cases = select(sourced, coverages, answerable_only=True, limit=limit)
            _tell_selection(chosen_cases)
            measured = measure_retrieval(
                house.store, house.encoder, chosen_cases.taken, k=k, legs=chosen, today=date.today()
            )
            results: list[Result] = await _collect(measured, len(chosen_cases.taken), plan)
            return chosen_cases, results, {"legs": list(chosen), "k": k}

        selection, results, facts = _in_house(work)
        _report(
            plan, summary_json(results) | facts | _provenance(plan, selection, digests), results
        )
        _check(plan, selection, results, digests)


@app.command("answers")
def answers_command(
    cases: Cases,
    more: More = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Score the quotes, even if a model server runs.")
    ] = False,
    corpus: Corpus = None,
    limit: Limit = None,
    as_json: AsJson = False,
    check_floor: CheckFloor = False,
    floors: FloorsFile = FLOORS,
    out: Out = None,
) -> None:
    """Is the answer right?  Proven gold citations, facts and abstentions of the whole flow."""
    with _errors_in_one_line():
        plan = Plan(
            name="answers",
            cases=(*cases, *(more or ())),
            corpus=tuple(corpus or ()),
            limit=limit,
            options=("--no-model",) if no_model else (),
            out=out,
            check_floor=check_floor,
            floors=floors,
            as_json=as_json,
        )
        sourced = read_case_files(plan.cases)
        digests = _digests(plan)

        async def work(house: House) -> tuple[Selection, list[AnswerResult], Json]:
            coverages = await house.store.cities()
            chosen_cases = select(sourced, coverages, answerable_only=False, limit=limit)
            _tell_selection(chosen_cases)
            chat = None if no_model else await house.chat()
            model = None if chat is None else await chat.chat.model()
            if model is None and not no_model:
                _err.print("No model server answers: what is scored are the quotes.")
            measured = measure_answers(
                house.store, house.encoder, chat, chosen_cases.taken, today=date.today()
            )
            results = await _collect(measured, len(chosen_cases.taken), plan)
            return chosen_cases, results, {"model": model}

        selection, results, facts = _in_house(work)
        ends: Json = {"outcomes": outcomes(results), "abstention": abstentions(results)}
        summary = summary_json(results) | ends | facts | _provenance(plan, selection, digests)
        _report(plan, summary, results)
        _check(plan, selection, results, digests)


@app.command("temporal")
def temporal_command(
    cases: Annotated[Path, typer.Option("--cases", help="A file of cases of amended sections.")],
    city: Annotated[
        str, typer.Option("--city", help="The city of cases that name none.")
    ] = "new-york-ny",
    k: Annotated[int, typer.Option("--k", min=1, max=100, help="How many passages.")] = _DEFAULT_K,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Is each day given the law of that day?  The section before, and the warning after."""
    with _errors_in_one_line():
        taken = parse_temporal_cases(_read(cases, _no_case_file), cases.name, city=city_of(city))
        plan = Plan(
            name="temporal",
            cases=(cases,),
            corpus=(),
            limit=None,
            options=_given("--city", city, "new-york-ny") + _given("--k", k, _DEFAULT_K),
            out=out,
            check_floor=False,
            floors=FLOORS,
            as_json=as_json,
        )

        async def work(house: House) -> tuple[Selection, list[TemporalResult]]:
            sourced = [Sourced(file=cases.stem, case=c.question_case) for c in taken]
            held = await house.store.cities()
            selection = select(sourced, held, answerable_only=False, limit=None)
            _tell_selection(selection)
            here = {s.case.id for s in selection.taken}
            wanted = [c for c in taken if c.question_case.id in here]
            measured = measure_temporal(house.store, house.encoder, wanted, file=cases.stem, k=k)
            return selection, await _collect(measured, len(wanted), plan)

        selection, results = _in_house(work)
        _report(plan, summary_json(results) | {"k": k} | _provenance(plan, selection, {}), results)


@app.command("compare")
def compare_command(
    before: Annotated[Path, typer.Argument(help="The --out file of one run.")],
    after: Annotated[Path, typer.Argument(help="The --out file of another run.")],
    as_json: AsJson = False,
) -> None:
    """Did it get better?  Paired differences of two runs over the cases that both have."""
    with _errors_in_one_line():
        first = parse_run(_read(before, RunUnreadable), before.name)
        second = parse_run(_read(after, RunUnreadable), after.name)
        rows = compare(first, second)
        if as_json:
            print(json.dumps({"scores": {r.score: comparison_json(r) for r in rows}}))
            return
        _out.print(comparison_table(rows, before.name, after.name))
        alone = len(first.keys() ^ second.keys())
        if alone:
            _err.print(f"{alone:,} cases are in one of the runs only and were left out.")


@app.command("floor")
def floor_command(
    set_: Annotated[
        bool, typer.Option("--set", help="Pin what a run measured; without it, show the floors.")
    ] = False,
    run: Annotated[
        Path | None, typer.Option("--run", help="The JSON of a whole run with --corpus.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option("--score", help="A score to pin, like hit@5; may be given several times."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance", min=0, max=1, help="How far below its floor such a score still passes."
        ),
    ] = None,
    lower: Annotated[bool, typer.Option("--lower", help="Allow a floor to be lowered.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the file.")] = "",
    floors: FloorsFile = FLOORS,
) -> None:
    """Show the pinned floors, or pin those that a run measured; lowering one takes a reason."""
    with _errors_in_one_line():
        known = _read_floors(floors)
        if not set_:
            _out.print(floors_table(known.values()))
            return
        if run is None or not score:
            raise BadRequest("--set needs --run FILE and at least one --score.")
        for measured in _measured(_read(run, RunUnreadable), run.name, score):
            known[measured.name] = pinned.pin(
                known.get(measured.name),
                measured,
                tolerance=tolerance,
                lower=lower,
                reason=reason,
                today=date.today(),
            )
        floors.write_text(pinned.render_floors(known.values()), "utf-8")
        _out.print(floors_table(known.values()))


def _given(option: str, value: object, default: object) -> tuple[str, ...]:
    return () if value == default else (option, str(value))


# ------------------------------------------------------------------ files in


def read_case_files(paths: Sequence[Path]) -> list[Sourced]:
    """Return the cases of the files in their order.  Raises CaseError."""
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise BadRequest("Two case files have the same name; results are kept by it.")
    return [
        Sourced(file=path.stem, case=case)
        for path in paths
        for case in parse_cases(_read(path, _no_case_file), path.name)
    ]


def _no_case_file(why: str) -> CaseError:
    name, _, rest = why.partition(": ")
    return CaseError(name, None, rest)


def _read(path: Path, refusal: Callable[[str], PermitBoxError]) -> str:
    """Return a file's text, or raise what `refusal` makes of the reason."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise refusal(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: is not UTF-8 text") from error


def _digests(plan: Plan) -> dict[str, str]:
    """Return the digest of each case file with the corpus; none if no corpus was named."""
    if plan.check_floor and not plan.corpus:
        raise BadRequest("--check-floor needs --corpus: a floor holds for one corpus only.")
    if plan.check_floor and not plan.standard:
        raise BadRequest(
            "--check-floor takes no --limit, --legs or --k, and of answers --no-model."
        )
    if not plan.corpus:
        return {}
    unreadable: list[UnreadableFile] = []
    files = corpus_files(plan.corpus, unreadable)
    if unreadable:
        raise unreadable[0]
    return {path.stem: pinned.digest_of_files(path, files) for path in plan.cases}


def _read_floors(path: Path) -> dict[str, pinned.Floor]:
    if not path.exists():
        return {}
    return pinned.parse_floors(_read(path, pinned.FloorsUnreadable))


# ------------------------------------------------------------------ the run


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except PermitBoxError as error:
        _err.print(f"permitbox: {error}", style="bold red", markup=False)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _err.print("permitbox: stopped; --out has the cases that were done.")
        raise typer.Exit(130) from None


def _in_house(work: Callable[[House], Coroutine[None, None, T]]) -> T:
    """Open the house, do the work in it, close it."""

    async def whole() -> T:
        async with open_house(read_settings()) as house:
            return await work(house)

    return asyncio.run(whole())


def _tell_selection(selection: Selection) -> None:
    """Say what is left out and what is not ready.  Raises NothingToScore."""
    if selection.city_absent:
        _err.print(f"{selection.city_absent:,} cases skipped: their city is not in this box.")
    if selection.gold_absent:
        _err.print(f"{selection.gold_absent:,} cases skipped: the corpus lacks their gold.")
    if selection.unencoded:
        _err.print(
            f"Searched by words only, their meaning not yet encoded: {', '.join(selection.unencoded)}"
        )
    if not selection.taken:
        raise NothingToScore(
            "No case is left to score; `permitbox cities` lists the cities of this box."
        )


async def _collect(measured: AsyncIterator[R], total: int, plan: Plan) -> list[R]:
    """Gather the results, showing progress and writing each line at once: a kill loses one."""
    results: list[R] = []
    ticker, began = Ticker(_err), time.monotonic()
    with _opened(plan.out) as lines:
        async for result in measured:
            results.append(result)
            if lines is not None:
                lines.write(result_line(result) + "\n")
                lines.flush()
            ticker(_progress(plan.name, result.of.case.city, len(results), total, began))
    ticker.end()
    return results


@contextmanager
def _opened(out: Path | None) -> Iterator[TextIO | None]:
    if out is None:
        yield None
        return
    try:
        stream = out.open("w", encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"--out {out}: {error.strerror or error}") from error
    with stream:
        yield stream


def _progress(stage: str, what: str, done: int, total: int, began: float) -> Progress:
    rate = done / max(time.monotonic() - began, 1e-6)
    return Progress(
        stage=stage,
        what=what,
        done=done,
        total=total,
        unit="cases",
        rate=rate,
        eta=(total - done) / rate,
    )


# ------------------------------------------------------------------ provenance


def _provenance(plan: Plan, selection: Selection, digests: Mapping[str, str]) -> Json:
    return {
        "skipped": selection.skipped,
        "skipped_because": {
            "city not in the box": selection.city_absent,
            "gold not in the corpus": selection.gold_absent,
        },
        "unanswerable_left_out": selection.unanswerable,
        "cities_not_encoded": list(selection.unencoded),
        "whole": _is_whole(plan, selection),
        "digests": dict(digests),
        "command": plan.command,
        "commit": commit(),
        "as_of": date.today().isoformat(),
    }


def _is_whole(plan: Plan, selection: Selection) -> bool:
    """Tell whether every case was scored in the way that floors are."""
    return plan.standard and not selection.skipped and not selection.unencoded


def commit() -> str | None:
    """Return the commit of this program's checkout, "-dirty" if it was edited; None outside one."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).parent,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None


# ------------------------------------------------------------------ floors


def _check(
    plan: Plan, selection: Selection, results: Sequence[Result], digests: Mapping[str, str]
) -> None:
    """Compare the run with the floors of its files.  Raises FloorBroken or FloorRefused."""
    if not plan.check_floor:
        return
    if not _is_whole(plan, selection):
        raise pinned.FloorRefused("Cases were skipped or half searched: that shows no floor held.")
    known = _read_floors(plan.floors)
    short: list[pinned.Shortfall] = []
    for name, of_file in by_file(results).items():
        if name not in known:
            raise pinned.FloorRefused(f"No floor is pinned for {name}.")
        values = {score: round(e.value, 4) for score, e in averages(of_file).items()}
        short += pinned.shortfalls(known[name], values, digests[name])
    if short:
        raise pinned.FloorBroken("; ".join(map(str, short)))
    _err.print("The floors hold.")


def _measured(text: str, name: str, scores: Sequence[str]) -> list[pinned.Measured]:
    """Return what a run's summary says of the scores, file by file.  Raises RunUnreadable."""
    try:
        summary = json.loads(text.rstrip().rsplit("\n", 1)[-1])
        whole, digests, per_file = summary["whole"], summary["digests"], summary["per_file"]
        measured = [
            pinned.Measured(
                name=file,
                digest=digests[file],
                scores={s: float(of_file[s]["value"]) for s in scores},
            )
            for file, of_file in per_file.items()
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunUnreadable(
            f"{name} is not the JSON of a run with --corpus that has {', '.join(scores)}."
        ) from error
    if whole is not True:
        raise pinned.FloorRefused(
            f"{name} is not a whole run: a floor needs every case, every leg and no model."
        )
    return measured


# ------------------------------------------------------------------ printing


def _report(plan: Plan, summary: Json, results: Sequence[Result]) -> None:
    if plan.as_json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    _out.print(averages_table(results))
    for name in ("outcomes", "abstention"):
        if counts := summary.get(name):
            _out.print(f"{name}: " + ", ".join(f"{v} {k}" for k, v in _counts(counts)))
    took = summary["ms"]
    _out.print("milliseconds a case: " + ", ".join(f"{k} {v:,}" for k, v in _counts(took)))
    _out.print(f"{plan.command}  (commit {summary['commit']})", style="dim", markup=False)


def _counts(value: object) -> Sequence[tuple[str, float]]:
    assert isinstance(value, dict)
    return list(value.items())
