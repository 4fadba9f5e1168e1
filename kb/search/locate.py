"""search: locate lines by meaning and by keyword. read_range: the exact lines of a page."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kb.errors import EmbeddingFailed, InvalidInput
from kb.messages import tr
from kb.model import SearchResult
from kb.search.fusion import Fused, Ranked
from kb.search.hits import build_hits
from kb.search.phrases import MAX_CHECKED, holding, quoted
from kb.search.ranking import (
    DEFAULT,
    DEPTH,
    JUDGED_FROM,
    NO_MATCH,
    Background,
    Near,
    Question,
    Ranking,
    make_question,
    order,
)
from kb.search.scope import find_scope
from kb.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from kb.catalog import Model, Reader
    from kb.model import Document
    from kb.ports import Embedder, Vectors
    from kb.search.reranking import Reranking
    from kb.vectors.search import DenseSearch

_LOG: Final = logging.getLogger(__name__)
_embedding: Final = ThreadPoolExecutor(4, "question")

MAX_TOP_K: Final = 50
MAX_QUERY: Final = 2_000
MAX_SHARE: Final = 0.3
"""A term that stands in a larger share of the blocks is not looked for: it tells nothing apart."""
SMALL: Final = 10
"""So few blocks are no reason to leave a term out."""
MAX_PHRASES: Final = 8
"""Phrases that are looked for one by one where nothing holds all of them."""
FEW: Final = 10
"""Candidates that mostly show already that they are of several documents."""
NEAREST: Final = 3
"""Documents that are named where nothing matches."""
MAX_TITLE: Final = 80
MAX_SOURCE: Final = 300
"""Characters of a title and of a source that are shown there."""


@dataclass(frozen=True, slots=True)
class Query:
    """A checked question. `source` restricts it.

    `min_relevance` is 0-1, None for the default: no hits where not even the best is relevant.
    """

    text: str
    top_k: int
    source: str | None = None
    min_relevance: float | None = None


def check_query(
    text: str, top_k: int, source: str | None = None, min_relevance: float | None = None
) -> Query:
    """The arguments of a search, checked. Raises InvalidInput."""
    if not tokens(text[: MAX_QUERY + 1]):
        raise InvalidInput(tr("search.empty"), tr("search.empty.hint"))
    if len(text) > MAX_QUERY:
        raise InvalidInput(
            tr("search.long", length=len(text), limit=MAX_QUERY), tr("search.long.hint")
        )
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInput(
            tr("search.top_k", top_k=top_k, limit=MAX_TOP_K), tr("search.top_k.hint")
        )
    if min_relevance is not None and not 0 <= min_relevance <= 1:
        raise InvalidInput(tr("search.relevance", value=min_relevance), "")
    return Query(text.strip(), top_k, source, min_relevance)


# -- search --------------------------------------------------------------------------------


def search(
    reader: Reader,
    query: Query,
    dense: Callable[[], DenseSearch],
    embedder: Callable[[], Embedder],
    max_chars: int,
    ranking: Ranking = DEFAULT,
    reranking: Reranking | None = None,
) -> SearchResult:
    """The `top_k` best ranges for `query`, in one view of the index; none where nothing matches.

    A phrase in quotes must stand literally in every hit. `reranking` orders what may be shown, it
    does not choose: whether anything matches is decided before.

    Keywords always answer; vectors join when the index and `embedder` agree on the model (it may
    raise EmbeddingFailed, which becomes a notice). The shown text of all hits stays within
    `max_chars`. Raises NotFound for an unknown source.
    """
    documents = find_scope(reader, query.source)
    phrases = quoted(query.text)
    held = holding(reader, phrases, documents) if phrases else None
    if held and not held.ranked:
        notice = _no_phrase(reader, phrases, documents)
        return SearchResult(query.text, reader.project, (), notice)
    exact = held.ranked if held else None
    # The model computes while SQLite looks the words up: neither needs the other.
    asked = _embedding.submit(_query_vector, reader.model, query.text, embedder)
    question = make_question(reader, query.text)
    sparse = keywords(reader, question, documents) if exact is None else exact
    near = nearest(reader, asked.result, documents, dense)
    notices = list(near.notices)
    if exact is not None:
        near = near.among({hit.id for hit in exact})
    if held and not held.checked:
        notices.append(_unchecked())
    ordered = order(reader, question, near, sparse, ranking)
    if documents is None and exact is None and query.top_k > 1:
        others = _others(reader, ordered)
        if others:
            near = near.beside(nearest(reader, asked.result, others, dense))
            sparse = [*sparse, *keywords(reader, question, others)]
            ordered = order(reader, question, near, sparse, ranking)
    kept = _relevant(ordered, query, exact=exact is not None)
    if reranking and kept:
        kept, told = reranking.order(reader, query.text, kept)
        notices += told
    spread = query.source is None
    hits, cut = build_hits(reader, kept, query.top_k, max_chars, spread=spread)
    if cut:
        notices.append(tr("search.cut", count=cut))
    if not hits:
        notices.append(_why_nothing(reader, query, ordered))
    return SearchResult(query.text, reader.project, tuple(hits), "\n".join(notices))


def _others(reader: Reader, ordered: Sequence[Fused]) -> list[int]:
    """All documents but one, where that one has all candidates: so long that it leaves no room."""
    for part in (ordered[:FEW], ordered):
        of = {block.document_id for block in reader.blocks([hit.id for hit in part]).values()}
        if len(of) != 1:
            return []
    return [id_ for id_ in reader.documents() if id_ not in of]


def _relevant(ordered: Sequence[Fused], query: Query, *, exact: bool) -> list[Fused]:
    """The candidates that may be shown.

    With a `min_relevance` those that reach it. Without one all, or none where not even the best
    reaches the default threshold: a literal match always may, and so may anything among too few
    candidates to tell.
    """
    if query.min_relevance is not None:
        return [hit for hit in ordered if hit.relevance >= query.min_relevance]
    if exact or len(ordered) < JUDGED_FROM:
        return list(ordered)
    best = max(hit.relevance for hit in ordered[: query.top_k])
    return list(ordered) if best >= NO_MATCH else []


def keywords(reader: Reader, question: Question, documents: Collection[int] | None) -> list[Ranked]:
    """Keyword candidates with their BM25 score."""
    found = reader.match(_telling(question.frequencies, question.total), DEPTH, documents)
    return [Ranked(id_, score) for id_, score in found]


def _telling(frequencies: Mapping[str, int], total: int) -> list[str]:
    """The terms that exist and tell blocks apart; all that exist when none of them does.

    Leaving out what stands in over 30 % of the blocks found as much or more on four Chinese sets
    (hit@1 +0 to +0.6, hit@10 +0 to +0.3) in 50 to 63 % of the time.
    """
    there = [term for term, df in frequencies.items() if df]
    limit = max(MAX_SHARE * total, SMALL)
    return [term for term in there if frequencies[term] <= limit] or there


def nearest(
    reader: Reader,
    asked: Callable[[], tuple[Vectors | None, Sequence[str]]],
    documents: Collection[int] | None,
    dense: Callable[[], DenseSearch],
) -> Near:
    """The blocks whose vectors are nearest to the question's, and the reason why there are none.

    `asked` gives the question's vector, or None and what must be said of that.
    """
    vector, told = asked()
    notices, total = list(told), reader.block_count()
    if not total:
        return Near()
    if vector is None:
        return Near(notices=notices)
    pending = reader.pending_count()
    if pending:
        notices.append(tr("search.behind", done=total - pending, total=total))
    if pending == total:
        return Near(notices=notices)
    found = dense().nearest(reader, vector, DEPTH, documents)
    if dense().problem:
        notices.append(tr("search.chroma", reason=dense().problem))
    usual = {key: Background(*of) for key, of in dense().usual(reader, vector).items()}
    centred = dense().most_alike(reader, vector, DEPTH, documents)
    return Near([Ranked(*hit) for hit in found], usual, notices, centred)


def _query_vector(
    model: Model | None, text: str, embedder: Callable[[], Embedder]
) -> tuple[Vectors | None, list[str]]:
    """The question's vector, or the reason why the search is by keyword only."""
    try:
        engine = embedder()
        if model is None:
            return None, [tr("search.keyword_only.pending")]
        if engine.fingerprint != model.fingerprint:
            return None, [tr("search.keyword_only.model", index=model.name, now=engine.name)]
        return engine.embed_query(text), []
    except EmbeddingFailed as error:
        _LOG.debug("%s", error.message)  # the notice says it in every answer
        return None, [tr("search.keyword_only", reason=error)]


