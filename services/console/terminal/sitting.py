"""Somebody at a table: sees what happens, is told what may be done, and has done what they type."""

import asyncio
from typing import Final

from libs.chassis.status import RefusedError
from libs.chassis.together import first_of
from libs.client.calls import ConnectionLostError
from libs.client.replies import Refused, Reply
from libs.kernel.chance import fresh_secret
from libs.kernel.reasons import Reason
from libs.rules import commands as c
from libs.rules import phases
from libs.rules.match import Match
from services.console.following import mind
from services.console.seat import PlayedSeat, is_asked
from services.console.terminal import words
from services.console.terminal.desk import Desk
from services.console.terminal.dialogues import Composing, Confirming, Dialogue, Step
from services.console.terminal.inquiries import Place
from services.console.terminal.options import TRADE, Options, numbered
from services.console.terminal.picture import Scene, framed, listed
from services.console.terminal.situation import clock, deadline_for
from services.console.terminal.words import NotUnderstoodError, words_of

NEWS: Final = 16
"""Sentences that a picture may need."""
TRIES: Final = 5
"""How often a command is given anew because something else happened first."""
TICK_S: Final = 1.0
PACE_S: Final = 0.4
"""How long a bot that plays here waits before each move, where somebody looks on."""

POSSIBLE: Final = 5
"""Entries of the list that are named to whoever typed something else."""
GLANCE_S: Final = 0.3
"""Nobody reads a list and types a number in so little time: they mean the one before."""

ASKED: Final = "A number or words; `help` says more."
SURRENDER: Final = "This gives the match up for good, with all that you have:"


