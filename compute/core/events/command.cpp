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
  bool operator()(const AddTensors& c) const { return c.on && any_gpu({*c.on}); }
  bool operator()(const FreeTensor&) const { return false; }
  bool operator()(const RunTensorCode& c) const {
    return std::any_of(c.statements.begin(), c.statements.end(), [](const TensorStatement& s) {
      const std::optional<Device> device = device_of(s);
      return device && any_gpu({*device});
    });
  }
  bool operator()(const StartLesson& c) const { return any_gpu(c.devices); }
  bool operator()(const CompareClass&) const { return false; }
  bool operator()(const StartTour& c) const { return any_gpu(c.devices); }
  bool operator()(const FetchData&) const { return false; }
};

}  // namespace

std::optional<Device> device_of(const TensorStatement& statement) {
  if (const auto* create = std::get_if<CreateStatement>(&statement.action)) {
    return create->device.device;
  }
  if (const auto* move = std::get_if<MoveStatement>(&statement.action)) return move->to.device;
  return {};
}

bool names_gpu(const JobCommand& command) {
  return std::visit(NamesGpu{}, command);
}

}  // namespace lab
