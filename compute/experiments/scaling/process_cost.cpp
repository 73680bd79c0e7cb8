#include "compute/experiments/scaling/process_cost.h"

#include "compute/core/events/models.h"
#include "compute/nn/models.h"

namespace lab {

double repeated_s(double operations, double parameter_tensors) {
  return operations * kLaunchS + parameter_tensors * (kReplicateS + kCollectS);
}

double repeated_s(std::string_view model) {
  const nn::NetworkPlan plan = nn::plan_model(model);
  return repeated_s(find_model(model)->operations, static_cast<double>(plan.parameters.size()));
}

}  // namespace lab
