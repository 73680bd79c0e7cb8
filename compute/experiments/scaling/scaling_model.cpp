#include "compute/experiments/scaling/scaling_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/nn/models.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {
namespace {

constexpr double kBytesPerGb = 1e9;
constexpr double kAtTheEnd = 1 - 1e-9;  // fraction of backward: too late to hide a sum

// y = a * u + b * v
struct Row {
  double u = 0, v = 0, y = 0;
};
struct Coefficients {
  double a = 0, b = 0;
};

// Sums over the rows, with errors relative to y.
struct NormalEquations {
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;

  explicit NormalEquations(std::span<const Row> rows) {
    for (const Row& r : rows) {
      const double u = r.u / r.y, v = r.v / r.y;
      uu += u * u, uv += u * v, vv += v * v;
      u1 += u, v1 += v;
    }
  }
  // True if the rows determine both coefficients.
  bool regular() const { return uu * vv - uv * uv > 1e-12 * uu * vv; }
  Coefficients both() const {
    const double determinant = uu * vv - uv * uv;
    return {(u1 * vv - v1 * uv) / determinant, (v1 * uu - u1 * uv) / determinant};
  }
  Coefficients only_a() const { return {u1 / uu, 0}; }
  Coefficients only_b() const { return {0, v1 / vv}; }
};

struct Division {
  double most = 0;             // images per device with the larger share
  std::int64_t with_most = 0;  // number of those devices
  double fewer = 0;            // images per other device
  double batch(int devices) const {
    const auto busiest = static_cast<double>(with_most);
    return most * busiest + fewer * (devices - busiest);
  }
};

Division divide(std::int64_t batch, int devices) {
  const std::int64_t whole = batch / devices, rest = batch % devices;
  if (rest == 0) return {static_cast<double>(whole), devices, static_cast<double>(whole)};
  return {static_cast<double>(whole + 1), rest, static_cast<double>(whole)};
}

struct Sums {
  double all_s = 0, exposed_s = 0;
};

// Buckets use the link one at a time, concurrently with backward.
Sums overlap(const Workload& work, const Link& link, int devices, double compute_s) {
  const double backward_s = work.backward_share * compute_s;
  Sums sums;
  double free_s = 0;  // when the link becomes free
  for (const BucketLoad& bucket : work.buckets) {
    const double ready_s = compute_s - backward_s + bucket.ready * backward_s;
    const double takes_s = ring_all_reduce_s(bucket.bytes, link, devices);
    free_s = std::max(free_s, ready_s) + takes_s;
    sums.all_s += takes_s;
  }
  // Rounding of the ready times must not yield more exposed time than there are sums.
  sums.exposed_s = std::clamp(free_s - compute_s, 0.0, sums.all_s);
  return sums;
}

Sums on_cores(const Workload& work, const Link& link, int devices) {
  Sums sums;
  for (const BucketLoad& bucket : work.buckets) {
    const double takes_s = ring_all_reduce_s(bucket.bytes, link, devices);
    sums.all_s += takes_s;
    if (bucket.ready >= kAtTheEnd) sums.exposed_s += takes_s;
  }
  return sums;
}

// Parameters to all devices and gradients back, bucket by bucket; images and outputs in one message
// per device. Device 0 keeps its own share.
Sums through_device_0(const Workload& work, const Link& link, int devices, double batch) {
  if (devices < 2) return {};
  Sums sums;
  for (const BucketLoad& bucket : work.buckets) {
    sums.all_s += 2 * pipeline_s(bucket.bytes, link, devices);
  }
  const double others = devices - 1;
  for (const double bytes : {work.input_bytes, work.output_bytes}) {
    if (bytes <= 0) continue;
    sums.all_s +=
        others * link.latency_s + batch * others / devices * bytes / (link.gb_per_s * kBytesPerGb);
  }
  sums.exposed_s = sums.all_s;
  return sums;
}

Sums sums_of(const Workload& work, const Link& link, AllReduceStyle style, int devices,
             const Division& division) {
  switch (style) {
    case AllReduceStyle::Overlapped:
      return overlap(work, link, devices, work.compute.at(division.most));
    case AllReduceStyle::OnCores: return on_cores(work, link, devices);
    case AllReduceStyle::DataParallel:
      return through_device_0(work, link, devices, division.batch(devices));
  }
  return {};
}

// Each weight is used once per position of the operation's output.
double multiplications(const nn::NetworkPlan& plan, const nn::Op& op) {
  double weights = 0;
  for (const std::size_t p : op.parameters) weights += static_cast<double>(plan.parameters[p].size);
  const nn::ImageShape& shape = op.output->shape;
  return weights * static_cast<double>(shape.height * shape.width);
}

// Fraction of backward after which each parameter's gradient is final.
std::vector<double> ready_times(const nn::NetworkPlan& plan) {
  double total = 0;
  for (const auto& op : plan.ops) total += multiplications(plan, *op);
  std::vector<double> ready(plan.parameters.size(), 0.0);
  double done = 0;
  for (auto op = plan.ops.rbegin(); op != plan.ops.rend(); ++op) {
    done += multiplications(plan, **op);
    for (const std::size_t p : (*op)->parameters) ready[p] = std::min(1.0, done / total);
  }
  return ready;
}

// Sums on shared cores wait for time slices and reveal little about memory: they are used only if
// there are no others.
std::vector<AllReducePoint> sum_points(const std::vector<ScalingPoint>& points) {
  std::vector<AllReducePoint> own_cores, all;
  for (const ScalingPoint& p : points) {
    if (p.devices < 2 || !(p.split.all_reduce_s > 0)) continue;
    all.push_back({p.devices, p.split.all_reduce_s});
    if (!p.shares_cores) own_cores.push_back(all.back());
  }
  return own_cores.empty() ? all : own_cores;
}

}  // namespace

