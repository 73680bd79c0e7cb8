// The chart of the devices' recent telemetry.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// A quantity of the chart.
struct Quantity {
  const char* name;  // LAB_TEXT
  const char* text;  // LAB_TEXT
  Column64 Curves::*column;
  double factor;  // from the column to the unit of the axis
  const char* unit;
  std::optional<double> min = {}, max = {};
  Maybe<double> DeviceTelemetry::*of_cpu = nullptr;  // the reading; null: always known or never
  Maybe<double> GpuTelemetry::*of_gpu = nullptr;
};

constexpr std::array kQuantities = {
    Quantity{LAB_TEXT("Utilisation"),
             LAB_TEXT("Share of time each device was busy with any program."), &Curves::utilisation,
             100, "%", 0, 100, &DeviceTelemetry::utilisation, &GpuTelemetry::utilisation},
    Quantity{LAB_TEXT("Memory"),
             LAB_TEXT("Share of each memory in use by any program: the main memory, which all CPU "
                      "devices share, and each GPU's."),
             &Curves::memory_used_bytes, 100, "%", 0, 100},
    Quantity{LAB_TEXT("Temperature"),
             LAB_TEXT("Of the hottest sensor of each device."),
             &Curves::temperature_c,
             1,
             "°C",
             {},
             {},
             &DeviceTelemetry::temperature_c,
             &GpuTelemetry::temperature_c},
    Quantity{LAB_TEXT("Clock"),
             LAB_TEXT("Mean over each device's cores; in a virtual machine it is nominal."),
             &Curves::clock_mhz,
             1e6,
             "Hz",
             0,
             {},
             &DeviceTelemetry::clock_mhz,
             &GpuTelemetry::sm_clock_mhz},
    Quantity{LAB_TEXT("Power"),
             LAB_TEXT("Of each GPU with its memory."),
             &Curves::power_w,
             1,
             "W",
             0,
             {},
             nullptr,
             &GpuTelemetry::power_w},
};

// Power is read from GPUs only.
std::span<const Quantity> quantities_of(const std::vector<DeviceEntry>& entries) {
  const bool gpus =
      std::ranges::any_of(entries, [](const DeviceEntry& entry) { return entry.gpu != nullptr; });
  return std::span(kQuantities).first(kQuantities.size() - (gpus ? 0 : 1));
}

bool is_memory(const Quantity& quantity) {
  return quantity.column == &Curves::memory_used_bytes;
}

// Bytes of the memory that the curves of the entry tell of; 0 if unknown.
double memory_bytes(const DeviceEntry& entry) {
  if (entry.gpu != nullptr) {
    return static_cast<double>(entry.gpu->facts.memory_total_bytes.value_or(0));
  }
  return entry.info == nullptr ? 0 : static_cast<double>(entry.info->memory_total_bytes);
}

bool has_number(const Column64& readings) {
  return std::any_of(readings.begin(), readings.end(), [](double v) { return std::isfinite(v); });
}

// The lines of the chart and the values they refer to.
struct Lines {
  std::vector<std::vector<double>> x, y;
  std::vector<plot::Series> series;
  std::vector<const DeviceInfo*> devices;  // of the series; null if the lab does not compute on it

  explicit Lines(std::size_t most) {
    x.reserve(most);
    y.reserve(most);
  }

