"""The service: a Ray Serve application that translates, compiles, runs and compares."""