def _no_phrase(reader: Reader, phrases: Sequence[str], documents: Collection[int] | None) -> str:
    """Which phrases are nowhere; several may each be somewhere, but not in one place."""
    alone = {phrase: holding(reader, [phrase], documents) for phrase in phrases[:MAX_PHRASES]}
    nowhere = [phrase for phrase, held in alone.items() if held.checked and not held.ranked]
    if nowhere:
        named = tr("list.separator").join(f"“{phrase[:80]}”" for phrase in nowhere)
        return tr("search.phrase_nowhere", phrases=named)
    if len(phrases) <= MAX_PHRASES and all(held.checked for held in alone.values()):
        return tr("search.phrases_apart")
    return f"{tr('search.phrase_not_found')}{_unchecked()}"


def _unchecked() -> str:
    return tr("search.phrase_unchecked", limit=MAX_CHECKED)


def _why_nothing(reader: Reader, query: Query, ordered: Sequence[Fused]) -> str:
    if not reader.block_count():
        return tr("search.no_documents")
    if not ordered:
        return tr("search.nothing")
    if query.min_relevance is not None:
        return tr("search.nothing_relevant", value=query.min_relevance)
    names = tr("list.separator").join(map(_named, _nearest_documents(reader, ordered)))
    return tr("search.no_match", names=names)


def _nearest_documents(reader: Reader, ordered: Sequence[Fused]) -> list[Document]:
    """The documents of the best candidates, the nearest first."""
    blocks = reader.blocks([hit.id for hit in ordered])
    ids = dict.fromkeys(blocks[hit.id].document_id for hit in ordered if hit.id in blocks)
    nearest_ids = list(ids)[:NEAREST]
    documents = reader.documents(nearest_ids)
    return [documents[id_] for id_ in nearest_ids if id_ in documents]


def _named(document: Document) -> str:
    """A document's source, after its title where the source does not begin with that."""
    source = _shortened(document.source, MAX_SOURCE)
    if not document.title or document.source.startswith(document.title):
        return f'"{source}"'
    return tr("search.nearest", title=_shortened(document.title, MAX_TITLE), source=source)


def _shortened(name: str, limit: int) -> str:
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


# -- read_range ----------------------------------------------------------------------------
