"""kill -9 at random points of an ingest: nothing is lost, nothing is doubled, no hand is needed.

A checker outside of the appliance reads the tables with SQL of its own and compares
them with those of a run that nobody disturbed.  A failing test's name holds its seed.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from appliance.settings import Settings
from appliance.store import embedded
from tests.integration.conftest import SAMPLES, environment, record

KILLS = 4  # of each seed
SEEDS = range(5)
RECORDS = 1500
SCRIPT = Path(__file__).with_name("quick_box.py")


_PROGRESS = ("reading", "references", "encoding")  # how the lines of progress begin


# ------------------------------------------------------------------ the corpus, in two editions


def _write_edition(folder: Path, edition: int) -> Path:
    """Write three files of two towns; the second edition changes, drops and adds records."""
    lines = (SAMPLES / "brackwater-county.jsonl").read_text("utf-8").splitlines()
    # Another place's name in it would be a reason not to search it.
    texts = [json.loads(line)["text"].replace("Brackwater", "The county") for line in lines]
    records = [
        record(
            f"{i // 100}.{i}",
            f"Rule {i}. {texts[i % len(texts)]}",
            jurisdiction="elm-hollow-xx" if i % 5 < 3 else "oak-hill-xx",
        )
        for i in range(RECORDS)
    ]
    if edition == 2:
        for r in records[::6]:
            r["text"] = f"As amended: {r['text']}"
            r["effective_date"] = "2026-02-01"
        del records[::25]
        records += [record(f"99.{i}", f"New rule {i}. {texts[i]}") for i in range(50)]
    folder.mkdir()
    thirds = [records[i::3] for i in range(3)]
    for number, third in enumerate(thirds):
        text = "".join(json.dumps(r) + "\n" for r in third)
        (folder / f"{number}.jsonl").write_text(text, "utf-8")
    return folder


# ------------------------------------------------------------------ the outside checker

_CONTENT = {
    "files": "select path, city, digest, pipeline, documents, rejected from corpus_file",
    "cities": """
        select slug, sections, chunks, encoded, newest, settled_from, settled_until, topics,
               lexical_ready, dense_ready from city""",
    "documents": """
        select c.slug, d.external_id, d.version, d.digest, md5(d.body), d.current,
               d.effective_from, d.effective_until, d.file
        from document d join city c on c.id = d.city_id""",
    "sections": """
        select d.external_id, d.version, s.position, s.external_id, s.citation, s.span_start,
               s.span_end from section s join document d on d.id = s.document_id""",
    "labels": """
        select d.external_id, d.version, s.position, l.kind, l.number, l.weight
        from section_label l join section s on s.id = l.section_id
        join document d on d.id = s.document_id""",
    "chunks": """
        select d.external_id, d.version, s.position, k.ordinal, k.span_start, k.span_end,
               encode(k.input, 'hex'), k.searchable
        from chunk k join section s on s.id = k.section_id join document d on d.id = k.document_id""",
    "vectors": "select encode(input, 'hex'), md5(vector::text) from embedding_m1",
    "dense": """
        select d.external_id, d.version, k.ordinal, encode(k.input, 'hex'), md5(v.vector::text)
        from chunk_embedding_m1 v left join chunk k on k.id = v.chunk_id
        left join document d on d.id = k.document_id""",
    "lexical": """
        select c.slug, p.term, p.documents from posting p join city c on c.id = p.city_id""",
    "words": "select slug, words_version, weighed, average_length from city",
    "partitions": """
        select p.relname, count(*) from pg_inherits i join pg_class p on p.oid = i.inhparent
        where p.relkind = 'p' group by 1""",
    "left-over tables": """
        select relname from pg_class c where relkind = 'r' and relname ~ '_c[0-9]+_g[0-9]+$'
          and not exists (select from pg_inherits i where i.inhrelid = c.oid)""",
    "unfinished jobs": "select kind from job where state = 'running'",
}


def _content(dsn: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all that is stored, without the numbers that a run may give as it likes."""
    with psycopg.connect(dsn) as connection:
        return {
            name: sorted(connection.execute(query.encode()).fetchall(), key=repr)
            for name, query in _CONTENT.items()
        }


def _check_indexes(dsn: str) -> None:
    """Let PostgreSQL compare every btree with its table."""
    with psycopg.connect(dsn) as connection:
        connection.execute("create extension if not exists amcheck")
        connection.execute(
            """
            select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = c.relam
            join pg_index i on i.indexrelid = c.oid
            where a.amname = 'btree' and c.relkind = 'i' and i.indisvalid
            """
        )


# ------------------------------------------------------------------ the ring