  // Shifts the times so that now is 0.
  void add(const Ui& ui, const DeviceEntry& entry, const Curves& curves, const Quantity& quantity,
           double now_s) {
    const bool shared = is_memory(quantity) && entry.gpu == nullptr;
    if (shared && (entry.info == nullptr || entry.info->device != cpu())) return;
    const Column64& values = curves.*quantity.column;
    const double total = memory_bytes(entry);
    if (!has_number(values) || (is_memory(quantity) && total <= 0)) return;
    if (const std::optional<std::size_t> twin = same_cores(entry.info)) {
      series[*twin].label += ", " + entry.name;
      return;
    }
    x.emplace_back().reserve(values.size());
    y.emplace_back().reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      x.back().push_back(curves.t_s[i] - now_s);
      const double value = is_memory(quantity) ? values[i] / total : values[i];
      y.back().push_back(quantity.factor * value);
    }
    plot::Series s;
    s.label = shared ? tr("main memory") : entry.name;
    s.color = shared ? ui.theme->text : entry.color;
    s.line = series.size() % 2 == 0 ? plot::Line::Solid : plot::Line::Dashed;
    s.x = x.back();
    s.y = y.back();
    series.push_back(std::move(s));
    devices.push_back(entry.info);
  }

  // The series of a device with the same cores, whose readings are the same.
  std::optional<std::size_t> same_cores(const DeviceInfo* info) const {
    if (info == nullptr || info->cores.empty()) return {};
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i] != nullptr && devices[i]->cores == info->cores) return i;
    }
    return {};
  }
};

// How far back the chart goes: as far as there are readings, but at most ten minutes.
double shown_s(const Lines& lines) {
  double oldest = 0;
  for (const std::vector<double>& x : lines.x) {
    if (!x.empty()) oldest = std::max(oldest, -x.front());
  }
  for (const double minutes : {1, 2, 5}) {
    if (oldest <= 60 * minutes) return 60 * minutes;
  }
  return 600;
}

// Why nothing is drawn: the reason of the first device that has been read.
std::string why_empty(const Panel& p, const std::vector<DeviceEntry>& entries,
                      const Quantity& quantity) {
  const Maybe<double>* missing = nullptr;
  for (const DeviceEntry& entry : entries) {
    if (entry.gpu != nullptr) {
      const GpuHistory& history = entry.gpu->history;
      if (history.seen && quantity.of_gpu != nullptr) missing = &(history.last.*quantity.of_gpu);
    } else if (entry.info != nullptr && quantity.of_cpu != nullptr) {
      const DeviceHistory& history = p.model.history(entry.info->device);
      if (history.seen) missing = &(history.last.*quantity.of_cpu);
    }
    if (missing != nullptr && !*missing) return trf("Not available: {}.", tr(missing->reason()));
  }
  return tr("No reading yet");
}

}  // namespace

void device_chart(const Panel& p, const std::vector<DeviceEntry>& entries) {
  int& chosen = p.view.forms.devices.quantity;
  const std::span<const Quantity> all = quantities_of(entries);
  chosen = std::clamp(chosen, 0, static_cast<int>(all.size()) - 1);
  const Quantity& quantity = all[static_cast<std::size_t>(chosen)];
  const Card card(p, "devices/chart", tr(quantity.name),
                  {.extra = spare_height(p),
                   .hint = tr(quantity.text),
                   .note = tr("drag to see up to half an hour")});
  if (!card) return;
  std::vector<std::string> names;
  for (const Quantity& one : all) names.emplace_back(one.name);
  segmented(p.ui, "devices/quantity", "", names, chosen);
  Lines lines(entries.size());
  for (const DeviceEntry& entry : entries) {
    if (entry.absent != nullptr) continue;
    lines.add(p.ui, entry, entry.curves(p.model), quantity, p.model.now_s());
  }
  const std::string empty = why_empty(p, entries, quantity);
  const double shown = shown_s(lines);
  const bool in_minutes = shown > 120;
  const double unit_s = in_minutes ? 60 : 1;
  for (std::vector<double>& times : lines.x) {
    for (double& time : times) time /= unit_s;
  }
  // A zoom is kept per path and in its unit.
  plot::draw(p.ui, in_minutes ? "devices/plot_minutes" : "devices/plot",
             {.x = {.label = in_minutes ? tr("minutes") : tr("seconds"),
                    .min = -shown / unit_s,
                    .max = 0,
                    .zero = tr("now")},
              .y = {.unit = quantity.unit, .min = quantity.min, .max = quantity.max}},
             lines.series, {.height = 210, .grows = true, .empty_text = empty}, p.out);
}

}  // namespace lab::ui
