"""`permitbox eval`: is it right?  Parse options, open the house, measure, print.

Averages go to standard output, progress and remarks to standard error, results
case by case to --out.  Measures are defined in `scores`, flows in `measure`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from appliance.commands.options import city_of
from appliance.commands.search import parse_legs
from appliance.domain import LEGS
from appliance.errors import BadRequest
from appliance.wiring import House
from eval import floors as pinned
from eval import session
from eval.ablate import ablate_command, crossval_command
from eval.calc import calc_command
from eval.cases import parse_temporal_cases
from eval.cell_run import cells_command
from eval.measure import Selection, measure_answers, measure_retrieval, select
from eval.near_miss import cache_command
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
    right_and_wrong,
    summary_json,
)
from eval.session import (
    AsJson,
    Cases,
    CheckFloor,
    Cities,
    Corpus,
    FloorsFile,
    Limit,
    More,
    Out,
    Plan,
    collect,
    digests_of,
    errors_in_one_line,
    given,
    in_house,
    is_whole,
    no_case_file,
    provenance,
    read_case_files,
    tell_selection,
)
from eval.tables import averages_table, comparison_table, floors_table
from eval.temporal import TemporalResult, measure_temporal

app = typer.Typer(
    help="Is it right?  Retrieval and answers against questions with known answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
FLOORS = Path(__file__).with_name("floors.toml")
_DEFAULT_LEGS = ",".join(LEGS)
_DEFAULT_K = 10

app.command("ablate")(ablate_command)
app.command("cache")(cache_command)
app.command("cells")(cells_command)
app.command("crossval")(crossval_command)
app.command("calc")(calc_command)


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
    city: Cities = None,
    limit: Limit = None,
    as_json: AsJson = False,
    check_floor: CheckFloor = False,
    floors: FloorsFile = FLOORS,
    out: Out = None,
) -> None:
    """Is the right section among the first?  Hit@k, MRR and nDCG over the answerable cases."""
    with errors_in_one_line():
        chosen = parse_legs(legs)
        plan = Plan(
            name="retrieval",
            cases=(*cases, *(more or ())),
            corpus=tuple(corpus or ()),
            cities=tuple(map(city_of, city or ())),
            limit=limit,
            options=given("--legs", ",".join(chosen), _DEFAULT_LEGS) + given("--k", k, _DEFAULT_K),
            out=out,
            check_floor=check_floor,
            floors=floors,
            as_json=as_json,
        )
        sourced = read_case_files(plan)
        digests = digests_of(plan)

        async def work(house: House) -> tuple[Selection, list[Result], Json]:
            coverages = await house.store.cities()
            chosen_cases = select(sourced, coverages, answerable_only=True, limit=limit)
            tell_selection(chosen_cases)
            measured = measure_retrieval(
                house.store, house.encoder, chosen_cases.taken, k=k, legs=chosen, today=date.today()
            )
            results: list[Result] = await collect(measured, len(chosen_cases.taken), plan)
            return chosen_cases, results, {"legs": list(chosen), "k": k}

        selection, results, facts = in_house(work)
        _report(plan, summary_json(results) | facts | provenance(plan, selection, digests), results)
        _check(plan, selection, results, digests)


@app.command("answers")
def answers_command(
    cases: Cases,
    more: More = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Score the quotes, even if a model server runs.")
    ] = False,
    corpus: Corpus = None,
    city: Cities = None,
    limit: Limit = None,
    as_json: AsJson = False,
    check_floor: CheckFloor = False,
    floors: FloorsFile = FLOORS,
    out: Out = None,
) -> None:
    """Is the answer right?  Proven gold citations, facts and abstentions of the whole flow."""
    with errors_in_one_line():
        plan = Plan(
            name="answers",
            cases=(*cases, *(more or ())),
            corpus=tuple(corpus or ()),
            cities=tuple(map(city_of, city or ())),
            limit=limit,
            options=("--no-model",) if no_model else (),
            out=out,
            check_floor=check_floor,
            floors=floors,
            as_json=as_json,
        )
        sourced = read_case_files(plan)
        digests = digests_of(plan)

        async def work(house: House) -> tuple[Selection, list[AnswerResult], Json]:
            coverages = await house.store.cities()
            chosen_cases = select(sourced, coverages, answerable_only=False, limit=limit)
            tell_selection(chosen_cases)
            chat = None if no_model else await house.chat()
            model = None if chat is None else await chat.chat.model()
            if model is None and not no_model:
                session.err.print("No model server answers: what is scored are the quotes.")
            measured = measure_answers(
                house.store, house.encoder, chat, chosen_cases.taken, today=date.today()
            )
            results = await collect(measured, len(chosen_cases.taken), plan)
            return chosen_cases, results, {"model": model}

        selection, results, facts = in_house(work)
        ends: Json = {
            "outcomes": outcomes(results),
            "right_and_wrong": right_and_wrong(results),
            "abstention": abstentions(results),
        }
        summary = summary_json(results) | ends | facts | provenance(plan, selection, digests)
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
    with errors_in_one_line():
        taken = parse_temporal_cases(
            session.read(cases, no_case_file), cases.name, city=city_of(city)
        )
        plan = Plan(
            name="temporal",
            cases=(cases,),
            corpus=(),
            cities=(),
            limit=None,
            options=given("--city", city, "new-york-ny") + given("--k", k, _DEFAULT_K),
            out=out,
            check_floor=False,
            floors=FLOORS,
            as_json=as_json,
        )

        async def work(house: House) -> tuple[Selection, list[TemporalResult]]:
            sourced = [Sourced(file=cases.stem, case=c.question_case) for c in taken]
            held = await house.store.cities()
            selection = select(sourced, held, answerable_only=False, limit=None)
            tell_selection(selection)
            here = {s.case.id for s in selection.taken}
            wanted = [c for c in taken if c.question_case.id in here]
            measured = measure_temporal(house.store, house.encoder, wanted, file=cases.stem, k=k)
            return selection, await collect(measured, len(wanted), plan)

        selection, results = in_house(work)
        _report(plan, summary_json(results) | {"k": k} | provenance(plan, selection, {}), results)


@app.command("compare")
def compare_command(
    before: Annotated[Path, typer.Argument(help="The --out file of one run.")],
    after: Annotated[Path, typer.Argument(help="The --out file of another run.")],
    as_json: AsJson = False,
) -> None:
    """Did it get better?  Paired differences of two runs over the cases that both have."""
    with errors_in_one_line():
        first = parse_run(session.read(before, RunUnreadable), before.name)
        second = parse_run(session.read(after, RunUnreadable), after.name)
        rows = compare(first, second)
        if as_json:
            print(json.dumps({"scores": {r.score: comparison_json(r) for r in rows}}))
            return
        session.out.print(comparison_table(rows, before.name, after.name))
        alone = len(first.keys() ^ second.keys())
        if alone:
            session.err.print(f"{alone:,} cases are in one of the runs only and were left out.")


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
    with errors_in_one_line():
        known = _read_floors(floors)
        if not set_:
            session.out.print(floors_table(known.values()))
            return
        if run is None or not score:
            raise BadRequest("--set needs --run FILE and at least one --score.")
        for measured in _measured(session.read(run, RunUnreadable), run.name, score):
            known[measured.name] = pinned.pin(
                known.get(measured.name),
                measured,
                tolerance=tolerance,
                lower=lower,
                reason=reason,
                today=date.today(),
            )
        floors.write_text(pinned.render_floors(known.values()), "utf-8")
        session.out.print(floors_table(known.values()))


# ------------------------------------------------------------------ floors


def _read_floors(path: Path) -> dict[str, pinned.Floor]:
    if not path.exists():
        return {}
    return pinned.parse_floors(session.read(path, pinned.FloorsUnreadable))


def _check(
    plan: Plan, selection: Selection, results: Sequence[Result], digests: Mapping[str, str]
) -> None:
    """Compare the run with the floors of its files.  Raises FloorBroken or FloorRefused."""
    if not plan.check_floor:
        return
    if not is_whole(plan, selection):
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
    session.err.print("The floors hold.")


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
    session.out.print(averages_table(results))
    for name in ("outcomes", "right_and_wrong", "abstention"):
        if counts := summary.get(name):
            session.out.print(f"{name}: " + ", ".join(f"{v} {k}" for k, v in _counts(counts)))
    took = summary["ms"]
    session.out.print("milliseconds a case: " + ", ".join(f"{k} {v:,}" for k, v in _counts(took)))
    session.out.print(f"{plan.command}  (commit {summary['commit']})", style="dim", markup=False)


def _counts(value: object) -> Sequence[tuple[str, float]]:
    assert isinstance(value, dict)
    return list(value.items())
