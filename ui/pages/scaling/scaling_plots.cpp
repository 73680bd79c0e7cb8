// Speed-up and efficiency over the number of devices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/scaling/scaling_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

constexpr float kOldAlpha = 0.25F;
constexpr int kPredictionHue = 0;
constexpr int kMeasuredHue = 1;

ImU32 measured_color(const Panel& p) {
  return series_color(*p.ui.theme, kMeasuredHue);
}

enum class Quantity { Speedup, Efficiency };

// "1.44 times, 1.30 to 1.52": of points[i], with the range that its whiskers or its band show.
template <typename Curve>
std::string ranged_text(const Curve& curve, std::size_t i, Quantity figure) {
  const bool speed = figure == Quantity::Speedup;
  const auto number = [speed](double value) { return speed ? times_text(value) : percent(value); };
  const std::string value = number((speed ? curve.speedup : curve.efficiency)[i]);
  const std::string low = number((speed ? curve.speedup_low : curve.efficiency_low)[i]);
  const std::string high = number((speed ? curve.speedup_high : curve.efficiency_high)[i]);
  const std::string text = speed ? trf("{} times", value) : value;
  return low == high ? text : text + ", " + trf("{} to {}", low, high);
}

// "ideal 2, prediction 1.61, measured 1.44 times": all that is known at a device count, for the
// tooltip of each of its points.
std::string all_at(const ScalingResults& results, ScalingMode mode, Quantity figure, int devices) {
  const auto text = [figure](const auto& curve, const auto* point) {
    return ranged_text(curve, static_cast<std::size_t>(point - curve.points.data()), figure);
  };
  std::string all = devices_text(devices);
  add_row(all, tr("ideal"),
          figure == Quantity::Speedup ? trf("{} times", times_text(devices)) : percent(1));
  const PredictedCurve& predicted =
      results.predicted(mode).points.empty() ? results.checked(mode) : results.predicted(mode);
  if (const ScalingPrediction* p = predicted.at(devices);
      p != nullptr && results.withheld(mode).empty()) {
    add_row(all, tr("prediction"), text(predicted, p));
  }
  const ScalingCurve& measured = results.measured(mode);
  if (const ScalingPoint* p = measured.at(devices); p != nullptr) {
    add_row(all, tr("measured"), text(measured, p));
  }
  return all;
}

// Owns the computed columns, which must outlive the drawing of a plot.
struct Drawn {
  Column64 ideal_x, ideal_y;
  Column64 fast_y, shared_y;
  Column64 unsteady;  // 1 where the speed-up is
};

// Splits y into points with separate and with shared cores; NaN interrupts the line between them.
// The line to the first point with shared cores starts at the last point without.
void split_by_cores(const ScalingCurve& curve, const Column64& y, Drawn& drawn) {
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const bool shares = curve.points[i].shares_cores;
    const bool next_shares = i + 1 < curve.points.size() && curve.points[i + 1].shares_cores;
    drawn.fast_y.push_back(shares ? kNoValue : y[i]);
    drawn.shared_y.push_back(shares || next_shares ? y[i] : kNoValue);
    // That of one device is 1 by definition.
    drawn.unsteady.push_back(curve.points[i].devices > 1 && curve.is_unsteady(i) ? 1 : 0);
  }
}

void add_measured(const Panel& p, const ScalingResults& results, ScalingMode mode, Quantity figure,
                  Drawn& drawn, std::vector<plot::Series>& out) {
  const ScalingCurve& curve = results.measured(mode);
  if (curve.points.empty()) return;
  const bool speed = figure == Quantity::Speedup;
  split_by_cores(curve, speed ? curve.speedup : curve.efficiency, drawn);
  plot::Series s;
  s.color = measured_color(p);
  s.x = curve.devices;
  s.describe = [&results, &curve, mode, figure](std::size_t i) {
    return all_at(results, mode, figure, curve.points[i].devices) + "\n\n" +
           describe(results, curve.points[i]);
  };
  s.label = tr("measured");
  s.marker = plot::Marker::Circle;
  plot::Series entry = s;  // before the other in the legend, but drawn on top of it
  entry.x = {};
  out.push_back(std::move(entry));
  const bool any_shares = std::any_of(curve.points.begin(), curve.points.end(),
                                      [](const ScalingPoint& one) { return one.shares_cores; });
  if (any_shares) {
    plot::Series shared = s;
    shared.label = tr("more devices than cores");
    shared.color = p.ui.theme->muted;
    shared.line = plot::Line::Dashed;
    shared.marker = plot::Marker::Cross;
    shared.y = drawn.shared_y;
    out.push_back(std::move(shared));
  }
  s.y = drawn.fast_y;
  s.low = speed ? curve.speedup_low : curve.efficiency_low;
  s.high = speed ? curve.speedup_high : curve.efficiency_high;
  s.whiskers = true;
  s.unsteady = drawn.unsteady;
  out.push_back(std::move(s));
}

