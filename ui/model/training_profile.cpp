#include "ui/model/training_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace lab::ui {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool timed(const ProfileRow* row) {
  return row != nullptr && row->time.n > 0;
}

double seconds_of(const ProfileRow* row) {
  return timed(row) ? row->time.median_s : 0;
}

const ProfileRow** place_of(LayerSide& side, StepPhase phase) {
  if (phase == StepPhase::Forward) return &side.forward;
  return phase == StepPhase::Backward ? &side.backward : &side.once;
}

// Of the first `sides` of equal rows, the layer that this row belongs to: a backward row to that of
// its forward row, which stands before it.
ProfileLayer& layer_for(std::vector<ProfileLayer>& layers, const ProfileRow& row,
                        std::size_t sides) {
  if (row.phase == StepPhase::Backward) {
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const ProfileLayer& l) {
      return l.name->phase == StepPhase::Forward && l.name->layer == row.layer &&
             l.sides.front().backward == nullptr;
    });
    if (found != layers.end()) return *found;
  }
  ProfileLayer& layer = layers.emplace_back();
  layer.name = &row;
  layer.sides.resize(sides);
  return layer;
}

}  // namespace

double LayerSide::seconds() const {
  return seconds_of(forward) + seconds_of(backward) + seconds_of(once);
}

double ProfileLayer::seconds() const {
  for (const LayerSide& side : sides) {
    if (side.seconds() > 0) return side.seconds();
  }
  return 0;
}

std::vector<ProfileLayer> layers_of(const TrainingProfile& profile, LayerOrder order) {
  std::vector<ProfileLayer> layers;
  const std::size_t parts = profile.parts(), sides = profile.totals.size();
  for (std::size_t part = 0; part < parts; ++part) {
    ProfileLayer& layer = layer_for(layers, profile.rows[part], sides);
    for (std::size_t side = 0; side < sides; ++side) {
      const ProfileRow& row = profile.rows[side * parts + part];
      *place_of(layer.sides[side], row.phase) = &row;
    }
  }
  if (order == LayerOrder::Longest) {
    std::stable_sort(
        layers.begin(), layers.end(),
        [](const ProfileLayer& a, const ProfileLayer& b) { return a.seconds() > b.seconds(); });
  }
  return layers;
}

double value_of(const TrainingProfile& profile, const ProfileLine& line, ProfileKey key,
                std::size_t side) {
  const ProfileRow& row = *line[side];
  const bool computes = row.flop > 0 && timed(&row);
  switch (key) {
    case ProfileKey::Time: return timed(&row) ? row.time.median_s : kNone;
    case ProfileKey::P10: return timed(&row) ? row.time.p10_s : kNone;
    case ProfileKey::P90: return timed(&row) ? row.time.p90_s : kNone;
    case ProfileKey::Ratio: {
      const double first = seconds_of(line.front()), last = seconds_of(line.back());
      return first > 0 && last > 0 ? last / first : kNone;
    }
    case ProfileKey::Gflops: return computes ? row.gflops() : kNone;
    case ProfileKey::Share:
      return computes && profile.peak_gflops > 0 ? profile.share_of_peak(row) : kNone;
    case ProfileKey::Bytes: return row.bytes > 0 ? static_cast<double>(row.bytes) : kNone;
    case ProfileKey::Intensity: return row.flop > 0 && row.bytes > 0 ? row.intensity() : kNone;
    case ProfileKey::Pass: return static_cast<double>(row.phase);
    case ProfileKey::Layer:
    case ProfileKey::Method: break;
  }
  return kNone;
}

std::vector<ProfileLine> lines_of(const TrainingProfile& profile, ProfileKey key, std::size_t side,
                                  bool descending) {
  std::vector<ProfileLine> lines = profile.lines();
  if (key == ProfileKey::Layer) {
    if (descending) std::reverse(lines.begin(), lines.end());
    return lines;
  }
  if (key == ProfileKey::Method) {
    std::stable_sort(lines.begin(), lines.end(), [&](const ProfileLine& a, const ProfileLine& b) {
      const std::string &first = a[side]->method, &second = b[side]->method;
      if (first.empty() || second.empty()) return !first.empty() && second.empty();
      return descending ? first > second : first < second;
    });
    return lines;
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const ProfileLine& a, const ProfileLine& b) {
    const double first = value_of(profile, a, key, side), second = value_of(profile, b, key, side);
    if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
    return descending ? first > second : first < second;
  });
  return lines;
}

}  // namespace lab::ui
