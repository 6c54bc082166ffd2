"""Running plans and judging them: what the pytest plugin and the command line have in common."""
