#pragma once
// Checks matrix products on the first GPU against float64, for any implementation.
#include <functional>
#include <optional>
#include <string>

#include "compute/gpu/gpu_backend.h"
#include "tests/support/matmul_operands.h"

namespace lab::test {

// Returns the machine's first GPU.
GpuDevice& first_gpu();

// Queues the product on the stream, or finishes it before returning. Returns a reason if it is not
// supported.
using Multiply = std::function<std::optional<std::string>(const GpuProduct&, GpuStream&)>;

// Runs `multiply` on a new stream. C must be within the precision's bound, and exact for small
// integers. Returns the reason if `multiply` rejects the product.
std::optional<std::string> try_product(Precision precision, const Mnk& shape, std::int64_t gap,
                                       Values values, const Multiply& multiply);

// Runs kRaggedShapes with small integers, with and without gaps between rows. Returns nothing if at
// least one product was accepted, otherwise the last rejection.
std::optional<std::string> try_ragged_products(Precision precision, const Multiply& multiply);

}  // namespace lab::test
