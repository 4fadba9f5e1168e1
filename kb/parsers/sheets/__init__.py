"""Spreadsheets: xlsx, xls, ods, csv."""
