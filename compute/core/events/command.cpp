#include "compute/core/events/command.h"

#include <algorithm>

namespace lab {
namespace {

bool any_gpu(const std::vector<Device>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](Device d) { return d.kind == DeviceKind::Cuda; });
}

struct NamesGpu {
  bool operator()(const StartTransfers& c) const { return any_gpu(c.from) || any_gpu(c.to); }
  bool operator()(const StartMatmul& c) const { return any_gpu(c.devices); }
  bool operator()(const StartTraining& c) const { return any_gpu(c.devices); }
  bool operator()(const StartScaling& c) const { return any_gpu(c.training.devices); }
  bool operator()(const MakeTensor& c) const { return any_gpu({c.device}); }
  bool operator()(const CopyTensor& c) const { return any_gpu({c.to}); }
  bool operator()(const AddTensors&) const { return false; }
  bool operator()(const FreeTensor&) const { return false; }
  bool operator()(const RunTensorCode& c) const {
    return std::any_of(c.statements.begin(), c.statements.end(), [](const TensorStatement& s) {
      const auto* create = std::get_if<CreateStatement>(&s.action);
      const auto* move = std::get_if<MoveStatement>(&s.action);
      return (create && any_gpu({create->device.device})) || (move && any_gpu({move->to.device}));
    });
  }
};

}  // namespace

bool names_gpu(const JobCommand& command) {
  return std::visit(NamesGpu{}, command);
}

}  // namespace lab
