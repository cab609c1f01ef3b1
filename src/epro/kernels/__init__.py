"""Loops over records: one text, interpreted or compiled."""
