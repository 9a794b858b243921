"""`python -m assay.cli`, where the command `assay` is not on the path."""

import sys

from assay.cli import main

sys.exit(main())
