// Training gives the same bits for any number of threads, and whatever takes their cores.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/machine/cpu_topology.h"
#include "compute/machine/machine.h"
#include "compute/tensor/tensor.h"
#include "compute/train/trainer.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

// CPU device `index` with `threads` threads, which share cores if the machine has fewer.
DeviceInfo device_of(int threads, int index = 0) {
  const std::vector<int> usable = thread_affinity();
  DeviceInfo info;
  info.device = cpu(index);
  info.memory_total_bytes = info.memory_limit_bytes = std::int64_t{4} << 30;
  for (std::size_t t = 0; t < static_cast<std::size_t>(threads); ++t) {
    info.cores.push_back(usable[t % usable.size()]);
  }
  return info;
}

struct Outcome {
  std::vector<double> losses;
  std::vector<float> parameters;
  std::vector<std::uint8_t> predicted;
  bool operator==(const Outcome&) const = default;
};

struct Setting {
  std::string name;
  TrainerOptions options;
  std::int64_t batch = 0;
  int devices = 1;
};

Outcome train_with(int threads, const Setting& setting) {
  const Dataset data = make_synthetic_garments(2 * setting.batch - 3, 21, 1);
  std::vector<std::unique_ptr<DeviceContext>> devices;
  std::vector<DeviceContext*> contexts;
  for (int i = 0; i < setting.devices; ++i) {
    devices.push_back(std::make_unique<DeviceContext>(device_of(threads, i)));
    contexts.push_back(devices.back().get());
  }
  TrainerOptions options = setting.options;
  options.batch = setting.batch;
  options.sgd = {.momentum = 0.9};
  Trainer trainer(contexts, options);
  BatchLoader loader(data.train, setting.batch, BatchOrder::Shuffled, 3);
  loader.start_epoch(0);
  Outcome outcome;
  for (int step = 0; step < 2; ++step) {  // the second has fewer images
    outcome.losses.push_back(trainer.step(loader, step, 0.05, {}).loss);
  }
  outcome.predicted = trainer.evaluate(data.test, {}).predicted;
  const auto parameters = trainer.network().flat_parameters();
  outcome.parameters.assign(parameters.begin(), parameters.end());
  return outcome;
}

// Programs that compute without a pause, one for each core.
class BusyNeighbours {
 public:
  BusyNeighbours() {
    for (const int core : thread_affinity()) {
      threads_.emplace_back([this, core] {
        set_thread_affinity({&core, 1});
        while (!over_) ++work_;
      });
    }
  }
  ~BusyNeighbours() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyNeighbours(const BusyNeighbours&) = delete;
  BusyNeighbours& operator=(const BusyNeighbours&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::atomic<std::int64_t> work_ = 0;
  std::vector<std::thread> threads_;
};

class SameBits : public testing::TestWithParam<Setting> {};

// The thread sanitizer's build covers products, direct convolutions and the chain of Winograd
// layers.
TEST_P(SameBits, ForAnyNumberOfThreads) {
  const std::string& name = GetParam().name;
  if (name != "softmax" && name != "lenet_bf16" && name != "resnet18_winograd4") {
    SKIP_UNDER_THREAD_SANITIZER();
  }
  const Outcome one = train_with(1, GetParam());
  for (const int threads : {2, 3, 8}) {
    EXPECT_TRUE(train_with(threads, GetParam()) == one) << threads << " threads";
  }
}

TEST_P(SameBits, BesideBusyNeighbours) {
  SKIP_UNDER_THREAD_SANITIZER();
  const Outcome quiet = train_with(2, GetParam());
  const BusyNeighbours neighbours;
  for (const int threads : {1, 2, 3, 8}) {
    EXPECT_TRUE(train_with(threads, GetParam()) == quiet) << threads << " threads";
  }
}

TEST(NormSameBits, ForAnyNumberOfThreads) {
  const auto norm_with = [](int threads) {
    DeviceContext device(device_of(threads));
    return norm(randn(device, {3, 100'003}, 1));
  };
  const double one = norm_with(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(norm_with(threads), one) << threads << " threads";
}

Setting setting_of(const std::string& name, const std::string& model, std::int64_t batch,
                   std::int64_t width = kResNetWidth) {
  return {name, {.model = model, .width = width, .seed = 2}, batch};
}

Setting convolved_by(const std::string& algorithm) {
  static std::map<std::string, std::unique_ptr<NamedChooser>> choosers;
  std::unique_ptr<NamedChooser>& chooser = choosers[algorithm];
  if (!chooser) chooser = std::make_unique<NamedChooser>(algorithm);
  Setting setting = setting_of("resnet18_" + algorithm, "resnet18", 9, 16);
  setting.options.kernels.chooser = chooser.get();
  return setting;
}

Setting in_bf16(Setting setting) {
  setting.name += "_bf16";
  setting.options.kernels.products = Precision::BF16;
  return setting;
}

Setting on_two_devices(Setting setting) {
  setting.name += "_two_devices";
  setting.devices = 2;
  return setting;
}

INSTANTIATE_TEST_SUITE_P(
    Models, SameBits,
    testing::Values(setting_of("softmax", "softmax", 300), setting_of("mlp", "mlp", 4100),
                    setting_of("lenet", "lenet", 150), in_bf16(setting_of("lenet", "lenet", 70)),
                    on_two_devices(setting_of("lenet", "lenet", 90)),
                    setting_of("convnet", "convnet", 9), convolved_by("gemm"),
                    in_bf16(convolved_by("gemm")), convolved_by("direct"),
                    convolved_by("winograd2"), in_bf16(convolved_by("winograd2")),
                    convolved_by("winograd4"), in_bf16(convolved_by("winograd4"))),
    [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace lab