double ComputeTime::at(double images) const {
  if (!(images > 0)) return 0;
  if (fixed_s < 0 && images < min_images) {
    return (fixed_s + per_image_s * min_images) * images / min_images;
  }
  return fixed_s + per_image_s * images;
}

ComputeTime fit_compute(std::span<const ComputePoint> points) {
  std::vector<Row> rows;
  for (const ComputePoint& p : points) {
    if (p.images > 0 && p.seconds > 0) rows.push_back({1, p.images, p.seconds});
  }
  if (rows.empty()) {
    throw Error(Errc::InvalidArgument,
                tr("scaling model: no compute time is known; measure one device or give its time"));
  }
  const NormalEquations equations(rows);
  Coefficients line = equations.regular() ? equations.both() : equations.only_b();
  if (line.b < 0) line = equations.only_a();
  const auto least = std::min_element(rows.begin(), rows.end(),
                                      [](const Row& x, const Row& y) { return x.v < y.v; });
  return {line.a, line.b, least->v};
}

double Workload::bytes() const {
  double sum = 0;
  for (const BucketLoad& bucket : buckets) sum += bucket.bytes;
  return sum;
}

std::vector<BucketLoad> bucket_loads(std::string_view model, std::int64_t bucket_bytes) {
  const nn::NetworkPlan plan = nn::plan_model(model);
  const std::vector<double> ready = ready_times(plan);
  std::vector<BucketLoad> loads;
  double latest = 0;  // buckets are summed in order, so none overtakes an earlier one
  for (const GradientBucket& bucket :
       plan_buckets(plan.parameter_offsets(), bucket_bytes, kLastBucketBytes)) {
    const auto begin = ready.begin() + static_cast<std::ptrdiff_t>(bucket.first_parameter);
    latest = std::max(
        latest, *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(bucket.parameters)));
    loads.push_back({static_cast<double>(bucket.bytes()), latest});
  }
  return loads;
}

AllReduceStyle all_reduce_style(ParallelStyle style) {
  return style == ParallelStyle::Ddp ? AllReduceStyle::Overlapped : AllReduceStyle::DataParallel;
}

double ring_all_reduce_s(double bytes, const Link& link, int devices) {
  if (devices < 2) return 0;
  const double n = devices;
  return 2 * (n - 1) * link.latency_s + 2 * (n - 1) / n * bytes / (link.gb_per_s * kBytesPerGb);
}

double pipeline_s(double bytes, const Link& link, int devices) {
  if (devices < 2) return 0;
  return (devices - 1) * link.latency_s + bytes / (link.gb_per_s * kBytesPerGb);
}

