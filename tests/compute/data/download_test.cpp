#include "compute/data/download.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "compute/core/error.h"
#include "compute/data/sha256.h"
#include "tests/compute/data/http_server.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

namespace fs = std::filesystem;
using test::HttpServer;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
  return bytes;
}

class Download : public ::testing::Test {
 protected:
  // Returns the code and message of the error.
  std::pair<Errc, std::string> failure(const std::string& url) {
    try {
      get(url);
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {Errc::Internal, "no exception was thrown"};
  }
  void get(const std::string& url) {
    PartFile part(path);
    download(url, part, options, progress);
  }

  test::TempDir dir;
  fs::path path = dir.path() / "file.part";
  DownloadOptions options{.max_bytes = 1 << 20};
  std::function<void(std::int64_t, std::int64_t)> progress;
  HttpServer server;
  std::string body = some_bytes(100'000);
};

TEST_F(Download, DownloadsAFile) {
  server.put("/f", {.body = body, .location = {}});
  std::int64_t last = 0, total = 0;
  progress = [&](std::int64_t bytes, std::int64_t all) { last = bytes, total = all; };
  get(server.url("/f"));
  EXPECT_EQ(content(path), body);
  EXPECT_EQ(last, 100'000);
  EXPECT_EQ(total, 100'000);
}

TEST_F(Download, FollowsRedirects) {
  server.put("/f", {.body = body, .location = {}});
  server.put("/old", {.body = "", .status = 302, .location = "/f"});
  get(server.url("/old"));
  EXPECT_EQ(content(path), body);
}

TEST_F(Download, ResumesAnInterruptedDownload) {
  server.put("/f", {.body = body, .location = {}, .break_after_bytes = 30'000});
  const auto [code, text] = failure(server.url("/f"));
  EXPECT_EQ(code, Errc::Network);
  EXPECT_NE(text.find("the next fetch resumes from there"), std::string::npos) << text;
  EXPECT_EQ(fs::file_size(path), 30'000U);
  std::int64_t first = -1, total = 0;
  progress = [&](std::int64_t bytes, std::int64_t all) {
    if (first < 0) first = bytes;
    total = all;
  };
  get(server.url("/f"));
  EXPECT_EQ(content(path), body);
  EXPECT_EQ(first, 30'000);
  EXPECT_EQ(total, 100'000);
  EXPECT_EQ(server.ranges(), (std::vector<std::string>{"", "bytes=30000-"}));
}

TEST_F(Download, RestartsIfTheServerCannotResume) {
  server.put("/f", {.body = body, .location = {}, .ranges = false});
  std::ofstream(path) << "old";
  get(server.url("/f"));
  EXPECT_EQ(content(path), body);
}

TEST_F(Download, KeepsACompletePart) {
  server.put("/f", {.body = body, .location = {}});
  std::ofstream(path, std::ios::binary) << body;
  get(server.url("/f"));
  EXPECT_EQ(content(path), body);
}

TEST_F(Download, ReportsHttpStatus) {
  const auto [code, text] = failure(server.url("/missing"));
  EXPECT_EQ(code, Errc::Network);
  EXPECT_NE(text.find(server.url("/missing") + ": the server returned 404"), std::string::npos)
      << text;
  EXPECT_NE(text.find("--url"), std::string::npos) << text;
  EXPECT_EQ(fs::file_size(path), 0U);
}

TEST_F(Download, ReportsUnreachableServer) {
  const auto [code, text] = failure("http://127.0.0.1:1/f");
  EXPECT_EQ(code, Errc::Network);
  EXPECT_NE(text.find("--data synthetic"), std::string::npos) << text;
  EXPECT_EQ(failure("file:///nonexistent/f").first, Errc::Network);
  EXPECT_EQ(failure("gopher://127.0.0.1/f").first, Errc::Network);
}

TEST_F(Download, TimesOutOnAStalledServer) {
  server.put("/f", {.body = body, .location = {}, .stall = true});
  options.stall_timeout_s = 1;
  EXPECT_EQ(failure(server.url("/f")).first, Errc::Network);
}

TEST_F(Download, RejectsOversizedFiles) {
  server.put("/f", {.body = body, .location = {}});
  options.max_bytes = 50'000;
  const auto [code, text] = failure(server.url("/f"));
  EXPECT_EQ(code, Errc::Network);
  EXPECT_NE(text.find("sends more than"), std::string::npos) << text;
  EXPECT_LE(fs::file_size(path), 50'000U);
}

TEST_F(Download, ForwardsExceptionsOfProgress) {
  server.put("/f", {.body = body, .location = {}});
  progress = [](std::int64_t, std::int64_t) { throw Error(Errc::Cancelled, "stop"); };
  EXPECT_EQ(failure(server.url("/f")), std::pair(Errc::Cancelled, std::string("stop")));
}

TEST_F(Download, ReportsFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  fs::create_symlink("/dev/full", path);
  server.put("/f", {.body = body, .location = {}});
  const auto [code, text] = failure(server.url("/f"));
  EXPECT_EQ(code, Errc::Io);
  EXPECT_NE(text.find("No space left on device; free some space"), std::string::npos) << text;
}

TEST_F(Download, RejectsAPartInUse) {
  const PartFile other(path);
  const auto [code, text] = failure(server.url("/f"));
  EXPECT_EQ(code, Errc::Io);
  EXPECT_NE(text.find("another download"), std::string::npos) << text;
}

TEST(PartFile, ReportsUnwritablePath) {
  try {
    const PartFile part("/nonexistent/file.part");
    FAIL() << "no exception was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::Io);
    EXPECT_STREQ(error.what(),
                 "/nonexistent/file.part: cannot be opened for writing: No such file or directory; "
                 "choose a directory you may write to with --dir");
  }
}

TEST(Sha256, MatchesPublishedVectors) {
  // Source  FIPS 180-2, appendix B
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::uint8_t abc[] = {'a', 'b', 'c'};
  EXPECT_EQ(sha256_hex(abc), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace lab