class Sitting:
    """One seat of a match, from when somebody sits down until they leave or it is over."""

    def __init__(self, place: Place, desk: Desk) -> None:
        """Sit down at *place*; what happened before is known and not told again."""
        self._place = place
        self._desk = desk
        self._bot: PlayedSeat | None = None
        self._options: Options | None = None
        self._shown: object = None
        self._shown_s = 0.0
        self._dialogue: Dialogue | None = None
        self._is_out = False
        self._is_here = asyncio.Event()
        self._looking = asyncio.Lock()

    def leave_to(self, bot: PlayedSeat) -> None:
        """Have a bot choose from now on."""
        self._bot = bot

    async def play(self) -> bool:
        """Play on; returns whether the match is over. It goes on without whoever leaves.

        Raises:
            RefusedError, BrokenChainError, StreamBrokenError: the match cannot be followed.

        """
        minding = mind(self._place.table.signs, self._desk.warn, self._look)
        left = self._desk.left.wait()
        await first_of(self._follow(), self._obey(), minding, self._tick(), left)
        return self._match.phase == phases.ENDED

    @property
    def _match(self) -> Match:
        return self._place.table.match

    async def _follow(self) -> None:
        async for record in self._place.table:
            told = self._place.story.take(record, self._match)
            if record.last_seq > self._place.past and told:
                self._desk.show("\n".join(sentence for _, sentence in told))
            if record.last_seq >= self._place.past:
                self._is_here.set()
                if not self._place.table.has_waiting:
                    await self._look()

    async def _look(self) -> None:
        """See whether somebody waits for this seat, and if so, say so and show what may be done."""
        async with self._looking:
            try:
                await self._answer_or_ask()
            except ConnectionLostError:
                return  # whoever minds the line looks again
        self._desk.prompt(self._prompt())

    async def _answer_or_ask(self) -> None:
        match, seat = self._match, self._place.seat
        if match.phase == phases.SEEDING and match.client_seeds[seat] is None:
            await self._place.table.submit(c.ContributeSeed(seat, fresh_secret()))
        if match.phase in (phases.SEEDING, phases.ENDED):
            return
        if match.out[seat]:
            self._tell_out()
        elif not is_asked(match, seat) or match.frozen_at >= 0:
            self._options = self._shown = None
        elif self._bot is not None:
            await self._have_played(self._bot)
        else:
            self._options = await self._place.options()
            deadline = deadline_for(match, seat)
            pending = (deadline and deadline.deadline_id, self._options.entries)
            if pending != self._shown:
                self._shown = pending
                self._shown_s = _now_s()
                self._show_scene()

    async def _have_played(self, bot: PlayedSeat) -> None:
        if self._desk.is_live:
            if self._shown != self._match.turn_number:
                self._shown = self._match.turn_number
                self._show_scene()
            await asyncio.sleep(PACE_S)
        await bot.play()

    def _tell_out(self) -> None:
        if not self._is_out:
            self._is_out, self._options = True, None
            self._desk.show("You are out. The match goes on: watch on, or `quit`.")

    def _show_scene(self, *, is_board_wanted: bool = False) -> None:
        news = [sentence for _, sentence in self._place.story.last(NEWS)]
        entries = None if self._options is None else self._options.entries
        now_ms = self._place.table.signs.server_ms()
        scene = Scene(self._match, self._place.seat, self._place.people, news, entries, now_ms)
        if self._desk.has_room or is_board_wanted:
            self._desk.show(framed(scene))
            return
        self._desk.show("")
        self._desk.show(listed(scene, self._desk.width))
        if entries:
            self._desk.show(ASKED)

    async def _obey(self) -> None:
        await self._is_here.wait()  # before that there is nothing that a line could be about
        while (line := await self._desk.line()) is not None:
            try:
                if not await self._take(line):
                    return
            except NotUnderstoodError as error:
                self._desk.show(f"{error} {self._possible()}".rstrip())
            except RefusedError as error:
                self._desk.show(f"{error.told.reason}: {error.told.text}")
            except ConnectionLostError:
                self._desk.show("There is no answer. Whether it was done, the news will tell.")
        if self._bot is not None:
            await asyncio.Event().wait()  # nobody has to type

    async def _take(self, line: str) -> bool:
        """Do what a line says; returns whether somebody plays on."""
        if self._dialogue is not None:
            await self._step(self._dialogue.answer(line))
            return True
        if not line.strip():
            self._show_scene()
            return True
        typed = self._read(line)
        match typed:
            case words.Leave():
                return False
            case words.Give():
                await self._give(typed)
            case words.Compose():
                await self._compose()
            case words.Show("board"):
                self._show_scene(is_board_wanted=True)
            case words.Show("list"):
                await self._show_list()
            case _:
                self._desk.show(await self._place.answer(typed))
        return True

    def _read(self, line: str) -> words.Meant:
        """Return what a line means; a number means an entry of the list that was shown last."""
        place = self._place
        typed = words.parse(line, place.seat, self._match, place.people)
        if not isinstance(typed, words.Pick):
            return typed
        if self._options is None:
            raise NotUnderstoodError("Nothing is asked of you now; `list` shows what you may do.")
        if self._desk.is_live and _now_s() < self._shown_s + GLANCE_S:
            raise NotUnderstoodError("The list has just changed: look again.")
        return self._options.picked(typed, place.seat, self._match, place.people)

    async def _compose(self) -> None:
        place = self._place
        if not (await place.options()).has(TRADE):
            raise NotUnderstoodError("You cannot offer a trade now.")
        await self._step(Step(Composing.of(place.seat, self._match, place.people)))

    def _possible(self) -> str:
        """Return what may be done instead, as the list has it, as far as a line holds it."""
        if self._dialogue is not None or self._options is None:
            return ""
        entries = [f"{n} {entry.words}" for n, entry in enumerate(self._options.entries, start=1)]
        more = ", ..." if len(entries) > POSSIBLE else ""
        return f"Now: {', '.join(entries[:POSSIBLE])}{more}."

    async def _show_list(self) -> None:
        self._options = await self._place.options()
        lines = numbered(self._options.entries, self._desk.width)
        self._desk.show("\n".join(lines) or "There is nothing that you may do now.")

    async def _step(self, step: Step) -> None:
        self._dialogue = step.next
        if step.next is not None:
            self._desk.show(step.next.question)
        elif step.command is None:
            self._desk.show("Dropped; nothing was done.")
        else:
            await self._send(step.command, None)

    async def _give(self, given: words.Give) -> None:
        if isinstance(given.command, c.Surrender):
            await self._step(Step(Confirming(SURRENDER, given.command)))
        else:
            await self._send(given.command, given.amount)

    async def _send(self, command: c.SeatCommand, amount: int | None) -> None:
        """Give a command, never at another price than *amount*, which somebody has seen."""
        reply: Reply | None = None
        for _ in range(TRIES):
            options = await self._place.options()
            cost = options.cost_of(command)
            if amount is not None and cost is not None and cost != amount:
                told = f"Nothing was done: `{words_of(command)}` is {cost:,}, not {amount:,}."
                self._desk.show(told)
                return
            expected = None if cost is None else options.sequence
            reply = await self._place.table.submit(command, expected_sequence=expected)
            if not isinstance(reply, Refused) or reply.reason != Reason.STALE_SEQUENCE:
                break
        if isinstance(reply, Refused):
            self._desk.show(f"{reply.reason}: {reply.text}")

    async def _tick(self) -> None:
        while True:
            self._desk.prompt(self._prompt())
            await asyncio.sleep(TICK_S)

    def _prompt(self) -> str:
        """Return what stands before the line that is typed: the clock of who has to decide."""
        left = clock(
            self._match, self._place.seat, self._place.people, self._place.table.signs.server_ms()
        )
        return f"{left}> "


def _now_s() -> float:
    return asyncio.get_running_loop().time()
