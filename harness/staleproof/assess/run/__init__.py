"""The engine of a run: which plans there are, which is next, until when; what was noted of them, the report and the exit code.

It knows neither pytest nor a command line: the plugin and the command are its two fronts.
"""
