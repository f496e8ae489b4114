"""A process that uses the embedded server of a folder, says its URL, and waits to be ended.

    python -m tests.store.starter FOLDER [--temporary]

It ends in good order when its standard input does.
"""

import asyncio
import sys
from pathlib import Path

from libs.store.embedded import EmbeddedServer


async def main() -> None:
    server = EmbeddedServer(Path(sys.argv[1]), temporary="--temporary" in sys.argv)
    sys.stdout.write(f"{await server.start()}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
