"""The mitmproxy process between controller and kube-apiserver: hooks and sockets only. Decisions are made in staleproof.core."""
