#pragma once
// The same products on several devices at once, and in sequence on the first one.
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/machine/machine.h"
#include "compute/run/experiment.h"
#include "compute/tensor/tensor.h"

namespace lab {

// One batch of products, on the monotonic clock.
struct DeviceProducts {
  Device device;
  double begin_s = 0, end_s = 0;
};

// Seconds from the first begin to the last end.
double span_s(const std::vector<DeviceProducts>& batches);

class TogetherProducts {
 public:
  // Allocates N x N operands with random values and a product on each device, verifies the product,
  // and then runs batches on the first device and on all at once as a warm-up. A batch has as many
  // products as the first device computes in about `seconds`; every batch has the same number.
  // Throws Error(OutOfMemory), Error(NotFound). This and each batch throw Error(Cancelled) once
  // `stop` is requested.
  TogetherProducts(Machine& machine, const std::vector<Device>& devices, std::int64_t n,
                   double seconds, std::stop_token stop = {});

  std::int64_t products_per_batch() const { return products_; }
  // Batches of each device in the warm-up.
  static constexpr int kWarmup = 1;

  // One batch per device, all on the first device, one after the other.
  std::vector<DeviceProducts> run_in_sequence();
  // One batch per device, on a thread each, begun together.
  std::vector<DeviceProducts> run_at_once();

  // True if the first product of every device is within the rounding bound of the float64 reference
  // (reference.h), and every batch so far computed the same values as the first product of its
  // device.
  bool consistent() const { return consistent_; }

 private:
  struct Site {
    DeviceContext* device = nullptr;
    Tensor a, b, product;
    double norm = 0;  // of the product
  };
  double fastest_batch_s(double short_s);
  void find_products_per_batch(double seconds);
  DeviceProducts run_batch(Site& site) const;
  void verify(const Site& site);  // its last product; outside of the times of batches

  const std::stop_token stop_;
  std::vector<Site> sites_;
  std::int64_t products_ = 1;
  bool consistent_ = true;
};

// Experiment behind StartMatmul::together: a TogetherSample per device and size, and a
// TogetherSpeedup per size.
std::unique_ptr<Experiment> make_together_experiment(const StartMatmul& request);

}  // namespace lab
