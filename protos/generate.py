"""Compile every .proto under protos/ into protos/gen, with type stubs beside the modules."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "gen"


def main() -> int:
    """Replace protos/gen, so that a renamed proto leaves no stale module behind."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    protos = sorted((HERE / "opolyx").rglob("*.proto"))
    # Only a file that declares a service needs the gRPC modules; the others would import grpc
    # into readers of records, who have no use for it.
    services = [proto for proto in protos if proto.stem.endswith("_service")]
    status = _compile(protos, "python", "mypy") or _compile(services, "grpc_python", "mypy_grpc")
    if status == 0:
        print(f"compiled {len(protos)} protos into {OUT.relative_to(HERE.parent)}")
    return status


def _compile(protos: Sequence[Path], *plugins: str) -> int:
    if not protos:
        return 0
    outputs = [f"--{plugin}_out={OUT}" for plugin in plugins]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={HERE}", *outputs]
    result = subprocess.run(
        [*command, *map(str, protos)], check=False, stderr=subprocess.PIPE, text=True
    )
    if result.returncode != 0:
        print(result.stderr, file=sys.stderr)
    return result.returncode


if __name__ == "__main__":
    raise SystemExit(main())