@dataclass(slots=True, kw_only=True)
class Ring:
    """A home with a cluster of its own, on which an ingest is killed again and again."""

    home: Path
    cluster: embedded.Cluster
    corpus: Path  # the second edition
    whole: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)  # what must come out
    seconds: float = 0.0  # that an undisturbed run takes

    def start(self) -> subprocess.Popen[str]:
        """Start an ingest of the second edition."""
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), "ingest", str(self.corpus), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(PERMITBOX_HOME=str(self.home)),
        )

    def reset(self) -> None:
        """Go back to the first edition."""
        self.copy("first", embedded.DATABASE)

    def copy(self, template: str, name: str) -> None:
        """Make a database anew from another one."""
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            target, source = sql.Identifier(name), sql.Identifier(template)
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(target))
            connection.execute(
                sql.SQL("create database {} template {} strategy file_copy").format(target, source)
            )

    def dsn(self, database: str = embedded.DATABASE) -> str:
        """Return the address of a database of this ring."""
        return make_conninfo(self.cluster.dsn, dbname=database)

    def postmaster(self) -> int:
        """Return the process that is the server now."""
        return int((self.cluster.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def up_again(self) -> None:
        """Have the server running, as the next command would."""
        with embedded.running(Settings(home=self.home)):
            pass


@pytest.fixture(scope="module")
def ring() -> Iterator[Ring]:
    """Yield a ring that holds the first edition, and knows what the second one comes to."""
    folder = Path(tempfile.mkdtemp(prefix="pbx-kill-"))
    folder.chmod(0o755)
    settings = Settings(home=folder / "home")
    with embedded.running(settings) as cluster:
        # For whoever starts it again, too: what a killed process has written, the kernel keeps.
        with (cluster.data / "postgresql.conf").open("a") as file:
            file.write("fsync = off\n")
        with psycopg.connect(cluster.dsn) as connection:
            connection.execute("select pg_reload_conf()")
        ring = Ring(home=settings.home, cluster=cluster, corpus=_write_edition(folder / "codes", 1))
        _finished(ring.start())
        ring.copy(embedded.DATABASE, "first")
        shutil.rmtree(folder / "codes")
        _write_edition(folder / "codes", 2)
        began = time.monotonic()
        _finished(ring.start())
        ring.seconds = time.monotonic() - began
        ring.whole = _content(ring.dsn())
        yield ring
        ring.up_again()
    shutil.rmtree(folder)


def _finished(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["unreadable"] == 0


def _ends_within(process: subprocess.Popen[str], seconds: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    return False


def test_the_second_edition_has_all_that_a_kill_could_spoil(ring: Ring) -> None:
    """The ring itself: past and current versions, two cities, more vectors than chunks in force."""
    whole = ring.whole
    assert len(whole["documents"]) > RECORDS + 200
    assert sum(row[5] for row in whole["documents"]) == RECORDS - RECORDS // 25 + 50
    assert len(whole["chunks"]) == len(whole["dense"]) == sum(row[2] for row in whole["words"])
    assert {row[9] for row in whole["cities"]} == {True}
    assert whole["partitions"] == [("chunk_embedding_m1", 2), ("posting", 2)]
    assert whole["left-over tables"] == whole["unfinished jobs"] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ingest_that_is_killed_goes_on_where_it_was(ring: Ring, seed: int) -> None:
    chance = random.Random(seed)
    ring.reset()
    killed = 0
    while killed < KILLS:
        process = ring.start()
        if _ends_within(process, chance.uniform(0.35, 1.0) * ring.seconds):
            _finished(process)
            assert _content(ring.dsn()) == ring.whole
            ring.reset()
            continue
        process.kill()
        process.communicate()
        killed += 1
    _finished(ring.start())
    assert _content(ring.dsn()) == ring.whole


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ingest_whose_postgresql_is_killed_is_completed_by_the_next(
    ring: Ring, seed: int
) -> None:
    chance = random.Random(100 + seed)
    ring.up_again()
    ring.reset()
    killed = 0
    while killed < KILLS:
        process = ring.start()
        if _ends_within(process, chance.uniform(0.35, 1.0) * ring.seconds):
            _finished(process)
            assert _content(ring.dsn()) == ring.whole
            ring.reset()
            continue
        kill(ring.postmaster(), signal.SIGKILL)
        killed += 1
        _ended_in_order(process)
        ring.up_again()
    _finished(ring.start())
    assert _content(ring.dsn()) == ring.whole
    _check_indexes(ring.dsn())


def _ended_in_order(process: subprocess.Popen[str]) -> None:
    """It may have gone on with the server that was started again, or said one sentence."""
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode in (0, 1), err
    said = [line for line in err.splitlines() if not line.startswith(_PROGRESS)]
    if process.returncode == 1:
        assert said.pop().startswith("permitbox: The database does not answer")
    assert set(said) <= {"PostgreSQL has ended; it is started again."}
