// The Devices page, and the programs that use its cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

TEST(DevicesPage, BusyCoresAreAnnouncedBesideTheRunButton) {
  for (const float width : {1280.0F, 960.0F}) {
    for (const Page page :
         {Page::Tour, Page::Learn, Page::Transfers, Page::Matmul, Page::Training, Page::Scaling}) {
      SCOPED_TRACE(ui::key_of(page));
      Lab lab(make_scene(page, Scene::Empty), 1, {width, 2400});
      const std::string note = std::string(ui::key_of(page)) + "/busy_cores";
      const auto read = [&](double t_s, double programs) {
        Telemetry one = telemetry(lab.model.devices(), t_s, 1);
        one.others = OtherLoad{.programs = programs, .host = 0, .threads = 4};
        lab.model.apply(event(0, t_s, one));
      };
      read(1001, 0.1);
      lab.open(page);
      EXPECT_FALSE(lab.visible(note)) << "the cores are idle";
      for (int second = 2; second < 10; ++second) read(1000 + second, 3.9);
      lab.frames(6);
      EXPECT_EQ(lab.backend.find(note)->label,
                "Other programs use 3.9 of 4 cores now; results will vary.");
    }
  }
}

ProgramUse two_programs() {
  return {.busiest = {{.name = "cc1plus",
                       .processes = 12,
                       .pid = 4711,
                       .cores = 1.25,
                       .memory_bytes = 3 * kGiB},
                      {.name = "firefox", .pid = 812, .cores = 0.5, .memory_bytes = kGiB},
                      {.kind = ProgramKind::Kernel, .processes = 80, .pid = 2, .cores = 0.125},
                      {.kind = ProgramKind::Lab, .name = "device-lab", .pid = 99}},
          .others = 31,
          .rest_cores = 0.25};
}

TEST(DevicesPage, BusyCoresNameTheProgramsThatUseThem) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, {1280, 2400});
  for (int second = 1; second < 10; ++second) {
    Telemetry one = telemetry(lab.model.devices(), 1000 + second, 1);
    one.others = OtherLoad{.programs = 1.9, .host = 0, .threads = 4};
    one.programs = two_programs();
    lab.model.apply(event(0, 1000 + second, one));
  }
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/busy_cores")->label,
            "Other programs use 1.9 of 4 cores now: cc1plus, firefox. Results will vary.");
  EXPECT_GT(lab.backend.find("matmul/busy_cores")->min.y, lab.backend.find("matmul/more")->max.y)
      << "no control moves with it";
  EXPECT_TRUE(ui::shows_programs(lab.model, lab.view));
  lab.open(Page::Log);
  EXPECT_FALSE(ui::shows_programs(lab.model, lab.view)) << "no page names them";
  lab.open(Page::Devices);
  EXPECT_TRUE(ui::shows_programs(lab.model, lab.view));
  lab.click("devices/list/absent/0");
  EXPECT_FALSE(ui::shows_programs(lab.model, lab.view)) << "another card is in its place";
}

TEST(DevicesPage, ProgramsAreNotReadOutOfSight) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 420});
  lab.open(Page::Devices);
  EXPECT_FALSE(ui::shows_programs(lab.model, lab.view));
  lab.scroll(-20);
  EXPECT_TRUE(ui::shows_programs(lab.model, lab.view));
}

TEST(DevicesPage, ProgramsAreInSightInASmallWindow) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 720});
  lab.open(Page::Devices);
  ASSERT_TRUE(lab.visible("devices/programs"));
  EXPECT_LT(lab.backend.find("devices/programs")->min.y, 560);
  EXPECT_FALSE(lab.visible("devices/cpu:0/specification"));
  lab.scroll(-30);
  EXPECT_TRUE(lab.visible("devices/cpu:0/specification"));
}

TEST(DevicesPage, DoesNotAskForMoreDevicesBesideAnEmulatedGpu) {
  MachineInfo machine = machine_of(1);
  const auto asks = [&] {
    Lab lab(ui::Model(machine), 1, {1280, 1400});
    lab.open(Page::Devices);
    return lab.visible("devices/needs_two");
  };
  EXPECT_TRUE(asks());
  DeviceInfo info;
  info.device = emulated_gpu();
  info.name = "Emulated GPU";
  machine.devices.push_back(info);
  EXPECT_FALSE(asks());
}

