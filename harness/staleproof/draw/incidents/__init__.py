"""Incidents: faults that come over a workload, and when. Canonical plans select from them, drawn plans are sampled from them."""
