"""The paper's equations, one function each."""
