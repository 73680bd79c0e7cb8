#include "app/window/open_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

// NOLINTBEGIN(concurrency-mt-unsafe): no other thread runs
std::string path_now() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "";
}

// Replaces PATH for its lifetime.
class PathIs {
 public:
  explicit PathIs(const std::string& path) : before_(path_now()) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~PathIs() { ::setenv("PATH", before_.c_str(), 1); }
  PathIs(const PathIs&) = delete;
  PathIs& operator=(const PathIs&) = delete;

 private:
  std::string before_;
};
// NOLINTEND(concurrency-mt-unsafe)

TEST(OpenFolder, CallsTheDesktopsOpener) {
  const test::TempDir dir;
  const fs::path opener = dir.path() / "xdg-open", seen = dir.path() / "seen";
  std::ofstream(opener) << "#!/bin/sh\nprintf %s \"$1\" > " << seen << ".part\nmv " << seen
                        << ".part " << seen << "\n";
  fs::permissions(opener, fs::perms::owner_all);
  const PathIs path(dir.path().string() + ":" + path_now());
  open_folder_of(dir.path() / "plot.png");
  for (int i = 0; i < 600 && !fs::exists(seen); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(files::read_text_file(seen), dir.path().string());
}

TEST(OpenFolder, NamesTheFolderIfThereIsNoOpener) {
  const test::TempDir dir;
  const PathIs path(dir.path().string());
  const std::string why =
      test::message_of([&] { open_folder_of(dir.path() / "plot.png"); }, Errc::Unsupported);
  EXPECT_NE(why.find("xdg-open is not installed"), std::string::npos) << why;
  EXPECT_NE(why.find(dir.path().string()), std::string::npos) << why;
}

}  // namespace
}  // namespace lab::app
