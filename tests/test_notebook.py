"""The notebook of examples/ runs from top to bottom, in a kernel of its own."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "tour.ipynb"

nbformat = pytest.importorskip("nbformat", reason="needs nbformat, of the extra test")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient, of the extra test")
pytest.importorskip("ipykernel", reason="needs ipykernel, of the extra test")
pytest.importorskip("pandas", reason="needs: pip install 'assay-mt[frames]'")


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook with its outputs; its kernel is this very Python."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    manager = AsyncKernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    )
    client = nbclient.NotebookClient(notebook, km=manager, timeout=PATIENCE)
    asyncio.run(client.async_execute(cwd=str(tmp_path_factory.mktemp("notebook"))))
    return notebook


@pytest.mark.filterwarnings("ignore")  # the kernel's own
def test_every_cell_shows_something(executed):
    for cell in executed.cells:
        if cell.cell_type == "code" and not cell.source.startswith("import assay"):
            assert cell.outputs, cell.source


@pytest.mark.filterwarnings("ignore")
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
