"""The command `permitbox`: parse options, open the house, call one flow, print.

Every command that a script might read has `--json`.  An error that we know is one
sentence on standard error and an exit code; nothing else is caught.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Iterable
from datetime import date
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated

import typer

from appliance.answering import answered
from appliance.answers.citations import Judgement
from appliance.ask import (
    Asked,
    Event,
    Finished,
    TokenWritten,
    drain,
)
from appliance.commands.absent import absent_command
from appliance.commands.answers import answers_app
from appliance.commands.audit import audit_command
from appliance.commands.cache import cache_app
from appliance.commands.calc import calc_app
from appliance.commands.compare import compare_command
from appliance.commands.diff import diff_command
from appliance.commands.doctor import doctor_command
from appliance.commands.gate import gate_command
from appliance.commands.mcp import mcp_command
from appliance.commands.models import app as models_app
from appliance.commands.options import (
    AsOf,
    City,
    Json,
    ProfileName,
    city_of,
    day_of,
    err,
    out,
    print_json,
    profile_of,
    run_in_house,
)
from appliance.commands.parse import parse_command
from appliance.commands.plan import plan_command
from appliance.commands.proof import proof_app
from appliance.commands.refs import refs_command
from appliance.commands.reindex import reindex_command
from appliance.commands.search import search_command
from appliance.errors import EmptyIndex, PermitBoxError
from appliance.forms import (
    judgement_json,
    outcome_json,
    record_of,
)
from appliance.ingest import Summary, ingest
from appliance.owner_file import owner_of_home
from appliance.ports import Coverage
from appliance.settings import read_settings
from appliance.terminal import Ticker, print_answer
from appliance.verify import ClaimLine, verify_claims
from appliance.wiring import House

app = typer.Typer(
    help="Answers building-permit questions from a city's own code, with proven citations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the entry point of the distribution."""
    # The pool says in many lines what our own error says in one sentence.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    _mount(app)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # at exit it would be too late to answer for a closed pipe
    except PermitBoxError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `permitbox search … | head`
        # What is still in the buffer would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def _complain(sentence: str) -> None:
    """Say on standard error, in one line, what went wrong."""
    line = " ".join(sentence.split())
    err.print(f"permitbox: {line}", style="bold red", markup=False)


def _mount(into: typer.Typer) -> None:
    """Add the sub-commands of the packages above, which the appliance does not import."""
    for point in sorted(entry_points(group="permitbox.commands"), key=lambda p: p.name):
        into.add_typer(point.load(), name=point.name)


# ------------------------------------------------------------------ ingest


