"""The data set as published: schema of a row, Parquet files, card. Imports only root modules."""
