"""Our learner: one covariance for all classes."""
