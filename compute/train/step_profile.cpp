#include "compute/train/step_profile.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

constexpr std::size_t kRing = static_cast<std::size_t>(StepProfile::kLatest);

std::size_t index(StepPhase phase) {
  return static_cast<std::size_t>(phase);
}

nn::Direction direction_of(StepPhase phase) {
  return phase == StepPhase::Backward ? nn::Direction::Backward : nn::Direction::Forward;
}

// The first `counted` values of a ring, or all of them.
std::span<const double> kept(const std::vector<double>& ring, std::int64_t counted) {
  return std::span(ring).first(static_cast<std::size_t>(std::min(counted, StepProfile::kLatest)));
}

double kept_sum(const std::vector<double>& ring, std::int64_t counted) {
  const std::span<const double> values = kept(ring, counted);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Timing timing_of(const std::vector<double>& ring, std::int64_t counted) {
  const std::span<const double> values = kept(ring, counted);
  std::vector<double> times(values.begin(), values.end());
  Timing timing;
  if (!times.empty()) timing = summarise(times);
  timing.warmup = StepProfile::kWarmup;
  return timing;
}

}  // namespace

nn::Work work_of(const nn::Network& network, StepPhase phase, std::size_t op, std::int64_t images,
                 bool momentum) {
  switch (phase) {
    case StepPhase::Forward:
    case StepPhase::Backward:
      return nn::work_of(network.plan(), *network.plan().ops[op], direction_of(phase), images,
                         network.device().gpu() != nullptr);
    case StepPhase::Batch: return {.flop = 0, .bytes = 5 * images * network.input_shape().size()};
    case StepPhase::Loss: return {.flop = 0, .bytes = 8 * images * network.classes()};
    case StepPhase::Update:
      return {.flop = 0, .bytes = (momentum ? 20 : 12) * network.parameter_count()};
    case StepPhase::AllReduce: break;
  }
  return {};
}

StepProfile::StepProfile(const nn::Network& network, ProfileSetup setup)
    : network_(network), setup_(std::move(setup)) {
  phases_.fill(kNoRow);
  add_phase(StepPhase::Batch, "batch", LAB_TEXT("images to floats"));
  add_operations();
  if (setup_.devices > 1) {
    add_phase(StepPhase::AllReduce, "all-reduce", LAB_TEXT("sums and waiting"));
  }
  add_phase(StepPhase::Update, "update", "SGD");
  current_.resize(parts_.size());
  for (const Kernels kernels : setup_.kernels) {
    Track& t = tracks_.emplace_back();
    t.kernels = kernels;
    t.rows.assign(parts_.size(), std::vector<double>(kRing));
    for (std::vector<double>* ring : {&t.steps, &t.sums, &t.unaccounted}) ring->resize(kRing);
  }
}

void StepProfile::add_operations() {
  const nn::NetworkPlan& plan = network_.plan();
  const std::vector<nn::OpName> names = nn::name_ops(plan);
  forward_.assign(names.size(), kNoRow);
  backward_.assign(names.size(), kNoRow);
  const auto add = [&](std::size_t op, StepPhase phase) {
    const nn::OpName& name = names[op];
    parts_.push_back({.layer = name.layer, .kind = name.kind, .shape = name.shape, .phase = phase});
    ops_.push_back(op);
    return parts_.size() - 1;
  };
  for (std::size_t op = 0; op < names.size(); ++op) forward_[op] = add(op, StepPhase::Forward);
  add_phase(StepPhase::Loss, "loss", LAB_TEXT("softmax and cross-entropy"));
  for (std::size_t op = names.size(); op-- > 0;) {
    if (plan.ops[op]->has_backward()) backward_[op] = add(op, StepPhase::Backward);
  }
}

void StepProfile::add_phase(StepPhase phase, const char* layer, const char* kind) {
  phases_[index(phase)] = parts_.size();
  parts_.push_back({.layer = layer, .kind = kind, .phase = phase});
  ops_.push_back(0);
}

StepProfile::Track& StepProfile::track(Kernels kernels) {
  const auto found = std::find_if(tracks_.begin(), tracks_.end(),
                                  [&](const Track& t) { return t.kernels == kernels; });
  return found == tracks_.end() ? tracks_.front() : *found;
}

void StepProfile::begin_step(Kernels kernels) {
  kernels_ = kernels;
  std::fill(current_.begin(), current_.end(), 0.0);
}

