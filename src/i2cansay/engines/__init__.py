"""Where work is done: in this process, or on a Ray cluster. Work is parts that are mapped and reduced as a tree.

Examples
--------
>>> with open_engine("local") as engine:
...     engine.reduce(len, int.__add__, ["a", "bb", "ccc"])
6
"""

from contextlib import AbstractContextManager

from i2cansay.engines.engine import ENGINES, Engine
from i2cansay.engines.local import LocalEngine

__all__ = ["ENGINES", "Engine", "LocalEngine", "open_engine"]


def open_engine(name: str, address: str | None = None) -> AbstractContextManager[Engine]:
    """Return an engine by name, to be used in a `with` statement.

    Parameters
    ----------
    name : {"local", "ray"}
    address : str, optional
        Of a Ray cluster, as "10.0.0.1:6379", or "auto" for the one that this machine belongs to. Without it Ray
        starts on this machine and ends with the engine.
    """
    if name not in ENGINES:
        raise ValueError(f"expected an engine of {', '.join(ENGINES)}, got {name!r}")
    if name == "local":
        if address is not None:
            raise ValueError(f"the address {address} is that of a Ray cluster; add --engine ray")
        return LocalEngine()
    from i2cansay.engines.ray_engine import RayEngine

    return RayEngine(address)
