import pytest

from libs.eventlog.storage import MemoryLogStorage
from tests.eventlog.contract import LocalEventLogContract, LogStorageContract


@pytest.fixture
def storage() -> MemoryLogStorage:
    return MemoryLogStorage()


class TestMemoryLogStorage(LogStorageContract):
    pass


class TestLogInMemory(LocalEventLogContract):
    pass
