"""`permitbox proof check`: are the citations of stored answers still what the database says?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from appliance.answers.proofs import Checked, Read, proofs_in
from appliance.commands.options import Json, out, print_json, run_in_house
from appliance.errors import BadRequest
from appliance.verify import check_proofs

proof_app = typer.Typer(help="Proofs of answers that were given.", no_args_is_help=True)


@proof_app.callback()
def _proof() -> None:
    """Keep `check` a command of its own: one more may join it."""


@proof_app.command("check")
def check_command(
    file: Annotated[str, typer.Argument(help="JSON or JSON lines of answers; - reads from stdin.")],
    as_json: Json = False,
) -> None:
    """Show every citation of stored answers again: text, span, hash, dates; exit 1 if one fails."""
    reads = list(read_proofs(_text_of(file), "stdin" if file == "-" else Path(file).name))
    checked: list[Checked] = run_in_house(lambda house: check_proofs(house.store, reads))
    for one in checked:
        _report(one, as_json=as_json)
    if not checked and not as_json:
        out.print("No citation is in it.")
    if any(one.faults for one in checked):
        raise typer.Exit(1)


def _text_of(file: str) -> str:
    """Return the text of a file or of standard input.  Raises BadRequest."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{file} is not UTF-8 text.") from None


def read_proofs(text: str, name: str) -> Iterator[Read]:
    """Yield the citations of one JSON value, or of one a line.  Raises BadRequest naming the line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield from proofs_in(_value(line, name, number), f"{name}:{number}")
        return
    yield from proofs_in(whole, name)


def _value(line: str, name: str, number: int) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise BadRequest(f"Line {number} of {name} is not JSON.") from None


def _report(checked: Checked, *, as_json: bool) -> None:
    proof = checked.proof
    faults = [fault.value for fault in checked.faults]
    if as_json:
        print_json(
            {
                "where": checked.where,
                "ok": not faults,
                "faults": faults,
                "city": proof and proof.city,
                "section": proof and proof.section,
                "external_id": proof and proof.external_id,
                "as_of": proof and proof.as_of,
                "proof_sha256": proof and proof.digest,
            }
        )
        return
    name = f"{proof.city} {proof.section} as of {proof.as_of}" if proof else "no proof"
    out.print(f"{'ok' if not faults else 'FAILED':<7} {checked.where}  {name}", markup=False)
    if faults:
        out.print(f"        {', '.join(faults)}", markup=False)
