"""PDF through docling and its layout models, where an administrator has staged both.

docling is heavy (torch) and fetches its models from the network unless it is given a
folder with them, so it is used only if the package is installed *and*
DOCLING_ARTIFACTS_PATH, docling's own setting, names that folder.  This adapter was
written against docling 2.143 and has not been tried with the models: where it was
written there were none.  Everything else in this room works without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from appliance.domain import Span
from appliance.formats.parsed import Parsed, Unparsable

SETTING = "DOCLING_ARTIFACTS_PATH"
_PAGE = "<!-- page -->"  # docling puts it between the pages; no page holds it by itself


def staged_models(environ: Mapping[str, str]) -> Path | None:
    """Return the folder of docling's models, or None if docling cannot run here without a network."""
    folder = environ.get(SETTING, "")
    if not folder or find_spec("docling") is None or not Path(folder).is_dir():
        return None
    return Path(folder)


def parse_with_docling(raw: bytes, models: Path) -> Parsed:
    """Return the document as docling's models read it; raises Unparsable."""
    # By name: docling is no dependency, and type checkers must not look for it.
    converters = import_module("docling.document_converter")
    options = import_module("docling.datamodel.pipeline_options")
    base = import_module("docling.datamodel.base_models")
    errors = import_module("docling.exceptions")
    pipeline = options.PdfPipelineOptions(artifacts_path=str(models), do_ocr=False)
    converter = converters.DocumentConverter(
        allowed_formats=[base.InputFormat.PDF],
        format_options={
            base.InputFormat.PDF: converters.PdfFormatOption(pipeline_options=pipeline)
        },
    )
    try:
        stream = base.DocumentStream(name="document.pdf", stream=BytesIO(raw))
        document = converter.convert(stream).document
    except errors.ConversionError as failed:
        raise Unparsable(f"docling could not read this PDF: {failed}") from failed
    body, pages = joined(document.export_to_markdown(page_break_placeholder=_PAGE).split(_PAGE))
    if not body.strip():
        raise Unparsable("docling found no text in this PDF; it may be a scan.")
    return Parsed(format="pdf", title="", body=body, pages=pages, notes=("Read by docling.",))


def joined(texts: list[str]) -> tuple[str, tuple[Span, ...]]:
    """Return the texts of pages as one body, with the span of each."""
    return "\n\n".join(t.strip() for t in texts), tuple(_spans(texts))


def _spans(texts: list[str]) -> Iterator[Span]:
    at = 0
    for text in texts:
        yield Span(start=at, end=at + len(text.strip()))
        at += len(text.strip()) + 2
