#pragma once
// The settings in which training runs differ, computed once per list of runs.
#include <string>
#include <utility>
#include <vector>

#include "ui/model/training_run.h"

namespace lab::ui {

class SettingDifferences {
 public:
  // Returns differing_settings(runs), which is computed again only if the list has changed or a
  // run has started: afterwards a run keeps its settings.
  const std::vector<std::vector<std::string>>& of(const std::vector<const TrainingRun*>& runs);
  // settings_that_differ() of those runs.
  const std::vector<DifferingSetting>& settings() const { return settings_; }

 private:
  std::vector<std::pair<JobId, bool>> runs_;  // whether each has started
  std::vector<DifferingSetting> settings_;
  std::vector<std::vector<std::string>> differences_;
};

}  // namespace lab::ui
