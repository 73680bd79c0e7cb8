#include "app/window/tour_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "compute/core/files/whole_file.h"
#include "tests/support/machine_of_two.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

ui::TourResults sample_tour(const MachineInfo& machine) {
  ui::TourResults tour;
  tour.measured = 1'700'000'000;
  tour.others = 0.25;
  for (const DeviceInfo& info : machine.devices) {
    tour.add({.device = info.device,
              .question = TourQuestion::SmallCopy,
              .value = 4e-6,
              .median = 4e-6,
              .low = 3e-6,
              .high = 6e-6,
              .n = 31,
              .unstable = true,
              .complete = true,
              .threads = 1,
              .all_threads_s = 9e-6});
  }
  tour.add({.device = machine.devices[0].device,
            .question = TourQuestion::Bandwidth,
            .complete = true,
            .missing = std::string(300, 'x') + "\nno room"});
  tour.add({.device = machine.devices[0].device,
            .question = TourQuestion::Peak,
            .value = 1e9,
            .complete = false});
  return tour;
}

TEST(TourFile, BringsCompleteFiguresBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "new" / "tour.json";
  const MachineInfo machine = test::machine_of_two();
  EXPECT_TRUE(read_tour(file, machine).results.empty()) << "there is none yet";
  write_tour(file, sample_tour(machine), machine);
  const StoredTour kept = read_tour(file, machine);
  EXPECT_EQ(kept.problem, "");
  EXPECT_TRUE(kept.results.earlier);
  EXPECT_EQ(kept.results.measured, 1'700'000'000);
  EXPECT_EQ(kept.results.others, 0.25);
  ASSERT_EQ(kept.results.figures.size(), 3U);
  const TourFigure* copy = kept.results.find(machine.devices[1].device, TourQuestion::SmallCopy);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->value, 4e-6);
  EXPECT_EQ(copy->median, 4e-6);
  EXPECT_EQ(copy->low, 3e-6);
  EXPECT_EQ(copy->high, 6e-6);
  EXPECT_EQ(copy->n, 31);
  EXPECT_TRUE(copy->unstable);
  EXPECT_TRUE(copy->complete);
  EXPECT_EQ(copy->threads, 1);
  EXPECT_EQ(copy->all_threads_s, 9e-6);
  EXPECT_FALSE(copy->plain_share);
  const TourFigure* missing = kept.results.find(machine.devices[0].device, TourQuestion::Bandwidth);
  ASSERT_NE(missing, nullptr);
  EXPECT_TRUE(missing->missing.ends_with("xx\nno room")) << missing->missing;
}

// A figure that an ended tour took over keeps its own date.
TEST(TourFile, BringsDatesAndUnsteadySharesBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "tour.json";
  const MachineInfo machine = test::machine_of_two();
  ui::TourResults tour;
  tour.measured = 1'700'000'000;
  for (const DeviceInfo& info : machine.devices) {
    TourFigure peak{.device = info.device, .value = 1e9, .median = 1e9, .low = 1e9, .high = 1e9};
    peak.n = 7;
    peak.complete = true;
    peak.best_share = 0.5;
    peak.share_unsteady = info.device == machine.devices[0].device;
    tour.add(peak);
  }
  const Device older = machine.devices[1].device;
  tour.older.push_back({older, TourQuestion::Peak, 1'600'000'000});
  write_tour(file, tour, machine);
  const ui::TourResults kept = read_tour(file, machine).results;
  ASSERT_EQ(kept.figures.size(), 2U);
  EXPECT_TRUE(kept.figures[0].share_unsteady);
  EXPECT_FALSE(kept.figures[1].share_unsteady);
  EXPECT_EQ(kept.older_date(kept.figures[0]), 0);
  EXPECT_EQ(kept.older_date(kept.figures[1]), 1'600'000'000);
}

TEST(TourFile, LeavesOutDevicesThatAreNotAsTheyWere) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "tour.json";
  MachineInfo machine = test::machine_of_two();
  write_tour(file, sample_tour(machine), machine);
  machine.devices[0].threads = 8;
  EXPECT_EQ(read_tour(file, machine).results.figures.size(), 1U);
  machine.devices[1].name = "Another Processor";
  EXPECT_TRUE(read_tour(file, machine).results.empty());
  machine.devices.clear();
  const StoredTour none = read_tour(file, machine);
  EXPECT_TRUE(none.results.empty());
  EXPECT_EQ(none.problem, "");
}

TEST(TourFile, SurvivesDamage) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "tour.json";
  const MachineInfo machine = test::machine_of_two();
  const std::string entry =
      R"({"format":1,"measured":1,"others_share":0,"figures":[{"device":"cpu:0",)"
      R"("name":"A Processor","device_threads":4,)";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("\xff"),
        std::string(R"({"format":2,"measured":1,"others_share":0,"figures":[]})"),
        std::string(R"({"format":1,"measured":-5,"others_share":0,"figures":[]})"),
        std::string(R"({"format":1,"measured":1,"others_share":0,"figures":[7]})"),
        entry + R"("question":"size"}]})", entry + R"("question":"peak","value":-1}]})"}) {
    files::write_file(file, std::string_view(text));
    const StoredTour kept = read_tour(file, machine);
    EXPECT_TRUE(kept.results.empty()) << text;
    EXPECT_NE(kept.problem, "") << text;
  }
  files::write_file(file, std::string(std::size_t{2} << 20, ' '));
  EXPECT_NE(read_tour(file, machine).problem.find("larger than any tour"), std::string::npos);
}

}  // namespace
}  // namespace lab::app
