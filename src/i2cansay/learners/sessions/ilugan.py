"""ILUGAN, as we read it: a generator makes old classes up from statistics of codes, a discriminator learns all."""

from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole
from i2cansay.learners.sessions.adam import Adam
from i2cansay.learners.sessions.code_statistics import CodeStatistics, code_statistics_bytes
from i2cansay.learners.sessions.critic import Critic, critic_bytes
from i2cansay.learners.sessions.generator import Generator, generator_bytes
from i2cansay.learners.sessions.input_scale import InputScale
from i2cansay.learners.sessions.losses import Columns, cross_entropy_error, sigmoid
from i2cansay.learners.sessions.network import Arrays
from i2cansay.learners.sessions.replayed_codes import ReplayedCodes
from i2cansay.learners.validation import make_generator


class ILUGAN(OnlineClassifier):
    """Experimental: our reading of a method without published code.

    The discriminator is the classifier: a hidden layer, a logit per class, and one that tells real inputs from made
    ones. Its hidden units are the code of an input. Of every class the mean and the covariance of the codes are
    kept. In a session, codes of the old classes are drawn from these Gaussians, and the generator as it was before
    the session turns them into inputs that stand for the samples of the past. New samples and these train the
    discriminator; the generator learns to make inputs from the codes of both, which the discriminator should take
    for real, for the right class and for the same code. Then the Gaussians of all classes are measured again.

    Takes each batch for a session, and stores no samples.

    Parameters
    ----------
    hidden : int
        Width of the hidden layers of both networks, and of a code.
    replay : {"generator", "codes"}
        "codes" leaves the generator out: codes of old classes go straight into the layer of the classes. It shows
        what the generator is worth.
    code_weight, input_weight : float
        Weights of two squared distances: between the code asked for and that of the input made, a mean over units,
        and between the input made and the one whose code was asked for, a mean over features.
    lr : float
        Of Adam, for both networks.
    epochs : int
        Passes over a session.
    pass_size : int
        Rows of a pass: one half new samples, drawn anew where there are more, the other half old classes.
    batch_size : int
    random_state : int, Generator, RandomState or None

    Notes
    -----
    With x a sample and its class y, e its code, g = G(e), s the probability of "real" and q that of a class, the
    discriminator has the loss -log s(x) - log(1 - s(g)) - log q_y(x) - log q_y(g), the generator
    -log s(g) - log q_y(g) + code_weight * |code(g) - e|^2 + input_weight * |g - x|^2. New and old
    classes count by their number. Features are divided by their root mean square in the first session; codes are not
    negative, and those drawn are cut at zero. Sample weights have no part in it.

    The publication trains convolutions above a pretrained part of the network; over frozen features the two hidden
    layers stand for them. Widths, rates and the form of the losses are ours.

    References
    ----------
    Y. Xiang, Y. Fu, P. Ji and H. Huang, Incremental learning using conditional adversarial networks, ICCV 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ILUGAN(hidden=64, lr=0.003, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.6
    True
    """

    summary = "experimental: old classes from a generator, a discriminator that names classes"
    parts = ("_critic", "_generator", "_statistics", "_scale")
    needs_boundaries = True
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    size_advice = "a smaller hidden"
    structural: ClassVar[tuple[str, ...]] = ("hidden",)
    small_parameters = MappingProxyType({"hidden": 8, "lr": 0.02, "epochs": 15, "batch_size": 20})

    def __init__(
        self,
        *,
        hidden: int = 128,
        replay: Literal["generator", "codes"] = "generator",
        code_weight: float = 1.0,
        input_weight: float = 10.0,
        lr: float = 0.001,
        epochs: int = 40,
        pass_size: int = 500,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.replay = replay
        self.code_weight = code_weight
        self.input_weight = input_weight
        self.lr = lr
        self.epochs = epochs
        self.pass_size = pass_size
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("replay", self.replay, ("generator", "codes"))
        check_positive(lr=self.lr)
        check_not_negative(code_weight=self.code_weight, input_weight=self.input_weight)
        check_whole(hidden=self.hidden, epochs=self.epochs, at_least=1)
        check_whole(pass_size=self.pass_size, batch_size=self.batch_size, at_least=2)

    def _start(self, n_features: int) -> None:
        rng = np.random.default_rng(make_generator(self.random_state).integers(2**63))
        self._critic = Critic(n_features, self.hidden)
        self._critic.draw(rng)
        self._generator = Generator(self.hidden, self.hidden, n_features)
        self._generator.draw(rng)
        self._statistics = CodeStatistics(self.hidden)
        self._scale = InputScale()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        networks = critic_bytes(n_features, self.hidden, n_classes)
        networks += generator_bytes(self.hidden, self.hidden, n_features)
        return networks + code_statistics_bytes(self.hidden, n_classes) + 8 * room(1)

    def _batches(self, n: int) -> list[Rows]:
        return [self._rng.permutation(n)]  # `fit` is one session, whatever the batches of its training

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X = self._scale.apply(X, learn=True)
        new = np.unique(rows)
        old = np.setdiff1d(np.flatnonzero(self._statistics.described), new)
        n_each = max(1, round(len(rows) / len(new)))
        replayed = ReplayedCodes(self._statistics, old, n_each, self._rng)
        before = Generator(self.hidden, self.hidden, X.shape[1])
        before.restore(self._generator.state(), 0)
        columns = self._statistics.described
        columns[new] = True
        training = _Training(self, columns)
        half = self.batch_size // 2
        share = len(new) / (len(new) + len(old)) if len(old) else 1.0
        for _ in range(self.epochs):
            chosen = self._rng.permutation(len(X))[: max(1, self.pass_size // 2)]
            for start in range(0, len(chosen), half):
                batch = chosen[start : start + half]
                inputs, classes = X[batch], rows[batch]
                shares = np.full(len(batch), share / len(batch), dtype=np.float32)
                if len(old):
                    codes, whose = replayed.draw(len(batch), self._rng)
                    of_old = np.full(len(batch), (1 - share) / len(batch), dtype=np.float32)
                    if self.replay == "codes":
                        training.step(inputs, classes, shares, (codes, whose, of_old))
                        continue
                    inputs = np.concatenate([inputs, before.make(codes)])
                    classes, shares = np.concatenate([classes, whose]), np.concatenate([shares, of_old])
                training.step(inputs, classes, shares)
        for row in new:
            self._statistics.describe(row, self._critic.codes(X[rows == row]))
        if self.replay == "generator":
            for row, codes in replayed.by_class():
                self._statistics.describe(row, self._critic.codes(before.make(codes)))

    def _make(self, row: int | np.integer[Any], n: int) -> Float32:
        """Return made inputs of a class, (n, d)."""
        codes = np.maximum(self._statistics.sample(row, n, self._rng), 0)
        made: Float32 = self._generator.make(codes.astype(np.float32))
        return made

    def _scores(self, X: Features) -> Features:
        scores: Features = self._critic.logits(self._critic.codes(self._scale.apply(X))).astype(np.float64)
        return scores


class _Training:
    """The steps of one session: the discriminator's, then the generator's, on the same rows."""

    def __init__(self, model: ILUGAN, columns: Columns) -> None:
        self._model, self._columns = model, columns
        self._critic, self._generator = model._critic, model._generator
        self._optimisers = Adam(self._critic.arrays()), Adam(self._generator.arrays())
        self._gradients: list[Arrays | None] = [None, None]

    def step(
        self,
        X: Float32,
        classes: Rows,
        shares: Float32,
        codes: tuple[Float32, Rows, Float32] | None = None,
    ) -> None:
        """Train on inputs (n, d) of these classes, with weights in the loss, and on bare codes if there are any."""
        critic, generator = self._critic, self._generator
        asked = critic.codes(X)
        units = generator.units(asked)
        made = generator.output(units)
        both, twice = np.concatenate([X, made]), np.concatenate([shares, shares])
        of_both = np.concatenate([asked, critic.codes(made)])
        named = np.concatenate([classes, classes])
        error = cross_entropy_error(critic.logits(of_both), named, twice, self._columns)
        is_real = np.repeat(np.array([1, 0], dtype=np.float32), len(X))
        real_error = (sigmoid(critic.real(of_both)) - is_real) * twice
        gradients = critic.gradients(both, of_both, error, real_error, self._gradients[0])
        if codes is not None:
            bare, whose, weights = codes
            error = cross_entropy_error(critic.logits(bare), whose, weights, self._columns)
            gradients["weights"] += error.T @ bare
            gradients["bias"] += error.sum(axis=0)
        self._optimisers[0].step(gradients, self._model.lr)
        self._gradients[0] = gradients
        self._train_generator(X, asked, made, classes, shares, units=units)

    def _train_generator(
        self, X: Float32, asked: Float32, made: Float32, classes: Rows, shares: Float32, *, units: Float32
    ) -> None:
        critic, generator = self._critic, self._generator
        found = critic.codes(made)
        error = cross_entropy_error(critic.logits(found), classes, shares, self._columns)
        real_error = (sigmoid(critic.real(found)) - 1) * shares
        apart = (found - asked) * (2 * self._model.code_weight / found.shape[1] * shares[:, None])
        of_made = critic.input_error(critic.code_error(found, error, real_error, apart))
        of_made += (made - X) * (2 * self._model.input_weight / X.shape[1] * shares[:, None])
        gradients = generator.gradients(asked, units, of_made, self._gradients[1])
        self._optimisers[1].step(gradients, self._model.lr)
        self._gradients[1] = gradients
