#!/usr/bin/env python3
"""Tests of compare.py and busy.py without measurements: levels, results, bars, and readings of /proc."""
import os
import pathlib
import tempfile
import unittest

import busy
import load
import peers
import simd
from comparison import Outcome, table
from sgemm import SHAPES, ShapeResult, merge, set_geometric_mean


def shape_object(lab, **contenders):
    """An object of bench_gemm_shapes."""
    return {"m": 4, "n": 4, "k": 8, "threads": 2, "lab_s": lab,
            **{f"{name.replace('__', '.')}_s": times for name, times in contenders.items()}}


class Levels(unittest.TestCase):
    def test_a_cap_sets_one_variable_per_program_and_replaces_others(self):
        environ = {"HOME": "/", "OPENBLAS_CORETYPE": "Zen", "DNNL_MAX_CPU_ISA": "SSE41"}
        simd.cap("avx2", environ)
        self.assertEqual(environ, {"HOME": "/", **simd.CAPS["avx2"]})
        self.assertEqual(environ["LAB_SIMD"], "avx2")
        simd.cap(None, environ)
        self.assertEqual(environ, {"HOME": "/"})

    def test_every_level_caps_the_same_programs(self):
        self.assertEqual(len({tuple(caps) for caps in simd.CAPS.values()}), 1)

    def test_names_of_levels(self):
        for level, texts in {"avx512": ["AVX-512", "AVX512", "Cooperlake", "Intel(R) AVX-512"],
                             "avx2": ["AVX2", "Haswell", "Zen"],
                             "sse4": ["SSE4", "DEFAULT", "Nehalem"],
                             None: ["Intel(R) Architecture processors", ""]}.items():
            for text in texts:
                self.assertEqual(simd.named_level(text), level, text)

    def test_levels_of_onednn(self):
        for isa, level in ((0x1, "sse4"), (0x3, "sse4"), (0x7, "avx2"), (0x1f, "avx2"),
                           (0x27, "avx512"), (0xe7, "avx512"), (0, None)):
            self.assertEqual(simd.onednn_level(isa), level, hex(isa))

    def test_mkl_names_the_processor_in_its_first_line(self):
        line = ("sgemm \nMKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 "
                "architecture {}, Lnx 2.60GHz lp64 gnu_thread\nMKL_VERBOSE SGEMM(N,N,1,1,1) 3.5us\n")
        self.assertEqual(simd.mkl_processor(line.format("Intel(R) Architecture processors")),
                         "Intel(R) Architecture processors")
        capped = "Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2) enabled processors"
        self.assertEqual(simd.named_level(simd.mkl_processor(line.format(capped))), "avx2")
        self.assertIsNone(simd.mkl_processor("sgemm \n"))

    def test_a_cap_without_effect_is_reported(self):
        reports = [simd.Report("device-lab", "avx2", "AVX2"), simd.Report("MKL", None, "processors"),
                   simd.Report("OpenBLAS", "avx512", "Cooperlake")]
        (only,) = simd.mismatches(reports, "avx2")
        self.assertIn("OpenBLAS uses avx512 (Cooperlake), not avx2", only)
        self.assertEqual(simd.mismatches(reports, None), [])
        self.assertEqual(reports[1].text(), "MKL at its own choice (processors)")


class Results(unittest.TestCase):
    def test_24_different_shapes(self):
        self.assertEqual(len(set(SHAPES)), 24)

    def test_the_best_library_is_the_one_with_the_least_median(self):
        one = ShapeResult(shape_object([2, 2, 2], onednn=[1, 9, 9], mkl__sgemm=[3, 3, 3]))
        self.assertEqual((one.shape, one.best, one.ratio), ("4x4x8", "mkl.sgemm", 1.5))

    def test_runs_are_merged_round_by_round(self):
        runs = [[shape_object([1.0], onednn=[2.0], torch__mm=[1.0])],
                [shape_object([3.0], onednn=[4.0])]]
        (one,) = merge(runs)
        self.assertEqual(one["lab_s"], [1, 3])
        self.assertEqual(one["onednn_s"], [2, 4])
        self.assertNotIn("torch.mm_s", one)

    def test_the_mean_is_of_the_medians(self):
        outcome = Outcome("sgemm", 0.97, "1.05")
        set_geometric_mean(outcome, [ShapeResult(shape_object([1, 1, 1], onednn=[4, 4, 400])),
                                     ShapeResult(shape_object([4, 4, 4], onednn=[4, 4, 4]))])
        self.assertAlmostEqual(outcome.value, 2)
        self.assertEqual(len(outcome.values), 3)
        self.assertTrue(outcome.detail.startswith("2 shapes: 4x4x8 4.00 (Debian's oneDNN)"))

    def test_bars(self):
        outcome = Outcome("speed", 0.9, "1")
        self.assertEqual((outcome.verdict(), outcome.met()), ("NOT RUN", False))
        outcome.set([0.8, 0.95, 0.9], "")
        self.assertEqual((outcome.verdict(), outcome.met()), ("met", True))
        outcome.without = ["PyTorch 1.13"]
        self.assertEqual((outcome.verdict(), outcome.met()),
                         ("met; NOT COMPARED with PyTorch 1.13", False))
        memory = Outcome("memory", 0.6, "0.4", least=False)
        memory.set([0.7], "")
        self.assertEqual((memory.verdict(), memory.bar_text()), ("NOT MET", "<= 0.6"))

    def test_an_outcome_without_a_bar_is_for_information(self):
        outcome = Outcome("LeNet", None, "")
        outcome.set([0.5], "detail")
        self.assertTrue(outcome.met())
        self.assertEqual(table([outcome]).splitlines()[-1],
                         "| LeNet |  |  | 0.5 | 0.5 to 0.5, 1 |  | detail |")


