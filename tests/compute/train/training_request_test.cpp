#include "compute/train/training_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "compute/core/error.h"
#include "compute/train/convolution_choice.h"
#include "tests/support/errors.h"
#include "tests/support/text.h"

namespace lab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

StartTraining completed(const StartTraining& request, int cpu_devices = 1) {
  Machine machine({.cpu_devices = cpu_devices});
  return complete_request(request, machine);
}

// Applies `change` to the default request and returns the message of the error that it causes.
std::string refusal(const std::function<void(StartTraining&)>& change,
                    Errc code = Errc::InvalidArgument, int cpu_devices = 2) {
  StartTraining request;
  change(request);
  return test::message_of([&] { completed(request, cpu_devices); }, code);
}

using test::contains;

TEST(TrainingRequest, FillsInTheDefaults) {
  StartTraining request;
  request.shares = {1, 2, 3};
  const StartTraining r = completed(request);
  EXPECT_EQ(r.lr, 0.9);
  EXPECT_EQ(r.devices, std::vector<Device>{cpu()});
  EXPECT_TRUE(r.shares.empty()) << "used only with SharePolicy::Listed";
}

TEST(TrainingRequest, AcceptsSeveralDevices) {
  StartTraining request;
  request.devices = {cpu(1), cpu(0), cpu(2)};
  EXPECT_EQ(completed(request, 3).devices, request.devices);
  request.share_policy = SharePolicy::Listed;
  request.shares = {0.5, 0, 0.5};
  EXPECT_EQ(completed(request, 3).shares, request.shares);
}

TEST(TrainingRequest, AcceptsOnlyKnownConvolutionChoices) {
  for (const std::string& name : convolution_choice_names()) {
    StartTraining request;
    request.convolution = name;
    EXPECT_EQ(completed(request).convolution, name);
  }
  const std::string unknown = refusal([](auto& r) { r.convolution = "fft"; }, Errc::NotFound);
  EXPECT_TRUE(contains(unknown, "'fft'")) << unknown;
  EXPECT_TRUE(contains(unknown, "auto, rule, gemm, ")) << unknown;
}

TEST(TrainingRequest, NamesAnInvalidDevice) {
  EXPECT_EQ(refusal([](auto& r) {
              r.devices = {cpu(0), cpu(1), cpu(0)};
            }),
            "training: cpu:0 is named twice; name each device once");
  const std::string missing = refusal([](auto& r) { r.devices = {cpu(2)}; }, Errc::NotFound);
  EXPECT_TRUE(contains(missing, "cpu:2")) << missing;
  EXPECT_TRUE(contains(missing, "--cpu-devices 3")) << missing;
  Machine machine;
  if (machine.has(gpu())) GTEST_SKIP() << "there is a GPU";
  const std::string absent = refusal([](auto& r) { r.devices = {cpu(0), gpu()}; }, Errc::NotFound);
  EXPECT_TRUE(contains(absent, "cuda:0 cannot be used: ")) << absent;
  EXPECT_TRUE(contains(absent, "use cpu:0")) << absent;
}

TEST(TrainingRequest, NeedsOneShareForEachDevice) {
  const auto two = [](std::vector<double> shares) {
    return [shares = std::move(shares)](StartTraining& r) {
      r.devices = {cpu(0), cpu(1)};
      r.share_policy = SharePolicy::Listed;
      r.shares = shares;
    };
  };
  EXPECT_EQ(refusal(two({0.7})),
            "training: shares: 1 share (0.7) for 2 devices; give one per device");
  EXPECT_TRUE(contains(refusal(two({})), "0 shares () for 2 devices"));
  EXPECT_EQ(refusal(two({1, -2})),
            "training: shares: -2 among 1,-2; a share must be a number from 0");
  EXPECT_TRUE(contains(refusal(two({1, NAN})), "nan among"));
  EXPECT_TRUE(contains(refusal(two({1, kInfinity})), "inf among"));
  EXPECT_EQ(refusal(two({0, 0})),
            "training: shares: 0,0 leave every device without images; one must be above 0");
  EXPECT_EQ(refusal(two({0.7, 0.4})),
            "training: shares: 0.7,0.4 sum to 1.1; fractions must sum to 1, as in 0.7,0.3; "
            "proportions in another unit need a value above 1, as in 70,30");
  EXPECT_TRUE(contains(refusal(two({0.5, 1})), "sum to 1.5"));
}

