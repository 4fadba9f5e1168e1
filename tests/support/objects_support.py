"""What the tests of object stores share."""

import io
import unicodedata

BOTH_SPELLINGS = "é 가 ガ"
NFC = unicodedata.normalize("NFC", BOTH_SPELLINGS)
NFD = unicodedata.normalize("NFD", BOTH_SPELLINGS)

PEOPLES_KEYS = (
    "政策/2026/海州市 规划（终稿）.pdf",
    "a b.txt",
    "a  b.txt",
    " leading and trailing ",
    "100%.txt",
    "100%25.txt",
    "%2Fetc.txt",
    "a+b.txt",
    "a%20b.txt",
    "a%2Bb.txt",
    "c#1.txt",
    "Q&A.txt",
    "why?.txt",
    "why?versionId=1",
    "k=v;w,x.txt",
    "'single' \"double\" `back`.txt",
    "<tag>&amp;.txt",
    "[1]{2}(3)!$@~^|*.txt",
    "😀/👩‍👩‍👧.txt",
    f"{NFC}.txt",
    f"{NFD}.txt",
    "Case.txt",
    "case.txt",
    "x/report.txt",
    "y/report.txt",
    "report.txt",
    "a.b/c..d/e",
    "-dash",
    "全角／斜杠.txt",
    "\u3000ideographic space.txt",
    "zero\u200bwidth.txt",
    "new\u2028line.txt",
)
"""Each is another object than every other."""


class Shelf:
    """A store, or the part of it below a prefix, that belongs to one test."""

    def __init__(self, store, prefix=""):
        self.store = store
        self.prefix = prefix

    def put(self, key, data):
        return self.store.put(self.prefix + key, io.BytesIO(data), len(data))

    def list(self, prefix=""):
        return list(self.store.list(self.prefix + prefix))

    def keys(self, prefix=""):
        return [ref.key.removeprefix(self.prefix) for ref in self.list(prefix)]

    def stat(self, key):
        return self.store.stat(self.prefix + key)

    def read(self, key):
        return read(self.store, self.stat(key))


def read(store, ref):
    """All bytes of `ref`, in small pieces."""
    pieces = []
    with store.open(ref) as source:
        while piece := source.read(1_000):
            assert len(piece) <= 1_000
            pieces.append(piece)
    return b"".join(pieces)
