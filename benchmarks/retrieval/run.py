"""The run of the retrieval benchmark: real data in, a box made, the parts one after the other."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import anyio.to_thread
import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.domain import CityId
from appliance.errors import BadRequest
from benchmarks.retrieval import lexical
from benchmarks.retrieval.box import Box, opened, vectors_of
from benchmarks.retrieval.clients import measure_clients
from benchmarks.retrieval.dense import race
from benchmarks.retrieval.progress import Clock, say
from benchmarks.retrieval.report import Report
from benchmarks.retrieval.scale import WIDE, Loaded, Source, load_cities
from benchmarks.retrieval.texts import Piece, made_city, real_pieces, samples
from benchmarks.retrieval.updates import measure_updates
from benchmarks.retrieval.vectors import Pool, pool_of

PARTS = ("dense", "wide", "clients", "words", "updates")
LOADED = {"dense", "wide", "clients"}  # the parts that search the sixty cities
SCALE = 60_000
REAL_TEXT = 60_000  # most chunks of real text that are cut
REAL_VECTORS = 200_000  # most that are read from another box
ENCODED = 1_000  # chunks that are encoded where no box gives vectors
WORD_QUESTIONS = 40
UPDATE_CHUNKS = 6_000  # of the city that changes: large enough for an index of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a run is asked for."""

    command: str
    scale: int = SCALE
    parts: Sequence[str] = PARTS
    home: Path | None = None  # a box whose chunks' vectors are multiplied; None: the samples'
    corpus: Sequence[Path] = ()  # corpus files with the text; none: the samples
    cases: Sequence[Path] = ()  # evaluation cases with the questions; none: the samples'
    questions: int = 20  # to each city
    minutes: float = 90.0


def measure(wanted: Wanted) -> Report:
    """Run the benchmark; SIGTERM ends it as Ctrl-C does, and its folder goes with it."""
    try:
        return asyncio.run(_until_ended(wanted))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _until_ended(wanted: Wanted) -> Report:
    task = asyncio.current_task()
    assert task is not None  # asyncio.run made one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if unknown := set(wanted.parts) - set(PARTS):
        raise BadRequest(f"--part {min(unknown)} is none of {', '.join(PARTS)}.")
    clock = Clock(seconds=60 * wanted.minutes)
    encoder = MiniLmEncoder()
    try:
        return await _measured(wanted, encoder, clock)
    finally:
        encoder.close()


async def _measured(wanted: Wanted, encoder: MiniLmEncoder, clock: Clock) -> Report:
    corpus = list(wanted.corpus) or [samples()]
    say(clock, "cutting real text")
    pieces = await _cut(corpus, encoder, min(wanted.scale, REAL_TEXT))
    texts = _questions(wanted.cases)
    report = Report(
        command=wanted.command,
        scale=wanted.scale,
        real_chunks=sum(len(p.chunks) for p in pieces),
        real_vectors=0,
        questions=len(texts),
        cores=os.cpu_count() or 1,
    )
    pool = None
    if LOADED & set(wanted.parts):
        pool = await anyio.to_thread.run_sync(_pool, wanted, pieces, encoder, clock)
        report.real_vectors = len(pool.vectors)
    async with opened(encoder.model, encoder.dimension, wanted.scale) as box:
        say(clock, f"a box in {box.folder}")
        if pool is not None:
            source = Source(pieces=pieces, pool=pool, questions=encoder.encode_now(texts))
            await _over_cities(box, wanted, source, texts, encoder, report, clock)
        await _over_text(box, wanted, pieces, texts, encoder, report, clock)
        report.server_mb, report.client_mb = box.memory.server_mb, box.memory.client_mb
    report.seconds = round(clock.spent, 1)
    report.cut = clock.cut
    return report


