#include "compute/experiments/transfers/gpu_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"

namespace lab {
namespace {

// Between two looks at the stop token, where the host takes part in the copy.
constexpr std::int64_t kPageablePiece = 256 * kMiB;

bool through_host(PeerWay way) {
  return way == PeerWay::WriteThroughHost || way == PeerWay::ReadThroughHost;
}

// The driver works on the host for these, so they cannot wait behind a gate.
bool needs_host(const TransferSeries& series) {
  return series.memory == MemoryKind::Pageable || through_host(series.peer);
}

std::vector<GpuDevice*> working_gpus(Machine& machine, const TransferSeries& series) {
  std::vector<GpuDevice*> gpus = {machine.at(working_gpu(series)).gpu()};
  if (series.op != TransferOp::Both) return gpus;
  TransferSeries back = series;
  std::swap(back.from, back.to);
  gpus.push_back(machine.at(working_gpu(back)).gpu());
  return gpus;
}

}  // namespace

Device working_gpu(const TransferSeries& series) {
  const bool reads = series.peer == PeerWay::Read || series.peer == PeerWay::ReadThroughHost;
  if (series.from.kind == DeviceKind::Cpu || reads) return series.to;
  return series.from;
}

PeerGuard::Access::Access(GpuDevice& worker, GpuDevice& other) : worker_(worker), other_(other) {
  worker_.set_peer_access(other_, true);
}

PeerGuard::Access::~Access() {
  try {
    worker_.set_peer_access(other_, false);
  } catch (const Error&) {
    // A lost GPU has no access any more.
  }
}

PeerGuard::PeerGuard(Machine& machine, const TransferSeries& series) {
  if (series.peer != PeerWay::Write && series.peer != PeerWay::Read) return;
  const Device worker = working_gpu(series);
  GpuDevice& working = *machine.at(worker).gpu();
  GpuDevice& other = *machine.at(worker == series.from ? series.to : series.from).gpu();
  there_.emplace(working, other);
  if (series.op == TransferOp::Both) back_.emplace(other, working);
}

GpuCopyCase::GpuCopyCase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
                         std::stop_token stop)
    : series_(series),
      bytes_(bytes),
      stop_(std::move(stop)),
      workers_(working_gpus(machine, series)),
      kernels_at_once_(static_cast<int>(std::count(workers_.begin(), workers_.end(), workers_[0]))),
      access_(machine, series),
      clock_(workers_) {
  DeviceContext& from = machine.at(series.from);
  DeviceContext& to = machine.at(series.to);
  const auto add = [&](DeviceContext& a, DeviceContext& b, std::uint32_t seed) {
    GpuDevice& worker = *workers_[ways_.size()];
    const auto memory = [&](DeviceContext& owner) {
      return TransferMemory(owner, series_.memory, worker, bytes_, stop_);
    };
    ways_.push_back({&worker, a.gpu(), b.gpu(), memory(a), memory(b), seed});
    ways_.back().source.fill(seed);
  };
  ways_.reserve(workers_.size());
  add(from, to, 1);
  if (series.op == TransferOp::Both) add(to, from, 2);
  if (gated()) run_ungated();
  spoil();
}

// A stream's first copy may wait for the GPU, which must not be behind a gate.
void GpuCopyCase::run_ungated() {
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    GpuStream& stream = clock_.stream(static_cast<int>(i));
    queue_copies(ways_[i], 1, stream);
    stream.synchronise();
  }
}

void GpuCopyCase::spoil() {
  for (Way& way : ways_) way.result.spoil();
}

void GpuCopyCase::queue_copy(Way& way, std::int64_t begin, std::int64_t bytes, GpuStream& stream) {
  std::byte* const to = way.result.data() + begin;
  const std::byte* const from = way.source.data() + begin;
  if (series_.mover == TransferMover::Kernel) {
    way.worker->transfers().copy_by_kernel(reinterpret_cast<std::uint32_t*>(to),
                                           reinterpret_cast<const std::uint32_t*>(from), bytes / 4,
                                           kernels_at_once_, stream);
  } else if (way.from == nullptr) {
    way.worker->copy(GpuCopy::HostToDevice, to, from, bytes, stream);
  } else if (way.to == nullptr) {
    way.worker->copy(GpuCopy::DeviceToHost, to, from, bytes, stream);
  } else if (way.from == way.to) {
    way.worker->copy(GpuCopy::DeviceToDevice, to, from, bytes, stream);
  } else {
    way.from->copy_to_peer(*way.to, to, from, bytes, stream);
  }
}

void GpuCopyCase::queue_copies(Way& way, int times, GpuStream& stream) {
  std::int64_t piece = bytes_;
  if (series_.op == TransferOp::Pieces) {
    piece = bytes_ / kTransferPieces;
  } else if (needs_host(series_)) {
    piece = std::min(bytes_, kPageablePiece);
  }
  for (int i = 0; i < times; ++i) {
    for (std::int64_t begin = 0; begin < bytes_; begin += piece) {
      if (stop_.stop_requested()) return;
      queue_copy(way, begin, std::min(piece, bytes_ - begin), stream);
    }
  }
}

bool GpuCopyCase::gated() const {
  return !needs_host(series_);
}

double GpuCopyCase::operate(int times) {
  const auto queue = [&](int i) {
    queue_copies(ways_[static_cast<std::size_t>(i)], times, clock_.stream(i));
  };
  const double seconds = gated() ? clock_.gated(queue) : clock_.by_host(queue);
  return seconds / times;
}

std::string GpuCopyCase::check() {
  for (Way& way : ways_) {
    const std::int64_t wrong = way.result.count_wrong(way.seed);
    if (wrong == 0) continue;
    return fmt::format("{} of {} words are wrong{}", wrong, bytes_ / 4,
                       way.seed == 1 ? "" : " on the way back");
  }
  return "";
}

}  // namespace lab
