#pragma once
// What every convolution algorithm is tested with: ragged shapes, and float64 results to compare.
#include <cstdint>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"

namespace lab::test {

// The three stages by definition, arrays as in ConvolutionAlgorithm. `magnitude` is the largest sum
// of |products| behind any one element: what the rounding errors of that stage scale with.
struct ConvolutionReference {
  std::vector<double> values;
  double magnitude = 0;
};
ConvolutionReference reference_forward(const simd::ConvShape& shape, std::int64_t batch,
                                       const std::vector<float>& x,
                                       const std::vector<float>& weight,
                                       const std::vector<float>& bias);
ConvolutionReference reference_input_gradient(const simd::ConvShape& shape, std::int64_t batch,
                                              const std::vector<float>& dy,
                                              const std::vector<float>& weight);
ConvolutionReference reference_weight_gradient(const simd::ConvShape& shape, std::int64_t batch,
                                               const std::vector<float>& x,
                                               const std::vector<float>& dy);

// Small images that are not square, channels around vector sizes and multiples of 16, kernels 1, 2,
// 3 and 5, strides 1 and 2, paddings 0 to 2, output sizes that no tile divides.
std::vector<simd::ConvShape> ragged_shapes();

struct CheckOptions {
  // |got - float64| <= tolerance * magnitude for every element.
  double tolerance = 1e-6;
  // |got - float64| <= norm_tolerance * |float64| for the whole result, Euclidean norms. This sees
  // what is missing here and there, which the rounding of bf16 factors hides in a single element.
  double norm_tolerance = 1e-5;
  std::vector<simd::ConvShape> shapes = ragged_shapes();
  std::vector<std::int64_t> batches = {1, 3, 16, 17, 33};
  std::vector<int> threads = {1, 2, 3};
  Precision products = Precision::F32;
};

// Every stage of every shape, batch and number of threads that the algorithm supports: results near
// to float64, with and without bias, with and without accumulation, bit-identical when repeated,
// nothing written outside of results and scratch, nothing taken from what lies there. Returns the
// number of cases that were supported.
int check_algorithm(const ConvolutionAlgorithm& algorithm, const CheckOptions& options = {});

}  // namespace lab::test
