#include "compute/core/files/places.h"

#include <gtest/gtest.h>

#include "compute/core/files/whole_file.h"
#include "tests/support/temp_dir.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

TEST(Places, SearchesThreeAssetFolders) {
  const std::vector<fs::path> folders = asset_folders("reference");
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0], user_data_folder() / "reference");
  EXPECT_EQ(folders[1].filename(), "reference");
  EXPECT_EQ(folders[1].parent_path().filename(), "device-lab");
  EXPECT_EQ(folders[2].parent_path().filename(), "assets");
}

TEST(Places, ResolvesBareNames) {
  const test::TempDir first, second;
  write_file(first.path() / "a.json", "1");
  write_file(second.path() / "a.json", "2");
  write_file(second.path() / "b.json", "2");
  const std::vector<fs::path> folders = {"/nowhere", first.path(), second.path()};
  EXPECT_EQ(find_asset("a.json", folders), first.path() / "a.json");
  EXPECT_EQ(find_asset("b.json", folders), second.path() / "b.json");
  EXPECT_EQ(find_asset("none.json", folders), "none.json");
  EXPECT_EQ(find_asset("folder/a.json", folders), "folder/a.json");
  const fs::path whole = second.path() / "a.json";
  EXPECT_EQ(find_asset(whole, folders), whole);
}

}  // namespace
}  // namespace lab::files
