#include "compute/core/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <utility>

#include "compute/core/error.h"
#include "tests/support/errors.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_dir.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

std::pair<Errc, std::string> failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {Errc::Internal, "no error"};
}

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

mode_t mode_of(const fs::path& file) {
  struct stat status {};
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(WriteFile, ReplacesWithoutLeftovers) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.csv";
  write_file(file, "old");
  check_writable(file);
  EXPECT_EQ(read_text_file(file), "old");
  write_file(file, std::string("n\0w", 3));
  EXPECT_EQ(read_text_file(file), std::string("n\0w", 3));
  write_file(file, "");
  EXPECT_EQ(read_text_file(file), "");
  EXPECT_EQ(files_in(dir.path()), 1);
}

TEST(WriteFile, FailureKeepsOldContent) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.bin";
  write_file(file, "old");
  const test::FileSizeLimit limit(4096);
  const auto [code, message] = failure([&] { write_file(file, std::vector<std::byte>(1 << 16)); });
  EXPECT_EQ(code, Errc::Io);
  EXPECT_EQ(message, "cannot write " + file.string() + ": File too large: choose another path");
  EXPECT_EQ(read_text_file(file), "old");
  EXPECT_EQ(files_in(dir.path()), 1);
}

TEST(WriteFile, PreservesPipes) {
  const test::TempDir dir;
  const fs::path pipe = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  check_writable(pipe);
  auto reader = std::async(std::launch::async, [&] {
    std::ifstream stream(pipe);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  });
  write_file(pipe, "through the pipe");
  EXPECT_EQ(reader.get(), "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(files_in(dir.path()), 1);
}

TEST(WriteFile, PreservesSymlinks) {
  const test::TempDir dir;
  const fs::path target = dir.path() / "deep" / "a.csv";
  const fs::path link = dir.path() / "link.csv";
  fs::create_directory(target.parent_path());
  fs::create_symlink("deep/a.csv", link);
  for (const char* text : {"the target is made", "the target is replaced"}) {
    write_file(link, text);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_text_file(target), text);
  }
  const fs::path loop = dir.path() / "loop";
  fs::create_symlink("loop", loop);
  EXPECT_EQ(failure([&] { write_file(loop, "x"); }).first, Errc::Io);
}

TEST(WriteFile, KeepsModeAndRespectsUmask) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.csv";
  const mode_t before = ::umask(0027);
  write_file(file, "new");
  EXPECT_EQ(mode_of(file), 0640U);
  ::chmod(file.c_str(), 0604);
  write_file(file, "again");
  ::umask(before);
  EXPECT_EQ(mode_of(file), 0604U);
}

TEST(WriteFile, ErrorNamesPathReasonAndFix) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "no" / "a.csv";
  const std::string sentence = "cannot write " + file.string() +
                               ": No such file or directory: create the folder first or choose "
                               "another path";
  EXPECT_EQ(failure([&] { write_file(file, "x"); }), std::pair(Errc::Io, sentence));
  EXPECT_EQ(failure([&] { check_writable(file); }), std::pair(Errc::Io, sentence));
  const auto folder = failure([&] { check_writable(dir.path()); });
  EXPECT_NE(folder.second.find("Is a directory"), std::string::npos) << folder.second;
}

TEST(WriteFile, RejectsReadOnlyFiles) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.csv";
  write_file(file, "kept");
  ::chmod(file.c_str(), 0444);
  EXPECT_EQ(failure([&] { write_file(file, "x"); }).first, Errc::Io);
  EXPECT_EQ(read_text_file(file), "kept");
}

TEST(ReadFile, ReadsFilesLongerThanOneBlock) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "a.bin";
  for (const std::size_t size : {1U, 4095U, 4096U, 4097U, 100'000U}) {
    std::string text(size, 'a');
    text.back() = 'z';
    write_file(file, text);
    EXPECT_EQ(read_text_file(file), text);
  }
  EXPECT_FALSE(read_file("/proc/self/stat").empty());  // its size is reported as 0
}

