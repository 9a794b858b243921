"""Whether one system is better than another, by how much, and who says so."""

from assay import Questions
from assay.demo import read_demo
from assay.metrics.registry import METRICS
from assay.scoring import score_dataset

asked = Questions(confidence=True, test="bootstrap", all_pairs=True)
result = score_dataset(read_demo(), METRICS.parse_all(["bleu", "chrf", "macrof"]), questions=asked)
print(result)

for record in result.records():
    if record["p"] is not None and record["p_holm"] < 0.05:
        print(f"{record['metric']}: {record['system']} and {record['baseline']} differ")
