// Times the layers of ResNet-18 on the GPU at batch 256, each alone on warm memory.
//
//     gpu_bench_layers
//
// Prints one JSON object per operation, precision and shape: the seconds of one run, the median of
// several rounds timed with GPU events behind a gate, and its rate: FLOP of convolutions, bytes of
// batch norm (each pass over an array counts once). The bounds are in
// compute/gpu/cuda/layers/convolution/convolution.cuh and batch_norm.cuh.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/measure/gated_clock.h"
#include "compute/measure/statistics.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"

namespace {

using lab::GpuConvolution;
using lab::GpuStream;
using lab::Precision;

constexpr std::int64_t kImages = 256;
constexpr int kRounds = 5, kRuns = 20;

struct Shape {
  std::int64_t side, in_c, out_c, kernel, stride;

  std::int64_t out_side() const { return (side - 1) / stride + 1; }
};
constexpr Shape kShapes[] = {{28, 1, 64, 3, 1},   {28, 64, 64, 3, 1},   {28, 64, 128, 3, 2},
                             {28, 64, 128, 1, 2}, {14, 128, 128, 3, 1}, {14, 128, 256, 3, 2},
                             {7, 256, 256, 3, 1}, {7, 256, 512, 3, 2},  {4, 512, 512, 3, 1},
                             {1, 512, 10, 1, 1}};

class LayersBench {
 public:
  LayersBench() : context_(lab::test::gpu_machine().at(lab::gpu())), gpu_(*context_.gpu()) {}

  void run() {
    for (const Precision precision : {Precision::F32, Precision::TF32, Precision::BF16}) {
      for (const Shape& shape : kShapes) convolutions(shape, precision);
    }
    for (const Shape& shape : kShapes) {
      if (shape.in_c == shape.out_c) batch_norm(shape);
    }
  }

 private:
  lab::Tensor numbers(std::int64_t count) { return lab::randn(context_, {count}, 1); }
  static float* floats(lab::Tensor& tensor) { return reinterpret_cast<float*>(tensor.data()); }

  template <typename Queue>
  double median_s(const Queue& queue) {
    gpu_.main_stream().synchronise();
    // The first launch of a kernel may wait for the GPU, which the gate would hold back.
    clock_.by_host([&](int /*stream*/) { queue(clock_.stream(0)); });
    std::vector<double> seconds;
    for (int round = 0; round < kRounds; ++round) {
      seconds.push_back(clock_.gated_runs(kRuns, queue) / kRuns);
    }
    return lab::median(seconds);
  }

  void convolutions(const Shape& shape, Precision precision) {
    const std::int64_t pixels = kImages * shape.out_side() * shape.out_side();
    const std::int64_t taps = shape.kernel * shape.kernel * shape.in_c;
    GpuConvolution c{.images = kImages,
                     .in_h = shape.side,
                     .in_w = shape.side,
                     .in_c = shape.in_c,
                     .out_h = shape.out_side(),
                     .out_w = shape.out_side(),
                     .out_c = shape.out_c,
                     .kernel = shape.kernel,
                     .stride = shape.stride,
                     .padding = shape.kernel / 2,
                     .precision = precision};
    lab::Tensor x = numbers(kImages * shape.side * shape.side * shape.in_c);
    lab::Tensor y = numbers(pixels * shape.out_c), weight = numbers(taps * shape.out_c);
    lab::Tensor workspace =
        numbers(std::max<std::int64_t>(1, gpu_.layers().workspace_bytes(c) / 4));
    c.x = c.dx = floats(x);
    c.y = floats(y);
    c.dy = c.y;
    c.weight = c.dweight = floats(weight);
    c.workspace = workspace.data();
    const auto print = [&](const char* name, double s) {
      fmt::print(
          "{{\"type\":\"bench\",\"kernel\":\"convolution_{}\",\"dtype\":\"{}\",\"side\":{},"
          "\"in_c\":{},\"out_c\":{},\"size\":{},\"stride\":{},\"median_s\":{:.6g},"
          "\"gflops\":{:.6g}}}\n",
          name, lab::to_string(precision), shape.side, shape.in_c, shape.out_c, shape.kernel,
          shape.stride, s, 2e-9 * static_cast<double>(pixels * taps * shape.out_c) / s);
    };
    lab::GpuLayers& layers = gpu_.layers();
    print("forward", median_s([&](GpuStream& stream) { layers.convolution_forward(c, stream); }));
    print("input_gradient",
          median_s([&](GpuStream& stream) { layers.convolution_input_gradient(c, stream); }));
    print("weight_gradient",
          median_s([&](GpuStream& stream) { layers.convolution_weight_gradient(c, stream); }));
  }

  void batch_norm(const Shape& shape) {
    const std::int64_t rows = kImages * shape.side * shape.side, channels = shape.out_c;
    lab::GpuBatchNorm norm{.rows = rows, .channels = channels, .relu = true};
    lab::Tensor x = numbers(rows * channels), y = numbers(rows * channels);
    lab::Tensor dy = numbers(rows * channels), dx = numbers(rows * channels);
    lab::Tensor vectors = numbers(8 * channels);
    lab::Tensor workspace = numbers(gpu_.layers().workspace_bytes(norm) / 4);
    float* const all = floats(vectors);
    const auto vector = [&](int i) { return all + i * channels; };
    norm.x = floats(x);
    norm.y = floats(y);
    norm.dy = floats(dy);
    norm.dx = floats(dx);
    norm.weight = vector(0);
    norm.bias = vector(1);
    norm.running_mean = vector(2);
    norm.running_variance = vector(3);
    norm.mean = vector(4);
    norm.inverse_deviation = vector(5);
    norm.dweight = vector(6);
    norm.dbias = vector(7);
    norm.workspace = workspace.data();
    const auto print = [&](const char* name, int passes, double s) {
      fmt::print(
          "{{\"type\":\"bench\",\"kernel\":\"batch_norm_{}\",\"rows\":{},\"channels\":{},"
          "\"median_s\":{:.6g},\"gb_per_s\":{:.6g}}}\n",
          name, rows, channels, s, 4e-9 * passes * static_cast<double>(rows * channels) / s);
    };
    lab::GpuLayers& layers = gpu_.layers();
    print("forward", 3,
          median_s([&](GpuStream& stream) { layers.batch_norm_forward(norm, stream); }));
    print("backward", 7,
          median_s([&](GpuStream& stream) { layers.batch_norm_backward(norm, stream); }));
  }

  lab::DeviceContext& context_;
  lab::GpuDevice& gpu_;
  lab::GatedClock clock_{gpu_, 1};
};

}  // namespace

int main() {
  if (const std::string why = lab::test::why_no_gpu(); !why.empty()) {
    fmt::print("{{\"type\":\"skip\",\"what\":\"gpu_bench_layers\",\"reason\":\"{}\"}}\n", why);
    return 0;
  }
  int status = 1;
  try {
    LayersBench().run();
    status = 0;
  } catch (const lab::Error& error) {
    fmt::print(stderr, "gpu_bench_layers: {}\n", error.what());
  }
  lab::test::end_gpu_machine();
  return status;
}
