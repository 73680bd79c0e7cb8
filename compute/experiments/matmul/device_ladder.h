#pragma once
// The matmul experiment's view of one device: its rungs, its ceilings, and the operands of a case.
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/matmul/matmul_case.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"

namespace lab {

// Returns the rungs of a device in ladder order, libraries last, described for operands of
// `precision`; takes() reports which of them support it.
std::vector<RungInfo> cpu_rungs(Device device, Precision precision);
std::vector<RungInfo> gpu_rungs(DeviceContext& device, Precision precision);

class DeviceLadder {
 public:
  DeviceLadder() = default;
  virtual ~DeviceLadder() = default;
  DeviceLadder(const DeviceLadder&) = delete;
  DeviceLadder& operator=(const DeviceLadder&) = delete;

  // Note for the user about the precision on this device; empty if there is none.
  virtual std::string remark() const = 0;
  // Peaks of one thread and of all threads, or of the whole GPU; shares of peak refer to the last
  // one. Empty if the device has no instructions for the precision.
  virtual std::vector<PeakSample> peaks(const MeasureOptions& options) = 0;
  // RungInfo::chosen of a rung that has multiplied.
  virtual std::string chosen(const RungInfo& rung) const = 0;
  // Measured once per device, then cached.
  virtual const MeasuredBandwidths& bandwidths(const std::stop_token& stop) = 0;
  // Creates the operands of one size on the device. Every rung must support the precision. The
  // ladder must outlive the site. Throws Error(OutOfMemory), Error(Cancelled).
  virtual std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<RungInfo>& rungs,
                                           const CaseSettings& settings) = 0;
};

// Ladder of a CPU device. Binds the calling thread to the device's threads for its lifetime.
std::unique_ptr<DeviceLadder> make_cpu_ladder(DeviceContext& device, Precision precision);
// Ladder of a GPU. Reference products are computed on cpu:0.
std::unique_ptr<DeviceLadder> make_gpu_ladder(Machine& machine, DeviceContext& device,
                                              Precision precision);

}  // namespace lab
