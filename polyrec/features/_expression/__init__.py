"""Formulas over columns: text to a tree to whole-column operations."""
