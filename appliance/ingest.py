"""Corpus files into the store: read, gate, cut, store, weigh, encode.

The flow asks the store what is left to do and does it piece by piece, so that a
run that was killed goes on where it was and a run over unchanged files does
nothing.  Each city that has changed is audited when all files are read; unless that quarantines it,
it can be searched by words from then on, and by meaning when all its chunks have vectors.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import anyio.to_thread
import zstandard

from appliance.audit import Audited, audit_due
from appliance.corpus.chunks import chunk_section, embedding_input, fitted_breadcrumb
from appliance.corpus.cross_references import mentions_of
from appliance.corpus.defined_terms import definitions_of
from appliance.corpus.entities import districts_defined, entities_of
from appliance.corpus.labels import labels_of
from appliance.corpus.records import Read, read_markdown, read_records
from appliance.domain import CityId, Document, Rejected, Section, digest_of
from appliance.errors import ChunkTooLong, UnreadableFile
from appliance.ports import Encoder, LoadDocument, Loader, Tokenizer

# Changes of parser, chunker, breadcrumb or labels that alter what is stored raise this number:
# files are then read anew, and only chunks whose embedding input changed are encoded again.
PIPELINE = "2"

_SUFFIXES = (".md", ".jsonl", ".jsonl.zst", ".md.zst")
# Folders of a corpus that hold other things than law text say so by these names.
_NOT_LAW = ("SOURCE.md", "README.md")
# A file beyond this would not fit into memory with its chunks on the smallest box.
_LARGEST = 1_000_000_000
# Bytes of a packed file that are unpacked at once: zstandard reaches 1:33,000, so that a bomb is
# seen before it has 130 MB more than allowed.
_PIECE = 4096

_TWICE = "the id occurs twice in this file; the first one is kept"

# What is kept of a file's rejections: some reasons quote the record, so that each is another one.
_REASONS = 20
_REASON = 200

BATCH = 64  # texts per call of the encoder; also how much a kill can lose
# After so many batches (some 10 s) the city's share of encoded chunks is counted anew: that takes
# 50 ms with 40,000 chunks.
NOTED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run stands, for whoever shows it."""

    stage: str  # reading | references | encoding
    what: str  # the file or the city at work
    done: int
    total: int
    unit: str  # bytes | mentions | chunks
    rate: float  # units a second since the stage began
    eta: float | None  # seconds


@dataclass(slots=True, kw_only=True)
class Summary:
    """What a run did."""

    documents: int = 0
    sections: int = 0
    chunks: int = 0
    encoded: int = 0
    unchanged: int = 0
    seconds: float = 0.0
    encode_seconds: float = 0.0
    rejected: list[Rejected] = field(default_factory=list)
    unreadable: list[UnreadableFile] = field(default_factory=list)
    audited: list[Audited] = field(default_factory=list)  # the cities that were new or changed


Tell = Callable[[Progress], None]


async def ingest(
    loader: Loader,
    encoder: Encoder,
    paths: Sequence[Path],
    *,
    city: CityId | None,
    today: date,
    tell: Tell,
) -> Summary:
    """Bring the corpus files under `paths` into the store.

    Unreadable files and rejected records are named in the summary; the others go
    on.  Raises IngestRunning if another ingest works on the same store.
    """
    summary = Summary()
    began = time.monotonic()
    files = corpus_files(paths, summary.unreadable)
    async with loader.exclusive():
        await _read_files(loader, encoder.tokenizer, files, city, today, tell, summary)
        await link_all(loader, tell)
        summary.audited = await audit_due(loader.audits, today)
        await encode_all(loader, encoder, tell, summary)
    summary.seconds = time.monotonic() - began
    return summary


# ------------------------------------------------------------------ reading


