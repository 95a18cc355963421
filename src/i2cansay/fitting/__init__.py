"""Learning a whole data set at once, in parts: statistics of each, merged as a tree, solved once."""

from i2cansay.fitting.fitting import Fit, fit_parts
from i2cansay.fitting.sources import ImageRows, Rows, RowSource, StoreRows, TableRows

__all__ = ["Fit", "ImageRows", "RowSource", "Rows", "StoreRows", "TableRows", "fit_parts"]
