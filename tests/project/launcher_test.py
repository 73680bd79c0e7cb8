"""Tests ./lab with stand-ins for CMake and Ninja: configuration options, when it reconfigures, and fonts.

usage: launcher_test.py ROOT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from stand_in import write_program

CMAKE = """echo "$@" >>configured
touch build/release/build.ninja
for word; do
  if [[ $word == -D*=* ]]; then echo "${word#-D}" | sed 's/=/:STRING=/'; fi
done >build/release/CMakeCache.txt
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >>build/release/CMakeCache.txt
"""


# What nvcc --version prints.
RELEASE = 'echo "Cuda compilation tools, release {0}, V{0}.41"'


class Launcher(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("lab", "CMakePresets.json"):
            shutil.copy(ROOT / name, self.folder)
        write_program(self.folder / "bin/cmake", CMAKE)
        write_program(self.folder / "bin/ninja", "exit 0")
        write_program(self.folder / "bin/nvcc", "exit 0")
        write_program(self.folder / "build/release/device-lab", 'echo "$@"')

    def configured(self, **variables):
        """The options of each CMake configuration that `./lab version` runs."""
        ours = ("CI", "CUDACXX", "LAB_PRESET", "LAB_CUDA", "LAB_CUDA_ARCHITECTURES")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        environment |= {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LAB_SKIP_PACKAGES": "1",
                        "LAB_PCI_DEVICES": str(self.folder / "pci"),
                        "LAB_WSL_DEVICE": str(self.folder / "dxg"),
                        "LAB_CUDA_ROOT": str(self.folder / "cuda"),
                        "LAB_DEVICE_TREE": str(self.folder / "tree")}
        asked = self.folder / "configured"
        asked.unlink(missing_ok=True)
        done = subprocess.run([self.folder / "lab", "version"], env=environment | variables,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "version\n"), done.stderr)
        self.said = done.stderr
        return [line.split()[2:] for line in asked.read_text().splitlines()] if asked.exists() else []

    def asked_for_a_font(self, *arguments, apt="exit 0", fonts="", **variables):
        """Whether ./lab with the arguments installs a font, and what it says; the program must run."""
        write_program(self.folder / "bin/dpkg-query", """for name; do
  if [[ $name != fonts-noto-cjk ]]; then echo "installed $name"; fi
