"""The seams: what a flow needs of the outside world, as protocols.

Flows take these as arguments; `wiring` knows the concrete classes and
`testing` ships a twin of each.  Shapes and units are part of the contract.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from appliance.domain import (
    ChunkId,
    City,
    CityId,
    Hit,
    SectionId,
    Span,
    StoredSection,
)

Vectors = NDArray[np.float32]


class Tokenizer(Protocol):
    """The encoder's own tokenizer: chunk limits are counted with it and nothing else."""

    limit: int  # most tokens of one input, special tokens included

    def count(self, text: str) -> int:
        """Return the tokens of `text` as the encoder sees it, special tokens included."""
        ...

    def ends(self, text: str) -> Sequence[int]:
        """Return the code-point end offset of each token of `text`, without special tokens."""
        ...


class Encoder(Protocol):
    """Texts to unit vectors, with the two roles kept apart."""

    model: str  # name and digest of the weights; spaces of different models cannot mix
    dimension: int
    tokenizer: Tokenizer

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors.  Raises EncoderError on an over-long text."""
        ...

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector of shape (dimension,); a long query is cut to the limit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Chat(Protocol):
    """An OpenAI-compatible chat server."""

    async def model(self) -> str:
        """Return the name of the served model.  Raises ChatUnavailable."""
        ...

    async def context(self) -> int:
        """Return the most tokens of prompt and reply together.  Raises ChatUnavailable."""
        ...

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncIterator[str]:
        """Yield the reply's pieces; closing the iterator frees the server.

        Raises ChatUnavailable when no server answers and ChatBroken when the
        reply is empty, cut at the token limit, or breaks off.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the box holds of one city."""

    city: City
    sections: int
    chunks: int  # searchable ones
    newest: date | None  # newest effective date known
    encoded: int  # chunks that have their vector
    dense_ready: bool
    topics: tuple[str, ...]  # sample headings

    @property
    def status(self) -> str:
        """Return one phrase for people: what can be searched now."""
        if not self.chunks:
            return "empty"
        if self.dense_ready:
            return "ready"
        return f"words only; meaning {100 * self.encoded // self.chunks} % encoded"


class Searcher(Protocol):
    """Reading the store: legs, registry, coverage."""

    async def cities(self) -> Sequence[Coverage]: ...

    async def coverage(self, city: CityId) -> Coverage:
        """Return what is held of the city.  Raises NoSuchCity with the nearest names."""
        ...

    async def dense(self, city: CityId, vector: Vectors, k: int, as_of: date) -> Sequence[Hit]: ...

    async def lexical(self, city: CityId, text: str, k: int, as_of: date) -> Sequence[Hit]: ...

    async def named(
        self, city: CityId, numbers: Sequence[str], k: int, as_of: date
    ) -> Sequence[Hit]: ...

    async def chunks(
        self, ids: Sequence[ChunkId]
    ) -> Sequence[tuple[ChunkId, StoredSection, Span]]:
        """Return the section and the span in its text for each id, in the order given."""
        ...

    async def section(self, id: SectionId) -> StoredSection:
        """Raises NoSuchSection."""
        ...

    async def by_number(self, city: CityId | None, numbers: Sequence[str]) -> Sequence[StoredSection]:
        """Return every current or past section with one of the normalised numbers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """What is kept of a question that was answered: the audit trail."""

    city: CityId
    question: str
    as_of: date
    asked_at: datetime
    outcome: str
    payload: str  # the JSON of `permitbox ask`


class Store(Searcher, Protocol):
    """The whole store, as the composition root opens it."""

    async def keep(self, record: AnswerRecord) -> None: ...
