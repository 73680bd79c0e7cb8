"""Checks the location, size and text of each file in the project."""
import pathlib
import re

import source_tree

TOP_LEVEL = {
    "app", "compute", "ui", "assets", "cmake", "tests", "CMakeLists.txt", "README.md", "lab",
    "CMakePresets.json", ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore",
}
MAX_BYTES = 1_000_000
MAX_SOURCE_LINES = 800

# Patterns are split in halves so that this file passes its own rules.
LEFTOVERS = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), "unfinished work"),
    (re.compile(r"^\s*#\s*if\s+0\b", re.MULTILINE), "code disabled by the preprocessor"),
    (re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE), "a merge conflict"),
]
TEXT_SUFFIXES = source_tree.SOURCE_SUFFIXES | {".py", ".txt", ".cmake", ".md", ".json", ".sh", ""}


def violations(root):
    """Returns one line per finding: "file:line: what is wrong"."""
    root = pathlib.Path(root)
    found = []
    for path in source_tree.files(root):
        if path.parts[0] not in TOP_LEVEL:
            found.append(f"{path}:1: {path.parts[0]} does not belong in the project root")
            continue
        size = (root / path).stat().st_size
        if size > MAX_BYTES:
            found.append(f"{path}:1: {size} bytes; the limit is {MAX_BYTES}")
        elif path.suffix in TEXT_SUFFIXES:
            found += text_violations(path, (root / path).read_text("utf-8", errors="replace"))
    return found


def text_violations(path, text):
    found = []
    lines = text.count("\n")
    if path.suffix in source_tree.SOURCE_SUFFIXES and lines > MAX_SOURCE_LINES:
        found.append(f"{path}:{lines}: {lines} lines; the limit is {MAX_SOURCE_LINES}, split it")
    # Highway includes its "-inl.h" files once per target.
    once = path.suffix in (".h", ".cuh") and not path.name.endswith("-inl.h")
    if once and "#pragma once" not in text:
        found.append(f"{path}:1: no #pragma once")
    if text and not text.endswith("\n"):
        found.append(f"{path}:{lines + 1}: no newline at the end")
    for pattern, what in LEFTOVERS:
        match = pattern.search(text)
        if match:
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{line}: {what}: {match.group(0).strip()}")
    return found
