// Output of `device-lab devices` for NVIDIA GPUs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/headless/gpu_report.h"
#include "app/headless/json_lines.h"
#include "tests/support/sample_gpus.h"

namespace lab::app {
namespace {

using Json = nlohmann::json;
using test::gpu_facts;
using test::gpu_reading;
using test::kGpuAddress;

Telemetry one_gpu() {
  Telemetry telemetry;
  telemetry.gpu_facts = {gpu_facts()};
  telemetry.gpus = {gpu_reading(0)};
  return telemetry;
}

std::string printed_gpus(const Telemetry& telemetry, const MachineInfo& machine, bool json) {
  testing::internal::CaptureStdout();
  Console console;
  GpuReport report(console, json);
  report.update(telemetry);
  report.readings();
  report.skipped(machine);
  report.details(machine);
  return testing::internal::GetCapturedStdout();
}

MachineInfo without_cuda() {
  MachineInfo machine;
  machine.absent.push_back({"NVIDIA H200", "built without CUDA", kGpuAddress});
  return machine;
}

TEST(GpuJson, ReportsUnusedGpuAsSkipWithFacts) {
  const Json json = Json::parse(printed_gpus(one_gpu(), without_cuda(), true));
  EXPECT_EQ(json["type"], "skip");
  EXPECT_EQ(json["what"], "NVIDIA H200");
  EXPECT_EQ(json["reason"], "built without CUDA");
  const Json& gpu = json["gpu"];
  EXPECT_EQ(gpu["pci_bus_id"], kGpuAddress);
  EXPECT_EQ(gpu["sms"], 132);
  EXPECT_EQ(gpu["pcie_best"]["generation"], 5);
  EXPECT_EQ(gpu["nvlink"]["active"], 17);
  EXPECT_EQ(gpu["ecc"], true);
  EXPECT_EQ(gpu["memory_used_bytes"], 39 * kGiB);
  EXPECT_EQ(gpu["clock_limits"], Json::array({"power limit"}));
  EXPECT_EQ(gpu["ecc_errors"]["corrected"], 3);
  EXPECT_TRUE(gpu["fan"].is_null());
  EXPECT_EQ(gpu["missing"]["fan"], "this GPU or its driver does not report it");
  EXPECT_EQ(gpu["missing"].size(), 2U) << "the fan and the NUMA node";
  for (const auto& [key, value] : std::vector<std::pair<const char*, Json>>{
           {"uuid", "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"},
           {"serial", "1653124000"},
           {"vbios_version", "96.00.99.00.01"},
           {"graphics_clock_max_mhz", 1965.0},
           {"video_clock_max_mhz", 1830.0},
           {"graphics_clock_mhz", 1740.0},
           {"video_clock_mhz", 1545.0},
           {"encoder_utilisation", 0.07},
           {"decoder_utilisation", 0.23},
           {"pcie_received_bytes_per_s", 23e9},
           {"pcie_sent_bytes_per_s", 1.5e9},
           {"persistence_mode", true},
           {"compute_mode", "exclusive process"},
           {"display_active", false}}) {
    EXPECT_EQ(gpu[key], value) << key;
  }
  EXPECT_EQ(gpu["processes"][0]["name"], "python3");
  EXPECT_EQ(gpu["processes"][0]["type"], "C+G");
  EXPECT_EQ(gpu["processes"][0]["utilisation"], 0.83);
  EXPECT_EQ(gpu["processes"][0]["encoder_utilisation"], 0.07);
  EXPECT_EQ(gpu["processes"][0]["decoder_utilisation"], 0);
  EXPECT_EQ(gpu["processes"][0]["gpu_instance"], 1);
  EXPECT_EQ(gpu["processes"][0]["compute_instance"], 0);
  EXPECT_EQ(gpu["processes"][1]["type"], "G");
  EXPECT_TRUE(gpu["processes"][1]["gpu_instance"].is_null());
  EXPECT_EQ(gpu["processes"][1]["missing"]["gpu_instance"], "the GPU is not divided");
  EXPECT_TRUE(gpu["processes"][1]["memory_bytes"].is_null());
  EXPECT_EQ(gpu["processes"][1]["missing"]["utilisation"], "the driver is too old for it");
  EXPECT_EQ(gpu["processes"][1]["missing"]["memory_bytes"], "the driver does not report it");
}

TEST(GpuJson, DeviceContainsItsGpu) {
  DeviceInfo info;
  info.device = gpu();
  const GpuFacts facts = gpu_facts();
  const GpuTelemetry reading = gpu_reading(0);
  const Json with = Json::parse(json_device(info, nullptr, {&facts, &reading}));
  EXPECT_EQ(with["type"], "device");
  EXPECT_EQ(with["gpu"]["architecture"], "Hopper");
  EXPECT_FALSE(Json::parse(json_device(info, nullptr)).contains("gpu"));
}

TEST(GpuJson, PeersIncludeTheReason) {
  GpuFacts facts = gpu_facts();
  facts.peers = {test::gpu_peer("0000:41:00.0", "the chipset")};
  const Json json = Json::parse(json_skip("NVIDIA H200", "", {&facts, nullptr}));
  const Json& peer = json["gpu"]["peers"][0];
  EXPECT_EQ(peer["pci_bus_id"], "0000:41:00.0");
  EXPECT_EQ(peer["read"]["possible"], true);
  EXPECT_EQ(peer["write"]["possible"], false);
  EXPECT_EQ(peer["write"]["why_not"], "the chipset");
}

TEST(GpuText, HasEveryLineAndReason) {
  const std::string text = printed_gpus(one_gpu(), without_cuda(), false);
  for (const char* part :
       {"0000:01:00.0", "412 W of 650 W", "NVIDIA H200: not used, built without CUDA", "Hopper",
        "17 of 18 links active", "N/A (this GPU or its driver does not report it)", "python3",
        "20.0 GiB", "N/A (the driver does not report it)", "23.0 GB/s", "exclusive process",
        "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "C+G   83.0 %",
        ", GPU instance 1, compute instance 0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(GpuText, ReportsASleepingGpu) {
  Telemetry telemetry;
  GpuFacts facts;
  facts.pci_bus_id = kGpuAddress;
  facts.name = "NVIDIA GPU";
  facts.unread = "asleep";
  telemetry.gpu_facts = {facts};
  telemetry.gpus = {test::sleeping_gpu(0)};
  const std::string text = printed_gpus(telemetry, {}, false);
  EXPECT_NE(text.find("asleep to save power"), std::string::npos) << text;
  EXPECT_EQ(text.find("Fan"), std::string::npos) << "no list of missing values";
}

TEST(GpuReport, KeepsFactsUntilNewOnesArrive) {
  Console console;
  GpuReport report(console, false);
  report.update(one_gpu());
  Telemetry later;
  later.gpus = {gpu_reading(5)};
  report.update(later);
  ASSERT_NE(report.at(kGpuAddress).facts, nullptr);
  EXPECT_DOUBLE_EQ(report.at(kGpuAddress).reading->t_s, 5);
  EXPECT_EQ(report.at("0000:41:00.0").facts, nullptr);
  EXPECT_TRUE(report.covers({"NVIDIA H200", "", kGpuAddress}));
}

}  // namespace
}  // namespace lab::app
