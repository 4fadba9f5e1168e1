"""What the Word tests share: documents made in code, and XML that python-docx has no call for."""

import io
import re

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

W = nsdecls("w")
WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def _sample():
    document = docx.Document()
    document.add_heading("标题", 1)
    document.add_paragraph("正文")
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


SAMPLE = _sample()


def add(document, xml):
    """Append a body element, given as XML in the w namespace."""
    element = parse_xml(re.sub(r"^<(w:\w+)", rf"<\1 {W} {WPS} {MC}", xml))
    document.element.body.insert_element_before(element, "w:sectPr")
    return element


def shown(parsed):
    return [page.text.split("\n") for page in parsed.pages]


def run(text):
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def text_box(text):
    return (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>"
        f"<w:p>{run(text)}</w:p></w:txbxContent></wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><w:txbxContent><w:p>{run(text)}</w:p></w:txbxContent></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r>"
    )


def cell(content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def table(*rows):
    return "<w:tbl>" + "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows) + "</w:tbl>"


def paragraph(text):
    return f"<w:p>{run(text)}</w:p>"
