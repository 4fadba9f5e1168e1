"""Named ways to order candidates, and how sure the first of them can be.

The default orders by standardised scores of both engines and by what of the question stands in the
lines around a block. Its constants are round numbers that `bench.retrieval` proves on five sets.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import exp, log
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kb.search.fusion import Fused, Ranked, convex_combination, deviations, reciprocal_rank_fusion
from kb.text.lines import split_lines
from kb.text.tokens import fold, fold_lines, script, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kb.catalog import Reader
    from kb.model import Block
    from kb.text.tokens import Script
    from kb.vectors.exact import Centred

DEPTH: Final = 100
"""Candidates that each engine gives to the fusion."""
RESCORED: Final = 30
"""Candidates, the first of the fused list, whose surroundings are read."""
AROUND: Final = 5
"""Lines above and below a block that count as its surroundings: one more block each way."""
JUDGED_FROM: Final = 50
"""Candidates among which a match can stand out. In a smaller index or scope nothing is refused."""
NO_MATCH: Final = 0.08
"""The default threshold: where no hit reaches it there is no match. Chosen so that on none of six
sets more than 3 % of right first hits are lost."""

_GRAM: Final = 3
_ALL_WORDS: Final = 0.999
_SURE_OF_ALL: Final = 0.5
"""The least relevance where every word of the question stands: 20 of 26 such first hits, with and
without the right document, were right on five sets."""
_FOREIGN: Final = (0.5, 2.0)
"""The share of words and the standing among keywords that count, at the least, where the question
is Chinese and the candidate is not, or the other way round."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A named configuration.

    `dense` is the share of vectors in a convex combination; `window` and `grams` weigh the shares
    of the question that stand around a block (by its words, by its runs of three characters).
    `foreign`: what is written in another script than the question is judged by centred vectors.
    """

    name: str
    fusion: Literal["rrf", "convex"]
    dense: float = 0.5
    window: float = 0.0
    grams: float = 0.0
    foreign: bool = False


RRF: Final = Ranking("RRF 60", "rrf")
CONVEX: Final = Ranking("convex", "convex")
DEFAULT: Final = Ranking("product", "convex", window=3.0, grams=2.0, foreign=True)


class _Evidence(NamedTuple):
    """Weights of a logistic function: see `_Judge`."""

    cosine: float
    keywords: float
    words: float
    length: float
    bias: float


_BOTH: Final = _Evidence(1.3, 0.48, 2.6, 0.65, -9.65)
_KEYWORDS_ONLY: Final = _Evidence(0.0, 0.54, 8.1, 0.68, -7.2)


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: the text, and each of its tokens with the number of blocks that hold it.

    `total` counts the blocks of the index.
    """

    text: str
    frequencies: Mapping[str, int]
    total: int

    @property
    def weights(self) -> dict[str, float]:
        """Each token's idf, of those of two characters or more where there are any."""
        long = {t: df for t, df in self.frequencies.items() if len(t) > 1}
        return {
            term: log(1 + (self.total - df + 0.5) / (df + 0.5))
            for term, df in (long or self.frequencies).items()
        }


class Background(NamedTuple):
    """Mean and standard deviation of the question's cosines over a part of the index."""

    mean: float
    deviation: float

    def above(self, cosine: float) -> float:
        """How many deviations a cosine stands above the mean."""
        return (cosine - self.mean) / (self.deviation or 1.0)


@dataclass(frozen=True, slots=True)
class Near:
    """Vector candidates (their score is the cosine), what is usual, what must be said of them.

    `usual` tells it by what text is written in. `centred` has the best by centred cosines.
    """

    ranked: Sequence[Ranked] = ()
    usual: Mapping[Script, Background] = field(default_factory=dict)
    notices: Sequence[str] = ()
    centred: Sequence[Centred] = ()

    def among(self, ids: Collection[int]) -> Near:
        """Only those of `ids`."""
        return replace(
            self,
            ranked=[hit for hit in self.ranked if hit.id in ids],
            centred=[hit for hit in self.centred if hit.id in ids],
        )

    def beside(self, other: Near) -> Near:
        """With the candidates of `other` as well."""
        ranked, centred = [*self.ranked, *other.ranked], [*self.centred, *other.centred]
        return replace(self, ranked=ranked, centred=centred)


def make_question(reader: Reader, text: str) -> Question:
    """The question `text`, weighed by the index."""
    terms = dict.fromkeys(tokens(text))
    return Question(text, reader.document_frequencies(terms), reader.block_count())


def order(
    reader: Reader,
    question: Question,
    near: Near,
    sparse: Sequence[Ranked],
    ranking: Ranking = DEFAULT,
) -> list[Fused]:
    """All candidates, best first, each with its relevance.

    A block that waits for its vector is judged by keywords alone.
    """
    dense = near.ranked
    pending = reader.pending_among([hit.id for hit in sparse]) if dense else set()
    if ranking.fusion == "rrf":
        fused = reciprocal_rank_fusion(dense, sparse)
    else:
        share = ranking.dense
        fused = convex_combination(dense, sparse, share=share, depth=DEPTH, unknown=pending)
    beyond = _beyond(near.centred, fused) if ranking.foreign else []
    shares = _shares(reader, question, [*fused[:RESCORED], *beyond])
    if ranking.foreign:
        fused += [hit for hit in beyond if shares[hit.id].foreign]
        foreign = {hit.id for hit in fused if shares[hit.id].foreign} - pending
        fused = _across_scripts(fused, foreign, near.centred, sparse)
    scored = [(_score(hit, shares[hit.id], ranking), hit) for hit in fused]
    scored.sort(key=lambda pair: -pair[0])
    judge = _Judge(near, sparse, len(question.weights))
    judged = (judge.relevance(hit, shares[hit.id], pending) for _, hit in scored)
    return [
        replace(hit, score=score, relevance=relevance)
        for (score, hit), relevance in zip(scored, judged, strict=True)
    ]


