// A residual network by the kernels of compute capability 9.0, on an emulated GPU: with activations
// in bf16, and with operands in tf32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/gpu/cuda/layers/wgmma_layers.cuh"
#include "compute/gpu/emulator/device/emulated_launcher.h"
#include "compute/nn/network.h"
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

struct Step {
  double loss = 0;
  std::vector<float> gradients;
  std::vector<DType> types;  // of the values
};

Step step_on(Machine& machine, Device device, Precision products) {
  DeviceContext& context = machine.at(device);
  Network network(small_resnet(), context, kBatch, 7, {.products = products});
  const auto pixels = test::uniform_values(kBatch * network.input_shape().size(), 3);
  const std::vector<std::uint8_t> labels = {1, 7, 4};
  GpuDevice* const gpu = context.gpu();
  const auto put = [&](void* to, const void* from, std::size_t bytes) {
    if (gpu == nullptr) {
      std::memcpy(to, from, bytes);
      return;
    }
    gpu->copy(GpuCopy::HostToDevice, to, from, static_cast<std::int64_t>(bytes),
              gpu->main_stream());
  };
  put(network.input(), pixels.data(), pixels.size() * sizeof(float));
  put(network.labels(), labels.data(), labels.size());
  Step step;
  step.loss = network.step(kBatch, kBatch, {}).loss_sum;
  const auto gradients = network.flat_gradients();
  if (gpu != nullptr) {
    gpu->copy(GpuCopy::DeviceToHost, gradients.data(), network.gpu_state()->device_gradients(),
              static_cast<std::int64_t>(gradients.size_bytes()), gpu->main_stream());
    network.wait();
  }
  step.gradients.assign(gradients.begin(), gradients.end());
  for (const Value& value : network.plan().values) step.types.push_back(value.dtype);
  return step;
}

// Of so few images, rounding changes the side of some relus: the portable kernels' gradients differ
// from the CPU's by 0.028 in tf32 and 0.062 in bf16.
TEST(WgmmaNetwork, AgreesWithTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.emulated_gpus = 1, .emulated_layers = wgmma_layers});
  const Step exact = step_on(machine, cpu(), Precision::F32);
  const std::vector<double> expected(exact.gradients.begin(), exact.gradients.end());
  for (const auto& [products, tolerance] :
       {std::pair{Precision::TF32, 5e-2}, std::pair{Precision::BF16, 0.12}}) {
    SCOPED_TRACE(to_string(products));
    const Step step = step_on(machine, emulated_gpu(0), products);
    EXPECT_NEAR(step.loss, exact.loss, tolerance / 10 * exact.loss);
    EXPECT_LE(test::relative_error(step.gradients, expected), tolerance);
    const auto bf16 = std::ranges::count(step.types, DType::BF16);
    // Not: the input, the output of the stem, and what follows the pooling.
    EXPECT_EQ(bf16, products == Precision::BF16 ? std::ssize(step.types) - 4 : 0);
  }
}

}  // namespace
}  // namespace lab::nn
