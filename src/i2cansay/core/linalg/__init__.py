"""Matrices and products: BLAS, symmetric matrices, rows that grow."""
