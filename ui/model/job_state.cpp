#include "ui/model/job_state.h"

#include <variant>

namespace lab::ui {

JobKind kind_of(const JobCommand& command) {
  if (std::holds_alternative<StartTransfers>(command)) return JobKind::Transfers;
  if (std::holds_alternative<StartMatmul>(command)) return JobKind::Matmul;
  if (std::holds_alternative<StartTraining>(command)) return JobKind::Training;
  if (std::holds_alternative<StartScaling>(command)) return JobKind::Scaling;
  return JobKind::Memory;
}

}  // namespace lab::ui
