"""The inverted index: what is packed comes back, and its BM25 is the textbook's."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.words import K1, B
from appliance.store.postings import (
    Inverted,
    Posting,
    Ranking,
    bm25,
    inverted,
    merged,
    read_back,
    summed,
    unpacked,
)

Counts = dict[int, Counter[str]]

_words = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 60), max_size=5).map(Counter)
_cities = st.dictionaries(
    st.one_of(st.integers(1, 40), st.integers(5_000_000, 5_000_040)), _words, max_size=12
)


def _stored(index: Inverted) -> list[tuple[str, int, bytes]]:
    return [(term, base, entries) for term, _, base, entries in index.rows()]


def _read(index: Inverted) -> dict[str, dict[int, tuple[int, int]]]:
    """Return {term: {chunk: (count, length)}} of what is stored."""
    return {
        term: {
            int(chunk): (int(entry["count"]), int(entry["length"]))
            for chunk, entry in zip(p.chunks, p.entries, strict=True)
        }
        for term, base, entries in _stored(index)
        for p in [unpacked(term, base, entries)]
    }


def _plain(counts: Counts) -> dict[str, dict[int, tuple[int, int]]]:
    terms = {t for c in counts.values() for t in c}
    return {t: {id_: (c[t], c.total()) for id_, c in counts.items() if c[t]} for t in sorted(terms)}


def _postings(index: Inverted) -> list[Posting]:
    return [unpacked(*row) for row in _stored(index)]


@given(_cities)
def test_what_is_stored_is_what_was_counted(counts: Counts) -> None:
    index = inverted(counts)
    assert _read(index) == _plain(counts)
    assert index.words == sum(c.total() for c in counts.values())
    assert all(documents == len(entries) // 8 for _, documents, _, entries in index.rows())


@given(_cities, _cities, st.data())
def test_an_index_that_was_brought_up_to_date_is_one_made_anew(
    old: Counts, new: Counts, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    fresh = {id_: c for id_, c in new.items() if id_ not in old}
    kept = read_back(_stored(inverted(old))).without(np.array(sorted(gone), np.int64))
    index = merged(kept, inverted(fresh))
    left = {id_: c for id_, c in old.items() if id_ not in gone} | fresh
    assert _read(index) == _plain(left)
    assert index.known.tolist() == sorted(id_ for id_, c in left.items() if c)
    assert index.words == sum(c.total() for c in left.values())


@given(_cities.filter(bool), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_scores_are_bm25(counts: Counts, question: set[str]) -> None:
    average = max(1.0, sum(c.total() for c in counts.values()) / len(counts))
    truth: dict[int, float] = {}
    for term in question:
        holders = [id_ for id_, c in counts.items() if c[term]]
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for id_ in holders:
            tf, length = counts[id_][term], counts[id_].total()
            weight = tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
            truth[id_] = truth.get(id_, 0.0) + idf * weight
    wanted = [p for p in _postings(inverted(counts)) if p.term in question]
    found = bm25(wanted, chunks=len(counts), average=average)
    assert dict(found.best(100)) == pytest.approx(truth)


@given(st.lists(st.integers(1, 5), max_size=30), st.integers(1, 31))
def test_the_best_are_the_beginning_of_all_in_order(scores: list[int], count: int) -> None:
    ranking = Ranking(chunks=np.arange(len(scores)), scores=np.array(scores, np.float64))
    order = sorted(enumerate(scores), key=lambda item: (-item[1], item[0]))
    assert ranking.best(count) == order[:count]


def test_chunks_far_apart_are_summed_like_near_ones() -> None:
    for far in (3, 10**12):
        ids = [np.array([1, far]), np.array([far])]
        found = summed(ids, [np.array([1.0, 2.0]), np.array([4.0])])
        assert found.best(9) == [(far, 6.0), (1, 1.0)]
        assert found.among(np.array([1])).best(9) == [(1, 1.0)]
    assert summed([], []).best(9) == []
