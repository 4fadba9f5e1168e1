"""Reads for quoted phrases: blocks and pages by what the keyword index must hold of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kb.text.tokens import MAX_TOKEN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from kb.text.literal import Words

# Where terms of letters and digits stand in the order of code points: Han and kana, which are most
# of a Chinese index, are passed over. 々 and 〇 stand among the kana's neighbours and are cheap.
_NO_HAN: Final = (
    ("", "\u3041"),
    ("\u3100", "\u3400"),
    ("\ua000", "\uf900"),
    ("\ufb00", "\U00020000"),
)


class PhraseReads:
    """The part of a `Reader` that looks for phrases."""

    _db: sqlite3.Connection

    def match_words(
        self,
        clauses: Sequence[Sequence[Words]],
        limit: int,
        documents: Collection[int] | None = None,
    ) -> list[tuple[int, float]]:
        """Blocks that hold one of the `Words` of every clause, best BM25 first, as `match` does."""
        if not all(clauses):
            return []
        expression = " AND ".join(_either(words) for words in clauses)
        return self._ranked(expression, limit, documents)

    def _ranked(
        self, expression: str, limit: int, documents: Collection[int] | None
    ) -> list[tuple[int, float]]:
        # The plus keeps SQLite from asking FTS5 once for every block of the scope.
        scope = within("+rowid IN (SELECT id FROM blocks WHERE", documents, ")")
        rows = self._db.execute(
            "SELECT rowid, -rank FROM blocks_fts"  # noqa: S608
            f" WHERE blocks_fts MATCH ?{scope} ORDER BY rank LIMIT ?",
            (expression, limit),
        )
        return [(row[0], row[1]) for row in rows]

    def pages_with(
        self, tokens: Sequence[str], limit: int, documents: Collection[int] | None = None
    ) -> list[tuple[int, int]]:
        """Up to `limit` of (document id, page number) whose blocks together hold all `tokens`."""
        one = (
            "SELECT document_id, page FROM blocks WHERE id IN"  # noqa: S608
            " (SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH ?)"
            f"{within('', documents, '')}"
        )
        rows = self._db.execute(
            f"{' INTERSECT '.join([one] * len(tokens))} LIMIT ?",
            (*(f'"{token}"' for token in tokens), limit),
        )
        return [(row[0], row[1]) for row in rows]

    def words_around(self, part: str, limit: int, *, inside: bool) -> list[str]:
        """Up to `limit` words of the index, the shortest first, that end in `part`.

        If `inside`, that hold it anywhere but at their start. Words of MAX_TOKEN characters count
        too: the rest of them, which is not indexed, may.
        """
        found: list[str] = []
        for low, high in _NO_HAN:
            rows = self._db.execute(
                "SELECT term FROM blocks_vocab WHERE term >= ? AND term < ?"
                " AND (length(term) >= ? OR iif(?, instr(term, ?) > 1, substr(term, ?) = ?))"
                " AND term NOT GLOB '*[-._+@#/]*' ORDER BY length(term) LIMIT ?",
                (low, high, MAX_TOKEN, inside, part, -len(part), part, limit),
            )
            found += [row[0] for row in rows]
        return sorted(found, key=len)[:limit]


def within(head: str, documents: Collection[int] | None, tail: str) -> str:
    """A condition on `document_id`; nothing for no restriction.

    The ids are our own integers and may be more than SQLite takes as parameters.
    """
    if documents is None:
        return ""
    return f" AND {head} document_id IN ({', '.join(str(int(id_)) for id_ in documents)}){tail}"


def _either(alternatives: Sequence[Words]) -> str:
    """In the language of FTS5. Tokens hold no quotes."""
    quoted = (f'"{" ".join(words.tokens)}"{" *" * words.open}' for words in alternatives)
    return f"({' OR '.join(quoted)})"
