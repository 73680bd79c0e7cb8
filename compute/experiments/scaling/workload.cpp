#include "compute/experiments/scaling/workload.h"

#include <algorithm>

#include "compute/nn/models.h"
#include "compute/train/gradient_reducer.h"

namespace lab {
namespace {

// A weight is used once at each place of the operation's output.
double work(const nn::NetworkPlan& plan, const nn::Op& op) {
  double weights = 0;
  for (const std::size_t p : op.parameters) weights += static_cast<double>(plan.parameters[p].size);
  const nn::ImageShape& shape = op.output->shape;
  return weights * static_cast<double>(shape.height * shape.width);
}

// The share of backward after which each parameter's gradient is final.
std::vector<double> ready_times(const nn::NetworkPlan& plan) {
  double total = 0;
  for (const auto& op : plan.ops) total += work(plan, *op);
  std::vector<double> ready(plan.parameters.size(), 0.0);
  double done = 0;
  for (auto op = plan.ops.rbegin(); op != plan.ops.rend(); ++op) {
    done += work(plan, **op);
    for (const std::size_t p : (*op)->parameters) ready[p] = std::min(1.0, done / total);
  }
  return ready;
}

}  // namespace

std::vector<BucketLoad> bucket_loads(std::string_view model, std::int64_t bucket_bytes) {
  const nn::NetworkPlan plan = nn::plan_model(model);
  const std::vector<double> ready = ready_times(plan);
  std::vector<BucketLoad> loads;
  double latest = 0;  // buckets are summed in order, so none passes an earlier one
  for (const GradientBucket& bucket :
       plan_buckets(plan.parameter_offsets(), bucket_bytes, kLastBucketBytes)) {
    const auto begin = ready.begin() + static_cast<std::ptrdiff_t>(bucket.first_parameter);
    latest = std::max(
        latest, *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(bucket.parameters)));
    loads.push_back({static_cast<double>(bucket.bytes()), latest});
  }
  return loads;
}

}  // namespace lab
