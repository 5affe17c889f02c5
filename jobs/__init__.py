"""Ray jobs: one file a job, each `python jobs/NAME.py` and `cass NAME`."""
