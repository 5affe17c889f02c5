"""Small programs made from public reports of people who port, run as a user runs them."""
