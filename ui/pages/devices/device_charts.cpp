// The chart of the devices' recent telemetry.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// A quantity of the chart.
struct Quantity {
  const char* name;          // LAB_TEXT
  const char* text;          // LAB_TEXT
  Column64 Curves::*column;  // null: who uses the cores, of the whole machine
  double factor;             // from the column to the unit of the axis
  const char* unit;
  std::optional<double> min = {}, max = {};
  Maybe<double> DeviceTelemetry::*of_cpu = nullptr;  // the reading; null: always known or never
  Maybe<double> GpuTelemetry::*of_gpu = nullptr;
};

constexpr std::array kQuantities = {
    Quantity{LAB_TEXT("Utilisation"),
             LAB_TEXT("Share of time each device was busy with any program."), &Curves::utilisation,
             100, "%", 0, 100, &DeviceTelemetry::utilisation, &GpuTelemetry::utilisation},
    Quantity{LAB_TEXT("Cores"),
             LAB_TEXT("Who keeps the cores of the CPU devices busy, stacked: the lab, other "
                      "programs, and the host of a virtual machine."),
             nullptr, 1, "", 0},
    Quantity{LAB_TEXT("Memory"),
             LAB_TEXT("Share of each memory in use by any program: the main memory, which all CPU "
                      "devices share, and each GPU's."),
             &Curves::memory_used_bytes, 100, "%", 0, 100},
    Quantity{LAB_TEXT("Temperature"),
             LAB_TEXT("Reading of the hottest sensor of each device."),
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

// Bytes of the memory that the curves of the entry report; 0 if unknown.
double memory_bytes(const DeviceEntry& entry) {
  if (entry.gpu != nullptr) {
    return static_cast<double>(entry.gpu->facts.memory_total_bytes.value_or(0));
  }
  return entry.info == nullptr ? 0 : static_cast<double>(entry.info->memory_total_bytes);
}

// Whether the clocks of the CPU devices are those that a virtual machine reports.
bool is_nominal(const std::vector<DeviceEntry>& entries) {
  return std::ranges::any_of(entries, [](const DeviceEntry& entry) {
    return entry.info != nullptr && entry.info->virtual_machine;
  });
}

bool has_number(const Column64& readings) {
  return std::any_of(readings.begin(), readings.end(), [](double v) { return std::isfinite(v); });
}

// "31 s ago", "3.2 min ago", "now".
std::string time_text(double seconds_ago) {
  if (seconds_ago < 0.5) return tr("now");
  return seconds_ago < 120 ? trf("{:.0f} s ago", seconds_ago)
                           : trf("{:.1f} min ago", seconds_ago / 60);
}

std::string value_text(const Quantity& quantity, double value) {
  const std::string_view unit = quantity.unit;
  if (unit == "%") return percent(value / 100);
  if (unit == "Hz") return format_si(value, "Hz");
  return unit.empty() ? fmt::format("{:.1f}", value) : fmt::format("{:.0f} {}", value, unit);
}

// The lines of the chart and the values they refer to.
struct Lines {
  std::vector<std::vector<double>> x, y;
  std::vector<std::vector<double>> low;  // of stacked lines: the line below; otherwise empty
  std::vector<plot::Series> series;
  std::vector<const DeviceInfo*> devices;  // of the series; null if the lab does not compute on it
  std::vector<double> full;                // bytes that 100 % of a memory are; otherwise empty

  explicit Lines(std::size_t most) {
    x.reserve(most);
    y.reserve(most);
    low.reserve(most);
  }

  // Shifts the times so that now is 0. The curve of the `selected` device is wider.
  void add(const Ui& ui, const DeviceEntry& entry, const Curves& curves, const Quantity& quantity,
           double now_s, bool selected) {
    constexpr float kSelected = 3;  // units
    const bool shared = is_memory(quantity) && entry.gpu == nullptr;
    if (shared && (entry.info == nullptr || entry.info->device != cpu())) return;
    const Column64& values = curves.*quantity.column;
    const double total = memory_bytes(entry);
    if (!has_number(values) || (is_memory(quantity) && total <= 0)) return;
    if (const std::optional<std::size_t> twin = same_cores(entry.info)) {
      series[*twin].label += ", " + entry.name;
      if (selected) series[*twin].width = kSelected;
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
    s.line = shared ? plot::Line::Solid : entry.line;
    if (selected && !shared) s.width = kSelected;
    if (quantity.column == &Curves::clock_mhz) s.line_label = newest_clock(quantity);
    s.x = x.back();
    s.y = y.back();
    series.push_back(std::move(s));
    devices.push_back(entry.info);
    if (is_memory(quantity)) full.push_back(total);
  }

  // Adds a curve of what the lab's tensors hold on a device, next to that of its memory; none if
  // they hold nothing.
  void add_tensors(const DeviceEntry& entry, const MemoryHistory& held, double now_s) {
    const double total = memory_bytes(entry);
    if (held.peak == 0 || total <= 0) return;
    std::vector<double>& times = x.emplace_back();
    std::vector<double>& shares = y.emplace_back();
    for (std::size_t i = 0; i < held.t_s.size(); ++i) {
      times.push_back(held.t_s[i] - now_s);
      shares.push_back(100 * held.used_bytes[i] / total);
    }
    plot::Series s;
    s.label = trf("tensors on {}", entry.name);
    s.color = entry.color;
    s.line = entry.line;
    s.steps = true;
    s.x = times;
    s.y = shares;
    series.push_back(std::move(s));
    devices.push_back(nullptr);
    full.push_back(total);
  }

  // Lines on top of each other; each value is the distance to the line below it.
  void add_core_use(const Ui& ui, const CoreUse& use, double now_s) {
    const Theme& t = *ui.theme;
    const std::array<std::pair<const char*, const Column64*>, 3> parts = {
        std::pair{tr("lab"), &use.lab},
        {tr("other programs"), &use.programs},
        {tr("host"), &use.host}};
    const std::array colors = {t.accent, t.muted, t.warning};
    std::vector<double> below(use.t_s.size(), 0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [label, column] = parts.at(i);
      constexpr double kShown = 0.05;  // less is 0.0 in texts
      const bool gaps = i == 2;        // where it is 0, its line would cover that below
      if (gaps && std::ranges::all_of(*column, [](double v) { return v < kShown; })) continue;
      low.push_back(below);
      std::vector<double>& top = y.emplace_back(below);
      std::vector<double>& times = x.emplace_back();
      for (std::size_t at = 0; at < top.size(); ++at) {
        const double value = (*column)[at];
        top[at] += gaps && value < kShown ? kNoValue : value;
        times.push_back(use.t_s[at] - now_s);
      }
      below = top;
      plot::Series s;
      s.label = label;
      s.color = colors.at(i);
      s.x = times;
      s.y = top;
      s.low = low.back();
      s.high = top;
      series.push_back(std::move(s));
      devices.push_back(nullptr);
    }
  }

  // Every line at the time of one of its points.
  std::string at_time(const Quantity& quantity, double time, double unit_s) const {
    std::string all = time_text(-time * unit_s);
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto next = std::ranges::lower_bound(x[i], time);
      if (next == x[i].end()) continue;
      const auto at = static_cast<std::size_t>(next - x[i].begin());
      const double value = y[i][at] - (i < low.size() ? low[i][at] : 0);
      if (!std::isfinite(value)) continue;
      const std::string text =
          i < full.size()
              ? fmt::format("{} ({})", format_bytes(std::llround(value / 100 * full[i])),
                            percent(value / 100))
              : value_text(quantity, value);
      add_row(all, series[i].label, text);
    }
    return all;
  }

  // The last value of the newest curve; empty if another curve is labelled with the same.
  std::string newest_clock(const Quantity& quantity) const {
    const double last = y.back().back();
    if (!std::isfinite(last)) return {};
    std::string text = value_text(quantity, last);
    const bool said = std::ranges::find(series, text, &plot::Series::line_label) != series.end();
    return said ? std::string() : text;
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
  for (const double minutes : {1, 2, 3, 5, 7}) {
    if (oldest <= 60 * minutes) return 60 * minutes;
  }
  return 600;
}

// Why nothing is drawn: the reason of the first device that has been read.
std::string why_empty(const Panel& p, const std::vector<DeviceEntry>& entries,
                      const Quantity& quantity) {
  if (quantity.column == nullptr) return tr("No reading yet");
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

// After a drag or a zoom: shows the last minutes again, beside the choice of the quantity.
void back_button(const Panel& p, const char* plot) {
  plot::PlotState& state = p.ui.plots[plot];
  if (!state.x && !state.y) return;
  ImGui::SameLine(0, p.ui.px(12));
  const std::string label = state.x ? tr("Back to now") : tr("Reset view");
  if (button(p.ui, "devices/back_to_now", label, {.hint = tr("Or double-click the chart")})) {
    state.x.reset();
    state.y.reset();
  }
}

// The same whatever is selected below the chart.
float chart_height(const Panel& p) {
  constexpr float kShare = 0.26F, kLeast = 170;
  return std::max(kLeast, std::floor(kShare * ImGui::GetIO().DisplaySize.y / p.ui.scale));
}

}  // namespace

void device_chart(const Panel& p, const std::vector<DeviceEntry>& entries) {
  int& chosen = p.view.forms.devices.quantity;
  const std::span<const Quantity> all = quantities_of(entries);
  chosen = std::clamp(chosen, 0, static_cast<int>(all.size()) - 1);
  const Quantity& quantity = all[static_cast<std::size_t>(chosen)];
  const Card card(p, "devices/chart", tr(quantity.name),
                  {.hint = tr(quantity.text), .note = tr("drag to see up to half an hour")});
  if (!card) return;
  std::vector<std::string> names;
  for (const Quantity& one : all) names.emplace_back(one.name);
  segmented(p.ui, "devices/quantity", "", names, chosen);
  constexpr std::size_t kUsers = 3;  // lines of the cores' users
  Lines lines(std::max(2 * entries.size(), kUsers));
  if (quantity.column == nullptr) {
    lines.add_core_use(p.ui, p.model.core_use(), p.model.now_s());
  } else {
    const std::string selected = entries.empty() ? "" : selected_entry(p, entries).key;
    for (const DeviceEntry& entry : entries) {
      if (entry.absent != nullptr) continue;
      lines.add(p.ui, entry, entry.curves(p.model), quantity, p.model.now_s(),
                entries.size() > 1 && entry.key == selected);
    }
  }
  if (is_memory(quantity)) {
    for (const DeviceEntry& entry : entries) {
      if (entry.info == nullptr) continue;
      lines.add_tensors(entry, p.model.memory(entry.info->device), p.model.now_s());
    }
  }
  const std::string empty = why_empty(p, entries, quantity);
  const double shown = shown_s(lines);
  const bool in_minutes = shown > 120;
  const double unit_s = in_minutes ? 60 : 1;
  for (std::vector<double>& times : lines.x) {
    for (double& time : times) time /= unit_s;
  }
  for (std::size_t i = 0; i < lines.series.size(); ++i) {
    lines.series[i].describe = [&lines, &quantity, i, unit_s](std::size_t at) {
      return lines.at_time(quantity, lines.x[i][at], unit_s);
    };
  }
  // A zoom is kept per path and in its unit.
  const char* const path = in_minutes ? "devices/plot_minutes" : "devices/plot";
  back_button(p, path);
  std::optional<double> most = quantity.max;
  if (quantity.column == nullptr && p.model.core_use().threads > 0) {
    most = p.model.core_use().threads;
  }
  const bool nominal = quantity.column == &Curves::clock_mhz && is_nominal(entries);
  const char* const y_label = nominal ? tr("nominal, as reported by the virtual machine")
                              : quantity.column == nullptr ? tr("cores")
                                                           : "";
  plot::draw(p.ui, path,
             {.x = {.min = -shown / unit_s,
                    .max = 0,
                    .zero = tr("now"),
                    .tick_unit = in_minutes ? "min" : "s"},
              .y = {.label = y_label, .unit = quantity.unit, .min = quantity.min, .max = most}},
             lines.series, {.height = chart_height(p), .empty_text = empty}, p.out);
}

}  // namespace lab::ui