class Processor(unittest.TestCase):
    STAT = ("cpu  60 0 0 100 0 0 0 0 0 0\ncpu0 10 1 2 90 5 3 4 0 0 0\ncpu1 50 0 0 10 0 0 0 7 0 0\n"
            "cpu10 99 0 0 0 0 0 0 0 0 0\nintr 5\n")

    def test_busy_time_counts_chosen_cores_without_idle_and_with_stolen_time(self):
        self.assertAlmostEqual(load.busy_s(self.STAT, {0}), 20 * load.TICK_S)
        self.assertAlmostEqual(load.busy_s(self.STAT, {0, 1}), 77 * load.TICK_S)

    def test_control_groups_of_both_versions(self):
        old = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
        new = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
        self.assertEqual(load.cpu_group(new, "0::/user.slice\n"), ("/sys/fs/cgroup/user.slice", 2))
        self.assertEqual(load.cpu_group(new + old, "3:cpu,cpuacct:/\n0::/\n"),
                         ("/sys/fs/cgroup/cpu,cpuacct", 1))
        with self.assertRaises(OSError):
            load.cpu_group("tmpfs / tmpfs rw 0 0\n", "0::/\n")

    def test_a_thread_name_may_contain_spaces_and_parentheses(self):
        stat = "7 (a) b (c) S " + " ".join(map(str, range(1, 40)))
        name, seconds = load.thread_s(stat)
        self.assertEqual(name, "a) b (c")
        self.assertAlmostEqual(seconds, (11 + 12) * load.TICK_S)

    def test_threads_of_a_process(self):
        self.assertIn(os.getpid(), load.threads_s(os.getpid()))

    def test_a_busy_process_ends_with_its_block(self):
        before = load.own_s()
        core = min(os.sched_getaffinity(0))
        with load.busy_processes([core]), load.Others([core]) as others:
            pass
        self.assertGreater(load.own_s(), before)
        self.assertGreaterEqual(others.share, 0)


class Busy(unittest.TestCase):
    def test_what_a_busy_process_leaves(self):
        self.assertEqual(busy.left_share(2), 0.75)
        self.assertEqual(busy.left_share(4), 0.875)

    def test_one_busy_process_per_two_cores(self):
        for cores, chosen in (([3], [3]), ([0, 1], [1]), ([0, 1, 2], [1]), ([4, 5, 6, 7], [5, 7])):
            self.assertEqual(busy.every_second(cores), chosen)

    def test_threads_are_divided_by_purpose(self):
        begin = {1: ("device-lab", 1.0), 2: ("llvmpipe-0", 1.0), 3: ("device-lab", 2.0)}
        end = {1: ("device-lab", 1.5), 2: ("llvmpipe-0", 2.0), 3: ("device-lab", 12.0),
               4: ("device-:disk$0", 0.25), 5: ("device-lab", 3.0)}
        times = busy.divide(1, begin, end)
        self.assertEqual(times, {"window": 0.5, "drawing": 1.25, "training": 13.0})

    def test_two_hardware_threads_are_one_core(self):
        with tempfile.TemporaryDirectory() as root:
            for processor, (package, core) in enumerate(((0, 0), (0, 0), (0, 4), (1, 0), (0, 4))):
                folder = pathlib.Path(root) / f"cpu{processor}/topology"
                folder.mkdir(parents=True)
                (folder / "physical_package_id").write_text(f"{package}\n")
                (folder / "core_id").write_text(f"{core}\n")
            self.assertEqual(peers.physical_cores([0, 1, 2, 3, 4, 9], root), [0, 2, 3, 9])

    def test_bars_follow_the_cores(self):
        row = busy.ROWS["resnet18"]
        n = len(os.sched_getaffinity(0))
        (line,) = row.lines()
        self.assertAlmostEqual(line.bar, 0.9 * (n - 0.5) / n, places=3)
        (information,) = busy.ROWS["lenet"].lines()
        self.assertIsNone(information.bar)


if __name__ == "__main__":
    unittest.main()
