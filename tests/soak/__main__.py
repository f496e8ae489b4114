"""`python -m tests.soak`: a crowd that plays for half an hour, and what the system made of it.

Starts a system of its own, all services in one process on the embedded store. The exit code is 1 if
a match was not sound, an acknowledged command was lost, or anything else was wrong.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from typing import Final

from libs.client.client import Client
from libs.kernel.ids import MatchId
from services.console.audit import examine
from services.console.connection import public_keys, read_match
from tests.soak.people import HABITS, Person, Seen
from tests.soak.watching import Sample, Watcher, growth_mib_per_h
from tests.support.histories import Acknowledged, check_history
from tests.support.system import System, running_system

SAMPLES: Final = 30
ARRIVE_S: Final = 20.0
"""Within which everybody comes."""

TOLD_MAX: Final = 20


def main() -> int:
    """Run, and print tables."""
    parser = ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--matches", type=int, default=100, help="at once")
    parser.add_argument("--pace-ms", type=int, default=900, help="how long bots and people think")
    return asyncio.run(_run(parser.parse_args()))


async def _run(args: Namespace) -> int:
    seen, samples = Seen(), list[Sample]()
    every_s = args.minutes * 60 / SAMPLES
    async with running_system(pace_ms=args.pace_ms, **_LIMITS) as system:
        print(f"{args.matches} matches at once for {args.minutes:g} minutes; habits of people: ")
        print(f"  {', '.join(HABITS)}", flush=True)
        watching = asyncio.create_task(Watcher(system, seen).watch(every_s, samples))
        people = [
            asyncio.create_task(_arrive(Person(system, number, seen, args.pace_ms / 1000), number))
            for number in range(args.matches)
        ]
        await asyncio.sleep(args.minutes * 60 + every_s / 2)
        for task in (watching, *people):
            task.cancel()
        await asyncio.gather(watching, *people, return_exceptions=True)
        _tell_samples(samples)
        faults = await _faults(system, seen)
        logged = _logged(system)
    return _tell(seen, samples, faults, logged)


_LIMITS: Final = {"OPOLYX_TELEMETRY__LOG_LEVEL": "warning"}
"""All limits are as everybody has them; the log tells what is wrong alone."""


async def _arrive(person: Person, number: int) -> None:
    await asyncio.sleep(number * ARRIVE_S / 100 % ARRIVE_S)
    await person.play()


async def _faults(system: System, seen: Seen) -> list[str]:
    """Audit every match, and hold it to what its people were told; returns what is wrong."""
    told = defaultdict[MatchId, list[Acknowledged]](list)
    for one in seen.acknowledged:
        told[one.match_id].append(one)
    faults: list[str] = []
    async with system.client("auditor", "operator") as client:
        keys = await public_keys(client)
        for match_id in seen.matches:
            fault = await _fault(client, match_id, keys, told[match_id])
            if fault:
                faults.append(f"{match_id}: {fault}")
    return faults


async def _fault(
    client: Client, match_id: MatchId, keys: dict[str, bytes], told: list[Acknowledged]
) -> str:
    records, head = await read_match(client, match_id)
    finding = examine(match_id, records, head, keys)
    if finding.fault:
        return finding.fault
    try:
        check_history(records, told)
    except (AssertionError, KeyError) as error:
        return f"an acknowledged command is not there as it was told: {error!r}"
    return ""


def _logged(system: System) -> Counter[str]:
    """Count what the system has said of itself that is a warning or worse."""
    found: Counter[str] = Counter()
    for line in system.log.read_text(encoding="utf-8").splitlines():
        try:
            said = json.loads(line)
        except json.JSONDecodeError:
            found["not a line of ours: " + line[:60]] += 1
            continue
        found[f"{said.get('level')} {said.get('event')}"] += 1
    return found


def _tell_samples(samples: list[Sample]) -> None:
    print("\nminute  services MiB  store MiB  handles  matches  commands  ack p50 ms  p99 ms")
    for s in samples[:: max(len(samples) // 15, 1)]:
        print(
            f"{s.at_s / 60:6.1f} {s.services_mib:13.0f} {s.store_mib:10.0f} {s.handles:8} "
            f"{s.matches:8} {s.commands:9} {s.p50_ms:11.1f} {s.p99_ms:7.1f}"
        )
    print(f"memory of the services in the second half: {growth_mib_per_h(samples):+.1f} MiB/h")


def _tell(seen: Seen, samples: list[Sample], faults: list[str], logged: Counter[str]) -> int:
    commands = len(seen.acknowledged)
    print(
        f"\nmatches: {len(seen.matches)} begun, {seen.ended} left at their end or by whoever lost"
    )
    print(f"commands: {commands} acknowledged, refused: {dict(seen.refused)}")
    print(f"returned to a match: {seen.returned}; repeated and answered alike: {seen.repeated}")
    print(f"audits: {len(seen.matches) - len(faults)} of {len(seen.matches)} sound")
    print(
        f"errors of people: {len(seen.errors)}; warnings and errors of the system: {dict(logged)}"
    )
    for line in (*faults[:TOLD_MAX], *seen.errors[:TOLD_MAX]):
        print(f"  {line}", file=sys.stderr)
    bad = sum(count for what, count in logged.items() if not what.startswith("warning"))
    return 1 if faults or seen.errors or bad or not commands or not samples else 0


if __name__ == "__main__":
    sys.exit(main())
