// Benchmarks of the memory-bound kernels, on the calling thread.
#include <benchmark/benchmark.h>

#include "compute/kernels/ops/activations.h"
#include "compute/kernels/ops/average_pool.h"
#include "compute/kernels/ops/batch_norm.h"
#include "compute/kernels/ops/im2col.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/kernels/ops/vector_ops.h"
#include "tests/bench/kernels.h"

namespace lab::bench {
namespace {

constexpr std::int64_t kFloat = 4;
// Floats per array: fits L1, fits L2, exceeds both.
constexpr std::int64_t kLengths[] = {4 << 10, 64 << 10, 16 << 20};

void count_bytes(benchmark::State& state, std::int64_t bytes) {
  count(state, "bytes", static_cast<double>(bytes));
}

// Times an operation on arrays of range(0) floats; `passes` is the number of array reads and writes
// per iteration.
template <typename Operation>
void elementwise(benchmark::State& state, int passes, Operation operation) {
  const std::int64_t n = state.range(0);
  std::vector<float> a = random_floats(n, 1), b = random_floats(n, 2), c = random_floats(n, 3);
  repeat(state, [&] { operation(a.data(), b.data(), c.data(), n); });
  count_bytes(state, passes * n * kFloat);
}

template <typename Operation>
void add_elementwise(const char* name, int passes, Operation operation) {
  auto* added = add(name, [passes, operation](benchmark::State& state) {
    elementwise(state, passes, operation);
  });
  for (const std::int64_t n : kLengths) added->Arg(n);
}

void register_elementwise() {
  add_elementwise("sigmoid", 2,
                  [](float* a, float*, float*, std::int64_t n) { simd::sigmoid(a, n); });
  add_elementwise("relu", 2, [](float* a, float*, float*, std::int64_t n) { simd::relu(a, n); });
  add_elementwise("sgd", 3, [](float* a, float* b, float*, std::int64_t n) {
    simd::sgd_update(a, b, nullptr, {.lr = 1e-6F}, n);
  });
  add_elementwise("sgd_momentum", 5, [](float* a, float* b, float* c, std::int64_t n) {
    simd::sgd_update(a, b, c, {.lr = 1e-6F, .momentum = 0.5F}, n);
  });
}

// y is chosen so that y (1 - y) = -1: otherwise repeated in-place updates would shrink the gradient
// to denormals, which are slow.
void sigmoid_backward(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const std::vector<float> y(static_cast<std::size_t>(n), -0.618034F);
  std::vector<float> dy = random_floats(n, 1);
  repeat(state, [&] { simd::sigmoid_backward(y.data(), dy.data(), n); });
  count_bytes(state, 3 * n * kFloat);
}

void pixels(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
  std::vector<float> out(bytes.size());
  repeat(state, [&] { simd::pixels_to_floats(bytes.data(), out.data(), n); });
  count_bytes(state, n * (kFloat + 1));
}

// Arrays [rows, channels], the shape of ResNet-18's activations in batch norm at batch 8.
struct Activations {
  explicit Activations(const benchmark::State& state)
      : rows(state.range(0)),
        cols(state.range(1)),
        x(random_floats(rows * cols, 1)),
        y(random_floats(rows * cols, 2)),
        dy(random_floats(rows * cols, 3)),
        mean(random_floats(cols, 4)),
        scale(random_floats(cols, 5)),
        shift(random_floats(cols, 6)),
        sums(static_cast<std::size_t>(cols)),
        more_sums(static_cast<std::size_t>(cols)) {}
  simd::NormArgs norm(bool relu = true) const {
    return {.mean = mean.data(), .scale = scale.data(), .shift = shift.data(), .relu = relu};
  }
  std::int64_t rows, cols;
  std::vector<float> x, y, dy, mean, scale, shift;
  std::vector<double> sums, more_sums;
};

template <typename Operation>
void add_norm(const char* name, int passes, Operation operation) {
  add(name,
      [passes, operation](benchmark::State& state) {
        Activations arrays(state);
        repeat(state, [&] { operation(arrays); });
        count_bytes(state, passes * arrays.rows * arrays.cols * kFloat);
      })
      ->ArgNames({"rows", "channels"})
      ->Args({8 * 28 * 28, 64})
      ->Args({8 * 14 * 14, 128})
      ->Args({8 * 4 * 4, 512});
}

void register_norm() {
  add_norm("column_sums", 1,
           [](Activations& a) { simd::column_sums(a.x.data(), a.rows, a.cols, a.sums.data()); });
  add_norm("centred_sums", 1, [](Activations& a) {
    simd::centred_sums(a.x.data(), a.mean.data(), a.rows, a.cols, a.sums.data(),
                       a.more_sums.data());
  });
  add_norm("normalise", 2, [](Activations& a) {
    simd::normalise(a.x.data(), nullptr, a.y.data(), a.norm(), a.rows, a.cols);
  });
  // The two passes after a residual: the first one stores the relu's gradient.
  add_norm("norm_backward_sums", 4, [](Activations& a) {
    simd::norm_backward_sums(a.x.data(), a.y.data(), a.dy.data(), a.norm(), a.rows, a.cols,
                             a.sums.data(), a.more_sums.data(), a.dy.data());
  });
  add_norm("norm_backward", 3, [](Activations& a) {
    simd::norm_backward(a.x.data(), a.dy.data(), a.y.data(), a.norm(/*relu=*/false), a.mean.data(),
                        a.shift.data(), a.rows, a.cols);
  });
}

constexpr std::int64_t kPatchImages = 4;
constexpr simd::ConvShape kPatchShapes[] = {simd::conv_shape(28, 28, 64, 64, 3, 1, 1),
                                            simd::conv_shape(28, 28, 1, 6, 5, 1, 2),
                                            simd::conv_shape(28, 28, 64, 128, 3, 2, 1)};

// range(0) is an index into kPatchShapes. Bytes count the patch matrix only; the image is small in
// comparison.
void patches(benchmark::State& state, bool back) {
  const simd::ConvShape& shape = kPatchShapes[static_cast<std::size_t>(state.range(0))];
  const std::int64_t rows = kPatchImages * shape.out_pixels();
  std::vector<float> x = random_floats(kPatchImages * shape.in_size() + simd::kIm2colSlack, 1);
  std::vector<float> col = random_floats(rows * shape.patch() + simd::kIm2colSlack, 2);
  repeat(state, [&] {
    if (back) {
      simd::col2im(col.data(), x.data(), shape, 0, rows);
    } else {
      simd::im2col(x.data(), col.data(), shape, 0, rows);
    }
  });
  count_bytes(state, rows * shape.patch() * kFloat);
}

void pool(benchmark::State& state, bool back) {
  constexpr std::int64_t kImages = 64;
  const simd::PoolShape shape{28, 28, 6, 2, 2, 2};
  std::vector<float> x = random_floats(kImages * shape.in_size(), 1);
  std::vector<float> y = random_floats(kImages * shape.out_size(), 2);
  repeat(state, [&] {
    if (back) {
      simd::average_pool_backward(y.data(), x.data(), shape, kImages);
    } else {
      simd::average_pool(x.data(), y.data(), shape, kImages);
    }
  });
  count_bytes(state, kImages * ((back ? 2 : 1) * shape.in_size() + shape.out_size()) * kFloat);
}

void softmax(benchmark::State& state) {
  constexpr std::int64_t kRows = 256, kClasses = 10;
  const std::vector<float> logits = random_floats(kRows * kClasses, 1);
  std::vector<std::uint8_t> labels(kRows, 3), predicted(kRows);
  std::vector<float> losses(kRows), gradient(kRows * kClasses);
  repeat(state, [&] {
    simd::softmax_cross_entropy({.logits = logits.data(),
                                 .labels = labels.data(),
                                 .rows = kRows,
                                 .classes = kClasses,
                                 .losses = losses.data(),
                                 .predicted = predicted.data(),
                                 .d_logits = gradient.data(),
                                 .divisor = kRows});
  });
  count(state, "rows", kRows);
}

}  // namespace

void register_passes() {
  register_elementwise();
  auto* added = add("sigmoid_backward", sigmoid_backward);
  for (const std::int64_t n : kLengths) added->Arg(n);
  register_norm();
  add("pixels_to_floats", pixels)->Arg(256 * 784)->Arg(16 << 20);
  add("im2col", [](benchmark::State& state) { patches(state, /*back=*/false); })
      ->ArgName("shape")
      ->DenseRange(0, 2);
  add("col2im", [](benchmark::State& state) { patches(state, /*back=*/true); })
      ->ArgName("shape")
      ->DenseRange(0, 2);
  add("average_pool", [](benchmark::State& state) { pool(state, /*back=*/false); });
  add("average_pool_backward", [](benchmark::State& state) { pool(state, /*back=*/true); });
  add("softmax_cross_entropy", softmax);
}

}  // namespace lab::bench
