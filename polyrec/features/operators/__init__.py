"""Columns made of others, one operator a file."""
