"""A service in which people teach a model by example: it loses nothing and keeps no images.

>>> import tempfile
>>> from pathlib import Path
>>> from i2cansay.service.service import Service
>>> folder = tempfile.TemporaryDirectory()
>>> service = Service(Path(folder.name), encoder="pixels")
>>> service.create("line-3").facts.encoder.name
'pixels'
>>> service.close()
>>> folder.cleanup()
"""
