"""Programs that are compiled with Go and kept in the user's cache folder.

The room needs nothing but the standard library: a first build begins while all other packages are still being installed.
"""
