#pragma once
// Algorithms timed against each other.
#include <stop_token>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"

namespace lab {

// Seconds of each algorithm for the case, on random data: the best of a few runs in turns, after
// one untimed; one that is far behind is not run again. A run counts what its busiest thread
// computed, not what other programs took meanwhile. All must support the case. Ends early, with
// numbers that mean nothing, once `stop` is requested. Throws std::bad_alloc.
std::vector<double> race(const std::vector<const ConvolutionAlgorithm*>& algorithms,
                         const ConvolutionCase& c, ThreadPool& pool, const std::stop_token& stop);

}  // namespace lab
