"""Whether one system is better than another, by how much, and who says so."""

import assay
from assay.demo import read_demo

metrics = ["bleu", "chrf", "macrof"]
result = assay.score(read_demo(), metrics, confidence=True, test="bootstrap", all_pairs=True)
print(result)

for record in result.records():
    if record["p"] is not None and record["p_holm"] < 0.05:
        print(f"{record['metric']}: {record['system']} and {record['baseline']} differ")
