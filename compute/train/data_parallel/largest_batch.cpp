#include "compute/train/data_parallel/largest_batch.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compute/core/units.h"
#include "compute/machine/machine.h"
#include "compute/machine/thread_pool.h"
#include "compute/train/data_parallel/shares.h"

namespace lab {
namespace {

// Of a real GPU's memory: for kernels, which are loaded when they first run, graphs, and gaps that
// the memory pool cannot join.
constexpr std::int64_t kDriverBytes = 64 * kMiB;

// The largest number below `refused` that fits. A smaller one fits too: arenas grow with the batch.
std::int64_t largest_below(std::int64_t refused, FunctionRef<bool(std::int64_t)> fits) {
  std::int64_t most = 0;
  while (most + 1 < refused) {
    const std::int64_t middle = most + (refused - most) / 2;
    if (fits(middle)) {
      most = middle;
    } else {
      refused = middle;
    }
  }
  return most;
}

// What the device of a network has for activations, the present ones included.
std::int64_t room_bytes(nn::Network& network) {
  network.wait();  // memory released on a GPU is free once its work is done
  const std::int64_t bytes = network.device().free_bytes() + network.activation_bytes();
  return network.device().device().kind == DeviceKind::Cuda ? bytes - kDriverBytes : bytes;
}

}  // namespace

std::int64_t largest_part(nn::Network& network, std::int64_t refused) {
  return largest_below(refused, [&network](std::int64_t images) {
    const std::optional<std::int64_t> bytes = network.activation_bytes(images);
    return bytes && *bytes <= room_bytes(network);
  });
}

std::int64_t largest_batch(const DividedBatch& batch, std::int64_t refused) {
  return largest_below(refused, [&batch](std::int64_t images) {
    const std::vector<std::int64_t> parts = split_images(images, batch.weights);
    for (std::size_t i = 0; i < batch.networks.size(); ++i) {
      nn::Network& network = *batch.networks[i];
      const auto bytes =
          network.activation_bytes(std::max<std::int64_t>(1, parts[batch.first + i]));
      if (!bytes) return false;
      const std::int64_t other_bytes = network.device().gpu() == nullptr ? 0 : batch.gpu_bytes;
      if (*bytes + other_bytes > room_bytes(network)) return false;
    }
    return true;
  });
}

}  // namespace lab
