#pragma once
// Passes the results of a training on and writes them to a TensorBoard event file.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "compute/run/run_context.h"
#include "compute/train/event_file.h"
#include "compute/train/training_job.h"

namespace lab {

// The folder of one run in `logdir`: its model and the time, so that TensorBoard shows every run by
// itself. A number follows if the folder exists.
std::filesystem::path event_folder(const std::filesystem::path& logdir, const std::string& model);

// Throws Error(Io) if no event file could be written into a folder in `logdir`, which is created.
void check_event_folder(const std::filesystem::path& logdir);

class EventLog {
 public:
  // `step`: the steps made before this run. Throws Error(Io) if the file cannot be created. The
  // other arguments must outlive the log.
  EventLog(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
           std::int64_t step);

  // Writes StepDone and EpochDone. If a write fails, the training goes on without the file, and a
  // warning gives the reason.
  void operator()(Payload payload);

 private:
  void write(const StepDone& step);
  void write(const EpochDone& epoch);

  RunContext& ctx_;
  const TrainingSink& sink_;
  std::optional<EventFile> file_;
  std::int64_t step_;
};

}  // namespace lab
