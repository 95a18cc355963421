"""
Teach features
==============

Teach a classifier feature vectors as they come, class by class; save it, go on, and let it forget a class.

``python examples/teach_features.py``
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from i2cansay import load, make_learner


def main() -> None:
    """Stream the digits of scikit-learn, two classes at a time."""
    X, y = load_digits(return_X_y=True)
    X_train, y_train, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]
    model = make_learner("i2cansay_shared", lift=0, random_state=0)

    for first in range(0, 10, 2):  # the hardest order: a class never comes again
        rows = np.flatnonzero((y_train == first) | (y_train == first + 1))
        for start in range(0, len(rows), 50):
            batch = rows[start : start + 50]
            model.partial_fit(X_train[batch], y_train[batch])
        seen = np.isin(y_test, model.classes_)
        accuracy = model.score(X_test[seen], y_test[seen])
        print(
            f"after {len(model.classes_):2} classes: {accuracy:.0%} of the test digits of these classes are right"
        )

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.i2cs"
        model.save(path)
        print(
            f"saved {path.stat().st_size / 1000:.0f} kB; {len(X_train)} samples were taught, none is in the file"
        )
        again = load(path)
    assert (again.predict(X_test) == model.predict(X_test)).all()

    again.forget(7)
    print(f"after forget(7) it knows {again.classes_.tolist()}")
    asked = again.predict(X_test, reject_below=0.5, unknown=-1)
    unsure = asked == -1
    print(
        f"it is unsure of {unsure.mean():.0%} of all digits, and of {unsure[y_test == 7].mean():.0%} of the sevens"
    )


if __name__ == "__main__":
    main()
