import re

import pytest
from prometheus_client import Counter, Gauge

from libs.telemetry import metrics, names
from libs.telemetry.names import CounterName, GaugeName, HistogramName, LogFields, MetricName

DECLARED = [value for value in vars(names).values() if isinstance(value, MetricName)]

COUNTED = ("_entries", "_events", "_deadlines", "_matches", "_owned")
"""What gauges count, as it is at the moment."""

UNITS = ("_seconds", "_total", "_active", "_info", "_open", *COUNTED)


@pytest.mark.parametrize("metric", DECLARED, ids=lambda metric: metric.name)
def test_a_metric_says_what_it_measures_and_in_which_unit(metric: MetricName) -> None:
    assert metric.name.startswith("opolyx_")
    assert metric.name.endswith(UNITS)
    assert metric.name.endswith("_total") == isinstance(metric, CounterName)
    assert metric.meaning.endswith((".", ")", "?"))


@pytest.mark.parametrize("metric", DECLARED, ids=lambda metric: metric.name)
def test_no_metric_has_a_label_without_bounds(metric: MetricName) -> None:
    assert not set(metric.labels) & {"match_id", "player_id", "room_id", "request_id", "subject"}


def test_a_histogram_brings_its_own_buckets_in_order() -> None:
    histograms = [metric for metric in DECLARED if isinstance(metric, HistogramName)]

    assert histograms
    assert all(metric.buckets == tuple(sorted(set(metric.buckets))) for metric in histograms)
    assert all(metric.buckets for metric in histograms)


def test_no_name_is_declared_twice() -> None:
    declared = [metric.name for metric in DECLARED]

    assert len(set(declared)) == len(declared)


def test_log_events_and_fields_are_written_alike() -> None:
    written = [*names.LOG_EVENTS, *LogFields.__annotations__]

    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in written)
    assert list(names.LOG_EVENTS) == sorted(names.LOG_EVENTS)


def test_a_metric_is_the_same_each_time() -> None:
    assert isinstance(metrics.counter(names.DEAD_LETTERS), Counter)
    assert metrics.counter(names.DEAD_LETTERS) is metrics.counter(names.DEAD_LETTERS)
    assert isinstance(metrics.gauge(names.CONSUMER_LAG), Gauge)
    assert metrics.histogram(names.REHYDRATE) is metrics.histogram(names.REHYDRATE)


def test_every_kind_of_name_is_told_apart() -> None:
    assert {type(metric) for metric in DECLARED} == {CounterName, GaugeName, HistogramName}
