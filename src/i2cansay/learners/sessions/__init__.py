"""Methods that have to be told where a session ends: they take each batch for a whole session (`needs_boundaries`).

They are not task-free. Only `i2cansay.evaluate.play` knows sessions and gives them whole; every table and every
record marks these methods. They may go over a session several times, as in the offline protocol of the paper's
Table 3.
"""
