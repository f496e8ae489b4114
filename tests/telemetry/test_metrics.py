import asyncio
from http.client import HTTPConnection

from libs.telemetry import metrics, names


def read(port: int) -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


async def test_metrics_are_served_with_their_own_buckets() -> None:
    metrics.histogram(names.EVENTSTORE_APPEND).observe(0.004)
    async with metrics.exposed("127.0.0.1", 0) as port:
        text = await asyncio.to_thread(read, port)

    assert 'opolyx_eventstore_append_seconds_bucket{le="0.003"} 0.0' in text
    assert 'opolyx_eventstore_append_seconds_bucket{le="0.005"} 1.0' in text
    assert "process_cpu_seconds_total" in text


async def test_the_port_is_free_again_afterwards() -> None:
    async with metrics.exposed("127.0.0.1", 0) as port:
        pass

    async with metrics.exposed("127.0.0.1", port) as again:
        assert again == port
