#include "ui/model/scaling_results.h"

#include <algorithm>
#include <cmath>

namespace lab::ui {
namespace {

constexpr std::size_t place(ScalingMode mode) {
  return static_cast<std::size_t>(mode);
}

template <typename Point>
void put(std::vector<Point>& points, const Point& added) {
  const auto at =
      std::lower_bound(points.begin(), points.end(), added.devices,
                       [](const Point& known, int devices) { return known.devices < devices; });
  if (at != points.end() && at->devices == added.devices) {
    *at = added;
  } else {
    points.insert(at, added);
  }
}

template <typename Point>
const Point* find(const std::vector<Point>& points, int devices) {
  const auto found = std::find_if(points.begin(), points.end(),
                                  [devices](const Point& p) { return p.devices == devices; });
  return found == points.end() ? nullptr : &*found;
}

template <typename Point, typename Value>
void fill(Column64& column, const std::vector<Point>& points, Value value) {
  column.clear();
  for (const Point& p : points) column.push_back(value(p));
}

// How much a figure changes with a step at p10 or p90 instead of the median; 0 for none.
double change(double of, double to) {
  return to > 0 ? std::abs(of / to - 1) : 0;
}

// `value`, a ratio of the steps of one device and of p.devices, if these are slow and those fast,
// or the other way round: both changes together, as of figures that vary independently.
double at_slow(const ScalingPoint& p, const Timing& one, double value) {
  const double fall = std::hypot(change(p.step.median_s, p.step.p90_s),  //
                                 change(one.p10_s, one.median_s));
  return value * std::max(0.0, 1 - fall);
}
double at_fast(const ScalingPoint& p, const Timing& one, double value) {
  return value *
         (1 + std::hypot(change(p.step.median_s, p.step.p10_s), change(one.p90_s, one.median_s)));
}

void refill(ScalingCurve& c) {
  using P = const ScalingPoint&;
  const ScalingPoint* const first = c.at(1);
  // Unless its median is known within 5 %, the steps of one device widen the range of the others.
  const Timing one = first != nullptr && first->step.unstable ? first->step : Timing{};
  const auto ranged = [&](auto of, double value, P p) {
    return p.devices == 1 ? value : of(p, one, value);  // one device is the reference
  };
  fill(c.devices, c.points, [](P p) { return static_cast<double>(p.devices); });
  fill(c.speedup, c.points, [](P p) { return p.speedup; });
  fill(c.speedup_low, c.points, [&](P p) { return ranged(at_slow, p.speedup, p); });
  fill(c.speedup_high, c.points, [&](P p) { return ranged(at_fast, p.speedup, p); });
  fill(c.efficiency, c.points, [](P p) { return p.efficiency; });
  fill(c.efficiency_low, c.points, [&](P p) { return ranged(at_slow, p.efficiency, p); });
  fill(c.efficiency_high, c.points, [&](P p) { return ranged(at_fast, p.efficiency, p); });
}

// `one`: the measured steps on which the predictions rest, or null.
void refill(PredictedCurve& c, const Timing* one) {
  using P = const ScalingPrediction&;
  const auto at_step = [one](P p, double value, double Timing::*seconds) {
    const bool by_definition = p.devices == 1;
    if (one == nullptr || one->median_s <= 0 || by_definition) return value;
    const double more_s = p.split.compute_s * (one->*seconds / one->median_s - 1);
    return value * p.step_s / (p.step_s + more_s);
  };
  fill(c.devices, c.points, [](P p) { return static_cast<double>(p.devices); });
  fill(c.speedup, c.points, [](P p) { return p.speedup; });
  fill(c.speedup_low, c.points, [&](P p) { return at_step(p, p.speedup, &Timing::p90_s); });
  // No band exceeds the ideal, unless the prediction itself does.
  fill(c.speedup_high, c.points, [&](P p) {
    const double ideal = std::max<double>(p.devices, p.speedup);
    return std::min(at_step(p, p.speedup, &Timing::p10_s), ideal);
  });
  fill(c.efficiency, c.points, [](P p) { return p.efficiency; });
  fill(c.efficiency_low, c.points, [&](P p) { return at_step(p, p.efficiency, &Timing::p90_s); });
  fill(c.efficiency_high, c.points, [&](P p) {
    return std::min(at_step(p, p.efficiency, &Timing::p10_s), std::max(1.0, p.efficiency));
  });
}

std::int64_t batch_of(const StepTimeline& step) {
  std::int64_t images = 0;
  for (const TimelineDevice& device : step.devices) images += device.images;
  return images;
}

bool same_work(const StartTraining& a, const StartTraining& b) {
  return a.model == b.model && a.data == b.data && a.batch == b.batch &&
         first_device(a) == first_device(b);
}

}  // namespace

Device first_device(const StartTraining& training) {
  return training.devices.empty() ? cpu() : training.devices.front();
}

const ScalingPoint* ScalingCurve::at(int count) const {
  return find(points, count);
}

const ScalingPrediction* PredictedCurve::at(int count) const {
  return find(points, count);
}

bool ScalingResults::empty() const {
  return !has(ScalingMode::Strong) && !has(ScalingMode::Weak) && skipped.empty();
}

bool ScalingResults::has(ScalingMode mode) const {
  return !measured(mode).points.empty() || !predicted(mode).points.empty() ||
         !withheld(mode).empty();
}

bool ScalingResults::has_measured() const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [](const ScalingCurve& curve) { return !curve.points.empty(); });
}

