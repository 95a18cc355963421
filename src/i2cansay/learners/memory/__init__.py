"""Methods with a memory of their own kind: prototypes, experts, candidates, addresses."""
