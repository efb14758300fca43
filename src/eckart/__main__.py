"""python -m eckart: the command line."""

from eckart.cli import main

if __name__ == "__main__":
    main(prog_name="eckart")
