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

void Curves::add(double at_s, const Maybe<double>& utilisation_now,
                 const Maybe<double>& clock_mhz_now, const Maybe<double>& temperature_c_now) {
  if (!t_s.empty() && at_s <= t_s.back()) return;
  t_s.push_back(at_s);
  utilisation.push_back(utilisation_now.value_or(kNoValue));
  clock_mhz.push_back(clock_mhz_now.value_or(kNoValue));
  temperature_c.push_back(temperature_c_now.value_or(kNoValue));
  keep_recent(t_s, {&utilisation, &clock_mhz, &temperature_c});
}

void DeviceHistory::add(const DeviceTelemetry& reading) {
  last = reading;
  seen = true;
  if (is_gpu(reading.device)) return;
  Curves::add(reading.t_s, reading.utilisation, reading.clock_mhz, reading.temperature_c);
}

void GpuHistory::add(const GpuTelemetry& reading) {
  last = reading;
  seen = true;
  Curves::add(reading.t_s, reading.utilisation, reading.sm_clock_mhz, reading.temperature_c);
}

void MemoryHistory::add(double at_s, std::int64_t used_bytes_now, std::int64_t peak_bytes) {
  used = used_bytes_now;
  peak = std::max({peak, used, peak_bytes});
  if (!t_s.empty() && at_s < t_s.back()) return;
  t_s.push_back(at_s);
  used_bytes.push_back(static_cast<double>(used));
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