def _score(hit: Fused, share: _Share, ranking: Ranking) -> float:
    words = max(share.words, _FOREIGN[0]) if share.foreign and ranking.foreign else share.words
    return hit.score + ranking.window * words + ranking.grams * share.runs


# -- another script than the question's ----------------------------------------------------


def _beyond(centred: Sequence[Centred], fused: Sequence[Fused]) -> list[Fused]:
    """The first by centred vectors that are no candidates yet."""
    listed = {hit.id for hit in fused}
    first = (hit for hit in centred[:RESCORED] if hit.id not in listed)
    return [Fused(hit.id, 0.0, dense_score=hit.cosine) for hit in first]


def _across_scripts(
    fused: Sequence[Fused],
    foreign: Collection[int],
    centred: Sequence[Centred],
    sparse: Sequence[Ranked],
) -> list[Fused]:
    """The same, those in another script than the question scored anew.

    All texts of one language are nearer to its questions than any of another: of 4,939 blocks, 6 %
    of them English, the right English one was among the first five for 5 % of the Chinese
    questions; so it is for 78 %. Keywords count as the vectors do, at least.
    """
    if not foreign or not centred:
        return list(fused)
    standing, lowest = deviations([Ranked(hit.id, hit.centred) for hit in centred], len(centred))
    by_keywords, none = deviations(sparse, DEPTH)
    moved = []
    for hit in fused:
        if hit.id in foreign:
            vectors = standing.get(hit.id, lowest)
            keywords = max(by_keywords.get(hit.id, none), vectors)
            moved.append(replace(hit, score=(vectors + keywords) / 2))
        else:
            moved.append(hit)
    return moved


# -- what of the question stands there -----------------------------------------------------


class _Share(NamedTuple):
    """What of the question's words (by idf) stands around a block, what of its runs inside.

    `script` is the block's; `foreign`: the question's is another, so that words cannot tell.
    """

    words: float
    runs: float
    script: Script
    foreign: bool


def _shares(reader: Reader, question: Question, fused: Sequence[Fused]) -> defaultdict[int, _Share]:
    """By candidate; of any other nothing stands there, in the question's script."""
    weights = question.weights
    whole = sum(weights.values()) or 1.0
    folded = fold(question.text)
    grams = {folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)}
    blocks = reader.blocks([hit.id for hit in fused])
    texts = reader.page_texts({(block.document_id, block.page) for block in blocks.values()})
    lines = {place: split_lines(text) for place, text in texts.items()}
    asked_in = script(folded)
    nothing = _Share(0.0, 0.0, asked_in, foreign=False)
    shares: defaultdict[int, _Share] = defaultdict(lambda: nothing)
    for block in blocks.values():
        around, own = _surroundings(lines.get((block.document_id, block.page), []), block)
        words = sum(weight for term, weight in weights.items() if term in around)
        runs = sum(gram in own for gram in grams)
        written_in = script(own)
        foreign = {written_in, asked_in} == {"han", "latin"}
        shares[block.id] = _Share(words / whole, runs / max(1, len(grams)), written_in, foreign)
    if any(share.foreign and share.words >= _FOREIGN[0] for share in shares.values()):
        # A word of Latin letters stands in Chinese text: then words can tell after all.
        shares.update({id_: share._replace(foreign=False) for id_, share in shares.items()})
    return shares


def _surroundings(lines: Sequence[str], block: Block) -> tuple[str, str]:
    """The folded lines around a block, and its own."""
    first = max(0, block.line_start - 1 - AROUND)
    around = fold_lines(lines[first : block.line_end + AROUND])
    return around, fold_lines(lines[block.line_start - 1 : block.line_end])


# -- relevance -----------------------------------------------------------------------------


class _Judge:
    """How relevant a candidate is: a logistic function of four kinds of evidence.

    How far the cosine stands above those of the index in that script, in their deviations; how far
    BM25 stands above that of the other candidates, likewise; which share of the question's words
    stands there; and how many words those are, as a long question has a smaller share by nature.
    Fitted on questions with and without their right document, see README.
    """

    def __init__(self, near: Near, sparse: Sequence[Ranked], words: int) -> None:
        self._standing, self._lowest = deviations(sparse, DEPTH)
        self._usual = near.usual if near.ranked else {}
        self._weakest = min((hit.score for hit in near.ranked), default=0.0)
        self._length = log(1 + words)

    def relevance(self, hit: Fused, share: _Share, pending: Collection[int]) -> float:
        """0-1. By keywords alone where there are no vectors, or the hit is `pending`."""
        background = None if hit.id in pending else self._usual.get(share.script)
        keywords, words = self._standing.get(hit.id, self._lowest), share.words
        if background is None:
            cosine, weights = 0.0, _KEYWORDS_ONLY
        else:
            cosine = self._weakest if hit.dense_score is None else hit.dense_score
            cosine, weights = background.above(cosine), _BOTH
            if share.foreign:
                words, keywords = max(words, _FOREIGN[0]), max(keywords, _FOREIGN[1])
        evidence = weights.cosine * cosine + weights.keywords * keywords + weights.words * words
        least = _SURE_OF_ALL if share.words >= _ALL_WORDS else 0.0
        return max(least, _logistic(evidence + weights.length * self._length + weights.bias))


def _logistic(evidence: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, evidence))))
