"""Options of commands that ask a running system."""

from pathlib import Path
from typing import Annotated, Final

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
