#pragma once
// Reference results of another machine: choosing one and drawing it beside the present results. For
// use inside ui/pages only.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/pages/panel.h"
#include "ui/plot/plot.h"

namespace lab::ui {

using OffersReference = bool (*)(const ReferenceResults&, const MachineInfo&);

// A form field; draws nothing if no reference was found, or none that is offered.
void reference_field(const Panel& p, Fields& fields, std::string_view path,
                     OffersReference offers = nullptr);

// Returns the reference that the user chose; null if there is none or it was not found.
const ReferenceResults* chosen_reference(const Panel& p);

// "Reference: NVIDIA H200, measured 2026-11-21 with ...", the prefix of its samples' tooltips.
std::string provenance(const ReferenceMachine& machine);

// The machine's legend entry: a series without points that shows or hides its curves.
plot::Series reference_entry(const Panel& p, const ReferenceMachine& machine);

// A subdued copy of the style of `like`, the curve measured here: pale, thin and dashed, without
// marker or band.
plot::Series quiet_series(const plot::Series& like, const ReferenceMachine& machine);

// quiet_series() with the points of a curve and a description of each. `x` and `y` are columns of
// that curve.
template <typename Curve>
plot::Series reference_series(const plot::Series& like, const ReferenceMachine& machine,
                              const ReferenceCurve<Curve>& curve, const Column64& x,
                              const Column64& y) {
  plot::Series s = quiet_series(like, machine);
  s.x = std::span(x).subspan(curve.first, curve.count);
  s.y = std::span(y).subspan(curve.first, curve.count);
  s.describe = [&machine, &samples = curve.there->samples, first = curve.first](std::size_t i) {
    return provenance(machine) + "\n" + describe(samples[first + i], machine.cache);
  };
  return s;
}

// Returns true if the largest `y` of the reference's curves exceeds kMax times the largest
// measured here, in which case a linear axis would flatten the latter.
template <typename Curve>
bool towers(const Overlay<Curve>& fitting, const std::vector<Curve>& here, Column64 Curve::*y) {
  constexpr double kMax = 8;
  const auto highest = [y](double top, const Curve& curve) {
    for (const double value : curve.*y) top = std::max(top, value);
    return top;
  };
  double most_here = 0, most_there = 0;
  for (const Curve& curve : here) most_here = highest(most_here, curve);
  for (const auto& curve : fitting.curves) most_there = highest(most_there, *curve.there);
  return most_there > kMax * most_here;
}

// Draws `note`, the reason why part of the reference is not drawn, as one muted line; nothing if
// empty.
void reference_note(const Panel& p, std::string_view path, std::string_view note);

}  // namespace lab::ui
