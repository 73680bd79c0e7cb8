"""Reports the registers, shared memory and spills of each CUDA kernel.

Usage: registers_check.py ROOT BUILD [NVCC]
Reads the compiler's reports beside BUILD's objects and compiles the sources for architectures that BUILD
leaves out. Fails if a kernel spills on an architecture that it is meant for, unless it is the variant for any
alignment. Without a compiler, prints that it is skipped and exits with status 77.
"""
import pathlib
import re
import subprocess
import sys

ARCHITECTURES = ["80", "90a"]
HOPPER_ALONE = {"hopper_rungs.cu", "peak_wgmma.cu"}
SKIPPED = 77
# "_ZN..11rung_kernelINS0_9AsyncRungELb1EEE..": the rung's type, and whether the kernel accepts any
# alignment. Other kernels have names such as "_ZN..16fp32_peak_kernelEl".
KERNEL = re.compile(r"Compiling entry function '\w*\d(?:"
                    r"rung_kernelINS\w*?_\d+([A-Z]\w*?)Rung(?:ELb([01]))?EEE|([a-z]\w*?)_kernel)"
                    r"(\w*)' for 'sm_(\w+)'")
# The rest of a layer's kernel: "INS0_20WeightGradientKernelINS0_10TensorTileILNS_9PrecisionE1EXtl
# NS_6TilingELi64ELi64E..ELb0EEE..", its type, precision and tile, and whether it accepts any
# alignment (0).
LAYER = re.compile(r"IN\w*?_\d+([A-Z]\w*?)Kernel")
PRECISION = re.compile(r"PrecisionE(\d)E")
TILE = re.compile(r"TilingELi(\d+)ELi(\d+)E")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
# Compiler messages about Hopper kernels that will be slower, though correct.
SLOWED = re.compile(r"serialized|setmaxnreg.*ignored")
USED = re.compile(r"Used (\d+) registers")
STATIC = re.compile(r"(\d+) bytes smem")


def report_of_build(build, source, architecture):
    """What report_registers kept of the source's newest object; None if that has no code for the architecture."""
    reports = [file for file in (build / "compute/gpu/cuda").rglob(f"{source.name}.o.ptxas")
               if file.with_suffix("").exists()]
    text = max(reports, key=lambda file: file.stat().st_mtime).read_text() if reports else ""
    return text if f"for 'sm_{architecture}'" in text else None


def report_of_compiler(root, source, nvcc, architecture):
    command = [nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", f"-I{root}", "-cubin",
               f"-gencode=arch=compute_{architecture},code=sm_{architecture}", "-Xptxas", "-v",
               "-Werror", "all-warnings", str(source), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{source}: does not compile:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def report(root, build, source, nvcc, architecture):
    text = (report_of_build(build, source, architecture) or
            report_of_compiler(root, source, nvcc, architecture))
    for line in text.splitlines():
        if SLOWED.search(line):
            sys.exit(f"{source}: {line}")
    return text


def layer_title(rest):
    """("WeightGradient bf16 64x64", wide) of a layer's kernel."""
    precision, tile = PRECISION.search(rest), TILE.search(rest)
    words = [LAYER.match(rest).group(1)]
    words += [["f32", "bf16", "tf32"][int(precision.group(1))]] if precision else []
    words += [f"{tile.group(1)}x{tile.group(2)}"] if tile else []
    return " ".join(words), not (tile and "ELb0EEE" in rest)


def kernels(text, architecture):
    """(name, wide, registers, static shared bytes, spilled bytes) of the architecture's kernels in the report."""
    found = []
    starts = list(KERNEL.finditer(text))
    for start, after in zip(starts, starts[1:] + [None]):
        if start.group(5) != architecture:
            continue
        part = text[start.end():after.start() if after else None]
        static = STATIC.search(part)
        title = start.group(1) or start.group(3), start.group(2) != "1"
        if start.group(3) == "layer":
            title = layer_title(start.group(4))
        found.append((*title, int(USED.search(part).group(1)), int(static.group(1)) if static else 0,
                      sum(map(int, SPILLS.search(part).groups()))))
    return found


def main(root, build, nvcc=None):
    if not nvcc:
        print("skipped: this build has no nvcc")
        return SKIPPED
    print("registers  declared shared bytes  spilled bytes  kernel")
    spilling = []
    root, build = pathlib.Path(root), pathlib.Path(build)
    folder = root / "compute/gpu/cuda"
    for source in sorted(folder.rglob("*.cu")):
        for architecture in ["90a"] if source.name in HOPPER_ALONE else ARCHITECTURES:
            found = kernels(report(root, build, source, nvcc, architecture), architecture)
            if not found:
                sys.exit(f"{source}: the compiler's report contains no kernel")
            for name, wide, registers, static, spilled in found:
                title = f"{name}{'' if wide else ', any alignment'}, sm_{architecture}"
                print(f"{registers:>9}  {static:>21}  {spilled:>13}  {title}")
                if wide and spilled:
                    spilling.append(title)
    for title in spilling:
        print(f"error: {title} spills registers to local memory")
    return 1 if spilling else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
