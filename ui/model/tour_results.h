#pragma once
// The figures of a tour: at most one per device and question.
#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::ui {

// Whether a median of the repetitions says little: half of the range from p10 to p90 is more than
// a tenth of it. The fastest of many repetitions has a wide spread without being wrong.
inline bool is_wide(const TourFigure& figure) {
  constexpr double kWide = 0.1;
  return figure.value == figure.median && (figure.high - figure.low) / 2 > kWide * figure.median;
}

// Whether a complete figure is unsteady.
inline bool is_unsteady(const TourFigure& figure) {
  return figure.missing.empty() && ((figure.unstable && figure.n > 1) || is_wide(figure));
}

// A figure that a tour which ended early took over from an earlier one.
struct OlderFigure {
  Device device;
  TourQuestion question = TourQuestion::Peak;
  std::time_t measured = 0;  // wall clock
};

struct TourResults {
  StartTour request;
  double started_t_s = 0;
  std::vector<TourFigure> figures = {};
  std::time_t measured = 0;  // wall clock, when it ended; 0: it has not
  double others = 0;         // as CoresShared::others, if notable
  bool earlier = false;      // in an earlier session
  std::vector<OlderFigure> older = {};

  bool empty() const { return figures.empty(); }

  // When an older figure was measured; 0: with the others.
  std::time_t older_date(const TourFigure& figure) const {
    const auto found = std::find_if(older.begin(), older.end(), [&](const OlderFigure& one) {
      return one.device == figure.device && one.question == figure.question;
    });
    return found == older.end() ? 0 : found->measured;
  }

  // Replaces the figure of the same device and question.
  void add(TourFigure figure) {
    for (TourFigure& known : figures) {
      if (known.device != figure.device || known.question != figure.question) continue;
      known = std::move(figure);
      return;
    }
    figures.push_back(std::move(figure));
  }

  // Takes over the figures of `before` that this tour, stopped early, did not complete.
  void complete_from(const TourResults& before) {
    for (const TourFigure& figure : before.figures) {
      const TourFigure* known = find(figure.device, figure.question);
      if (known != nullptr && (known->complete || !figure.complete)) continue;
      add(figure);
      const std::time_t date = before.older_date(figure);
      older.push_back({figure.device, figure.question, date != 0 ? date : before.measured});
    }
  }

  // nullptr if it has not been measured.
  const TourFigure* find(Device device, TourQuestion question) const {
    const auto found = std::find_if(figures.begin(), figures.end(), [&](const TourFigure& one) {
      return one.device == device && one.question == question;
    });
    return found == figures.end() ? nullptr : &*found;
  }
};

}  // namespace lab::ui
