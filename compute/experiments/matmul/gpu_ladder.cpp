// The GPU ladder: the rungs of the GPU backend, and their products.
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/ceilings.h"
#include "compute/experiments/matmul/device_ladder.h"
#include "compute/experiments/matmul/host_matrices.h"
#include "compute/gpu/gpu_matmul.h"
#include "compute/measure/gated_clock.h"
#include "compute/measure/gpu_peak.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

// A repetition is long compared with the 0.5 us resolution of an event, and fits behind a gate.
constexpr double kRepetition_s = 500e-6;
constexpr std::int64_t kMaxCalls = GatedClock::kMaxOperations / GpuMatmul::kMaxLaunches;
constexpr std::int64_t kFewestProbeRows = 128;
constexpr std::int64_t kProbeGrowth = 8;
constexpr double kLongestProbe_s = 0.5;
constexpr std::int64_t kFlushedCaches = 2;  // in L2 cache sizes
constexpr std::int64_t kUnknownCache_bytes = 128 * kMiB;

// Tensor cores may truncate sums instead of rounding them, and tf32 keeps 10 explicit mantissa
// bits, truncated or rounded.
MatmulRounding rounding_of(Precision precision) {
  return {.factor = precision == Precision::TF32 ? 0x1p-10 : 0,
          .sums = precision == Precision::F32 ? 1.0 : 2.0};
}

// Products on a GPU, timed by its own events behind a gate, so that queueing them is not timed.
// Source  method: NVIDIA nvbandwidth
class GpuSite final : public MatmulSite {
 public:
  // Creates the operands of the case on `host` and copies them to the GPU. Rungs must be of the
  // settings' precision. `clock` is the GPU's, with one stream; all sites share it, because
  // libraries keep memory per stream. Throws Error(OutOfMemory), Error(Cancelled).
  GpuSite(RunContext& ctx, DeviceContext& host, DeviceContext& device, GatedClock& clock,
          std::vector<const RungInfo*> rungs, const CaseSettings& settings);
  ~GpuSite() override;

  // Refuses a rung that does not support this product, is not installed, or would take too long.
  std::optional<std::string> refusal(std::size_t rung) override;
  MatmulCheck verify(std::size_t rung) override;
  double time(std::size_t rung, std::int64_t times) override;
  void rest() override {}
  MeasureOptions options() override;
  Conditions conditions() const override;

 private:
  GpuProduct product(std::int64_t rows);
  std::optional<std::string> too_slow(const RungInfo& rung);
  void run(const RungInfo& rung, std::int64_t rows, GpuStream& stream);
  void poison();
  void empty_caches();

  RunContext& ctx_;
  GpuDevice& gpu_;
  const CaseSettings settings_;
  const std::vector<const RungInfo*> rungs_;
  HostMatrices host_;
  Tensor a_, b_, c_;  // on the GPU
  Tensor flushed_;    // undefined if caches stay warm
  GatedClock& clock_;
};

GpuSite::GpuSite(RunContext& ctx, DeviceContext& host, DeviceContext& device, GatedClock& clock,
                 std::vector<const RungInfo*> rungs, const CaseSettings& settings)
    : ctx_(ctx),
      gpu_(*device.gpu()),
      settings_(settings),
      rungs_(std::move(rungs)),
      host_(ctx, host, settings.n, settings.precision, settings.seed,
            rounding_of(settings.precision)),
      a_(host_.a().to(device)),
      b_(host_.b().to(device)),
      c_(device, {settings.n, settings.n}, DType::F32, "matmul C"),
      clock_(clock) {
  if (settings.cold) {
    const std::int64_t cache = gpu_.facts().l2_bytes;
    const std::int64_t bytes = kFlushedCaches * (cache > 0 ? cache : kUnknownCache_bytes);
    flushed_ = Tensor(device, {bytes / 4}, DType::I32, "cache flush buffer");
  }
  gpu_.main_stream().synchronise();  // the clock's stream does not wait for the main stream
}

// Work left queued after an error must end before the operands are freed.
GpuSite::~GpuSite() {
  try {
    clock_.stream(0).synchronise();
  } catch (const Error&) {
    // A lost GPU has been reported already and runs nothing more.
  }
}

GpuProduct GpuSite::product(std::int64_t rows) {
  const std::int64_t n = settings_.n;
  return {.m = rows,
          .n = n,
          .k = n,
          .a = a_.data(),
          .lda = n,
          .b = b_.data(),
          .ldb = n,
          .c = reinterpret_cast<float*>(c_.data()),
          .ldc = n};
}

void GpuSite::run(const RungInfo& rung, std::int64_t rows, GpuStream& stream) {
  gpu_.matmul().run(rung, product(rows), stream);
}

std::optional<std::string> GpuSite::refusal(std::size_t rung) {
  const RungInfo& asked = *rungs_.at(rung);
  if (auto reason = gpu_.matmul().unsupported(asked, product(settings_.n))) return reason;
  try {
    return too_slow(asked);
  } catch (const Error& error) {
    // The lab's own rungs must run; a library may lack memory for its workspace, or a kernel after
    // all.
    const bool left_out = error.code() == Errc::OutOfMemory || error.code() == Errc::Cuda;
    if (!asked.library || !left_out) throw;
    return error.what();
  }
}

