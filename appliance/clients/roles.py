"""The two roles of an encoder: what some models want before a question and before a passage.

Which model wants what is in models/manifest.toml; here it is put there, in one place for
all encoders.  Vectors made with other prefixes are another space, so the prefixes are
part of the model's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from appliance.ports import Encoder, Tokenizer, Vectors
from models.manifest import Roles


def in_roles(encoder: Encoder, roles: Roles) -> Encoder:
    """Return an encoder that puts the prefixes first, or the same one where there are none."""
    return PrefixedEncoder(encoder, roles) if any(roles.prefixes) else encoder


class PrefixedEncoder:
    """An encoder with a prefix before each question and each passage."""

    def __init__(self, encoder: Encoder, roles: Roles) -> None:
        self._encoder = encoder
        self._roles = roles
        marked = "\0".join(roles.prefixes).encode()
        self.model = f"{encoder.model}+{sha256(marked).hexdigest()[:8]}"
        self.dimension = encoder.dimension
        self.reranker = encoder.reranker
        self._tokenizer = _Shortened(encoder.tokenizer, roles.document_prefix)

    @property
    def tokenizer(self) -> Tokenizer:
        """The encoder's tokenizer with a limit that leaves room for the passage's prefix."""
        return self._tokenizer

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension) unit vectors.  Raises EncoderError on an over-long text."""
        prefix = self._roles.document_prefix
        return await self._encoder.encode_documents([prefix + text for text in texts])

    async def encode_query(self, text: str) -> Vectors:
        """Return one unit vector; a long question is cut to the limit, the prefix counted in."""
        return await self._encoder.encode_query(self._roles.query_prefix + text)


class _Shortened:
    """A tokenizer whose limit is lower by the tokens of a prefix."""

    def __init__(self, tokenizer: Tokenizer, prefix: str) -> None:
        self._tokenizer = tokenizer
        self.limit = tokenizer.limit - (tokenizer.count(prefix) - tokenizer.count(""))

    def count(self, text: str) -> int:
        """Return the tokens of `text` without the prefix."""
        return self._tokenizer.count(text)

    def ends(self, text: str) -> Sequence[int]:
        """Return the end offset of each token of `text`."""
        return self._tokenizer.ends(text)

    def fitted(self, text: str) -> str:
        """Return the beginning of `text` that fits the lowered limit."""
        if self.count(text) <= self.limit:
            return text
        ends = self.ends(text)
        for end in ends[self.limit - 1 :: -1]:
            if self.count(text[:end]) <= self.limit:
                return text[:end]
        return ""
