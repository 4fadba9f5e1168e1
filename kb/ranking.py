"""Named ways to order candidates, and how sure the first of them can be.

The default orders by standardised scores of both engines and by what of the question stands in the
lines around a block. Its constants are round numbers that `bench.retrieval` proves on five sets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kb.fusion import convex_combination, reciprocal_rank_fusion
from kb.text import fold, fold_lines, split_lines, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kb.catalog import Reader
    from kb.fusion import Fused, Ranked
    from kb.types import Block

DEPTH: Final = 100
"""Candidates that each engine gives to the fusion."""
RESCORED: Final = 30
"""Candidates, the first of the fused list, whose surroundings are read."""
AROUND: Final = 5
"""Lines above and below a block that count as its surroundings: one more block each way."""
JUDGED_FROM: Final = 50
"""Candidates among which a match can stand out. In a smaller index or scope nothing is refused."""
NO_MATCH: Final = 0.06
"""The default threshold: where no hit reaches it there is no match. Chosen so that on none of six
sets more than 3 % of right first hits are lost."""

_TWENTIETH: Final = 20
_GRAM: Final = 3
_FOREIGN_SHARE: Final = 0.45
"""The share of a Chinese question's words that counts as standing around an English candidate."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_LATIN: Final = re.compile("[a-z]+")
_BOTH: Final = (0.55, 0.77, 3.3, -6.4)
_KEYWORDS: Final = (0.4, 6.5, -4.5)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A named configuration.

    `dense` is the share of vectors in a convex combination; `window` and `grams` weigh the shares
    of the question that stand around a block (by its words, by its runs of three characters).
    """

    name: str
    fusion: Literal["rrf", "convex"]
    dense: float = 0.5
    window: float = 0.0
    grams: float = 0.0


RRF: Final = Ranking("RRF 60", "rrf")
CONVEX: Final = Ranking("convex", "convex")
DEFAULT: Final = Ranking("product", "convex", window=3.0, grams=2.0)


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
    """Mean and standard deviation of the question's cosines over the index."""

    mean: float
    deviation: float


def make_question(reader: Reader, text: str) -> Question:
    """The question `text`, weighed by the index."""
    terms = dict.fromkeys(tokens(text))
    return Question(text, reader.document_frequencies(terms), reader.block_count())


def order(
    reader: Reader,
    question: Question,
    dense: Sequence[Ranked],
    sparse: Sequence[Ranked],
    background: Background | None,
    ranking: Ranking = DEFAULT,
) -> list[Fused]:
    """All candidates, best first, each with its relevance."""
    if ranking.fusion == "rrf":
        fused = reciprocal_rank_fusion(dense, sparse)
    else:
        fused = convex_combination(dense, sparse, share=ranking.dense, depth=DEPTH)
    shares = _shares(reader, question, fused[:RESCORED])
    scored = [(_score(hit, shares.get(hit.id, _NOTHING), ranking), hit) for hit in fused]
    scored.sort(key=lambda pair: -pair[0])
    return _judged(scored, shares, background)


def _score(hit: Fused, share: _Share, ranking: Ranking) -> float:
    return hit.score + ranking.window * share.words + ranking.grams * share.runs


# -- what of the question stands there -----------------------------------------------------


class _Share(NamedTuple):
    """What of the question's words (by idf) stands around a block, what of its runs inside.

    `foreign`: one is Chinese, the other is not, so that words cannot tell.
    """

    words: float
    runs: float
    foreign: bool


_NOTHING: Final = _Share(0.0, 0.0, foreign=False)


def _shares(reader: Reader, question: Question, fused: Sequence[Fused]) -> dict[int, _Share]:
    """By candidate."""
    weights = question.weights
    whole = sum(weights.values()) or 1.0
    folded = fold(question.text)
    grams = {folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)}
    blocks = reader.blocks([hit.id for hit in fused])
    lines: dict[tuple[int, int], list[str]] = {}
    shares = {}
    for block in blocks.values():
        place = block.document_id, block.page
        if place not in lines:
            page = reader.page(*place)
            lines[place] = split_lines(page.text) if page else []
        around, own = _surroundings(lines[place], block)
        words = sum(weight for term, weight in weights.items() if term in around)
        runs = sum(gram in own for gram in grams)
        foreign = _is_chinese(folded) != _is_chinese(own)
        shares[block.id] = _Share(words / whole, runs / max(1, len(grams)), foreign)
    return shares


def _surroundings(lines: Sequence[str], block: Block) -> tuple[str, str]:
    """The folded lines around a block, and its own."""
    first = max(0, block.line_start - 1 - AROUND)
    around = fold_lines(lines[first : block.line_end + AROUND])
    return around, fold_lines(lines[block.line_start - 1 : block.line_end])


def _is_chinese(folded: str) -> bool:
    """Whether there are more Han characters than words of Latin letters."""
    return len(_HAN.findall(folded)) > len(_LATIN.findall(folded))


# -- relevance -----------------------------------------------------------------------------


def _judged(
    scored: Sequence[tuple[float, Fused]],
    shares: Mapping[int, _Share],
    background: Background | None,
) -> list[Fused]:
    """Candidates with their score and relevance, a logistic function of three kinds of evidence.

    How far the score stands above that of the twentieth candidate; how far the cosine stands above
    the index's, in its deviations; which share of the question's words stands there. Fitted on
    questions with and without their right document, see README.
    """
    if not scored:
        return []
    usual = scored[min(_TWENTIETH, len(scored)) - 1][0]
    cosines = [hit.dense_score for _, hit in scored if hit.dense_score is not None]
    weakest = min(cosines, default=None)
    judged = []
    for score, hit in scored:
        share, above = shares.get(hit.id, _NOTHING), score - usual
        cosine = weakest if hit.dense_score is None else hit.dense_score
        if background is None or cosine is None:
            evidence = _KEYWORDS[0] * above + _KEYWORDS[1] * share.words + _KEYWORDS[2]
        else:
            far = (cosine - background.mean) / (background.deviation or 1.0)
            words = max(share.words, _FOREIGN_SHARE) if share.foreign else share.words
            evidence = _BOTH[0] * above + _BOTH[1] * far + _BOTH[2] * words + _BOTH[3]
        judged.append(replace(hit, score=score, relevance=_logistic(evidence)))
    return judged


def _logistic(evidence: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, evidence))))
