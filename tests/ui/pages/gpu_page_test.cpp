// NVIDIA GPUs in the model and on the Devices page.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/sample_gpus.h"
#include "tests/ui/pages/scenes.h"
#include "ui/pages/devices/devices_parts.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;
using ui::WidgetRect;

const std::string kSecond = "0000:41:00.0", kThird = "0000:61:00.0";

MachineInfo machine_with_absent_gpu() {
  MachineInfo machine = machine_of(1);
  machine.absent = {{"NVIDIA H200", "the lab was built without CUDA", kGpuAddress}};
  return machine;
}

Telemetry gpu_telemetry(double t_s, const std::vector<GpuFacts>& facts,
                        const std::vector<GpuTelemetry>& readings) {
  Telemetry all = telemetry({cpu()}, t_s, 0.3);
  all.gpu_facts = facts;
  all.gpus = readings;
  return all;
}

Model with_gpu() {
  Model model(machine_with_absent_gpu());
  for (int i = 0; i < 120; ++i) {
    const std::vector<GpuFacts> facts = i == 0 ? std::vector{gpu_facts()} : std::vector<GpuFacts>{};
    model.apply(event(0, i, gpu_telemetry(i, facts, {gpu_reading(i)})));
  }
  return model;
}

const std::string kCard = "devices/gpu/" + kGpuAddress;
const std::string kEntry = "devices/list/gpu/" + kGpuAddress;

void open_gpu(Lab& lab) {
  lab.open(Page::Devices);
  lab.click(kEntry);
  lab.frames(4);
}

TEST(GpuModel, KeepsFactsAndAHistoryOfEachGpu) {
  const Model model = with_gpu();
  ASSERT_EQ(model.gpus().size(), 1U);
  const ui::GpuRecord* card = model.gpu(kGpuAddress);
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->facts.name, "NVIDIA H200");
  EXPECT_TRUE(card->history.seen);
  EXPECT_EQ(card->history.t_s.size(), 120U);
  EXPECT_EQ(model.gpu(kSecond), nullptr);
}

TEST(GpuModel, RepeatedReadingIsOnePoint) {
  Model model(machine_with_absent_gpu());
  model.apply(event(0, 1, gpu_telemetry(1, {gpu_facts()}, {gpu_reading(1)})));
  model.apply(event(0, 2, gpu_telemetry(2, {}, {gpu_reading(1)})));
  EXPECT_EQ(model.gpus()[0].history.t_s.size(), 1U);
}

TEST(GpuModel, UpdatesTheFactsOfAnAwakenedGpu) {
  Model model(machine_with_absent_gpu());
  GpuFacts little;
  little.pci_bus_id = kGpuAddress;
  little.name = "NVIDIA GPU";
  little.unread = "asleep";
  model.apply(event(0, 1, gpu_telemetry(1, {little}, {sleeping_gpu(1)})));
  EXPECT_TRUE(model.gpus()[0].history.last.asleep);
  model.apply(event(0, 2, gpu_telemetry(2, {gpu_facts()}, {gpu_reading(2)})));
  ASSERT_EQ(model.gpus().size(), 1U);
  EXPECT_EQ(model.gpus()[0].facts.name, "NVIDIA H200");
}

TEST(GpuPage, ShowsAnUnusedGpu) {
  Lab lab(with_gpu(), 1, {1280, 1600});
  lab.open(Page::Devices);
  EXPECT_FALSE(lab.visible(kCard)) << "the first device is shown until another is chosen";
  lab.click(kEntry);
  const WidgetRect* card = lab.backend.find(kCard);
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->label, "NVIDIA H200");
  EXPECT_FALSE(lab.visible("devices/list/absent/0")) << "it is the same GPU";
  EXPECT_TRUE(lab.visible(kCard + "/memory"));
  EXPECT_TRUE(lab.visible(kCard + "/power"));
  EXPECT_TRUE(lab.visible("devices/plot/legend/GPU 0"));
}

TEST(DevicesPage, DevicesOnTheSameCoresShareALine) {
  MachineInfo machine = machine_of(2);
  machine.devices[1].cores = machine.devices[0].cores;
  Model model(machine);
  for (int i = 0; i < 20; ++i) model.apply(event(0, i, telemetry({cpu(0), cpu(1)}, i, 0.3)));
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.open(Page::Devices);
  EXPECT_TRUE(lab.visible("devices/plot/legend/cpu:0, cpu:1"));
  EXPECT_FALSE(lab.visible("devices/plot/legend/cpu:1"));
}

