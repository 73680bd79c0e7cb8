#include "app/window/open_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/variable.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

TEST(OpenFolder, CallsTheDesktopsOpener) {
  const test::TempDir dir;
  const fs::path opener = dir.path() / "xdg-open", seen = dir.path() / "seen";
  std::ofstream(opener) << "#!/bin/sh\nprintf %s \"$1\" > " << seen << ".part\nmv " << seen
                        << ".part " << seen << "\n";
  fs::permissions(opener, fs::perms::owner_all);
  const std::string folders = dir.path().string() + ":/usr/bin:/bin";
  const test::Variable path("PATH", folders.c_str());
  open_folder_of(dir.path() / "plot.png");
  for (int i = 0; i < 600 && !fs::exists(seen); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(files::read_text_file(seen), dir.path().string());
}

TEST(OpenFolder, NamesTheFolderIfThereIsNoOpener) {
  const test::TempDir dir;
  const test::Variable path("PATH", dir.path().c_str());
  const std::string why =
      test::message_of([&] { open_folder_of(dir.path() / "plot.png"); }, Errc::Unsupported);
  EXPECT_NE(why.find("xdg-open is not installed"), std::string::npos) << why;
  EXPECT_NE(why.find(dir.path().string()), std::string::npos) << why;
}

}  // namespace
}  // namespace lab::app
