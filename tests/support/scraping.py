"""What Prometheus reads of a process."""

import asyncio
from http.client import HTTPConnection


async def scraped(port: int) -> str:
    """Return the metrics that are served on a port of the loopback."""
    return await asyncio.to_thread(_read, port)


def _read(port: int) -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()
