"""Streams: orders in which labelled rows arrive.

A stream is built from labels alone and yields batches of row numbers. Each batch also names its session, for the
evaluator; a learner is given `X[rows]` and `y[rows]` and nothing else.

>>> import numpy as np
>>> stream = make_stream("step:2", np.repeat(["cat", "dog", "owl", "fox"], 100), batch_size=50, seed=0)
>>> stream
StepStream(classes_per_session=2, epochs=1, batch_size=50, seed=0)
>>> [(batch.session, batch.rows.size) for batch in stream]
[(0, 50), (0, 50), (0, 50), (0, 50), (1, 50), (1, 50), (1, 50), (1, 50)]
"""

from i2cansay.streams.low_data import low_data
from i2cansay.streams.spec import has_sessions, make_stream
from i2cansay.streams.stream import Batch, Stream
from i2cansay.streams.table import STREAMS

__all__ = ["STREAMS", "Batch", "Stream", "has_sessions", "low_data", "make_stream"]
