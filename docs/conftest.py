"""Pages are tested as text; Python files here are run by Sphinx."""

collect_ignore_glob = ["*.py", "_build", "auto_examples", "examples", "api"]
