"""``opolyx keys``: the public keys by which heads of matches are checked."""

import typer

from libs.wire.heads import spell_keys
from services.console.asking import AddressOption, TokenFileOption
from services.console.connection import ask, public_keys

app = typer.Typer(add_completion=False)


@app.command()
def keys(address: AddressOption = None, token_file: TokenFileOption = None) -> None:
    """Print the public keys of a running system, as `verify --key` reads them.

    Exit codes: 0 printed, 1 nothing answers, 2 a setting is wrong.
    """
    typer.echo(spell_keys(ask(address, token_file, public_keys).items()), nl=False)
