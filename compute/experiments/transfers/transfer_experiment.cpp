#include "compute/experiments/transfers/transfer_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/gpu_payoff.h"
#include "compute/experiments/transfers/gpu_sweep.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_fit.h"
#include "compute/experiments/transfers/transfer_report.h"
#include "compute/experiments/transfers/transfer_run.h"
#include "compute/measure/cache_flusher.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

// A live run shows about four samples a second.
constexpr double kLiveSample_s = 0.25;

// One thread's first cache and all of the device's last one, in sizes of one array.
CachedSizes cached_sizes(const DeviceInfo& info, TransferOp op) {
  const auto first = std::find_if(info.caches.begin(), info.caches.end(),
                                  [](const CacheInfo& cache) { return cache.level == 1; });
  const std::int64_t first_bytes = first == info.caches.end() ? 32 * kKiB : first->size_bytes;
  const auto arrays = static_cast<double>(arrays_of(op));
  return {static_cast<double>(first_bytes) / arrays,
          2 * static_cast<double>(last_level_cache_bytes(info)) / arrays};
}

class TransferSweep final : public Experiment {
 public:
  explicit TransferSweep(StartTransfers request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    plan_ = plan_transfers(request_, ctx.machine());
    if (!(request_.budget_s > 0)) {
      throw Error(Errc::Usage, fmt::format("transfer: a time of {} s a case is too short; name a "
                                           "positive one",
                                           request_.budget_s));
    }
    for (const Skipped& skipped : plan_.skipped) ctx.emit(skipped);
    if (request_.live) {
      if (!plan_.series.empty()) run_live(ctx, plan_.series.front());
      return;
    }
    std::vector<MeasuredSeries> measured;
    std::vector<TransferPoint> one_thread;
    for (const TransferSeries& series : plan_.series) {
      const std::vector<TransferPoint> points = run_series(ctx, series);
      measured.push_back({series, points});
      if (series.mover != TransferMover::Threads) {
        if (const auto fit = fit_gpu_series(ctx.machine(), series, points)) ctx.emit(*fit);
        continue;
      }
      if (series.threads == 1) one_thread = points;
      emit_fit(ctx, series, points, one_thread);
    }
    for (const Device gpu : plan_.overlaps) emit_overlap(ctx, gpu, plan_.sizes_bytes.back());
    for (const TransferPayoff& payoff : payoffs(measured)) ctx.emit(payoff);
    ctx.progress(1, "done");
  }

 private:
  std::vector<TransferPoint> run_series(RunContext& ctx, const TransferSeries& series) {
    std::vector<TransferPoint> points;
    for (const std::int64_t bytes : plan_.sizes_bytes) {
      ctx.checkpoint();
      if (!takes_size(series, bytes)) continue;  // the plan said why
      const auto cases = plan_.series.size() * plan_.sizes_bytes.size();
      ctx.progress(static_cast<double>(cases_done_++) / static_cast<double>(cases),
                   describe(series, bytes));
      const auto sample = run_case(ctx, series, bytes);
      if (!sample) continue;
      ctx.emit(*sample);
      if (sample->verified) {
        points.push_back({static_cast<double>(bytes), sample->time.median_s});
      }
    }
    return points;
  }

  // Nothing when the case cannot run; the reason was reported then.
  std::optional<TransferSample> run_case(RunContext& ctx, const TransferSeries& series,
                                         std::int64_t bytes) {
    try {
      if (series.mover != TransferMover::Threads) {
        return measure_gpu_case(ctx, series, bytes, request_.budget_s);
      }
      TransferRun run(ctx.machine(), series, bytes, ctx.stop_token());
      prove_right(ctx, run, series, bytes);
      return time_case(ctx, run, series, bytes, options(ctx, series));
    } catch (const Error& error) {
      if (error.code() != Errc::OutOfMemory) throw;
      ctx.emit(Skipped{describe(series, bytes),
                       series.mover == TransferMover::Threads
                           ? fmt::format("it needs {} arrays of {}: {}", arrays_of(series.op),
                                         format_bytes(bytes), error.what())
                           : error.what()});
      return std::nullopt;
    }
  }

  void prove_right(RunContext& ctx, TransferRun& run, const TransferSeries& series,
                   std::int64_t bytes) {
    const auto bound = ctx.machine().at(series.to).threads().bind_caller();
    run.operate();
    const std::string wrong = run.check();
    ctx.throw_if_cancelled();
    require_right(series, bytes, wrong);
  }

  TransferSample time_case(RunContext& ctx, TransferRun& run, const TransferSeries& series,
                           std::int64_t bytes, const MeasureOptions& options) {
    DeviceContext& to = ctx.machine().at(series.to);
    const auto bound = to.threads().bind_caller();
    run.spoil();
    TransferSample sample = sample_of(series, bytes, measure([&] { run.operate(); }, options));
    sample.conditions = current_conditions(to.info().cores.front());
    sample.verified = run.check().empty();
    ctx.throw_if_cancelled();
    return sample;
  }

  MeasureOptions options(RunContext& ctx, const TransferSeries& series) {
    MeasureOptions options;
    options.budget_s = request_.budget_s;
    options.cancelled = [stop = ctx.stop_token()] { return stop.stop_requested(); };
    if (request_.cache == CacheState::Cold) {
      options.flush = [&one = flusher(ctx, series.to)] { one.flush(); };
    }
    return options;
  }

  CacheFlusher& flusher(RunContext& ctx, Device device) {
    DeviceContext& context = ctx.machine().at(device);
    return flushers_.try_emplace(device, context.threads(), last_level_cache_bytes(context.info()))
        .first->second;
  }

  void run_live(RunContext& ctx, const TransferSeries& series) {
    const std::int64_t bytes = plan_.sizes_bytes.front();
    if (series.mover != TransferMover::Threads) {
      return repeat_gpu_case(ctx, series, bytes, kLiveSample_s);
    }
    TransferRun run(ctx.machine(), series, bytes, ctx.stop_token());
    prove_right(ctx, run, series, bytes);
    MeasureOptions live = options(ctx, series);
    live.budget_s = 2 * kLiveSample_s;
    live.min_time_s = kLiveSample_s;
    while (true) {
      ctx.checkpoint();
      ctx.emit(time_case(ctx, run, series, bytes, live));
    }
  }

  void emit_fit(RunContext& ctx, const TransferSeries& series,
                const std::vector<TransferPoint>& points,
                const std::vector<TransferPoint>& one_thread) const {
    const auto model =
        fit_memory_model(points, cached_sizes(ctx.machine().at(series.to).info(), series.op));
    if (!model) return;
    TransferFit fit = fit_of(series, *model);
    if (series.threads > 1 && request_.one_thread) {
      if (const auto bytes = break_even_bytes(points, one_thread)) {
        fit.break_even_bytes = std::llround(*bytes);
      }
    }
    ctx.emit(fit);
  }

  const StartTransfers request_;
  TransferPlan plan_;
  std::size_t cases_done_ = 0;
  std::map<Device, CacheFlusher> flushers_;
};

}  // namespace

std::unique_ptr<Experiment> make_transfer_experiment(const StartTransfers& request) {
  return std::make_unique<TransferSweep>(request);
}

}  // namespace lab
