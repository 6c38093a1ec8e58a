"""The commands `permitbox bench …`."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from appliance.clients.encode import MiniLmEncoder
from appliance.commands.options import Json, err, print_json
from appliance.domain import CityId
from appliance.errors import BadRequest
from appliance.settings import read_settings
from appliance.terminal import Ticker
from appliance.wiring import open_house
from benchmarks.encoder import compare, compare_quality, plain_encoder
from benchmarks.named import measure as measure_named
from benchmarks.named import words_only_box
from benchmarks.passages import read_exam
from benchmarks.references import measure as measure_references
from benchmarks.roles import try_roles
from benchmarks.search import Latency, measure
from eval.measure import select
from eval.session import progress_of
from models.manifest import read_manifest

app = typer.Typer(help="How fast?  Figures of this machine, with n.", no_args_is_help=True)


@contextmanager
def _extra() -> Iterator[None]:
    """Import what others would use for the same work; say in a sentence what is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise BadRequest(
            f"{missing.name} is not installed: `pip install 'permitbox[bench]'` brings what is compared."
        ) from None


@app.command("encoder")
def encoder_command(
    plain: Annotated[
        Path | None,
        typer.Option("--plain", help="The python of an environment with sentence-transformers."),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of each, in turn.")] = 5,
    cases: Annotated[
        list[Path] | None,
        typer.Option("--cases", help="Compare what these questions find, not the speed."),
    ] = None,
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Corpus files that the cases are about.")
    ] = None,
) -> None:
    """Chunks a second of the encoder beside plain sentence-transformers, or what questions find by both."""
    if not cases:
        print(compare(plain, rounds).report())
        return
    if plain is None or not corpus:
        raise BadRequest("--cases needs --plain and --corpus: there is nothing to compare without.")
    for line in compare_quality(plain, read_exam(corpus, cases, MiniLmEncoder().tokenizer)):
        print(line, flush=True)


@app.command("roles")
def roles_command(
    cases: Annotated[list[Path], typer.Option("--cases", help="Files of evaluation cases.")],
    corpus: Annotated[
        list[Path], typer.Option("--corpus", help="Corpus files that the cases are about.")
    ],
    model: Annotated[
        str, typer.Option("--model", help="The model's name in models/manifest.toml.")
    ] = "all-MiniLM-L6-v2-int8",
    plain: Annotated[
        Path | None,
        typer.Option("--plain", help="The python of an environment with sentence-transformers."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="The model's folder, which that python opens.")
    ] = None,
) -> None:
    """Prefixes before question and passage, each pair of the manifest; exit 1 if another is better."""
    manifest = read_manifest()
    if model not in manifest.roles:
        raise BadRequest(f"models/manifest.toml has no roles of {model!r}.")
    if (plain is None) != (folder is None):
        raise BadRequest("--plain and --folder go together: the one opens the other.")
    encoder = MiniLmEncoder()
    exam = read_exam(corpus, cases, encoder.tokenizer)
    with (
        nullcontext(encoder.encode_now) if plain is None else plain_encoder(plain, folder) as encode
    ):
        trial = try_roles(model, manifest, exam, encode)
    encoder.close()
    for line in trial.lines():
        print(line)
    if trial.better:
        raise typer.Exit(1)


@app.command("references")
def references_command(
    corpus: Annotated[
        Path, typer.Option("--corpus", help="A folder of corpus files with links in `refs`.")
    ],
) -> None:
    """Precision and recall of references against a publisher's own links; needs no database."""
    for line in measure_references(corpus):
        print(line)


@app.command("search")
def search_command(
    cases: Annotated[list[Path], typer.Option("--cases", help="Files of evaluation cases.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Most questions of a city.")] = 20,
) -> None:
    """Milliseconds of a search by leg and city, over the current home."""

    async def work() -> list[Latency]:
        async with open_house(read_settings()) as house:
            held = {c.city.id for c in await house.store.cities() if c.chunks}
            taken: dict[str, int] = {}
            questions = []
            for path in cases:
                for line in path.read_text("utf-8").splitlines():
                    case = json.loads(line)
                    city = CityId(case["city"])
                    if city in held and taken.get(city, 0) < limit:
                        taken[city] = taken.get(city, 0) + 1
                        questions.append((city, case["question"]))
            return await measure(house, questions)

    for latency in asyncio.run(work()):
        print(latency.report())


