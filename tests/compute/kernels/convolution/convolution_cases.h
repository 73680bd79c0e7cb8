#pragma once
// Checks for every convolution algorithm: ragged shapes and float64 references.
#include <cstdint>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"

namespace lab::test {

// The three stages by definition, with arrays as in ConvolutionAlgorithm. `magnitude` is the
// maximum over all elements of the sum of |products|, to which the stage's rounding errors are
// proportional.
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

// Small non-square images, channels around vector sizes and multiples of 16, kernels 1, 2, 3 and 5,
// strides 1 and 2, paddings 0 to 2, and output sizes that no tile divides.
std::vector<simd::ConvShape> ragged_shapes();

struct CheckOptions {
  // |got - float64| <= tolerance * magnitude for every element.
  double tolerance = 1e-6;
  // |got - float64| <= norm_tolerance * |float64| over the whole result, in Euclidean norms.
  // Detects scattered missing terms, which the rounding of bf16 operands hides in single elements.
  double norm_tolerance = 1e-5;
  std::vector<simd::ConvShape> shapes = ragged_shapes();
  std::vector<std::int64_t> batches = {1, 3, 16, 17, 33};
  std::vector<int> threads = {1, 2, 3};
  Precision products = Precision::F32;
};

// Checks every stage, shape, batch and number of threads that the algorithm supports. Results must
// be close to float64, with and without bias and accumulation, and bit-identical when repeated.
// Nothing may be written outside results and scratch, and their previous contents must not matter.
// Returns the number of supported combinations of stage, shape and threads.
int check_algorithm(const ConvolutionAlgorithm& algorithm, const CheckOptions& options = {});

}  // namespace lab::test
