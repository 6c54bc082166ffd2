"""I/O: processes, the cluster, the proxy, the controller under test, and the run of a trial. Nothing here judges.

Six rooms, each of which knows only those before it: `process`, `programs`, `cluster`, then `subject` and `proxy`, then `trial`.
"""
