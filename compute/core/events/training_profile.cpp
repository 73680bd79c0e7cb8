#include "compute/core/events/training_profile.h"

#include <cctype>

namespace lab {

const char* to_string(StepPhase phase) {
  switch (phase) {
    case StepPhase::Batch: return "batch";
    case StepPhase::Forward: return "forward";
    case StepPhase::Loss: return "loss";
    case StepPhase::Backward: return "backward";
    case StepPhase::AllReduce: return "all_reduce";
    case StepPhase::Update: return "update";
  }
  return "";
}

std::string ProfileRow::title() const {
  const bool number = !layer.empty() && std::isdigit(static_cast<unsigned char>(layer.back())) != 0;
  const bool alone = layer.size() < 2 || layer[layer.size() - 2] == '.' ||
                     std::isdigit(static_cast<unsigned char>(layer[layer.size() - 2])) != 0;
  return number && alone && layer.find(' ') == std::string::npos ? layer + " " + kind : layer;
}

std::vector<ProfileLine> TrainingProfile::lines() const {
  std::vector<ProfileLine> all(parts());
  for (std::size_t i = 0; i < all.size() * totals.size(); ++i) {
    all[i % all.size()].push_back(&rows[i]);
  }
  return all;
}

}  // namespace lab
