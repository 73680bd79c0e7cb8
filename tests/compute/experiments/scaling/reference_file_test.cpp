#include "compute/experiments/scaling/reference_file.h"

#include <gtest/gtest.h>

#include <string>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "tests/support/errors.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"

namespace lab {
namespace {

const std::filesystem::path kAssets = test::source_dir() / "assets/reference";

class ReferenceFile : public ::testing::Test {
 protected:
  ReferenceTime read(const std::string& text) {
    files::write_file(file_, text);
    return read_reference(file_);
  }
  // Returns the error message for a file with this text. It must begin with the file's name.
  std::string problem(const std::string& text) {
    std::string message = test::message_of([&] { read(text); }, Errc::Corrupt);
    EXPECT_EQ(message.rfind(file_.string() + ": ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }

  const test::TempDir dir_;
  const std::filesystem::path file_ = dir_.path() / "reference.json";
};

using test::contains;

TEST_F(ReferenceFile, ReadsTheChaptersReference) {
  const ReferenceTime r = read_reference(kAssets / "d2l-resnet18-1gpu.json");
  EXPECT_EQ(r.model, "resnet18");
  EXPECT_EQ(r.batch, 256);
  EXPECT_NEAR(r.step_s, 12.2 * 256 / 60000, 1e-12);
  EXPECT_TRUE(contains(r.source, "Dive into Deep Learning"));
}

TEST_F(ReferenceFile, EveryAssetIsValid) {
  for (const auto& entry : std::filesystem::directory_iterator(kAssets)) {
    SCOPED_TRACE(entry.path());
    const std::string text = files::read_text_file(entry.path());
    if (contains(text, R"("type": "machine")")) continue;  // belongs to app/reference
    EXPECT_GT(read_reference(entry.path()).step_s, 0);
  }
}

TEST_F(ReferenceFile, AcceptsATimePerStep) {
  const ReferenceTime r =
      read(R"({"device":"d","model":"lenet","batch":64,"step_s":0.25,"source":"me","more":[1]})");
  EXPECT_EQ(r.step_s, 0.25);
  EXPECT_EQ(r.batch, 64);
}

TEST_F(ReferenceFile, ErrorsNameFileAndField) {
  EXPECT_TRUE(contains(problem("no json"), "JSON object"));
  EXPECT_TRUE(contains(problem("[1, 2]"), "JSON object"));
  EXPECT_TRUE(contains(problem(R"({"model":"lenet"})"), "\"device\" is missing"));
  EXPECT_TRUE(contains(problem(R"({"device":"d","model":"vgg"})"), "\"vgg\"; it must be one of"));
  EXPECT_TRUE(contains(problem(R"({"device":"d","model":"mlp","source":""})"), "\"source\" is"));
  const std::string head = R"({"device":"d","model":"mlp","source":"s",)";
  EXPECT_TRUE(contains(problem(head + R"("batch":0.5,"step_s":1})"), "\"batch\" is 0.5"));
  EXPECT_TRUE(contains(problem(head + R"("batch":-4,"step_s":1})"), "\"batch\" is -4"));
  EXPECT_TRUE(contains(problem(head + R"("batch":4,"step_s":"1"})"), "\"step_s\" is \"1\""));
  EXPECT_TRUE(contains(problem(head + R"("batch":4,"step_s":0})"), "\"step_s\" is 0"));
  EXPECT_TRUE(contains(problem(head + R"("batch":4})"), "either \"step_s\" or \"epoch_s\""));
  EXPECT_TRUE(contains(problem(head + R"("batch":4,"step_s":1,"epoch_s":1})"), "either"));
  EXPECT_TRUE(contains(problem(head + R"("batch":4,"epoch_s":1})"), "\"images\" is missing"));
}

TEST_F(ReferenceFile, NamesAMissingFile) {
  const std::string message =
      test::message_of([&] { read_reference(dir_.path() / "none.json"); }, Errc::NotFound);
  EXPECT_TRUE(contains(message, "none.json")) << message;
}

}  // namespace
}  // namespace lab
