#pragma once
// A training's profile in the orders in which the page shows it. Everything points into the
// profile, which must outlive it.
#include <cstddef>
#include <vector>

#include "compute/core/events/training_profile.h"

namespace lab::ui {

// A layer with one kind of kernels. Null: that part is not there, or was not timed yet.
struct LayerSide {
  const ProfileRow* forward = nullptr;
  const ProfileRow* backward = nullptr;
  const ProfileRow* once = nullptr;  // of what happens once a step, instead of the two
  double seconds() const;
};

struct ProfileLayer {
  const ProfileRow* name = nullptr;  // one of its rows: layer, kind and shape are those
  std::vector<LayerSide> sides;      // as the profile's totals
  double seconds() const;            // of the first side, else of the next
};

enum class LayerOrder { Longest, Network };

// What happens once a step stands as a layer of its own, at its place in the step.
std::vector<ProfileLayer> layers_of(const TrainingProfile& profile, LayerOrder order);

enum class ProfileKey {
  Layer,
  Pass,
  Time,
  Ratio,
  P10,
  P90,
  Gflops,
  Share,
  Bytes,
  Intensity,
  Method
};

// The value of `line` with kind of kernels number `side`; Layer and Method have none. NaN: none.
double value_of(const TrainingProfile& profile, const ProfileLine& line, ProfileKey key,
                std::size_t side = 0);

// Sorted by `key` of kind of kernels number `side`; Layer sorts by the place in the step. Lines
// without a value come last.
std::vector<ProfileLine> lines_of(const TrainingProfile& profile, ProfileKey key, std::size_t side,
                                  bool descending);

}  // namespace lab::ui