TEST(GpuPage, ChartShowsEachMemoryOnce) {
  Model model(machine_of(2));
  for (int i = 0; i < 20; ++i) {
    Telemetry all = telemetry({cpu(0), cpu(1)}, i, 0.3);
    if (i == 0) all.gpu_facts = {gpu_facts()};
    all.gpus = {gpu_reading(i)};
    model.apply(event(0, i, all));
  }
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.open(Page::Devices);
  EXPECT_TRUE(lab.visible("devices/plot/legend/cpu:1"));
  lab.click("devices/quantity/Memory");
  EXPECT_TRUE(lab.visible("devices/plot/legend/main memory"));
  EXPECT_TRUE(lab.visible("devices/plot/legend/GPU 0"));
  EXPECT_FALSE(lab.visible("devices/plot/legend/cpu:1"));
  lab.click("devices/quantity/Power");
  EXPECT_EQ(lab.backend.find("devices/chart")->label, "Power");
}

TEST(GpuPage, ChartShowsWhatTensorsHold) {
  Model model(machine_of(2));
  for (int i = 0; i < 60; ++i) {
    Telemetry all = telemetry({cpu(0), cpu(1)}, i, 0.3);
    all.devices[0].lab_used_bytes = all.devices[0].lab_peak_bytes = 0;
    all.devices[1].lab_used_bytes = all.devices[1].lab_peak_bytes = 3 * kGiB;
    model.apply(event(0, i, all));
  }
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.open(Page::Devices);
  lab.click("devices/quantity/Memory");
  EXPECT_TRUE(lab.visible("devices/plot/legend/tensors on cpu:1"));
  EXPECT_FALSE(lab.visible("devices/plot/legend/tensors on cpu:0")) << "there are none";
  const ui::WidgetRect plot = *lab.backend.find("devices/plot");
  lab.backend.move_to({(plot.min.x + plot.max.x) / 2, (plot.min.y + plot.max.y) / 2});
  lab.frames(3);
  const std::string text = lab.backend.find("devices/plot/tooltip")->value;
  EXPECT_NE(text.find("tensors on cpu:1\t3.00 GiB ("), std::string::npos) << text;
}

TEST(GpuPage, PowerIsOfferedWithAGpuOnly) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1600});
  lab.open(Page::Devices);
  EXPECT_TRUE(lab.visible("devices/quantity/Memory"));
  EXPECT_FALSE(lab.visible("devices/quantity/Power"));
}

// Choosing a device moves nothing on the left and leaves the chart in place.
TEST(GpuPage, DetailsDoNotPushTheirNeighbours) {
  Lab lab(with_gpu(), 1, {1280, 2400});
  lab.open(Page::Devices);
  const auto top_of = [&](const std::string& path) {
    const WidgetRect* w = lab.backend.find(path);
    return w == nullptr ? -1 : w->min.y;
  };
  const float list = top_of("devices/machine"), chart = top_of("devices/plot");
  open_gpu(lab);
  EXPECT_TRUE(lab.visible(kCard + "/details"));
  EXPECT_EQ(top_of("devices/machine"), list);
  EXPECT_EQ(top_of("devices/plot"), chart);
  const WidgetRect* activity = lab.backend.find(kCard);
  const WidgetRect* details = lab.backend.find(kCard + "/details");
  ASSERT_TRUE(activity != nullptr && details != nullptr);
  EXPECT_EQ(activity->min.y, details->min.y);
  EXPECT_LT(activity->max.x, details->min.x);
}

TEST(GpuPage, ListsTheProcesses) {
  Lab lab(with_gpu(), 1, {1280, 2400});
  open_gpu(lab);
  const WidgetRect* card = lab.backend.find(kCard + "/processes");
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->label, "Processes (2)");
  const WidgetRect* known = lab.backend.find(kCard + "/processes/table/0");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->value, "4242\tC+G\tpython3\t83 %\t20.0 GiB");
  const WidgetRect* hidden = lab.backend.find(kCard + "/processes/table/1");
  ASSERT_NE(hidden, nullptr);
  EXPECT_EQ(hidden->value, "77\tG\t(not visible)\tN/A\tN/A");
}

