#include "compute/experiments/transfers/gpu_case.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_memory.h"
#include "compute/gpu/gpu_transfers.h"
#include "compute/measure/gated_clock.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

constexpr int kWarmup = 4;
constexpr int kOperations = 16;  // per sample
// Samples that would take longer have fewer operations. Behind a gate, 16 copies of 512 MiB stay
// below this on every link of at least 22 GB/s.
constexpr double kLongGated_s = 0.4;
constexpr double kLongByHost_s = 0.05;
constexpr std::size_t kLeastSamples = 3;
constexpr std::size_t kMaxSamples = 1000;
constexpr double kMaxSpread = 0.02;

// Bytes between polls of the stop token, if the host takes part in the copy.
constexpr std::int64_t kPageablePiece = 256 * kMiB;

constexpr std::int64_t kHops = 1024;  // per operation, whose time is that of one hop
constexpr std::int64_t kNode_bytes = kChaseStride * 4;
constexpr std::int64_t kPosition_bytes = 16;
constexpr std::int64_t kLook = 1 << 16;  // nodes between polls of the stop token

bool through_host(PeerMode way) {
  return way == PeerMode::WriteThroughHost || way == PeerMode::ReadThroughHost;
}

// The driver works on the host for these series, so they cannot wait behind a gate.
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

// Grants the GPUs that work on a series direct access to each other's memory for the guard's
// lifetime: both GPUs if the copies go both ways, since each direction has its own GPU. Does
// nothing unless the series asks for peer access.
class PeerGuard {
 public:
  PeerGuard(Machine& machine, const TransferSeries& series);

 private:
  class Access {
   public:
    // Grants `worker` access to the memory of `other`.
    Access(GpuDevice& worker, GpuDevice& other) : worker_(worker), other_(other) {
      worker_.set_peer_access(other_, true);
    }
    ~Access() {
      try {
        worker_.set_peer_access(other_, false);
      } catch (const Error&) {
        // A lost GPU has no access left to revoke.
      }
    }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    GpuDevice& worker_;
    GpuDevice& other_;
  };
  std::optional<Access> there_, back_;
};

PeerGuard::PeerGuard(Machine& machine, const TransferSeries& series) {
  if (series.peer != PeerMode::Write && series.peer != PeerMode::Read) return;
  const Device worker = working_gpu(series);
  GpuDevice& working = *machine.at(worker).gpu();
  GpuDevice& other = *machine.at(worker == series.from ? series.to : series.from).gpu();
  there_.emplace(working, other);
  if (series.op == TransferOp::Both) back_.emplace(other, working);
}

// Copies between the host and a GPU, within a GPU, or between two GPUs: by copy engine or kernel,
// whole or in pieces, one way or both ways.
class GpuCopyCase final : public GpuCase {
 public:
  GpuCopyCase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
              std::stop_token stop);
  double repeat(int times) override;
  void poison() override;
  std::string check() override;
  bool gated() const override;
  int queued() const override { return series_.op == TransferOp::Pieces ? kTransferPieces : 1; }

 private:
  // One direction.
  struct Way {
    GpuDevice* worker;
    GpuDevice* from;  // null: the host
    GpuDevice* to;
    TransferMemory source, result;
    std::uint32_t seed;
  };
  void run_ungated();
  void queue_copies(Way& way, int times, GpuStream& stream);
  void queue_copy(Way& way, std::int64_t begin, std::int64_t bytes, GpuStream& stream);

  const TransferSeries series_;
  const std::int64_t bytes_;
  const std::stop_token stop_;
  const std::vector<GpuDevice*> workers_;  // one per direction
  const int kernels_at_once_;              // per GPU
  std::vector<Way> ways_;
  const PeerGuard access_;
  GatedClock clock_;  // declared last: its destructor waits for work that uses the memory
};

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
  poison();
}

// A stream's first copy may wait for the GPU, so it must not be queued behind a gate.
void GpuCopyCase::run_ungated() {
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    GpuStream& stream = clock_.stream(static_cast<int>(i));
    queue_copies(ways_[i], 1, stream);
    stream.synchronise();
  }
}

void GpuCopyCase::poison() {
  for (Way& way : ways_) way.result.poison();
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

double GpuCopyCase::repeat(int times) {
  const auto queue = [&](int i) {
    queue_copies(ways_[static_cast<std::size_t>(i)], times, clock_.stream(i));
  };
  const double seconds = gated() ? clock_.gated(queue) : clock_.by_host(queue);
  return seconds / times;
}

std::string GpuCopyCase::check() {
  for (Way& way : ways_) {
    const std::int64_t wrong = way.result.count_mismatches(way.seed);
    if (wrong == 0) continue;
    return way.seed == 1
               ? trf("{} of {} words are wrong", wrong, bytes_ / 4)
               : trf("{} of {} words are wrong in the reverse direction", wrong, bytes_ / 4);
  }
  return "";
}

// Memory latency as seen by a GPU: one thread follows a random cycle, in which each read yields the
// address of the next.
class GpuChase final : public GpuCase {
 public:
  GpuChase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
           std::stop_token stop);
  double repeat(int times) override;
  void poison() override;
  std::string check() override;

 private:
  void write_position(std::uint32_t value);

  GpuDevice& gpu_;
  const PeerGuard access_;
  const std::vector<std::uint32_t> cycle_;
  TransferMemory nodes_, position_;
  std::int64_t hops_ = 0;  // since poison()
  GatedClock clock_;
};

