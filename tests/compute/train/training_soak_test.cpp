// Many short trainings in succession, some of which are cancelled or fail; no resource may leak.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <random>

#include "compute/core/error.h"
#include "compute/experiments/training/training_experiment.h"
#include "tests/support/eventually.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

constexpr int kRuns = 100;
constexpr int kDevices = 5;

std::ptrdiff_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Returns a small random training request; some cannot succeed.
StartTraining draw(std::mt19937& random, const fs::path& folder) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  StartTraining request;
  const char* models[] = {"softmax", "mlp", "lenet"};
  request.model = models[below(3)];
  request.synthetic_train = 40 + below(40);
  request.synthetic_test = 10;
  request.batch = 1 + below(40);
  request.steps = 1 + below(8);
  request.momentum = below(2) * 0.5;
  // Measuring the convolutions for each new batch size takes longer than the training.
  if (below(8) != 0) request.convolution = "rule";
  for (int i = 0; i < kDevices; ++i) {
    if (below(2) == 0) request.devices.push_back(cpu(i));
  }
  request.share_policy = below(2) == 0 ? SharePolicy::Equal : SharePolicy::Auto;
  if (below(3) == 0) {
    request.checkpoint_dir = (folder / "checkpoints").string();
    request.checkpoint_every = 2;
  }
  const int fault = below(8);
  if (fault == 0) request.lr = 1e30;
  if (fault == 1) request.save_file = (folder / "no" / "such" / "folder.safetensors").string();
  if (fault == 2) request.devices = {cpu(0), cpu(kDevices)};
  if (fault == 3) request.init_file = (folder / "missing.safetensors").string();
  return request;
}

struct Outcomes {
  int done = 0, cancelled = 0, failed = 0;
};

// Cancels after `cancel_after` events; 0 cancels before the training starts, nullopt never.
void run_one(test::Probe& probe, const StartTraining& request, std::optional<int> cancel_after,
             Outcomes& outcomes) {
  probe.stop = std::stop_source();
  if (cancel_after == 0) probe.stop.request_stop();
  int seen = 0;
  try {
    probe.run_until(*make_training_experiment(request),
                    [&](const Event&) { return ++seen == cancel_after; });
    ++outcomes.done;
  } catch (const Error& error) {
    ++(error.code() == Errc::Cancelled ? outcomes.cancelled : outcomes.failed);
  }
}

TEST(TrainingSoak, LeaksNoThreadMemoryOrFile) {
  const test::TempDir dir;
  const std::ptrdiff_t threads = entries("/proc/self/task");
  const std::ptrdiff_t files = entries("/proc/self/fd");
  Outcomes outcomes;
  {
    test::Probe probe(kDevices);
    std::mt19937 random(20);
    for (int run = 0; run < kRuns; ++run) {
      const StartTraining request = draw(random, dir.path());
      const bool cancel = random() % 3 == 0;
      const auto cancel_after =
          cancel ? std::optional(static_cast<int>(random() % 8)) : std::nullopt;
      run_one(probe, request, cancel_after, outcomes);
      for (int i = 0; i < kDevices; ++i) {
        ASSERT_EQ(probe.machine.at(cpu(i)).memory().used_bytes(), 0) << "after run " << run;
      }
    }
  }
  EXPECT_GT(outcomes.done, 0);
  EXPECT_GT(outcomes.cancelled, 0);
  EXPECT_GT(outcomes.failed, 0);
  EXPECT_EQ(outcomes.done + outcomes.cancelled + outcomes.failed, kRuns);
  // A thread remains listed for a moment after it is joined.
  EXPECT_TRUE(test::eventually([&] { return entries("/proc/self/task") <= threads; }));
  EXPECT_EQ(entries("/proc/self/fd"), files);
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    EXPECT_EQ(entry.path().filename(), "checkpoints");
  }
  for (const auto& entry : fs::directory_iterator(dir.path() / "checkpoints")) {
    EXPECT_EQ(entry.path().filename().string().rfind("step-", 0), 0U) << entry.path();
  }
}

}  // namespace
}  // namespace lab
