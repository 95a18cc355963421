"""Features on disk: images encoded once, kept, verified and memory-mapped."""

from i2cansay.features.encoding import encode_dataset, store_folder
from i2cansay.features.header import Header, Subset
from i2cansay.features.labelled_file import FeatureFile, load_features
from i2cansay.features.npz import load_npz
from i2cansay.features.shard import Shard
from i2cansay.features.store import FeatureStore

__all__ = [
    "FeatureFile",
    "FeatureStore",
    "Header",
    "Shard",
    "Subset",
    "encode_dataset",
    "load_features",
    "load_npz",
    "store_folder",
]