async def _over_cities(
    box: Box,
    wanted: Wanted,
    source: Source,
    texts: Sequence[str],
    encoder: MiniLmEncoder,
    report: Report,
    clock: Clock,
) -> None:
    """Load the cities and run the parts that search them."""
    loaded = await load_cities(box, source, wanted.scale, wanted.questions, clock)
    report.loading = loaded.loading
    _tell(report, "loading")
    for part in _parts(wanted, LOADED, clock):
        if part == "dense":
            report.dense = await race(box, box.vectors, loaded.questions, encoder.dimension, clock)
        elif part == "wide":
            report.wide = await race(box, loaded.wide_vectors, loaded.wide_questions, WIDE, clock)
        else:
            report.clients = await measure_clients(box, encoder, _sizes(loaded), texts, clock)
        _tell(report, part)


async def _over_text(
    box: Box,
    wanted: Wanted,
    pieces: Sequence[Piece],
    texts: Sequence[str],
    encoder: MiniLmEncoder,
    report: Report,
    clock: Clock,
) -> None:
    """Run the parts that load real text of their own."""
    for part in _parts(wanted, set(PARTS) - LOADED, clock):
        if part == "words":
            report.words = await _words(box, pieces, texts, clock)
        else:
            corpus = list(wanted.corpus) or [samples()]
            chunks = min(UPDATE_CHUNKS, report.real_chunks)
            report.updates = await measure_updates(
                box, corpus, pieces, chunks, encoder.tokenizer, clock
            )
        _tell(report, part)


def _tell(report: Report, part: str) -> None:
    """Print a part's figures at once: a run that is killed later has shown them."""
    print(*report.part(part), sep="\n", file=sys.stderr, flush=True)


def _parts(wanted: Wanted, among: AbstractSet[str], clock: Clock) -> Iterator[str]:
    """Yield the wanted parts for which there is time."""
    for part in PARTS:
        if part in wanted.parts and part in among and not clock.over(part):
            say(clock, f"part: {part}")
            yield part


def _sizes(loaded: Loaded) -> dict[CityId, int]:
    return {q.city: q.chunks for q in loaded.questions}


async def _words(
    box: Box, pieces: Sequence[Piece], questions: Sequence[str], clock: Clock
) -> list[lexical.WordFigures]:
    have = sum(len(p.chunks) for p in pieces)
    sizes = [min(size, have) for size in lexical.SIZES]
    # All that there is, where it is not nearly the size before.
    kept = [s for s, before in zip(sizes, [0, *sizes], strict=False) if s > 1.2 * before]
    cities = (made_city(f"words-{size}", pieces, size) for size in kept)
    return await lexical.compare_words(box, list(cities), questions[:WORD_QUESTIONS], clock)


# ------------------------------------------------------------------ what is real


async def _cut(corpus: Sequence[Path], encoder: MiniLmEncoder, most: int) -> list[Piece]:
    """Cut the corpus, letting a cancellation in between, and mix its sections."""
    pieces = []
    for piece in real_pieces(corpus, encoder.tokenizer, most):
        pieces.append(piece)
        if len(pieces) % 64 == 0:
            await asyncio.sleep(0)
    if not pieces:
        raise BadRequest("--corpus holds no section with text.")
    order = np.random.default_rng(1).permutation(len(pieces))
    return [pieces[i] for i in order]


def _questions(cases: Sequence[Path]) -> list[str]:
    files = list(cases) or [Path(__file__).parents[2] / "eval" / "cases" / "samples.jsonl"]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line]
    texts = list(dict.fromkeys(json.loads(line)["question"] for line in lines))
    order = np.random.default_rng(2).permutation(len(texts))
    return [texts[i] for i in order]


def _pool(wanted: Wanted, pieces: Sequence[Piece], encoder: MiniLmEncoder, clock: Clock) -> Pool:
    """Return what vectors are made of: those of the home, or of some of the text, encoded now."""
    if wanted.home is not None:
        say(clock, f"reading vectors of {wanted.home}")
        return pool_of(*vectors_of(wanted.home, encoder.model, REAL_VECTORS))
    by_digest = {d: t for p in pieces for d, t in zip(p.digests, p.inputs, strict=True)}
    chosen = dict(islice(by_digest.items(), ENCODED))
    say(clock, f"encoding {len(chosen)} chunks")
    return pool_of(list(chosen), encoder.encode_now(list(chosen.values())))
