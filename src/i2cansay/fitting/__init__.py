"""Learning a whole data set at once, in parts: statistics of each, merged as a tree, solved once."""

from i2cansay.fitting.file_rows import ImageFileRows, StoreRows, TableRows
from i2cansay.fitting.fitting import Fit, fit_parts
from i2cansay.fitting.row_source import ArrayRows, JoinedRows, RowSource

__all__ = [
    "ArrayRows",
    "Fit",
    "ImageFileRows",
    "JoinedRows",
    "RowSource",
    "StoreRows",
    "TableRows",
    "fit_parts",
]
