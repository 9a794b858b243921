"""`--columns`: tables whose columns have other names than usual."""

from pathlib import Path

TABLE = """\
id,model,out,gold
1,A,"a, cat",the cat
2,A,a dog,the dog
2,B,the dog,the dog
1,B,the cat,the cat
"""


def test_columns_say_what_a_table_holds(run):
    Path("t.csv").write_text(TABLE)
    told = "--columns hypothesis=out reference=gold system=model segment=id"
    ran = run(f"score t.csv {told} -m chrf -q --format tsv")
    assert ran.status == 0
    assert [line.split("\t")[0] for line in ran.out.splitlines()[1:]] == ["A", "B"]
    assert "100" in ran.out.splitlines()[2]


def test_a_slip_in_columns_is_told(refusal):
    Path("t.csv").write_text(TABLE)
    assert "write PART=COLUMN, as in hypothesis=mt" in refusal("score t.csv --columns out")
    assert "'hypo' is no part" in refusal("score t.csv --columns hypo=out")
    told = refusal("score t.csv --columns hypothesis=outt")
    assert "t.csv: no column 'outt' for the hypothesis (did you mean 'out'?)" in told
