"""The small tokenizer that stands beside the real graph."""

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

WORDS = [
    "政",
    "府",
    "工",
    "作",
    "报",
    "告",
    "规",
    "划",
    "年",
    "月",
    "发",
    "展",
    "水",
    "利",
    "项",
    "目",
    "a",
    "b",
    "c",
    "the",
    "query",
    "passage",
    "city",
    "budget",
    ":",
]
VOCABULARY = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}


def small_tokenizer():
    tokenizer = Tokenizer(WordPiece(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer
