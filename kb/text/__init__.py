"""Pure functions on text: lines, tokens, numerals, headings, noise, blocks."""
