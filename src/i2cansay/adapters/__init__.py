"""Adapters: one file for each package that people already use, imported only by those who use it.

- `river_classifier`: a learner as a river classifier
- `mlflow_tracking`, `tensorboard_tracking`: trackers for `evaluate.play`
- `skops_types`: what skops and MLflow have to trust to load a learner
- `torch_loader`: tensors and data loaders of torch
- `hugging_face`: images of the library `datasets`

Nothing here is imported by the rest of the package. docs/ecosystem.md shows each of them.
"""
