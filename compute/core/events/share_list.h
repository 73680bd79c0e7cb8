#pragma once
// Validates a list of shares. The window and the command line call it before starting a job.
#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// Returns what is wrong with a list of shares, naming the count, the values or their sum, and the
// fix; empty if it is valid. A valid list has one finite, nonnegative share per device and at least
// one above 0. Shares may be in any unit (images, GFLOP/s, 2,1). Fractions, that is shares up to 1
// of which at least one is not a whole number, are parts of the batch and must sum to 1 within
// 0.001. The share of a single device may have any value: other processes may have the rest.
std::string validate_shares(const std::vector<double>& shares, std::size_t devices);

}  // namespace lab
