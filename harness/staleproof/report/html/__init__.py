"""report.html: a run or a trial as one file that a browser shows without a network."""
