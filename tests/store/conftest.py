"""The databases that the tests of the store share."""

from tests.support.postgres import (
    database,
    own_database,
    postgres_server,
    server_folder,
    shared_database,
)

__all__ = ["database", "own_database", "postgres_server", "server_folder", "shared_database"]
