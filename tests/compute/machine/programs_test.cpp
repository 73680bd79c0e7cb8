#include "compute/machine/programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "compute/core/events/program_text.h"
#include "tests/compute/machine/fake_root.h"

namespace lab {
namespace {

using test::FakeRoot;

std::string stat_text(std::int64_t pid, std::string_view name, std::int64_t user,
                      std::int64_t system = 0, std::int64_t started = 500,
                      std::uint64_t flags = 0) {
  return fmt::format("{} ({}) S 1 1 1 0 -1 {} 10 20 0 0 {} {} 7 8 20 0 3 0 {} 1000000 256 1 2 3\n",
                     pid, name, flags, user, system, started);
}

TEST(ProcessStat, IsReadWhateverTheName) {
  for (const char* name : {"cat", "a b", "(sd-pam)", ") S 9 9", "tmux: server", ""}) {
    SCOPED_TRACE(name);
    const auto stat = parse_process_stat(stat_text(12, name, 30, 12, 777));
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->ticks, 42);
    EXPECT_EQ(stat->started, 777);
    EXPECT_EQ(stat->resident_pages, 256);
    EXPECT_FALSE(stat->kernel);
  }
  EXPECT_TRUE(parse_process_stat(stat_text(2, "kthreadd", 0, 0, 0, 0x00208040))->kernel);
}

TEST(ProcessStat, RejectsRaggedTexts) {
  const std::string whole = stat_text(12, "cat", 1);
  for (std::size_t length = 0; length < whole.find(" 256"); ++length) {
    EXPECT_FALSE(parse_process_stat(std::string_view(whole).substr(0, length + 1))) << length;
  }
  for (const char* text : {"12 )cat( S 1", "12 (cat) S 1 1 1 0 -1 x 1 2 0 0 1 1 7 8 20 0 3 0 5 1 2",
                           "12 (cat) S 1 1 1 0 -1 0 1 2 0 0 -1e9 1 7 8 20 0 3 0 5 1 2"}) {
    EXPECT_FALSE(parse_process_stat(text)) << text;
  }
}

TEST(ProgramName, IsWhatPeopleCallIt) {
  const std::string zero(1, '\0');
  const auto named = [](const std::string& command_line, const char* name) {
    return program_name(command_line, name);
  };
  EXPECT_EQ(named("/usr/lib/firefox/firefox" + zero + "-contentproc" + zero, "Isolated Web Co"),
            "firefox");
  EXPECT_EQ(named("/opt/google/chrome/chrome --type=renderer --x=/a/b", "chrome"), "chrome");
  EXPECT_EQ(named("postgres: background writer ", "postgres"), "postgres");
  EXPECT_EQ(named("-bash" + zero, "bash"), "bash");
  EXPECT_EQ(named("/usr/bin/python3" + zero + "/usr/bin/foo" + zero, "foo"), "foo");
  EXPECT_EQ(named("C:\\games\\My Game.exe" + zero, "My Game.exe"), "My Game.exe");
  EXPECT_EQ(named("", "a zombie"), "a zombie");
  EXPECT_EQ(named("/tmp/", "cat"), "cat");
  EXPECT_EQ(named("\x1b[31mred" + zero, "cat"), "?[31mred");
}

UsedProcess used(std::int64_t pid, const char* name, double cores, std::int64_t bytes = 1,
                 ProgramKind kind = ProgramKind::Other) {
  return {.pid = pid, .kind = kind, .name = name, .cores = cores, .memory_bytes = bytes};
}

TEST(Programs, AreSummedByNameAndSortedByUse) {
  const ProgramUse use = sum_programs(
      {used(1, "init", 0, 9), used(2, "web", 0.25, 10), used(3, "web", 0.5, 20),
       used(4, "cc1", 0.5), used(5, "lab", 1, 5, ProgramKind::Lab), used(6, "lab", 0.125),
       used(7, "idle", 0, 8), used(8, "kworker/0:1", 0.125, 0, ProgramKind::Kernel),
       used(9, "kworker/1:1", 0.125, 0, ProgramKind::Kernel)},
      3);
  ASSERT_EQ(use.busiest.size(), kBusiestPrograms);
  EXPECT_EQ(use.busiest[0].kind, ProgramKind::Lab);
  EXPECT_EQ(use.busiest[1].name, "web");
  EXPECT_EQ(use.busiest[1].processes, 2);
  EXPECT_EQ(use.busiest[1].pid, 3);
  EXPECT_DOUBLE_EQ(use.busiest[1].cores, 0.75);
  EXPECT_EQ(use.busiest[1].memory_bytes, 30);
  EXPECT_EQ(use.busiest[2].name, "cc1");
  EXPECT_EQ(use.busiest[3].kind, ProgramKind::Kernel);
  EXPECT_EQ(use.busiest[3].processes, 2);
  EXPECT_EQ(use.busiest[4].name, "lab") << "a second lab is another program";
  EXPECT_EQ(use.others, 2);
  EXPECT_DOUBLE_EQ(use.rest_cores, 3 - 1 - 0.75 - 0.5 - 0.25 - 0.125);
  EXPECT_DOUBLE_EQ(sum_programs({used(1, "a", 1)}, 0.9).rest_cores, 0);
}

TEST(Programs, NamesThoseThatDisturb) {
  const auto names = [](const std::vector<UsedProcess>& all, double busy) {
    return disturbers(sum_programs(all, busy));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({used(1, "a", 1), used(2, "b", 0.5), used(3, "c", 0.09),
                   used(4, "lab", 2, 1, ProgramKind::Lab)},
                  3.6),
            (Names{"a", "b"}));
  EXPECT_EQ(names({used(1, "a", 1), used(2, "b", 1), used(3, "c", 1), used(4, "d", 1)}, 4).size(),
            3U);
  EXPECT_EQ(names({used(1, "a", 0.04)}, 0.04), Names{});
  EXPECT_EQ(names({used(1, "a", 0.1)}, 2), Names{}) << "most is used by what is not visible";
  EXPECT_EQ(names({used(2, "", 1, 0, ProgramKind::Kernel)}, 1), Names{});
  EXPECT_EQ(names({used(2, "device-lab", 1), used(3, "device-lab", 1, 1, ProgramKind::Lab)}, 2),
            Names{"another device-lab"});
}

class FakeProcesses {
 public:
  static constexpr std::int64_t kSelf = 4194305, kBegin = 1000;
  FakeProcesses() {
    ticks(0, 0);
    std::filesystem::create_symlink(std::to_string(kSelf), root_.path() + "/proc/self");
  }
  ProgramReader reader() {
    return ProgramReader(root_.path(), [this] { return boot_ticks_; });
  }
  // Ticks of each of two cores since the start, and those in which both together were busy.
  void ticks(int all, int busy) {
    boot_ticks_ = kBegin + all;
    root_.file("proc/stat", fmt::format("cpu0 {} 0 0 {} 0 0 0 0\ncpu1 0 0 0 {} 0 0 0 0\n", busy,
                                        all - busy, all));
  }
  void process(std::int64_t pid, const char* name, std::int64_t ticks, std::int64_t started = 500) {
    root_.file(fmt::format("proc/{}/stat", pid), stat_text(pid, name, ticks, 0, started));
  }
  void end(std::int64_t pid) {
    std::filesystem::remove_all(root_.path() + fmt::format("/proc/{}", pid));
  }
  FakeRoot& files() { return root_; }
  void pass(std::int64_t ticks) { boot_ticks_ += ticks; }  // that /proc/stat does not count

