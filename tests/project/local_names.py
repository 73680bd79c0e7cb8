"""Checks that names of file-local definitions are unique within a folder, whose sources are compiled as
a unity build. Overloads are distinguished by their parameter types."""
import pathlib
import re

import source_tree

# Comments, strings and preprocessor lines contain no declarations.
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*'
                     r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL | re.MULTILINE)
# Sources excluded from the unity build (lab_unity in CMakeLists.txt).
ALONE = re.compile(r"HWY_TARGET_INCLUDE|#include <glad/")
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)$")
TEST = re.compile(r"^TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
TEMPLATE = re.compile(r"^template\s*<")
TYPE = re.compile(r"^(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(\w+)")
CALLED = re.compile(r"([\w:~]+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
NAME_OF_PARAMETER = re.compile(r"(?<=[\s&*>])\w+(?:\s*=.*)?$")
LAST_WORD = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")


def without_template(text):
    """Strips leading `template <...>` clauses from a declaration."""
    while TEMPLATE.match(text):
        depth, end = 0, text.index("<")
        for end in range(end, len(text)):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            if depth == 0:
                break
        text = text[end + 1:].strip()
    return text


def parameter_types(parameters):
    """Strips the parameter names from a parameter list."""
    depth, types = 0, [""]
    for sign in parameters:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            types.append("")
        else:
            types[-1] += sign
    return ", ".join(" ".join(NAME_OF_PARAMETER.sub("", one.strip()).split()) for one in types)


def defined_name(text, opens_block):
    """The name that a namespace-scope statement defines, with parameter types for functions; None if it
    defines nothing. Type and namespace aliases may be repeated, so they are ignored."""
    text = without_template(text.strip())
    if not text or not (text[0].isalpha() or text[0] == "["):
        return None
    if found := TYPE.match(text):
        return found.group(1) if opens_block else None
    if text.startswith(("using ", "namespace ", "friend ", "static_assert", "extern ", "INSTANTIATE_")):
        return None
    before_value = text.split("=")[0].strip()
    if opens_block and (found := CALLED.search(text)):
        if "::" in found.group(1):  # a class member
            return None
        return f"{found.group(1)}({parameter_types(found.group(2))})"
    found = None if "(" in before_value else LAST_WORD.search(before_value)
    return found.group(1) if found and " " in before_value else None


def local_names(text):
    """(line, qualified name) of each definition in an unnamed namespace and of each test."""
    text = IGNORED.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    found, spaces, start, depth = [], [], 0, 0  # depth: open braces other than namespaces
    for at, sign in enumerate(text):
        if sign not in "{};" or (depth and sign == ";"):
            continue
        statement = text[start:at].strip()
        line = text.count("\n", 0, at - len(text[start:at].lstrip())) + 1
        if not depth:
            if test := TEST.match(statement):
                found.append((line, "::".join(filter(None, spaces)) + "::" + ".".join(test.groups())))
            elif "" in spaces and sign != "}" and not NAMESPACE.search(statement):
                name = defined_name(statement, sign == "{")
                if name:
                    found.append((line, "::".join(filter(None, spaces)) + "::" + name))
        if sign == "{":
            space = None if depth else NAMESPACE.search(statement)
            if space:
                spaces.append(space.group(1))
            else:
                depth += 1
        elif sign == "}":
            if depth:
                depth -= 1
            elif spaces:
                spaces.pop()
        if not depth:
            start = at + 1
    return found


def violations(root):
    """Returns one line per name that an earlier source of the folder also defines."""
    root = pathlib.Path(root)
    found, seen = [], {}
    for path in source_tree.sources(root):
        text = (root / path).read_text("utf-8") if path.suffix == ".cpp" else ""
        if not text or ALONE.search(text):
            continue
        for line, name in local_names(text):
            first, first_line = seen.setdefault((path.parent, name), (path, line))
            if first != path:
                found.append(f"{path}:{line}: {name} is also the name of a local in {first}:{first_line}; "
                             "sources of a folder are compiled together")
    return found
