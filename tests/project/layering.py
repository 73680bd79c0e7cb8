"""Checks which modules include which: app -> {ui, compute}, ui -> compute/core, compute -> nothing above
it, and a fixed order among the folders of compute."""
import pathlib

import source_tree

# Lowest first: a folder of compute may include itself and the folders before it. Add new folders here;
# a subfolder belongs to the longest entry that contains it.
COMPUTE_ORDER = [
    "compute/core",
    "compute/run",
    "compute/gpu",
    "compute/machine",
    "compute/measure",
    "compute/kernels/ops",
    "compute/kernels/gemm",
    "compute/kernels/convolution",
    "compute/tensor",
    "compute/data",
    "compute/nn",
    "compute/train/ranks",
    "compute/train",
    # Siblings: none includes another.
    "compute/experiments/memory",
    "compute/experiments/transfers",
    "compute/experiments/matmul",
    "compute/experiments/training",
    "compute/experiments/scaling",
    # These combine experiments.
    "compute/experiments/lessons",
    "compute/experiments/tour",
    # The registry of experiments.
    "compute/experiments",
]

EXPERIMENT = "compute/experiments/"
COMBINING = ("compute/experiments/lessons", "compute/experiments/tour")

# Library headers restricted to some folders: (header prefixes, folder prefixes).
LIBRARY_HEADERS = [
    (("imgui", "GLFW/", "glad/", "GL/", "ft2build", "freetype/", "fontconfig/"),
     ("app", "ui", "tests")),
    (("cuda", "cublas", "cudnn", "nccl", "cupti"),
     ("compute/gpu/cuda", "tests/gpu", "tests/bench", "tests/support/fake_cublas",
      "tests/compute/gpu/library")),
    (("CLI/",), ("app", "tests")),
]


def module_of(path):
    """"app", "ui", "tests" or "compute/<folder>" for a path in a module, otherwise None."""
    path = pathlib.PurePosixPath(path)
    top = path.parts[0]
    if top in ("app", "ui", "tests"):
        return top
    if top != "compute" or len(path.parts) < 3:
        return None
    # The longest matching entry; an unlisted folder is named by its first two components.
    fitting = [name for name in COMPUTE_ORDER if str(path).startswith(name + "/")]
    return max(fitting, key=len, default="/".join(path.parts[:2]))


def allowed(includer, included):
    """Whether files of the module `includer` may include files of the module `included`."""
    if includer == included or includer == "tests":
        return True
    if includer == "app":
        return included != "tests"
    if includer == "ui":
        return included == "compute/core"
    if included not in COMPUTE_ORDER:
        return False
    if (includer.startswith(EXPERIMENT) and included.startswith(EXPERIMENT)
            and (includer not in COMBINING or included in COMBINING)):
        return False
    return COMPUTE_ORDER.index(included) < COMPUTE_ORDER.index(includer)


def library_violation(path, name):
    for beginnings, folders in LIBRARY_HEADERS:
        if name.startswith(beginnings) and not str(path).startswith(tuple(f + "/" for f in folders)):
            return f"<{name}> belongs in {', '.join(folders)} only"
    return None


def violations(root):
    """Returns one line per forbidden include: "file:line: what is wrong"."""
    found = []
    root = pathlib.Path(root)
    for path in source_tree.sources(root):
        module = module_of(path)
        if module is None:
            found.append(f"{path}:1: is in no module")
            continue
        if module.startswith("compute/") and module not in COMPUTE_ORDER:
            found.append(f"{path}:1: {module} is missing from COMPUTE_ORDER (layering.py)")
            continue
        for line, quoted, name in source_tree.includes(root, path):
            problem = library_violation(path, name)
            if problem is None and quoted:
                problem = project_violation(root, path, module, name)
            if problem:
                found.append(f"{path}:{line}: {problem}")
    return found


def project_violation(root, path, module, name):
    if (root / name).is_file():
        included = module_of(name)
        if included is None or not allowed(module, included):
            return f"{module} must not include {name}"
    elif (root / path.parent / name).is_file():
        return f'"{name}" is relative to the file; write the path from the project root'
    return None
