// The chart of the devices' recent telemetry.
#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

constexpr double kShown_min = 10;

// A telemetry quantity and the unit in which it is displayed.
struct Quantity {
  const char* name;  // LAB_TEXT
  const char* text;  // LAB_TEXT
  Column64 Curves::*column;
  double factor;  // from the column to the unit of the axis
  const char* unit;
  std::optional<double> min = {}, max = {};
};

constexpr const char* kUtilisation = LAB_TEXT("Utilisation");
constexpr const char* kTemperature = LAB_TEXT("Temperature");
constexpr const char* kClock = LAB_TEXT("Clock");

const std::array<Quantity, 3>& quantities() {
  static const std::array<Quantity, 3> kAll = {{
      {kUtilisation, LAB_TEXT("Share of time each device was busy with any program."),
       &Curves::utilisation, 100, "%", 0, 100},
      {kTemperature, LAB_TEXT("Of the hottest sensor of each device."), &Curves::temperature_c, 1,
       "°C"},
      {kClock, LAB_TEXT("Mean over each device's cores."), &Curves::clock_mhz, 1e6, "Hz", 0},
  }};
  return kAll;
}

bool has_number(const Column64& readings) {
  return std::any_of(readings.begin(), readings.end(), [](double v) { return std::isfinite(v); });
}

// The lines of the chart and the values they refer to.
struct Lines {
  std::vector<std::vector<double>> x, y;
  std::vector<plot::Series> series;

  explicit Lines(std::size_t most) {
    x.reserve(most);
    y.reserve(most);
  }

  // Shifts the times so that now is 0, in minutes.
  void add(const DeviceEntry& entry, const Curves& curves, const Quantity& quantity, double now_s) {
    const Column64& values = curves.*quantity.column;
    if (!has_number(values)) return;
    x.emplace_back().reserve(values.size());
    y.emplace_back().reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      x.back().push_back((curves.t_s[i] - now_s) / 60);
      y.back().push_back(quantity.factor * values[i]);
    }
    plot::Series s;
    s.label = entry.name;
    s.color = entry.color;
    s.line = series.size() % 2 == 0 ? plot::Line::Solid : plot::Line::Dashed;
    s.x = x.back();
    s.y = y.back();
    series.push_back(std::move(s));
  }
};

// Why nothing is drawn: the reason of the first device, if it has been read.
std::string why_empty(const Panel& p, const std::vector<DeviceEntry>& entries, int quantity) {
  for (const DeviceEntry& entry : entries) {
    if (entry.info == nullptr || entry.gpu != nullptr) continue;
    const DeviceHistory& history = p.model.history(entry.info->device);
    if (!history.seen) continue;
    const DeviceTelemetry& last = history.last;
    const Maybe<double>& value = quantity == 0   ? last.utilisation
                                 : quantity == 1 ? last.temperature_c
                                                 : last.clock_mhz;
    if (!value) return trf("Not available: {}.", tr(value.reason()));
  }
  return tr("No reading yet");
}

}  // namespace

void device_chart(const Panel& p, const std::vector<DeviceEntry>& entries) {
  int& chosen = p.view.forms.devices.quantity;
  const Quantity& quantity = quantities().at(static_cast<std::size_t>(chosen));
  const Card card(p, "devices/chart", tr(quantity.name),
                  {.extra = spare_height(p),
                   .hint = tr(quantity.text),
                   .note = tr("drag to see up to half an hour")});
  if (!card) return;
  segmented(p.ui, "devices/quantity", "",
            std::array<std::string, 3>{kUtilisation, kTemperature, kClock}, chosen);
  Lines lines(entries.size());
  for (const DeviceEntry& entry : entries) {
    if (entry.absent != nullptr) continue;
    lines.add(entry, entry.curves(p.model), quantity, p.model.now_s());
  }
  const std::string empty = why_empty(p, entries, chosen);
  plot::draw(p.ui, "devices/plot",
             {.x = {.label = tr("minutes"), .min = -kShown_min, .max = 0, .zero = tr("now")},
              .y = {.unit = quantity.unit, .min = quantity.min, .max = quantity.max}},
             lines.series, {.height = 210, .grows = true, .empty_text = empty}, p.out);
}

}  // namespace lab::ui
