#include "app/window/log_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "compute/core/files/whole_file.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

std::deque<ui::LogEntry> sample_log(std::size_t lines) {
  std::deque<ui::LogEntry> log;
  for (std::size_t i = 0; i < lines; ++i) {
    log.push_back({.when = 1'700'000'000 + static_cast<std::time_t>(i),
                   .job = static_cast<JobId>(i),
                   .severity = Severity::Warning,
                   .text = "line " + std::to_string(i),
                   .times = 2});
  }
  return log;
}

TEST(LogFile, BringsLinesBack) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "new" / "log.json";
  auto log = sample_log(2);
  log[1].seconds = 12.5;
  log[1].page = ui::Page::Matmul;
  log[1].others = 0.12;
  log[1].stopped = true;
  log[1].settings = "Sizes 64";
  log[1].command_line = "device-lab matmul --sizes 64";
  write_log(file, log);
  const StoredLog kept = read_log(file);
  EXPECT_EQ(kept.problem, "");
  ASSERT_EQ(kept.lines.size(), 2U);
  EXPECT_EQ(kept.lines[0].text, "line 0");
  EXPECT_FALSE(kept.lines[0].seconds);
  const ui::LogEntry& end = kept.lines[1];
  EXPECT_EQ(end.when, 1'700'000'001);
  EXPECT_EQ(end.job, 1);
  EXPECT_EQ(end.severity, Severity::Warning);
  EXPECT_EQ(end.times, 2);
  EXPECT_EQ(end.seconds, 12.5);
  EXPECT_EQ(end.page, ui::Page::Matmul);
  EXPECT_EQ(end.others, 0.12);
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.settings, "Sizes 64");
  EXPECT_EQ(end.command_line, "device-lab matmul --sizes 64");
}

TEST(LogFile, KeepsTheNewestLines) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "log.json";
  auto log = sample_log(kKeptLines + 5);
  log.back().text = std::string(10 * kMostLineBytes, 'x');
  write_log(file, log);
  const StoredLog kept = read_log(file);
  ASSERT_EQ(kept.lines.size(), kKeptLines);
  EXPECT_EQ(kept.lines.front().text, "line 5");
  EXPECT_EQ(kept.lines.back().text.size(), kMostLineBytes);
}

TEST(LogFile, SurvivesDamage) {
  const test::TempDir dir;
  const fs::path file = dir.path() / "log.json";
  EXPECT_EQ(read_log(file).problem, "") << "there is no log yet";
  for (const char* text :
       {"", "{", "[]", "{\"format\":2,\"lines\":[]}", "{\"format\":1}", "\xff"}) {
    files::write_file(file, std::string_view(text));
    const StoredLog kept = read_log(file);
    EXPECT_TRUE(kept.lines.empty());
    EXPECT_NE(kept.problem, "") << text;
  }
  files::write_file(file, std::string_view("{\"format\":1,\"lines\":[7,{\"text\":\"x\"},"
                                           "{\"when\":1,\"job\":0,\"severity\":9,\"text\":\"x\","
                                           "\"times\":1},{\"when\":1,\"job\":0,\"severity\":0,"
                                           "\"text\":\"good\",\"times\":1}]}"));
  const StoredLog kept = read_log(file);
  EXPECT_EQ(kept.problem, "");
  ASSERT_EQ(kept.lines.size(), 1U);
  EXPECT_EQ(kept.lines[0].text, "good");
}

}  // namespace
}  // namespace lab::app
