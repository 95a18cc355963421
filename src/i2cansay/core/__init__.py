"""The paper's equations, and the statistics, buffers and matrices that learners share; numpy and scipy only."""
