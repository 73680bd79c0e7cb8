#pragma once
// Another machine's results beside the present ones: the choice of it, and how it is drawn. For use
// inside ui/pages only.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/pages/panel.h"
#include "ui/plot/plot.h"

namespace lab::ui {

// The field of a form; nothing where no reference was found.
void reference_field(const Panel& p, Fields& fields, std::string_view path);

// The machine that the person chose; null: none, or one that is not there this time.
const ReferenceResults* chosen_reference(const Panel& p);

// "Reference: NVIDIA H200, measured 2026-11-21 with ...": stands before what its samples say.
std::string provenance(const ReferenceMachine& machine);

// The machine's entry in the legend of a plot, a series without points: its curves go with it.
plot::Series reference_entry(const Panel& p, const ReferenceMachine& machine);

// `like`, the curve it is drawn beside, made quiet: pale, thin, broken, without marker or band.
plot::Series quiet_series(const plot::Series& like, const ReferenceMachine& machine);

// The same with the points of a curve, `x` and `y` two of its columns, and what is known of each.
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

// Whether the reference's `y`, a column of its curves, so exceeds that of the curves measured here
// that a linear axis would press these flat against its bottom.
template <typename Curve>
bool towers(const Overlay<Curve>& fitting, const std::vector<Curve>& here, Column64 Curve::*y) {
  constexpr double kMost = 8;
  const auto highest = [y](double top, const Curve& curve) {
    for (const double value : curve.*y) top = std::max(top, value);
    return top;
  };
  double most_here = 0, most_there = 0;
  for (const Curve& curve : here) most_here = highest(most_here, curve);
  for (const auto& curve : fitting.curves) most_there = highest(most_there, *curve.there);
  return most_there > kMost * most_here;
}

// Why not all of it is drawn, as one muted line; nothing for an empty note.
void reference_note(const Panel& p, std::string_view path, std::string_view note);

}  // namespace lab::ui
