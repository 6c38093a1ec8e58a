"""What the commands of `permitbox eval` share: their options, the house around a run, provenance.

Knows the terminal and the file system; measures nothing.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, TextIO, TypeVar

import typer
from rich.console import Console

from appliance.domain import CityId, Query
from appliance.errors import BadRequest, PermitBoxError, UnreadableFile
from appliance.ingest import Progress, corpus_files
from appliance.retrieve import Recipe, Retrieved, retrieve
from appliance.settings import read_settings
from appliance.terminal import Ticker
from appliance.wiring import House, open_house
from eval.cases import CaseError, parse_cases
from eval.floors import digest_of_files
from eval.measure import Search, Selection
from eval.results import Json, Result, Sourced, result_line

# Where nobody looks, a table needs no fitting into 80 columns.
out = Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, soft_wrap=True, highlight=False)

R = TypeVar("R", bound=Result)
T = TypeVar("T")

# The options of a run that floors may rest on.
_STANDARD: Mapping[str, tuple[str, ...]] = {
    "retrieval": (),
    "answers": ("--no-model",),
    "temporal": (),
    "ablate": (),
}

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
Cities = Annotated[
    list[str] | None,
    typer.Option("--city", help="Only this city's cases; may be given several times."),
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
    cities: tuple[CityId, ...]  # whose cases are taken; empty: all
    limit: int | None
    options: tuple[str, ...]  # those that differ from the command's defaults
    out: Path | None
    check_floor: bool
    floors: Path
    as_json: bool

    def file(self, path: Path) -> str:
        """Return the name under which results and floors of a case file, or a part of it, are kept."""
        return f"{path.stem}@{'+'.join(sorted(self.cities))}" if self.cities else path.stem

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
        words += [w for city in self.cities for w in ("--city", city)]
        words += self.options
        words += [] if self.limit is None else ["--limit", str(self.limit)]
        return shlex.join(words)


def given(option: str, value: object, default: object) -> tuple[str, ...]:
    """Return the words of an option that differs from its default."""
    return () if value == default else (option, str(value))


# ------------------------------------------------------------------ files in


def read_case_files(plan: Plan) -> list[Sourced]:
    """Return the cases of the plan's files and cities, in their order.  Raises CaseError."""
    names = [path.stem for path in plan.cases]
    if len(set(names)) < len(names):
        raise BadRequest("Two case files have the same name; results are kept by it.")
    cases = [
        Sourced(file=plan.file(path), case=case)
        for path in plan.cases
        for case in parse_cases(read(path, no_case_file), path.name)
    ]
    if strange := set(plan.cities) - {c.case.city for c in cases}:
        raise BadRequest(f"--city {min(strange)}: no case is about it.")
    return [c for c in cases if not plan.cities or c.case.city in plan.cities]


def no_case_file(why: str) -> CaseError:
    """Return the error of a case file that cannot be read."""
    name, _, rest = why.partition(": ")
    return CaseError(name, None, rest)


def read(path: Path, refusal: Callable[[str], PermitBoxError]) -> str:
    """Return a file's text, or raise what `refusal` makes of the reason."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise refusal(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise refusal(f"{path}: is not UTF-8 text") from error


def digests_of(plan: Plan) -> dict[str, str]:
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
    return {plan.file(path): digest_of_files(path, files) for path in plan.cases}


# ------------------------------------------------------------------ the run


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Print what goes wrong as one sentence, and end with its exit code."""
    try:
        yield
    except PermitBoxError as error:
        err.print(f"permitbox: {error}", style="bold red", markup=False)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        err.print("permitbox: stopped; --out has the cases that were done.")
        raise typer.Exit(130) from None


def in_house(work: Callable[[House], Coroutine[None, None, T]]) -> T:
    """Open the house, do the work in it, close it."""

    async def whole() -> T:
        async with open_house(read_settings()) as house:
            return await work(house)

    return asyncio.run(whole())


def search_in(house: House) -> Search:
    """Return the product's own search over the house, to be asked by recipes."""

    async def search(query: Query, k: int, recipe: Recipe) -> Retrieved:
        return await retrieve(house.store, house.encoder, query, k, recipe=recipe)

    return search


def tell_selection(selection: Selection) -> None:
    """Say what is left out and what is not ready.  Raises NothingToScore."""
    if selection.city_absent:
        err.print(f"{selection.city_absent:,} cases skipped: their city is not in this box.")
    if selection.gold_absent:
        err.print(f"{selection.gold_absent:,} cases skipped: the corpus lacks their gold.")
    if selection.unencoded:
        err.print(
            f"Searched by words only, their meaning not yet encoded: {', '.join(selection.unencoded)}"
        )
    if not selection.taken:
        raise NothingToScore(
            "No case is left to score; `permitbox cities` lists the cities of this box."
        )


async def collect(measured: AsyncIterator[R], total: int, plan: Plan) -> list[R]:
    """Gather the results, showing progress and writing each line at once: a kill loses one."""
    results: list[R] = []
    ticker, began = Ticker(err), time.monotonic()
    with opened(plan.out) as lines:
        async for result in measured:
            results.append(result)
            if lines is not None:
                lines.write(result_line(result) + "\n")
                lines.flush()
            ticker(progress_of(plan.name, result.of.case.city, len(results), total, began))
    ticker.end()
    return results


@contextmanager
def opened(out: Path | None, mode: Literal["w", "a"] = "w") -> Iterator[TextIO | None]:
    """Yield the --out file opened for writing, or None.  Raises BadRequest."""
    if out is None:
        yield None
        return
    try:
        stream = out.open(mode, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"--out {out}: {error.strerror or error}") from error
    with stream:
        yield stream


def progress_of(stage: str, what: str, done: int, total: int, began: float) -> Progress:
    """Return where a run over cases stands; `began` is of the monotonic clock."""
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


def provenance(plan: Plan, selection: Selection, digests: Mapping[str, str]) -> Json:
    """Return what it takes to repeat the run, and what it left out."""
    return {
        "skipped": selection.skipped,
        "skipped_because": {
            "city not in the box": selection.city_absent,
            "gold not in the corpus": selection.gold_absent,
        },
        "unanswerable_left_out": selection.unanswerable,
        "cities_not_encoded": list(selection.unencoded),
        "whole": is_whole(plan, selection),
        "digests": dict(digests),
        "command": plan.command,
        "commit": commit(),
        "as_of": date.today().isoformat(),
    }


def is_whole(plan: Plan, selection: Selection) -> bool:
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
