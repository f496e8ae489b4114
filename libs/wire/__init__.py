"""The domain on the wire: events and records as bytes, chained, signed and exported.

`record` is where to begin: a record's bytes and back, and the hash chain. `reading` and `writing`
hold the two halves of every event's codec, `heads` signs, `export` writes and reads files.
"""
