#pragma once
// What the samples of a live run come to.
#include "compute/core/events/stats.h"
#include "ui/model/columns.h"

namespace lab::ui {

// Statistics of the samples that are kept, in their unit; `last` is the newest.
struct LiveRate {
  double last = 0, p10 = 0, median = 0, p90 = 0;
  bool varies() const { return varies_much(p10, p90); }
};

// `samples` has at least one.
LiveRate live_rate(const Column64& samples);

}  // namespace lab::ui
