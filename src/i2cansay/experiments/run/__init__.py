"""Planning tables, playing their cells, and keeping a record of each."""
