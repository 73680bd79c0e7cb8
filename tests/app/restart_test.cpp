#include "app/window/restart.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "compute/core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using test::message_of;

// Stand-in for /proc/self of a process that runs `program`.
struct Self {
  explicit Self(const std::string& program, const std::string& arguments) {
    fs::create_symlink(program, dir.path() / "exe");
    std::ofstream(dir.path() / "cmdline", std::ios::binary) << arguments;
  }
  test::TempDir dir;
};

const std::string kArguments("device-lab\0--page\0memory\0--theme\0\0", 34);

TEST(Restart, KeepsTheArguments) {
  const Self self("/bin/sh", kArguments);
  const RestartPlan plan = plan_restart({}, self.dir.path());
  EXPECT_EQ(plan.file, "/bin/sh");
  EXPECT_EQ(plan.args, (std::vector<std::string>{"device-lab", "--page", "memory", "--theme", ""}));
}

TEST(Restart, AddsTheWakeOptionOnce) {
  const Self self("/bin/sh", kArguments);
  EXPECT_EQ(plan_restart({.wake_gpus = true}, self.dir.path()).args.back(), "--wake-gpus");
  const Self again("/bin/sh", std::string("device-lab\0--wake-gpus\0", 23));
  EXPECT_EQ(plan_restart({.wake_gpus = true}, again.dir.path()).args.size(), 2U);
}

TEST(Restart, ReplacesTheNumberOfEmulatedGpus) {
  const Self self("/bin/sh", std::string("device-lab\0--emulated-gpus\0"
                                         "1\0--theme\0dark\0"
                                         "--emulated-gpus=3\0",
                                         60));
  const auto args = [&](int gpus) {
    return plan_restart({.emulated_gpus = gpus}, self.dir.path()).args;
  };
  EXPECT_EQ(args(2),
            (std::vector<std::string>{"device-lab", "--theme", "dark", "--emulated-gpus", "2"}));
  EXPECT_EQ(args(0), (std::vector<std::string>{"device-lab", "--theme", "dark"}));
}

TEST(Restart, PlansForThisProgram) {
  const RestartPlan plan = plan_restart({});
  EXPECT_EQ(fs::path(plan.file).filename().string().rfind("test_", 0), 0U) << plan.file;
  EXPECT_FALSE(plan.args.empty());
}

TEST(Restart, ReportsWhyItIsImpossible) {
  const Self silent("/bin/sh", "");
  EXPECT_NE(message_of([&] { plan_restart({}, silent.dir.path()); }, Errc::Unsupported)
                .find("the command line is unknown"),
            std::string::npos);
  const Self locked("/etc/passwd", kArguments);
  EXPECT_NE(message_of([&] { plan_restart({}, locked.dir.path()); }, Errc::Unsupported)
                .find("/etc/passwd cannot be run"),
            std::string::npos);
}

TEST(Restart, PassesFileAndArguments) {
  std::vector<std::string> seen;
  const std::string sentence = message_of(
      [&] {
        restart({"/somewhere/lab", {"lab", "--scale", "2"}}, [&](const char* file, char* const* w) {
          seen.emplace_back(file);
          for (; *w != nullptr; ++w) seen.emplace_back(*w);
          errno = EACCES;
          return -1;
        });
      },
      Errc::Io);
  EXPECT_EQ(seen, (std::vector<std::string>{"/somewhere/lab", "lab", "--scale", "2"}));
  EXPECT_NE(sentence.find("/somewhere/lab cannot be started (Permission denied)"),
            std::string::npos)
      << sentence;
}

TEST(Restart, ReplacesTheProcess) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      restart({"/bin/sh", {"sh", "-c", "exit 42"}});
    } catch (const Error&) {
      _exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace lab::app
