// What the devices did lately, over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/pages/devices/devices_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// What one device did lately, and in which unit people read it.
struct Reading {
  const char* path;
  const char* title;
  const char* text;
  Column64 DeviceHistory::*column;
  Column64 GpuHistory::*of_gpu;  // nullptr: not shown of GPUs that the lab does not compute on
  double factor;                 // from the column to the unit of the axis
  plot::Axis y;
};

std::vector<double> scaled(const Column64& values, double factor) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(factor * value);
  return out;
}

// The newest ten minutes, growing from the start.
plot::Axis recent_time(const Panel& p) {
  constexpr double kShown = 600, kLeast = 60;
  const double now = p.model.now_s();
  return {.label = "time since start",
          .unit = "s",
          .min = std::max(0.0, now - kShown),
          .max = std::max(now, kLeast)};
}

// The lines of a chart, with the values that they show.
struct Lines {
  static constexpr std::size_t kMost = 8;
  std::vector<std::vector<double>> values;
  std::vector<plot::Series> series;

  Lines() { values.reserve(kMost); }
  void add(std::string label, ImU32 color, const Column64& t_s, const Column64& readings,
           double factor) {
    if (series.size() == kMost) return;
    values.push_back(scaled(readings, factor));
    plot::Series s;
    s.label = std::move(label);
    s.color = color;
    s.line = series.size() % 2 == 0 ? plot::Line::Solid : plot::Line::Dashed;
    s.x = t_s;
    s.y = values.back();
    series.push_back(std::move(s));
  }
};

bool has_number(const Column64& readings) {
  return std::any_of(readings.begin(), readings.end(), [](double v) { return std::isfinite(v); });
}

void history_card(const Panel& p, const Reading& reading) {
  Card card(p, fmt::format("devices/{}", reading.path), reading.title, {.hint = reading.text});
  if (!card) return;
  Lines lines;
  for (const Device device : p.model.devices()) {
    const DeviceHistory& history = p.model.history(device);
    if (!has_number(history.*reading.column)) continue;
    lines.add(lab::to_string(device), device_color(*p.ui.theme, device), history.t_s,
              history.*reading.column, reading.factor);
  }
  const bool alone = p.model.gpus().size() == 1;
  for_each_unused_gpu(p.model, [&](std::size_t i, const GpuRecord& gpu) {
    if (reading.of_gpu == nullptr || !has_number(gpu.history.*reading.of_gpu)) return;
    const Device place{DeviceKind::Cuda, static_cast<int>(i)};
    lines.add(alone ? gpu.facts.name : gpu_name(p.model, i), device_color(*p.ui.theme, place),
              gpu.history.t_s, gpu.history.*reading.of_gpu, reading.factor);
  });
  plot::draw(
      p.ui, fmt::format("devices/plot/{}", reading.path), {.x = recent_time(p), .y = reading.y},
      lines.series,
      {.height = 180, .grows = true, .cursor = &p.view.cursor, .empty_text = "No reading yet"},
      p.out);
}

bool any_temperature(const Panel& p) {
  const std::vector<Device>& all = p.model.devices();
  const std::vector<GpuRecord>& cards = p.model.gpus();
  return std::any_of(all.begin(), all.end(),
                     [&](Device d) { return has_number(p.model.history(d).temperature_c); }) ||
         std::any_of(cards.begin(), cards.end(),
                     [](const GpuRecord& card) { return has_number(card.history.temperature_c); });
}

}  // namespace

void device_charts(const Panel& p) {
  Pair pair(p, 620, spare_height(p));
  pair.next();
  history_card(p, {"utilisation",
                   "Utilisation",
                   "Share of time each device was busy, with anything. The newest ten minutes; "
                   "drag to see half an hour.",
                   &DeviceHistory::utilisation,
                   &GpuHistory::utilisation,
                   100,
                   {.label = "busy", .unit = "%", .min = 0, .max = 100}});
  pair.next();
  if (any_temperature(p)) {
    history_card(p, {"temperature",
                     "Temperature",
                     "Of the hottest sensor of each device.",
                     &DeviceHistory::temperature_c,
                     &GpuHistory::temperature_c,
                     1,
                     {.label = "temperature", .unit = "°C"}});
  } else {
    history_card(p, {"clock",
                     "Clock",
                     "Mean over each device's cores.",
                     &DeviceHistory::clock_mhz,
                     nullptr,
                     1e6,
                     {.label = "clock", .unit = "Hz", .min = 0}});
  }
}

}  // namespace lab::ui
