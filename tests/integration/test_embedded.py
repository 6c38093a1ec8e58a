"""The embedded cluster, against the real programs: sharing, kills, strange homes, strange users.

Homes lie directly in /tmp where the server's user can reach them: pytest's own
`tmp_path` is closed to everybody but us, which is a case of its own.
"""

from __future__ import annotations

import os
import pwd
import random
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from appliance.errors import ClusterRefused, StoreUnavailable
from appliance.settings import Settings
from appliance.store.embedded import Cluster, find_binaries, running

ROOT = Path(__file__).resolve().parents[2]
IS_ROOT = os.geteuid() == 0
FAR = Path("/var/lib/permitbox/clusters")

# A user of the cluster in another process: says who serves it, stays until its stdin ends.
USER = """
import sys
from pathlib import Path
from appliance.settings import Settings
from appliance.store.embedded import running
with running(Settings(home=Path(sys.argv[1]))) as cluster:
    print(cluster.pid, cluster.dsn, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """Yield a home that any user can reach; afterwards nothing of it is left."""
    folder = Path(tempfile.mkdtemp(prefix="pbx-"))
    folder.chmod(0o755)
    yield folder / "home"
    _remove_cluster(folder / "home")
    shutil.rmtree(folder)


@pytest.fixture
def closed_home(tmp_path: Path) -> Iterator[Path]:
    """Yield a home that only we can reach."""
    tmp_path.chmod(0o700)
    yield tmp_path / "home"
    _remove_cluster(tmp_path / "home")


@pytest.fixture
def start_user() -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    """Yield a way to use a home from another process; none of them outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(home: Path) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", USER, str(home)]
        user = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        started.append(user)
        return user

    yield start
    for user in started:
        user.kill()
        user.communicate()


def _remove_cluster(home: Path) -> None:
    """Stop what a failed test left running, and remove a cluster outside of the home."""
    settings = Settings(home=home)
    if (settings.postgres_dir / "cluster-id").exists():
        with suppress(ClusterRefused, StoreUnavailable), running(settings):
            pass
    for name in ("cluster-id", "cluster-id.new"):
        with suppress(OSError):  # no cluster there, or no such home
            shutil.rmtree(FAR / (settings.postgres_dir / name).read_text().strip())


def _first_words(user: subprocess.Popen[str]) -> tuple[int, str]:
    assert user.stdout is not None
    pid, dsn = user.stdout.readline().rstrip("\n").split(" ", 1)
    return int(pid), dsn


def _finish(user: subprocess.Popen[str]) -> None:
    user.communicate("", timeout=30)
    assert user.returncode == 0


