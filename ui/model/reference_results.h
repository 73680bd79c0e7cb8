#pragma once
// A reference machine as curves, and what of it fits the results of this machine.
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
  std::array<MatmulResults, 3> matmul;  // as Precision
  TransferResults transfers;
};

// A curve of the reference, from point `first` on, `count` points: those within the sizes measured
// here. `here` is what it is drawn beside; null: nothing in particular.
template <typename Curve>
struct ReferenceCurve {
  const Curve* here = nullptr;
  const Curve* there = nullptr;
  std::size_t first = 0, count = 0;
};

template <typename Curve>
struct Overlay {
  std::vector<ReferenceCurve<Curve>> curves;
  std::string note;  // a sentence where something does not fit; empty: everything is as expected
};

// Each kernel measured here with the reference's of the same name, element type and kind of device;
// of several devices here the first. Where it has none of them, its fastest kernel and its fastest
// library instead, without `here`.
Overlay<KernelResults> overlay(const ReferenceResults& reference, const MatmulResults& here);

// Each case measured here with the reference's of the same operation, way, memory, kinds of devices
// and, of a CPU, one thread or all of them; of several devices here the first.
Overlay<TransferCase> overlay(const ReferenceResults& reference, const TransferResults& here);

// What the reference reached with that rung at exactly that size; null where it has no such sample
// or was measured with other caches.
const MatmulSample* reference_sample(const ReferenceResults& reference, Device device,
                                     std::string_view kernel, Precision dtype, std::int64_t size,
                                     CacheState cache);

// "2026-11-21 with Device Lab 0.1.0, driver 580.82, CUDA 13.0"
std::string measured_with(const ReferenceMachine& machine);

}  // namespace lab::ui