TEST(DevicesPage, ProgramsAreNotReadWhileAJobMeasuresTimes) {
  for (const Page job : {Page::Matmul, Page::Training}) {
    Lab lab(make_scene(job, Scene::Running), 1, {1280, 2400});
    lab.open(Page::Devices);
    const bool timed = job == Page::Matmul;
    EXPECT_NE(ui::shows_programs(lab.model, lab.view), timed) << ui::key_of(job);
    EXPECT_EQ(lab.visible("devices/programs/waiting"), timed);
  }
}

TEST(DevicesPage, ProgramsAreNotReadForALessonWithoutTimes) {
  Lab lab(make_scene(Page::Learn, Scene::Empty));
  for (int second = 1; second < 10; ++second) {
    Telemetry one = telemetry(lab.model.devices(), 1000 + second, 1);
    one.others = OtherLoad{.programs = 3.9, .host = 0, .threads = 4};
    lab.model.apply(event(0, 1000 + second, one));
  }
  lab.open(Page::Learn);
  ASSERT_TRUE(ui::shows_programs(lab.model, lab.view));
  for (const LessonInfo& lesson : lab.model.lessons()) {
    lab.view.forms.learn.lesson = lesson.name;
    lab.frames(6);
    EXPECT_EQ(ui::shows_programs(lab.model, lab.view), lab.visible("learn/busy_cores"));
    if (!lesson.timed) {
      EXPECT_FALSE(ui::shows_programs(lab.model, lab.view)) << lesson.name;
    }
  }
}

TEST(DevicesPage, TheChartHasOneHeightWhateverIsSelected) {
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1920, 1080}, ImVec2{2560, 1440}}) {
    Lab lab(make_scene(Page::Devices, Scene::Done), 1, size);
    lab.open(Page::Devices);
    const auto height = [&] {
      const WidgetRect* chart = lab.backend.find("devices/chart");
      return chart->max.y - chart->min.y;
    };
    const float selected = height();
    lab.click("devices/list/absent/0");
    lab.frames(4);
    EXPECT_EQ(height(), selected);
  }
}

TEST(DevicesPage, WarnsOfMoreDevicesThanCores) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 1400});  // of two cores each
  lab.open(Page::Devices);
  lab.view.forms.devices.cpu_devices_edited = true;
  lab.view.forms.devices.cpu_devices = 4;
  lab.frames(4);
  EXPECT_FALSE(lab.visible("devices/shared_cores"));
  lab.view.forms.devices.cpu_devices = 9;
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("devices/shared_cores")->label,
            "9 devices share 4 cores: work on one slows the others.");
}

TEST(DevicesPage, TakesAsManyDevicesAsTheChapterOrTheCores) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 1400});  // of two cores each
  lab.open(Page::Devices);
  lab.click("devices/cpu_devices");
  lab.type("99");
  EXPECT_FALSE(lab.backend.find("devices/split")->enabled) << "16 is not what was typed";
  EXPECT_FALSE(lab.visible("devices/shared_cores"));
  lab.click("devices/split");
  EXPECT_FALSE(lab.visible("restart/yes"));
  EXPECT_EQ(lab.backend.find("devices/cpu_devices")->value, "16");
  lab.click("devices/split");
  EXPECT_EQ(lab.backend.find("restart/cores")->label,
            "The devices cpu:0 to cpu:15 share 4 cores: work on one slows the others.");
  lab.click("restart/no");
  lab.click("devices/cpu_devices");
  lab.type("4");
  lab.click("devices/split");
  EXPECT_TRUE(lab.backend.find("restart/cores")->label.starts_with("The cores are divided among 4"))
      << "one core each";
}

TEST(DevicesPage, TheRestartButtonIsBesideTheField) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 720});
  lab.open(Page::Devices);
  const WidgetRect field = *lab.backend.find("devices/cpu_devices"),
                   button = *lab.backend.find("devices/split");
  EXPECT_FLOAT_EQ(field.min.y, button.min.y);
  EXPECT_FALSE(button.enabled);
  EXPECT_EQ(lab.tooltip_of("devices/split"), "Change the number of CPU devices first");
  lab.click("devices/cpu_devices/more");
  EXPECT_TRUE(lab.backend.find("devices/split")->enabled);
  EXPECT_EQ(lab.backend.find("devices/split")->min.y, button.min.y) << "nothing moves";
  EXPECT_TRUE(lab.backend.find("devices/restart")->label.starts_with("Now 2 devices. "));
}

