"""Where things lie on this machine, and how a file is replaced whole or not at all."""
