"""The controller under test: how it is started with a kubeconfig that leads to the proxy, and where its metrics are read."""
