// Choosing a file to save, and the notice of a saved file.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

struct Saving : ::testing::Test {
  Saving() { lab.open(Page::Log); }
  // Asks for a place as a plot's menu does.
  void ask() {
    lab.out.emplace_back(SaveText{(dir.path() / "plot.csv").string(), "x,y"});
    lab.frames(3);
  }
  TempDir dir;
  Lab lab{make_scene(Page::Log, Scene::Done)};
};

TEST_F(Saving, NothingIsWrittenBeforeTheUserAgrees) {
  ask();
  EXPECT_TRUE(lab.sent<SaveText>().empty());
  EXPECT_EQ(lab.backend.find("save/file")->value, (dir.path() / "plot.csv").string());
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  EXPECT_EQ(lab.sent<SaveText>()[0].file, (dir.path() / "plot.csv").string());
  EXPECT_FALSE(lab.visible("save/file"));
}

TEST_F(Saving, CancelAndEscapeDropTheFile) {
  ask();
  lab.click("save/no");
  EXPECT_FALSE(lab.visible("save/file"));
  ask();
  lab.press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(lab.visible("save/file"));
  EXPECT_TRUE(lab.sent<SaveText>().empty());
}

TEST_F(Saving, AnExistingFileIsReplacedOnlyKnowingly) {
  std::ofstream(dir.path() / "plot.csv") << "old";
  ask();
  EXPECT_TRUE(lab.visible("save/exists"));
  EXPECT_EQ(lab.backend.find("save/yes")->label, "Replace");
}

TEST_F(Saving, AFolderIsNoFile) {
  ask();
  std::get<SaveText>(*lab.view.save).file = dir.path().string();
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("save/yes")->enabled);
}

TEST_F(Saving, TheFolderIsRemembered) {
  ask();
  lab.click("save/yes");
  lab.out.clear();
  lab.out.emplace_back(SavePlotPng{"page/plot", "/elsewhere/other.png"});
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("save/file")->value, (dir.path() / "other.png").string());
  ui::ViewState later;
  load_view(later, save_view(lab.view));
  EXPECT_EQ(later.save_folder, dir.path().string());
}

TEST_F(Saving, ANoticeOffersTheFolderForAWhile) {
  EXPECT_FALSE(lab.visible("saved/text"));
  lab.model.file_saved("/somewhere/plot.png");
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("saved/text")->label, "Saved plot.png");
  lab.click("saved/open");
  ASSERT_EQ(lab.sent<OpenFolderOf>().size(), 1U);
  EXPECT_EQ(lab.sent<OpenFolderOf>()[0].file, "/somewhere/plot.png");
  lab.click("saved/close");
  EXPECT_FALSE(lab.visible("saved/text"));
  lab.model.file_saved("/somewhere/other.png");
  lab.frames(2);
  EXPECT_TRUE(lab.visible("saved/text"));
  lab.backend.move_to({5, 5});
  lab.backend.ui.time_s += 60;
  lab.frames(2);
  EXPECT_FALSE(lab.visible("saved/text"));
  EXPECT_EQ(lab.model.log().back().text, "saved /somewhere/other.png");
}

}  // namespace
}  // namespace lab::test
