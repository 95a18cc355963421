"""Things of a user's own, named as "package.module:Class" wherever a name of ours does."""

import os
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_import_name(name: str) -> bool:
    """Whether a name has the form "package.module:Class".

    >>> is_import_name("my_methods.median:Median"), is_import_name("ncm"), is_import_name("step:5")
    (True, False, False)
    """
    return NAME.fullmatch(name) is not None


def import_by_name(name: str) -> Any:
    """Import what "package.module:Class" names; the module may also lie in the current folder.

    Only for names that a user types: importing a module runs it.

    Examples
    --------
    >>> import_by_name("fractions:Fraction")(1, 2)
    Fraction(1, 2)
    >>> import_by_name("fractions:Half")
    Traceback (most recent call last):
    ValueError: the module fractions has no Half; expected a name as "package.module:Class"
    """
    if not is_import_name(name):
        raise ValueError(f'expected a name as "package.module:Class", got {name!r}')
    module, _, attribute = name.partition(":")
    top = module.partition(".")[0]
    if top not in sys.modules and find_spec(top) is None and os.getcwd() not in sys.path:
        # A console script does not look into the current folder. Last, so that nothing installed is hidden.
        sys.path.append(os.getcwd())
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and needs one that is not
        raise ValueError(
            f"there is no module {error.name} for {name!r}; install it, or run this in the folder where it lies"
        ) from None
    if not hasattr(found, attribute):
        raise ValueError(f'the module {module} has no {attribute}; expected a name as "package.module:Class"')
    return getattr(found, attribute)