GpuChase::GpuChase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
                   std::stop_token stop)
    : gpu_(*machine.at(series.to).gpu()),
      access_(machine, series),
      cycle_(random_cycle(bytes / kNode_bytes, stop)),
      nodes_(machine.at(series.from), series.memory, gpu_, bytes, stop),
      position_(machine.at(series.to), MemoryKind::OnGpu, gpu_, kPosition_bytes, stop),
      clock_(gpu_, 1) {
  const auto size = static_cast<std::int64_t>(cycle_.size() * sizeof(cycle_[0]));
  GpuDevice* const holder = machine.at(series.from).gpu();
  if (holder == nullptr) {
    std::copy(cycle_.begin(), cycle_.end(), nodes_.words());
  } else if (size > 0) {
    holder->copy(GpuCopy::HostToDevice, nodes_.data(), cycle_.data(), size, holder->main_stream());
    holder->main_stream().synchronise();
  }
  poison();
}

void GpuChase::write_position(std::uint32_t value) {
  gpu_.copy(GpuCopy::HostToDevice, position_.data(), &value, sizeof value, gpu_.main_stream());
  gpu_.main_stream().synchronise();
}

void GpuChase::poison() {
  write_position(0);
  hops_ = 0;
}

double GpuChase::repeat(int times) {
  if (cycle_.empty()) return 0;
  const std::int64_t hops = kHops * times;
  const double seconds = clock_.gated([&](int) {
    gpu_.transfers().chase(nodes_.words(), position_.words(), hops, clock_.stream(0));
  });
  hops_ += hops;
  return seconds / static_cast<double>(hops);
}

std::string GpuChase::check() {
  std::uint32_t reached = 0, expected = 0;
  gpu_.copy(GpuCopy::DeviceToHost, &reached, position_.data(), sizeof reached, gpu_.main_stream());
  gpu_.main_stream().synchronise();
  if (cycle_.empty()) return "";
  const auto nodes = static_cast<std::int64_t>(cycle_.size()) / kChaseStride;
  for (std::int64_t hop = 0; hop < hops_ % nodes; ++hop) expected = cycle_[expected];
  if (reached == expected) return "";
  return trf("after {} reads the chase is at word {}, not {}", hops_, reached, expected);
}

}  // namespace

Timing GpuCase::time(const RunContext& ctx, const SampleSettings& settings) {
  const double budget_s = settings.live ? kLiveSample_s : settings.budget_s;
  const double begin = monotonic_s();
  const double once_s = repeat(kWarmup);
  ctx.throw_if_cancelled();
  const double long_s = gated() ? kLongGated_s : kLongByHost_s;
  const int most =
      gated() ? std::min(kOperations, GatedClock::kMaxOperations / queued()) : kOperations;
  const int times =
      static_cast<int>(std::clamp(long_s / std::max(once_s, 1e-9), 1.0, static_cast<double>(most)));
  std::vector<double> samples_s;
  double spread = 1;
  while (samples_s.size() < kMaxSamples) {
    samples_s.push_back(repeat(times));
    ctx.throw_if_cancelled();
    std::sort(samples_s.begin(), samples_s.end());
    spread = median_spread(samples_s);
    if (spread <= kMaxSpread) break;
    if (samples_s.size() >= kLeastSamples && monotonic_s() - begin >= budget_s) break;
  }
  Timing timing = summarise(samples_s);
  timing.warmup = kWarmup;
  timing.unstable = !(spread <= kMaxSpread);
  return timing;
}

Conditions GpuCase::conditions() const {
  return conditions_of_gpu();
}

std::vector<std::uint32_t> random_cycle(std::int64_t nodes, const std::stop_token& stop) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(11);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    if (i % kLook == 0 && stop.stop_requested()) return {};
    std::swap(order[i], order[random() % i]);
  }
  std::vector<std::uint32_t> words(static_cast<std::size_t>(nodes * kChaseStride));
  for (std::size_t i = 0; i < order.size(); ++i) {
    words[i * kChaseStride] = order[i] * static_cast<std::uint32_t>(kChaseStride);
  }
  return words;
}

std::unique_ptr<TransferCase> make_gpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop) {
  if (series.op == TransferOp::Chase) {
    return std::make_unique<GpuChase>(machine, series, bytes, std::move(stop));
  }
  return std::make_unique<GpuCopyCase>(machine, series, bytes, std::move(stop));
}

}  // namespace lab
