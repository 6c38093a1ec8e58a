"""`permitbox parse`: what is in a file, without a database; and the way of a file into the corpus."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from appliance.commands.options import Json, city_of, err, out, print_json
from appliance.corpus.records import KINDS
from appliance.domain import Rejected
from appliance.errors import BadRequest
from appliance.parse import (
    Provenance,
    Reading,
    corpus_file,
    file_name_of,
    parse,
    reading_json,
)

_MOST_HEADINGS = 40  # on a terminal


def parse_command(
    file: Annotated[Path, typer.Argument(help="A page, PDF, Word file, law XML or text.")],
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write a corpus file here (a folder: named by title)."),
    ] = None,
    city: Annotated[
        str | None, typer.Option("--city", help="Whose law it is, like new-york-ny.")
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="Where the file was published.")] = None,
    fetched_at: Annotated[
        str | None,
        typer.Option("--fetched-at", help="When it was fetched, like 2026-07-01T12:00:00Z."),
    ] = None,
    doc_type: Annotated[
        str | None, typer.Option("--doc-type", help=f"One of {', '.join(KINDS)}.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read a published file: its sections and tables, or why it is rejected.  Needs no database."""
    if to is not None and city is None:
        raise BadRequest("--to needs --city: a corpus file says whose law it is.")
    known = _provenance(city, url, fetched_at, doc_type)
    try:
        outcome = asyncio.run(parse(file, known))
    except KeyboardInterrupt:
        err.print("permitbox: stopped; nothing was written.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(reading_json(outcome))
    else:
        _print(outcome, file)
    if isinstance(outcome, Rejected) or outcome.reasons:
        raise typer.Exit(1)
    if to is not None:
        written = _write(to, outcome, known)
        err.print(f"written: {written}; `permitbox ingest {written}` loads it", markup=False)


def _provenance(
    city: str | None, url: str | None, fetched_at: str | None, doc_type: str | None
) -> Provenance:
    if doc_type is not None and doc_type not in KINDS:
        raise BadRequest(f"--doc-type {doc_type!r} must be one of {', '.join(KINDS)}.")
    return Provenance(
        city=None if city is None else city_of(city),
        url=url,
        fetched_at=_moment(fetched_at),
        doc_type=doc_type,
    )


def _moment(text: str | None) -> datetime | None:
    """Return the moment that --fetched-at gives, in UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise BadRequest(
            f"--fetched-at {text!r} is not a time like 2026-07-01T12:00:00Z."
        ) from None


def _write(to: Path, reading: Reading, known: Provenance) -> Path:
    """Write the corpus file whole or not at all; return where it is."""
    target = to / file_name_of(reading) if to.is_dir() else to
    if target.suffix != ".md":
        raise BadRequest(f"--to {target}: a corpus file's name ends with .md.")
    half = target.with_name(f".{target.name}.part")
    try:
        half.write_bytes(corpus_file(reading, known).encode())
        half.replace(target)
    except OSError as error:
        raise BadRequest(f"--to {target}: {error.strerror or error}.") from None
    return target


def _print(outcome: Reading | Rejected, file: Path) -> None:
    """Print for a person: what was read, its headings, and what to be wary of."""
    if isinstance(outcome, Rejected):
        err.print(f"rejected: {file}: {'; '.join(outcome.reasons)}", style="red", markup=False)
        return
    out.print(outcome.title, style="bold", markup=False)
    out.print(
        f"{outcome.parsed.format}, {outcome.kind}, {len(outcome.parsed.body):,} characters, "
        f"{len(outcome.sections):,} sections, {outcome.tables:,} tables"
    )
    for section in outcome.sections[:_MOST_HEADINGS]:
        out.print(f"{'  ' * len(section.path)}  {section.heading}", markup=False)
    if len(outcome.sections) > _MOST_HEADINGS:
        out.print(f"  … and {len(outcome.sections) - _MOST_HEADINGS:,} more")
    for note in outcome.parsed.notes:
        out.print(f"note: {note}", style="dim", markup=False)
    for reason in outcome.reasons:
        err.print(f"rejected: {reason}", style="red", markup=False)
