"""How a taught learner decides, as arrays and named steps: what an export to another runtime is made from."""
