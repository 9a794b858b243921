"""The command line: `assay COMMAND`, one verb per job."""

from assay.cli.commands import main

__all__ = ["main"]
