"""`permitbox eval ablate` and `crossval`: what is each part of a search worth?"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from appliance.commands.options import city_of
from appliance.errors import BadRequest
from appliance.ports import Coverage
from appliance.terminal import Ticker
from appliance.wiring import House
from eval import session
from eval.ablation import (
    Ablation,
    AblationResult,
    NoLegAlone,
    ablation_json,
    ablation_of,
    cross_validate,
    in_common,
    validation_json,
)
from eval.entry import Provenance, entry, grids, next_entry
from eval.grids import Grid, parts_grid, untouched_grid
from eval.journal import Header, Journal, parse_journal, resumed
from eval.measure import Selection, measure_ablation, select
from eval.results import RunUnreadable, Sourced, result_line
from eval.session import AsJson, Cases, Cities, Corpus, Limit, More, Plan
from eval.variants import Study, VariantsUnreadable, parse_study

VARIANTS = Path(__file__).with_name("variants.toml")
LEDGER = Path(__file__).with_name("ledger")

# As many passages as the model and the reader get: what the scores look at.
_K = 10


def ablate_command(
    cases: Cases,
    more: More = None,
    variants: Annotated[
        Path, typer.Option("--variants", help="The TOML file of what is compared.")
    ] = VARIANTS,
    corpus: Corpus = None,
    city: Cities = None,
    limit: Limit = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="Write an entry of this name into the ledger.")
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write each result there; go on with what stands there."),
    ] = None,
) -> None:
    """What is each part worth?  Variants of a search over the same questions, compared in pairs."""
    with session.errors_in_one_line():
        study = parse_study(session.read(variants, VariantsUnreadable), variants.name)
        if not any(v.fusion == "leg" for v in study.variants):
            raise NoLegAlone("No variant has fusion 'leg': there is no leg to be no worse than.")
        path = None if ledger is None else next_entry(LEDGER, ledger)
        plan = Plan(
            name="ablate",
            cases=(*cases, *(more or ())),
            corpus=tuple(corpus or ()),
            cities=tuple(map(city_of, city or ())),
            limit=limit,
            options=session.given("--variants", variants, VARIANTS)
            + session.given("--ledger", ledger, None),
            out=out,
            check_floor=False,
            floors=Path(),
            as_json=as_json,
        )
        run = _Run(
            plan=plan,
            study=study,
            cases=session.read_case_files(plan),
            digests=session.digests_of(plan),
        )
        try:
            session.in_house(run.work)
        except KeyboardInterrupt:
            if run.results:
                session.err.print("Stopped: what follows is of the questions asked so far.")
                _report(run, ablation_of(study, run.results))
            raise
        ablation = ablation_of(study, run.results)
        _report(run, ablation)
        if path is not None and ledger is not None:
            path.write_text(entry(ledger, ablation, run.provenance()), "utf-8")
            session.err.print(f"Wrote {path.name}; its decision is yours to write.")


@dataclass(slots=True, kw_only=True)
class _Run:
    """An ablation while it runs; what it has so far outlives a Ctrl-C."""

    plan: Plan
    study: Study
    cases: list[Sourced]
    digests: dict[str, str]
    results: list[AblationResult] = field(default_factory=list)
    selection: Selection = field(default_factory=lambda: Selection(taken=()))
    held: tuple[Coverage, ...] = ()  # of the cities asked

    async def work(self, house: House) -> None:
        """Ask every question of every variant, but those that --out has already."""
        coverages = await house.store.cities()
        self.selection = select(self.cases, coverages, answerable_only=True, limit=self.plan.limit)
        session.tell_selection(self.selection)
        asked = {s.case.city for s in self.selection.taken}
        self.held = tuple(c for c in coverages if c.city.id in asked)
        self._resume()
        await self._collect(
            measure_ablation(
                house.store,
                session.search_in(house),
                self.selection.taken,
                self.study.variants,
                k=_K,
                today=date.today(),
                done={(r.digest, r.key) for r in self.results},
            )
        )

    def _resume(self) -> None:
        """Take over what --out holds, and write it anew under this run's header."""
        out = self.plan.out
        header = Header(
            commit=session.commit(),
            digests=self.digests,
            as_of=date.today().isoformat(),
            variants=tuple(v.name for v in self.study.variants),
        )
        if out is None:
            return
        journal = Journal(header=header, results=())
        if out.exists() and (text := session.read(out, RunUnreadable)):
            journal = resumed(parse_journal(text, out.name), header, self.study.variants, out.name)
        wanted = {(s.file, s.case.id) for s in self.selection.taken}
        self.results = [r for r in journal.results if r.key in wanted]
        with session.opened(out) as lines:
            assert lines is not None
            lines.write(journal.text())
        if self.results:
            session.err.print(f"Going on: {len(self.results):,} results stand in {out.name}.")

    async def _collect(self, measured: AsyncIterator[list[AblationResult]]) -> None:
        total, done = len(self.selection.taken), 0
        ticker, began = Ticker(session.err), time.monotonic()
        with session.opened(self.plan.out, "a") as lines:
            async for results in measured:
                self.results += results
                done += 1
                if lines is not None:
                    lines.writelines(result_line(r) + "\n" for r in results)
                    lines.flush()
                if results:
                    city = results[0].of.case.city
                    ticker(session.progress_of("ablate", city, done, total, began))
        ticker.end()

    def provenance(self) -> Provenance:
        """Return what an entry of the ledger says of the run."""
        sections, chunks = sum(c.sections for c in self.held), sum(c.chunks for c in self.held)
        by_file = {s.file: 0 for s in self.selection.taken}
        for s in self.selection.taken:
            by_file[s.file] += 1
        cases = ", ".join(f"{name} n = {n:,}" for name, n in by_file.items())
        return Provenance(
            command=self.plan.command,
            commit=session.commit(),
            digests=self.digests,
            held=f"{len(self.held):,} places, {sections:,} sections, {chunks:,} chunks",
            cases=f"{cases}; {self.selection.skipped:,} skipped",
            on=date.today(),
        )


