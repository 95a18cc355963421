"""The published pages: which records they are made of and where they stand, as a folder of records declares it.

The folder has the records of the paper's tables and a `pages.toml`, which names the others and the pages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.record_folder import load_records

DECLARATION = "pages.toml"
METHODS_TABLE, PROMPTS_TABLE, BACKBONE_TABLE = "shared-step", "prompts", "resnet50"
# The paper's tables on its own backbone, each with the data set that is played there; None: all of them.
BACKBONE = "resnet50_keras"
ON_BACKBONE = {"table3": "cifar100", "table4": None, "table5": None, "table6": None}


@dataclass(frozen=True)
class Places:
    """Where the pages stand, from the folder of RESULTS.md.

    Attributes
    ----------
    appendices : str
        A folder.
    image : str
        The chart of accuracy over size.
    methods, compared, statistics, backbone : str
        The pages on the methods at the top, on the compared methods, on how a verdict is reached, and on the paper's
        backbone.
    distance, constants : str
        The pages on what of ours was set with test figures in view: Eq. 7, and the shared mode.
    """

    appendices: str
    image: str
    methods: str
    compared: str
    statistics: str
    backbone: str
    distance: str
    constants: str


@dataclass(frozen=True)
class Publication:
    """Published records, and where the pages made of them stand.

    Attributes
    ----------
    folder : Path
        The records of the paper's tables.
    files : mapping of str to files
        The other records: of the `methods` at the top, of the `prompts`, of the tables on the paper's `backbone`.
    places : Places
    """

    folder: Path
    files: Mapping[str, Sequence[Path]]
    places: Places

    @classmethod
    def load(cls, folder: str | Path) -> Publication:
        """Read what a folder of records declares.

        Raises
        ------
        FileNotFoundError
            If it declares nothing.
        ValueError
            If the declaration cannot be used.
        """
        folder = Path(folder)
        if folder.name in ("", ".."):  # a folder without a name has no parent in its path
            folder = folder.resolve()
        declaration = folder / DECLARATION
        if not declaration.is_file():
            raise FileNotFoundError(
                f"there is no {DECLARATION} in {folder}, which would say what pages are made of its records; "
                "--markdown writes one page of any records"
            )
        try:
            declared = tomllib.loads(declaration.read_text(encoding="utf-8"))
            files = {
                name: [folder.parent / file for file in declared["records"][name]]
                for name in ("methods", "prompts", "backbone")
            }
            return cls(folder, files, Places(**declared["pages"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{declaration} cannot be used: {error!r}") from error

    @property
    def root(self) -> Path:
        """The folder that RESULTS.md is written to."""
        return self.folder.parent

    @cached_property
    def records(self) -> Sequence[Record]:
        """Records of the paper's tables."""
        return load_records(self.folder)

    @cached_property
    def methods(self) -> Sequence[Record]:
        """Records of the methods at the top of the page."""
        return load_records(*self.files["methods"])

    @cached_property
    def prompts(self) -> Sequence[Record]:
        """Records of the prompt methods and of those beside them."""
        return load_records(*self.files["prompts"])

    @cached_property
    def on_backbone(self) -> Sequence[Record]:
        """Records of the paper's tables on its own backbone."""
        return load_records(*self.files["backbone"])

    def plan(self, name: str) -> Plan:
        """Return a declared table filled with the records of the methods."""
        return fill_table(load_table(name), RecordIndex(self.methods), Choice())

    def prompts_plan(self) -> Plan:
        """Return the table of the prompt methods."""
        return fill_table(load_table(PROMPTS_TABLE), RecordIndex(self.prompts), Choice())

    def backbone_plans(self) -> Mapping[str, Plan]:
        """Return the paper's tables on its own backbone, by name; `resnet50` is the like of Table 1."""
        index = RecordIndex(self.on_backbone)
        return {BACKBONE_TABLE: self.plan(BACKBONE_TABLE)} | {
            name: fill_table(load_table(name), index, Choice(dataset=dataset, encoder=BACKBONE))
            for name, dataset in ON_BACKBONE.items()
        }