plot::Series calculated(const Panel& p, const ScalingResults& results, const PredictedCurve& curve,
                        ScalingMode mode, Quantity figure) {
  plot::Series s;
  s.color = series_color(*p.ui.theme, kPredictionHue);
  s.line = plot::Line::Dotted;
  s.x = curve.devices;
  s.y = figure == Quantity::Speedup ? curve.speedup : curve.efficiency;
  s.describe = [&results, &curve, mode, figure](std::size_t i) {
    return all_at(results, mode, figure, curve.points[i].devices) + "\n\n" +
           describe(results, curve.points[i]);
  };
  return s;
}

void add_calculated(const Panel& p, const ScalingResults& results, ScalingMode mode,
                    Quantity figure, std::vector<plot::Series>& out) {
  if (!results.withheld(mode).empty()) return;
  if (const PredictedCurve& curve = results.predicted(mode); !curve.points.empty()) {
    plot::Series s = calculated(p, results, curve, mode, figure);
    s.label = tr("prediction");
    if (is_of_other_settings(p, results, mode)) s.alpha = kOtherSettingsAlpha;
    s.marker = plot::Marker::Diamond;
    s.low = figure == Quantity::Speedup ? curve.speedup_low : curve.efficiency_low;
    s.high = figure == Quantity::Speedup ? curve.speedup_high : curve.efficiency_high;
    out.push_back(std::move(s));
  }
  // Beside a prediction, the same model for this machine would only cover the first points.
  const PredictedCurve& checked = results.checked(mode);
  if (checked.points.size() > 1 && results.predicted(mode).points.empty()) {
    plot::Series s = calculated(p, results, checked, mode, figure);
    s.label = tr("model");
    s.marker = plot::Marker::Triangle;
    out.push_back(std::move(s));
  }
}

// The previous experiment, whose curve is drawn during and after the new one; null if none is.
const ScalingResults* drawn_previous(const Kept<ScalingResults>& kept) {
  return kept.previous && !is_old(kept) && kept.current.request.measure ? &*kept.previous : nullptr;
}

// Adds the previous experiment's curve, pale.
void add_previous(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                  Quantity figure, std::vector<plot::Series>& out) {
  const ScalingResults* before = drawn_previous(kept);
  if (before == nullptr) return;
  const ScalingCurve& curve = before->measured(mode);
  plot::Series s;
  s.label = tr("previous");
  s.in_legend = false;
  s.alpha = kOldAlpha;
  s.color = measured_color(p);
  s.x = curve.devices;
  s.y = figure == Quantity::Speedup ? curve.speedup : curve.efficiency;
  s.describe = [before, &curve](std::size_t i) {
    return tr("previous run") + std::string("\n") + describe(*before, curve.points[i]);
  };
  out.push_back(std::move(s));
}

double most_devices(const ScalingResults& results, ScalingMode mode) {
  const Column64& measured = results.measured(mode).devices;
  const Column64& predicted = results.predicted(mode).devices;
  return std::max(measured.empty() ? 1.0 : measured.back(),
                  predicted.empty() ? 1.0 : predicted.back());
}

