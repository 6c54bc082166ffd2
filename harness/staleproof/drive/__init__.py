"""I/O: processes, the control plane, the proxy, the controller, truth and the run of a trial. Nothing here judges."""
