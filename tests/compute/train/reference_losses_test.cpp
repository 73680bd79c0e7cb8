#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "compute/experiments/training/training_experiment.h"
#include "tests/support/probe.h"
#include "tests/support/source_dir.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

std::filesystem::path real_data() {
  if (const char* dir = std::getenv("LAB_DATA_DIR")) return dir;  // NOLINT(concurrency-mt-unsafe)
  return test::source_dir() / "../shared/data/fashion-mnist";
}

// PyTorch's losses from the weights of seed 0, in file order with the book's settings; printed by
// tests/bench/torch_reference.py.
constexpr double kTorchLosses[] = {2.49666834, 2.68864679, 2.45551085, 2.67554307, 2.60902762,
                                   2.59303308, 2.57722664, 2.42128873, 2.3448782,  2.36729193,
                                   2.42884254, 2.39547944, 2.35438561, 2.3285656,  2.33286119,
                                   2.36214352, 2.37529445, 2.30742288, 2.33263111, 2.30409241};

TEST(ReferenceLosses, LenetMatchesPyTorch) {
  SKIP_UNDER_THREAD_SANITIZER();
  const std::filesystem::path dir = real_data();
  if (!std::filesystem::exists(dir / "train-images-idx3-ubyte.gz") &&
      !std::filesystem::exists(dir / "train-images-idx3-ubyte")) {
    GTEST_SKIP() << "no Fashion-MNIST in " << dir << "; set LAB_DATA_DIR";
  }
  StartTraining request;
  request.data = DataSource::FashionMnist;
  request.data_dir = dir.string();
  request.order = BatchOrder::Sequential;
  request.steps = 20;
  request.evaluate = false;
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), std::size(kTorchLosses));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_LE(std::abs(steps[i].loss - kTorchLosses[i]), 1e-5 * kTorchLosses[i])
        << "step " << i + 1;
  }
}

}  // namespace
}  // namespace lab
