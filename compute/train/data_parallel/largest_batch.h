#pragma once
// The largest batches for which the memory of the devices suffices.
#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/nn/network.h"

namespace lab {

// The largest number of images below `refused` for which the network's device has memory; 0 if
// there is none.
std::int64_t largest_part(nn::Network& network, std::int64_t refused);

// A batch that is divided over the devices of all processes.
struct DividedBatch {
  std::span<nn::Network* const> networks;  // of this process
  std::span<const double> weights;         // of all devices, as for split_images()
  std::size_t first = 0;                   // number of the first network's device among them
  // What a training needs in the memory of each GPU besides what is allocated there now.
  std::int64_t gpu_bytes = 0;
};

// The largest whole batch below `refused` for whose parts the devices of this process have memory
// at the same time; 0 if there is none. A device without images needs memory for one.
std::int64_t largest_batch(const DividedBatch& batch, std::int64_t refused);

}  // namespace lab