TEST(TrainingRequest, AcceptsSharesInAnyUnit) {
  using List = std::vector<double>;
  for (const List& shares : {List{0.7, 0.3}, {0.7, 0.3005}, {70, 30}, {1, 1}, {1, 0}, {1.5, 0.5}}) {
    EXPECT_EQ(validate_shares(shares, 2), "");
  }
  EXPECT_EQ(validate_shares({0.3333, 0.3333, 0.3333}, 3), "");
  EXPECT_EQ(validate_shares({0.7}, 1), "") << "the rest may belong to another process";
}

TEST(TrainingRequest, RejectsNumbersOutOfRange) {
  const std::pair<const char*, std::function<void(StartTraining&)>> cases[] = {
      {"4096 to 1073741824", [](auto& r) { r.bucket_bytes = 4095; }},
      {"4096 to 1073741824", [](auto& r) { r.bucket_bytes = (std::int64_t{1} << 30) + 1; }},
      {"warm-up is -1", [](auto& r) { r.warmup_epochs = -1; }},
      {"warm-up is inf", [](auto& r) { r.warmup_epochs = kInfinity; }},
      {"warm-up is nan", [](auto& r) { r.warmup_epochs = NAN; }},
      {"between checkpoints is -1", [](auto& r) { r.checkpoint_every = -1; }},
      {"synthetic training images is 0", [](auto& r) { r.synthetic_train = 0; }},
      {"steps is -1", [](auto& r) { r.steps = -1; }},
      {"learning rate is nan", [](auto& r) { r.lr = NAN; }},
      {"width is 0; it must be from 1 to 512", [](auto& r) { r.width = 0; }},
      {"width is 513", [](auto& r) { r.width = 513; }},
      {"model lenet has no width", [](auto& r) { r.width = 16; }},
      {"label smoothing is 1; it must be from 0 to below 1",
       [](auto& r) { r.label_smoothing = 1; }},
      {"label smoothing is -0.1", [](auto& r) { r.label_smoothing = -0.1; }},
      {"test accuracy to stop at is 0; it must be above 0 to 1", [](auto& r) { r.stop_at = 0; }},
      {"test accuracy to stop at is 1.5", [](auto& r) { r.stop_at = 1.5; }},
      {"training: mlp does not begin with a convolution, whose filters could whiten the images; ",
       [](auto& r) {
         r.model = "mlp";
         r.first_layer = FirstLayer::Whitened;
       }},
  };
  for (const auto& [part, change] : cases) {
    const std::string message = refusal(change);
    EXPECT_TRUE(contains(message, part)) << message;
  }
}

TEST(TrainingRequest, RejectsContradictorySettings) {
  EXPECT_EQ(refusal([](auto& r) {
              r.schedule = LrSchedule::Linear;
              r.epochs = 2;
              r.warmup_epochs = 2;
            }),
            "training: a warm-up of 2 epochs leaves no time for the learning rate to fall in a "
            "training of 2; shorten the warm-up");
  EXPECT_EQ(
      refusal([](auto& r) {
        r.stop_at = 0.91;
        r.evaluate = false;
      }),
      "training: cannot stop at a test accuracy of 0.91 without testing; leave --no-eval out");
}

TEST(TrainingRequest, RejectsContradictoryFiles) {
  EXPECT_EQ(refusal([](auto& r) { r.checkpoint_every = 5; }),
            "training: a checkpoint every 5 steps needs a folder; give one, or set the interval to "
            "0");
  EXPECT_EQ(refusal([](auto& r) {
              r.resume_dir = "a";
              r.init_file = "b";
            }),
            "training: cannot both resume from a and start from b; choose one");
  StartTraining request;
  request.checkpoint_dir = request.resume_dir = "a";
  EXPECT_EQ(completed(request).checkpoint_every, 0);
}

}  // namespace
}  // namespace lab