TEST(DevicesPage, TheCurveOfTheSelectedDeviceIsWider) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 720});
  for (int second = 1; second <= 60; ++second) {
    Telemetry one = telemetry(lab.model.devices(), second, 0.5);
    one.devices[1].utilisation = 0.25;
    lab.model.apply(event(0, second, one));
  }
  lab.open(Page::Devices);
  // The height that a level curve takes.
  const auto height = [&] {
    const WidgetRect plot = *lab.backend.find("devices/plot");
    const ImU32 color = ui::device_color(*lab.backend.ui.theme, cpu(1));
    float least = plot.max.y, most = plot.min.y;
    for (const ImDrawList* list : test::drawn_lists()) {
      for (const ImDrawVert& v : list->VtxBuffer) {
        const float middle = (plot.min.y + plot.max.y) / 2;  // below the legend
        if (v.col != color || v.pos.x < plot.min.x || v.pos.y < middle || v.pos.y > plot.max.y) {
          continue;
        }
        least = std::min(least, v.pos.y);
        most = std::max(most, v.pos.y);
      }
    }
    return most - least;
  };
  const float other = height();
  lab.click("devices/list/cpu:1");
  EXPECT_GT(height(), other + 0.9F);
}

TEST(DevicesPage, ProgramsAreNotReadForPagesWhileTheCoresAreIdle) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty));
  lab.open(Page::Matmul);
  EXPECT_FALSE(ui::shows_programs(lab.model, lab.view));
}

TEST(DevicesPage, DevicesListTheProgramsThatUseTheCores) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 2400});
  double t_s = 1;
  const auto read = [&](const std::optional<ProgramUse>& use) {
    Telemetry one = telemetry(lab.model.devices(), ++t_s, 0.5);
    one.programs = use;
    lab.model.apply(event(0, t_s, one));
    lab.frames(4);
  };
  const auto row = [&](int i) {
    return lab.backend.find("devices/programs/table/" + std::to_string(i))->value;
  };
  lab.open(Page::Devices);
  read({});
  const float height =
      lab.backend.find("devices/programs")->max.y - lab.backend.find("devices/programs")->min.y;
  read(two_programs());
  EXPECT_EQ(
      lab.backend.find("devices/programs")->max.y - lab.backend.find("devices/programs")->min.y,
      height)
      << "the page does not move when the first reading arrives";
  EXPECT_EQ(row(0), "4711\tcc1plus (12)\t1.25\t3.00 GiB");
  EXPECT_EQ(row(2), "\tall others (31)\t0.25\t") << "by size";
  EXPECT_EQ(row(3), "2\tkernel threads (80)\t0.12\t0 B");
  EXPECT_EQ(row(4), "99\tdevice-lab: this lab\t0.00\t0 B");
  EXPECT_FALSE(lab.visible("devices/programs/hidden"));
  ProgramUse hidden = two_programs();
  hidden.hidden = "Some programs may not be visible: /proc does not list process 1.";
  read(hidden);
  EXPECT_TRUE(lab.visible("devices/programs/hidden"));
  read(ProgramUse{.unread = "/proc lists no processes"});
  EXPECT_FALSE(lab.visible("devices/programs/table/0"));
  read(two_programs());
  for (int i = 0; i < 7; ++i) read({});
  EXPECT_EQ(lab.model.programs(), nullptr) << "what was read long ago is not shown as of now";
}

TEST(DevicesPage, TheChartOfDevicesNamesTimeAndAllDevices) {
  Lab lab(ui::Model(machine_of(2)));
  for (int second = 1; second <= 60; ++second) {
    Telemetry one = telemetry(lab.model.devices(), second, 1);
    one.devices[1].utilisation = 0.5;
    one.lab_cpu = 0.2;
    one.others = OtherLoad{.programs = 2.5, .host = 0.3, .threads = 4};
    lab.model.apply(event(0, second, one));
  }
  lab.open(Page::Devices);
  const auto point_at = [&] {
    const WidgetRect plot = *lab.backend.find("devices/plot");
    lab.backend.move_to({(plot.min.x + plot.max.x) / 2, (plot.min.y + plot.max.y) / 2});
    lab.frames(3);
    return lab.backend.find("devices/plot/tooltip")->value;
  };
  const std::string load = point_at();
  EXPECT_NE(load.find(" s ago\ncpu:0\t100 %\ncpu:1\t50 %"), std::string::npos) << load;
  lab.click("devices/quantity/Cores");
  const std::string users = point_at();
  EXPECT_NE(users.find(" s ago\nlab\t0.2\nother programs\t2.5\nhost\t0.3"), std::string::npos)
      << users;
}

