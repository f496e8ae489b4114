"""Tokens for development, made by the key in the data folder of this terminal's environment."""

import typer

from libs.chassis.foundation import NodeSettings
from libs.chassis.issuing import DevelopmentIssuer
from libs.kernel.clock import SystemClock


def development_issuer(settings: NodeSettings) -> DevelopmentIssuer:
    """Return what issues development tokens; if its key had to be made, that is said on stderr.

    For then no system knows it yet, unless one is started on the same folder.

    Raises:
        SettingsError: the key cannot be read.

    """
    issuer = DevelopmentIssuer.open(settings.data_folder, settings.auth, SystemClock())
    if issuer.is_new:
        folder = settings.data_folder.resolve()
        typer.echo(
            f"a new key for development tokens was made in {folder}: tokens by it are good for a "
            "system of that data folder, and for no other (OPOLYX_DATA_FOLDER)",
            err=True,
        )
    return issuer
