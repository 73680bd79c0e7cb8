#include "compute/experiments/transfers/transfer_experiment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_fit.h"
#include "compute/experiments/transfers/transfer_plan.h"
#include "compute/measure/cache_flusher.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

// A quick sweep takes 30 s; the rest of them allocates, verifies and warms up.
constexpr double kQuickTimed_s = 20;

// Whether they differ in direction only.
bool are_opposite(const TransferSeries& a, const TransferSeries& b) {
  return a.from != a.to && a.from == b.to && a.to == b.from && a.memory == b.memory &&
         a.op == b.op && a.threads == b.threads && a.mover == b.mover && a.peer == b.peer;
}

// The series in the order of the plan, each directly followed by the one of the other direction.
std::vector<std::vector<TransferSeries>> by_pair(const std::vector<TransferSeries>& series) {
  std::vector<std::vector<TransferSeries>> groups;
  for (const TransferSeries& one : series) {
    const auto other = std::ranges::find_if(groups, [&](const std::vector<TransferSeries>& group) {
      return group.size() == 1 && are_opposite(group.front(), one);
    });
    if (other == groups.end()) {
      groups.push_back({one});
    } else {
      other->push_back(one);
    }
  }
  return groups;
}

// The points of the same transfers by one thread; none if they were not measured before.
std::vector<TransferPoint> by_one_thread(const std::vector<MeasuredSeries>& measured,
                                         const TransferSeries& series) {
  for (const MeasuredSeries& one : measured) {
    const TransferSeries& s = one.series;
    if (s.threads == 1 && s.mover == TransferMover::Threads && s.from == series.from &&
        s.to == series.to && s.op == series.op && s.memory == series.memory) {
      return one.points;
    }
  }
  return {};
}

class TransferSweep final : public Experiment {
 public:
  explicit TransferSweep(StartTransfers request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    plan_ = plan_transfers(request_, ctx.machine());
    if (!(request_.budget_s > 0)) {
      throw Error(Errc::Usage, trf("transfer: a time of {} s per case is too short; give "
                                   "a time above 0",
                                   request_.budget_s));
    }
    for (const Skipped& skipped : plan_.skipped) ctx.emit(skipped);
    if (request_.live) {
      if (!plan_.series.empty()) run_live(ctx, plan_.series.front());
      return;
    }
    for (const TransferSeries& series : plan_.series) {
      for (const std::int64_t bytes : plan_.sizes_bytes) expected_s_ += expected_s(series, bytes);
    }
    ctx.expect(expected_s_);
    std::vector<MeasuredSeries> measured;
    for (const std::vector<TransferSeries>& group : by_pair(plan_.series)) {
      for (MeasuredSeries& one : run_group(ctx, group)) {
        emit_fit(ctx, one, by_one_thread(measured, one.series));
        measured.push_back(std::move(one));
      }
    }
    for (const Device gpu : plan_.overlaps) emit_overlap(ctx, gpu, plan_.sizes_bytes.back());
    for (const TransferPayoff& payoff : payoffs(measured)) ctx.emit(payoff);
    ctx.progress(1, tr("done"));
  }

 private:
  // Size by size in turn, so that both directions are measured under the same load.
  std::vector<MeasuredSeries> run_group(RunContext& ctx, const std::vector<TransferSeries>& group) {
    std::vector<MeasuredSeries> measured;
    measured.reserve(group.size());
    for (const TransferSeries& series : group) measured.push_back({series, {}});
    for (const std::int64_t bytes : plan_.sizes_bytes) {
      for (MeasuredSeries& one : measured) run_size(ctx, one, bytes);
    }
    return measured;
  }

  void run_size(RunContext& ctx, MeasuredSeries& measured, std::int64_t bytes) {
    const TransferSeries& series = measured.series;
    ctx.checkpoint();
    if (!supports_size(series, bytes)) return;  // the plan has reported the reason
    ctx.progress(done_s_ / expected_s_, describe(series, bytes));
    done_s_ += expected_s(series, bytes);
    const auto sample = run_case(ctx, series, bytes);
    if (!sample) return;
    ctx.emit(*sample);
    if (sample->verified) {
      measured.points.push_back({static_cast<double>(bytes), sample->time.median_s});
    }
  }

  double expected_s(const TransferSeries& series, std::int64_t bytes) const {
    return supports_size(series, bytes) ? transfer_case_s(series.op, bytes, budget_s()) : 0;
  }

  // Returns nullopt if the case does not fit, after emitting the reason.
  std::optional<TransferSample> run_case(RunContext& ctx, const TransferSeries& series,
                                         std::int64_t bytes) {
    try {
      return ProvenCase(ctx, series, bytes).sample(settings(ctx, series));
    } catch (const Error& error) {
      if (error.code() != Errc::OutOfMemory) throw;
      ctx.emit(Skipped{describe(series, bytes), error.what()});
      return std::nullopt;
    }
  }

  void run_live(RunContext& ctx, const TransferSeries& series) {
    if (!supports_size(series, plan_.sizes_bytes.front())) return;  // the plan has said why
    ProvenCase proven(ctx, series, plan_.sizes_bytes.front());
    const SampleSettings live = settings(ctx, series);
    while (true) {
      ctx.checkpoint();
      ctx.emit(proven.sample(live));
    }
  }

  SampleSettings settings(RunContext& ctx, const TransferSeries& series) {
    SampleSettings settings{.budget_s = budget_s(), .live = request_.live};
    if (series.mover == TransferMover::Threads && request_.cache == CacheState::Cold) {
      DeviceContext& to = ctx.machine().at(series.to);
      settings.flusher =
          &flushers_.try_emplace(series.to, to, last_level_cache_bytes(to.info())).first->second;
    }
    return settings;
  }

  double budget_s() const {
    if (!request_.quick || request_.live) return request_.budget_s;
    const auto cases = plan_.series.size() * plan_.sizes_bytes.size();
    return std::min(request_.budget_s, kQuickTimed_s / static_cast<double>(cases));
  }

  void emit_fit(RunContext& ctx, const MeasuredSeries& measured,
                const std::vector<TransferPoint>& one_thread) const {
    auto fit = fit_series(ctx.machine(), measured, request_.cache);
    if (!fit) return;
    if (measured.series.threads > 1 && request_.one_thread) {
      fit->faster_than_one = faster_range(measured.points, one_thread);
    }
    ctx.emit(*fit);
  }

  const StartTransfers request_;
  TransferPlan plan_;
  double expected_s_ = 0;  // of all cases
  double done_s_ = 0;      // the part of it whose cases are done
  std::map<Device, CacheFlusher> flushers_;
};

}  // namespace

std::unique_ptr<Experiment> make_transfer_experiment(const StartTransfers& request) {
  return std::make_unique<TransferSweep>(request);
}

}  // namespace lab
