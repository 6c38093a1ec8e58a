"""How many candidates a walk through a city's graph holds."""

import pytest

from appliance.store.vectors import ef_search


@pytest.mark.parametrize(
    ("k", "rows", "candidates"),
    [
        (12, 5_001, 400),
        (12, 50_000, 400),
        (12, 50_001, 800),
        (150, 6_000, 600),  # four for each that is asked for
        (300, 200_000, 1_000),  # what pgvector takes at most
    ],
)
def test_a_walk_holds_more_candidates_in_a_larger_graph(k: int, rows: int, candidates: int) -> None:
    assert ef_search(k, rows) == candidates
