"""Real sections, each a document of its own, and cities of any size made of them.

Read and cut by the product's own reader and chunker.  Copies in different cities (and in the same
one, when there are more chunks than real ones) have embedding inputs of their own, so that each is
stored and embedded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from appliance.corpus.chunks import chunk_section, embedding_input, fitted_breadcrumb
from appliance.corpus.labels import labels_of
from appliance.corpus.records import Read, read_markdown, read_records
from appliance.domain import (
    Chunk,
    City,
    CityId,
    Document,
    Section,
    Source,
    Span,
    Standing,
    digest_of,
)
from appliance.errors import BadRequest, UnreadableFile
from appliance.ingest import corpus_files, decode, read_bytes
from appliance.ports import Label, LoadDocument, Tokenizer

_NOWHERE = Source(url=None, fetched_at=None, publisher=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One real section with its chunks; spans are in `body`, which is the section's own text."""

    body: str
    section: Section
    crumb: str
    labels: tuple[Label, ...]
    chunks: tuple[Chunk, ...]
    inputs: tuple[str, ...]  # the embedding input of each chunk

    @property
    def digests(self) -> tuple[bytes, ...]:
        """Return the sha256 of each chunk's embedding input, as a box keeps it."""
        return tuple(sha256(text.encode()).digest() for text in self.inputs)

    def words(self, chunk: Chunk) -> str:
        """Return the text of a chunk whose words are searched: path, heading, titles, text."""
        titles = [title.of(self.body) for title in chunk.titles]
        return "\n".join([*self.section.path, self.section.heading, *titles, chunk.text])


def samples() -> Path:
    """Return the folder of the sample cities."""
    return Path(str(files("appliance").joinpath("samples")))


def real_pieces(paths: Sequence[Path], tokenizer: Tokenizer, most: int) -> Iterator[Piece]:
    """Yield the sections in force of the corpus files that hold text, up to `most` chunks.

    Raises BadRequest where there is nothing to read.
    """
    unreadable: list[UnreadableFile] = []
    found = corpus_files(paths, unreadable)
    if not found:
        why = "; ".join(map(str, unreadable))
        raise BadRequest(f"--corpus holds nothing to measure with: {why}")
    count = 0
    for path in found:
        for read in _reads(path):
            for piece in _pieces(read, tokenizer):
                yield piece
                count += len(piece.chunks)
                if count >= most:
                    return


def _reads(path: Path) -> Iterator[Read]:
    text = decode(read_bytes(path), path)
    if ".jsonl" in path.name:
        results = read_records(text, name=path.name)
    else:
        results = iter([read_markdown(text, name=path.name, city=CityId("bench"))])
    return (r for r in results if isinstance(r, Read))


def _pieces(read: Read, tokenizer: Tokenizer) -> Iterator[Piece]:
    for section in read.accepted.sections:
        if section.standing is Standing.IN_FORCE and section.span:
            piece = _piece(read.accepted.document.body, section, tokenizer)
            if piece.chunks:
                yield piece


def _piece(whole: str, section: Section, tokenizer: Tokenizer) -> Piece:
    body = section.span.of(whole)
    alone = replace(section, span=Span(start=0, end=len(body)), parent=None, inside=0)
    crumb = fitted_breadcrumb(alone, tokenizer)
    chunks = chunk_section(body, alone, 0, tokenizer)
    return Piece(
        body=body,
        section=alone,
        crumb=crumb,
        labels=labels_of(body, [alone]),
        chunks=chunks,
        inputs=tuple(
            embedding_input(crumb, [t.of(body) for t in c.titles], c.text) for c in chunks
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A city to be loaded; `inputs`, `originals` and `words` go by chunk, in the order of loading."""

    city: City
    documents: list[LoadDocument]
    inputs: list[bytes]  # what its vectors are kept under
    originals: list[bytes]  # the digest of the real input that each was made of
    pieces: list[tuple[Piece, Chunk]]

    @property
    def chunks(self) -> int:
        """Return how many chunks it has."""
        return len(self.inputs)


def made_city(name: str, pieces: Iterable[Piece], chunks: int, edition: str = "") -> Made:
    """Return a city of exactly so many chunks out of the pieces, which must be enough.

    Another edition is the same law with other embedding inputs: what a change of the chunker or of
    the context does.
    """
    city = City(id=CityId(name), name=name)
    made = Made(city=city, documents=[], inputs=[], originals=[], pieces=[])
    for piece in pieces:
        left = chunks - made.chunks
        if left <= 0:
            break
        _add(made, piece, left, edition)
    assert made.chunks == chunks, f"{name} needs {chunks} chunks, and there are {made.chunks}"
    return made


def _add(made: Made, piece: Piece, most: int, edition: str) -> None:
    external_id = f"{made.city.id}-{len(made.documents)}"
    kept, originals = piece.chunks[:most], piece.digests[:most]
    inputs = [
        sha256(digest + f"{external_id} {i} {edition}".encode()).digest()
        for i, digest in enumerate(originals)
    ]
    made.documents.append(
        LoadDocument(
            city=made.city,
            document=Document(
                city=made.city.id,
                external_id=external_id,
                kind="code",
                title=piece.section.citation,
                source=_NOWHERE,
                body=piece.body,
            ),
            version=digest_of(external_id),
            sections=(replace(piece.section, external_id=external_id),),
            crumbs=(piece.crumb,),
            labels=piece.labels,
            chunks=tuple(zip(kept, inputs, strict=True)),
            place=len(made.documents),
        )
    )
    made.inputs.extend(inputs)
    made.originals.extend(originals)
    made.pieces.extend((piece, chunk) for chunk in kept)
