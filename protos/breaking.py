"""Compare the protos with those on main: a change that would break a reader fails.

Records are kept for ever, so a proto on main is a promise. Where there is nothing to compare with
(no git, a shallow clone, a main without protos) the reason is printed, and that is no failure.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUF = Path(sys.executable).with_name("buf")
# The main that others read comes first; a clone's own main may hold what nobody has seen yet.
MAINS = ("refs/remotes/origin/main", "refs/heads/main")


def main() -> int:
    """Run ``buf breaking`` against main, or say why there is nothing to run it against."""
    if shutil.which("git") is None:
        return _skip("there is no git here")
    git_dir = _git("rev-parse", "--path-format=absolute", "--git-common-dir")
    if git_dir is None:
        return _skip("this is no git checkout")
    if _git("rev-parse", "--is-shallow-repository") == "true":
        return _skip("this clone is shallow")
    main = next((ref for ref in MAINS if _git("rev-parse", f"{ref}:protos/opolyx")), None)
    if main is None:
        return _skip("main has no protos yet")
    against = f"{git_dir}#commit={_git('rev-parse', main)},subdir=protos"
    return subprocess.run([BUF, "breaking", "--against", against], cwd=HERE, check=False).returncode


def _skip(reason: str) -> int:
    print(f"buf breaking: skipped, {reason}")
    return 0


def _git(*arguments: str) -> str | None:
    """Return what git answers, or None where it refuses."""
    answer = subprocess.run(
        ["git", *arguments], cwd=HERE, check=False, capture_output=True, text=True
    )
    return answer.stdout.strip() if answer.returncode == 0 else None


if __name__ == "__main__":
    raise SystemExit(main())
