"""The databases that the tests of the match engine share."""

from tests.support.postgres import database, postgres_server, server_folder, shared_database

__all__ = ["database", "postgres_server", "server_folder", "shared_database"]
