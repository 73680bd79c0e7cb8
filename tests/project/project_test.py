"""Verifies that the project follows its rules, and that each rule detects its violations.

usage: project_test.py ROOT CASE [COMPILER FLAGS...]   CASE: rules, layering, hygiene, packages, headers
With --changed=FILE among the flags, `headers` checks only those that a change of the listed files affects.
"""
import pathlib
import sys
import tempfile
import unittest

import headers
import hygiene
import layering
import local_names
import window_packages


class PlantedTree(unittest.TestCase):
    """A small project in a temporary folder, in which tests plant violations."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for header in ("compute/core/device.h", "compute/machine/machine.h", "compute/run/worker.h",
                       "compute/experiments/registry.h", "compute/experiments/lessons/a.h",
                       "compute/experiments/matmul/a.h", "compute/tensor/tensor.h", "compute/nn/layer.h",
                       "ui/theme.h", "app/window.h", "tests/support/probe.h"):
            self.write(header, "#pragma once\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def assert_layering(self, path, include, accepted):
        self.write(path, f"// A file.\n#include {include}\n")
        found = layering.violations(self.root)
        if accepted:
            self.assertEqual(found, [], f"{path} may include {include}")
        else:
            self.assertEqual(len(found), 1, f"{path} must not include {include}")
            self.assertTrue(found[0].startswith(f"{path}:2: "), found[0])
        (self.root / path).unlink()


class LayeringRules(PlantedTree):
    def test_clean_tree_passes(self):
        self.assertEqual(layering.violations(self.root), [])

    def test_allowed_includes(self):
        for path, name in (("app/main.cpp", "ui/theme.h"), ("app/main.cpp", "compute/nn/layer.h"),
                           ("ui/pages/a.cpp", "compute/core/device.h"),
                           ("ui/pages/a.cpp", "ui/theme.h"),
                           ("compute/tensor/a.cpp", "compute/machine/machine.h"),
                           ("compute/experiments/registry.cpp", "compute/nn/layer.h"),
                           ("compute/experiments/lessons/a.cpp", "compute/experiments/matmul/a.h"),
                           ("compute/experiments/tour/a.cpp", "compute/experiments/matmul/a.h"),
                           ("tests/compute/a.cpp", "app/window.h")):
            self.assert_layering(path, f'"{name}"', accepted=True)

    def test_forbidden_includes(self):
        for path, name in (("ui/pages/a.cpp", "compute/machine/machine.h"),
                           ("ui/pages/a.cpp", "compute/run/worker.h"),
                           ("ui/pages/a.cpp", "app/window.h"),
                           ("compute/nn/a.cpp", "ui/theme.h"),
                           ("compute/nn/a.cpp", "app/window.h"),
                           ("compute/nn/a.cpp", "compute/experiments/registry.h"),
                           ("compute/core/a.h", "compute/machine/machine.h"),
                           ("compute/machine/a.cpp", "compute/tensor/tensor.h"),
                           ("compute/run/a.cpp", "compute/tensor/tensor.h"),
                           ("compute/kernels/gemm/a.cpp", "compute/tensor/tensor.h"),
                           ("compute/experiments/matmul/a.cpp", "compute/experiments/registry.h"),
                           ("compute/experiments/scaling/a.cpp", "compute/experiments/matmul/a.h"),
                           ("compute/experiments/tour/a.cpp", "compute/experiments/lessons/a.h"),
                           ("app/main.cpp", "tests/support/probe.h"),
                           ("compute/nn/a.cpp", "layer.h")):
            self.assert_layering(path, f'"{name}"', accepted=False)

    def test_libraries_stay_in_their_folders(self):
        self.assert_layering("ui/pages/a.cpp", "<imgui.h>", accepted=True)
        self.assert_layering("compute/gpu/cuda/a.cu", "<cuda_runtime.h>", accepted=True)
        self.assert_layering("compute/nn/a.cpp", "<imgui.h>", accepted=False)
        self.assert_layering("compute/run/a.cpp", "<GLFW/glfw3.h>", accepted=False)
        self.assert_layering("compute/core/a.h", "<cuda_runtime.h>", accepted=False)
        self.assert_layering("ui/a.cpp", "<CLI/CLI.hpp>", accepted=False)

    def test_unlisted_folders_are_reported(self):
        self.write("compute/sound/beep.cpp", "int beep();\n")
        self.assertIn("compute/sound is missing from COMPUTE_ORDER", layering.violations(self.root)[0])


class HygieneRules(PlantedTree):
    def assert_caught(self, path, text, what):
        self.assertEqual(hygiene.violations(self.root), [])
        self.write(path, text)
        found = hygiene.violations(self.root)
        self.assertEqual(len(found), 1, path)
        self.assertIn(what, found[0])
        (self.root / path).unlink()

    def test_each_rule_catches_its_case(self):
        self.assert_caught("app/a.cpp", "// TO" "DO: later\n", "unfinished")
        self.assert_caught("app/a.cpp", "int x;\n# if 0\n#endif\n", "app/a.cpp:2: code disabled")
        self.assert_caught("app/a.cpp", "<<<<<<< ours\n", "merge conflict")
        self.assert_caught("app/a.cpp", "int x;", "no newline")
        self.assert_caught("app/a.h", "int x;\n", "pragma once")
        self.assert_caught("app/a.cpp", "\n" * 801, "801 lines")
        self.assert_caught("assets/big.bin", "x" * 1_000_001, "the limit is 1000000")
        self.assert_caught("notes.txt", "hello\n", "does not belong in the project root")

    def test_files_at_the_limit_pass(self):
        self.write("app/a.cpp", "\n" * 800)
        self.write("assets/big.bin", "x" * 1_000_000)
        self.write("app/b.cpp", "#if 01\n#endif\n")
        self.assertEqual(hygiene.violations(self.root), [])


class LocalNameRules(PlantedTree):
    FIRST = """namespace lab {
namespace {
using Json = int;
constexpr int kSizes[] = {1, 2};
struct Row { int a; };
template <class T> void print(const T& value, int n = 0) {}
}  // namespace
TEST(Row, Prints) {}
}  // namespace lab
"""

    def assert_repeated(self, text, *names):
        self.write("app/a.cpp", self.FIRST)
        self.write("app/b.cpp", f"namespace lab {{\nnamespace {{\n{text}\n}}\n}}\n")
        found = local_names.violations(self.root)
        self.assertEqual([line.split(" ")[1] for line in found], [f"lab::{name}" for name in names], found)

    def test_repeated_definitions_are_reported(self):
        self.assert_repeated("constexpr double kSizes = 1.5;", "kSizes")
        self.assert_repeated("// struct Row {};\n\nclass Row {\n};", "Row")
        self.assert_repeated("template <class T>\nint print(const T& x, int) { return 0; }", "print(const")
        self.assert_repeated("}\nTEST(Row, Prints) {}\nnamespace {", "Row.Prints")

    def test_allowed_repetitions(self):
        self.assert_repeated("using Json = int;\nstruct Row;\nvoid print(int n) { int kSizes; }")
        self.assert_repeated("int Table::print(const T& value, int n) { return 0; }")
        self.assert_repeated("}\nnamespace ui {\nnamespace {\nstruct Row {};\n}\n}\nnamespace {")
        self.write("app/b.cpp", "")
        self.write("ui/a.cpp", self.FIRST)
        self.write("app/alone.cpp", '#undef HWY_TARGET_INCLUDE\n' + self.FIRST)
        self.assertEqual(local_names.violations(self.root), [])


class WindowPackageRules(PlantedTree):
    def assert_found(self, path, text, *what):
        self.write(path, text)
        found = window_packages.violations(self.root)
        self.assertEqual(len(found), len(what), found)
        for line, part in zip(found, what):
            self.assertIn(f"{path}:{part}", line)
        (self.root / path).unlink()

    def test_packages_stay_in_window_folders(self):
        self.assert_found("app/CMakeLists.txt", "find_package(fmt)\nfind_package(glfw3 REQUIRED)\n",
                          "2: glfw belongs in ui, app/window")
        self.assert_found("compute/a.cmake", "target_link_libraries(a Freetype::Freetype)\n",
                          "1: Freetype")
        for path in ("ui/CMakeLists.txt", "app/window/CMakeLists.txt", "tests/gui/CMakeLists.txt"):
            self.assert_found(path, "find_package(glfw3 REQUIRED)\n")
        self.assert_found("app/CMakeLists.txt", "# No imgui here.\nadd(-I${LAB_IMGUI_INCLUDE})\n")

    def test_window_folders_require_the_option(self):
        self.assert_found("CMakeLists.txt", "if(LAB_GUI)\n  add_subdirectory(ui)\nendif()\n")
        self.assert_found("CMakeLists.txt", "add_subdirectory(ui)\n", "1: ui belongs under")
        self.assert_found("app/CMakeLists.txt",
                          "if(LAB_GUI)\n  a()\nelse()\n  add_subdirectory(window)\nendif()\n",
                          "4: window belongs under")
        self.assert_found("app/CMakeLists.txt",
                          "if(LAB_GUI)\n  if(A)\n  endif()\n  add_subdirectory(window)\nendif()\n")
        self.assert_found("app/CMakeLists.txt", "if(LAB_GUI)\nendif()\nadd_subdirectory(window)\n",
                          "3: window belongs under")


class HeaderRules(PlantedTree):
    def test_incomplete_headers_are_reported(self):
        self.write("app/a.h", "#pragma once\nstd::string name();\n")
        found = headers.violations(self.root, COMPILER, [])
        self.assertEqual(len(found), 1)
        self.assertIn("app/a.h:1: does not compile alone", found[0])

    def test_headers_included_first_are_skipped(self):
        self.write("app/a.h", "#pragma once\n")
        self.write("app/a.cpp", '// Text.\n#include "app/a.h"\n\n#include <string>\n')
        self.assertNotIn("app/a.h", map(str, headers.to_compile(self.root)))
        self.write("app/a.cpp", '#include <string>\n#include "app/a.h"\n')
        self.assertIn("app/a.h", map(str, headers.to_compile(self.root)))

    def test_a_change_affects_the_headers_that_include_it(self):
        self.write("app/b.h", '#pragma once\n#include "app/a.h"\n')
        self.write("app/a.h", '#pragma once\n#include "ui/theme.h"\n')
        self.write("app/a.cpp", "int a();\n")
        found = lambda *changed: list(map(str, headers.to_compile(self.root, set(changed))))
        self.assertEqual(found("ui/theme.h"), ["app/a.h", "ui/theme.h"])
        self.assertEqual(found("app/a.cpp"), ["app/a.h"])
        self.assertEqual(found("app/c.cpp"), [])


class ThisProject(unittest.TestCase):
    def assert_none(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_layering(self):
        self.assert_none(layering.violations(ROOT))

    def test_hygiene(self):
        self.assert_none(hygiene.violations(ROOT))

    def test_local_names(self):
        self.assert_none(local_names.violations(ROOT))

    def test_packages(self):
        self.assert_none(window_packages.violations(ROOT))

    def test_headers(self):
        self.assert_none(headers.violations(ROOT, COMPILER, FLAGS, CHANGED))


CASES = {
    "rules": (LayeringRules, HygieneRules, LocalNameRules, WindowPackageRules, HeaderRules),
    "layering": ("test_layering",),
    "hygiene": ("test_hygiene", "test_local_names"),
    "packages": ("test_packages",),
    "headers": ("test_headers",),
}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] not in CASES:
        sys.exit(__doc__)
    ROOT = pathlib.Path(sys.argv[1]).resolve()
    COMPILER = sys.argv[3]
    FLAGS = [f for f in sys.argv[4:] if not f.startswith("--changed=")]
    CHANGED = None
    for flag in set(sys.argv[4:]).difference(FLAGS):
        CHANGED = set(pathlib.Path(flag.removeprefix("--changed=")).read_text().split())
    suite = unittest.TestSuite()
    for case in CASES[sys.argv[2]]:
        if isinstance(case, str):
            suite.addTest(ThisProject(case))
        else:
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)
