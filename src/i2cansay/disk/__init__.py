"""Files: where they are on this machine, how one is replaced whole or not at all, and how one is locked."""
