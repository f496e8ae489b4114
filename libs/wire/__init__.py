"""The domain on the wire: what happened as bytes, and what is asked and answered over gRPC.

Of records, `record` is where to begin: their bytes and back, and the hash chain. `readers` and
`writers` hold the two halves of the codec of every event, `heads` signs, `export` makes files.

Of requests and replies: `requests` opens bytes from outside, `commands` reads and writes what is
asked of a match, `request_hash` knows it again, `refusals` tells why not; `views` and `rule_sets`
write what clients look at.
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