def corpus_files(paths: Iterable[Path], unreadable: list[UnreadableFile]) -> list[Path]:
    """Return the corpus files among `paths` and below the folders among them, sorted per folder."""
    files: list[Path] = []
    for path in paths:
        try:
            files += _files_at(path)
        except UnreadableFile as error:
            unreadable.append(error)
        except OSError as error:  # a name that is too long, a folder that is closed to us
            unreadable.append(UnreadableFile(str(path), error.strerror or str(error)))
    return list(dict.fromkeys(files))


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and is_corpus_file(p))
        if not inside:
            raise UnreadableFile(str(path), f"holds no corpus file ({', '.join(_SUFFIXES)})")
        return [p.resolve() for p in inside]
    if not path.is_file():
        raise UnreadableFile(str(path), "there is no such file or folder")
    if not path.name.endswith(_SUFFIXES):
        raise UnreadableFile(
            str(path),
            f"is not a corpus file ({', '.join(_SUFFIXES)}); "
            "run `permitbox parse FILE --to FILE.md --city ID` first",
        )
    return [path.resolve()]


def is_corpus_file(path: Path) -> bool:
    """Tell whether a file in a corpus folder is law text by its name."""
    return path.name.endswith(_SUFFIXES) and path.name not in _NOT_LAW


