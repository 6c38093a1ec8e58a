"""The settings of a box: one frozen object, read once from PERMITBOX_* variables.

Few dials; everything else is derived (a hardware profile picks model, context
and concurrency).  Whoever needs a setting is handed the object; nothing reads
the environment later or elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from appliance.errors import SettingsError

PREFIX = "PERMITBOX_"


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not show up in a log or a traceback."""

    value: str

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, with the name of its variable in capitals after PERMITBOX_."""

    home: Path = _setting(Path("~/.permitbox"), "where this box keeps its data")
    dsn: Secret | None = _setting(None, "a PostgreSQL to use instead of the embedded one")
    pg_bin_dir: Path | None = _setting(None, "a folder with initdb, pg_ctl and postgres 18")
    host: str = _setting("127.0.0.1", "the address that the page listens on")
    port: int = _setting(8080, "the port that the page listens on")
    profile: str = _setting("cpu-demo", "the hardware profile of models/manifest.toml")
    chat_url: str | None = _setting(None, "an OpenAI-compatible server to use instead of our own")
    chat_model: str | None = _setting(None, "the model to ask for there (default: its first one)")
    chat_key: Secret | None = _setting(None, "the key for that server")
    chat_seconds: float = _setting(60.0, "after how many seconds a draft is given up")
    model_port: int = _setting(8081, "the loopback port of the model server that `up` starts")
    answer_cache: bool = _setting(True, "give an answer again to whoever asks the same (on or off)")
    answer_days: int = _setting(90, "after how many days what was asked and answered is deleted")
    encoder_threads: int = _setting(0, "threads of the encoder (0: one per core)")

    @property
    def postgres_dir(self) -> Path:
        """Return the folder of the embedded cluster."""
        return self.home / "postgres"

    @property
    def log_dir(self) -> Path:
        """Return the folder of the logs."""
        return self.home / "logs"

    @property
    def models_dir(self) -> Path:
        """Return the folder of model weights that were unpacked or converted."""
        return self.home / "models"

    @property
    def run_dir(self) -> Path:
        """Return the folder of sockets, locks and state of running processes."""
        return self.home / "run"


_INTEGERS = {
    "port": (0, 65535),
    "model_port": (1, 65535),
    "encoder_threads": (0, 512),
    "answer_days": (1, 3650),
}


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from `environ` (default: the process environment).

    Raises SettingsError naming the variable and what would be right.  A variable
    with our prefix that is no setting is refused too: a typo must not be silent.
    """
    env = os.environ if environ is None else environ
    known = {f.name for f in fields(Settings)}
    given = {k[len(PREFIX) :].lower(): v for k, v in env.items() if k.startswith(PREFIX)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise SettingsError(
            f"{PREFIX}{unknown[0].upper()} is not a setting; docs/settings.md lists them all."
        )
    values: dict[str, Any] = {k: _parse(k, v.strip()) for k, v in given.items() if v.strip()}
    settings = Settings(**values)
    home = settings.home.expanduser()
    return Settings(**{**_as_dict(settings), "home": home.absolute()})


def _as_dict(settings: Settings) -> dict[str, Any]:
    return {f.name: getattr(settings, f.name) for f in fields(Settings)}


def _parse(name: str, text: str) -> Any:
    variable = PREFIX + name.upper()
    if name in _INTEGERS:
        return _whole_number(variable, text, *_INTEGERS[name])
    if name == "chat_seconds":
        return _seconds(variable, text)
    if name == "answer_cache":
        return _switch(variable, text)
    if name in ("home", "pg_bin_dir"):
        return Path(text)
    if name in ("dsn", "chat_key"):
        return Secret(text)
    if name == "chat_url" and not text.startswith(("http://", "https://")):
        raise SettingsError(f"{variable}={text!r} must begin with http:// or https://.")
    return text


def _whole_number(variable: str, text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise SettingsError(f"{variable}={text!r} must be a whole number from {low} to {high}.")
    return number


def _seconds(variable: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 3600:
        raise SettingsError(f"{variable}={text!r} must be a number of seconds from 1 to 3600.")
    return seconds


def _switch(variable: str, text: str) -> bool:
    if text not in ("on", "off"):
        raise SettingsError(f"{variable}={text!r} must be on or off.")
    return text == "on"
