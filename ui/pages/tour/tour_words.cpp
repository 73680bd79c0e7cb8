#include "ui/pages/tour/tour_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/panel.h"

namespace lab::ui {
namespace {

bool is_steady(const TourFigure& figure) {
  return figure.complete && figure.missing.empty() && figure.value > 0 && !is_unsteady(figure);
}

// "at most 440 products of 512 x 512 matrices per second".
std::string products_text(const TourFigure& peak) {
  const std::int64_t n = tour_matrix_size(peak.device);
  const auto side = static_cast<double>(n);
  const double products = peak.value / (2 * side * side * side);
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(products)) - 1));
  const auto rounded = std::llround(std::round(products / unit) * unit);
  return trf("at most {0} products of {1} x {1} matrices per second",
             group_digits(std::to_string(rounded)), n);
}

// "118 GFLOP/s each", or the fastest device's with its lead over the slowest; and what that is in
// matrix products.
std::string peaks_text(const std::vector<const TourFigure*>& peaks) {
  const auto [least, most] = std::ranges::minmax_element(peaks, {}, &TourFigure::value);
  const std::string best = value_text(**most), fastest = lab::to_string((*most)->device);
  const std::string products = products_text(**most);
  constexpr double kAlike = 1.1;
  const double lead = (*most)->value / (*least)->value;
  if (peaks.size() == 1) return trf("{} reaches up to {}, {}", fastest, best, products);
  if (lead < kAlike) {
    return trf("{} devices reach up to {} each, {}", peaks.size(), best, products);
  }
  return trf("{} reaches up to {}, {} times as much as {}: {}", fastest, best, times_text(lead),
             lab::to_string((*least)->device), products);
}

// "15:10", or the date if that is not today's.
std::string short_date(std::time_t when, std::time_t now) {
  const bool today = date_of(now) == date_of(when);
  return today ? time_of_day(when).substr(0, 5) : date_of(when);
}

// "+2.1 %"; "unchanged" within what steady figures differ from tour to tour.
std::string change_text(double change) {
  constexpr double kNoise = 0.02;
  if (std::abs(change) <= kNoise) return tr("unchanged");
  return (change < 0 ? "-" : "+") + percent(std::abs(change));
}

}  // namespace

const char* const kDoNotAddUp = LAB_TEXT("Some share cores, so their figures do not add up.");

TourHeadline headline_of(const TourResults& tour, std::span<const Device> devices,
                         bool share_cores) {
  std::vector<const TourFigure*> peaks;
  for (const Device device : devices) {
    const TourFigure* peak = tour.find(device, TourQuestion::Peak);
    if (peak == nullptr || !peak->complete || !peak->missing.empty()) return {};
    if (is_unsteady(*peak)) {
      return {
          trf("The peak of {} was too unsteady to sum up this machine.", lab::to_string(device)),
          true};
    }
    peaks.push_back(peak);
  }
  if (peaks.empty()) return {};
  const TourFigure& best = **std::ranges::max_element(peaks, {}, &TourFigure::value);
  std::string text = peaks_text(peaks) + tr(".");
  if (share_cores) return {text + " " + tr(kDoNotAddUp), false};
  const TourFigure* memory = tour.find(best.device, TourQuestion::Bandwidth);
  if (tour.others <= 0 && memory != nullptr && is_steady(*memory)) {
    text += " " + trf("Work of less than {} FLOP per byte waits for memory.",
                      times_text(best.value / memory->value));
  }
  return {std::move(text), false};
}

std::optional<double> change_since(const TourFigure& now, const TourResults& before) {
  const TourFigure* then = before.find(now.device, now.question);
  if (then == nullptr || !is_steady(now) || !is_steady(*then)) return {};
  if (then->threads != now.threads) return {};
  const bool same = then->value == now.value && then->median == now.median && then->n == now.n;
  if (same) return {};
  return now.value / then->value - 1;
}

std::string changes_text(const TourResults& tour, const TourResults& before, TourQuestion question,
                         std::time_t now) {
  constexpr std::size_t kMostNamed = 2;
  std::vector<double> changes;
  std::vector<std::string> devices;
  std::size_t figures = 0;
  for (const TourFigure& figure : tour.figures) {
    if (figure.question != question) continue;
    ++figures;
    const std::optional<double> change = change_since(figure, before);
    if (!change) continue;
    changes.push_back(*change);
    devices.push_back(lab::to_string(figure.device));
  }
  if (changes.empty() || before.measured == 0) return {};
  const std::string when = short_date(before.measured, now);
  const auto [least, most] = std::ranges::minmax(changes);
  const std::string unchanged = tr("unchanged");
  if (change_text(least) == unchanged && change_text(most) == unchanged) {
    return trf("unchanged since {}", when);
  }
  if (changes.size() > kMostNamed) {
    return trf("{} to {} since {}", change_text(least), change_text(most), when);
  }
  std::vector<std::string> texts;
  texts.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string change = change_text(changes[i]);
    if (change == unchanged) continue;
    texts.push_back(figures == 1 ? change : fmt::format("{} {}", devices[i], change));
  }
  return trf("{} since {}", fmt::join(texts, tr(", ")), when);
}

std::string older_text(const TourResults& tour, TourQuestion question, std::time_t now) {
  std::vector<std::string> devices, dated;
  std::size_t figures = 0;
  std::time_t first = 0, last = 0;
  for (const TourFigure& figure : tour.figures) {
    if (figure.question != question) continue;
    ++figures;
    const std::time_t date = tour.older_date(figure);
    if (date == 0) continue;
    devices.push_back(lab::to_string(figure.device));
    dated.push_back(trf("{} from {}", devices.back(), short_date(date, now)));
    first = first == 0 ? date : std::min(first, date);
    last = std::max(last, date);
  }
  if (devices.empty()) return {};
  if (first != last) return fmt::format("{}", fmt::join(dated, tr(", ")));
  const std::string when = short_date(first, now);
  if (devices.size() == figures) return trf("from {}", when);
  return trf("{} from {}", fmt::join(devices, tr(", ")), when);
}

}  // namespace lab::ui
