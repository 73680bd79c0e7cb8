#include "compute/machine/telemetry_sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/machine/telemetry.h"
#include "compute/machine/tensor_list.h"
#include "compute/run/lab_clock.h"

namespace lab {
namespace {

constexpr double kShortest_s = 0.02;

bool same(const TensorInfo& a, const TensorInfo& b) {
  return a.id == b.id && a.name == b.name && a.bytes == b.bytes &&
         a.owned_by_page == b.owned_by_page && a.preview == b.preview;
}

bool same(const TensorList& a, const TensorList& b) {
  return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    [](const TensorInfo& x, const TensorInfo& y) { return same(x, y); });
}

}  // namespace

TelemetrySampler::TelemetrySampler(Machine& machine, Channel& channel, double interval_s)
    : machine_(machine),
      channel_(channel),
      interval_s_(std::max(interval_s, kShortest_s)),
      thread_([this](std::stop_token stop) { loop(std::move(stop)); }) {}

void TelemetrySampler::set_interval(double interval_s) {
  {
    const std::lock_guard lock(mutex_);
    interval_s_ = std::max(interval_s, kShortest_s);
  }
  changed_.notify_all();
}

void TelemetrySampler::loop(std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  TelemetryReader reader(machine_);
  TensorList shown;
  bool first = true;
  while (!stop.stop_requested()) {
    const auto begin = Clock::now();
    const double t_s = lab_time_s();
    TensorList list = list_tensors(machine_);
    if (first || !same(list, shown)) {
      shown = list;
      channel_.push({0, t_s, std::move(list)}, stop);
    }
    first = false;
    channel_.push({0, t_s, reader.read(t_s)}, stop);

    std::unique_lock lock(mutex_);
    const auto due = [&] {
      const std::chrono::duration<double> passed = Clock::now() - begin;
      return passed.count() >= interval_s_;
    };
    while (!stop.stop_requested() && !due()) {
      const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(interval_s_));
      const double waited_for = interval_s_;
      changed_.wait_until(lock, stop, end, [&] { return interval_s_ != waited_for; });
    }
  }
}

}  // namespace lab
