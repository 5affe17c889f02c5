"""The one place where untrusted code is compiled or run: bounded, isolated processes."""
