"""The notebook of examples/ runs from top to bottom, in a kernel of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "tour.ipynb"

nbformat = pytest.importorskip("nbformat", reason="needs nbformat, of the extra test")
pytest.importorskip("nbclient", reason="needs nbclient, of the extra test")
pytest.importorskip("ipykernel", reason="needs ipykernel, of the extra test")
pytest.importorskip("pandas", reason="needs: pip install 'assay-mt[frames]'")


EXECUTE = """
import sys
import nbclient, nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

notebook = nbformat.read(sys.argv[1], as_version=4)
manager = AsyncKernelManager()
manager._kernel_spec = KernelSpec(
    argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
)
nbclient.NotebookClient(notebook, km=manager, timeout=int(sys.argv[3])).execute()
nbformat.write(notebook, sys.argv[2])
"""
"""In a process of its own, as its sockets outlive it; the kernel is this very Python."""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook with its outputs."""
    folder = tmp_path_factory.mktemp("notebook")
    done = folder / "done.ipynb"
    subprocess.run(
        [sys.executable, "-c", EXECUTE, str(NOTEBOOK), str(done), str(PATIENCE)],
        check=True,
        cwd=folder,
    )
    return nbformat.read(done, as_version=4)


def test_every_cell_shows_something(executed):
    for cell in executed.cells:
        if cell.cell_type == "code" and not cell.source.startswith("import assay"):
            assert cell.outputs, cell.source


def test_results_show_themselves_as_tables(executed):
    pages = [
        output["data"]["text/html"]
        for cell in executed.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    assert len(pages) >= 9
    assert all("<table" in page for page in pages)


def test_the_notebook_is_committed_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
