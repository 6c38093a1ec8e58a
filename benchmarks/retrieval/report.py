"""The figures of a run, as JSON and as the tables of a ledger entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.retrieval.clients import Crowd, Times
from benchmarks.retrieval.dense import OURS, Figures, Race
from benchmarks.retrieval.lexical import K as WORDS_K
from benchmarks.retrieval.lexical import WordFigures
from benchmarks.retrieval.scale import Loading, Rate
from benchmarks.retrieval.updates import Updates


@dataclass(slots=True, kw_only=True)
class Report:
    """What was measured; a part that was not asked for, or not reached, is None."""

    command: str
    scale: int
    real_chunks: int  # of text
    real_vectors: int
    questions: int  # real ones
    cores: int
    loading: Loading | None = None
    dense: Race | None = None
    wide: Race | None = None
    words: list[WordFigures] | None = None
    updates: Updates | None = None
    clients: Crowd | None = None
    server_mb: int = 0
    client_mb: int = 0
    seconds: float = 0.0
    cut: list[str] = field(default_factory=list)  # what had to stop for the time

    def json(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        facts = asdict(self)
        if self.loading:
            facts["loading"] |= {
                name: {"rows": rate.rows, "seconds": round(rate.seconds, 2)}
                | {"rows_a_second": rate.a_second}
                for name, rate in _rates(self.loading)
            }
        return facts

    def lines(self) -> Iterator[str]:
        """Yield the lines of a Markdown report."""
        yield f"`{self.command}`: {self.scale:,} chunks, {self.cores} cores, {self.seconds:.0f} s."
        yield (
            f"Made of {self.real_chunks:,} real chunks, {self.real_vectors:,} real vectors and "
            f"{self.questions:,} real questions. Most memory: server {self.server_mb:,} MB, "
            f"this process {self.client_mb:,} MB."
        )
        if self.cut:
            yield f"Cut short for the time: {', '.join(self.cut)}."
        for part in ("loading", "dense", "wide", "clients", "words", "updates"):
            yield from self.part(part)

    def part(self, name: str) -> Iterator[str]:
        """Yield the lines of one part; none if it was not measured."""
        measured = getattr(self, name)
        if measured is not None:
            yield from _LINES[name](measured)


def _rates(loading: Loading) -> list[tuple[str, Rate]]:
    names = ("rows", "vectors", "built_small", "built_large", "wide_built")
    return [(name, getattr(loading, name)) for name in names]


_STEPS = {
    "rows": "sections, chunks, words",
    "vectors": "vectors kept",
    "built_small": "partitions up to 5,000, with their swap",
    "built_large": "larger partitions, with their index",
    "wide_built": "partitions of 1,024 dimensions, with their index",
}


def _loading(loading: Loading) -> Iterator[str]:
    yield from _title("Loading")
    yield from _table(
        ("step", "rows", "seconds", "rows a second"),
        [
            (_STEPS[name], f"{rate.rows:,}", f"{rate.seconds:.1f}", f"{rate.a_second:,.0f}")
            for name, rate in _rates(loading)
        ],
    )
    yield (
        f"Bytes a row: {loading.bytes_a_row} and {loading.index_bytes_a_row} of index (1,024 dimensions: "
        f"{loading.wide_bytes_a_row} and {loading.wide_index_bytes_a_row}). Cosine of a question's "
        f"first and twelfth nearest: {loading.real_nearness[0]:.3f} and {loading.real_nearness[1]:.3f} "
        f"in the real vectors, {loading.made_nearness[0]:.3f} and {loading.made_nearness[1]:.3f} in the "
        "largest city."
    )


def _race(race: Race) -> Iterator[str]:
    yield from _title(f"By meaning, {race.dimension} dimensions, {race.chunks:,} chunks")
    yield from _table(
        (
            "cities",
            "contestant",
            "n",
            "rows of 12, mean (least)",
            "empty",
            "by graph",
            "recall@12, mean",
        )
        + ("worst city", "least ms", "p50 ms", "p95 ms"),
        [_race_row(f) for f in sorted(race.figures, key=lambda f: _place(race.figures, f))],
    )
    yield (
        f"The global index took {race.global_seconds:.0f} s and "
        f"{race.global_bytes / 1e6:.0f} MB. In the cities under 2 % of the rows the p95 of relaxed is "
        f"{race.relaxed_over_ours_p95} times ours."
    )


def _place(rows: Sequence[Figures], row: Figures) -> int:
    """Order by cities and not by contestant."""
    groups = list(dict.fromkeys(f.over for f in rows))
    return groups.index(row.over)


def _race_row(f: Figures) -> tuple[str, ...]:
    name = f"**{f.contestant}**" if f.contestant == OURS else f.contestant
    return (
        f"{f.over} ({f.cities})",
        name,
        f"{f.n:,}",
        f"{f.rows_mean:.1f} ({f.rows_min})",
        f"{f.empty:.1%}",
        f"{f.graph:.0%}",
        f"{f.recall:.3f}",
        f"{f.recall_worst:.3f}",
        f"{f.least:.1f}",
        f"{f.p50:.1f}",
        f"{f.p95:.1f}",
    )


def _words(rows: Sequence[WordFigures]) -> Iterator[str]:
    yield from _title("By words")
    yield from _table(
        (
            "chunks",
            "contestant",
            "n",
            f"rows of {WORDS_K}",
            "agreement",
            "least ms",
            "p50 ms",
            "p95 ms",
        ),
        [
            (f"{w.chunks:,}", f"**{w.contestant}**" if w.contestant == OURS else w.contestant)
            + (
                f"{w.n}",
                f"{w.rows_mean:.1f}",
                f"{w.agreement:.1%}",
                f"{w.least:.1f}",
                f"{w.p50:.1f}",
                f"{w.p95:.1f}",
            )
            for w in rows
        ],
    )


def _updates(u: Updates) -> Iterator[str]:
    yield from _title("Updates")
    yield (
        f"One section of {u.sections:,} ({u.chunks:,} chunks) changed, n = {u.n}: found by words after "
        f"{u.found_by_words:.2f} s (worst {u.found_worst:.2f}), all done after {u.ingested:.2f} s. "
        f"A city of {u.edition_chunks:,} chunks with every embedding input changed three times: "
        f"{' -> '.join(f'{b / 1e6:.2f}' for b in u.edition_bytes)} MB ({u.growth:+.1%})."
    )


def _clients(crowd: Crowd) -> Iterator[str]:
    yield from _title("Whole searches")
    rows: list[Times] = [*crowd.parts, crowd.many_cities, *crowd.crowds]
    yield from _table(
        ("what", "n", "least ms", "p50 ms", "p95 ms", "searches a second"),
        [
            (t.what, f"{t.n:,}", f"{t.least:.1f}", f"{t.p50:.1f}", f"{t.p95:.1f}")
            + (f"{t.a_second:.1f}" if t.a_second else "",)
            for t in rows
        ],
    )


def _title(text: str) -> Iterator[str]:
    yield ""
    yield f"**{text}.**"
    yield ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


_LINES: dict[str, Callable[[Any], Iterator[str]]] = {
    "loading": _loading,
    "dense": _race,
    "wide": _race,
    "clients": _clients,
    "words": _words,
    "updates": _updates,
}
