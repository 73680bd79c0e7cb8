#include "app/window/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <utility>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

TEST(Settings, RoundTrip) {
  const test::TempDir dir;
  const auto file = dir.path() / "deep" / "settings.json";
  Settings settings;
  settings.window = {1000, 700};
  settings.view = {{"page", "matmul"}, {"training.batch", "64"}};
  save_settings(settings, file);
  const Settings loaded = load_settings(file);
  EXPECT_EQ(loaded.window.width, 1000);
  EXPECT_EQ(loaded.window.height, 700);
  EXPECT_EQ(loaded.view, settings.view);
}

TEST(Settings, MissingFileGivesDefaults) {
  const test::TempDir dir;
  EXPECT_TRUE(load_settings(dir.path() / "none.json").view.empty());
  EXPECT_TRUE(load_settings({}).view.empty());
}

TEST(Settings, WindowFitsIntoTheWorkArea) {
  const auto size = [](WindowSize wanted, WindowSize room) {
    const WindowSize fit = fitted(wanted, room);
    return std::pair{fit.width, fit.height};
  };
  EXPECT_EQ(size({1280, 800}, {1920, 1080}), (std::pair{1280, 800}));
  EXPECT_EQ(size({1280, 800}, {1280, 720}), (std::pair{1278, 684})) << "with its frame";
  EXPECT_EQ(size({1280, 800}, {0, 0}), (std::pair{1280, 800})) << "no monitor is known";
  EXPECT_EQ(size({1280, 800}, {320, 200}), (std::pair{kLeastWidth, kLeastHeight}));
}

TEST(Settings, NamesABrokenFile) {
  const test::TempDir dir;
  const auto file = dir.path() / "settings.json";
  for (const char* content : {"", "{", "[1]", "\xff\xfe"}) {
    files::write_file(file, content);
    try {
      load_settings(file);
      ADD_FAILURE() << content;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("settings.json"), std::string::npos);
    }
  }
}

// Opening a FIFO blocks until its other end is open, for reading and for writing.
TEST(Settings, RejectsAPipeAndKeepsIt) {
  const test::TempDir dir;
  const auto file = dir.path() / "settings.json";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THROW(load_settings(file), Error);
  EXPECT_THROW(save_settings({}, file), Error);
  EXPECT_TRUE(std::filesystem::is_fifo(file));
}

TEST(Settings, IgnoresValuesOfTheWrongType) {
  const test::TempDir dir;
  const auto file = dir.path() / "settings.json";
  files::write_file(
      file, R"({"window": {"width": "wide", "height": 99999999999}, "view": {"a": 1, "b": "c"}})");
  const Settings loaded = load_settings(file);
  EXPECT_EQ(loaded.window.width, WindowSize{}.width);
  EXPECT_EQ(loaded.window.height, 16384);
  EXPECT_EQ(loaded.view, (std::map<std::string, std::string>{{"b", "c"}}));
}

TEST(Settings, FollowsTheXdgFolders) {
  ::setenv("XDG_CONFIG_HOME", "/x/config", 1);
  EXPECT_EQ(settings_file(), "/x/config/device-lab/settings.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(settings_file(), "/home/someone/.config/device-lab/settings.json");
}

}  // namespace
}  // namespace lab::app
