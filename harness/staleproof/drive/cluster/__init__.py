"""The cluster: a real control plane, the runner's own access to it, the truth about it, and the companions beside the controller.

Everything here talks to the API server directly, never through the proxy.
"""