TEST(ReadFile, ReportsMissingFiles) {
  EXPECT_EQ(failure([] { read_file("/nowhere/a.csv"); }),
            std::pair(Errc::NotFound,
                      std::string("cannot read /nowhere/a.csv: No such file or directory: check "
                                  "the path")));
}

// The pipe has no writer, so opening it for reading would block.
TEST(ReadFile, RejectsNonRegularFiles) {
  const test::TempDir dir;
  const fs::path pipe = dir.path() / "pipe";
  const fs::path link = dir.path() / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  for (const auto& [path, kind] :
       {std::pair(dir.path(), "a folder"), std::pair(pipe, "a pipe"), std::pair(link, "a pipe"),
        std::pair(fs::path("/dev/zero"), "a device")}) {
    const std::string sentence = "cannot read " + path.string() + ": it is " + kind +
                                 ", not a regular file: choose another path";
    EXPECT_EQ(failure([&file = path] { read_file(file); }), std::pair(Errc::Io, sentence));
    EXPECT_EQ(failure([&file = path] { require_regular(file); }), std::pair(Errc::Io, sentence));
  }
  require_regular(dir.path() / "nothing");
}

TEST(PartFolder, AppearsWhenRenamed) {
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
  EXPECT_EQ(files_in(dir.path()), 1);
}

TEST(PartFolder, LeavesNothingWhenAbandoned) {
  const test::TempDir dir;
  {
    const PartFolder part(dir.path() / "whole");
    write_file(part.path() / "a", "first");
  }
  EXPECT_EQ(files_in(dir.path()), 0);
}

TEST(PartFolder, ReplacesAnExistingFolder) {
  const test::TempDir dir;
  const fs::path target = dir.path() / "whole";
  for (const char* name : {"old", "new"}) {
    PartFolder part(target);
    write_file(part.path() / name, name);
    part.take_name();
  }
  EXPECT_FALSE(fs::exists(target / "old"));
  EXPECT_EQ(read_text_file(target / "new"), "new");
  EXPECT_EQ(files_in(dir.path()), 1);
}

TEST(PartFolder, ReportsWhyItCannotBeCreated) {
  const test::TempDir dir;
  const std::string missing = (dir.path() / "none" / "whole").string();
  EXPECT_EQ(test::message_of([&] { PartFolder part(missing); }, Errc::Io),
            "cannot write " + missing +
                ": No such file or directory: create the folder first or choose another path");
  const fs::path file = dir.path() / "file";
  write_file(file, "kept");
  PartFolder part(file);
  test::message_of([&] { part.take_name(); }, Errc::Io);
  EXPECT_EQ(read_text_file(file), "kept");
}

TEST(MakeFolder, CreatesParentsAndRejectsFiles) {
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

TEST(MakeFolder, RejectsReadOnlyParents) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const test::TempDir dir;
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  test::message_of([&] { make_folder(dir.path() / "a"); }, Errc::Io);
  test::message_of([&] { PartFolder part(dir.path() / "a"); }, Errc::Io);
  fs::permissions(dir.path(), fs::perms::owner_all);
}

TEST(RemoveFolder, RemovesRecursivelyAndAcceptsMissing) {
  const test::TempDir dir;
  make_folder(dir.path() / "a" / "b");
  remove_folder(dir.path() / "a");
  remove_folder(dir.path() / "a");
  EXPECT_EQ(files_in(dir.path()), 0);
}

TEST(PartTarget, MatchesOnlyPartNames) {
  EXPECT_EQ(part_target("x/step-00000010.123-0.part"), "step-00000010");
  for (const char* name :
       {"step-00000010", "a.part", ".part", "a..part", "a.b.part", "a.1.parts"}) {
    EXPECT_EQ(part_target(name), "") << name;
  }
}

}  // namespace
}  // namespace lab::files
