"""Near duplicates as a Ray Data stage: what one process finds, whatever the number of actors."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import ray

from actors.deduplicate import ShardedIndex, near_duplicates
from cass_ray.corpus.dedup.near import NearDuplicates
from cass_ray.corpus.dedup.shingles import source_tokens


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    yield
    ray.shutdown()


def rows() -> list[dict[str, str]]:
    """700 programs, about half of them changed copies of earlier ones."""
    generator = random.Random(5)
    words = [[generator.randrange(5000) for _ in range(120)] for _ in range(350)]
    texts = []
    for _ in range(700):
        text = list(words[generator.randrange(350)])
        for position in generator.sample(range(120), generator.randrange(4)):
            text[position] = generator.randrange(5000)
        texts.append(" ".join(f"w{word}" for word in text))
    return [
        {"id": str(number), "cuda_source": text, "opencl_source": ""}
        for number, text in enumerate(texts)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 3])
def test_same_as_in_one_process(cluster: None, shards: int) -> None:
    alone = NearDuplicates(0.8)
    ids = [row["id"] for row in rows()]
    expected = alone.offer_batch(ids, [source_tokens(row["cuda_source"]) for row in rows()])
    found = {}
    dataset = ray.data.from_items(rows(), override_num_blocks=4)
    for batch, similar in near_duplicates(dataset, 0.8, shards=shards):
        found.update({row["id"]: each for row, each in zip(batch, similar, strict=True)})
    assert [found[each] for each in ids] == expected
    assert 100 < sum(each is not None for each in expected) < 600


@pytest.mark.slow
def test_each_actor_holds_its_share(cluster: None) -> None:
    index = ShardedIndex(3)
    known = NearDuplicates(0.8, index=index)
    known.offer_batch(
        [row["id"] for row in rows()], [source_tokens(row["cuda_source"]) for row in rows()]
    )
    sizes = ray.get([actor.size.remote() for actor in index.actors])
    index.close()
    assert max(sizes) < 1.2 * min(sizes)
    alone = NearDuplicates(0.8)
    kept = alone.offer_batch(
        [row["id"] for row in rows()], [source_tokens(row["cuda_source"]) for row in rows()]
    ).count(None)
    assert sum(sizes) == 21 * kept
