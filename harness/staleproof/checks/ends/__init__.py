"""How a trial ended: beside how the references did, what was left over, whether it came to rest, and whether it lives."""
