"""The paper's equations and the statistics they stand on: pure, on numpy and scipy."""
