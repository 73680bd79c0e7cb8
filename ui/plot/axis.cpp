#include "ui/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compute/core/units.h"

namespace lab::ui::plot {
namespace {

constexpr double kLargest = 1e300;
constexpr double kSmallestPositive = 1e-300;

double clamped(Scale scale, double value) {
  if (std::isnan(value)) return scale == Scale::Linear ? 0 : 1;
  if (scale == Scale::Linear) return std::clamp(value, -kLargest, kLargest);
  return std::clamp(value, kSmallestPositive, kLargest);
}

// The smallest width around `at` (in even space) at which ticks still differ.
double narrowest(Scale scale, double at) {
  return std::max(std::abs(at), scale == Scale::Linear ? 1e-285 : 1.0) * 1e-12;
}

Range from_even_range(Scale scale, double lo, double hi) {
  return showable_range(scale, {from_linear(scale, lo), from_linear(scale, hi)});
}

}  // namespace

double to_linear(Scale scale, double value) {
  switch (scale) {
    case Scale::Log10: return std::log10(value);
    case Scale::Log2: return std::log2(value);
    case Scale::Linear: break;
  }
  return value;
}

double from_linear(Scale scale, double even) {
  switch (scale) {
    case Scale::Log10: return std::pow(10.0, even);
    case Scale::Log2: return std::exp2(even);
    case Scale::Linear: break;
  }
  return even;
}

bool can_show(Scale scale, double value) {
  return std::isfinite(value) && (scale == Scale::Linear || value > 0);
}

Pixels::Pixels(const AxisMap& map)
    : scale_(map.scale),
      low_(to_linear(map.scale, map.range.min)),
      share_(1 / (to_linear(map.scale, map.range.max) - low_)),
      from_(map.from),
      length_(map.to - map.from) {}

float Pixels::operator()(double value) const {
  const double share = (to_linear(scale_, value) - low_) * share_;
  // Clamping far off screen keeps float arithmetic in the renderer exact.
  return static_cast<float>(from_ + std::clamp(share, -50.0, 50.0) * length_);
}

float AxisMap::pixel(double value) const {
  return Pixels(*this)(value);
}

double AxisMap::value(float pixel) const {
  const double lo = to_linear(scale, range.min), hi = to_linear(scale, range.max);
  const double share = (pixel - from) / static_cast<double>(to - from);
  return from_linear(scale, lo + share * (hi - lo));
}

Range showable_range(Scale scale, Range range) {
  range.min = clamped(scale, range.min);
  range.max = clamped(scale, range.max);
  if (range.min > range.max) std::swap(range.min, range.max);
  const double lo = to_linear(scale, range.min), hi = to_linear(scale, range.max);
  const double middle = lo + (hi - lo) / 2;
  if (hi - lo >= narrowest(scale, middle)) return range;
  const double half = narrowest(scale, middle);
  return {from_linear(scale, middle - half), from_linear(scale, middle + half)};
}

Range zoomed(Scale scale, Range range, double anchor, double factor) {
  const double lo = to_linear(scale, range.min), hi = to_linear(scale, range.max);
  const double at = to_linear(scale, clamped(scale, anchor));
  const double next_lo = at + (lo - at) * factor, next_hi = at + (hi - at) * factor;
  if (factor < 1 && next_hi - next_lo < 4 * narrowest(scale, at)) return range;
  if (!std::isfinite(next_hi - next_lo)) return range;
  return from_even_range(scale, next_lo, next_hi);
}

Range panned(Scale scale, Range range, double share) {
  const double lo = to_linear(scale, range.min), hi = to_linear(scale, range.max);
  const double by = (hi - lo) * share;
  return from_even_range(scale, lo + by, hi + by);
}

void Extent::add(double value) {
  if (!can_show(scale_, value)) return;
  min_ = seen_ ? std::min(min_, value) : value;
  max_ = seen_ ? std::max(max_, value) : value;
  seen_ = true;
}

Range Extent::padded(double margin, bool anchor_zero) const {
  if (!seen_) return scale_ == Scale::Linear ? Range{0, 1} : Range{1, 10};
  const double lo = to_linear(scale_, clamped(scale_, min_));
  const double hi = to_linear(scale_, clamped(scale_, max_));
  const double width = hi - lo;
  if (width <= narrowest(scale_, std::max(std::abs(lo), std::abs(hi)))) {
    // Ticks at powers of two around a single size.
    const double around = scale_ == Scale::Log2 ? 1.5 : 0.5;
    if (scale_ != Scale::Linear) return from_even_range(scale_, lo - around, hi + around);
    if (lo == 0) return {0, 1};
    const double room = std::abs(lo) / 2;
    return showable_range(scale_, {lo - room, hi + room});
  }
  double low = lo - width * margin, high = hi + width * margin;
  if (scale_ == Scale::Linear && anchor_zero) {
    if (min_ >= 0 && min_ <= 0.5 * max_) low = 0;
    if (max_ <= 0 && max_ >= 0.5 * min_) high = 0;
  }
  return from_even_range(scale_, low, high);
}

// --- ticks ----------------------------------------------------------------------------------

double decimal_step(double at_least) {
  const double power = std::pow(10.0, std::floor(std::log10(at_least)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * power >= at_least * (1 - 1e-9)) return m * power;
  }
  return 10 * power;
}

namespace {

struct Prefix {
  double factor = 1;
  std::string_view name;
};

constexpr std::array<Prefix, 15> kSi{{{1e-18, "a"},
                                      {1e-15, "f"},
                                      {1e-12, "p"},
                                      {1e-9, "n"},
                                      {1e-6, "µ"},
                                      {1e-3, "m"},
                                      {1, ""},
                                      {1e3, "k"},
                                      {1e6, "M"},
                                      {1e9, "G"},
                                      {1e12, "T"},
                                      {1e15, "P"},
                                      {1e18, "E"},
                                      {1e21, "Z"},
                                      {1e24, "Y"}}};
constexpr std::array<Prefix, 7> kBinary{{{1, ""},
                                         {1024.0, "Ki"},
                                         {1048576.0, "Mi"},
                                         {1073741824.0, "Gi"},
                                         {1099511627776.0, "Ti"},
                                         {1125899906842624.0, "Pi"},
                                         {1152921504606846976.0, "Ei"}}};

// Kiloseconds are not in use, and percent, degrees and images per second take none at all.
bool no_prefix(std::string_view unit, double magnitude) {
  return unit == "%" || unit == "°C" || unit == "images/s" || (unit == "s" && magnitude >= 1);
}

Prefix prefix_for(double magnitude, bool binary, std::string_view unit = {}) {
  if (!(magnitude > 0) || no_prefix(unit, magnitude)) return {1, ""};
  Prefix found = binary ? kBinary.front() : kSi.front();
  const auto search = [&](const auto& all) {
    for (const Prefix& p : all) {
      if (magnitude >= p.factor * (1 - 1e-9)) found = p;
    }
  };
  if (binary) {
    search(kBinary);
  } else {
    search(kSi);
  }
  return found;
}

// Plain counts below 1e5 and small fractions such as 0.001 are more readable without a prefix.
Prefix plain_prefix(double magnitude) {
  return magnitude >= 1e5 ? prefix_for(magnitude, false) : Prefix{1, ""};
}

int decimals_for(double step) {
  if (!(step > 0)) return 0;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 15);
}

std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

// Where a label has groups of digits, those of four digits have them as well: "5,000" and "15,000".
void group_alike(std::vector<Tick>& ticks) {
  const auto is_grouped = [](const Tick& t) { return t.label.find(',') != std::string::npos; };
  if (std::ranges::none_of(ticks, is_grouped)) return;
  constexpr std::size_t kDigits = 4;
  for (Tick& t : ticks) {
    const std::size_t first = t.label.starts_with('-') ? 1 : 0;
    const std::size_t end =
        std::min(t.label.find_first_not_of("0123456789", first), t.label.size());
    if (!is_grouped(t) && end - first == kDigits) t.label.insert(first + 1, ",");
  }
}

std::string significant(double value) {
  return group_digits(fmt::format("{:.5g}", value));
}

double binary_step(double at_least) {
  return std::exp2(std::ceil(std::log2(at_least) - 1e-9));
}

double minor_step(double step, bool binary) {
  if (binary) return step / 4;
  const double lead = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  return lead > 1.5 && lead < 3 ? step / 4 : step / 5;
}

constexpr int kMaxTicks = 400;
constexpr double kMaxMinorPowers = 60;  // decades or doublings above which minor ticks crowd

void add_linear(std::vector<Tick>& out, const Range& range, double step, double minor) {
  const double slack = (range.max - range.min) * 1e-9;
  const double first = std::ceil((range.min - slack) / minor);
  const double last = std::floor((range.max + slack) / minor);
  if (!(last - first < kMaxTicks)) return;
  const double per = std::round(step / minor);
  const int count = static_cast<int>(last - first);
  for (int k = 0; k <= count; ++k) {
    const double i = first + k;
    const bool major = std::abs(std::remainder(i, per)) < 0.5;
    const double value = major ? std::round(i / per) * step : i * minor;
    out.push_back({.value = value, .label = {}, .major = major});
  }
}

Ticks linear(const TickRequest& r) {
  Ticks out;
  const double width = r.range.max - r.range.min;
  const double at_least = width / std::max(1.0, r.max_labels);
  const double biggest = std::max(std::abs(r.range.min), std::abs(r.range.max));
  const bool binary = r.binary && biggest >= 1024;
  double step = binary ? binary_step(at_least) : decimal_step(at_least);
  if (r.whole) step = std::max(1.0, step);
  double minor = minor_step(step, binary);
  if (r.whole) minor = std::max(1.0, minor);
  add_linear(out.ticks, r.range, step, minor);

  const bool with_unit = !r.unit.empty() || r.binary;
  const Prefix prefix = with_unit ? prefix_for(biggest, r.binary, r.unit) : plain_prefix(biggest);
  const bool tiny = !with_unit && biggest < 1e-4;
  out.unit = with_unit ? std::string(prefix.name).append(r.unit) : std::string();
  if (r.binary && r.unit.empty()) out.unit.append("B");
  const double unit_step = step / prefix.factor;
  const int of_binary = unit_step >= 1 ? 0 : unit_step >= 0.25 ? 2 : 3;  // 1/8 is 0.125
  const int decimals = binary ? of_binary : decimals_for(unit_step);
  for (Tick& t : out.ticks) {
    if (!t.major) continue;
    if (tiny) {
      t.label = t.value == 0 ? "0" : significant(t.value);
    } else {
      t.label = group_digits(fixed(t.value / prefix.factor, decimals));
      if (!with_unit && !prefix.name.empty() && t.value != 0) t.label.append(prefix.name);
    }
  }
  group_alike(out.ticks);
  return out;
}

std::string log_label(double value, const TickRequest& r, bool with_unit) {
  if (r.binary || with_unit) {
    const Prefix p = prefix_for(value, r.binary, r.binary ? std::string_view() : r.unit);
    const std::string_view unit = r.binary ? "B" : r.unit;
    return fmt::format("{} {}{}", significant(value / p.factor), p.name, unit);
  }
  if (!r.unit.empty() || value < 1e5) return significant(value);
  const Prefix p = prefix_for(value, false);
  return fmt::format("{} {}", significant(value / p.factor), p.name);
}

// Each label has its own prefix, which needs the unit beside it. Where no label has a prefix, the
// unit is in the title.
void label_log_ticks(Ticks& to, const TickRequest& r) {
  const bool with_unit =
      !r.unit.empty() && std::any_of(to.ticks.begin(), to.ticks.end(), [&](const Tick& t) {
        return t.major && !prefix_for(t.value, false, r.unit).name.empty();
      });
  for (Tick& t : to.ticks) {
    if (t.major) t.label = log_label(t.value, r, with_unit);
  }
  if (!with_unit && !r.binary) to.unit = std::string(r.unit);
}

// The multiples of a decade that are labelled: more than its start where a few decades would leave
// the axis with two or three labels.
std::span<const int> labelled_multiples(double decades, double max_labels) {
  static constexpr std::array kThirds = {1, 2, 5};
  static constexpr std::array kHalves = {1, 3};
  constexpr double kEnoughDecades = 3;
  if (decades < kEnoughDecades && 3 * decades <= max_labels) return kThirds;
  if (decades < kEnoughDecades && 2 * decades <= max_labels) return kHalves;
  return std::span(kHalves).first(1);
}

Ticks log10_ticks(const TickRequest& r) {
  Ticks out;
  const double lo = std::log10(r.range.min), hi = std::log10(r.range.max);
  if (hi - lo < 1.1) {  // too narrow for decade ticks
    const double at_least = (r.range.max - r.range.min) / std::max(1.0, r.max_labels);
    const double step = decimal_step(at_least);
    add_linear(out.ticks, r.range, step, step);
    std::erase_if(out.ticks, [](const Tick& t) { return t.value <= 0; });
  } else {
    const double every = std::max(1.0, std::ceil((hi - lo) / std::max(1.0, r.max_labels)));
    const std::span<const int> labelled = labelled_multiples(hi - lo, r.max_labels);
    const int last = static_cast<int>(std::ceil(hi));
    for (int e = static_cast<int>(std::floor(lo)); e <= last; ++e) {
      const bool major = std::abs(std::remainder(e, every)) < 0.5;
      if (!major && hi - lo > kMaxMinorPowers) continue;
      const double decade = std::pow(10.0, e);
      for (int m = 1; m <= (every == 1 ? 9 : 1); ++m) {
        const bool has_label = std::ranges::find(labelled, m) != labelled.end();
        out.ticks.push_back({.value = m * decade, .label = {}, .major = major && has_label});
      }
    }
  }
  return out;
}

Ticks log2_ticks(const TickRequest& r) {
  Ticks out;
  const double lo = std::log2(r.range.min), hi = std::log2(r.range.max);
  if (std::floor(hi + 1e-9) - std::ceil(lo - 1e-9) < 1) {  // fewer than two powers of two
    const double step = decimal_step((r.range.max - r.range.min) / std::max(1.0, r.max_labels));
    add_linear(out.ticks, r.range, step, step);
    std::erase_if(out.ticks, [](const Tick& t) { return t.value <= 0; });
  } else {
    const double every = std::max(1.0, std::ceil((hi - lo) / std::max(1.0, r.max_labels)));
    const int last = static_cast<int>(std::floor(hi + 1e-9));
    for (int e = static_cast<int>(std::ceil(lo - 1e-9)); e <= last; ++e) {
      const bool major = std::abs(std::remainder(e, every)) < 0.5;
      if (!major && hi - lo > kMaxMinorPowers) continue;
      out.ticks.push_back({.value = std::exp2(e), .label = {}, .major = major});
    }
  }
  return out;
}

Ticks percent_ticks(TickRequest r) {
  r.percent = false;
  r.unit = "%";
  r.range = {100 * r.range.min, 100 * r.range.max};
  Ticks out = make_ticks(r);
  for (Tick& t : out.ticks) t.value /= 100;
  return out;
}

}  // namespace

