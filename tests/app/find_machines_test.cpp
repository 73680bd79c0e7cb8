#include "app/window/reference/find_machines.h"

#include <gtest/gtest.h>

#include "compute/core/files/whole_file.h"
#include "tests/support/reference_document.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStepTime =
    R"({"device":"d","model":"lenet","batch":64,"step_s":0.25,"source":"me"})";

void write_machine(const fs::path& file, const std::string& name) {
  auto json = test::machine_document();
  json["name"] = name;
  files::write_file(file, json.dump());
}

TEST(FindMachines, ReadsEveryFolderInOrderAndTheFirstOfANameCounts) {
  const test::TempDir own, shared;
  write_machine(own.path() / "b.json", "mine");
  write_machine(own.path() / "a.json", "other");
  write_machine(shared.path() / "b.json", "shadowed");
  write_machine(shared.path() / "c.json", "shared");
  files::write_file(shared.path() / "notes.txt", "not a reference");
  files::write_file(shared.path() / "step.json", kStepTime);
  const FoundMachines found = find_machines({}, {own.path(), "/nowhere", shared.path()});
  std::vector<std::string> names;
  for (const ReferenceMachine& m : found.machines) names.push_back(m.name);
  EXPECT_EQ(names, (std::vector<std::string>{"other", "mine", "shared"}));
  EXPECT_TRUE(found.complaints.empty());
}

TEST(FindMachines, TheChosenFileComesFirst) {
  const test::TempDir chosen, folder;
  write_machine(chosen.path() / "x.json", "chosen");
  write_machine(folder.path() / "x.json", "shadowed");
  const FoundMachines found = find_machines(chosen.path() / "x.json", {folder.path()});
  ASSERT_EQ(found.machines.size(), 1U);
  EXPECT_EQ(found.machines[0].name, "chosen");
  EXPECT_EQ(found.machines[0].key, "x.json");
}

TEST(FindMachines, ABareNameIsLookedForInTheFolders) {
  const test::TempDir folder;
  write_machine(folder.path() / "bare-name.json", "found");
  const FoundMachines found = find_machines("bare-name.json", {"/nowhere", folder.path()});
  EXPECT_TRUE(found.complaints.empty());
  ASSERT_EQ(found.machines.size(), 1U);
  EXPECT_EQ(found.machines[0].name, "found");
}

TEST(FindMachines, ComplainsOnceAboutEachBrokenFile) {
  const test::TempDir folder;
  files::write_file(folder.path() / "broken.json", "{");
  files::write_file(folder.path() / "foreign.json", R"({"name":"package","version":"1.0"})");
  fs::create_directory(folder.path() / "folder.json");
  write_machine(folder.path() / "good.json", "good");
  const FoundMachines found = find_machines(folder.path() / "none.json", {folder.path()});
  ASSERT_EQ(found.machines.size(), 1U);
  ASSERT_EQ(found.complaints.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const char* name[] = {"none.json", "broken.json", "folder.json", "foreign.json"};
    EXPECT_EQ(found.complaints[i].find("Reference left out: "), 0U) << found.complaints[i];
    EXPECT_NE(found.complaints[i].find(name[i]), std::string::npos) << found.complaints[i];
  }
}

TEST(FindMachines, AStepsTimeThatWasChosenIsExplained) {
  const test::TempDir folder;
  files::write_file(folder.path() / "step.json", kStepTime);
  const FoundMachines found = find_machines(folder.path() / "step.json", {folder.path()});
  EXPECT_TRUE(found.machines.empty());
  ASSERT_EQ(found.complaints.size(), 1U);
  EXPECT_NE(found.complaints[0].find("the Scaling page takes it"), std::string::npos);
}

}  // namespace
}  // namespace lab::app
