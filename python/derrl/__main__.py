"""The ``derrl`` command: the same as the one that Cargo builds."""

import sys

from ._derrl import main as _main


def main() -> int:
    """Runs the command on the arguments of the process, and returns its exit code."""
    return _main(["derrl", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
