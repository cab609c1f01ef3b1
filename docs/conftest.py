"""Pages are tested as text; Python files here belong to Sphinx."""

collect_ignore_glob = ["*.py", "_build", "auto_examples", "examples", "api"]
