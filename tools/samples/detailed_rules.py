"""The docx sample: headings, a table, tracked changes, a text box as Word stores one (twice).

In `detailed_rules.txt`, `#` starts a heading and `|` a table row; every other line is a paragraph,
in which the reviewer has inserted {+this+} and deleted {-that-}.
"""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import docx
from docx.document import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor

TITLE: Final = "海州市电子档案移交接收实施细则（征求意见稿）"
WHEN: Final = dt.datetime(2026, 2, 10, 9, 0)  # noqa: DTZ001 - docx properties have no zone
FONT: Final = "宋体"

TEXT: Final = Path(__file__).with_name("detailed_rules.txt")
BOX: Final = (
    "意见反馈",
    "请于2026年3月15日前反馈至市档案馆业务科。",
    "联系人：沈知远　电话：0999-555-0142",
)

NAMESPACES: Final = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)


def write(path: Path) -> None:
    """Write the draft rules to `path`."""
    document = docx.Document()
    _styles(document)
    title = document.add_paragraph()
    title.alignment = WD_ALIGN_PARAGRAPH.CENTER
    run = title.add_run(TITLE)
    run.bold, run.font.size = True, Pt(18)
    for rows, lines in groupby(TEXT.read_text(encoding="utf-8").split("\n"), _is_row):
        if rows:
            _table(document, [line[1:].split("|") for line in lines])
            continue
        for line in filter(None, lines):
            _heading_or_paragraph(document, line)
    _text_box(document)
    for name in ("author", "last_modified_by"):
        setattr(document.core_properties, name, "海州市档案馆")
    document.core_properties.title, document.core_properties.comments = TITLE, ""
    document.core_properties.created = document.core_properties.modified = WHEN
    _save(document, path)


def _styles(document: Document) -> None:
    for name, size in (("Normal", 11), ("Heading 1", 14)):
        style = document.styles[name]
        style.font.name, style.font.size = FONT, Pt(size)
        style.font.color.rgb = RGBColor(0, 0, 0)
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
        for script in ("ascii", "hAnsi", "eastAsia"):
            fonts.set(qn(f"w:{script}"), FONT)


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _heading_or_paragraph(document: Document, line: str) -> None:
    if line.startswith("# "):
        document.add_heading(line[2:], level=1)
    else:
        _paragraph(document, line)


def _paragraph(document: Document, line: str) -> None:
    """A paragraph with its tracked changes, the author and the time on each."""
    by = f'w:id="{{}}" w:author="审稿人" w:date="{WHEN.isoformat()}Z"'
    tags = {"+": ("ins", "t"), "-": ("del", "delText")}
    xml, change = [], len(document.element.xpath("//w:ins | //w:del"))
    for i, part in enumerate(line.replace("}", "{").split("{")):
        text = escape(part.strip("+-") if i % 2 else part)
        if not text:
            continue
        if i % 2:
            change += 1
            wrap, tag = tags[part[0]]
            run = f'<w:r><w:{tag} xml:space="preserve">{text}</w:{tag}></w:r>'
            xml.append(f"<w:{wrap} {by.format(change)}>{run}</w:{wrap}>")
        else:
            xml.append(f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>')
    paragraph = document.add_paragraph()
    paragraph.paragraph_format.first_line_indent = Pt(22)
    for run in parse_xml(f"<w:p {NAMESPACES}>{''.join(xml)}</w:p>"):
        paragraph._p.append(run)  # noqa: SLF001 - python-docx has no tracked changes


def _table(document: Document, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text.strip()
    document.add_paragraph()


def _text_box(document: Document) -> None:
    """A box with the feedback address: DrawingML, and the same as VML for older programs."""
    inner = "".join(f"<w:p><w:r><w:t>{escape(line)}</w:t></w:r></w:p>" for line in BOX)
    content = f"<w:txbxContent>{inner}</w:txbxContent>"
    xml = f"""<w:r {NAMESPACES}><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>
      <wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="3960000" cy="900000"/>
      <wp:docPr id="1" name="意见反馈"/><a:graphic><a:graphicData
      uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">
      <wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/>
      <a:ext cx="3960000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>
      <a:ln w="9525"><a:solidFill><a:srgbClr val="808080"/></a:solidFill></a:ln></wps:spPr>
      <wps:txbx>{content}</wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline>
      </w:drawing></mc:Choice><mc:Fallback><w:pict><v:rect style="width:312pt;height:71pt">
      <v:textbox>{content}</v:textbox></v:rect></w:pict></mc:Fallback></mc:AlternateContent></w:r>"""
    document.add_paragraph()._p.append(parse_xml(xml))  # noqa: SLF001 - nor text boxes


def _save(document: Document, path: Path) -> None:
    """Save with fixed times in the archive, so that the bytes depend on the text alone."""
    buffer = io.BytesIO()
    document.save(buffer)
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(path, "w") as fixed:
        for name in made.namelist():
            entry = zipfile.ZipInfo(name, WHEN.timetuple()[:6])
            fixed.writestr(entry, made.read(name), zipfile.ZIP_DEFLATED)
