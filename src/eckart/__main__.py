"""python -m eckart, and the script eckart: the command line, which may be interrupted while its modules load."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from eckart.cli import main as command

        command(prog_name="eckart")
    except KeyboardInterrupt:  # later ones are answered by the command
        sys.stderr.write("Interrupted. No incomplete files were left behind.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
