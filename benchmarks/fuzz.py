"""Fuzz one part of assay for so many minutes: `python benchmarks/fuzz.py texts --minutes 12`.

The exit code is 1 where something was found. A seed makes a run repeatable.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

PARTS = ("kernel", "shards", "texts")


def main() -> int:
    """Fuzz the part that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found: int = import_module(f"fuzz.{args.part}").fuzz(args.minutes * 60, args.seed)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
