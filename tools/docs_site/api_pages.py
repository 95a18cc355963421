"""The reference of the library: a page per public module, made from what the modules say of themselves."""

from __future__ import annotations

import inspect
from importlib import import_module

# Modules in the order in which a reader meets them. Those without __all__ show what they define.
MODULES = (
    "i2cansay",
    "i2cansay.image_learner",
    "i2cansay.learners.base",
    "i2cansay.learners.merging",
    "i2cansay.evaluate",
    "i2cansay.streams",
    "i2cansay.datasets",
    "i2cansay.encoders",
    "i2cansay.features",
    "i2cansay.testing",
    "i2cansay.export.sklearn_converter",
    "i2cansay.service.client",
    "i2cansay.adapters.river_classifier",
    "i2cansay.adapters.mlflow_tracking",
    "i2cansay.adapters.tensorboard_tracking",
    "i2cansay.adapters.skops_types",
    "i2cansay.adapters.torch_loader",
    "i2cansay.adapters.hugging_face",
)


def api_pages() -> dict[str, str]:
    """Return the pages by their file names, in reStructuredText, which numpydoc and autosummary speak."""
    index = [
        *heading("The library"),
        "Classes and functions by module. Docstrings have examples that run in the tests.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {name}" for name in MODULES),
        "",
    ]
    pages, shown = {"index.rst": "\n".join(index)}, set[int]()
    for name in MODULES:
        pages[f"{name}.rst"] = module_page(name, shown)
    return pages


def module_page(name: str, shown: set[int]) -> str:
    """Return the page of a module: its own words, and a table of its classes and functions.

    What is `shown` by an earlier page is left out, and what this one shows is added, by identity.
    """
    module = import_module(name)
    found = [(member, getattr(module, member)) for member in public_names(name)]
    members = [(member, value) for member, value in found if id(value) not in shown]
    shown.update(id(value) for _, value in members)
    first = inspect.cleandoc(module.__doc__ or "").split("\n\n", maxsplit=1)[0]
    lines = [*heading(name.removeprefix("i2cansay.")), first, "", f".. currentmodule:: {name}", ""]
    tables = {
        "Classes": [each for each, value in members if inspect.isclass(value)],
        "Functions": [each for each, value in members if inspect.isroutine(value)],
    }
    for title, names in tables.items():
        if names:
            lines += [f".. rubric:: {title}", "", ".. autosummary::", "   :toctree: generated", ""]
            lines += [*(f"   {each}" for each in names), ""]
    return "\n".join(lines)


def public_names(name: str) -> list[str]:
    """Return the public names of a module: `__all__`, or the classes and functions that it defines.

    Examples
    --------
    >>> public_names("i2cansay.adapters.skops_types")
    ['trusted_types']
    """
    module = import_module(name)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(
        each
        for each, value in vars(module).items()
        if not each.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == name
    )


def heading(title: str) -> list[str]:
    """Return a title with its line below."""
    return [title, "=" * len(title), ""]
