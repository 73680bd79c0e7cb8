// Charts of the devices' recent telemetry.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// A telemetry quantity and the unit in which it is displayed.
struct Reading {
  const char* path;
  const char* title;
  const char* text;
  Column64 Curves::*column;
  double factor;  // from the column to the unit of the axis
  plot::Axis y;
};

std::vector<double> scaled(const Column64& values, double factor) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(factor * value);
  return out;
}

// The newest ten minutes; shorter at first, but at least one minute.
plot::Axis recent_time(const Panel& p) {
  constexpr double kShown = 600, kLeast = 60;
  const double now = p.model.now_s();
  return {.label = tr("time since start"),
          .unit = "s",
          .min = std::max(0.0, now - kShown),
          .max = std::max(now, kLeast)};
}

bool has_number(const Column64& readings) {
  return std::any_of(readings.begin(), readings.end(), [](double v) { return std::isfinite(v); });
}

// The lines of a chart and the values they refer to.
struct Lines {
  static constexpr std::size_t kMax = 8;
  std::vector<std::vector<double>> values;
  std::vector<plot::Series> series;

  Lines() { values.reserve(kMax); }
  void add(std::string label, ImU32 color, const Curves& curves, const Reading& reading) {
    if (series.size() == kMax || !has_number(curves.*reading.column)) return;
    values.push_back(scaled(curves.*reading.column, reading.factor));
    plot::Series s;
    s.label = std::move(label);
    s.color = color;
    s.line = series.size() % 2 == 0 ? plot::Line::Solid : plot::Line::Dashed;
    s.x = curves.t_s;
    s.y = values.back();
    series.push_back(std::move(s));
  }
};

void history_card(const Panel& p, const Reading& reading) {
  Card card(p, fmt::format("devices/{}", reading.path), reading.title, {.hint = reading.text});
  if (!card) return;
  Lines lines;
  for (const Device device : p.model.devices()) {
    lines.add(lab::to_string(device), device_color(*p.ui.theme, device), p.model.history(device),
              reading);
  }
  for (std::size_t i = 0; i < p.model.gpus().size(); ++i) {
    const GpuRecord& gpu = p.model.gpus()[i];
    const DeviceInfo* device = device_of(p.model, gpu);
    const bool alone = device == nullptr && p.model.gpus().size() == 1;
    lines.add(alone ? gpu.facts.name : gpu_name(p.model, i), gpu_color(p, i, device), gpu.history,
              reading);
  }
  plot::draw(
      p.ui, fmt::format("devices/plot/{}", reading.path), {.x = recent_time(p), .y = reading.y},
      lines.series,
      {.height = 180, .grows = true, .cursor = &p.view.cursor, .empty_text = tr("No reading yet")},
      p.out);
}

bool any_temperature(const Panel& p) {
  const std::vector<Device>& all = p.model.devices();
  const std::vector<GpuRecord>& gpus = p.model.gpus();
  return std::any_of(all.begin(), all.end(),
                     [&](Device d) { return has_number(p.model.history(d).temperature_c); }) ||
         std::any_of(gpus.begin(), gpus.end(),
                     [](const GpuRecord& gpu) { return has_number(gpu.history.temperature_c); });
}

}  // namespace

void device_charts(const Panel& p) {
  Pair pair(p, 620, spare_height(p));
  pair.next();
  history_card(p, {"utilisation",
                   tr("Utilisation"),
                   tr("Share of time each device was busy with any program. Shows the last ten "
                      "minutes; drag to see up to half an hour."),
                   &Curves::utilisation,
                   100,
                   {.label = tr("busy"), .unit = "%", .min = 0, .max = 100}});
  pair.next();
  if (any_temperature(p)) {
    history_card(p, {"temperature",
                     tr("Temperature"),
                     tr("Of the hottest sensor of each device."),
                     &Curves::temperature_c,
                     1,
                     {.label = tr("temperature"), .unit = "°C"}});
  } else {
    history_card(p, {"clock",
                     tr("Clock"),
                     tr("Mean over each device's cores."),
                     &Curves::clock_mhz,
                     1e6,
                     {.label = tr("clock"), .unit = "Hz", .min = 0}});
  }
}

}  // namespace lab::ui
