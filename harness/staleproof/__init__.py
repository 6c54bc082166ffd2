"""staleproof: a fault-injecting test harness and conformance kit for Kubernetes controllers."""

__version__ = "0.1.0"
