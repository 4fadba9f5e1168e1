"""A small real cross-encoder, written down as an ONNX file node by node.

Its logit is the number of words that question and passage share, less a thousandth of the pair's
tokens: enough to see order, truncation, masks and types. ONNX is a protocol buffer message; the
field numbers are those of onnx.proto3.
"""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

WORDS = [*"甲乙丙丁戊己庚辛壬癸子丑寅卯", *"abcdefgh", "数", "字"]
VOCABULARY = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
SEP = VOCABULARY["[SEP]"]
FLOAT, INT32, INT64 = 1, 6, 7


def tokenizer(*, types=True):
    """Pairs as BERT joins them, or, without types, as XLM-R does."""
    made = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1" if types else "[CLS] $A [SEP] [SEP] $B [SEP]"
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair=pair, special_tokens=[("[CLS]", 2), ("[SEP]", SEP)]
    )
    return made


def put_cross_encoder(folder, *, graph="model.onnx", config=True, **how):
    """A complete model folder; `how` goes to `cross_encoder`."""
    file = Path(folder, graph)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(cross_encoder(**how))
    text = tokenizer(types=how.get("types", True)).to_str()
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    if config:
        kind = {"architectures": ["BertForSequenceClassification"]}
        (folder / "config.json").write_text(json.dumps(kind), encoding="utf-8")
    return folder


def cross_encoder(*, types=True, outputs=1, integer=INT64, ending="logits"):
    """The file. `ending`: what the graph gives out, `logits` or something that is of no use."""
    table = np.eye(len(VOCABULARY), dtype=np.float32)
    table[:4] = 0
    constants = {
        "table": table,
        "one": np.array([1]),
        "two": np.array([2]),
        "sep": np.array(SEP, np.int32 if integer == INT32 else np.int64),
        "light": np.array(0.001, np.float32),
        "three": np.array(3, np.float32),
        "many": np.array(1000, np.float32),
    }
    nodes = [
        node("Gather", ["table", "input_ids"], "words"),
        node("Cast", ["attention_mask"], "mask", to=FLOAT),
        node("Unsqueeze", ["mask", "two"], "mask3"),
        *(
            [node("Cast", ["token_type_ids"], "second", to=FLOAT)]
            if types
            else [
                node("Equal", ["input_ids", "sep"], "is_sep"),
                node("Cast", ["is_sep"], "seps", to=FLOAT),
                node("CumSum", ["seps", "one"], "counted"),
                node("Cast", ["counted"], "positive", to=9),
                node("Cast", ["positive"], "second", to=FLOAT),
            ]
        ),
        node("Unsqueeze", ["second", "two"], "second3"),
        node("Mul", ["second3", "mask3"], "of_passage"),
        node("Sub", ["mask3", "of_passage"], "of_question"),
        node("Mul", ["words", "of_passage"], "read"),
        node("Mul", ["words", "of_question"], "asked"),
        node("ReduceMax", ["read"], "passage", axes=[1], keepdims=0),
        node("ReduceMax", ["asked"], "question", axes=[1], keepdims=0),
        node("Mul", ["passage", "question"], "both"),
        node("ReduceSum", ["both", "one"], "shared", keepdims=1),
        node("ReduceSum", ["mask", "one"], "length", keepdims=1),
        node("Mul", ["length", "light"], "weight"),
        node("Sub", ["shared", "weight"], "score"),
        *ENDINGS[ending],
    ]
    name, shape = "logits", ["rows", outputs]
    if outputs == 2:
        nodes += [node("Neg", ["end"], "no"), node("Concat", ["no", "end"], "logits", axis=1)]
    elif ending == "states":
        name, shape = "last_hidden_state", ["rows", "tokens", len(VOCABULARY)]
    elif ending == "wide":
        name, shape = "passage", ["rows", "width"]
    else:
        nodes.append(node("Identity", ["end"], "logits"))
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    return model(nodes, constants, dict.fromkeys(inputs, integer), name, shape)


def node(kind, inputs, output, **attributes):
    text = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind)
    return text + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())


def attribute(name, value):
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, n) for n in value) + field(20, 7)
    return field(1, name) + field(3, value) + field(20, 2)


def model(nodes, constants, inputs, output, shape):
    graph = b"".join(field(1, each) for each in nodes) + field(2, "small")
    graph += b"".join(field(5, tensor(name, value)) for name, value in constants.items())
    graph += b"".join(field(11, value(n, kind, ["rows", "tokens"])) for n, kind in inputs.items())
    graph += field(12, value(output, FLOAT, shape))
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph)


def tensor(name, array):
    kinds = {"float32": FLOAT, "int32": INT32, "int64": INT64}
    dims = b"".join(field(1, n) for n in array.shape)
    kind = field(2, kinds[array.dtype.name])
    return dims + kind + field(8, name) + field(9, array.tobytes())


def value(name, kind, shape):
    dims = b"".join(field(1, field(1 if isinstance(n, int) else 2, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def field(number, content):
    """One field of a message: a number, a text or a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number):
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


ENDINGS = {
    "logits": [node("Identity", ["score"], "end")],
    "never": [node("Sub", ["score", "many"], "below"), node("Sqrt", ["below"], "end")],
    "sometimes": [node("Sub", ["three", "shared"], "left"), node("Sqrt", ["left"], "end")],
    "states": [node("Identity", ["words"], "last_hidden_state")],
    "wide": [],
}
"""`never` gives NaN, `sometimes` where more than three words are shared."""