 private:
  FakeRoot root_;
  std::int64_t boot_ticks_ = 0;
};

TEST(ProgramReader, CountsWhatWasUsedSinceTheLastReading) {
  FakeProcesses fake;
  constexpr std::int64_t own = FakeProcesses::kSelf;
  fake.process(1, "init", 9000);
  fake.process(own, "lab", 100);
  fake.process(own + 1, "ends", 50);
  fake.process(own + 2, "again", 5000);
  fake.files().file("proc/sys/stat", "not a process").folder("proc/77");
  ProgramReader reader = fake.reader();
  EXPECT_FALSE(reader.read()) << "nothing to compare with";
  EXPECT_FALSE(reader.read()) << "no tick has passed";
  fake.ticks(200, 190);
  fake.process(own, "lab", 120);
  fake.end(own + 1);
  fake.process(own + 2, "again", 40, 1050);  // another process with the same number
  fake.process(own + 3, "new", 100, 1010);
  const auto use = reader.read();
  ASSERT_TRUE(use);
  ASSERT_EQ(use->busiest.size(), 4U);
  EXPECT_EQ(use->busiest[0].name, "new");
  EXPECT_DOUBLE_EQ(use->busiest[0].cores, 0.5);
  EXPECT_EQ(use->busiest[1].name, "again");
  EXPECT_DOUBLE_EQ(use->busiest[1].cores, 0.2);
  EXPECT_EQ(use->busiest[2].kind, ProgramKind::Lab);
  EXPECT_DOUBLE_EQ(use->busiest[2].cores, 0.1);
  EXPECT_EQ(use->busiest[2].memory_bytes, 256 * ::sysconf(_SC_PAGESIZE));
  EXPECT_NEAR(use->rest_cores, 0.95 - 0.8, 1e-9);
  EXPECT_EQ(use->hidden, "");
}

TEST(ProgramReader, CountsAnOlderProcessFromItsFirstReadingOnly) {
  FakeProcesses fake;
  fake.process(1, "init", 0);
  ProgramReader reader = fake.reader();
  reader.read();
  fake.ticks(100, 100);
  fake.process(30, "daemon", 500'000, 999);  // was not readable before
  fake.process(31, "young", 50, 1000);
  const auto first = reader.read();
  ASSERT_EQ(first->busiest.size(), 3U);
  EXPECT_EQ(first->busiest[0].name, "young");
  EXPECT_DOUBLE_EQ(first->busiest[0].cores, 0.5);
  EXPECT_DOUBLE_EQ(first->busiest[1].cores, 0);
  EXPECT_DOUBLE_EQ(first->rest_cores, 0.5);
  fake.ticks(200, 200);
  fake.process(30, "daemon", 500'075, 999);
  const auto second = reader.read();
  EXPECT_EQ(second->busiest[0].name, "daemon");
  EXPECT_DOUBLE_EQ(second->busiest[0].cores, 0.75);
}

TEST(ProgramReader, FindsAnIdleProcessThatBecomesBusy) {
  for (const std::int64_t pid : {30, 31, 32}) {
    FakeProcesses fake;
    fake.process(1, "init", 0);
    fake.process(pid, "cc1", 0);
    ProgramReader reader = fake.reader();
    reader.read();
    fake.ticks(100, 0);
    EXPECT_DOUBLE_EQ(reader.read()->busiest.at(0).cores, 0);
    std::vector<double> found, rest;
    for (int i = 1; i <= 4; ++i) {
      fake.process(pid, "cc1", 50 * i);
      fake.ticks(100 + 100 * i, 50 * i);
      const auto use = reader.read();
      found.push_back(use->busiest.at(0).cores);
      rest.push_back(use->rest_cores);
    }
    for (int i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(found[i] + rest[i], 0.5) << pid << ' ' << i;
    EXPECT_DOUBLE_EQ(found[2], 0.5) << "in the third reading at the latest";
    EXPECT_DOUBLE_EQ(found[3], 0.5);
  }
}

TEST(ProgramReader, ReadsTheNameAgainAfterExec) {
  FakeProcesses fake;
  fake.process(1, "sh", 0);
  ProgramReader reader = fake.reader();
  reader.read();
  fake.process(1, "cc1plus", 10);
  fake.ticks(100, 10);
  EXPECT_EQ(reader.read()->busiest.at(0).name, "cc1plus");
}

TEST(ProgramReader, SaysWhatItCannotRead) {
  FakeRoot nothing;
  EXPECT_EQ(ProgramReader(nothing.path()).read()->unread, "/proc/stat cannot be read");
  FakeProcesses fake;
  EXPECT_EQ(fake.reader().read()->unread, "/proc lists no processes");
  fake.process(4000, "lab", 10);
  ProgramReader reader = fake.reader();
  reader.read();
  fake.pass(99);
  EXPECT_FALSE(reader.read()) << "too soon to tell";
  fake.pass(1);
  EXPECT_EQ(reader.read()->unread, "the times in /proc/stat do not advance");
  fake.ticks(100, 10);
  EXPECT_EQ(reader.read()->unread, "") << "once they do";
}

TEST(ProgramReader, BlamesHidepidOnlyWhereProcIsMountedWithIt) {
  const auto hidden = [](const char* options) {
    FakeProcesses fake;
    fake.process(4000, "lab", 10);  // no process 1, which runs since the start
    fake.files().file(
        "proc/mounts",
        std::string("/dev/vda / ext4 rw,hidepid=2 0 0\nproc /proc proc ") + options + " 0 0\n");
    ProgramReader reader = fake.reader();
    reader.read();
    fake.ticks(100, 10);
    return reader.read()->hidden;
  };
  constexpr const char* kOption =
      "Programs of other users are not visible: /proc is mounted with the option hidepid.";
  constexpr const char* kUnknown =
      "Some programs may not be visible: /proc does not list process 1.";
  EXPECT_EQ(hidden("rw,nosuid,hidepid=2"), kOption);
  EXPECT_EQ(hidden("rw,nosuid,gid=4,hidepid=invisible"), kOption);
  for (const char* options : {"rw,nosuid", "rw,hidepid=0", "rw,hidepid=off"}) {
    EXPECT_EQ(hidden(options), kUnknown) << options;
  }
}

TEST(ProgramReader, FindsItselfInTheProcThatItReads) {
  FakeProcesses fake;
  fake.process(1, "init", 0);
  fake.process(::getpid(), "another", 0);  // this number in another PID namespace
  ProgramReader reader = fake.reader();
  reader.read();
  fake.ticks(100, 0);
  const auto use = reader.read();
  EXPECT_TRUE(std::ranges::none_of(
      use->busiest, [](const Program& one) { return one.kind == ProgramKind::Lab; }));
}

TEST(ProgramReader, FindsThisProcess) {
  std::ifstream file("/proc/self/stat");
  const auto stat = parse_process_stat(std::string(std::istreambuf_iterator<char>(file), {}));
  ASSERT_TRUE(stat);
  if (stat->resident_pages == 0) {
    GTEST_SKIP() << "/proc/self/stat has no figures, as in QEMU's user mode";
  }
  ProgramReader reader;
  reader.read();
  std::optional<ProgramUse> use;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!use && std::chrono::steady_clock::now() < end) use = reader.read();
  ASSERT_TRUE(use);
  const auto own = std::ranges::find(use->busiest, ProgramKind::Lab, &Program::kind);
  ASSERT_NE(own, use->busiest.end());
  EXPECT_GT(own->cores, 0.05);
  EXPECT_EQ(own->pid, ::getpid());
}

}  // namespace
}  // namespace lab