// Extrapolates from a few rows. Retries with more rows before refusing, because few rows do not
// fill the GPU.
std::optional<std::string> GpuSite::too_slow(const RungInfo& rung) {
  const std::int64_t n = settings_.n;
  std::int64_t rows = std::min(n, kFewestProbeRows);
  while (true) {
    const auto probe = [&](int /*stream*/) { run(rung, rows, clock_.stream(0)); };
    clock_.by_host(probe);  // kernels are loaded by their first run, which must not be gated
    ctx_.throw_if_cancelled();
    const double part_s = clock_.gated(probe);
    ctx_.throw_if_cancelled();
    const double all_s = part_s * static_cast<double>(n) / static_cast<double>(rows);
    if (all_s <= settings_.longest_run_s) return std::nullopt;
    const bool enough = rows * kProbeGrowth > n || part_s * kProbeGrowth > kLongestProbe_s;
    if (enough) return would_take(all_s, settings_);
    rows *= kProbeGrowth;
  }
}

void GpuSite::poison() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  gpu_.fill({.kind = GpuFillKind::Constant,
             .dtype = DType::F32,
             .bits = std::bit_cast<std::uint32_t>(kNan),
             .to = c_.data(),
             .count = c_.size()},
            clock_.stream(0));
}

MatmulCheck GpuSite::verify(std::size_t rung) {
  host_.poison();
  poison();
  run(*rungs_.at(rung), settings_.n, clock_.stream(0));
  gpu_.copy(GpuCopy::DeviceToHost, host_.c().data(), c_.data(), c_.bytes(), clock_.stream(0));
  clock_.stream(0).synchronise();
  ctx_.throw_if_cancelled();
  return host_.check();
}

double GpuSite::time(std::size_t rung, std::int64_t times) {
  const RungInfo& timed = *rungs_.at(rung);
  return clock_.gated_runs(times, [&](GpuStream& stream) { run(timed, settings_.n, stream); });
}

void GpuSite::empty_caches() {
  gpu_.transfers().fill_pattern(reinterpret_cast<std::uint32_t*>(flushed_.data()), flushed_.size(),
                                0, clock_.stream(0));
  clock_.stream(0).synchronise();
}

MeasureOptions GpuSite::options() {
  MeasureOptions options{.min_repetition_s = kRepetition_s, .max_calls = kMaxCalls};
  if (settings_.cold) options.flush = [this] { empty_caches(); };
  return options;
}

Conditions GpuSite::conditions() const {
  return conditions_of_gpu();
}

class GpuLadder final : public DeviceLadder {
 public:
  GpuLadder(Machine& machine, DeviceContext& device, Precision precision)
      : host_(machine.at(cpu())), device_(device), precision_(precision) {}

  std::string remark() const override { return {}; }
  std::string chosen(const RungInfo& /*rung*/) const override { return {}; }

  std::vector<PeakSample> peaks(const MeasureOptions& options) override {
    const auto peak = measure_gpu_peak(device_, precision_, options);
    return peak ? std::vector{*peak} : std::vector<PeakSample>{};
  }

  const MeasuredBandwidths& bandwidths(const std::stop_token& stop) override {
    return gpu_bandwidths_of(device_, stop);
  }

  std::unique_ptr<MatmulSite> site(RunContext& ctx, const std::vector<RungInfo>& infos,
                                   const CaseSettings& settings) override {
    std::vector<const RungInfo*> rungs;
    for (const RungInfo& info : infos) {
      for (const RungInfo& rung : device_.gpu()->matmul().rungs()) {
        if (rung.name == info.name && rung.takes.front() == precision_) rungs.push_back(&rung);
      }
    }
    if (clock_ == nullptr) clock_ = std::make_unique<GatedClock>(*device_.gpu(), 1);
    return std::make_unique<GpuSite>(ctx, host_, device_, *clock_, std::move(rungs), settings);
  }

 private:
  DeviceContext& host_;
  DeviceContext& device_;
  const Precision precision_;
  std::unique_ptr<GatedClock> clock_;
};

}  // namespace

// One entry per name, listing all of its precisions.
std::vector<RungInfo> gpu_rungs(DeviceContext& device, Precision precision) {
  std::vector<RungInfo> found;
  for (const RungInfo& rung : device.gpu()->matmul().rungs()) {
    auto one = std::find_if(found.begin(), found.end(),
                            [&](const RungInfo& other) { return other.name == rung.name; });
    const bool first = one == found.end();
    if (first) {
      one = found.insert(one, RungInfo{device.device(), rung.name, "", "", rung.library, {}});
    }
    one->takes.push_back(rung.takes.front());
    if (!first && rung.takes.front() != precision) continue;
    one->title = rung.title;
    one->sentence = rung.sentence;
  }
  return found;
}

std::unique_ptr<DeviceLadder> make_gpu_ladder(Machine& machine, DeviceContext& device,
                                              Precision precision) {
  return std::make_unique<GpuLadder>(machine, device, precision);
}

}  // namespace lab
