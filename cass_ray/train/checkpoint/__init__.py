"""State of a run at any fsspec URL, and the trained model as a Hugging Face folder."""