bool ScalingResults::has_prediction() const {
  return std::any_of(predicted_.begin(), predicted_.end(),
                     [](const PredictedCurve& curve) { return !curve.points.empty(); }) ||
         std::any_of(withheld_.begin(), withheld_.end(),
                     [](const std::string& why) { return !why.empty(); });
}

const ScalingCurve& ScalingResults::measured(ScalingMode mode) const {
  return measured_[place(mode)];
}

const PredictedCurve& ScalingResults::predicted(ScalingMode mode) const {
  return predicted_[place(mode)];
}

const PredictedCurve& ScalingResults::checked(ScalingMode mode) const {
  return checked_[place(mode)];
}

std::string ScalingResults::withheld(ScalingMode mode) const {
  return withheld_[place(mode)];
}

void ScalingResults::add(const ScalingPoint& point) {
  ScalingCurve& curve = measured_[place(point.mode)];
  put(curve.points, point);
  refill(curve);
}

void ScalingResults::add(const ScalingPrediction& prediction) {
  const ScalingPoint* const from = basis();
  if (!prediction.measured_step_s) {
    std::string& why = withheld_[place(prediction.mode)];
    why = prediction.withheld;
    // A prediction alone may rest on the step measured by the experiment before it.
    if (!request.measure && from != nullptr) why = why_withheld(checked(prediction.mode).points);
    if (!why.empty()) return;
  }
  auto& curves = prediction.measured_step_s ? checked_ : predicted_;
  PredictedCurve& curve = curves[place(prediction.mode)];
  put(curve.points, prediction);
  refill(curve, from == nullptr ? nullptr : &from->step);
}

void ScalingResults::add(const StepTimeline& step) {
  std::erase_if(steps_, [&](const auto& known) {
    const StepTimeline& before = known->timeline();
    return before.devices.size() == step.devices.size() && batch_of(before) == batch_of(step);
  });
  steps_.push_back(std::make_shared<const TimelineByLane>(step));
}

const TimelineByLane* ScalingResults::step(ScalingMode mode, int devices) const {
  const ScalingPoint* const point = measured(mode).at(devices);
  if (point == nullptr) return nullptr;
  const auto found = std::ranges::find_if(steps_, [&](const auto& step) {
    return step->timeline().devices.size() == static_cast<std::size_t>(devices) &&
           batch_of(step->timeline()) == point->batch;
  });
  return found == steps_.end() ? nullptr : found->get();
}

void ScalingResults::keep_measured(const ScalingResults& before) {
  if (!same_work(request.training, before.measured_with.training)) return;
  measured_ = before.measured_;
  checked_ = before.checked_;
  steps_ = before.steps_;
  measured_with = before.measured_with;
  measured_t_s = before.measured_t_s;
  measured_at = before.measured_at;
  earlier = before.earlier;
  others = before.others;
}

const ScalingPoint* ScalingResults::one_device() const {
  for (const ScalingCurve& curve : measured_) {
    if (const ScalingPoint* one = curve.at(1)) return one;
  }
  return nullptr;
}

const ScalingPoint* ScalingResults::basis() const {
  if (request.measure) {
    return request.compute_s || !request.reference_file.empty() ? nullptr : one_device();
  }
  const bool taken_over =
      request.compute_s && one_device_step_s(request.training) == request.compute_s;
  return taken_over ? one_device() : nullptr;
}

std::optional<double> ScalingResults::one_device_step_s(const StartTraining& training) const {
  const ScalingPoint* const one = one_device();
  if (one == nullptr || !same_work(training, measured_with.training)) return std::nullopt;
  return one->step.median_s;
}

double ScalingResults::fixed_step_s() const {
  for (const PredictedCurve& curve : checked_) {
    if (const ScalingPrediction* one = curve.at(1)) return one->fixed_s;
  }
  return 0;
}

}  // namespace lab::ui
