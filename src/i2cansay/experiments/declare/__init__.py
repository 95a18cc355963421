"""Declarations: the tables and claims of the paper, our own tables, and the cells they consist of."""
