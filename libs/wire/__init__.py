"""The domain on the wire: what happened as bytes, and what is asked and answered over gRPC.

Of records, `record` is where to begin: their bytes and back, and the hash chain. `readers` and
`writers` hold the two halves of the codec of every event, `heads` signs, `export` makes files.

Of requests and replies: `requests` opens bytes from outside, `commands` reads and writes what is
asked of a match, `request_hash` knows it again, `refusals` tells why not; `views` and `rule_sets`
write what clients look at.
"""
