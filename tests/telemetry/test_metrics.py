from libs.telemetry import metrics, names
from tests.support.scraping import scraped


def bucket(text: str, bound: str) -> float:
    """Return how many appends are told to have taken no longer than *bound* seconds."""
    start = f'opolyx_eventstore_append_seconds_bucket{{le="{bound}"}} '
    return next(float(line.removeprefix(start)) for line in text.splitlines() if start in line)


async def test_metrics_are_served_with_their_own_buckets() -> None:
    async with metrics.exposed("127.0.0.1", 0) as port:
        metrics.histogram(names.EVENTSTORE_APPEND).observe(0.004)
        before = await scraped(port)
        metrics.histogram(names.EVENTSTORE_APPEND).observe(0.004)
        after = await scraped(port)

    assert bucket(after, "0.003") == bucket(before, "0.003")
    assert bucket(after, "0.005") == bucket(before, "0.005") + 1
    assert "process_cpu_seconds_total" in after


async def test_the_port_is_free_again_afterwards() -> None:
    async with metrics.exposed("127.0.0.1", 0) as port:
        pass

    async with metrics.exposed("127.0.0.1", port) as again:
        assert again == port
