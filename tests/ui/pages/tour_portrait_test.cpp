// The portrait of the machine on the Tour page.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compute/machine/cpu_topology.h"
#include "tests/support/sample_gpus.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

const ImVec2 kTallPortrait(1280, 2400);

// A machine of hwloc's synthetic description, divided into CPU devices, with GPUs.
ui::Model machine_like(const std::string& synthetic, int cpu_devices, int gpus) {
  const CpuTopology topology = read_topology(synthetic);
  MachineInfo machine = machine_of(cpu_devices);
  const std::size_t cores = topology.cores.size();
  for (int i = 0; i < cpu_devices; ++i) {
    const auto part = [&](int k) {
      return topology.cores.begin() +
             static_cast<std::ptrdiff_t>(cores * static_cast<std::size_t>(k) /
                                         static_cast<std::size_t>(cpu_devices));
    };
    DeviceInfo info = describe_cores(topology, {part(i), part(i + 1)});
    info.device = cpu(i);
    info.name = "A processor with a name that is long, as those of most processors are";
    info.memory_total_bytes = 1024 * kGiB;
    machine.devices[static_cast<std::size_t>(i)] = info;
  }
  Telemetry all;
  if (gpus > 0) machine.absent.clear();
  for (int i = 0; i < gpus; ++i) {
    DeviceInfo info;
    info.device = gpu(i);
    info.name = "NVIDIA H200";
    info.pci_bus_id = "0000:0" + std::to_string(i) + ":00.0";
    info.memory_total_bytes = 141 * kGiB;
    machine.devices.push_back(info);
  }
  ui::Model model(machine);
  for (const DeviceInfo& info : machine.devices) {
    DeviceTelemetry one;
    one.device = info.device;
    one.t_s = 1;
    one.utilisation = 0.5;
    one.memory_available_bytes = 700 * kGiB;
    for (std::size_t c = 0; c < info.cores.size(); ++c) {
      one.core_utilisation.push_back(static_cast<double>(c % 11) / 10);
    }
    all.devices.push_back(one);
    if (info.pci_bus_id.empty()) continue;
    GpuFacts facts = gpu_facts(info.pci_bus_id);
    for (const DeviceInfo& other : machine.devices) {
      const bool peer = !other.pci_bus_id.empty() && other.pci_bus_id != info.pci_bus_id;
      if (peer) facts.peers.push_back(gpu_peer(other.pci_bus_id));
    }
    all.gpu_facts.push_back(facts);
    all.gpus.push_back(gpu_reading(1, info.pci_bus_id));
  }
  model.apply(event(0, 1, all));
  return model;
}

bool inside(const WidgetRect& part, const WidgetRect& whole) {
  return part.min.x >= whole.min.x && part.max.x <= whole.max.x + 1 && part.min.y >= whole.min.y &&
         part.max.y <= whole.max.y + 1;
}

bool apart(const WidgetRect& a, const WidgetRect& b) {
  return a.max.x <= b.min.x + 0.5F || b.max.x <= a.min.x + 0.5F || a.max.y <= b.min.y + 0.5F ||
         b.max.y <= a.min.y + 0.5F;
}

struct Portrait {
  const char* synthetic;
  int cores, cpu_devices, gpus;
};

class TourPortrait : public ::testing::TestWithParam<std::tuple<Portrait, float>> {};

