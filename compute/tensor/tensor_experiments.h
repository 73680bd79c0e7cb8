#pragma once
// The Memory page's jobs: make, copy, add, free. Each ends with a TensorList of all devices.
#include <memory>

#include "compute/device/machine.h"
#include "compute/run/experiment.h"
#include "compute/types/command.h"
#include "compute/types/event.h"

namespace lab {

std::unique_ptr<Experiment> make_tensor_experiment(const MakeTensor& request);
std::unique_ptr<Experiment> make_tensor_experiment(const CopyTensor& request);
std::unique_ptr<Experiment> make_tensor_experiment(const AddTensors& request);
std::unique_ptr<Experiment> make_tensor_experiment(const FreeTensor& request);

// Every live buffer of every device, oldest first. Safe from any thread.
TensorList list_tensors(Machine& machine);

}  // namespace lab
