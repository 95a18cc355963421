"""One file format: what the shell teaches the service takes in, and what the service gives out the shell opens."""

from __future__ import annotations

import json
from pathlib import Path

from i2cansay.service.model.exchange import export
from i2cansay.service.model.requests import Learn
from i2cansay.service.service import Service
from tests.cli.shell import good, write_folder


def test_a_model_of_images_goes_in_and_comes_out(tmp_path: Path) -> None:
    write_folder(tmp_path / "day", 60)
    write_folder(tmp_path / "held", 30, seed=1)
    model, out = tmp_path / "m.i2cs", tmp_path / "out.i2cs"
    good("learn", model, tmp_path / "day", "--encoder", "pixels@4")
    service = Service(tmp_path / "data")
    served = service.import_model("line", model.read_bytes())
    served.teach(Learn(served.state().learner.class_means_[:1].astype("float32") ** 2, ("blue",))).result()
    out.write_bytes(export(served.state()))
    service.close()
    before, after = (json.loads(good("info", file, "--json")) for file in (model, out))
    assert after["encoder"] == before["encoder"]
    assert after["samples"] == before["samples"] + 1
    assert "accuracy 100.0%" in good("test", out, tmp_path / "held")
    good("learn", out, tmp_path / "held")


def test_a_model_of_features_goes_in_and_comes_out(tmp_path: Path) -> None:
    table, model, out = tmp_path / "a.csv", tmp_path / "m.i2cs", tmp_path / "out.i2cs"
    table.write_text("label,x,y\n" + "".join(f"low,{i},{i % 7}\nhigh,{50 + i},{i % 5}\n" for i in range(20)))
    good("learn", model, table)
    service = Service(tmp_path / "data")
    out.write_bytes(export(service.import_model("rows", model.read_bytes()).state()))
    service.close()
    assert "accuracy 100.0%" in good("test", out, table)