def _answers(dsn: str) -> bool:
    try:
        with psycopg.connect(dsn, connect_timeout=5) as connection:
            return connection.execute("select 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def _is_up(pid: int) -> bool:
    """Tell whether a process runs (a zombie, which our init may not reap, does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_until(condition: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


def _show(cluster: Cluster, setting: str) -> str:
    with psycopg.connect(cluster.dsn) as connection:
        row = connection.execute("select current_setting(%s)", [setting]).fetchone()
    assert row is not None
    return str(row[0])


# ------------------------------------------------------------------ one user


def test_a_new_home_starts_cold_and_answers(home: Path) -> None:
    with running(Settings(home=home), extra={"fsync": "off", "application_name": "it's\\"}) as box:
        assert _answers(box.dsn)
        assert _show(box, "server_encoding") == "UTF8"
        assert _show(box, "data_checksums") == "on"
        assert _show(box, "fsync") == "off"
        assert _show(box, "application_name") == "it's\\"
        assert _is_up(box.pid)
    _wait_until(lambda: not _is_up(box.pid), 1)


def test_the_server_listens_on_a_private_socket_only(home: Path) -> None:
    with running(Settings(home=home)) as cluster:
        folder = Path(_show(cluster, "unix_socket_directories"))
        assert _show(cluster, "listen_addresses") == ""
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / ".s.PGSQL.5432").stat().st_mode) == 0o700


def test_a_warm_start_finds_the_data_again(home: Path) -> None:
    with running(Settings(home=home)) as cold, psycopg.connect(cold.dsn) as connection:
        connection.execute("create table fee as select 42 as cents")
    with running(Settings(home=home)) as warm, psycopg.connect(warm.dsn) as connection:
        assert connection.execute("select cents from fee").fetchone() == (42,)
    assert warm.data == cold.data
    assert warm.pid != cold.pid


def test_several_users_in_one_process_share_the_server(home: Path) -> None:
    pids: list[int] = []

    def use() -> None:
        with running(Settings(home=home)) as cluster:
            pids.append(cluster.pid)
            gate.wait(30)
            assert _answers(cluster.dsn)

    gate = threading.Barrier(3)
    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 3
    assert len(set(pids)) == 1
    _wait_until(lambda: not _is_up(pids[0]), 1)


# ------------------------------------------------------------------ several processes


def test_two_processes_share_one_server_and_the_last_one_stops_it(
    home: Path, start_user: Callable[[Path], subprocess.Popen[str]]
) -> None:
    first, second = start_user(home), start_user(home)  # at once: one makes it, one waits
    pid, dsn = _first_words(first)
    assert _first_words(second) == (pid, dsn)
    _finish(first)
    assert _answers(dsn)
    _finish(second)
    _wait_until(lambda: not _is_up(pid), 1)
    assert not _answers(dsn)


def test_users_that_come_and_go_never_find_the_server_stopping(
    home: Path, start_user: Callable[[Path], subprocess.Popen[str]]
) -> None:
    users = [start_user(home) for _ in range(4)]
    for user in users:
        time.sleep(random.uniform(0, 0.2))
        _, dsn = _first_words(user)
        assert _answers(dsn)
        _finish(user)


def test_a_killed_user_leaves_a_server_that_the_next_one_uses_and_stops(
    home: Path, start_user: Callable[[Path], subprocess.Popen[str]]
) -> None:
    victim = start_user(home)
    pid, dsn = _first_words(victim)
    victim.kill()
    victim.wait()
    assert _answers(dsn)
    with running(Settings(home=home)) as cluster:
        assert cluster.pid == pid
        assert _answers(cluster.dsn)
    _wait_until(lambda: not _is_up(pid), 1)


@pytest.mark.parametrize("after", [0.5, 0.7])
def test_a_user_killed_while_starting_leaves_a_home_that_starts(
    home: Path, start_user: Callable[[Path], subprocess.Popen[str]], after: float
) -> None:
    victim = start_user(home)
    time.sleep(after)
    victim.kill()
    victim.wait()
    with running(Settings(home=home)) as cluster:
        assert _answers(cluster.dsn)
    _wait_until(lambda: not _is_up(cluster.pid), 1)


def test_a_user_killed_in_the_middle_of_initdb_leaves_nothing_half(
    home: Path, start_user: Callable[[Path], subprocess.Popen[str]]
) -> None:
    place = home / "postgres"
    victim = start_user(home)
    _wait_until(lambda: any(place.glob("data.new-*/base/1/*")))
    victim.kill()
    victim.wait()
    assert not (place / "data").exists()
    with running(Settings(home=home)) as cluster:
        assert _answers(cluster.dsn)
    with running(Settings(home=home)):
        assert _answers(cluster.dsn)
    assert {entry.name for entry in place.iterdir()} <= {
        *("control.lock", "users.lock", "cluster-id", "data"),
        *(leftover.name for leftover in place.glob("data.new-*") if not any(leftover.iterdir())),
    }


# ------------------------------------------------------------------ a killed server


def test_committed_rows_survive_a_killed_postmaster(home: Path) -> None:
    committed = 0
    for _ in range(5):
        with running(Settings(home=home)) as cluster:
            end = time.monotonic() + random.uniform(0.05, 0.5)
            with psycopg.connect(cluster.dsn, autocommit=True) as connection:
                connection.execute("create table if not exists permit (id int primary key)")
                assert _count(connection) == committed
                while time.monotonic() < end:
                    connection.execute("insert into permit values (%s)", [committed])
                    committed += 1
                os.kill(cluster.pid, signal.SIGKILL)
    with running(Settings(home=home)) as cluster, psycopg.connect(cluster.dsn) as connection:
        assert _count(connection) == committed


def _count(connection: psycopg.Connection[tuple[int]]) -> int:
    row = connection.execute("select count(*) from permit").fetchone()
    assert row is not None
    return row[0]


def test_busy_backends_of_a_killed_postmaster_do_not_keep_the_next_from_starting(
    home: Path,
) -> None:
    busy = "select count(*) from generate_series(1, 100000000000)"
    with running(Settings(home=home)) as first:
        query = threading.Thread(target=_run_and_lose, args=(first.dsn, busy))
        query.start()
        time.sleep(0.3)  # busy now, so that it does not notice the postmaster's end
        os.kill(first.pid, signal.SIGKILL)
        with running(Settings(home=home)) as second:
            assert second.pid != first.pid
            assert _answers(second.dsn)
        query.join(timeout=10)
        assert not query.is_alive()


def _run_and_lose(dsn: str, query: LiteralString) -> None:
    """Run a query whose connection is bound to break."""
    with suppress(psycopg.OperationalError), psycopg.connect(dsn) as connection:
        connection.execute(query)


def test_a_stale_pid_file_that_names_a_living_stranger_is_seen_through(home: Path) -> None:
    with running(Settings(home=home)) as cluster:
        owner = cluster.data.stat().st_uid
        left = (cluster.data / "postmaster.pid").read_text().split("\n")
    sleep = ["sleep", "60"]
    with subprocess.Popen(sleep, user=owner if IS_ROOT else None) as stranger:
        try:
            stale = "\n".join([str(stranger.pid), *left[1:]])
            (cluster.data / "postmaster.pid").write_text(stale)
            os.chown(cluster.data / "postmaster.pid", owner, -1)
            with running(Settings(home=home)) as again:
                assert _answers(again.dsn)
        finally:
            stranger.kill()


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize("where", ["postgres", "postgres/data"])
def test_a_cluster_of_another_major_version_is_refused(home: Path, where: str) -> None:
    (home / where).mkdir(parents=True)
    (home / where / "PG_VERSION").write_text("17\n")
    with (
        pytest.raises(ClusterRefused, match=r"PostgreSQL 17.*PostgreSQL 18.*pg_dump"),
        running(Settings(home=home)),
    ):
        pass
    assert (home / where / "PG_VERSION").read_text() == "17\n"


@pytest.mark.parametrize("where", ["postgres", "postgres/data"])
def test_a_folder_that_somebody_else_filled_is_refused(home: Path, where: str) -> None:
    (home / where).mkdir(parents=True)
    (home / where / "thesis.odt").write_text("chapter one")
    with pytest.raises(ClusterRefused, match="not empty"), running(Settings(home=home)):
        pass
    assert (home / where / "thesis.odt").read_text() == "chapter one"


def test_a_home_that_is_no_folder_is_refused(home: Path) -> None:
    home.write_text("not a folder")
    with pytest.raises(ClusterRefused, match="cannot be used"), running(Settings(home=home)):
        pass


def test_a_cluster_that_is_gone_is_not_silently_replaced_by_an_empty_one(home: Path) -> None:
    with running(Settings(home=home)) as cluster:
        pass
    shutil.rmtree(cluster.data)
    with pytest.raises(ClusterRefused, match="gone"), running(Settings(home=home)):
        pass


def test_a_deleted_home_begins_anew(home: Path) -> None:
    with running(Settings(home=home)) as first, psycopg.connect(first.dsn) as connection:
        connection.execute("create table fee ()")
    shutil.rmtree(home)
    with running(Settings(home=home)) as second, psycopg.connect(second.dsn) as connection:
        assert connection.execute("select to_regclass('fee')").fetchone() == (None,)


def test_a_setting_that_postgres_refuses_is_named_at_once(home: Path) -> None:
    begun = time.monotonic()
    with (
        pytest.raises(StoreUnavailable, match="shared_buffers"),
        running(Settings(home=home), extra={"shared_buffers": "much"}),
    ):
        pass
    assert time.monotonic() - begun < 10


def test_a_folder_without_the_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClusterRefused, match="has no initdb"):
        find_binaries(Settings(home=tmp_path, pg_bin_dir=tmp_path))


def test_the_packaged_programs_are_found(tmp_path: Path) -> None:
    assert (find_binaries(Settings(home=tmp_path)) / "postgres").exists()


# ------------------------------------------------------------------ strange homes and users


@pytest.mark.parametrize("name", ["x" * 150, """O'Hara, "$HOME" `id` & ümlaut \\ """])
def test_a_home_whose_path_no_socket_can_have_works(home: Path, name: str) -> None:
    with running(Settings(home=home.parent / name)) as cluster:
        sockets = Path(_show(cluster, "unix_socket_directories"))
        assert len(str(sockets / ".s.PGSQL.5432")) <= 100
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert _answers(cluster.dsn)
    assert not sockets.exists()


def test_a_strangers_socket_directory_is_refused(home: Path) -> None:
    long = Settings(home=home.parent / ("x" * 150))
    with running(long) as cluster:
        sockets = Path(_show(cluster, "unix_socket_directories"))
    sockets.symlink_to(home.parent)
    try:
        with pytest.raises(ClusterRefused, match="not a private directory"), running(long):
            pass
    finally:
        sockets.unlink()


@pytest.mark.skipif(not IS_ROOT, reason="only root's server runs as another user")
def test_a_home_closed_to_the_servers_user_works_and_stays_closed(closed_home: Path) -> None:
    with running(Settings(home=closed_home)) as cluster:
        assert _answers(cluster.dsn)
        assert cluster.data.parent == FAR
        assert cluster.data.stat().st_uid != 0
    with running(Settings(home=closed_home)) as again:
        assert again.data == cluster.data
    assert stat.S_IMODE(closed_home.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(not IS_ROOT, reason="only root can become a normal user")
def test_a_normal_user_has_a_cluster_that_root_then_shares(home: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    home.mkdir()
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    python = _python_for("nobody")
    if python is None:
        pytest.skip("no Python of our version can be executed by the user nobody")
    packages = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [python, "-c", USER, str(home)],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"PYTHONPATH": packages, "PATH": os.defpath},
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as user:
        pid, _ = _first_words(user)
        assert Path(f"/proc/{pid}").stat().st_uid == nobody.pw_uid
        with running(Settings(home=home)) as cluster:
            assert cluster.pid == pid
        _finish(user)
    _wait_until(lambda: not _is_up(pid), 1)
    assert any((home / "logs").glob("postgres-*.log"))
    with running(Settings(home=home)) as cluster:
        assert Path(f"/proc/{cluster.pid}").stat().st_uid == nobody.pw_uid


def _python_for(user: str) -> str | None:
    """Return a Python of our minor version that `user` can execute."""
    minor = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, minor):
        script = '"$0" -c "" 2>/dev/null'
        command = ["sh", "-c", script, python]
        if subprocess.run(command, check=False, user=user, cwd="/").returncode == 0:
            return python
    return None
