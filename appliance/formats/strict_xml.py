"""XML from strangers: read without entities, without a document type, without the network.

Knows how to read XML safely and to tell the local name of an element.  Knows no
vocabulary: what a section or a table is, the parsers say.
"""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree

from appliance.formats.parsed import Unparsable

Element: TypeAlias = etree._Element  # noqa: SLF001  lxml's own name for the type of an element


def read_xml(raw: bytes) -> Element:
    """Return the root element.  Raises Unparsable.

    A file that declares entities is turned away whole: law needs none, and a kilobyte of them can
    unfold to gigabytes or name files of this machine.  libxml2 itself refuses more than 256 levels
    and texts of more than 10 MB as long as `huge_tree` is off.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        raise Unparsable(f"the XML is not well formed or too deep: {error.msg}") from None
    document = root.getroottree().docinfo.internalDTD
    if document is not None and any(True for _ in document.iterentities()):
        raise Unparsable("the XML declares entities of its own, which law text has no use for")
    return root


def name_of(element: Element) -> str:
    """Return an element's name without its namespace."""
    return str(etree.QName(element).localname)


def namespace_of(element: Element) -> str:
    """Return the namespace of an element, "" without one."""
    return str(etree.QName(element).namespace or "")


def names(text: str) -> frozenset[str]:
    """Return the names that a text lists, parted by spaces: a vocabulary that reads as one."""
    return frozenset(text.split())
