// A residual network by the kernels of compute capability 9.0, on an emulated GPU: with activations
// in bf16, and with operands in tf32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/gpu/cuda/layers/wgmma_layers.cuh"
#include "compute/gpu/emulator/device/emulated_launcher.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "tests/support/compare.h"
#include "tests/support/thread_sanitizer.h"

namespace lab::nn {
namespace {

constexpr std::int64_t kBatch = 3;

std::unique_ptr<GpuLayers> wgmma_layers(GpuDevice& gpu) {
  using Launcher = emulated::EmulatedLauncher;
  return std::make_unique<cuda::WgmmaLayers<Launcher>>(
      Launcher(static_cast<emulated::EmulatedDevice&>(gpu)));
}

// As the ResNet of the chapter, of two blocks, of which the second halves the images: convolutions
// by strips, by tiles, of one tap, and of one channel, which wgmma does not take.
NetworkPlan small_resnet() {
  NetworkPlan plan("small resnet", {1, 7, 6}, WeightInit::FanInUniform);
  const auto convolution = [&](const char* name, std::int64_t in, std::int64_t out,
                               std::int64_t kernel) {
    return plan.declare_convolution(name, in, out, kernel);
  };
  const auto stem = convolution("stem", 1, 64, 3);
  const auto first = convolution("first", 64, 64, 3), second = convolution("second", 64, 64, 3);
  const auto third = convolution("third", 64, 128, 3), fourth = convolution("fourth", 128, 128, 3);
  const auto beside = convolution("beside", 64, 128, 1);
  NetworkPlan::Norm norms[5];
  for (int i = 0; i < 5; ++i) {
    norms[i] = plan.declare_batch_norm("norm" + std::to_string(i), i < 3 ? 64 : 128);
  }
  const NetworkPlan::Step same{.padding = 1}, half{.stride = 2, .padding = 1};
  auto x = plan.convolution_norm(plan.input(), stem, same, norms[0], true);
  auto y = plan.convolution_norm(x, first, same, norms[1], true);
  x = plan.convolution_norm_residual(y, second, same, norms[2], x);
  y = plan.convolution_norm(x, third, half, norms[3], true);
  x = plan.convolution(x, beside, {.stride = 2});
  x = plan.convolution_norm_residual(y, fourth, same, norms[4], x);
  plan.linear(plan.global_average_pool(x), plan.declare_linear("linear", 128, 10));
  return plan;
}

// The network on a device, with a batch.
class Trained {
 public:
  Trained(Machine& machine, Device device, Precision products)
      : context_(machine.at(device)),
        network_(small_resnet(), context_, kBatch, 7, {.products = products}) {
    const auto pixels = test::uniform_values(kBatch * network_.input_shape().size(), 3);
    const std::vector<std::uint8_t> labels = {1, 7, 4};
    put(network_.input(), pixels.data(), pixels.size() * sizeof(float));
    put(network_.labels(), labels.data(), labels.size());
    network_.wait();
  }

  Network& network() { return network_; }
  double loss(std::int64_t batch) {
    return network_.step(batch, static_cast<double>(batch), {}).loss_sum;
  }
  std::vector<float> gradients() {
    const auto gradients = network_.flat_gradients();
    if (GpuDevice* const gpu = context_.gpu()) {
      gpu->copy(GpuCopy::DeviceToHost, gradients.data(), network_.gpu_state()->device_gradients(),
                static_cast<std::int64_t>(gradients.size_bytes()), gpu->main_stream());
      network_.wait();
    }
    return {gradients.begin(), gradients.end()};
  }
  std::int64_t bf16_values() const {
    return std::ranges::count(network_.plan().values, DType::BF16, &Value::dtype);
  }

 private:
  void put(void* to, const void* from, std::size_t bytes) {
    GpuDevice* const gpu = context_.gpu();
    if (gpu == nullptr) {
      std::memcpy(to, from, bytes);
      return;
    }
    gpu->copy(GpuCopy::HostToDevice, to, from, static_cast<std::int64_t>(bytes),
              gpu->main_stream());
  }

  DeviceContext& context_;
  Network network_;
};

// With this few images, rounding changes the side of some relus: the portable kernels' gradients
// differ from the CPU's by 0.028 in tf32 and 0.062 in bf16.
TEST(WgmmaNetwork, AgreesWithTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.emulated_gpus = 1, .emulated_layers = wgmma_layers});
  Trained exact(machine, cpu(), Precision::F32);
  const double exact_loss = exact.loss(kBatch);
  const std::vector<float> exact_gradients = exact.gradients();
  const std::vector<double> expected(exact_gradients.begin(), exact_gradients.end());
  for (const auto& [products, tolerance] :
       {std::pair{Precision::TF32, 5e-2}, std::pair{Precision::BF16, 0.12}}) {
    SCOPED_TRACE(to_string(products));
    Trained rounded(machine, emulated_gpu(0), products);
    EXPECT_NEAR(rounded.loss(kBatch), exact_loss, tolerance / 10 * exact_loss);
    EXPECT_LE(test::relative_error(rounded.gradients(), expected), tolerance);
    // Not: the input, the output of the stem, and what follows the pooling.
    const std::int64_t values = std::ssize(rounded.network().plan().values);
    EXPECT_EQ(rounded.bf16_values(), products == Precision::BF16 ? values - 4 : 0);
  }
}

// The bf16 copy of the weights follows the optimizer and the host's copy of the state.
TEST(WgmmaNetwork, RoundsTheWeightsThatItHas) {
  SKIP_UNDER_THREAD_SANITIZER();
  constexpr std::int64_t kSmaller = 1;  // than the batch that memory is for
  constexpr double kLr = 0.1;
  Machine machine({.emulated_gpus = 1, .emulated_layers = wgmma_layers});
  Trained exact(machine, cpu(), Precision::F32);
  Trained rounded(machine, emulated_gpu(0), Precision::BF16);
  const auto step = [&](Trained& one) {
    const double loss = one.loss(kSmaller);
    Sgd(one.network(), {}).step(kLr);
    return loss;
  };
  const double first = step(rounded), second = step(rounded);
  EXPECT_NEAR(first, step(exact), 0.02 * first);
  const double exact_second = step(exact);
  EXPECT_NEAR(second, exact_second, 0.1 * exact_second);
  EXPECT_GT(std::abs(first - second), 0.2 * first);  // the step shows
  initialize(rounded.network(), 7);
  EXPECT_EQ(rounded.loss(kSmaller), first);
}

}  // namespace
}  // namespace lab::nn
