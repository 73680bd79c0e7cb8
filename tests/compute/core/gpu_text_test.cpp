#include "compute/core/events/gpu_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compute/core/events/gpu_readings.h"
#include "tests/support/sample_gpus.h"

namespace lab {
namespace {

using test::gpu_facts;
using test::gpu_reading;
using test::kGpuAddress;

std::string value_of(const std::vector<GpuLine>& lines, const std::string& label) {
  const auto line =
      std::find_if(lines.begin(), lines.end(), [&](const GpuLine& l) { return l.label == label; });
  if (line == lines.end()) return "no such line";
  return line->value ? *line->value : "N/A: " + line->value.reason();
}

TEST(GpuText, FormatsFacts) {
  const auto lines = describe_facts(gpu_facts());
  EXPECT_EQ(value_of(lines, "Multiprocessors"), "132 with 16896 cores");
  EXPECT_EQ(value_of(lines, "Max memory bandwidth"), "4.92 TB/s over 6144 bits");
  EXPECT_EQ(value_of(lines, "Power limit"), "200 to 700 W, default 700 W");
  EXPECT_EQ(value_of(lines, "Max PCIe link"), "gen 5 x16");
  EXPECT_EQ(value_of(lines, "NVLink"), "17 of 18 links active, version 4.0");
  EXPECT_EQ(value_of(lines, "ECC"), "on");
  EXPECT_EQ(value_of(lines, "MIG"), "off");
  EXPECT_EQ(value_of(lines, "Max graphics clock"), "1965 MHz");
  EXPECT_EQ(value_of(lines, "Max video clock"), "1830 MHz");
  EXPECT_EQ(value_of(lines, "UUID"), "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
  EXPECT_EQ(value_of(lines, "Serial number"), "1653124000");
  EXPECT_EQ(value_of(lines, "VBIOS"), "96.00.99.00.01");
  EXPECT_EQ(value_of(lines, "NUMA node"), "N/A: the machine's firmware does not report it");
}

TEST(GpuText, ShowsReasonsForMissingValues) {
  GpuFacts facts = gpu_facts();
  facts.memory_bus_bits = Maybe<int>::missing("too old");
  facts.cuda_cores = Maybe<int>::missing("too old");
  const auto lines = describe_facts(facts);
  EXPECT_EQ(value_of(lines, "Max memory bandwidth"), "N/A: too old");
  EXPECT_EQ(value_of(lines, "Multiprocessors"), "132");
}

TEST(GpuText, FormatsReadings) {
  GpuTelemetry reading = gpu_reading(0);
  auto lines = describe_reading(reading, gpu_facts());
  EXPECT_EQ(value_of(lines, "SM clock"), "1755 MHz of 1980 MHz");
  EXPECT_EQ(value_of(lines, "Temperature"), "54 °C");
  EXPECT_EQ(value_of(lines, "Clocks limited by"), "power limit");
  EXPECT_EQ(value_of(lines, "ECC errors"), "3 corrected, 0 uncorrected");
  EXPECT_EQ(value_of(lines, "Fan"), "N/A: this GPU or its driver does not report it");
  EXPECT_EQ(value_of(lines, "Graphics clock"), "1740 MHz of 1965 MHz");
  EXPECT_EQ(value_of(lines, "Memory clock"), "3201 MHz of 3201 MHz");
  EXPECT_EQ(value_of(lines, "Video clock"), "1545 MHz of 1830 MHz");
  EXPECT_EQ(value_of(lines, "Video encoder"), "7 %");
  EXPECT_EQ(value_of(lines, "Video decoder"), "23 %");
  EXPECT_EQ(value_of(lines, "PCIe received"), "23.0 GB/s");
  EXPECT_EQ(value_of(lines, "PCIe sent"), "1.50 GB/s");
  EXPECT_EQ(value_of(lines, "Persistence mode"), "on");
  EXPECT_EQ(value_of(lines, "Compute mode"), "exclusive process");
  EXPECT_EQ(value_of(lines, "Display"), "off");
  EXPECT_EQ(power_text(reading).value_or(""), "412 W of 650 W");
  reading.clock_limits = std::vector<std::string>{};
  reading.power_limit_w = Maybe<double>::missing("not reported");
  lines = describe_reading(reading, gpu_facts());
  EXPECT_EQ(value_of(lines, "Clocks limited by"), "nothing");
  EXPECT_EQ(power_text(reading).value_or(""), "412 W");
  EXPECT_TRUE(describe_reading(test::sleeping_gpu(0), gpu_facts()).empty());
}

TEST(GpuText, LinesOfAGroupAreAdjacent) {
  const auto reading = describe_reading(gpu_reading(0), gpu_facts());
  for (const auto& lines : {describe_facts(gpu_facts()), reading}) {
    std::vector<std::string> headings;
    for (const GpuLine& line : lines) {
      if (headings.empty() || headings.back() != line.group) headings.push_back(line.group);
    }
    std::sort(headings.begin(), headings.end());
    EXPECT_EQ(std::unique(headings.begin(), headings.end()), headings.end());
  }
  for (const GpuLine& line : describe_facts(gpu_facts())) {
    EXPECT_FALSE(line.group.empty()) << line.label;
  }
  EXPECT_EQ(std::count_if(reading.begin(), reading.end(),
                          [](const GpuLine& line) { return line.group.empty(); }),
            3)
      << "clock, temperature and what limits the clocks";
}

template <typename Lines>
void expect_distinct_names(const Lines& lists) {
  std::vector<std::string> keys;
  lists([&](auto, const char* key, const auto&) { keys.emplace_back(key); });
  EXPECT_FALSE(keys.empty());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(GpuReadings, KeysAreUnique) {
  expect_distinct_names([](const auto& visit) {
    for_each_gpu_fact(visit);
    for_each_gpu_reading(visit);
  });
}

TEST(GpuText, FormatsProcessTypeAndInstance) {
  const GpuTelemetry reading = gpu_reading(0);
  const GpuProcess &both = reading.processes->at(0), &drawing = reading.processes->at(1);
  EXPECT_EQ(process_type(both), "C+G");
  EXPECT_EQ(process_instance(both).value_or(""), "GPU instance 1, compute instance 0");
  EXPECT_EQ(process_type(drawing), "G");
  EXPECT_EQ(process_instance(drawing).reason(), "the GPU is not divided");
  GpuProcess undivided = both;
  undivided.draws = false;
  undivided.compute_instance = Maybe<int>::missing("whole");
  EXPECT_EQ(process_type(undivided), "C");
  EXPECT_EQ(process_instance(undivided).value_or(""), "GPU instance 1");
  undivided.shares = true;
  EXPECT_EQ(process_type(undivided), "M+C");
}

TEST(GpuText, ReportsWhyAGpuIsUnused) {
  MachineInfo machine;
  EXPECT_NE(why_unused(machine, kGpuAddress).find("does not report this GPU"), std::string::npos);
  machine.absent.push_back({"NVIDIA GPU", "of all GPUs"});
  EXPECT_EQ(why_unused(machine, kGpuAddress), "of all GPUs");
  machine.absent.push_back({"NVIDIA H200", "of this GPU", kGpuAddress});
  EXPECT_EQ(why_unused(machine, kGpuAddress), "of this GPU");
  DeviceInfo used;
  used.device = gpu();
  used.pci_bus_id = kGpuAddress;
  machine.devices.push_back(used);
  EXPECT_EQ(why_unused(machine, kGpuAddress), "");
}

TEST(GpuText, ReportsAbsencesWithTheirGpu) {
  const AbsentDevice all{"NVIDIA GPU", "no driver"}, one{"NVIDIA H200", "old", kGpuAddress};
  EXPECT_FALSE(is_one_of(all, {}));
  EXPECT_TRUE(is_one_of(all, {kGpuAddress}));
  EXPECT_TRUE(is_one_of(one, {kGpuAddress}));
  EXPECT_FALSE(is_one_of(one, {"0000:41:00.0"}));
}

}  // namespace
}  // namespace lab
