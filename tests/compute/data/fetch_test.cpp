#include "compute/data/fetch.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "compute/core/error.h"
#include "compute/data/fashion_mnist.h"
#include "tests/compute/data/http_server.h"
#include "tests/compute/data/idx_bytes.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

// Returns the directory of the real files; empty if there is none.
fs::path real_files() {
  const char* chosen = std::getenv("LAB_DATA_DIR");
  const fs::path dir = chosen != nullptr ? fs::path(chosen) : test::source_dir() / "../shared/data";
  for (const fs::path& place : {dir, dir / "fashion-mnist"}) {
    if (fs::exists(place / "train-images-idx3-ubyte.gz")) return fs::canonical(place);
  }
  return {};
}

std::pair<Errc, std::string> failure(const fs::path& dir, const std::string& url) {
  try {
    fetch_fashion_mnist(dir, url, {});
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Errc::Internal, "no exception was thrown"};
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Fetch, DownloadsResumesRepairsAndVerifies) {
  const fs::path source = real_files();
  if (source.empty()) GTEST_SKIP() << "no Fashion-MNIST; set LAB_DATA_DIR";
  const test::TempDir dir;
  const fs::path target = dir.path() / "made" / "here";
  // One file is corrupt, one has a valid partial download, and one has an invalid one.
  fs::create_directories(target);
  std::ofstream(target / "t10k-labels-idx1-ubyte.gz") << "broken";
  const std::string images = content_of(source / "t10k-images-idx3-ubyte.gz");
  std::ofstream(target / "t10k-images-idx3-ubyte.gz.part", std::ios::binary)
      << images.substr(0, images.size() / 3);
  std::ofstream(target / "train-labels-idx1-ubyte.gz.part") << "nonsense";
  EXPECT_FALSE(verify_fashion_mnist(target).all_ok);

  std::vector<std::string> files;
  fetch_fashion_mnist(target, "file://" + source.string(), [&](const FetchProgress& p) {
    if (files.empty() || files.back() != p.file) files.push_back(p.file);
    EXPECT_TRUE(p.total_bytes == 0 || p.bytes <= p.total_bytes) << p.file;
  });
  EXPECT_EQ(files.size(), 4U);
  const VerifyReport report = verify_fashion_mnist(target);
  EXPECT_TRUE(report.all_ok);
  EXPECT_EQ(content_of(target / "t10k-images-idx3-ubyte.gz"), images);
  for (const auto& entry : fs::directory_iterator(target)) {
    EXPECT_EQ(entry.path().extension(), ".gz") << "left behind: " << entry.path();
  }
  // Valid files are not fetched again.
  EXPECT_NO_THROW(fetch_fashion_mnist(target, "file:///nonexistent", {}));
}

TEST(Fetch, DiscardsUnexpectedFiles) {
  const test::TempDir dir;
  test::HttpServer server;
  const test::Bytes packed = test::gzip(test::idx_images(3));
  server.put("/train-images-idx3-ubyte.gz",
             {.body = std::string(packed.begin(), packed.end()), .location = {}});
  const auto [code, text] = failure(dir.path(), server.url());
  EXPECT_EQ(code, Errc::Corrupt);
  EXPECT_NE(text.find("is not Fashion-MNIST's train-images-idx3-ubyte"), std::string::npos) << text;
  EXPECT_NE(text.find("holds 2368 bytes, not 47040016"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(dir.path() / "train-images-idx3-ubyte.gz"));
}

TEST(Fetch, ReportsUncreatableDirectory) {
  const test::TempDir dir;
  std::ofstream(dir.path() / "file") << "x";
  const auto [code, text] = failure(dir.path() / "file" / "below", "file:///nonexistent");
  EXPECT_EQ(code, Errc::Io);
  EXPECT_NE(text.find("cannot be created: Not a directory; choose another directory with --dir"),
            std::string::npos)
      << text;
}

TEST(Fetch, ReportsFileMissingOnServer) {
  const test::TempDir dir;
  const test::HttpServer server;
  const auto [code, text] = failure(dir.path(), server.url("/base"));
  EXPECT_EQ(code, Errc::Network);
  EXPECT_NE(text.find("/base/train-images-idx3-ubyte.gz: the server returned 404"),
            std::string::npos)
      << text;
}

TEST(Verify, ReportsTheStateOfEachFile) {
  const test::TempDir dir;
  test::write_bytes(dir.path() / "train-labels-idx1-ubyte", test::idx_labels(60000));
  test::write_bytes(dir.path() / "t10k-labels-idx1-ubyte.gz", test::gzip(test::idx_labels(10001)));
  const VerifyReport report = verify_fashion_mnist(dir.path());
  EXPECT_FALSE(report.all_ok);
  ASSERT_EQ(report.files.size(), 4U);
  EXPECT_EQ(report.files[0].second, "missing; run `device-lab data fetch`");
  EXPECT_EQ(report.files[1].second.find("wrong: its content has sha256 "), 0U);
  EXPECT_EQ(report.files[3].second, "wrong: it holds at least 10009 bytes, not 10008");
}

}  // namespace
}  // namespace lab
