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
  Saving() {
    lab.view.save_folder = dir.path().string();
    lab.open(Page::Matmul);
  }
  void ask(const std::string& what = "save-csv") {
    lab.click("matmul/plot/gflops", 1);
    lab.click("matmul/plot/gflops/menu/" + what);
    lab.frames(3);
  }
  std::string file(const char* name) const { return (dir.path() / name).string(); }

  TempDir dir;
  Lab lab{make_scene(Page::Matmul, Scene::Done)};
  const char* const csv = "matmul-plot-gflops.csv";
};

TEST_F(Saving, NothingIsWrittenBeforeTheUserAgrees) {
  ask();
  EXPECT_TRUE(lab.sent<SaveText>().empty());
  EXPECT_EQ(lab.backend.find("save/file")->value, file(csv));
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  EXPECT_EQ(lab.sent<SaveText>()[0].file, file(csv));
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
  std::ofstream(file(csv)) << "old";
  ask();
  EXPECT_TRUE(lab.visible("save/exists"));
  EXPECT_EQ(lab.backend.find("save/yes")->label, "Replace");
}

TEST_F(Saving, AFolderIsNoFile) {
  ask();
  std::get<SaveText>(lab.view.save->command).file = dir.path().string();
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("save/yes")->enabled);
}

TEST_F(Saving, AMissingFolderIsNamed) {
  ask();
  std::get<SaveText>(lab.view.save->command).file = file("missing/numbers.csv");
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("save/yes")->enabled);
  lab.backend.move_to(NullBackend::centre(*lab.backend.find("save/yes")));
  lab.frames(60);
  EXPECT_EQ(lab.backend.find("tooltip")->value, "There is no folder " + file("missing") + ".");
}

TEST_F(Saving, HelpWaitsUntilTheDialogIsClosed) {
  ask();
  lab.press(GLFW_KEY_F1);
  lab.frames(3);
  EXPECT_FALSE(lab.view.help_open);
  EXPECT_TRUE(lab.visible("save/file"));
}

TEST_F(Saving, TheFolderIsRemembered) {
  ask();
  std::filesystem::create_directory(dir.path() / "other");
  std::get<SaveText>(lab.view.save->command).file = file("other/numbers.csv");
  lab.frames(2);
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  ask("save-png");
  EXPECT_EQ(lab.backend.find("save/file")->value, file("other/matmul-plot-gflops.png"));
  lab.click("save/yes");
  EXPECT_EQ(lab.sent<SavePlotPng>()[0].plot, "matmul/plot/gflops");
  ui::ViewState later;
  load_view(later, save_view(lab.view));
  EXPECT_EQ(later.save_folder, file("other"));
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
