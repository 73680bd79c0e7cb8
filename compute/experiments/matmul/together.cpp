#include "compute/experiments/matmul/together.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "compute/core/error.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/measure/measure.h"
#include "compute/tensor/elementwise.h"

namespace lab {
namespace {

// The values of a square matrix on any device.
std::vector<float> host_values(const Tensor& x) {
  std::vector<float> values(static_cast<std::size_t>(x.size()));
  copy_to_host(x, values.data(), x.size());
  return values;
}

GemmArgs square(std::int64_t n, const float* a, const float* b, float* c) {
  GemmArgs args;
  args.m = args.n = args.k = args.lda = args.ldb = args.ldc = n;
  args.a = a;
  args.b = b;
  args.c = c;
  return args;
}

}  // namespace

TogetherProducts::TogetherProducts(Machine& machine, const std::vector<Device>& devices,
                                   std::int64_t n, double seconds, std::stop_token stop)
    : stop_(std::move(stop)) {
  std::optional<MatmulReference> expected;  // all devices multiply the same values
  for (const Device device : devices) {
    throw_if_cancelled(stop_);
    DeviceContext& context = machine.at(device);
    Site site{&context, rand(context, {n, n}, 1), rand(context, {n, n}, 2),
              Tensor(context, {n, n}, DType::F32, "product"), 0};
    if (!expected) {
      const std::vector<float> a = host_values(site.a), b = host_values(site.b);
      expected.emplace(square(n, a.data(), b.data(), nullptr),
                       [this] { return stop_.stop_requested(); });
      throw_if_cancelled(stop_);
    }
    matmul_into(site.a, site.b, site.product);
    site.norm = norm(site.product);
    std::vector<float> c = host_values(site.product);
    consistent_ = consistent_ && expected->check(square(n, nullptr, nullptr, c.data())).ok;
    sites_.push_back(std::move(site));
  }
  find_products_per_batch(seconds);
  for (int i = 0; i < kWarmup; ++i) run_at_once();
}

// The time of the fastest of several batches on the first device: one that other programs
// interrupt looks longer than it is. Stops at the first that is below `short_s`, or far above.
double TogetherProducts::fastest_batch_s(double short_s) {
  constexpr int kTries = 3;
  constexpr double kFarAbove = 40;
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const DeviceProducts batch = run_batch(sites_.front());
    verify(sites_.front());
    fastest_s = std::min(fastest_s, batch.end_s - batch.begin_s);
    if (fastest_s < short_s || fastest_s > kFarAbove * short_s) break;
  }
  return fastest_s;
}

// Doubles the number until a batch takes long enough.
void TogetherProducts::find_products_per_batch(double seconds) {
  while (true) {
    const double batch_s = fastest_batch_s(seconds / 4);
    if (batch_s >= seconds / 4) {
      products_ = std::max<std::int64_t>(
          1, std::llround(static_cast<double>(products_) * seconds / batch_s));
      return;
    }
    products_ *= 2;
  }
}

double span_s(const std::vector<DeviceProducts>& batches) {
  double begin_s = batches.front().begin_s, end_s = batches.front().end_s;
  for (const DeviceProducts& one : batches) {
    begin_s = std::min(begin_s, one.begin_s);
    end_s = std::max(end_s, one.end_s);
  }
  return end_s - begin_s;
}

DeviceProducts TogetherProducts::run_batch(Site& site) const {
  DeviceProducts batch{site.device->device(), monotonic_s(), 0};
  for (std::int64_t i = 0; i < products_; ++i) {
    throw_if_cancelled(stop_);
    matmul_into(site.a, site.b, site.product);
  }
  if (GpuDevice* gpu = site.device->gpu()) gpu->main_stream().synchronise();
  batch.end_s = monotonic_s();
  return batch;
}

void TogetherProducts::verify(const Site& site) {
  consistent_ = consistent_ && norm(site.product) == site.norm;
}

std::vector<DeviceProducts> TogetherProducts::run_in_sequence() {
  std::vector<DeviceProducts> done;
  done.reserve(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) done.push_back(run_batch(sites_.front()));
  verify(sites_.front());
  return done;
}

std::vector<DeviceProducts> TogetherProducts::run_at_once() {
  std::vector<DeviceProducts> done(sites_.size());
  std::vector<std::exception_ptr> failed(sites_.size());
  std::atomic<std::size_t> ready = 0;
  {
    std::vector<std::jthread> threads;
    const auto run_site = [&](std::size_t i) {
      ++ready;
      while (ready < sites_.size()) std::this_thread::yield();
      try {
        done[i] = run_batch(sites_[i]);
      } catch (...) {
        failed[i] = std::current_exception();
      }
    };
    try {
      for (std::size_t i = 0; i < sites_.size(); ++i) threads.emplace_back(run_site, i);
    } catch (...) {  // no further thread: lets those that wait go on, so that they can be joined
      ready = sites_.size();
      throw;
    }
  }
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (failed[i]) std::rethrow_exception(failed[i]);
  }
  for (const Site& site : sites_) verify(site);
  return done;
}

}  // namespace lab
