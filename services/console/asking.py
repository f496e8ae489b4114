"""Options of commands that ask a running system."""

from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

PLAYER: Final = "ada"
"""Who somebody is, where they don't say."""

AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Where the gateway is; OPOLYX_PEERS__GATEWAY by default.",
        show_default=False,
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="A token for those who must have one; a development token by default.",
        show_default=False,
    ),
]
PlayerOption = Annotated[
    str, typer.Option("--player", metavar="NAME", help="Who you are, by a development token.")
]
OperatorOption = Annotated[
    bool,
    typer.Option("--operator", help="Ask as an operator, who sees the matches of everybody."),
]


class Asker(NamedTuple):
    """Who asks, and where: what the options of a command say."""

    address: str | None = None
    token_file: Path | None = None
    player: str = PLAYER
    is_operator: bool = False

    def __str__(self) -> str:
        if self.token_file is not None:
            return f"with the token in {self.token_file}"
        return f"as {self.player}, an operator" if self.is_operator else f"as {self.player}"
