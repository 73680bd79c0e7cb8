#pragma once
// The same products on several devices at once, and in sequence on the first one.
#include <cstdint>
#include <stop_token>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/tensor/tensor.h"

namespace lab {

// One batch of products, on the monotonic clock.
struct DeviceProducts {
  Device device;
  double begin_s = 0, end_s = 0;
};

class TogetherProducts {
 public:
  // Allocates N x N operands with random values on each device. A batch has as many products as the
  // first device computes in about `seconds`; every batch has the same number. Throws
  // Error(OutOfMemory), Error(NotFound).
  TogetherProducts(Machine& machine, const std::vector<Device>& devices, std::int64_t n,
                   double seconds, std::stop_token stop = {});

  std::int64_t products_per_batch() const { return products_; }

  // One batch per device, all on the first device, one after the other.
  std::vector<DeviceProducts> run_in_sequence();
  // One batch per device, on a thread each, begun together.
  std::vector<DeviceProducts> run_at_once();

  // True if every batch so far computed the same values as the first product of its device.
  bool consistent() const { return consistent_; }

 private:
  struct Site {
    DeviceContext* device = nullptr;
    Tensor a, b;
    double norm = 0;  // of the product
  };
  DeviceProducts run_batch(Site& site, bool* same) const;

  const std::stop_token stop_;
  std::vector<Site> sites_;
  std::int64_t products_ = 1;
  bool consistent_ = true;
};

}  // namespace lab
