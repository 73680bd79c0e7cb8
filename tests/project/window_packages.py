"""Checks that a build without the window (LAB_GUI=OFF) requires none of the window's packages."""
import pathlib
import re

import source_tree

# CMake reads these folders only if LAB_GUI is on.
WINDOW_FOLDERS = ("ui", "app/window", "tests/ui", "tests/gui")
PACKAGES = re.compile(r"glfw|imgui|glad|freetype|fontconfig|opengl|\bstb", re.IGNORECASE)
COMMENT = re.compile(r"#.*")
VARIABLE = re.compile(r"\$\{\w+\}")  # expands to nothing if the package was not looked up
CONDITION = re.compile(r"\s*(if|elseif|else|endif)\s*\(([^)]*)")
FOLDER = re.compile(r"\s*add_subdirectory\s*\(\s*([\w/.]+)")


def of_the_window(path):
    return str(path).startswith(tuple(f"{folder}/" for folder in WINDOW_FOLDERS))


def violations(root):
    """Returns one line per finding: "file:line: what is wrong"."""
    found = []
    for path in source_tree.files(pathlib.Path(root)):
        if (path.name == "CMakeLists.txt" or path.suffix == ".cmake") and not of_the_window(path):
            found += list_violations(path, (pathlib.Path(root) / path).read_text("utf-8"))
    return found


def list_violations(path, text):
    found, conditions = [], []
    for number, line in enumerate(text.splitlines(), 1):
        line = COMMENT.sub("", line)
        follow(CONDITION.match(line), conditions)
        package = PACKAGES.search(VARIABLE.sub("", line))
        if package:
            found.append(f"{path}:{number}: {package.group(0)} belongs in {', '.join(WINDOW_FOLDERS)} only")
        folder = FOLDER.match(line)
        if folder and of_the_window(f"{path.parent / folder.group(1)}/") and "LAB_GUI" not in conditions:
            found.append(f"{path}:{number}: {folder.group(1)} belongs under if(LAB_GUI)")
    return found


def follow(condition, conditions):
    """Updates `conditions`, the conditions of the enclosing if() blocks, outermost first."""
    if condition is None:
        return
    word, what = condition.group(1), condition.group(2).strip()
    if word != "if":
        conditions.pop()
    if word != "endif":
        conditions.append(what if word != "else" else "")
