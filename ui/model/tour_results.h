#pragma once
// The figures of a tour: at most one per device and question.
#include <algorithm>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::ui {

struct TourResults {
  StartTour request;
  double started_t_s = 0;
  std::vector<TourFigure> figures = {};

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

  // nullptr if it has not been measured.
  const TourFigure* find(Device device, TourQuestion question) const {
    const auto found = std::find_if(figures.begin(), figures.end(), [&](const TourFigure& one) {
      return one.device == device && one.question == question;
    });
    return found == figures.end() ? nullptr : &*found;
  }
};

}  // namespace lab::ui