TEST_P(TourPortrait, PartsAreLegibleAndDoNotOverlap) {
  const auto& [machine, scale] = GetParam();
  const ImVec2 size(1280 * scale, 4000 * scale);
  Lab lab(machine_like(machine.synthetic, machine.cpu_devices, machine.gpus), scale, size);
  lab.open(Page::Tour);
  const WidgetRect* card = lab.backend.find("tour/portrait");
  ASSERT_NE(card, nullptr);
  std::vector<const WidgetRect*> parts;
  int cores = 0;
  for (const WidgetRect& w : lab.backend.ui.widgets.all()) {
    if (!w.path.starts_with("tour/portrait/")) continue;
    parts.push_back(&w);
    EXPECT_TRUE(inside(w, *card)) << w.path;
    if (w.kind != "meter") continue;
    ++cores;
    EXPECT_GE(std::min(w.max.x - w.min.x, w.max.y - w.min.y), 9 * scale) << w.path;
    EXPECT_FALSE(w.value.empty()) << w.path << " has no load";
  }
  EXPECT_EQ(cores, machine.cores);
  for (int i = 0; i < machine.gpus; ++i) {
    EXPECT_TRUE(lab.visible("tour/portrait/cuda:" + std::to_string(i)));
  }
  EXPECT_TRUE(lab.visible("tour/portrait/memory"));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      ASSERT_TRUE(apart(*parts[i], *parts[j])) << parts[i]->path << " and " << parts[j]->path;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, TourPortrait,
    ::testing::Combine(::testing::Values(Portrait{"package:1 core:1 pu:1", 1, 1, 0},
                                         Portrait{"package:1 l3:1 l2:2 core:1 pu:2", 2, 2, 0},
                                         Portrait{"package:1 l3:1 l2:8 core:1 pu:2", 8, 1, 1},
                                         Portrait{"package:2 l3:8 l2:8 core:1 pu:2", 128, 1, 8},
                                         Portrait{"package:2 core:64 pu:2", 128, 4, 0}),
                       ::testing::Values(1.0F, 2.0F)),
    [](const auto& tested) {
      const Portrait& machine = std::get<0>(tested.param);
      return "Cores" + std::to_string(machine.cores) + "Devices" +
             std::to_string(machine.cpu_devices) + "Gpus" + std::to_string(machine.gpus) + "Scale" +
             std::to_string(static_cast<int>(std::get<1>(tested.param)));
    });

TEST(TourPortraitText, ManyCoresTakeLessThanAWindow) {
  Lab lab(machine_like("package:2 l3:8 l2:8 core:1 pu:2", 1, 8), 1, {1280, 900});
  lab.open(Page::Tour);
  const WidgetRect* card = lab.backend.find("tour/portrait");
  ASSERT_NE(card, nullptr);
  EXPECT_LT(card->max.y - card->min.y, 600);
}

TEST(TourPortraitText, LinksTellWhatTheyCarry) {
  Lab lab(machine_like("package:1 core:1 pu:1", 1, 2), 1, kTallPortrait);
  lab.open(Page::Tour);
  const WidgetRect* link = lab.backend.find("tour/portrait/cuda:0/link");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->label, "PCIe gen 5 x16, 36 %");
  EXPECT_EQ(link->value, "To the GPU: 23.0 GB/s, from it: 1.50 GB/s; at most 63.0 GB/s each way.");
  Telemetry unread = telemetry(lab.model.devices(), 2, 0.5);
  unread.gpus = {gpu_reading(2, "0000:00:00.0")};
  unread.gpus[0].pcie_sent_bytes_per_s = Maybe<double>::missing("not supported");
  lab.model.apply(event(0, 2, unread));
  lab.frames(3);
  EXPECT_FALSE(lab.visible("tour/portrait/cuda:0/link"));
  EXPECT_TRUE(lab.visible("tour/portrait/cuda:1/link"));
}

TEST(TourPortraitText, IgnoresCachesOfCoresThatADeviceLacks) {
  MachineInfo machine = machine_of(1);
  machine.devices[0].cores.resize(1);
  ASSERT_EQ(machine.devices[0].caches[0].cores.size(), 2U);
  const ui::Silicon silicon = ui::silicon_of(machine.devices);
  EXPECT_EQ(silicon.cores.size(), 1U);
  for (const ui::SiliconCache& cache : silicon.caches) EXPECT_EQ(cache.cores, std::vector<int>{0});
}

TEST(TourPortraitText, KnowsWhichDevicesShareCores) {
  MachineInfo machine = machine_of(3);
  machine.devices[0].cores = {0, 1};
  machine.devices[1].cores = {1, 2};
  machine.devices[2].cores = {3};
  const ui::Silicon silicon = ui::silicon_of(machine.devices);
  const auto sharers = [&](int device) {
    const auto all = ui::core_sharers(silicon, cpu(device));
    return std::vector<Device>(all.begin(), all.end());
  };
  EXPECT_EQ(sharers(0), std::vector{cpu(1)});
  EXPECT_EQ(sharers(1), std::vector{cpu(0)});
  EXPECT_TRUE(sharers(2).empty());
}

