#pragma once
// Results of a reference machine as curves, and their overlay on the results of this machine.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/reference.h"
#include "ui/model/matmul_results.h"
#include "ui/model/transfer_results.h"

namespace lab::ui {

struct ReferenceResults {
  explicit ReferenceResults(ReferenceMachine from);
  const MatmulResults& matmul_of(Precision dtype) const {
    return matmul[static_cast<std::size_t>(dtype)];
  }

  ReferenceMachine machine;
  std::array<MatmulResults, 3> matmul;  // indexed by Precision
  TransferResults transfers;
};

// Part of a reference curve: `count` points from `first`, those within the sizes measured here.
// `here` is the local curve it is drawn beside, or null.
template <typename Curve>
struct ReferenceCurve {
  const Curve* here = nullptr;
  const Curve* there = nullptr;
  std::size_t first = 0, count = 0;
};

template <typename Curve>
struct Overlay {
  std::vector<ReferenceCurve<Curve>> curves;
  std::string note;  // explains what does not match; empty: everything does
};

// Pairs each kernel measured here with the reference's kernel of the same name, element type and
// kind of device; of several devices here, only the first is paired. If the reference has none of
// the kernels, its fastest kernel and its fastest library are returned, without `here`.
Overlay<KernelResults> overlay(const ReferenceResults& reference, const MatmulResults& here);

// Pairs each case measured here with the reference's case of the same operation, way, memory, kinds
// of devices and, for CPUs, one thread or all threads; of several devices here, only the first is
// paired.
Overlay<TransferCase> overlay(const ReferenceResults& reference, const TransferResults& here);

// Whether it has transfers between kinds of devices that this machine can measure.
bool has_transfers_for(const ReferenceResults& reference, const MachineInfo& machine);

// The reference's sample for that rung at exactly that size; null if it has none or was measured
// with another cache state.
const MatmulSample* reference_sample(const ReferenceResults& reference, Device device,
                                     std::string_view kernel, Precision dtype, std::int64_t size,
                                     CacheState cache);

// For example "2026-11-21 with Device Lab 0.1.0, driver 580.82, CUDA 13.0".
std::string measured_with(const ReferenceMachine& machine);

}  // namespace lab::ui
