"""The paper's equations and the statistics they stand on: pure, numpy and scipy only."""
