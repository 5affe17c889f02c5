"""Tests of the projects that the tests port are those projects' own."""

collect_ignore_glob = ["canaries/*"]
