"""Are our p-values and intervals calibrated? Simulations on real systems, as one table.

    python benchmarks/calibration.py                    everything, about an hour
    python benchmarks/calibration.py scores --runs 200  one part, quicker

Every part is a module of `calibrations/` with `rows(runs, rng)`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

import numpy as np
from calibrations.harness import DATA, lines

PARTS = ("scores", "muler", "suites", "agreement", "sensitivity", "tuning")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--runs", type=int, default=1000, help="simulations (default: 1000)")
    parser.add_argument("--seed", type=int, default=12345)
    args = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"{DATA} is missing: these simulations need real systems.")
    for name in args.parts or PARTS:
        part = import_module(f"calibrations.{name}")
        print(f"\n## {part.__doc__.splitlines()[0]}\n", flush=True)
        for line in lines(part.rows(args.runs, np.random.default_rng(args.seed))):
            print(line, flush=True)


if __name__ == "__main__":
    main()
