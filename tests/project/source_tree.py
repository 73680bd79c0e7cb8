"""Lists the project's files and their includes."""
import pathlib
import re
import subprocess

SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
SKIPPED_FOLDERS = {".git", "build", ".cache", "__pycache__"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def files(root):
    """Every file of the project, as sorted paths relative to `root`.

    Uses git, to exclude ignored files; outside a checkout, walks the folders.
    """
    root = pathlib.Path(root)
    git = ["git", "-C", str(root), "-c", f"safe.directory={root}", "ls-files", "-z",
           "--cached", "--others", "--exclude-standard"]
    if (root / ".git").exists():
        try:
            listed = subprocess.run(git, capture_output=True, check=True).stdout.decode()
            return sorted(p for p in map(pathlib.PurePosixPath, filter(None, listed.split("\0")))
                          if (root / p).is_file())
        except (OSError, subprocess.CalledProcessError):
            pass
    found = (p.relative_to(root) for p in root.rglob("*") if p.is_file())
    return sorted(pathlib.PurePosixPath(p) for p in found
                  if not SKIPPED_FOLDERS.intersection(p.parts))


def sources(root):
    """The C++ and CUDA files of the project."""
    return [p for p in files(root) if p.suffix in SOURCE_SUFFIXES]


def includes(root, path):
    """(line, quoted, name) of each include of a file; `quoted` is true for "x.h", false for <x.h>."""
    text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 1 + m.group(0).count("\n"), m.group(1) == '"',
             m.group(2)) for m in INCLUDE.finditer(text)]
