"""The store: the append port that decides what happened in a match, and what it rests on.

`ports` says what is promised, `postgres` and `memory` keep it; `ownership` is who serves which
shard; `connections`, `migrate` and `embedded` are for every service that keeps tables.
"""