TEST(DevicesPage, TheChartOfCoresDrawsNoHostWhereItTakesNothing) {
  Lab lab(ui::Model(machine_of(2)));
  for (int second = 1; second <= 60; ++second) {
    Telemetry one = telemetry(lab.model.devices(), second, 1);
    one.lab_cpu = 0.2;
    one.others = OtherLoad{.programs = 2.5, .host = second < 30 ? 0 : 0.5, .threads = 4};
    lab.model.apply(event(0, second, one));
  }
  lab.open(Page::Devices);
  lab.click("devices/quantity/Cores");
  const auto names_host = [&](float share) {
    const WidgetRect plot = *lab.backend.find("devices/plot");
    lab.backend.move_to(
        {plot.min.x + share * (plot.max.x - plot.min.x), (plot.min.y + plot.max.y) / 2});
    lab.frames(3);
    return lab.backend.find("devices/plot/tooltip")->value.find("host\t") != std::string::npos;
  };
  EXPECT_FALSE(names_host(0.3F));
  EXPECT_TRUE(names_host(0.8F));
}

TEST(DevicesPage, ADraggedChartOfDevicesGoesBackToNow) {
  Lab lab(ui::Model(machine_of(1)));
  for (int second = 1; second <= 60; ++second) {
    lab.model.apply(event(0, second, telemetry(lab.model.devices(), second, 0.5)));
  }
  lab.open(Page::Devices);
  EXPECT_FALSE(lab.visible("devices/back_to_now"));
  const WidgetRect plot = *lab.backend.find("devices/plot");
  const ImVec2 from = NullBackend::centre(plot);
  lab.backend.move_to(from);
  lab.frame();
  lab.backend.mouse(0, true);
  lab.frame();
  for (int step = 1; step <= 4; ++step) {
    lab.backend.move_to({from.x + 20.0F * static_cast<float>(step), from.y});
    lab.frame();
  }
  lab.backend.mouse(0, false);
  lab.frames(3);
  const std::string now = plot.value;
  EXPECT_NE(lab.backend.find("devices/plot")->value, now);
  lab.click("devices/back_to_now");
  EXPECT_EQ(lab.backend.find("devices/plot")->value, now);
  EXPECT_FALSE(lab.visible("devices/back_to_now"));
}

TEST(DevicesPage, TheListOfDevicesTellsCpuDevicesApart) {
  Lab lab{ui::Model(machine_of(2))};
  lab.open(Page::Devices);
  const auto what = [&](const char* device) {
    return lab.backend.find(std::string("devices/list/") + device + "/what")->label;
  };
  EXPECT_EQ(what("cpu:0"), "cores 0, 1; tensors: 0 B");
  EXPECT_EQ(what("cpu:1"), "cores 2, 3; tensors: 0 B");
  lab.show(ui::Model(machine_of(1)));
  EXPECT_EQ(what("cpu:0"), "AMD EPYC 9654 96-Core Processor");
}

TEST(DevicesPage, NamesTheDevicesThatShareACache) {
  MachineInfo machine = machine_of(2);
  const auto l3 = [&] {
    Lab lab(ui::Model(machine), 1, {1920, 1080});
    lab.open(Page::Devices);
    return lab.backend.find("devices/cpu:0/cache/3")->value;
  };
  EXPECT_EQ(l3(), "1 x 32.0 MiB");
  for (DeviceInfo& info : machine.devices) info.caches[2].numbers = {0};
  EXPECT_EQ(l3(), "1 x 32.0 MiB, shared with cpu:1");
}