@app.command("ingest")
def ingest_command(
    paths: Annotated[list[Path], typer.Argument(help="Corpus files or folders.")],
    city: Annotated[
        str | None, typer.Option("--city", help="Read every record as of this city.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Load corpus files; run again it goes on where it was, or does nothing."""
    override = None if city is None else city_of(city)
    tell = Ticker(err)
    summary: Summary = run_in_house(
        lambda house: ingest(
            house.loader, house.encoder, paths, city=override, today=date.today(), tell=tell
        )
    )
    tell.end()
    _report_ingest(summary, as_json)
    if summary.unreadable:
        raise typer.Exit(1)


def _report_ingest(summary: Summary, as_json: bool) -> None:
    for error in summary.unreadable:
        err.print(f"not read: {error}", style="red", markup=False)
    for rejected in summary.rejected[:20]:
        err.print(f"rejected: {rejected.where}: {'; '.join(rejected.reasons)}", markup=False)
    if len(summary.rejected) > 20:
        err.print(f"… and {len(summary.rejected) - 20:,} more records rejected")
    rate = summary.encoded / summary.encode_seconds if summary.encode_seconds > 0.01 else 0.0
    facts = {
        "documents": summary.documents,
        "sections": summary.sections,
        "chunks": summary.chunks,
        "seconds": round(summary.seconds, 2),
        "encoded": summary.encoded,
        "chunks_per_second": round(rate, 1),
        "unchanged_files": summary.unchanged,
        "rejected": len(summary.rejected),
        "unreadable": len(summary.unreadable),
        "states": {a.coverage.city.id: a.state.value for a in summary.audited},
    }
    for audited in summary.audited:
        if not audited.state.searchable:
            why = "; ".join(f.reason for f in audited.verdict.findings)
            line = f"{audited.state}, not searchable: {audited.coverage.city.id}: {why}"
            err.print(line, style="bold red", markup=False)
    if as_json:
        print_json(facts)
        return
    out.print(
        f"{summary.documents:,} documents, {summary.sections:,} sections, {summary.chunks:,} chunks "
        f"new or changed; {summary.encoded:,} encoded ({rate:.1f} chunks/s); "
        f"{summary.unchanged:,} files unchanged; {summary.seconds:.1f} s"
    )


# ------------------------------------------------------------------ cities


@app.command("cities")
def cities_command(as_json: Json = False) -> None:
    """List the cities of this box and what can be searched of each."""
    cities: Iterable[Coverage] = run_in_house(lambda house: house.store.cities())
    rows = [
        {
            "city": c.city.id,
            "name": c.city.name,
            "sections": c.sections,
            "chunks": c.chunks,
            "newest": c.newest.isoformat() if c.newest else None,
            "status": c.status,
            "state": c.state.value,
            "coverage": c.about,
        }
        for c in cities
    ]
    if as_json:
        print_json(rows)
        return
    if not rows:
        raise EmptyIndex("Nothing has been ingested yet; `permitbox ingest PATH` loads a code.")
    for row in rows:
        out.print(
            f"{row['city']:<28} {row['sections']:>7,} sections {row['chunks']:>8,} chunks  "
            f"{row['newest'] or 'undated':<10}  {row['state']}, {row['status']}"
        )
        out.print(f"    {row['coverage']}", markup=False, style="dim")


# ------------------------------------------------------------------ ask


@app.command("ask")
def ask_command(
    question: Annotated[str, typer.Argument(help="The question, in your own words.")],
    city: City,
    as_of: AsOf = None,
    after: Annotated[
        list[str] | None,
        typer.Option(help="A question that this one follows; may be given several times."),
    ] = None,
    cache: Annotated[
        bool,
        typer.Option("--cache/--no-cache", help="Give an answer again that was made before."),
    ] = True,
    as_json: Json = False,
) -> None:
    """Answer a question from the city's code, with proven citations."""
    asked = Asked(
        question=question, city=city_of(city), as_of=day_of(as_of), before=tuple(after or ())
    )

    async def work(house: House) -> Finished:
        def show(event: Event) -> None:
            if isinstance(event, TokenWritten) and not event.demo and not as_json:
                sys.stderr.write(event.text)
                sys.stderr.flush()

        memory = house.memory if cache else None
        chat = await house.chat()
        events = answered(house.store, house.encoder, chat, asked, memory=memory)
        finished = await drain(events, show)
        await house.trail.keep(record_of(finished, owner_of_home(house.settings.home)))
        return finished

    finished: Finished = run_in_house(work)
    if as_json:
        print_json(outcome_json(finished))
        return
    print_answer(finished, out)


# ------------------------------------------------------------------ verify


@app.command("verify")
def verify_command(as_json: Json = False, as_of: AsOf = None) -> None:
    """Check citations: JSON lines {"city","citation","claim"} on standard input, a verdict each.

    No model is used.  The verdicts: proven, phantom, repealed, not_yet_in_force, misquoted,
    wrong_section, wrong_city, unsupported.
    """
    day = day_of(as_of)
    lines = [line for line in sys.stdin.buffer if line.strip()]  # bytes: UTF-8 in any locale
    claims = [ClaimLine.parse(line, number) for number, line in enumerate(lines, start=1)]

    async def work(house: House) -> list[Judgement]:
        return await verify_claims(house.store, claims, day)

    for claim, judgement in zip(claims, run_in_house(work), strict=True):
        if as_json:
            print_json(judgement_json(judgement))
        else:
            external_id = judgement.section.external_id if judgement.section else ""
            line = f"{judgement.verdict.value:<16} {claim.citation}  {external_id}"
            out.print(f"{line}  {judgement.why or ''}".rstrip(), markup=False)


app.command("absent")(absent_command)
app.command("audit")(audit_command)
app.add_typer(answers_app, name="answers")
app.add_typer(cache_app, name="cache")
app.add_typer(calc_app, name="calc")
app.add_typer(proof_app, name="proof")
app.command("compare")(compare_command)
app.command("diff")(diff_command)
app.command("gate")(gate_command)
app.command("parse")(parse_command)
app.command("refs")(refs_command)
app.command("search")(search_command)
app.command("reindex")(reindex_command)
app.command("doctor")(doctor_command)
app.add_typer(models_app, name="models")
app.command("mcp")(mcp_command)
app.command("plan")(plan_command)


# ------------------------------------------------------------------ serve, up, version


serve_app = typer.Typer(invoke_without_command=True)
app.add_typer(serve_app, name="serve")


@serve_app.callback()
def serve_command(
    context: typer.Context,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="The port.")] = None,
) -> None:
    """Serve the page and the API over this home, without starting a model server."""
    from appliance.up import serve

    if context.invoked_subcommand is not None:
        return
    settings = read_settings()
    asyncio.run(serve(settings, port=settings.port if port is None else port, out=out))


@serve_app.command("llm")
def serve_llm_command(profile: ProfileName = None) -> None:
    """Serve the profile's language model alone, as planned, for the boxes of this home."""
    from appliance.up import serve_llm

    asyncio.run(serve_llm(read_settings(), profile_of(profile), out=out))


@app.command("up")
def up_command() -> None:
    """Bring the whole box up: page, sample cities if it is empty, model server; until Ctrl-C."""
    from appliance.up import up

    asyncio.run(up(read_settings(), out=out))


@app.command("version")
def version_command() -> None:
    """Print the version."""
    out.print(version("permitbox"))


if __name__ == "__main__":
    main()
