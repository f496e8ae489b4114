from collections.abc import AsyncIterator

import pytest

from tests.docs.desk import Desk
from tests.support.system import running_system


@pytest.fixture(scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """Return where a reader sits who has just called `make run`."""
    async with running_system() as system:
        yield Desk(system, tmp_path_factory.mktemp("desk"))
