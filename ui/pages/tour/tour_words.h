#pragma once
// What the figures of a tour say together. For use inside ui/pages/tour only.
#include <ctime>
#include <optional>
#include <span>
#include <string>

#include "ui/model/tour_results.h"

namespace lab::ui {

// The machine in a sentence, from the peaks of `devices`; in two with the limit that the memory
// sets, unless the tour was disturbed, or with the remark that devices share cores.
struct TourHeadline {
  std::string text;       // empty without a peak of each device
  bool withheld = false;  // the text says which figure is too unsteady for it
};
TourHeadline headline_of(const TourResults& tour, std::span<const Device> devices,
                         bool share_cores);

// That devices share cores, LAB_TEXT.
extern const char* const kDoNotAddUp;

// The relative change of a figure since an earlier tour; empty if one of the two is missing,
// unsteady, incomplete or of another number of threads, or if it is the same measurement.
std::optional<double> change_since(const TourFigure& now, const TourResults& before);
// "cpu:0 +2.1 %, cpu:1 -4.0 % since 2026-11-12", "unchanged since 11:49": the changes of a
// question's figures, of many devices from the least to the greatest; empty without one. `now`: for
// the time of day instead of today's date.
std::string changes_text(const TourResults& tour, const TourResults& before, TourQuestion question,
                         std::time_t now);
// "cpu:1 from 15:10": which of a question's figures are of an earlier tour than the others; empty
// if none is.
std::string older_text(const TourResults& tour, TourQuestion question, std::time_t now);

}  // namespace lab::ui
