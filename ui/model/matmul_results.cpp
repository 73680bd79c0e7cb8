#include "ui/model/matmul_results.h"

#include <algorithm>
#include <set>

namespace lab::ui {
namespace {

KernelResults& kernel_of(std::vector<KernelResults>& kernels, const MatmulSample& s) {
  for (KernelResults& k : kernels) {
    if (k.device == s.device && k.name == s.kernel) return k;
  }
  KernelResults& added = kernels.emplace_back();
  added.device = s.device;
  added.name = s.kernel;
  added.library = s.library;
  return added;
}

double at_time(const MatmulSample& s, double seconds) {
  return seconds > 0 ? s.gflops * s.time.median_s / seconds : s.gflops;
}

void add_to_curve(KernelResults& k, const MatmulSample& s) {
  const auto n = static_cast<double>(s.n);
  const auto at = std::lower_bound(k.size.begin(), k.size.end(), n) - k.size.begin();
  const auto i = static_cast<std::size_t>(at);
  if (i == k.size.size() || k.size[i] != n) {
    k.size.insert(k.size.begin() + at, n);
    k.gflops.insert(k.gflops.begin() + at, 0);
    k.gflops_low.insert(k.gflops_low.begin() + at, 0);
    k.gflops_high.insert(k.gflops_high.begin() + at, 0);
    k.samples.insert(k.samples.begin() + at, s);
  }
  k.samples[i] = s;
  k.gflops[i] = s.gflops;
  k.gflops_low[i] = at_time(s, s.time.p90_s);
  k.gflops_high[i] = at_time(s, s.time.p10_s);
}

}  // namespace

const MatmulSample* KernelResults::at(std::int64_t n) const {
  const auto found =
      std::find_if(samples.begin(), samples.end(), [n](const MatmulSample& s) { return s.n == n; });
  return found == samples.end() ? nullptr : &*found;
}

void MatmulResults::add(const MatmulSample& s, double t_s) {
  KernelResults& k = kernel_of(kernels, s);
  add_to_curve(k, s);
  if (!request.live) return;
  k.live_t_s.push_back(t_s - started_t_s);
  k.live_gflops.push_back(s.gflops);
}

void MatmulResults::add(const PeakSample& peak) {
  for (PeakSample& known : peaks) {
    if (known.device == peak.device && known.dtype == peak.dtype && known.threads == peak.threads) {
      known = peak;
      return;
    }
  }
  peaks.push_back(peak);
}

const PeakSample* MatmulResults::peak(Device device) const {
  const PeakSample* best = nullptr;
  for (const PeakSample& p : peaks) {
    if (p.device == device && (best == nullptr || p.gflops > best->gflops)) best = &p;
  }
  return best;
}

void MatmulResults::add(const CeilingsMeasured& measured) {
  for (CeilingsMeasured& known : ceilings) {
    if (known.device == measured.device) {
      known = measured;
      return;
    }
  }
  ceilings.push_back(measured);
}

const CeilingsMeasured* MatmulResults::ceilings_of(Device device) const {
  const auto found =
      std::find_if(ceilings.begin(), ceilings.end(),
                   [device](const CeilingsMeasured& c) { return c.device == device; });
  return found == ceilings.end() ? nullptr : &*found;
}

std::vector<std::int64_t> MatmulResults::sizes(Device device) const {
  std::set<std::int64_t> found;
  for (const KernelResults& k : kernels) {
    if (k.device != device) continue;
    for (const MatmulSample& s : k.samples) found.insert(s.n);
  }
  return {found.begin(), found.end()};
}

std::int64_t MatmulResults::largest_size(Device device) const {
  std::int64_t largest = 0;
  for (const KernelResults& k : kernels) {
    if (k.device == device && !k.samples.empty()) largest = std::max(largest, k.samples.back().n);
  }
  return largest;
}

std::vector<Device> MatmulResults::devices() const {
  std::vector<Device> found;
  for (const KernelResults& k : kernels) {
    if (std::find(found.begin(), found.end(), k.device) == found.end()) found.push_back(k.device);
  }
  return found;
}

}  // namespace lab::ui
