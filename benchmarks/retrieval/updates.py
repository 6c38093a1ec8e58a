"""Changes of the law: how soon they are found, and whether indexes swell.

The change goes through the whole ingest of a corpus file.  Only the vectors are made up: the encoder's
time is measured elsewhere and words do not wait for it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio.to_thread
import numpy as np

from appliance.clients.encode import MiniLmEncoder
from appliance.domain import CityId
from appliance.errors import BadRequest
from appliance.ingest import corpus_files, decode, ingest, read_bytes
from appliance.ports import Reranker, Tokenizer, Vectors
from benchmarks.retrieval.box import DAY, Box
from benchmarks.retrieval.progress import Clock, Step
from benchmarks.retrieval.texts import Piece, made_city

CITY = CityId("bench-update")
REPEATS = 5
EDITIONS = 3
_POLL = 0.01  # seconds between two looks
_CHARACTERS_A_CHUNK = 600


class MadeUpEncoder:
    """Vectors that are digests of their texts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.model = MiniLmEncoder.model
        self.dimension = MiniLmEncoder.dimension
        self.reranker: Reranker | None = None
        self.tokenizer = tokenizer

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors."""
        return np.stack([self._made_up(text) for text in texts])

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector."""
        return self._made_up(text)

    def _made_up(self, text: str) -> Vectors:
        seed = int.from_bytes(sha256(text.encode()).digest()[:8])
        vector = np.random.default_rng(seed).standard_normal(self.dimension)
        unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """Seconds of a change, and the bytes of a city that was loaded again and again."""

    sections: int  # records of the file
    chunks: int
    n: int
    found_by_words: float  # median seconds from the start of the ingest until a search finds it
    found_worst: float
    ingested: float  # median seconds of the whole ingest, meaning included
    edition_chunks: int  # of the city whose every embedding input changes
    edition_bytes: list[int]  # of its partitions: when new, then after each edition
    growth: float  # of the last over the first


async def measure_updates(
    box: Box,
    corpus: Sequence[Path],
    pieces: Iterable[Piece],
    chunks: int,
    tokenizer: Tokenizer,
    clock: Clock,
) -> Updates:
    """Change one section REPEATS times, and a whole city EDITIONS times."""
    records = _records(corpus, chunks * _CHARACTERS_A_CHUNK)
    encoder = MadeUpEncoder(tokenizer)
    found, whole = [], []
    step = Step(what="updates", total=REPEATS + EDITIONS + 2, clock=clock)
    with tempfile.TemporaryDirectory(prefix="permitbox-bench-") as folder:
        file = Path(folder) / "records.jsonl"
        await _ingest(box, encoder, file, records)
        step.add()
        for turn in range(REPEATS):
            word = f"zyxwuvite{'abcdefgh'[turn]}"
            at = turn * (len(records) // REPEATS)
            records[at]["text"] += f"\nA {word} kiosk needs a permit."
            seconds = await _until_found(box, encoder, file, records, word)
            found.append(seconds[0])
            whole.append(seconds[1])
            step.add()
    held = await box.store.coverage(CITY)
    sizes = await _editions(box, list(pieces), chunks, step)
    return Updates(
        sections=len(records),
        chunks=held.chunks,
        n=REPEATS,
        found_by_words=round(statistics.median(found), 3),
        found_worst=round(max(found), 3),
        ingested=round(statistics.median(whole), 3),
        edition_chunks=chunks,
        edition_bytes=sizes,
        growth=round(sizes[-1] / sizes[0] - 1, 4),
    )


def _records(corpus: Sequence[Path], characters: int) -> list[dict[str, Any]]:
    """Return records of the corpus with about so many characters of text.  Raises BadRequest."""
    records: list[dict[str, Any]] = []
    left = characters
    for path in corpus_files(corpus, []):
        if ".jsonl" not in path.name:
            continue
        for line in decode(read_bytes(path), path).splitlines():
            record = json.loads(line)
            if left > 0 and record.get("text"):
                # One city of all: ids must not meet.
                records.append(record | {"id": f"{len(records)}-{record.get('id', '')}"})
                left -= len(record["text"])
    if len(records) < REPEATS:
        raise BadRequest("--corpus holds no records (.jsonl) to change one of.")
    return records


async def _ingest(
    box: Box, encoder: MadeUpEncoder, file: Path, records: Sequence[dict[str, Any]]
) -> None:
    lines = "".join(json.dumps(r) + "\n" for r in records)
    await anyio.to_thread.run_sync(file.write_text, lines, "utf-8")
    await ingest(box.loader, encoder, [file], city=CITY, today=DAY, tell=lambda _: None)


async def _until_found(
    box: Box,
    encoder: MadeUpEncoder,
    file: Path,
    records: Sequence[dict[str, Any]],
    word: str,
) -> tuple[float, float]:
    """Ingest the changed file; return the seconds until the word is found, and of all."""
    began = time.perf_counter()
    work = asyncio.create_task(_ingest(box, encoder, file, records))
    try:
        while not await box.store.lexical(CITY, word, 1, DAY):
            if work.done():
                await work  # its error, if it was one
                hits = await box.store.lexical(CITY, word, 1, DAY)
                assert hits, "what was ingested is found"
                break
            await asyncio.sleep(_POLL)
        found = time.perf_counter() - began
        await work
    finally:
        work.cancel()
    return found, time.perf_counter() - began


async def _editions(box: Box, pieces: Sequence[Piece], chunks: int, step: Step) -> list[int]:
    """Load a city with new embedding inputs, EDITIONS times; return its bytes after each."""
    sizes = []
    for edition in range(EDITIONS + 1):
        made = made_city("bench-editions", pieces, chunks, edition=str(edition))
        await box.load(made, pipeline=f"edition {edition}")
        vectors = np.random.default_rng(edition).standard_normal((chunks, MiniLmEncoder.dimension))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        await box.keep(box.loader, made.inputs, vectors.astype(np.float32))
        await box.loader.build_dense(box.ids[made.city.id])
        sizes.append(await box.city_bytes(made.city.id))
        step.add()
    return sizes
