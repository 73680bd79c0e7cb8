#pragma once
// What the experiment asks of one device: its rungs, its ceilings, and a place to multiply.
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/matmul/matmul_case.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"

namespace lab {

// The rungs of a device in ladder order, libraries last, as they present themselves for factors of
// `precision`; takes() reports which of them can multiply those.
std::vector<RungInfo> cpu_rungs(Device device, Precision precision);
std::vector<RungInfo> gpu_rungs(DeviceContext& device, Precision precision);

class DeviceLadder {
 public:
  DeviceLadder() = default;
  virtual ~DeviceLadder() = default;
  DeviceLadder(const DeviceLadder&) = delete;
  DeviceLadder& operator=(const DeviceLadder&) = delete;

  // What a person should know about this precision here; empty: nothing.
  virtual std::string remark() const = 0;
  // Of one thread and of all, or of the whole GPU: shares refer to the last. Empty where the
  // device has no instructions for the precision.
  virtual std::vector<PeakSample> peaks(const MeasureOptions& options) = 0;
  // Measured once for a device, then remembered.
  virtual const MeasuredBandwidths& bandwidths(const std::stop_token& stop) = 0;
  // Operands for a size, and rungs of the device that can multiply them. The ladder must outlive
  // the site. Throws Error(OutOfMemory), Error(Cancelled).
  virtual std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<RungInfo>& rungs,
                                           const CaseSettings& settings) = 0;
};

// Of a CPU device: the calling thread is bound to the device's threads while the ladder lives.
std::unique_ptr<DeviceLadder> make_cpu_ladder(DeviceContext& device, Precision precision);
// Of a GPU; what its products must be is computed on cpu:0.
std::unique_ptr<DeviceLadder> make_gpu_ladder(Machine& machine, DeviceContext& device,
                                              Precision precision);

}  // namespace lab
