"""The packages that adapters are for stay on this machine: no telemetry, no hub."""

import os

os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
