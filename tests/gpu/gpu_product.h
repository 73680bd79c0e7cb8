#pragma once
// Matrix products on the first GPU against float64, whoever computes them there.
#include <functional>
#include <optional>
#include <string>

#include "compute/gpu/gpu_backend.h"
#include "tests/support/matmul_factors.h"

namespace lab::test {

// The machine's first GPU.
GpuDevice& first_gpu();

// Queues the product, on the stream or so that it is done at the return; or says why not.
using Multiply = std::function<std::optional<std::string>(const GpuProduct&, GpuStream&)>;

// By `multiply` on a stream of its own. C must be within the precision's bound, and exact for small
// integers. Returns multiply's word where it refuses.
std::optional<std::string> try_product(Precision precision, const Mnk& shape, std::int64_t gap,
                                       Values values, const Multiply& multiply);

// kRaggedShapes of small integers, with rows close together and apart. Nothing where one was taken,
// else why the last was not.
std::optional<std::string> try_ragged_products(Precision precision, const Multiply& multiply);

}  // namespace lab::test