@app.command("retrieval")
def retrieval_command(
    scale: Annotated[
        int, typer.Option("--scale", min=2_000, help="Chunks, in sixty cities.")
    ] = 60_000,
    home: Annotated[
        Path | None,
        typer.Option("--home", help="A box whose vectors are multiplied; without: the samples'."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus", help="Corpus files or folders with real text; without: the samples."
        ),
    ] = None,
    cases: Annotated[
        list[Path] | None,
        typer.Option("--cases", help="Files of evaluation cases with the questions."),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", help="Only dense, wide, clients, words or updates."),
    ] = None,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="Questions to each city, by meaning.")
    ] = 20,
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, help="What does not fit is cut short, and named.")
    ] = 90.0,
    as_json: Json = False,
) -> None:
    """Recall, rows and times of the index policy, BM25, updates and crowds, in a box of its own."""
    from benchmarks.retrieval.run import PARTS, Wanted
    from benchmarks.retrieval.run import measure as measure_retrieval

    if part is None or "words" in part:
        with _extra():
            import bm25s  # noqa: F401  # before the first minutes are spent
    wanted = Wanted(
        command=shlex.join(["permitbox", *sys.argv[1:]]),
        scale=scale,
        parts=part or PARTS,
        home=home,
        corpus=corpus or (),
        cases=cases or (),
        questions=questions,
        minutes=minutes,
    )
    try:
        report = measure_retrieval(wanted)
    except KeyboardInterrupt:
        err.print("permitbox: stopped; the folder of the benchmark is removed.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(report.json())
        return
    for line in report.lines():
        print(line)


@app.command("obliqa")
def obliqa_command(
    shared: Annotated[
        Path, typer.Option("--shared", help="The folder with corpus/eval-obliqa.")
    ] = Path("../shared"),
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="So many of its questions, spread evenly.")
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option("--home", help="Where the box is made and kept; without it, it is removed."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Recall@10 and MAP@10 of a public data set of regulation, beside published figures."""
    from benchmarks.obliqa import run as run_obliqa

    for line in run_obliqa(shared, limit=limit, home=home, as_json=as_json):
        print(line)


@app.command("named")
def named_command(
    corpus: Annotated[
        list[Path],
        typer.Option("--corpus", help="Corpus files or folders whose numbers are asked for."),
    ],
    questions: Annotated[int, typer.Option("--questions", min=40, help="How many.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Chance's seed.")] = 1,
) -> None:
    """Look-up questions made of a code's own numbers: is the section the first hit?"""
    for line in asyncio.run(measure_named(corpus, most=questions, seed=seed)):
        print(line)


@app.command("citations")
def citations_command(
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", help="Corpus files or folders; without it, the current home's."),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=20, help="How many citations.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Chance's seed.")] = 1,
    as_json: Json = False,
) -> None:
    """Citations with known labels: are false ones shown as proven, and true ones kept?"""
    from benchmarks.citations import Confusion, Plan
    from benchmarks.citations import measure as measure_citations

    plan = Plan(n=n, day=date.today(), seed=seed)

    async def work() -> Confusion:
        if corpus:
            async with words_only_box(corpus) as (store, _, pool):
                return await measure_citations(pool, store, plan)
        async with open_house(read_settings()) as house:
            return await measure_citations(house.pool, house.store, plan)

    found = asyncio.run(work())
    if as_json:
        print_json(found.json())
    else:
        for line in found.lines():
            print(line)
    if not found.sound:
        raise typer.Exit(1)


@app.command("ranker")
def ranker_command(
    cases: Annotated[list[Path], typer.Option("--cases", help="Files of evaluation cases.")],
    parts: Annotated[
        int, typer.Option("--folds", min=2, help="In how many parts cities are held out.")
    ] = 6,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Let the reranker read the candidates, too.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the weights that the search uses.")
    ] = False,
) -> None:
    """What the trained ranker brings on cities that it has not seen; needs scipy and lightgbm."""
    with _extra():
        import lightgbm  # noqa: F401  (said before the long search, not after it)
        import scipy  # noqa: F401

        from benchmarks import ranker

    async def work() -> list[ranker.Example]:
        async with open_house(read_settings()) as house:
            held = await house.store.cities()
            chosen = select(ranker.sourced(cases), held, answerable_only=True, limit=None)
            taken = [s for s in chosen.taken if s.case.city not in chosen.unencoded]
            ticker, began = Ticker(err), time.monotonic()
            given: list[ranker.Example] = []
            async for one in ranker.examples(house, taken, date.today(), rerank=rerank):
                given.append(one)
                ticker(progress_of("ranker", one.of.case.city, len(given), len(taken), began))
            ticker.end()
            return given

    given = asyncio.run(work())
    for line in ranker.report(given, parts):
        print(line)
    if write:
        names = " ".join(path.name for path in cases)
        print(f"wrote {ranker.write(given, f'permitbox bench ranker --cases {names} --write')}")


@app.command("trees")
def trees_command(
    corpus: Annotated[
        Path, typer.Option("--corpus", help="The folder of law text that the learners are given.")
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Write the page and the trees that ship.")
    ] = False,
) -> None:
    """ID3, C4.5, XGBoost and LightGBM on the same pages; needs xgboost-cpu and lightgbm."""
    with _extra():
        from benchmarks.trees.run import readme
        from benchmarks.trees.run import write as write_page

    text = readme(corpus)
    print(text)
    if write:
        for path in write_page(corpus, text):
            print(f"wrote {path}")


@app.command("chunker")
def chunker_command(
    docling: Annotated[
        Path | None,
        typer.Option("--docling-python", help="The python of an environment with docling-slim."),
    ] = None,
    shared: Annotated[
        Path, typer.Option("--shared", help="The folder with corpus/code-* and eval/dev-*.jsonl.")
    ] = Path("../shared"),
    part: Annotated[
        list[str] | None, typer.Option("--part", help="Only speed, growth or retrieval.")
    ] = None,
    city: Annotated[
        list[str] | None,
        typer.Option("--city", help="Ask this city's questions, not those of three."),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of each, in turn.")] = 5,
) -> None:
    """Our chunker against docling's HybridChunker: seconds, growth, questions answered."""
    from benchmarks.chunker.run import CITIES, PARTS
    from benchmarks.chunker.run import report as report_chunkers

    for line in report_chunkers(shared, docling, part or PARTS, city or CITIES, rounds):
        print(line, flush=True)


@app.command("html")
def html_command(
    corpus: Annotated[
        Path, typer.Option("--corpus", help="The folder with the saved pages of the codes.")
    ] = Path("../shared/corpus"),
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of each, in turn.")] = 5,
    every: Annotated[int, typer.Option("--every", min=1, help="Take every n-th page.")] = 5,
) -> None:
    """Pages a second of HTML to Markdown against other ways, and the F1 of words and cells."""
    with _extra():
        from benchmarks.html import measure as measure_html

    for line in measure_html(corpus, rounds=rounds, every=every).lines():
        print(line)


@app.command("gate")
def gate_command(
    corpus: Annotated[
        Path, typer.Option("--corpus", help="The folder with the codes and the saved pages.")
    ] = Path("../shared/corpus"),
    each: Annotated[int, typer.Option("--each", min=1, help="Faults of each kind.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Chance's seed.")] = 1,
    shortest: Annotated[
        int, typer.Option("--shortest", help="Characters of a section to be judged as a page.")
    ] = 200,
) -> None:
    """Faults that the gate lets in, and real law and pages that it turns away."""
    from benchmarks.gate import report

    folders = sorted(corpus.glob("code-*"))
    pages = [p for f in sorted(corpus.glob("fixtures-*")) for p in sorted(f.rglob("*.htm*"))]
    for line in report(folders, pages, seed=seed, each=each, shortest=shortest):
        print(line)


@app.command("pdf")
def pdf_command(
    shared: Annotated[
        Path, typer.Option("--shared", help="The folder with corpus/pdf-* and eval/dev-pdf.jsonl.")
    ] = Path("../shared"),
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of each, in turn.")] = 2,
) -> None:
    """Pages a second of PDF to Markdown, facts found, and words in order against checked XML."""
    from benchmarks.pdf import compare as compare_pdf

    for line in compare_pdf(shared, rounds):
        print(line)
