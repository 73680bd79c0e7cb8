// Times the layers of ResNet-18 on the GPU at batch 256, each alone on warm memory: by the lab's
// kernels, and by cuDNN and cuBLAS where they can be used.
//
//     gpu_bench_layers
//
// Prints one JSON object per operation, precision, shape and kernels: the seconds of one run, the
// median of several rounds timed with GPU events behind a gate, and its rate: FLOP of convolutions,
// bytes of batch norm (each pass over an array counts once). The rounds of the lab's kernels and of
// the library alternate, so that changes of the clock affect both equally. The bounds are in
// compute/gpu/cuda/layers/convolution/convolution.cuh and batch_norm.cuh.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
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

struct Contender {
  const char* kernels;
  lab::GpuLayers* layers;
};

class LayersBench {
 public:
  LayersBench() : context_(lab::test::gpu_machine().at(lab::gpu())), gpu_(*context_.gpu()) {
    contenders_.push_back({"lab", &gpu_.layers()});
    try {
      contenders_.push_back({"library", &gpu_.library_layers()});
      fmt::print("{{\"type\":\"libraries\",\"versions\":\"{}\"}}\n",
                 gpu_.library_layers().libraries());
    } catch (const lab::Error& error) {
      const nlohmann::json skip = {{"type", "skip"}, {"what", "library"}, {"reason", error.what()}};
      fmt::print("{}\n", skip.dump());
    }
  }

  void run() {
    for (const Precision precision : {Precision::F32, Precision::TF32, Precision::BF16}) {
      for (const Shape& shape : kShapes) convolutions(shape, precision);
    }
    for (const Shape& shape : kShapes) {
      if (shape.in_c != shape.out_c) continue;
      for (const bool has_residual : {false, true}) batch_norm(shape, has_residual);
    }
  }

 private:
  lab::Tensor numbers(std::int64_t count) { return lab::randn(context_, {count}, 1); }
  static float* floats(lab::Tensor& tensor) { return reinterpret_cast<float*>(tensor.data()); }

  // Calls print(kernels, seconds of queue(layers, stream)) for each contender.
  template <typename Queue, typename Print>
  void measure(const std::vector<Contender>& contenders, const Queue& queue, const Print& print) {
    std::vector<std::vector<double>> seconds(contenders.size());
    for (const Contender& one : contenders) {
      // The first launch of a kernel may wait for the GPU, which the gate would hold back.
      gpu_.main_stream().synchronise();
      clock_.by_host([&](int /*stream*/) { queue(*one.layers, clock_.stream(0)); });
    }
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        const auto run = [&](GpuStream& stream) { queue(*contenders[i].layers, stream); };
        seconds[i].push_back(clock_.gated_runs(kRuns, run) / kRuns);
      }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      print(contenders[i].kernels, lab::median(seconds[i]));
    }
  }

  // The most that any of the contenders asks for.
  template <typename Ask>
  lab::Tensor memory_for(const std::vector<Contender>& contenders, const Ask& ask) {
    std::int64_t bytes = 4;
    for (const Contender& one : contenders) bytes = std::max(bytes, ask(*one.layers));
    return numbers((bytes + 3) / 4);
  }
  template <typename Operation>
  lab::Tensor workspace_for(const std::vector<Contender>& contenders, const Operation& operation) {
    return memory_for(contenders,
                      [&](lab::GpuLayers& layers) { return layers.workspace_bytes(operation); });
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
    std::vector<Contender> contenders = contenders_;
    std::erase_if(contenders, [&](const Contender& one) {
      return one.layers->unsupported(precision).has_value();
    });
    lab::Tensor workspace = workspace_for(contenders, c);
    lab::Tensor kept =
        memory_for(contenders, [&](lab::GpuLayers& layers) { return layers.kept_bytes(c); });
    c.kept = kept.data();
    c.x = c.dx = floats(x);
    c.y = floats(y);
    c.dy = c.y;
    c.weight = c.dweight = floats(weight);
    c.workspace = workspace.data();
    c.workspace_bytes = workspace.bytes();
    const auto print = [&](const char* name, const char* kernels, double s) {
      fmt::print(
          "{{\"type\":\"bench\",\"kernel\":\"convolution_{}\",\"kernels\":\"{}\","
          "\"dtype\":\"{}\",\"side\":{},\"in_c\":{},\"out_c\":{},\"size\":{},\"stride\":{},"
          "\"median_s\":{:.6g},\"gflops\":{:.6g}}}\n",
          name, kernels, lab::to_string(precision), shape.side, shape.in_c, shape.out_c,
          shape.kernel, shape.stride, s,
          2e-9 * static_cast<double>(pixels * taps * shape.out_c) / s);
    };
    using lab::GpuLayers;
    const auto bench = [&](const char* name, const auto& queue) {
      measure(contenders, queue,
              [&](const char* kernels, double seconds) { print(name, kernels, seconds); });
    };
    bench("forward",
          [&](GpuLayers& layers, GpuStream& stream) { layers.convolution_forward(c, stream); });
    bench("input_gradient", [&](GpuLayers& layers, GpuStream& stream) {
      layers.convolution_input_gradient(c, stream);
    });
    bench("weight_gradient", [&](GpuLayers& layers, GpuStream& stream) {
      layers.convolution_weight_gradient(c, stream);
    });
  }

  void batch_norm(const Shape& shape, bool has_residual) {
    const std::int64_t rows = kImages * shape.side * shape.side, channels = shape.out_c;
    lab::GpuBatchNorm norm{.rows = rows, .channels = channels, .images = kImages, .relu = true};
    lab::Tensor x = numbers(rows * channels), y = numbers(rows * channels);
    lab::Tensor dy = numbers(rows * channels), dx = numbers(rows * channels);
    lab::Tensor residual = numbers(rows * channels), dresidual = numbers(rows * channels);
    lab::Tensor kept = numbers(rows * channels / 4);
    lab::Tensor vectors = numbers(8 * channels);
    if (has_residual) {
      norm.residual = floats(residual);
      norm.dresidual = floats(dresidual);
      norm.kept = kept.data();
    }
    lab::Tensor workspace = workspace_for(contenders_, norm);
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
    const auto print = [&](const char* name, const char* kernels, int passes, double s) {
      fmt::print(
          "{{\"type\":\"bench\",\"kernel\":\"batch_norm_{}{}\",\"kernels\":\"{}\",\"rows\":{},"
          "\"channels\":{},\"median_s\":{:.6g},\"gb_per_s\":{:.6g}}}\n",
          name, has_residual ? "_with_residual" : "", kernels, rows, channels, s,
          4e-9 * passes * static_cast<double>(rows * channels) / s);
    };
    const auto bench = [&](const char* name, int passes, const auto& queue) {
      measure(contenders_, queue,
              [&](const char* kernels, double seconds) { print(name, kernels, passes, seconds); });
    };
    bench("forward", has_residual ? 4 : 3, [&](lab::GpuLayers& layers, GpuStream& stream) {
      layers.batch_norm_forward(norm, stream);
    });
    bench("backward", has_residual ? 6 : 5, [&](lab::GpuLayers& layers, GpuStream& stream) {
      layers.batch_norm_backward(norm, stream);
    });
  }

  lab::DeviceContext& context_;
  lab::GpuDevice& gpu_;
  lab::GatedClock clock_{gpu_, 1};
  std::vector<Contender> contenders_;
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
