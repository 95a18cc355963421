"""Methods that keep a memory of their own kind: prototypes, experts, candidates, rows."""
