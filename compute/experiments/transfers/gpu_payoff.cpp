#include "compute/experiments/transfers/gpu_payoff.h"

#include <algorithm>
#include <cmath>

namespace lab {
namespace {

const MeasuredSeries* find_copy(std::span<const MeasuredSeries> measured, Device from, Device to,
                                MemoryKind memory, TransferMover mover) {
  const MeasuredSeries* found = nullptr;
  for (const MeasuredSeries& m : measured) {
    const TransferSeries& s = m.series;
    if (s.op != TransferOp::Copy || s.from != from || s.to != to || s.memory != memory ||
        s.mover != mover) {
      continue;
    }
    if (found == nullptr || s.threads > found->series.threads) found = &m;
  }
  return found;
}

const TransferPoint* at_size(const MeasuredSeries& measured, double bytes) {
  const auto found = std::find_if(measured.points.begin(), measured.points.end(),
                                  [&](const TransferPoint& p) { return p.bytes == bytes; });
  return found == measured.points.end() ? nullptr : &*found;
}

TransferPayoff payoff(const MeasuredSeries& in, const MeasuredSeries& within,
                      const MeasuredSeries& out, const MeasuredSeries& host, int passes) {
  std::vector<TransferPoint> on_gpu, on_host;
  for (const TransferPoint& p : in.points) {
    const TransferPoint *w = at_size(within, p.bytes), *o = at_size(out, p.bytes),
                        *h = at_size(host, p.bytes);
    if (w == nullptr || o == nullptr || h == nullptr) continue;
    on_gpu.push_back({p.bytes, p.seconds + passes * w->seconds + o->seconds});
    on_host.push_back({p.bytes, passes * h->seconds});
  }
  TransferPayoff result;
  result.host = in.series.from;
  result.gpu = in.series.to;
  result.memory = in.series.memory;
  result.passes = passes;
  if (const auto bytes = break_even_bytes(on_gpu, on_host)) {
    result.from_bytes = std::llround(*bytes);
  }
  return result;
}

}  // namespace

std::vector<TransferPayoff> payoffs(std::span<const MeasuredSeries> measured) {
  std::vector<TransferPayoff> found;
  for (const MeasuredSeries& in : measured) {
    const TransferSeries& s = in.series;
    if (s.op != TransferOp::Copy || s.mover != TransferMover::CopyEngine ||
        s.from.kind != DeviceKind::Cpu) {
      continue;
    }
    const auto* within =
        find_copy(measured, s.to, s.to, MemoryKind::OnGpu, TransferMover::CopyEngine);
    const auto* out = find_copy(measured, s.to, s.from, s.memory, TransferMover::CopyEngine);
    const auto* host =
        find_copy(measured, s.from, s.from, MemoryKind::Pageable, TransferMover::Threads);
    if (within == nullptr || out == nullptr || host == nullptr) continue;
    for (const int passes : {1, 10, 100}) {
      found.push_back(payoff(in, *within, *out, *host, passes));
    }
  }
  return found;
}

}  // namespace lab
