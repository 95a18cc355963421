"""What a learner vouches for: scores of samples that came before they were learnt, and verdicts from them."""
