"""The domain on the wire: events and records as bytes, chained, signed and exported.

`record` is where to begin: a record's bytes and back, and the hash chain. `readers` and `writers`
hold the two halves of every event's codec, `heads` signs, `export` writes and reads files.
"""

from importlib import import_module

# The compiled protos are no part of the repository, so they can be older than the code (after a
# change of branch), or absent. The codec finds that when it is imported, whatever it stumbles over.
try:
    import_module("libs.wire.events")
except (ImportError, AttributeError, KeyError, ValueError, AssertionError) as error:
    raise ImportError(
        "the compiled protos do not fit this code: run `make setup`. If that does not help, an "
        f"event has no reader or no writer ({error!r})"
    ) from error
