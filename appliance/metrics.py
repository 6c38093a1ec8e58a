"""What Prometheus is told: counters and histograms in a registry of our own, and the observer.

Fed with records by whoever runs a flow; no flow knows of it and nothing is read
back.  What can be asked for (the rows of a city, whether a model answers) is not
counted here but handed in when Prometheus asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from appliance.domain import LEGS, Abstention, CacheHit, Outcome, Reason
from appliance.ports import Coverage, Shortfall

# A search takes milliseconds, a draft of a 14B model seconds, one on two cores a minute.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120)
_ROWS = (0, 1, 2, 5, 10, 20, 50, 100)


class Metrics:
    """The observer of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "permitbox_answers_total", "Questions by outcome.", ["outcome"], registry=self._registry
        )
        self._steps = Histogram(
            "permitbox_answer_step_seconds",
            "Time of each step of an answer.",
            ["step"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._abstentions = Counter(
            "permitbox_abstentions_total", "Abstentions.", ["reason"], registry=self._registry
        )
        self._phantoms = Counter(
            "permitbox_phantoms_total",
            "Sections that a draft named and the code does not have.",
            registry=self._registry,
        )
        self._searches = Histogram(
            "permitbox_search_seconds",
            "Time of a search.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._rows = Histogram(
            "permitbox_search_rows",
            "Passages that a search gave.",
            buckets=_ROWS,
            registry=self._registry,
        )
        self._short = Counter(
            "permitbox_retrieval_short_total",
            "Searches of one leg that gave fewer chunks than it promises.",
            ["leg"],
            registry=self._registry,
        )
        self._requests = Counter(
            "permitbox_http_requests_total",
            "Requests by route and status.",
            ["route", "status"],
            registry=self._registry,
        )
        self._http = Histogram(
            "permitbox_http_seconds",
            "Time until a response was sent whole.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._cache = Counter(
            "permitbox_answer_cache_total",
            "Questions by where their answer came from.",
            ["result"],
            registry=self._registry,
        )
        self._show_zeros()

    def _show_zeros(self) -> None:
        """Let every known label exist from the start: a rate needs a first zero."""
        for outcome in ("answer", "quotes", "abstention"):
            self._answers.labels(outcome)
        for reason in Reason:
            self._abstentions.labels(reason.value)
        for leg in LEGS:
            self._short.labels(leg)
        for result in ("exact", "semantic", "none"):
            self._cache.labels(result)

    def answered(
        self, outcome: Outcome, timings_ms: Mapping[str, float], cache: CacheHit | None
    ) -> None:
        """Count a finished answer, its steps and whether it was made before."""
        self._cache.labels(cache or "none").inc()
        for step, milliseconds in timings_ms.items():
            self._steps.labels(step).observe(milliseconds / 1000)
        if isinstance(outcome, Abstention):
            self._answers.labels("abstention").inc()
            self._abstentions.labels(outcome.reason.value).inc()
        else:
            self._answers.labels(outcome.outcome).inc()
            self._phantoms.inc(len(outcome.phantoms))

    def searched(self, seconds: float, rows: int) -> None:
        """Count a search without an answer."""
        self._searches.observe(seconds)
        self._rows.observe(rows)

    def short(self, shortfall: Shortfall) -> None:
        """Count a leg that gave less than there is."""
        self._short.labels(shortfall.leg).inc()

    def http(self, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the pattern, never the path that a client made up."""
        self._requests.labels(route, str(status)).inc()
        self._http.labels(route).observe(seconds)

    def exposition(self, cities: Sequence[Coverage] | None, *, model_ready: bool) -> bytes:
        """Return the text that Prometheus reads; `cities` is None when the store is down."""
        return generate_latest(self._registry) + generate_latest(
            _Now(_gauges(cities, model_ready=model_ready))
        )


class _Now:
    """A registry of what is known only now, for one reading."""

    def __init__(self, gauges: Iterable[Metric]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterable[Metric]:
        return self._gauges


def _gauges(cities: Sequence[Coverage] | None, *, model_ready: bool) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "permitbox_store_up", "Whether the database answered.", value=float(cities is not None)
    )
    yield GaugeMetricFamily(
        "permitbox_model_ready", "Whether a model server answers.", value=float(model_ready)
    )
    chunks = GaugeMetricFamily("permitbox_chunks", "Searchable chunks.", labels=["city"])
    encoded = GaugeMetricFamily("permitbox_encoded_chunks", "Those with a vector.", labels=["city"])
    for coverage in cities or ():
        chunks.add_metric([coverage.city.id], coverage.chunks)
        encoded.add_metric([coverage.city.id], coverage.encoded)
    yield from (chunks, encoded)