TEST(TourPortraitText, NamesAllDevicesOfASharedCore) {
  MachineInfo machine = machine_of(2);
  machine.devices[1].cores = machine.devices[0].cores;
  const std::string number = std::to_string(machine.devices[0].cores.front());
  Lab lab(ui::Model(machine), 1, kTallPortrait);
  lab.open(Page::Tour);
  const WidgetRect* core = lab.backend.find("tour/portrait/cpu:0/" + number);
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->label, "cpu:0, cpu:1");
  EXPECT_FALSE(lab.visible("tour/portrait/cpu:1/" + number));
}

TEST(TourPortraitText, IsLaidOutAgainOnlyIfItsSizeOrMachineChanges) {
  Lab lab(machine_like("package:1 l3:1 l2:2 core:1 pu:2", 1, 0), 1, kTallPortrait);
  lab.open(Page::Tour);
  ui::PortraitLayout& layout = lab.view.portraits["tour/portrait"];
  const auto boxes = [&](const std::shared_ptr<const ui::Silicon>& of, float width) {
    return layout.of(lab.backend.ui, of, width).front().inner.data();
  };
  const auto silicon = lab.model.silicon();
  const ui::PortraitBox* first = boxes(silicon, 600);
  EXPECT_EQ(boxes(silicon, 600), first);
  EXPECT_EQ(layout.of(lab.backend.ui, silicon, 600).front().size.x, 600);
  EXPECT_EQ(layout.of(lab.backend.ui, silicon, 700).front().size.x, 700);
  const float small = layout.of(lab.backend.ui, silicon, 700).front().size.y;
  lab.backend.ui.scale = 2;
  EXPECT_GT(layout.of(lab.backend.ui, silicon, 700).front().size.y, small);
  const ui::Model other = machine_like("package:2 l3:1 l2:2 core:1 pu:2", 1, 0);
  EXPECT_EQ(layout.of(lab.backend.ui, other.silicon(), 700).size(), 2U);
}

TEST(TourPortraitText, HoveringACoreGivesItsDetails) {
  Lab lab(machine_like("package:1 l3:1 l2:2 core:1 pu:2", 2, 0), 1, kTallPortrait);
  lab.open(Page::Tour);
  const WidgetRect* core = lab.backend.find("tour/portrait/cpu:1/2");
  ASSERT_NE(core, nullptr);
  lab.backend.move_to(NullBackend::centre(*core));
  lab.frames(60);
  const WidgetRect* tooltip = lab.backend.find("tooltip");
  ASSERT_NE(tooltip, nullptr);
  EXPECT_NE(tooltip->value.find("cpu:1, core 2\nbusy\t"), std::string::npos) << tooltip->value;
  EXPECT_NE(tooltip->value.find("shared by 2 cores"), std::string::npos)
      << "the cache that two devices share is one: " << tooltip->value;
}

TEST(TourPortraitText, NamesTheKindOfACore) {
  MachineInfo machine = machine_of(1);
  CoreKind fast, small;
  fast.name = "performance";
  fast.clock_max_mhz = 5200.0;
  fast.cores = {0};
  small.number = 1;
  small.name = "efficient";
  small.cores = {1};
  machine.devices[0].core_kinds = {fast, small};
  Lab lab{ui::Model(machine), 1, kTallPortrait};
  lab.open(Page::Tour);
  for (const auto& [core, text] :
       {std::pair{"0", "performance core, up to 5.2 GHz"}, std::pair{"1", "efficient core"}}) {
    lab.backend.move_to(
        NullBackend::centre(*lab.backend.find(std::string("tour/portrait/cpu:0/") + core)));
    lab.frames(60);
    const WidgetRect* tooltip = lab.backend.find("tooltip");
    ASSERT_NE(tooltip, nullptr);
    EXPECT_NE(tooltip->value.find(text), std::string::npos) << tooltip->value;
  }
}

}  // namespace
}  // namespace lab::test
