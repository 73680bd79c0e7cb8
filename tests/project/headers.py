"""Checks that each header compiles on its own."""
import concurrent.futures
import pathlib
import subprocess

import source_tree

HEADER_SUFFIXES = {".h"}  # .cuh requires nvcc


def covered_by_a_source(root, header):
    """Whether clang-tidy compiles the header on its own: a source of the same name includes it first. Does
    not apply to tests, which clang-tidy leaves out."""
    source = header.with_suffix(".cpp")
    if header.parts[0] == "tests" or not (root / source).is_file():
        return False
    first = source_tree.includes(root, source)[:1]
    return bool(first) and first[0][2] == str(header)


def affected(root, header, changed):
    """Whether the header, the source beside it or a header that it includes has changed."""
    return str(header) in changed or str(header.with_suffix(".cpp")) in changed or any(
        name in changed for _, _, name in source_tree.includes(root, header))


def to_compile(root, changed=None):
    """The headers that no source covers; of these, with `changed`, those that a change of these files
    affects. A Highway "-inl.h" is excluded: it is included once per target in the middle of its
    source, never on its own."""
    root = pathlib.Path(root)
    return [h for h in source_tree.sources(root)
            if h.suffix in HEADER_SUFFIXES and not covered_by_a_source(root, h)
            and not h.name.endswith("-inl.h")
            and (changed is None or affected(root, h, changed))]


def compile_alone(root, header, compiler, flags):
    """Returns a finding with the compiler's first message, or None."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{root}", *flags, "-"]
    done = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True,
                          cwd=root)
    if done.returncode == 0:
        return None
    return f"{header}:1: does not compile alone: {done.stderr.strip().splitlines()[0]}"


def violations(root, compiler, flags, changed=None, jobs=2):
    headers = to_compile(root, changed)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda h: compile_alone(root, h, compiler, flags), headers)
        return [r for r in results if r]
