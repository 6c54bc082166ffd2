"""Telling: verdicts in, documents out. Decides no verdict."""
