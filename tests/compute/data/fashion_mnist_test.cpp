#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/data/fashion_mnist.h"
#include "compute/data/fetch.h"
#include "tests/compute/data/idx_bytes.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_dir.h"
#include "tests/support/variable.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

void write_small_set(const fs::path& dir, bool packed) {
  const auto write = [&](const char* name, const test::Bytes& bytes) {
    test::write_bytes(dir / (std::string(name) + (packed ? ".gz" : "")),
                      packed ? test::gzip(bytes) : bytes);
  };
  write(kFashionFiles[0].name, test::idx_images(6));
  write(kFashionFiles[1].name, test::idx_labels(6));
  write(kFashionFiles[2].name, test::idx_images(3));
  write(kFashionFiles[3].name, test::idx_labels(3));
}

std::pair<Errc, std::string> load_error(const fs::path& dir) {
  try {
    load_fashion_mnist(dir);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Errc::Internal, "no exception was thrown"};
}

TEST(FashionMnist, LoadsPackedAndPlainFiles) {
  for (const bool packed : {true, false}) {
    const test::TempDir dir;
    write_small_set(dir.path(), packed);
    const Dataset data = load_fashion_mnist(dir.path());
    EXPECT_EQ(data.name, "Fashion-MNIST");
    EXPECT_FALSE(data.synthetic);
    EXPECT_EQ(data.class_names.size(), 10U);
    EXPECT_EQ(data.train.count, 6);
    EXPECT_EQ(data.train.pixels.size(), 6U * 784);
    EXPECT_EQ(data.train.labels[5], 5);
    EXPECT_EQ(data.test.count, 3);
  }
}

TEST(FashionMnist, FindsTheDatasetInASubdirectory) {
  const test::TempDir dir;
  fs::create_directory(dir.path() / "fashion-mnist");
  write_small_set(dir.path() / "fashion-mnist", true);
  EXPECT_EQ(load_fashion_mnist(dir.path()).train.count, 6);
}

TEST(FashionMnist, ReportsSearchedFoldersAndFix) {
  const test::TempDir dir;
  auto [code, text] = load_error(dir.path());
  EXPECT_EQ(code, Errc::NotFound);
  EXPECT_NE(text.find(dir.path().string()), std::string::npos) << text;
  EXPECT_NE(text.find("device-lab data fetch"), std::string::npos) << text;
  EXPECT_NE(text.find("--data synthetic"), std::string::npos) << text;
  write_small_set(dir.path(), true);
  fs::remove(dir.path() / "t10k-labels-idx1-ubyte.gz");
  std::tie(code, text) = load_error(dir.path());
  EXPECT_EQ(code, Errc::NotFound);
  EXPECT_NE(text.find("(without t10k-labels-idx1-ubyte)"), std::string::npos) << text;
}

TEST(FashionMnist, NamesTheInvalidFile) {
  const test::TempDir dir;
  write_small_set(dir.path(), false);
  const fs::path images = dir.path() / kFashionFiles[0].name;
  const fs::path labels = dir.path() / kFashionFiles[1].name;

  test::write_bytes(labels, test::idx_labels(5));
  auto [code, text] = load_error(dir.path());
  EXPECT_EQ(code, Errc::Corrupt);
  EXPECT_EQ(text, images.string() + " holds 6 images but " + labels.string() + " holds 5 labels");

  test::write_bytes(labels, test::idx_images(6));
  EXPECT_EQ(load_error(dir.path()).second.find(labels.string() + " is mislabelled"), 0U);

  test::write_bytes(images, test::idx_images(6, 32));
  test::write_bytes(labels, test::idx_labels(6));
  EXPECT_EQ(load_error(dir.path()).second,
            images.string() + " holds images of 32x32; Fashion-MNIST has 28x28");

  fs::remove(images);
  fs::create_directory(images);
  EXPECT_EQ(load_error(dir.path()), std::pair(Errc::Io, "cannot read " + images.string() +
                                                            ": it is a folder, not a regular "
                                                            "file: choose another path"));
}

TEST(DataDirs, FollowXdgConventions) {
  const test::Variable data("LAB_DATA_DIR", nullptr);
  const test::Variable home("HOME", "/home/somebody");
  {
    const test::Variable xdg("XDG_DATA_HOME", "/data");
    EXPECT_EQ(default_data_dir(), "/data/device-lab/fashion-mnist");
  }
  for (const char* ignored : {"", "relative/path"}) {
    const test::Variable xdg("XDG_DATA_HOME", ignored);
    EXPECT_EQ(default_data_dir(), "/home/somebody/.local/share/device-lab/fashion-mnist");
  }
}

TEST(DataDirs, StartWithTheChosenFolder) {
  const test::Variable data("LAB_DATA_DIR", "/chosen");
  const test::Variable xdg("XDG_DATA_HOME", "/data");
  const std::vector<fs::path> want = {"/chosen", "/chosen/fashion-mnist",
                                      "/data/device-lab/fashion-mnist",
                                      "../shared/data/fashion-mnist"};
  EXPECT_EQ(data_dirs(), want);
}

// Mean and standard deviation of the published training pixels / 255.
TEST(RealFashionMnist, HasThePublishedMean) {
  const char* chosen = std::getenv("LAB_DATA_DIR");
  const fs::path dir = chosen != nullptr ? fs::path(chosen) : test::source_dir() / "../shared/data";
  if (!fs::exists(dir / "fashion-mnist") && !find_data_file(dir, kFashionFiles[0].name)) {
    GTEST_SKIP() << "no Fashion-MNIST in " << dir << "; set LAB_DATA_DIR";
  }
  const Dataset data = load_fashion_mnist(dir);
  ASSERT_EQ(data.train.count, 60000);
  ASSERT_EQ(data.test.count, 10000);
  const double sum = std::accumulate(data.train.pixels.begin(), data.train.pixels.end(), 0.0);
  const double mean = sum / 255 / static_cast<double>(data.train.pixels.size());
  EXPECT_NEAR(mean, 0.28604, 0.00001);
  const fs::path files = find_data_file(dir, kFashionFiles[0].name) ? dir : dir / "fashion-mnist";
  const VerifyReport report = verify_fashion_mnist(files);
  for (const auto& [file, state] : report.files) EXPECT_EQ(state, "ok") << file;
  EXPECT_TRUE(report.all_ok);
}

}  // namespace
}  // namespace lab
