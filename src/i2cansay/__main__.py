"""`python -m i2cansay`: the command line, also where the command itself is not on the path."""

from i2cansay.cli import main

if __name__ == "__main__":
    main()
