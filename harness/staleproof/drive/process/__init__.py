"""Programs on this machine, as processes or as containers: started, watched, stopped, and removed when their run has died.

The room knows nothing of Kubernetes.
"""
