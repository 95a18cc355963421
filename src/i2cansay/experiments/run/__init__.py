"""Playing cells and keeping their records."""