TEST(GpuPage, SleepingGpuHasNoMeters) {
  Model model(machine_with_absent_gpu());
  GpuFacts little;
  little.pci_bus_id = kGpuAddress;
  little.name = "NVIDIA GPU (PCI 10de:2335 at 0000:01:00.0)";
  little.unread = "the GPU is asleep";
  model.apply(event(0, 1, gpu_telemetry(1, {little}, {sleeping_gpu(1)})));
  Lab lab(std::move(model), 1, {1280, 1400});
  open_gpu(lab);
  EXPECT_TRUE(lab.visible(kCard));
  EXPECT_FALSE(lab.visible(kCard + "/memory"));
  EXPECT_FALSE(lab.visible(kCard + "/processes"));
}

TEST(GpuPage, ShowsAUsedGpuOnce) {
  MachineInfo machine = machine_of(1);
  machine.absent.clear();
  DeviceInfo info;
  info.device = gpu();
  info.name = "NVIDIA H200";
  info.pci_bus_id = kGpuAddress;
  machine.devices.push_back(info);
  Model model(machine);
  model.apply(event(0, 1, gpu_telemetry(1, {gpu_facts()}, {gpu_reading(1)})));
  Lab lab(std::move(model), 1, {1280, 1400});
  open_gpu(lab);
  const WidgetRect* card = lab.backend.find(kCard);
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->label, "cuda:0   NVIDIA H200");
  EXPECT_FALSE(lab.visible("devices/list/cuda:0"));
}

// The first GPU of the machine is unused; the second is cuda:0.
TEST(GpuPage, AnUnusedGpuHasAColourOfItsOwn) {
  MachineInfo machine = machine_of(1);
  DeviceInfo info;
  info.device = gpu();
  info.pci_bus_id = kSecond;
  machine.devices.push_back(info);
  Model model(machine);
  model.apply(event(0, 1,
                    gpu_telemetry(1, {gpu_facts(), gpu_facts(kSecond), gpu_facts(kThird)},
                                  {gpu_reading(1), gpu_reading(1, kSecond)})));
  Lab lab(std::move(model));
  std::set<ImU32> colors;
  const std::vector<ui::DeviceEntry> entries = ui::device_entries(lab.panel());
  for (const ui::DeviceEntry& entry : entries) {
    if (entry.absent != nullptr) continue;
    EXPECT_TRUE(colors.insert(entry.color).second) << entry.key;
  }
  EXPECT_EQ(colors.size(), 4U) << "cpu:0, cuda:0 and two unused GPUs";
}

TEST(GpuPage, OneGpuHasNoPeers) {
  Lab lab(with_gpu(), 1, {1280, 2400});
  open_gpu(lab);
  EXPECT_TRUE(lab.visible("devices/peers"));
  EXPECT_FALSE(lab.visible("devices/peers/table/0"));
}

TEST(GpuPage, TwoGpusHaveAPeerAccessMatrix) {
  Model model(machine_with_absent_gpu());
  GpuFacts a = gpu_facts(), b = gpu_facts(kSecond);
  a.peers = {gpu_peer(kSecond)};
  b.peers = {gpu_peer(kGpuAddress, "the chipset does not support it")};
  model.apply(event(0, 1, gpu_telemetry(1, {a, b}, {gpu_reading(1), gpu_reading(1, kSecond)})));
  Lab lab(std::move(model), 1, {1280, 2400});
  open_gpu(lab);
  const WidgetRect* first = lab.backend.find("devices/peers/table/0");
  const WidgetRect* second = lab.backend.find("devices/peers/table/1");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->value, "GPU 0\titself\tNVLink");
  EXPECT_EQ(second->value, "GPU 1\tread only\titself");
}

TEST(GpuPage, TheMatrixNamesPairsWithoutPeerAccess) {
  Model model(machine_with_absent_gpu());
  GpuFacts a = gpu_facts();
  GpuPeer peer = gpu_peer(kSecond, "the chipset does not support it");
  peer.read = peer.nvlink = peer.write;
  a.peers = {peer};
  model.apply(event(
      0, 1, gpu_telemetry(1, {a, gpu_facts(kSecond)}, {gpu_reading(1), gpu_reading(1, kSecond)})));
  Lab lab(std::move(model), 1, {1280, 2400});
  open_gpu(lab);
  const WidgetRect* first = lab.backend.find("devices/peers/table/0");
  const WidgetRect* second = lab.backend.find("devices/peers/table/1");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->value, "GPU 0\titself\tno");
  EXPECT_EQ(second->value, "GPU 1\tN/A\titself") << "it was not read";
}

}  // namespace
}  // namespace lab::test
