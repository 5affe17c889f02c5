"""Programs from a language model: prompts from templates, answers checked, kept and reported."""
