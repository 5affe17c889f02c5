"""Language models from outside: chat client, prompt formats, code in answers."""