done""")
        write_program(self.folder / "bin/apt-get", f'echo "$@" >>{self.folder}/apt\n{apt}')
        write_program(self.folder / "bin/sudo", '[[ $1 != -n ]] || shift\nexec "$@"')
        write_program(self.folder / "bin/fc-list", f'echo -n "{fonts}"')
        names = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG", "CI", "LAB_PRESET", "LAB_SKIP_PACKAGES")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        environment |= {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "DISPLAY": ":0",
                        "XDG_CONFIG_HOME": str(self.folder),
                        "LAB_PCI_DEVICES": str(self.folder / "pci"),
                        "LAB_DEVICE_TREE": str(self.folder / "tree")}
        asked = self.folder / "apt"
        asked.unlink(missing_ok=True)
        done = subprocess.run([self.folder / "lab", *arguments], env=environment | variables,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, " ".join(arguments) + "\n"), done.stderr)
        return asked.exists() and "fonts-noto-cjk" in asked.read_text(), done.stderr

    def test_the_window_gets_a_font_for_its_language(self):
        for variables, wanted in (({}, False), ({"LANG": "ja_JP.UTF-8"}, True),
                                  ({"LANG": "vi_VN"}, False),
                                  ({"LANGUAGE": "de:zh_CN", "LANG": "de_DE"}, True),
                                  ({"LANGUAGE": "ja", "LC_ALL": "C"}, False)):
            self.assertEqual(self.asked_for_a_font(**variables)[0], wanted, variables)
        self.assertTrue(self.asked_for_a_font("--language", "zh")[0])
        self.assertFalse(self.asked_for_a_font("--language=en", LANG="ja_JP")[0])
        self.assertFalse(self.asked_for_a_font("devices", LANG="ja_JP")[0])
        self.assertFalse(self.asked_for_a_font(LANG="ja_JP", fonts="Noto Sans CJK JP")[0])

    def test_a_missing_font_stops_nothing(self):
        _, said = self.asked_for_a_font(LANG="ja_JP", apt="exit 100")
        self.assertIn("no CJK font: texts stay English", said)

    def plug_in(self, slot, vendor, pci_class):
        device = self.folder / "pci" / slot
        device.mkdir(parents=True)
        (device / "vendor").write_text(vendor + "\n")
        (device / "class").write_text(pci_class + "\n")

    def test_cuda_is_off_without_a_gpu(self):
        self.plug_in("0000:00:02.0", "0x8086", "0x030000")  # Intel graphics
        self.plug_in("0000:01:00.1", "0x10de", "0x040300")  # NVIDIA audio
        self.assertEqual(self.configured(), [options("OFF")])
        self.assertEqual(self.configured(), [])
        self.assertEqual(self.configured(LAB_CUDA="ON"), [options("ON")])
        self.assertEqual(self.configured(), [options("OFF")])

    def test_cuda_is_on_with_a_gpu(self):
        self.plug_in("0000:01:00.0", "0x10de", "0x030200")
        self.assertEqual(self.configured(), [options("ON")])
        self.assertEqual(self.configured(), [])
        self.assertEqual(self.configured(LAB_CUDA_ARCHITECTURES="80-real;89-real"),
                         [options("ON", "80-real;89-real")])
        self.assertEqual(self.configured(LAB_CUDA_ARCHITECTURES="80-real;89-real"), [])
        self.assertEqual(self.configured(LAB_CUDA="OFF"), [options("OFF")])
        self.assertEqual(self.configured(), [options("ON")])

    def test_cuda_is_on_in_a_jetson(self):
        tree = self.folder / "tree"
        tree.mkdir()
        (tree / "compatible").write_bytes(b"raspberrypi,5-model-b\0brcm,bcm2712\0")
        self.assertEqual(self.configured(), [options("OFF")])
        (tree / "compatible").write_bytes(b"nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0")
        self.assertEqual(self.configured(), [options("ON")])

    def test_cuda_is_on_in_wsl(self):
        (self.folder / "dxg").touch()
        self.assertEqual(self.configured(), [options("ON")])

    def test_nvcc_is_found_in_nvidias_folders(self):
        self.plug_in("0000:01:00.0", "0x10de", "0x030200")
        nvcc = self.folder / "bin/nvcc"
        nvcc.unlink()
        path = f"{self.folder}/bin:/usr/bin:/bin"  # without a real one
        self.assertEqual(self.configured(PATH=path), [options("OFF")])
        self.assertIn("an NVIDIA GPU, but no usable nvcc", self.said)
        write_program(self.folder / "cuda/cuda-12.9/bin/nvcc", RELEASE.format("12.9"))
        self.assertEqual(self.configured(PATH=path), [options("ON")])

    def test_cuda_is_off_with_an_old_nvcc(self):
        self.plug_in("0000:01:00.0", "0x10de", "0x030200")
        write_program(self.folder / "bin/nvcc", RELEASE.format("12.3"))
        self.assertEqual(self.configured(), [options("OFF")])
        write_program(self.folder / "cuda/cuda-12.10/bin/nvcc", RELEASE.format("12.10"))
        self.assertEqual(self.configured(), [options("ON")])

    def test_a_moved_tree_is_configured_anew(self):
        self.assertEqual(self.configured(), [options("OFF")])
        cache = self.folder / "build/release/CMakeCache.txt"
        cache.write_text(cache.read_text().replace(f"={self.folder}", "=/elsewhere"))
        self.assertEqual(self.configured(), [options("OFF")])
        self.assertEqual(self.configured(), [])

    def test_ci_treats_warnings_as_errors(self):
        self.assertEqual(self.configured(CI="true"), [options("OFF", werror="ON")])
        self.assertEqual(self.configured(CI="true"), [])
        self.assertEqual(self.configured(), [options("OFF")])


def options(cuda, architectures="", werror="OFF"):
    return [f"-DLAB_CUDA={cuda}", f"-DLAB_CUDA_ARCHITECTURES={architectures}",
            f"-DLAB_WERROR={werror}"]


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