void StepProfile::done(StepPhase phase, std::size_t op, double seconds) {
  std::size_t part = phases_[index(phase)];
  if (phase == StepPhase::Forward) part = forward_[op];
  if (phase == StepPhase::Backward) part = backward_[op];
  if (part != kNoRow) current_[part] += seconds;
}

void StepProfile::end_step(double seconds, std::int64_t images, bool whole_batch) {
  if (!whole_batch || images == 0) return;
  if (images != images_) {
    for (Track& t : tracks_) t.seen = 0;
    images_ = images;
  }
  Track& t = track(kernels_);
  if (++t.seen <= kWarmup) return;
  const std::size_t slot = static_cast<std::size_t>(t.counted() - 1) % kRing;
  for (std::size_t part = 0; part < current_.size(); ++part) t.rows[part][slot] = current_[part];
  const double sum = std::accumulate(current_.begin(), current_.end(), 0.0);
  t.steps[slot] = seconds;
  t.sums[slot] = sum;
  t.unaccounted[slot] = seconds - sum;
}

std::int64_t StepProfile::counted() const {
  std::int64_t total = 0;
  for (const Track& t : tracks_) total += t.counted();
  return total;
}

ProfileRow StepProfile::row_of(const Track& track, std::size_t part) const {
  ProfileRow row = parts_[part];
  const std::size_t op = ops_[part];
  const nn::Work w = work_of(network_, row.phase, op, images_, setup_.momentum);
  row.kernels = track.kernels;
  row.flop = w.flop;
  row.bytes = w.bytes;
  row.time = timing_of(track.rows[part], track.counted());
  if (row.phase == StepPhase::Forward || row.phase == StepPhase::Backward) {
    const nn::Op& operation = *network_.plan().ops[op];
    const bool on_gpu = network_.device().gpu() != nullptr;
    row.method = on_gpu ? operation.gpu_method(track.kernels)
                        : operation.method(direction_of(row.phase), track.kernels);
  }
  return row;
}

ProfileTotal StepProfile::total_of(const Track& track) const {
  ProfileTotal total;
  total.kernels = track.kernels;
  total.step = timing_of(track.steps, track.counted());
  total.rows = timing_of(track.sums, track.counted());
  total.unaccounted_s = timing_of(track.unaccounted, track.counted()).median_s;
  const double all_s = kept_sum(track.steps, track.counted());
  for (std::size_t part = 0; part < parts_.size() && all_s > 0; ++part) {
    total.shares[index(parts_[part].phase)] += kept_sum(track.rows[part], track.counted()) / all_s;
  }
  return total;
}

TrainingProfile StepProfile::result() const {
  DeviceContext& device = network_.device();
  TrainingProfile profile{.device = setup_.device,
                          .devices = setup_.devices,
                          .model = network_.name(),
                          .images = images_,
                          .threads = device.gpu() == nullptr ? device.threads().size() : 0,
                          .peak_gflops = setup_.peak_gflops,
                          .dtype = setup_.dtype,
                          .totals = {},
                          .rows = {}};
  for (const Track& t : tracks_) {
    profile.totals.push_back(total_of(t));
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      profile.rows.push_back(row_of(t, part));
    }
  }
  return profile;
}

StepSplit split_of(std::span<const DeviceStep> devices) {
  const auto takes_part = [](const DeviceStep& d) {
    return d.images > 0 || d.all_reduce_s + d.wait_s > 0;
  };
  StepSplit mean;
  const auto n = static_cast<double>(std::ranges::count_if(devices, takes_part));
  for (const DeviceStep& d : devices) {
    if (!takes_part(d)) continue;
    mean.compute_s += d.compute_s / n;
    mean.all_reduce_s += d.all_reduce_s / n;
    mean.exposed_s += d.exposed_s / n;
    mean.imbalance_s += d.wait_s / n;
  }
  return mean;
}

StepSplit median_split(std::span<const StepSplit> steps) {
  if (steps.empty()) return {};
  const auto median_of = [&](double StepSplit::*part) {
    std::vector<double> values;
    values.reserve(steps.size());
    for (const StepSplit& s : steps) values.push_back(s.*part);
    return median(std::move(values));
  };
  return {.compute_s = median_of(&StepSplit::compute_s),
          .all_reduce_s = median_of(&StepSplit::all_reduce_s),
          .exposed_s = median_of(&StepSplit::exposed_s),
          .imbalance_s = median_of(&StepSplit::imbalance_s)};
}

double hidden_share(const StepSplit& split) {
  return split.all_reduce_s > 0 ? std::max(0.0, 1 - split.exposed_s / split.all_reduce_s) : 0;
}

}  // namespace lab
