import pytest

from kb.embedding.models import DEFAULT_MODEL, KNOWN, lookup, short_name


@pytest.mark.parametrize(
    "name",
    [
        "multilingual-e5-small",
        "intfloat/multilingual-e5-small",
        "Xenova/Multilingual-E5-Small",
        "multilingual-e5-small:latest",
        "text-embedding-multilingual-e5-small",
        r"C:\models\multilingual-e5-small",
    ],
)
def test_a_model_is_known_by_any_name_it_is_served_under(name):
    assert lookup(name).name == DEFAULT_MODEL


@pytest.mark.parametrize(
    "name", ["", "e5", "my-multilingual-e5-small-tuned", "text-embedding-3-large"]
)
def test_another_model_is_not_taken_for_a_known_one(name):
    assert lookup(name) is None


def test_an_instruct_model_has_rules_of_its_own():
    assert lookup("multilingual-e5-large-instruct").query_prefix.startswith("Instruct: ")
    assert lookup("multilingual-e5-large-instruct").passage_prefix == ""


def test_names_are_short_and_unique():
    assert len({spec.name.lower() for spec in KNOWN}) == len(KNOWN)
    assert all(short_name(spec.name) == spec.name for spec in KNOWN)
