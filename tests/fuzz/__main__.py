"""`python -m tests.fuzz`: nonsense for every RPC that clients can call, and what became of it.

Starts a system of its own. The exit code is 1 if anything was answered as it must not be.
"""

import asyncio
import sys
from argparse import ArgumentParser, Namespace

from tests.e2e.rig import Stage, on_stage
from tests.fuzz.commands import fuzz_commands
from tests.fuzz.running import FAMILIES, SETTINGS, Found, fuzz_all
from tests.support.system import running_system

REASONS_SHOWN = 6


def main() -> int:
    """Run, and print a table."""
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="of each kind for each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=list(FAMILIES), action="append", help="only these")
    return asyncio.run(_run(parser.parse_args()))


async def _run(args: Namespace) -> int:
    wrong: list[str] = []
    print(f"{'family':<20} {'kind':<9} {'sent':>6} {'taken':>6} {'wrong':>6}  refused")
    async with running_system(**SETTINGS) as system, on_stage(system) as stage:
        async for found in fuzz_all(stage, args.count, args.seed, args.family or list(FAMILIES)):
            _tell(found)
            wrong += found.outcome.wrong
        await _seats(stage, args)
        failures = system.log.read_text(encoding="utf-8").count("rpc_failed")
    print(f"bugs that the system has logged: {failures}")
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    return 1 if wrong or failures else 0


def _tell(found: Found) -> None:
    outcome = found.outcome
    reasons = outcome.refused.most_common(REASONS_SHOWN)
    refused = ", ".join(f"{reason} {count}" for reason, count in reasons)
    counts = f"{outcome.sent:>6} {outcome.taken:>6} {len(outcome.wrong):>6}"
    print(f"{found.family:<20} {found.kind:<9} {counts}  {refused}", flush=True)


async def _seats(stage: Stage, args: Namespace) -> None:
    played = await fuzz_commands(stage, args.count, args.seed)
    reasons = ", ".join(f"{reason} {n}" for reason, n in played.refused.most_common(REASONS_SHOWN))
    print(
        f"{'seats at a table':<20} {'commands':<9} {played.sent:>6} {played.accepted:>6} "
        f"{0:>6}  {reasons}; {played.matches} matches, all sound"
    )


if __name__ == "__main__":
    sys.exit(main())
