#include "ui/model/history.h"

#include <algorithm>
#include <cmath>

namespace lab::ui {

void keep_recent(Column64& t_s, std::initializer_list<Column64*> others) {
  if (t_s.empty()) return;
  const auto first_kept = std::lower_bound(t_s.begin(), t_s.end(), t_s.back() - kHistorySeconds);
  auto count = static_cast<std::size_t>(first_kept - t_s.begin());
  if (t_s.size() - count > kHistoryPoints) count = t_s.size() - kHistoryPoints;
  if (count < 64 || (count < t_s.size() / 2 && t_s.size() < 2 * kHistoryPoints)) return;
  drop_front(t_s, count);
  for (Column64* column : others) drop_front(*column, count);
}

void Curves::add(double at_s, const CurvePoint& point) {
  if (!t_s.empty() && at_s <= t_s.back()) return;
  t_s.push_back(at_s);
  utilisation.push_back(point.utilisation);
  memory_used_bytes.push_back(point.memory_used_bytes);
  clock_mhz.push_back(point.clock_mhz);
  temperature_c.push_back(point.temperature_c);
  power_w.push_back(point.power_w);
  keep_recent(t_s, {&utilisation, &memory_used_bytes, &clock_mhz, &temperature_c, &power_w});
}

void DeviceHistory::add(const DeviceTelemetry& reading, std::int64_t memory_bytes) {
  last = reading;
  seen = true;
  if (is_gpu(reading.device)) return;
  const auto& available = reading.memory_available_bytes;
  const auto used_bytes = static_cast<double>(
      std::max<std::int64_t>(0, memory_bytes - available.value_or(memory_bytes)));
  Curves::add(reading.t_s,
              {.utilisation = reading.utilisation.value_or(kNoValue),
               .memory_used_bytes = memory_bytes > 0 && available ? used_bytes : kNoValue,
               .clock_mhz = reading.clock_mhz.value_or(kNoValue),
               .temperature_c = reading.temperature_c.value_or(kNoValue)});
}

void GpuHistory::add(const GpuTelemetry& reading) {
  last = reading;
  seen = true;
  const Maybe<std::int64_t>& used = reading.memory_used_bytes;
  Curves::add(reading.t_s, {.utilisation = reading.utilisation.value_or(kNoValue),
                            .memory_used_bytes = used ? static_cast<double>(*used) : kNoValue,
                            .clock_mhz = reading.sm_clock_mhz.value_or(kNoValue),
                            .temperature_c = reading.temperature_c.value_or(kNoValue),
                            .power_w = reading.power_w.value_or(kNoValue)});
}

void CoreUse::add(double at_s, double lab_cpu, const OtherLoad& others) {
  if (!t_s.empty() && at_s <= t_s.back()) return;
  threads = others.threads;
  t_s.push_back(at_s);
  lab.push_back(lab_cpu);
  programs.push_back(others.programs);
  host.push_back(others.host);
  keep_recent(t_s, {&lab, &programs, &host});
}

OtherLoad CoreUse::others_lately(double seconds) const {
  OtherLoad sum;
  int n = 0;
  for (std::size_t i = t_s.size(); i-- > 0 && t_s.back() - t_s[i] < seconds; ++n) {
    sum.programs += programs[i];
    sum.host += host[i];
  }
  if (n == 0) return {};
  return {sum.programs / n, sum.host / n};
}

double CoreUse::others_share(double seconds) const {
  if (threads <= 0) return 0;
  const OtherLoad load = others_lately(seconds);
  return std::clamp((load.programs + load.host) / threads, 0.0, 1.0);
}

void MemoryHistory::add(double at_s, std::int64_t used_bytes_now, std::int64_t peak_bytes) {
  const bool rose_between = peak_bytes > std::max(peak, used_bytes_now);
  used = used_bytes_now;
  peak = std::max({peak, used, peak_bytes});
  if (!t_s.empty() && at_s < t_s.back()) return;
  const auto append = [&](std::int64_t bytes) {
    t_s.push_back(at_s);
    used_bytes.push_back(static_cast<double>(bytes));
  };
  if (rose_between) append(peak_bytes);
  append(used);
  keep_recent(t_s, {&used_bytes});
}

std::vector<float> resample(const Column64& t_s, const Column64& values, double now_s,
                            double seconds, std::size_t points) {
  std::vector<float> out(points, static_cast<float>(kNoValue));
  if (t_s.empty()) return out;
  const double step = seconds / static_cast<double>(points);
  auto next = std::upper_bound(t_s.begin(), t_s.end(), now_s - seconds);
  for (std::size_t i = 0; i < points; ++i) {
    const double at = now_s - seconds + step * static_cast<double>(i + 1);
    while (next != t_s.end() && *next <= at) ++next;
    if (next == t_s.begin()) continue;
    out[i] = static_cast<float>(values[static_cast<std::size_t>(next - t_s.begin()) - 1]);
  }
  return out;
}

}  // namespace lab::ui
