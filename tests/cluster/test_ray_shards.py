"""Classes held by actors of a real cluster give the answers of the model, also after an actor has died."""

from __future__ import annotations

import numpy as np

from i2cansay.fitting.sharded_classes import ShardedClasses
from tests.cluster.two_nodes import TwoNodes
from tests.fitting.test_sharded_classes import ASKED, taught


def test_actors_answer_as_one_model_and_come_back(nodes: TwoNodes) -> None:
    learner = taught()
    with ShardedClasses(learner, 4) as here:
        expected, scores = here.top_k(ASKED, 3)
    with ShardedClasses(learner, 4, engine="ray", address=nodes.address) as there:
        labels, found = there.top_k(ASKED, 3)
        assert labels.tolist() == expected.tolist()
        np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)
        there._ray.kill(there._shards[1], no_restart=False)
        assert there.top_k(ASKED, 3)[0].tolist() == expected.tolist()
