#include "ui/model/setting_differences.h"

namespace lab::ui {

const std::vector<DifferingSetting>& SettingDifferences::of(
    const std::vector<const TrainingRun*>& runs) {
  std::vector<std::pair<JobId, bool>> now;
  now.reserve(runs.size());
  for (const TrainingRun* run : runs) now.emplace_back(run->id(), run->started().has_value());
  if (now != runs_) {
    settings_ = settings_that_differ(runs);
    runs_ = std::move(now);
  }
  return settings_;
}

}  // namespace lab::ui
