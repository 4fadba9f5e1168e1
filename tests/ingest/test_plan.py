"""A plan makes the index equal to a listing, whatever both hold."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kb.ingest.plan import Plan, make_plan, same_object
from kb.model import Document, Failure, ObjectRef

NOW = "2026-11-30T12:00:00+00:00"
KEYS = [f"{folder}{name}.txt" for folder in ("", "a/", "b/") for name in "xyz"]
REFS = st.dictionaries(
    st.sampled_from([*KEYS, "a/", "~$x.docx", "z.bin"]), st.sampled_from(["e1", "e2"])
)


def ref(key: str, etag: str = "e1", version: str = "") -> ObjectRef:
    return ObjectRef(key, 3, etag, version, "2026-01-01T00:00:00+00:00")


def document(key: str, etag: str = "e1", parser: str = "text/1") -> Document:
    return Document(
        id=1,
        project="default",
        source=key,
        version=1,
        sha256="",
        media_type="",
        title="",
        parser=parser,
        pages=1,
        blocks=1,
        status="ready",
        origin="",
        valid_from="",
        valid_until="",
        ingested_at="",
        size=3,
        store="file:",
        object_key=key,
        etag=etag,
        modified="2026-01-01T00:00:00+00:00",
    )


def is_current(parser: str, name: str) -> bool | None:
    return None if name.endswith(".bin") else parser == "text/1"


def plan(
    listed: list[ObjectRef],
    documents: list[Document],
    failures: list[Failure] | None = None,
    prefix: str = "",
) -> Plan:
    by_key = {failure.ref.key: failure for failure in failures or []}
    return make_plan(
        listed, documents, by_key, prefix=prefix, source_prefix="", is_current=is_current, now=NOW
    )


@given(REFS, REFS, st.sampled_from(["", "a/"]))
def test_wanted_and_gone_make_the_index_equal_to_the_listing(
    listed: dict[str, str], known: dict[str, str], prefix: str
) -> None:
    refs = [ref(key, etag) for key, etag in listed.items() if key.startswith(prefix)]
    documents = [document(key, etag) for key, etag in known.items() if key in KEYS]
    made = plan(refs, documents, prefix=prefix)
    index = {d.object_key: d.etag for d in documents}
    for gone in made.gone:
        del index[gone.object_key]
    index.update((wanted.ref.key, wanted.ref.etag) for wanted in made.wanted)
    within = {key: etag for key, etag in index.items() if key.startswith(prefix)}
    assert within == {r.key: r.etag for r in refs if r.key in KEYS}
    outside = {d.object_key for d in documents if not d.object_key.startswith(prefix)}
    assert outside <= index.keys()
    assert (
        made.listed
        == len(refs)
        == (made.ignored + made.unchanged + len(made.wanted) + len(made.unreadable))
    )


def test_a_document_of_another_parser_revision_is_read_again() -> None:
    made = plan([ref("x.txt")], [document("x.txt", parser="text/0")])
    assert [wanted.ref.key for wanted in made.wanted] == ["x.txt"]


def test_what_failed_waits_until_its_time_or_until_it_changes() -> None:
    failure = Failure(
        "file:", ref("x.txt"), "x.txt", "Refused", "m", "h", 2, NOW, "2026-11-30T12:01:00+00:00"
    )
    assert plan([ref("x.txt")], [], [failure]).waiting == (failure,)
    assert plan([ref("x.txt", "e2")], [], [failure]).waiting == ()
    due = replace(failure, retry_at=NOW)
    assert plan([ref("x.txt")], [], [due]).waiting == ()


def test_the_same_object_has_the_same_etag_size_time_and_version() -> None:
    one = ref("x")
    assert same_object(one, one)
    assert same_object(one, replace(one, last_modified="2026-01-01T00:00:00.123+00:00"))
    assert same_object(one, replace(one, version="v1"))
    assert not same_object(replace(one, version="v1"), replace(one, version="v2"))
    assert not same_object(one, replace(one, size=4))
    assert not same_object(one, replace(one, etag="e2"))
    assert not same_object(one, replace(one, last_modified="2026-01-01T00:00:01+00:00"))
    assert not same_object(replace(one, etag=""), replace(one, etag=""))
