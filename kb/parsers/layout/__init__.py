"""Geometry that drawn pages share: lines, columns, tables."""