PredictedStep predict_step(const Workload& work, const Link& link, AllReduceStyle style,
                           int devices, std::int64_t batch) {
  const Division division = divide(batch, devices);
  const double busiest_s = work.compute.at(division.most);
  const double part = static_cast<double>(division.with_most) / devices;
  PredictedStep step;
  step.split.compute_s = part * busiest_s + (1 - part) * work.compute.at(division.fewer);
  step.split.imbalance_s = busiest_s - step.split.compute_s;
  const Sums sums = sums_of(work, link, style, devices, division);
  step.split.all_reduce_s = sums.all_s;
  step.split.exposed_s = sums.exposed_s;
  // Hidden sums on compute cores still take core time.
  step.step_s = busiest_s + (style == AllReduceStyle::OnCores ? sums.all_s : sums.exposed_s);
  const bool one_process = style == AllReduceStyle::DataParallel;
  if (one_process) {
    const auto used = static_cast<double>(std::min<std::int64_t>(devices, batch));
    step.process_s = std::max(0.0, used - 1) * work.repeated_s;
  }
  const double read = one_process ? static_cast<double>(batch) : division.most;
  const double reading_s = read * work.reading_s_per_image;
  step.process_s += std::max(0.0, reading_s - step.step_s - step.process_s);
  step.step_s += step.process_s;
  return step;
}

Link fit_link(std::string name, std::string sentence, const Workload& work,
              std::span<const AllReducePoint> points) {
  const double messages = static_cast<double>(work.buckets.size());
  std::vector<Row> rows;
  for (const AllReducePoint& p : points) {
    if (p.devices < 2 || !(p.seconds > 0)) continue;
    const double n = p.devices;
    rows.push_back({2 * (n - 1) * messages, 2 * (n - 1) / n * work.bytes(), p.seconds});
  }
  if (rows.empty()) {
    throw Error(Errc::InvalidArgument,
                tr("scaling model: no all-reduce time is known; measure at least two devices"));
  }
  const NormalEquations equations(rows);
  Coefficients c = equations.regular() ? equations.both() : equations.only_b();
  if (c.b < 0) c = equations.only_a();
  if (c.a < 0) c = equations.only_b();
  const double gb_per_s =
      c.b > 0 ? 1 / (c.b * kBytesPerGb) : std::numeric_limits<double>::infinity();
  return {std::move(name), std::move(sentence), c.a, gb_per_s};
}

ScalingPrediction predict(const Workload& work, const Link& link, AllReduceStyle style,
                          const PredictionCase& scenario, int devices) {
  const std::int64_t batch =
      scenario.mode == ScalingMode::Strong ? scenario.batch : scenario.batch * devices;
  const PredictedStep one = predict_step(work, link, style, 1, scenario.batch);
  const PredictedStep step = predict_step(work, link, style, devices, batch);
  ScalingPrediction p;
  p.mode = scenario.mode;
  p.devices = devices;
  p.link = link.name;
  p.basis = scenario.basis;
  p.batch = batch;
  // That smaller parts were faster per image does not extend to more devices: their computing is
  // never below an even share, and sums still take their time in addition.
  const double share = static_cast<double>(batch) / static_cast<double>(scenario.batch * devices);
  const auto busy_s = [](const StepSplit& split) { return split.compute_s + split.imbalance_s; };
  const double below_s = std::max(0.0, share * busy_s(one.split) - busy_s(step.split));
  p.step_s = std::max(step.step_s + below_s, share * one.step_s);
  p.images_per_s = static_cast<double>(batch) / p.step_s;
  p.speedup = p.images_per_s * one.step_s / static_cast<double>(scenario.batch);
  p.efficiency = p.speedup / devices;
  p.split = step.split;
  p.split.compute_s += p.step_s - step.step_s;
  p.process_s = step.process_s;
  p.fixed_s = std::max(0.0, work.compute.fixed_s);
  return p;
}

std::vector<ScalingPrediction> model_measurements(const Workload& work,
                                                  const PredictionCase& scenario,
                                                  const std::vector<ScalingPoint>& points,
                                                  const std::vector<double>& core_loads) {
  const std::vector<AllReducePoint> sums = sum_points(points);
  if (sums.empty()) return {};
  const Link memory = fit_link("memory", LAB_TEXT("measured here"), work, sums);
  std::vector<ScalingPrediction> predictions;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Workload shared = work;
    shared.compute.fixed_s *= core_loads[i];
    shared.compute.per_image_s *= core_loads[i];
    ScalingPrediction p =
        predict(shared, memory, AllReduceStyle::OnCores, scenario, points[i].devices);
    p.speedup /= core_loads[i];  // the single device has its core to itself
    p.efficiency /= core_loads[i];
    p.measured_step_s = points[i].step.median_s;
    predictions.push_back(std::move(p));
  }
  return predictions;
}

}  // namespace lab
