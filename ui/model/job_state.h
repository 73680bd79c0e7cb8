#pragma once
// The running job, and how the last job of each page went.
#include <optional>
#include <string>

#include "compute/core/events/event.h"

namespace lab::ui {

enum class JobKind { Memory, Transfers, Matmul, Training, Scaling };
inline constexpr int kJobKinds = 5;

JobKind kind_of(const JobCommand& command);

struct RunningJob {
  JobId id = 0;
  JobKind kind = JobKind::Memory;
  std::string title;
  double started_t_s = 0;
  double done = 0;  // 0..1
  std::string what;
  std::optional<double> left_s;
};

enum class Phase { Empty, Running, Done, Failed };

struct PageState {
  Phase phase = Phase::Empty;
  JobId job = 0;
  std::optional<JobCommand> command;  // what Retry sends again
  bool cancelled = false;             // Done, but stopped early on request
  std::string error;                  // one sentence, when Failed
  Errc code = Errc::Internal;         // what kind of failure, when Failed
  double seconds = 0;                 // of the job, when Done or Failed
};

}  // namespace lab::ui