Ticks make_ticks(const TickRequest& request) {
  if (request.percent) return percent_ticks(request);
  TickRequest r = request;
  r.range = showable_range(r.scale, r.range);
  Ticks out = r.scale == Scale::Linear  ? linear(r)
              : r.scale == Scale::Log10 ? log10_ticks(r)
                                        : log2_ticks(r);
  std::erase_if(out.ticks, [&](const Tick& t) {
    const double slack = 1e-9 * std::abs(r.range.max - r.range.min);
    const double share = r.scale == Scale::Linear ? slack : 1e-9 * std::abs(t.value);
    return t.value < r.range.min - share || t.value > r.range.max + share;
  });
  if (r.scale != Scale::Linear) label_log_ticks(out, r);
  return out;
}

std::string tick_text(const Tick& tick, std::string_view zero, std::string_view unit) {
  if (tick.label.empty()) return {};
  if (tick.value == 0 && !zero.empty()) return std::string(zero);
  return unit.empty() ? tick.label : fmt::format("{} {}", tick.label, unit);
}

std::string axis_text(double value, std::string_view unit, bool binary, bool whole) {
  if (!std::isfinite(value)) return "N/A";
  if (value == 0) return unit.empty() ? "0" : fmt::format("0 {}", unit);
  const double size = std::abs(value);
  if (unit.empty() && !binary) {
    if (whole && size < 1e7) return group_digits(fmt::format("{:.0f}", value));
    if (size >= 1e-4 && size < 1e5) return significant(value);
    return fmt::format("{:.4g}", value);
  }
  const Prefix p = prefix_for(size, binary, unit);
  const std::string_view base = unit.empty() ? "B" : unit;
  return fmt::format("{:.4g} {}{}", value / p.factor, p.name, base);
}

}  // namespace lab::ui::plot