def _report(run: _Run, ablation: Ablation) -> None:
    if run.plan.as_json:
        facts = session.provenance(run.plan, run.selection, run.digests)
        print(json.dumps(ablation_json(ablation) | facts, ensure_ascii=False))
        return
    session.out.print(ablation.question, markup=False)
    _print(grids(ablation, whole=False))
    session.out.print(f"{run.plan.command}  (commit {session.commit()})", style="dim", markup=False)


def crossval_command(
    run: Annotated[Path, typer.Argument(help="The --out file of `permitbox eval ablate`.")],
    folds: Annotated[
        int, typer.Option("--folds", min=2, help="In how many parts the cities are held out.")
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Chance's seed for the parts.")] = 0,
    as_json: AsJson = False,
) -> None:
    """What does a choice score where it was not made?  Each city by what other cities would choose."""
    with session.errors_in_one_line():
        journal = parse_journal(session.read(run, RunUnreadable), run.name)
        by = in_common(journal.results, journal.header.variants)
        if not next(iter(by.values()), None):
            raise BadRequest(f"{run.name} holds no case that every variant was asked.")
        validation = cross_validate(by, folds, seed)
        if as_json:
            facts = {"folds": folds, "seed": seed, "commit": journal.header.commit}
            print(json.dumps(validation_json(validation) | facts, ensure_ascii=False))
            return
        _print([parts_grid(validation), untouched_grid(validation)])


def _print(tables: Sequence[Grid]) -> None:
    for grid in tables:
        table = Table(*grid.head, title=grid.title, title_justify="left", box=None, pad_edge=False)
        for row in grid.rows:
            table.add_row(*row)
        session.out.print()
        session.out.print(table, markup=False)
