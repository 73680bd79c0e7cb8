#pragma once
// Experiments behind the Memory page: make, copy, add and free a tensor, and statements that do the
// same. Each ends by emitting a TensorList of all devices.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/machine/telemetry.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_tensor_experiment(const MakeTensor& request);
std::unique_ptr<Experiment> make_tensor_experiment(const CopyTensor& request);
std::unique_ptr<Experiment> make_tensor_experiment(const AddTensors& request);
std::unique_ptr<Experiment> make_tensor_experiment(const FreeTensor& request);
// Emits one TensorResult per statement. A statement that fails ends the job with its error.
std::unique_ptr<Experiment> make_tensor_experiment(const RunTensorCode& request);

}  // namespace lab