async def _read_files(
    loader: Loader,
    tokenizer: Tokenizer,
    files: Sequence[Path],
    city: CityId | None,
    today: date,
    tell: Tell,
    summary: Summary,
) -> None:
    sizes = {f: _size(f) for f in files}
    clock = _Clock("reading", "bytes", sum(sizes.values()), tell)
    for path, size in sizes.items():
        try:
            await _read_file(loader, tokenizer, path, city, today, summary)
        except UnreadableFile as error:
            summary.unreadable.append(error)
        clock.add(size, path.name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone meanwhile: reading it will say so
        return 0


async def _read_file(
    loader: Loader,
    tokenizer: Tokenizer,
    path: Path,
    city: CityId | None,
    today: date,
    summary: Summary,
) -> None:
    raw = await anyio.to_thread.run_sync(read_bytes, path)
    digest = sha256(raw).hexdigest()
    if await loader.file_known(str(path), city or "", digest, PIPELINE):
        summary.unchanged += 1
        return
    text = decode(raw, path)
    reads, rejected = await anyio.to_thread.run_sync(_parse, text, path, city)
    summary.rejected += rejected
    if not reads and not rejected:
        # A download that failed must not end all that the file held before.
        raise UnreadableFile(str(path), "holds no record")
    fresh, unchanged = await _split_unchanged(loader, reads)
    try:
        documents = await anyio.to_thread.run_sync(
            _prepare_all, fresh, tokenizer, _districts(reads)
        )
    except ChunkTooLong as error:
        raise UnreadableFile(str(path), str(error)) from error
    result = await loader.load_file(
        path=str(path),
        city_override=city or "",
        digest=digest,
        pipeline=PIPELINE,
        documents=documents,
        unchanged=[(r.city, r.accepted.document.external_id, r.place) for r in unchanged],
        rejected=len(rejected),
        reasons=_reasons(rejected),
        whole=all(r.reasons == (_TWICE,) for r in rejected),
        today=today,
    )
    summary.documents += result.documents
    summary.sections += result.sections
    summary.chunks += result.chunks


def _reasons(rejected: Iterable[Rejected]) -> dict[str, int]:
    """Return how often records were turned away for which reason, the most frequent ones."""
    counts = Counter(reason[:_REASON] for each in rejected for reason in each.reasons)
    return dict(counts.most_common(_REASONS))


def read_bytes(path: Path) -> bytes:
    """Return the (decompressed) bytes of a corpus file.  Raises UnreadableFile."""
    if not _is_text(str(path)):
        raise UnreadableFile(str(path), "its name is not UTF-8 text; rename it")
    try:
        if path.stat().st_size > _LARGEST:
            raise UnreadableFile(str(path), "is larger than 1 GB; split it by city")
        if path.name.endswith(".zst"):
            return _unpack(path)
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFile(str(path), error.strerror or str(error)) from error


def _is_text(name: str) -> bool:
    """Tell whether a file's name is text, which the database can keep."""
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _unpack(path: Path) -> bytes:
    """Return what a zstandard file holds: all of its frames, each to its very end.

    Not by zstandard's own stream, which takes the file's end for the data's end.
    """
    unpacked = bytearray()
    try:
        with path.open("rb") as packed:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while piece := packed.read(_PIECE):
                while piece:
                    if frame.eof:
                        frame = zstandard.ZstdDecompressor().decompressobj()
                    unpacked += frame.decompress(piece)
                    piece = frame.unused_data
                    if len(unpacked) > _LARGEST:
                        raise UnreadableFile(
                            str(path), "unpacks to more than 1 GB; split it by city"
                        )
    except zstandard.ZstdError as error:
        raise UnreadableFile(str(path), f"is not a whole zstandard file ({error})") from error
    if not frame.eof:
        raise UnreadableFile(str(path), "is not a whole zstandard file (its end is missing)")
    return bytes(unpacked)


def decode(raw: bytes, path: Path) -> str:
    """Return the text of a corpus file, which must be UTF-8.  Raises UnreadableFile."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            str(path), f"is not UTF-8 text (byte {error.start:,}); convert it first"
        ) from error


def _parse(text: str, path: Path, city: CityId | None) -> tuple[list[Read], list[Rejected]]:
    if ".jsonl" in path.name:
        results = list(read_records(text, name=path.name, city=city))
    else:
        results = [read_markdown(text, name=str(path), city=city)]
    reads: dict[tuple[str, str], Read] = {}
    rejected = []
    for place, result in enumerate(results):
        if isinstance(result, Rejected):
            rejected.append(result)
            continue
        key = (result.city.id, result.accepted.document.external_id)
        if key in reads:
            rejected.append(
                Rejected(
                    where=f"{path.name} ({key[1]})",
                    reasons=(_TWICE,),
                )
            )
        else:
            reads[key] = replace(result, place=place)
    return list(reads.values()), rejected


async def _split_unchanged(loader: Loader, reads: Sequence[Read]) -> tuple[list[Read], list[Read]]:
    """Separate what is new or changed from what the store has already."""
    fresh: list[Read] = []
    unchanged: list[Read] = []
    cities = {r.city.id: r.city for r in reads}
    for id_, city in cities.items():
        of_city = [r for r in reads if r.city.id == id_]
        known = await loader.versions(city, [r.accepted.document.external_id for r in of_city])
        for read in of_city:
            same = known.get(read.accepted.document.external_id) == (version_of(read), PIPELINE)
            (unchanged if same else fresh).append(read)
    return fresh, unchanged


def version_of(read: Read) -> str:
    """Return the digest of everything that a citation may show: body, structure, dates, names."""
    document = read.accepted.document
    facts = [
        document.digest,
        document.kind,
        document.title,
        document.source.url,
        str(document.effective_from),
        str(document.effective_until),
        document.superseded_by,
        [
            (s.external_id, s.citation, s.number, s.heading, s.path, s.standing)
            + (s.span.start, s.span.end)
            for s in read.accepted.sections
        ],
    ]
    return digest_of(json.dumps(facts, ensure_ascii=False))


def _districts(reads: Iterable[Read]) -> dict[CityId, frozenset[str]]:
    """Return the codes of the zoning districts that the headings of a file define, by city."""
    headings: dict[CityId, set[tuple[str, ...]]] = {}
    for read in reads:
        of_city = headings.setdefault(read.city.id, set())
        for section in read.accepted.sections:
            of_city.add((*section.path, section.heading))
    return {city: districts_defined(names) for city, names in headings.items()}


def _prepare_all(
    reads: Sequence[Read], tokenizer: Tokenizer, districts: Mapping[CityId, frozenset[str]]
) -> list[LoadDocument]:
    return [_prepare(read, tokenizer, districts[read.city.id]) for read in reads]


def _prepare(read: Read, tokenizer: Tokenizer, districts: frozenset[str]) -> LoadDocument:
    document: Document = read.accepted.document
    sections: tuple[Section, ...] = read.accepted.sections
    crumbs = tuple(fitted_breadcrumb(s, tokenizer) for s in sections)
    chunks = []
    for position, section in enumerate(sections):
        for chunk in chunk_section(document.body, section, position, tokenizer):
            titles = [title.of(document.body) for title in chunk.titles]
            words = embedding_input(crumbs[position], titles, chunk.text)
            chunks.append((chunk, sha256(words.encode()).digest()))
    return LoadDocument(
        city=read.city,
        document=document,
        version=version_of(read),
        sections=sections,
        crumbs=crumbs,
        labels=labels_of(document.body, sections),
        chunks=tuple(chunks),
        place=read.place,
        entities=tuple(
            (position, entity)
            for position, section in enumerate(sections)
            for entity in entities_of(section.span.of(document.body), districts)
        ),
        amendments=read.accepted.amendments,
        mentions=tuple(mentions_of(document.body, sections)),
        definitions=tuple(definitions_of(document.body, sections)),
    )


# ------------------------------------------------------------------ references


async def link_all(loader: Loader, tell: Tell) -> None:
    """Work out where the mentions lead, in each city whose sections have changed."""
    unlinked = await loader.unlinked_cities()
    clock = _Clock("references", "mentions", sum(c.mentions for c in unlinked), tell)
    for city in unlinked:
        await loader.link_references(city.id)
        clock.add(city.mentions, city.slug)
        _stop_if_cancelled()


# ------------------------------------------------------------------ encoding


async def encode_all(loader: Loader, encoder: Encoder, tell: Tell, summary: Summary) -> None:
    """Give every chunk its vector, city by city, the smallest rest first."""
    stale = sorted(await loader.stale_cities(), key=lambda c: c.unencoded)
    total = sum(c.unencoded for c in stale)
    clock = _Clock("encoding", "chunks", total, tell)
    job = await loader.job("encode", total)
    state = "stopped"  # also on Ctrl-C: whoever reads the row must not take the work for running
    try:
        for city in stale:
            try:
                async for count in _encode_city(loader, encoder, city.id):
                    summary.encoded += count
                    clock.add(count, city.slug)
                    await loader.report(job, clock.done, clock.rate)
                    _stop_if_cancelled()
            finally:
                await loader.note_progress(city.id)
            await loader.build_dense(city.id)
        state = "done"
    finally:
        summary.encode_seconds = clock.seconds
        await loader.report(job, clock.done, clock.rate, state=state)


def _stop_if_cancelled() -> None:
    """Raise the cancellation that was asked for, should it have been lost on the way.

    `asyncio.wait_for` of Python 3.11, which the database driver waits with, can swallow one that
    arrives together with the result (CPython issue 81839).
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _encode_city(loader: Loader, encoder: Encoder, city: int) -> AsyncIterator[int]:
    while tasks := await loader.next_unencoded(city, BATCH * 64):
        for i in range(0, len(tasks), BATCH):
            batch = tasks[i : i + BATCH]
            texts = [embedding_input(t.crumb, t.titles, t.text) for t in batch]
            await loader.keep_vectors(batch, await encoder.encode_documents(texts))
            yield len(batch)
            if i // BATCH % NOTED == NOTED - 1:
                await loader.note_progress(city)


class _Clock:
    """Counts units and tells progress with rate and ETA."""

    def __init__(self, stage: str, unit: str, total: int, tell: Tell) -> None:
        self.stage, self.unit, self.total, self.tell = stage, unit, total, tell
        self.done = 0
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def rate(self) -> float:
        return self.done / max(self.seconds, 1e-6)

    def add(self, count: int, what: str) -> None:
        self.done += count
        self.tell(
            Progress(
                stage=self.stage,
                what=what,
                done=self.done,
                total=self.total,
                unit=self.unit,
                rate=self.rate,
                eta=(self.total - self.done) / self.rate if self.done else None,
            )
        )
