"""``python -m services.console``, which is `opolyx`."""

from services.console.app import app


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    app(prog_name="opolyx")


if __name__ == "__main__":
    main()
