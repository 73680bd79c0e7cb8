#include "app/files/write_file.h"

#include <gtest/gtest.h>

#include "compute/types/error.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

std::string complaint(const fs::path& file) {
  try {
    write_file(file, "content", "export");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(WriteFile, ReplacesAndLeavesNothingBeside) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.csv";
  write_file(file, "old", "export");
  write_file(file, std::string("n\0w", 3), "export");
  EXPECT_EQ(read_file(file, "export"), std::string("n\0w", 3));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
}

TEST(WriteFile, NamesTheFileAndTheReason) {
  const std::string missing = complaint("/nonexistent/folder/a.csv");
  EXPECT_NE(missing.find("export: /nonexistent/folder/a.csv"), std::string::npos) << missing;
  EXPECT_NE(missing.find("No such file"), std::string::npos) << missing;
  const test::TempDir dir;
  EXPECT_NE(complaint(dir.path()).find("directory"), std::string::npos);
}

TEST(WriteFile, AFullDiskIsToldAndADeviceStaysADevice) {
  EXPECT_NE(complaint("/dev/full").find("No space left"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(ReadFile, NamesWhatIsMissing) {
  EXPECT_THROW(read_file("/nonexistent/file", "script"), Error);
  const test::TempDir dir;
  EXPECT_THROW(read_file(dir.path(), "script"), Error);
}

}  // namespace
}  // namespace lab::app