TEST(DevicesPage, TheClockOfAVirtualMachineIsNominal) {
  MachineInfo machine = machine_of(1);
  const auto clock = [&] {
    ui::Model model(machine);
    model.apply(event(0, 1, telemetry({cpu()}, 1, 0.5)));
    Lab lab(std::move(model), 1, {1920, 1080});
    lab.open(Page::Devices);
    return lab.backend.find("devices/cpu:0/clock")->value;
  };
  EXPECT_EQ(clock(), "2.90 GHz");
  machine.devices.front().virtual_machine = true;
  EXPECT_EQ(clock(), "2.90 GHz, nominal");
}

TEST(DevicesPage, CoresAreNamedInRanges) {
  DeviceInfo info;
  EXPECT_EQ(ui::core_numbers(info), "N/A");
  info.cores = {3};
  EXPECT_EQ(ui::core_numbers(info), "core 3");
  info.cores = {8, 0, 1, 2, 3};
  EXPECT_EQ(ui::core_numbers(info), "cores 0 to 3, 8");
}

TEST(DevicesPage, SeveralDevicesAreNotOfferedToBeSplit) {
  Lab lab(ui::Model(machine_of(2)));
  for (const Page page : {Page::Transfers, Page::Matmul, Page::Training, Page::Scaling}) {
    lab.open(page);
    EXPECT_FALSE(lab.visible(std::string(ui::key_of(page)) + "/split"));
  }
}

TEST(DevicesPage, BarsOfADeviceStayInsideItsCard) {
  for (const float width : {1280.0F, 1920.0F, 2560.0F}) {
    SCOPED_TRACE(width);
    Lab lab(make_scene(Page::Devices, Scene::Done), 1, {width, 1080});
    lab.open(Page::Devices);
    const WidgetRect *card = lab.backend.find("devices/cpu:0"),
                     *bar = lab.backend.find("devices/cpu:0/memory");
    ASSERT_TRUE(card != nullptr && bar != nullptr);
    EXPECT_LE(bar->max.x, card->max.x - 12) << "its padding";
    EXPECT_LE(bar->max.x - bar->min.x, 601);
  }
}

TEST(DevicesPage, ADeviceNamesTheKindsOfItsCores) {
  MachineInfo machine = machine_of(1);
  const auto text_of_kinds = [](const MachineInfo& shown) {
    Lab lab{ui::Model(shown)};
    lab.model.apply(event(0, 1, telemetry(lab.model.devices(), 1, 0.5)));
    lab.open(Page::Devices);
    const WidgetRect* text = lab.backend.find("devices/cpu:0/core_kinds");
    return text == nullptr ? std::string() : text->label;
  };
  const auto kind = [](int number, const char* name, double clock_max_mhz) {
    CoreKind made;
    made.number = number;
    made.name = name;
    made.clock_max_mhz = clock_max_mhz;
    made.cores = {number};
    return made;
  };
  machine.devices[0].core_kinds = {kind(0, "performance", 5200), kind(1, "efficient", 3900)};
  EXPECT_EQ(text_of_kinds(machine),
            "2 cores: 1 performance (up to 5.2 GHz), 1 efficient (up to 3.9 GHz)");
  Lab lab{ui::Model(machine_of(1))};
  lab.open(Page::Devices);
  EXPECT_FALSE(lab.visible("devices/cpu:0/core_kinds")) << "all cores are alike";
}

TEST(DevicesPage, AFoldedListOfDevicesEndsInSight) {
  Lab lab(ui::Model(machine_of(2)), 1.5F, {1280, 720});
  lab.open(Page::Devices);
  const ui::WidgetRect *list = lab.backend.find("devices/list"),
                       *machine = lab.backend.find("devices/machine");
  ASSERT_TRUE(list != nullptr && machine != nullptr);
  EXPECT_FLOAT_EQ(list->min.y, machine->min.y) << "side by side";
  const float status_bar = 720 - 1.5F * 40;
  EXPECT_LT(machine->max.y, status_bar);
  EXPECT_LT(list->max.y, status_bar);
}

TEST(DevicesPage, AbsentDevicesHaveACard) {
  Lab lab(make_scene(Page::Devices, Scene::Done), 1, {1280, 1000});
  lab.open(Page::Devices);
  EXPECT_FALSE(lab.visible("devices/absent/0"));
  lab.click("devices/list/absent/0");
  const WidgetRect* card = lab.backend.find("devices/absent/0");
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->label, "No NVIDIA GPU");
}

}  // namespace
}  // namespace lab::test
