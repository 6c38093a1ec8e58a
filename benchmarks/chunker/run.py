"""The comparison as a whole: documents from the corpus, races, growth, retrieval.

It prints as it goes, since a part takes minutes.  Without docling only our own
figures can be had, and how to get the others is said at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from appliance.clients.encode import MiniLmEncoder
from appliance.corpus.records import Read
from appliance.errors import BadRequest
from appliance.ingest import decode, read_bytes
from appliance.ports import Tokenizer
from benchmarks.chunker.documents import (
    Document,
    Record,
    beginning,
    long_list,
    markdown_of,
    record_of,
    short_list,
    table,
)
from benchmarks.chunker.hybrid import INSTALL, Hybrid
from benchmarks.chunker.retrieval import (
    SCORES,
    Cut,
    Index,
    Scores,
    compared,
    joined,
    judged,
    our_cut,
    their_cut,
)
from benchmarks.chunker.speed import PATIENCE, chunk_ours, growth, race
from benchmarks.gate import law_sections
from eval.cases import Case, parse_cases

PARTS = ("speed", "growth", "retrieval")
MEGABYTES = (1.0, 3.5, 7.0, 14.0)
# Cities with questions whose records came with their lines (Brandon, San Mateo) and without (Newport
# News), small enough to be encoded in minutes.
CITIES = ("brandon-sd", "san-mateo-ca", "newport-news-va")
_CASES = ("dev-cities.jsonl", "dev-va-tn.jsonl")


def report(
    shared: Path, python: Path | None, parts: Sequence[str], cities: Sequence[str], rounds: int
) -> Iterator[str]:
    """Yield the figures of the wanted parts as lines.  Raises BadRequest."""
    if strange := sorted(set(parts) - set(PARTS)):
        raise BadRequest(f"There is no part {strange[0]!r}: choose from {', '.join(PARTS)}.")
    encoder = MiniLmEncoder()
    limit = encoder.tokenizer.limit
    with nullcontext() if python is None else Hybrid(python, limit) as hybrid:
        if hybrid is not None:
            yield hybrid.versions
        if "speed" in parts:
            yield from _speed(shared, encoder, hybrid, rounds)
        if "growth" in parts:
            yield from _growth(shared, encoder, hybrid, rounds)
        if "retrieval" in parts and hybrid is not None:
            yield from _retrieval(shared, encoder, hybrid, cities)
    encoder.close()
    if python is None:
        yield f"Without docling there is nothing to compare with. {INSTALL}"


# ------------------------------------------------------------------ speed


def _speed(
    shared: Path, encoder: MiniLmEncoder, hybrid: Hybrid | None, rounds: int
) -> Iterator[str]:
    race(short_list(20), encoder.tokenizer, hybrid, 1)  # what both load at first use
    for document in _racing(shared):
        yield race(document, encoder.tokenizer, hybrid, rounds).report()


def _racing(shared: Path) -> Iterator[Document]:
    san_mateo = markdown_of("San Mateo from records", _records(shared, ["san-mateo-ca"]))
    yield beginning(san_mateo, 1_000_000)
    published = shared / "corpus" / "code-somerville-ma" / "somerville-zoning.md.zst"
    body = decode(read_bytes(published), published)
    yield beginning(Document(name="Somerville zoning as published", body=body), 1_000_000)
    for items in (2_000, 5_000):
        yield short_list(items)
        yield long_list(items)
    for rows in (100, 300, 1_000):
        yield table(rows)


def _growth(
    shared: Path, encoder: MiniLmEncoder, hybrid: Hybrid | None, rounds: int
) -> Iterator[str]:
    """Yield our growth on codes and on one list, and docling's on the codes within its patience."""
    records = _all_records(shared)
    codes = [_of_size("codes", records, megabytes) for megabytes in MEGABYTES]
    yield from growth(codes, encoder.tokenizer, rounds)
    # 88 characters an item.
    lists = [long_list(int(megabytes * 1e6 / 88)) for megabytes in MEGABYTES]
    yield from growth(lists, encoder.tokenizer, rounds)
    if hybrid is not None:
        for document in codes:
            found = race(document, encoder.tokenizer, hybrid, 1)
            yield found.report()
            if found.stopped:
                break


