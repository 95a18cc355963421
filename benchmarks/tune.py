"""Play a method's recorded sweeps again and print what comes out beside what is recorded.

    python benchmarks/tune.py METHOD [--dataset NAME] [--encoder efficientnet-lite0]

The sweeps stand in src/i2cansay/experiments/declared/tuning.toml; data are found through I2CANSAY_DATA.
Only training samples are looked at.
"""

import argparse
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from i2cansay.experiments.declare.tuning import Sweep, load_tunings, play_trial
from i2cansay.experiments.run.shared_features import share_features


def replay(learner: str, sweep: Sweep, encoder: str) -> None:
    """Play one sweep and print it as Markdown."""
    setting = sweep.setting
    X, y = share_features(setting.dataset, encoder).open("train")
    share = f"{setting.dataset} {setting.fraction:.0%}, {setting.stream}"
    seeds = ", ".join(map(str, sweep.seeds))
    print(f"\n{learner}: {share}, held out {setting.held!r}, memory {setting.memory_size:,}, seeds {seeds}\n")
    print("| tried | recorded | now | difference | seconds |\n|---|---:|---:|---:|---:|")
    for trial in sweep.trials:
        begin = perf_counter()
        runs = [play_trial(learner, trial.parameters, setting, seed=s, X=X, y=y) for s in sweep.seeds]
        now = float(np.mean(runs))
        tried = ", ".join(f"{name}={value}" for name, value in trial.parameters.items())
        figures = f"{trial.accuracy:.1f} | {now:.1f} | {now - trial.accuracy:+.1f}"
        print(f"| {tried} | {figures} | {perf_counter() - begin:.1f} |", flush=True)


def main() -> None:
    """Parse and play."""
    tunings = load_tunings()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("method", choices=tunings)
    parser.add_argument("--dataset", help="only the sweeps on this one")
    parser.add_argument("--encoder", default="efficientnet-lite0")
    options = parser.parse_args()
    tuning = tunings[options.method]
    print(f"chosen: {', '.join(f'{name}={value}' for name, value in tuning.chosen.items())}. {tuning.why}")
    with threadpool_limits(1):
        for sweep in tuning.sweeps:
            if options.dataset in (None, sweep.setting.dataset):
                replay(tuning.learner, sweep, options.encoder)


if __name__ == "__main__":
    main()
