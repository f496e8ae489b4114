"""The databases that the tests of the store share."""

from tests.support.postgres import database, postgres_server, shared_database

__all__ = ["database", "postgres_server", "shared_database"]
