"""Check stored answers of a PermitBox against its database, without any of PermitBox's code.

    python check_proofs.py "postgresql://..." answers.jsonl

Needs Python 3.11 and psycopg 3, and reads only.  FILE holds JSON, or a JSON value a line, of
`permitbox ask --json` or of the API; `-` is standard input.  Every citation is shown again from the text
that the database has now, with its digests computed here; exit code 1 if one does not hold.
"""

import hashlib
import json
import sys
from datetime import date
from pathlib import Path

import psycopg

TEXTS = (
    "city",
    "section",
    "external_id",
    "version",
    "quote",
    "quote_sha256",
    "as_of",
    "proof_sha256",
)
NUMBERS = ("section_id", "start", "end")
DAYS = ("effective_from", "effective_until")
VERSIONS = """
    select s.id, array[s.external_id, s.citation], d.digest, d.body, s.span_start, s.span_end, s.inside,
           s.standing, d.effective_from, d.effective_until
    from section s join document d on d.id = s.document_id join city c on c.id = s.city_id
    where c.slug = %s and (s.external_id = %s or s.id = %s)
"""


def sha256(text):
    """Return the digest of a text's UTF-8 form."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def citations(value, cites=False):
    """Yield every citation of an answer, of a list of answers or of a comparison, in reading order."""
    open_ = [(value, cites)]
    while open_:
        found, cites = open_.pop()
        if isinstance(found, dict):
            if cites:
                yield found
            open_ += [(v, k in ("citation", "citations")) for k, v in reversed(found.items())]
        elif isinstance(found, list):
            open_ += [(v, cites) for v in reversed(found)]


def is_day(text):
    """Tell whether a text is a day like 2026-07-01."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def well_formed(c):
    """Tell whether a citation has all fields of a proof."""
    return (
        all(isinstance(c.get(k), str) for k in TEXTS)
        and all(type(c.get(k)) is int for k in NUMBERS)
        and all(k in c and (c[k] is None or isinstance(c[k], str)) for k in DAYS)
        and isinstance(c.get("legs"), list)
        and 0 <= c["start"] < c["end"]
        and all(c[k] is None or is_day(c[k]) for k in ("as_of", *DAYS))
    )


def faults(c, connection):
    """Yield what is wrong with a citation."""
    if not well_formed(c):
        yield "malformed"
        return
    names = ("city", "section", "section_id", "external_id", "version", *DAYS, "start", "end")
    fields = [*(c[k] for k in names), c["quote_sha256"], c["legs"], c["as_of"]]
    if sha256(json.dumps(fields, separators=(",", ":"))) != c["proof_sha256"]:
        yield "wrong_proof"
    if sha256(c["quote"]) != c["quote_sha256"]:
        yield "wrong_hash"
    yield from faults_in(c, held(c, connection))


def held(c, connection):
    """Return every stored version of the citation's section; no database has NULs or half characters."""
    named = f"{c['city']}\0{c['external_id']}".encode("utf-8", "replace").decode().split("\0")
    if len(named) != 2 or not 0 <= c["section_id"] < 2**63:
        return []
    return connection.execute(VERSIONS, [*named, c["section_id"]]).fetchall()


def faults_in(c, rows):
    """Yield what is wrong with a citation beside the rows of `VERSIONS`."""
    sections = [r for r in rows if r[1] == [c["external_id"], c["section"]]]
    versions = [r for r in sections if r[2] == c["version"]]
    if not versions:
        yield "no_such_version" if sections else "no_such_section"
        return
    if any(sha256(body) != c["version"] for _, _, _, body, *_ in versions):
        yield "text_changed"
    if any(r[0] == c["section_id"] and r not in versions for r in rows):
        yield "wrong_id"
    quoting = [r for r in versions if text_at(c, r) == c["quote"]]
    if not quoting:
        yield "wrong_quote"
    dated = [r for r in quoting or versions if same_days(c, r[8], r[9])]
    if not dated:
        yield "wrong_dates"
    if not any(in_force(date.fromisoformat(c["as_of"]), r) for r in dated or quoting or versions):
        yield "not_in_force"


def text_at(c, row):
    """Return the words at the citation's span, which counts in the record's text."""
    _, _, _, body, begin, end, inside, *_ = row
    first, last = c["start"] - inside, c["end"] - inside
    return body[begin + first : begin + last] if first >= 0 and begin + last <= end else ""


def same_days(c, since, until):
    """Tell whether the version applies on the days of the citation; its end may be known later."""
    written = [day and day.isoformat() for day in (since, until)]
    return c["effective_from"] == written[0] and c["effective_until"] in (None, written[1])


def in_force(day, row):
    """Tell whether a version applied on a day."""
    *_, standing, since, until = row
    return standing == "in_force" and (not since or since <= day) and (not until or day < until)


def main(dsn, file):
    """Print a line a citation; return the exit code."""
    text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    failed = 0
    with psycopg.connect(dsn) as connection:
        connection.read_only = True
        for c in citations(values):
            wrong = list(faults(c, connection))
            failed += bool(wrong)
            print(f"{c.get('section')}: {', '.join(wrong) or 'ok'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
