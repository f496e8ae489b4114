"""Figures, as they are printed."""

from collections.abc import Sequence
from math import ceil


def tell(name: str, took: Sequence[float], beside: Sequence[float] = ()) -> None:
    """Print the median and 99th percentile of seconds, and their ratio to those *beside* them."""
    figures = [quantile(took, share) for share in (0.5, 0.99)]
    line = "".join(f"{seconds * 1e3:7.2f} ms" for seconds in figures)
    if beside:
        ratios = (f / quantile(beside, s) for f, s in zip(figures, (0.5, 0.99), strict=True))
        line += "   " + "".join(f"{ratio:7.1f}" for ratio in ratios)
    print(f"    {name:<40}{line}")


def quantile(figures: Sequence[float], share: float) -> float:
    """Return what this share of *figures* is at most; of one that is not there, 0."""
    ordered = sorted(figures)
    return ordered[ceil(share * len(ordered)) - 1] if ordered else 0.0
