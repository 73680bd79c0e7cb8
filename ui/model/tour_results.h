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

// Of a complete figure.
inline bool is_unsteady(const TourFigure& figure) {
  return figure.missing.empty() && ((figure.unstable && figure.n > 1) || is_wide(figure));
}

struct TourResults {
  StartTour request;
  double started_t_s = 0;
  std::vector<TourFigure> figures = {};
  std::time_t measured = 0;  // wall clock, when it ended; 0: it has not
  double others = 0;         // as CoresShared::others, if notable
  bool earlier = false;      // in an earlier session
  bool mixed = false;        // with figures of the tour before it, which have another date

  bool empty() const { return figures.empty(); }

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
      mixed = true;
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
