"""``opolyx keys``: the public keys by which heads of matches are checked."""

import typer

from libs.wire.heads import spell_keys
from services.console.asking import PLAYER, AddressOption, Asker, PlayerOption, TokenFileOption
from services.console.connection import ask, public_keys
from services.console.output import Format, FormatOption, write_rows

app = typer.Typer(add_completion=False)


@app.command()
def keys(
    address: AddressOption = None,
    token_file: TokenFileOption = None,
    player: PlayerOption = PLAYER,
    output: FormatOption = Format.JSON,
) -> None:
    """Print the public keys of a running system; as JSON, as `verify --key` reads them.

    Exit codes: 0 printed, 1 nothing answers, 2 a setting is wrong.
    """
    found = ask(Asker(address, token_file, player), public_keys)
    if output == Format.JSON:
        typer.echo(spell_keys(found.items()), nl=False)
        return
    rows = [(key_id, key.hex()) for key_id, key in found.items()]
    write_rows(("key_id", "public_key"), rows, output)
