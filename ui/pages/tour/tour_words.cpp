#include "ui/pages/tour/tour_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "ui/pages/panel.h"

namespace lab::ui {
namespace {

bool is_steady(const TourFigure& figure) {
  return figure.complete && figure.missing.empty() && figure.value > 0 && !is_unsteady(figure);
}

// "118 GFLOP/s each", or the fastest device's with its lead over the slowest.
std::string peaks_text(const std::vector<const TourFigure*>& peaks) {
  const auto [least, most] = std::ranges::minmax_element(peaks, {}, &TourFigure::value);
  const std::string best = value_text(**most), fastest = lab::to_string((*most)->device);
  constexpr double kAlike = 1.1;
  const double lead = (*most)->value / (*least)->value;
  if (peaks.size() == 1) return trf("{} reaches up to {}", fastest, best);
  if (lead < kAlike) return trf("{} devices reach up to {} each", peaks.size(), best);
  return trf("{} reaches up to {}, {} times as much as {}", fastest, best, times_text(lead),
             lab::to_string((*least)->device));
}

// "+2.1 %"; "unchanged" within what steady figures differ from tour to tour.
std::string change_text(double change) {
  constexpr double kNoise = 0.02;
  if (std::abs(change) <= kNoise) return tr("unchanged");
  return (change < 0 ? "-" : "+") + percent(std::abs(change));
}

}  // namespace

TourHeadline headline_of(const TourResults& tour, std::span<const Device> devices) {
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
  std::string text = peaks_text(peaks);
  text = best.best_share
             ? trf("{}; the lab's fastest kernel uses {} of it.", text, percent(*best.best_share))
             : text + tr(".");
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
  const bool today = date_of(now) == date_of(before.measured);
  const std::string when =
      today ? time_of_day(before.measured).substr(0, 5) : date_of(before.measured);
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

}  // namespace lab::ui
