"""Programs that stand for others in tests of scripts."""


def write_program(file, text):
    """Makes `file`, whose folder may be missing, a program of these lines for Bash."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/usr/bin/env bash\n{text}\n")
    file.chmod(0o755)
