"""Brings a follower from wherever it is to the live records of its match."""

import asyncio
from typing import Final

from libs.chassis.status import refused
from libs.kernel.reasons import Reason
from libs.store.ports import MatchStore
from libs.wire.record import StoredRecord, open_envelope
from opolyx.engine.v1 import engine_service_pb2 as pb
from services.match_engine.access import watching_message
from services.match_engine.deciding import Decider
from services.match_engine.followed import Followed
from services.match_engine.live import LiveMatch
from services.match_engine.pushes import pushed

PAGE: Final = 32
"""How many records are read and handed over at a time: fewer than may wait."""

READERS_MAX: Final = 4
"""How many matches are loaded and read from the store at a time for all who catch up (start): play
shares the store's connections with them."""


class CatchUp:
    """Reads what followers have missed, page by page. One for an engine."""

    def __init__(self, decider: Decider, store: MatchStore) -> None:
        self._decider = decider
        self._store = store
        self._turns = asyncio.Semaphore(READERS_MAX)

    async def bring(self, followed: Followed) -> None:
        """Hand over what lies behind a follower's position, and let it join what is live.

        A page is read when the one before it has been sent, so that a slow reader holds up nobody,
        and is not taken for one that is too slow while it reads history.

        Raises:
            RefusedError: STALE_SEQUENCE, the position is beyond the head; or the match cannot be
                read here, as `Decider.read` has it.
            StoreUnavailableError: the store did not answer.

        """
        while True:
            await followed.sent()
            async with self._turns:
                live = await self._decider.read(followed.match_id)
                recent = page = live.recent(followed.position)
                if page is None:
                    page = await self._store.records(followed.match_id, followed.position, PAGE)
            if followed.is_stopped:
                return
            self._hand_over(followed, live, page)
            # Nothing was awaited since the live records were looked at: none can be missed.
            if recent is not None and followed.position >= live.chain.last_seq:
                if live.is_over:
                    followed.finish()
                else:
                    followed.join()
                return

    def _hand_over(self, followed: Followed, live: LiveMatch, page: list[StoredRecord]) -> None:
        head_seq = live.chain.last_seq
        if followed.position > head_seq:
            raise refused(Reason.STALE_SEQUENCE, asked=followed.position, head=head_seq)
        if not followed.is_started:
            followed.start(_started(live, page))
        for record in page[:PAGE]:
            # The store may be ahead: this engine does not know of a commit before it hears of it.
            if record.last_seq <= head_seq:
                followed.hand_over(pushed(live, record))


def _started(live: LiveMatch, page: list[StoredRecord]) -> pb.FollowResponse.Started:
    """Say where a page begins: at the end of a record, whatever sequence was asked for."""
    sequence, chain_hash = live.chain.last_seq, live.chain.last_hash
    if page:
        sequence, chain_hash = page[0].first_seq - 1, open_envelope(page[0].data).prev_hash
    return pb.FollowResponse.Started(
        match_id=live.match_id,
        sequence=sequence,
        chain_hash=chain_hash,
        head_sequence=live.chain.last_seq,
        ended=live.is_over,
        watching=watching_message(live.access),
    )
