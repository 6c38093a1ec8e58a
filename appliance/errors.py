"""Every error that PermitBox raises on purpose, in one tree.

The docstring of a class is the meaning; the message of an instance is one clear
sentence that says what to do.  `exit_code` is the command line's, `status` the
API's.  This module knows nothing of HTTP or the terminal beyond these numbers.
Doubt (a rejected file, a claim that is not proven) is a value, not an error.
"""

from __future__ import annotations

from collections.abc import Sequence


class PermitBoxError(Exception):
    """Anything that PermitBox itself reports; the message is fit for a person."""

    exit_code = 1
    status = 500


# ------------------------------------------------------------------ asked wrongly


class BadRequest(PermitBoxError):
    """The person asked for something that cannot be answered as it stands."""

    exit_code = 2
    status = 422


class SettingsError(BadRequest):
    """A PERMITBOX_* variable has a value that cannot be used."""


class QuestionRefused(BadRequest):
    """The question is empty, too long, or holds characters that no text has."""


class NoSuchCity(BadRequest):
    """The city is not in this box."""

    status = 404

    def __init__(self, city: str, nearest: Sequence[str]) -> None:
        self.city = city
        self.nearest = tuple(nearest)
        hint = (
            f"Did you mean {', '.join(self.nearest)}?"
            if self.nearest
            else "`permitbox cities` lists the cities of this box."
        )
        super().__init__(f"There is no city {city!r} in this box. {hint}")


class NoSuchAnswer(BadRequest):
    """There is no such answer of whoever asks for it."""

    status = 404

    def __init__(self) -> None:
        super().__init__("There is no such answer of yours.")


class NoSuchSection(BadRequest):
    """The section id is not in the registry."""

    status = 404

    def __init__(self, section: int) -> None:
        self.section = section
        super().__init__(f"There is no section {section} in this box; search for it again.")


class NoSuchCalculator(BadRequest):
    """The id of a calculator is not one of this box."""

    status = 404

    def __init__(self, calculator: int) -> None:
        self.calculator = calculator
        super().__init__(
            f"There is no calculator {calculator} in this box; `permitbox calc list` names them."
        )


class NoCalculator(BadRequest):
    """No approved calculator is meant by the question, or the one that is meant is disabled."""

    status = 404


class EmptyIndex(BadRequest):
    """Nothing has been ingested yet (or nothing of this city)."""

    status = 409


class CityNotSearchable(PermitBoxError):
    """The city is held, but its audit keeps it from being searched."""

    status = 503

    def __init__(self, name: str, city: str, why: str) -> None:
        self.city = city
        self.why = why
        super().__init__(
            f"{name} cannot be searched: {why}; `permitbox audit {city}` says how to mend that."
        )


# ------------------------------------------------------------------ corpus


class CorpusError(PermitBoxError):
    """A corpus file could not be used; the other files go on."""

    exit_code = 1
    status = 422


class UnreadableFile(CorpusError):
    """A corpus file is missing, not readable, or not in a form that is known."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path}: {why}")


class ChunkTooLong(CorpusError):
    """The chunker made a chunk that the encoder would cut: a fault of the chunker."""


# ------------------------------------------------------------------ store


class StoreError(PermitBoxError):
    """The database cannot be used."""

    status = 503


class StoreUnavailable(StoreError):
    """The database does not answer."""


class ClusterRefused(StoreError):
    """The data directory belongs to another major version, or is damaged."""


class SchemaRefused(StoreError):
    """The schema is newer than this program, or a migration was edited after it ran."""


class IngestRunning(StoreError):
    """Another ingest works on this home; two at once are refused."""

    status = 409


# ------------------------------------------------------------------ models


class ModelError(PermitBoxError):
    """A model, its files or its server cannot be used."""

    status = 503


class WeightsRefused(ModelError):
    """A model file is missing or does not have the pinned sha256."""


class WorkerMissing(ModelError):
    """The libraries of the box-class models are not in this environment."""

    def __init__(self, library: str) -> None:
        self.library = library
        super().__init__(
            f"{library} is not in this environment: box-class models run in that of "
            "compose/locks/worker.lock, which `make setup-worker` makes in .venv-worker."
        )


class EncoderError(ModelError):
    """The encoder refused an input or gave an unusable vector."""


class RerankerError(ModelError):
    """The reranker refused an input or gave no usable number; the order stays as it was."""


class ChatUnavailable(ModelError):
    """No model server answers; the box goes on in quotes mode."""


class ChatBroken(ModelError):
    """The model's reply was empty, cut or unparsable: an error, never a "no"."""


class ModelServerFailed(ModelError):
    """The model server's environment or process could not be brought up."""