plot::Series ideal_line(const Panel& p, const ScalingResults& results, ScalingMode mode,
                        Quantity figure, Drawn& drawn) {
  for (int n = 1; n < most_devices(results, mode); n *= 2) drawn.ideal_x.push_back(n);
  drawn.ideal_x.push_back(most_devices(results, mode));
  drawn.ideal_y = drawn.ideal_x;
  if (figure == Quantity::Efficiency) drawn.ideal_y.assign(drawn.ideal_x.size(), 1.0);
  plot::Series s;
  s.label = tr("ideal");
  s.color = p.ui.theme->muted;
  s.line = plot::Line::Dashed;
  s.width = 1.2F;
  s.x = drawn.ideal_x;
  s.y = drawn.ideal_y;
  s.describe = [&results, &drawn, mode, figure](std::size_t i) {
    return all_at(results, mode, figure, static_cast<int>(drawn.ideal_x[i]));
  };
  return s;
}

// The same however many devices are measured or predicted, so that no run and no prediction changes
// the shape of the curves.
constexpr plot::Scale kDevicesScale = plot::Scale::Log2;

// Where the axis ends: at `usual` if all values fit; where error bars extend far beyond all lines,
// the ideal one among them, it cuts them off. Empty otherwise.
std::optional<double> axis_end(std::span<const plot::Series> series, double usual) {
  constexpr double kRoom = 1.25, kMarker = 1.05;
  double line = 0, bar = 0;
  for (const plot::Series& s : series) {
    for (const double y : s.y) line = std::fmax(line, y);
    for (const double high : s.high) bar = std::fmax(bar, high);
  }
  if (std::max(line, bar) <= kMarker * usual) return kMarker * usual;
  return bar > kRoom * line ? std::optional(kRoom * line) : std::nullopt;
}

// One quantity over the number of devices: ideal, predicted, measured.
struct FigureCard {
  Quantity figure;
  const char* card;
  const char* title;
  const char* hint;
  const char* plot;
};

void figure_card(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                 const FigureCard& what, plot::Axis y) {
  const bool old = is_old(kept);
  const ScalingResults& results = shown(kept);
  // The measured devices have another link.
  const bool predicts = !results.predicted(mode).points.empty() && results.withheld(mode).empty();
  const std::string link =
      predicts ? trf("prediction: {}", link_title(results.request.link)) : std::string();
  Card card(p, what.card, what.title, {.hint = what.hint, .note = link, .dimmed = old});
  if (!card) return;
  Drawn drawn;
  std::vector<plot::Series> series;
  series.push_back(ideal_line(p, results, mode, what.figure, drawn));
  add_previous(p, kept, mode, what.figure, series);
  add_calculated(p, results, mode, what.figure, series);
  add_measured(p, results, mode, what.figure, drawn, series);
  y.max = axis_end(series, what.figure == Quantity::Efficiency ? 1 : 0);
  plot::draw(p.ui, what.plot,
             {.x = {.label = tr("devices"), .scale = kDevicesScale, .whole = true}, .y = y}, series,
             {.height = 270,
              .grows = true,
              .cursor = &p.view.cursor,
              .empty_text = tr("No point yet"),
              .dimmed = old},
             p.out);
}

void speedup_card(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  figure_card(
      p, kept, mode,
      {.figure = Quantity::Speedup,
       .card = "scaling/speedup",
       .title = tr("Speed-up over devices"),
       .hint = tr("Images per second relative to one device. The error bars span p10 to p90 "
                  "of the steps. Dotted: calculated, not measured; "
                  "its band follows the measured "
                  "steps of one device, p10 to p90."),
       .plot = "scaling/plot/speedup"},
      {.label = tr("speed-up"), .scale = kDevicesScale});
}

void efficiency_card(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  figure_card(p, kept, mode,
              {.figure = Quantity::Efficiency,
               .card = "scaling/efficiency",
               .title = tr("Efficiency over devices"),
               .hint = tr("Speed-up divided by the number of devices: 100 % is ideal."),
               .plot = "scaling/plot/efficiency"},
              {.label = tr("efficiency"), .min = 0, .percent = true});
}

}  // namespace

void draw_speedup_plots(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  Pair pair(p, 680);
  pair.next();
  speedup_card(p, kept, mode);
  pair.next();
  efficiency_card(p, kept, mode);
}

}  // namespace lab::ui
