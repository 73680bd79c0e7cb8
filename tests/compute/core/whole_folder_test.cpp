#include "compute/core/files/whole_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "compute/core/files/whole_file.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t entries_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(PartFolder, IsThereOnceItTakesItsName) {
  const test::TempDir dir;
  const fs::path target = dir.path() / "whole";
  {
    PartFolder part(target);
    write_file(part.path() / "a", "first");
    EXPECT_FALSE(fs::exists(target));
    EXPECT_EQ(part_target(part.path()), "whole");
    part.take_name();
  }
  EXPECT_EQ(read_text_file(target / "a"), "first");
  EXPECT_EQ(entries_in(dir.path()), 1);
}

TEST(PartFolder, LeavesNothingWhenItIsGivenUp) {
  const test::TempDir dir;
  {
    const PartFolder part(dir.path() / "whole");
    write_file(part.path() / "a", "first");
  }
  EXPECT_EQ(entries_in(dir.path()), 0);
}

TEST(PartFolder, TakesThePlaceOfAnOlderOne) {
  const test::TempDir dir;
  const fs::path target = dir.path() / "whole";
  for (const char* name : {"old", "new"}) {
    PartFolder part(target);
    write_file(part.path() / name, name);
    part.take_name();
  }
  EXPECT_FALSE(fs::exists(target / "old"));
  EXPECT_EQ(read_text_file(target / "new"), "new");
  EXPECT_EQ(entries_in(dir.path()), 1);
}

TEST(PartFolder, SaysWhyItCannotBe) {
  const test::TempDir dir;
  const std::string missing = (dir.path() / "none" / "whole").string();
  EXPECT_EQ(test::message_of([&] { PartFolder part(missing); }, Errc::Io),
            "cannot write " + missing +
                ": No such file or directory: make the folder first or choose another path");
  const fs::path file = dir.path() / "file";
  write_file(file, "kept");
  PartFolder part(file);
  test::message_of([&] { part.take_name(); }, Errc::Io);
  EXPECT_EQ(read_text_file(file), "kept");
}

TEST(MakeFolder, MakesAllAboveAndRefusesFiles) {
  const test::TempDir dir;
  make_folder(dir.path() / "a" / "b");
  make_folder(dir.path() / "a" / "b");
  EXPECT_TRUE(fs::is_directory(dir.path() / "a" / "b"));
  const fs::path file = dir.path() / "file";
  write_file(file, "kept");
  for (const fs::path& path : {file, file / "below"}) {
    EXPECT_EQ(test::message_of([&] { make_folder(path); }, Errc::Io),
              "cannot write " + path.string() + ": Not a directory: choose another path");
  }
}

TEST(MakeFolder, AFolderThatIsNotToBeWrittenIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const test::TempDir dir;
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  test::message_of([&] { make_folder(dir.path() / "a"); }, Errc::Io);
  test::message_of([&] { PartFolder part(dir.path() / "a"); }, Errc::Io);
  fs::permissions(dir.path(), fs::perms::owner_all);
}

TEST(RemoveFolder, RemovesAllAndIsQuietAboutNothing) {
  const test::TempDir dir;
  make_folder(dir.path() / "a" / "b");
  remove_folder(dir.path() / "a");
  remove_folder(dir.path() / "a");
  EXPECT_EQ(entries_in(dir.path()), 0);
}

TEST(PartTarget, KnowsItsOwnNamesOnly) {
  EXPECT_EQ(part_target("x/step-00000010.123-0.part"), "step-00000010");
  for (const char* name :
       {"step-00000010", "a.part", ".part", "a..part", "a.b.part", "a.1.parts"}) {
    EXPECT_EQ(part_target(name), "") << name;
  }
}

}  // namespace
}  // namespace lab::files
