#!/usr/bin/env python3
"""Caps the SIMD level of device-lab and of the libraries that it is compared with, and reports which
levels took effect.

  simd.py LIBRARY    prints version and level of a oneDNN or OpenBLAS library as a JSON object
"""
import ctypes
import json
import pathlib
import re
import subprocess
import sys

from peers import NotRun, objects, run

CAPS = {
    "sse4": {"LAB_SIMD": "sse4", "ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default",
             "OPENBLAS_CORETYPE": "Nehalem", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "avx2": {"LAB_SIMD": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2",
             "OPENBLAS_CORETYPE": "Haswell", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "avx512": {"LAB_SIMD": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_AMX",
               "ATEN_CPU_CAPABILITY": "avx512", "OPENBLAS_CORETYPE": "SkylakeX",
               "MKL_ENABLE_INSTRUCTIONS": "AVX512"},
}
OLD_NAMES = ("DNNL_MAX_CPU_ISA",)
# What device-lab, PyTorch, MKL and OpenBLAS (its core types) call a level.
NAMES = {
    "avx512": r"avx-?512|skylakex|cooperlake|sapphirerapids",
    "avx2": r"avx2|haswell|zen",
    "sse4": r"sse4|\bdefault\b|no avx|nehalem|penryn|dunnington",
}


def cap(level, environ):
    """Sets the caps of `level` in `environ`; None removes all caps."""
    for name in (*CAPS["avx2"], *OLD_NAMES):
        environ.pop(name, None)
    environ.update(CAPS[level] if level else {})


def named_level(text):
    """The level that a program's own name for it means, or None."""
    return next((level for level, names in NAMES.items() if re.search(names, text, re.IGNORECASE)),
                None)


def onednn_level(isa):
    """The level of a value of dnnl_cpu_isa_t, whose bits add up from one level to the next."""
    return next((level for level, bit in (("avx512", 0x20), ("avx2", 0x4), ("sse4", 0x1))
                 if isa & bit), None)


def mkl_processor(verbose):
    """The kind of processor in the first line of MKL_VERBOSE's output, or None."""
    found = re.search(r"^MKL_VERBOSE .*Intel\(R\) 64 architecture (.*?),", verbose, re.MULTILINE)
    return found.group(1) if found else None


class Report:
    """What a program or library says about itself: title with version, its level or None, and its own
    words for it."""

    def __init__(self, title, level, words):
        self.title, self.level, self.words = title, level, words

    def text(self):
        return f"{self.title} {self.level or f'at its own choice ({self.words})'}"


def mismatches(reports, level):
    """Sentences about the reports that contradict a cap at `level`."""
    return [f"THE CAP HAS NO EFFECT: {one.title} uses {one.level} ({one.words}), not {level}."
            for one in reports if level and one.level and one.level != level]


def of_lab(program):
    first = objects(run([program, "devices", "--json"])[0])[0]
    return Report("device-lab", named_level(first["simd"]), first["simd_detail"])


def of_torch(torch):
    return Report(f"PyTorch {torch.version}", named_level(torch.about["level"]), torch.about["level"])


def of_library(title, library, environ=None):
    found = objects(run([sys.executable, pathlib.Path(__file__).resolve(), library], environ)[0])[0]
    return Report(f"{title} {found['version']}", found["level"], found["words"])


def of_mkl(command):
    """MKL names its level in verbose mode, on Intel's processors only. Elsewhere it ignores caps."""
    text = subprocess.run(f"echo sgemm 1 1 1 0.001 median | MKL_VERBOSE=1 {command}", shell=True,
                          capture_output=True, text=True, check=False).stdout
    words = mkl_processor(text)
    if words is None:
        raise NotRun(f"`{command}` does not name MKL's processor")
    return Report("MKL", named_level(words), words)


def linked(program, name):
    """The file of a library that a program is linked with."""
    text, _ = run(["ldd", program])
    found = re.search(rf"^\s*{name}\S* => (\S+)", text, re.MULTILINE)
    if not found:
        raise NotRun(f"{program} is not linked with {name}")
    return found.group(1)


def describe(file):
    """Version and level of a oneDNN or OpenBLAS library, loaded into this process."""
    library = ctypes.CDLL(file)
    if hasattr(library, "openblas_get_corename"):
        library.openblas_get_corename.restype = ctypes.c_char_p
        library.openblas_get_config.restype = ctypes.c_char_p
        core = library.openblas_get_corename().decode()
        version = library.openblas_get_config().decode().split()[1]
        return {"version": version, "level": named_level(core), "words": core}
    library.dnnl_version.restype = ctypes.POINTER(ctypes.c_int * 3)
    isa = library.dnnl_get_effective_cpu_isa()
    return {"version": ".".join(map(str, library.dnnl_version().contents)),
            "level": onednn_level(isa), "words": f"ISA {isa:#x}"}


if __name__ == "__main__":
    print(json.dumps(describe(sys.argv[1])))
