// The map of the machine on the Learn page.
#include <gtest/gtest.h>

#include "compute/experiments/lessons/lesson.h"
#include "tests/ui/events.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

Model with_map_of(const DeviceInfo& device) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  model.apply(event(1, 2, LessonEvent{"first", LessonMap{{device}, {}, {}}}));
  return model;
}

// A processor with 64 cores in groups of eight that share a cache.
DeviceInfo many_cores() {
  DeviceInfo device;
  device.device = cpu(0);
  device.caches = {{2, kMiB, 64, 64}, {3, 32 * kMiB, 8, 64}};
  for (int core = 0; core < 64; ++core) {
    device.cores.push_back(core);
    device.caches[0].cores.push_back({core});
    if (core % 8 == 0) device.caches[1].cores.emplace_back();
    device.caches[1].cores.back().push_back(core);
  }
  return device;
}

TEST(LearnMap, DrawsManyCoresInGroups) {
  for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1920, 1080}}) {
    Lab lab(with_map_of(many_cores()), 1, size);
    lab.open(Page::Learn);
    const ui::WidgetRect* map = lab.backend.find("learn/map/cpu:0");
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->value, "64 cores");
    EXPECT_LT(map->max.y - map->min.y, 0.5F * size.y) << "the map leaves room for the rest";
    EXPECT_TRUE(lab.visible("learn/map/memory"));
  }
}

// Eight cores with an L2 cache each, and sixteen in groups of four that share one.
DeviceInfo unequal_cores() {
  DeviceInfo device;
  device.device = cpu(0);
  device.caches = {{2, 2 * kMiB, 8, 64}, {2, 4 * kMiB, 4, 64}};
  for (int core = 0; core < 24; ++core) {
    device.cores.push_back(core);
    if (core < 8) {
      device.caches[0].cores.push_back({core});
    } else {
      if (core % 4 == 0) device.caches[1].cores.emplace_back();
      device.caches[1].cores.back().push_back(core);
    }
  }
  return device;
}

TEST(LearnMap, DrawsCoresWithCachesOfDifferentSizes) {
  Lab lab(with_map_of(unequal_cores()), 1, {1280, 800});
  lab.open(Page::Learn);
  for (int core = 0; core < 24; ++core) {
    EXPECT_TRUE(lab.visible("learn/map/cpu:0/" + std::to_string(core))) << core;
  }
}

TEST(LearnMap, ShowsTheLoadOfEachCore) {
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Learn);
  const std::vector<int> cores = lab.model.machine().devices[0].cores;
  ASSERT_EQ(cores.size(), 2U);
  lab.model.apply(event(0, 1000, telemetry(lab.model.devices(), 1000, 0.5)));
  lab.frames(3);
  const auto core = [&](std::size_t i) {
    return lab.backend.find("learn/map/cpu:0/" + std::to_string(cores[i]))->value;
  };
  EXPECT_EQ(core(0), "50 %");
  EXPECT_EQ(core(1), "25 %");
}

TEST(LearnMap, ShowsStepsAndMachineUntilMeasured) {
  Lab lab(make_scene(Page::Learn, Scene::Empty), 1, {1280, 720});
  lab.open(Page::Learn);
  const ui::WidgetRect* code = lab.backend.find("learn/code/0");
  const ui::WidgetRect* machine = lab.backend.find("learn/machine/cpu:0");
  ASSERT_NE(code, nullptr);
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->label, "cpu:0 = cores 0, 1");
  EXPECT_LT(lab.backend.find("learn/lesson")->max.x, code->min.x);
  EXPECT_LT(code->max.x, machine->min.x);
  lab.frames(6);
  EXPECT_FALSE(lab.backend.ui.wants_layout);
  lab.show(make_scene(Page::Learn, Scene::Done));
  EXPECT_FALSE(lab.visible("learn/machine/cpu:0")) << "the results include it";
}

TEST(LearnMap, ShowsTheMachineOnlyWhereTheLessonIsAboutIt) {
  Lab lab(make_scene(Page::Learn, Scene::Empty), 1, {1280, 560});
  lab.open(Page::Learn);
  EXPECT_TRUE(lab.visible("learn/machine"));
  lab.click("learn/dot/second");
  lab.frames(3);
  EXPECT_FALSE(lab.visible("learn/machine"));
  ASSERT_TRUE(lab.visible("learn/list/first"));
  EXPECT_LT(lab.backend.find("learn/steps")->max.x, lab.backend.find("learn/list")->min.x);
}

}  // namespace
}  // namespace lab::test
