#pragma once
// The settings in which training runs differ, computed once per list of runs.
#include <utility>
#include <vector>

#include "ui/model/training_run.h"

namespace lab::ui {

class SettingDifferences {
 public:
  // Returns settings_that_differ(runs), which is computed again only if the list has changed or a
  // run has started: afterwards a run keeps its settings.
  const std::vector<DifferingSetting>& of(const std::vector<const TrainingRun*>& runs);

 private:
  std::vector<std::pair<JobId, bool>> runs_;  // whether each has started
  std::vector<DifferingSetting> settings_;
};

}  // namespace lab::ui
