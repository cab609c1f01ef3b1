"""``python -m epro`` is the command ``epro``."""

from epro.cli import app

if __name__ == "__main__":
    app()
