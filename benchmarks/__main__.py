"""``python -m dynbench.benchmarks`` is the command ``dynbench``."""

import sys

from dynbench.benchmarks.cli import main

sys.exit(main())
