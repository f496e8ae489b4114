from tests.support.postgres import database, postgres_server

__all__ = ["database", "postgres_server"]
