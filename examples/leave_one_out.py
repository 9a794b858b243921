"""What each segment is worth to a system, at the price of one scoring."""

import numpy as np

from assay.demo import read_demo
from assay.metrics.base import parse, system_statistics

dataset = read_demo()
for name, statistics in zip(
    dataset.systems, system_statistics(dataset, parse("macrof")), strict=True
):
    benefit = statistics.benefit()
    best, worst = int(np.argmax(benefit)), int(np.argmin(benefit))
    print(f"{name}: MacroF1 {statistics.corpus():.1f}")
    print(f"  helped most by  {benefit[best]:+.2f}  {dataset.systems[name][best]}")
    print(f"  hurt most by    {benefit[worst]:+.2f}  {dataset.systems[name][worst]}")
