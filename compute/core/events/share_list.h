#pragma once
// What a list of shares may look like; the window and the command line ask before a job does.
#include <cstddef>
#include <string>
#include <vector>

namespace lab {

// What is wrong with listed shares, with the count, the values or their sum, and the way out; empty
// when nothing is. There is one for each device, finite, none negative, one above 0 at least. They
// are in any unit (images, GFLOP/s, 2,1), but fractions, that is shares up to 1 of which one is no
// whole number, are parts of the batch and must sum to 1 within 0.001. The share of a single
// device may be any: other processes may have the rest.
std::string fault_in_shares(const std::vector<double>& shares, std::size_t devices);

}  // namespace lab
