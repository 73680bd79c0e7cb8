#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/chooser.h"
#include "tests/bench/kernels.h"

namespace lab::bench {
namespace {

struct Layer {
  const char* name;
  simd::ConvShape shape;
  std::int64_t batch;
};

// The distinct convolutions of ResNet-18, and both convolutions of LeNet.
constexpr Layer kLayers[] = {
    {"resnet18 stem", simd::conv_shape(28, 28, 1, 64, 3, 1, 1), 64},
    {"resnet18 block1", simd::conv_shape(28, 28, 64, 64, 3, 1, 1), 64},
    {"resnet18 block2 down", simd::conv_shape(28, 28, 64, 128, 3, 2, 1), 64},
    {"resnet18 block2 1x1", simd::conv_shape(28, 28, 64, 128, 1, 2, 0), 64},
    {"resnet18 block2", simd::conv_shape(14, 14, 128, 128, 3, 1, 1), 64},
    {"resnet18 block3 down", simd::conv_shape(14, 14, 128, 256, 3, 2, 1), 64},
    {"resnet18 block3", simd::conv_shape(7, 7, 256, 256, 3, 1, 1), 64},
    {"resnet18 block4 down", simd::conv_shape(7, 7, 256, 512, 3, 2, 1), 64},
    {"resnet18 block4", simd::conv_shape(4, 4, 512, 512, 3, 1, 1), 64},
    {"lenet conv1", simd::conv_shape(28, 28, 1, 6, 5, 1, 2), 256},
    {"lenet conv2", simd::conv_shape(14, 14, 6, 16, 5, 1, 0), 256},
};

constexpr ConvolutionStage kStages[] = {ConvolutionStage::Forward, ConvolutionStage::InputGradient,
                                        ConvolutionStage::WeightGradient};

// 64-byte aligned storage, like a network's scratch memory.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes) + kAlign) {}
  std::byte* data() {
    void* at = bytes_.data();
    std::size_t space = bytes_.size();
    return static_cast<std::byte*>(std::align(kAlign, space - kAlign, at, space));
  }

 private:
  static constexpr std::size_t kAlign = 64;
  std::vector<std::byte> bytes_;
};

struct Arrays {
  explicit Arrays(const Layer& layer)
      : x(random_floats(layer.batch * layer.shape.in_size() + kSlack, 1)),
        y(random_floats(layer.batch * layer.shape.out_size() + kSlack, 2)),
        weight(random_floats(layer.shape.weights(), 3)),
        bias(random_floats(layer.shape.out_c, 4)) {}
  static constexpr std::int64_t kSlack = ConvolutionAlgorithm::kSlackFloats;
  std::vector<float> x, y, weight, bias;
};

// Each stage overwrites an array that other stages read; the values do not affect timing.
void compute(const ConvolutionAlgorithm& algorithm, const ConvolutionCase& c,
             const ConvolutionContext& context, Arrays& arrays) {
  switch (c.stage) {
    case ConvolutionStage::Forward:
      return algorithm.forward(c.shape, context, arrays.x.data(), arrays.weight.data(),
                               arrays.bias.data(), arrays.y.data());
    case ConvolutionStage::InputGradient:
      return algorithm.input_gradient(c.shape, context, arrays.y.data(), arrays.weight.data(),
                                      arrays.x.data(), /*accumulate=*/false);
    case ConvolutionStage::WeightGradient:
      return algorithm.weight_gradient(c.shape, context, arrays.x.data(), arrays.y.data(),
                                       arrays.weight.data());
  }
}

void convolve(benchmark::State& state, const ConvolutionAlgorithm& algorithm,
              const ConvolutionCase& c, const Layer& layer, ThreadPool& pool) {
  Arrays arrays(layer);
  const std::int64_t bytes = algorithm.scratch_bytes(c);
  AlignedBytes memory(bytes);
  const ConvolutionContext context{
      .pool = pool, .batch = c.batch, .scratch = {memory.data(), bytes}, .products = c.products};
  repeat(state, [&] { compute(algorithm, c, context, arrays); });
  // FLOP of the direct algorithm, so that algorithms with fewer multiplications show a higher rate.
  count(state, "FLOP",
        2.0 * static_cast<double>(c.batch * c.shape.out_size()) *
            static_cast<double>(c.shape.patch()));
}

}  // namespace

void register_convolutions(DeviceContext& device) {
  std::vector<const ConvolutionAlgorithm*> algorithms(lab_convolutions().begin(),
                                                      lab_convolutions().end());
  algorithms.push_back(&library_convolution());
  for (const Layer& layer : kLayers) {
    for (const ConvolutionStage stage : kStages) {
      for (const Precision products : {Precision::F32, Precision::BF16}) {
        const ConvolutionCase c{layer.shape, stage, layer.batch, device.threads().size(), products};
        for (const ConvolutionAlgorithm* algorithm : algorithms) {
          if (!algorithm->supports(c)) continue;
          const std::string name =
              fmt::format("convolution/{}/{}/{}/{}", layer.name, to_string(stage),
                          to_string(products), algorithm->name());
          add(name,
              [algorithm, c, &layer, &device](benchmark::State& state) {
                convolve(state, *algorithm, c, layer, device.threads());
              })
              ->UseRealTime()
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
}

}  // namespace lab::bench