def _of_size(name: str, records: Sequence[Record], megabytes: float) -> Document:
    """Return a document of the first records that make up so many characters."""
    size = 0
    for count, record in enumerate(records):
        if size >= megabytes * 1e6:
            return markdown_of(name, records[:count])
        size += len(record.text)
    return markdown_of(name, records)


def _all_records(shared: Path) -> list[Record]:
    """Return the records of all cities but the two largest in random order, so that sizes are alike."""
    folders = [f for f in _folders(shared) if not f.name.startswith(("code-dc", "code-nyc"))]
    records = [record_of(r) for r in law_sections(folders) if isinstance(r, Read)]
    Random(1).shuffle(records)  # noqa: S311 - not for secrets
    return records


def _folders(shared: Path) -> list[Path]:
    folders = sorted((shared / "corpus").glob("code-*"))
    if not folders:
        raise BadRequest(f"{shared / 'corpus'} holds no folder code-*: name another with --shared.")
    return folders


def _records(shared: Path, cities: Sequence[str]) -> list[Record]:
    """Return the records of some cities in their order; of an id that occurs twice the first."""
    wanted = set(cities)
    folders = [
        f
        for f in _folders(shared)
        if f.name.removeprefix("code-") in wanted
        or any((f / f"{c}.jsonl.zst").exists() for c in wanted)
    ]
    records: dict[str, Record] = {}
    for read in law_sections(folders):
        if isinstance(read, Read) and read.city.id in wanted:
            records.setdefault(read.accepted.document.external_id, record_of(read))
    return list(records.values())


# ------------------------------------------------------------------ retrieval


def _retrieval(
    shared: Path, encoder: MiniLmEncoder, hybrid: Hybrid, cities: Sequence[str]
) -> Iterator[str]:
    """Yield the shape of both cuts of each city, and the scores city by city and over all."""
    ours: list[Scores] = []
    theirs: list[Scores] = []
    for city in cities:
        document = markdown_of(city, _records(shared, [city]))
        cuts = _cuts(document, encoder.tokenizer, hybrid)
        if cuts is None:
            yield f"{city}: docling stopped after {PATIENCE:.0f} s"
            continue
        for name, cut in zip(("ours", "docling"), cuts, strict=True):
            yield f"{city}, {name}: {cut.report(encoder.tokenizer.limit)}"
        cases = _answerable(shared, city)
        ours.append(judged(Index(cuts[0], encoder), cases))
        theirs.append(judged(Index(cuts[1], encoder), cases))
        yield from compared(city, ours[-1], theirs[-1], scores=("hit@5", "mrr"))
    if ours:
        yield from compared("all", joined(ours), joined(theirs), scores=SCORES)


def _cuts(document: Document, tokenizer: Tokenizer, hybrid: Hybrid) -> tuple[Cut, Cut] | None:
    """Return both cuts of a document; None if docling did not end."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.md"
        path.write_text(document.body, "utf-8")
        chunked = hybrid.chunk(path, within=PATIENCE, show=True)
    if chunked is None:
        return None
    ours = our_cut(document, chunk_ours(document.body, tokenizer), tokenizer)
    return ours, their_cut(document, chunked, tokenizer)


def _answerable(shared: Path, city: str) -> list[Case]:
    """Return the questions of a city that its code answers."""
    cases = []
    for name in _CASES:
        text = (shared / "eval" / name).read_text("utf-8")
        cases += [c for c in parse_cases(text, name) if c.city == city and c.answerable]
    if not cases:
        raise BadRequest(f"No question is asked of {city!r} in {' or '.join(_CASES)}.")
    return cases
