"""Building a data set, without Ray: settings, ingest, stages, journal, report."""
