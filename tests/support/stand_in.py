"""Stand-in programs for tests of scripts."""


def write_program(file, text):
    """Writes an executable Bash script; creates missing parent folders."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/usr/bin/env bash\n{text}\n")
    file.chmod(0o755)
