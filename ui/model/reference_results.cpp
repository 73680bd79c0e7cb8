#include "ui/model/reference_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "compute/core/language.h"

namespace lab::ui {
namespace {

struct SizeRange {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  void add(const Column64& sizes) {
    if (sizes.empty()) return;
    least = std::min(least, sizes.front());
    most = std::max(most, sizes.back());
  }
};

// Adds the curve if some of its points are within the sizes measured here, unless it is already
// paired with another device.
template <typename Curve>
void add_within(Overlay<Curve>& to, const Curve* here, const Curve& there, const Column64& sizes,
                const SizeRange& reach) {
  const auto first = std::lower_bound(sizes.begin(), sizes.end(), reach.least);
  const auto end = std::upper_bound(first, sizes.end(), reach.most);
  const bool known = std::any_of(to.curves.begin(), to.curves.end(),
                                 [&](const auto& curve) { return curve.there == &there; });
  if (first == end || known) return;
  to.curves.push_back({here, &there, static_cast<std::size_t>(first - sizes.begin()),
                       static_cast<std::size_t>(end - first)});
}

std::string other_caches(const ReferenceMachine& machine, CacheState here) {
  if (machine.cache == here) return "";
  return trf("{} was measured with {} caches, this machine with {} ones: not drawn.", machine.name,
             to_string(machine.cache), to_string(here));
}

Precision dtype_of(const KernelResults& k, const MatmulResults& results) {
  return k.samples.empty() ? results.request.dtype : k.samples.front().dtype;
}

const KernelResults* kernel_of(const ReferenceResults& reference, Device device,
                               std::string_view name, Precision dtype) {
  if (device.kind != reference.machine.kind) return nullptr;
  for (const KernelResults& k : reference.matmul_of(dtype).kernels) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

// The kernel with the highest throughput, either of the libraries or of the lab's own.
const KernelResults* fastest(const MatmulResults& results, bool library) {
  const KernelResults* best = nullptr;
  double top = 0;
  for (const KernelResults& k : results.kernels) {
    const double reached = *std::max_element(k.gflops.begin(), k.gflops.end());
    if (k.library != library || reached <= top) continue;
    best = &k;
    top = reached;
  }
  return best;
}

bool same_devices(const TransferCase& a, const TransferCase& b) {
  return a.from.kind == b.from.kind && a.to.kind == b.to.kind &&
         (a.from == a.to) == (b.from == b.to);
}

bool fits(const TransferCase& here, const TransferCase& there) {
  const bool threads =
      here.mover != TransferMover::Threads || (here.threads == 1) == (there.threads == 1);
  return here.op == there.op && here.mover == there.mover && here.memory == there.memory &&
         here.peer == there.peer && threads && same_devices(here, there);
}

// All-thread cases may differ in thread count: returns a sentence naming both counts, or "" if
// equal.
std::string other_threads(const Overlay<TransferCase>& found, const std::string& name) {
  for (const ReferenceCurve<TransferCase>& curve : found.curves) {
    if (curve.here->mover == TransferMover::Threads &&
        curve.here->threads != curve.there->threads) {
      return trf("{} used {} threads, the device here {}.", name, curve.there->threads,
                 curve.here->threads);
    }
  }
  return "";
}

}  // namespace

ReferenceResults::ReferenceResults(ReferenceMachine from) : machine(std::move(from)) {
  for (std::size_t i = 0; i < matmul.size(); ++i) {
    matmul[i].request.dtype = static_cast<Precision>(i);
    matmul[i].request.cache = machine.cache;
  }
  for (const MatmulSample& s : machine.matmul) matmul[static_cast<std::size_t>(s.dtype)].add(s, 0);
  transfers.request.cache = machine.cache;
  for (const TransferSample& s : machine.transfers) transfers.add(s, 0);
}

Overlay<KernelResults> overlay(const ReferenceResults& reference, const MatmulResults& here) {
  Overlay<KernelResults> found;
  const std::string& name = reference.machine.name;
  if (!here.has_samples()) return found;
  found.note = other_caches(reference.machine, here.request.cache);
  if (!found.note.empty()) return found;
  SizeRange reach;
  for (const KernelResults& k : here.kernels) reach.add(k.size);
  for (const KernelResults& k : here.kernels) {
    const KernelResults* there = kernel_of(reference, k.device, k.name, dtype_of(k, here));
    if (there != nullptr) add_within(found, &k, *there, there->size, reach);
  }
  if (!found.curves.empty()) return found;
  const Precision dtype = dtype_of(here.kernels.front(), here);
  for (const bool library : {false, true}) {
    const KernelResults* best = fastest(reference.matmul_of(dtype), library);
    if (best != nullptr) {
      add_within<KernelResults>(found, nullptr, *best, best->size, reach);
    }
  }
  found.note = found.curves.empty()
                   ? trf("{} has no {} results at these sizes.", name, to_string(dtype))
                   : trf("{} has other kernels: its fastest are drawn.", name);
  return found;
}

bool has_transfers_for(const ReferenceResults& reference, const MachineInfo& machine) {
  const auto has = [&](Device there) {
    return std::ranges::any_of(machine.devices, [&](const DeviceInfo& info) {
      return is_timed(info.device) && info.device.kind == there.kind;
    });
  };
  return std::ranges::any_of(reference.transfers.cases,
                             [&](const TransferCase& c) { return has(c.from) && has(c.to); });
}

Overlay<TransferCase> overlay(const ReferenceResults& reference, const TransferResults& here) {
  Overlay<TransferCase> found;
  SizeRange reach;
  for (const TransferCase& c : here.cases) reach.add(c.bytes);
  if (reach.most == 0) return found;
  found.note = other_caches(reference.machine, here.request.cache);
  if (!found.note.empty()) return found;
  for (const TransferCase& c : here.cases) {
    if (c.samples.empty()) continue;
    const auto there =
        std::find_if(reference.transfers.cases.begin(), reference.transfers.cases.end(),
                     [&](const TransferCase& other) { return fits(c, other); });
    if (there != reference.transfers.cases.end()) {
      add_within(found, &c, *there, there->bytes, reach);
    }
  }
  const std::string& name = reference.machine.name;
  found.note = found.curves.empty() ? trf("{} has no transfers of this kind at these sizes.", name)
                                    : other_threads(found, name);
  return found;
}

const MatmulSample* reference_sample(const ReferenceResults& reference, Device device,
                                     std::string_view kernel, Precision dtype, std::int64_t size,
                                     CacheState cache) {
  if (cache != reference.machine.cache) return nullptr;
  const KernelResults* k = kernel_of(reference, device, kernel, dtype);
  return k == nullptr ? nullptr : k->at(size);
}

std::string measured_with(const ReferenceMachine& machine) {
  const bool driver = !machine.driver.empty(), cuda = !machine.cuda.empty();
  if (driver && cuda) {
    return trf("{} with Device Lab {}, driver {}, CUDA {}", machine.date, machine.lab,
               machine.driver, machine.cuda);
  }
  if (driver) {
    return trf("{} with Device Lab {}, driver {}", machine.date, machine.lab, machine.driver);
  }
  return cuda ? trf("{} with Device Lab {}, CUDA {}", machine.date, machine.lab, machine.cuda)
              : trf("{} with Device Lab {}", machine.date, machine.lab);
}

}  // namespace lab::ui
