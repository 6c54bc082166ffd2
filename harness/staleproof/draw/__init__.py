"""Inventing plans: all chance is spent here, before a trial begins. Never looks at a cluster while drawing."""
