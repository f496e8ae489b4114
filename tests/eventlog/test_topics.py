from collections import Counter

import pytest

from libs.eventlog.topics import MATCH_RECORDS, PARTITIONS, TOPICS, dead, partition_of


@pytest.mark.parametrize(
    ("key", "partition"),
    [
        ("", 20),
        ("m", 49),
        ("01890a5d-ac96-774b-bcce-b302099a8057", 26),
    ],
)
def test_the_partition_of_a_key_is_kept_for_ever(key: str, partition: int) -> None:
    assert partition_of(key) == partition


def test_keys_spread_over_all_partitions() -> None:
    spread = Counter(partition_of(f"key-{n}") for n in range(PARTITIONS * 100))

    assert len(spread) == PARTITIONS
    assert max(spread.values()) < 150


def test_a_topic_names_its_major_version() -> None:
    assert all(topic.name.startswith("opolyx.") for topic in TOPICS)
    assert all(topic.name.endswith(".v1") for topic in TOPICS)
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)


def test_a_dead_topic_stands_beside_its_own() -> None:
    assert dead(MATCH_RECORDS.name) == "opolyx.match-records.v1.dead"
