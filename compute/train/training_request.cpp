#include "compute/train/training_request.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "compute/nn/models.h"
#include "compute/types/error.h"

namespace lab {
namespace {

constexpr std::int64_t kMostImages = std::int64_t{1} << 24;
constexpr std::int64_t kMostEpochs = 1'000'000;

void check_count(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(Errc::InvalidArgument,
              fmt::format("training: {} is {}; it must be {} to {}", what, value, least, most));
}

void check_rates(const StartTraining& r) {
  if (!(*r.lr > 0) || !std::isfinite(*r.lr)) {
    throw Error(Errc::InvalidArgument,
                fmt::format("training: the learning rate is {}; it must be above 0", *r.lr));
  }
  if (!(r.momentum >= 0 && r.momentum < 1)) {
    throw Error(
        Errc::InvalidArgument,
        fmt::format("training: momentum is {}; it must be at least 0 and below 1", r.momentum));
  }
  if (!(r.weight_decay >= 0) || !std::isfinite(r.weight_decay)) {
    throw Error(Errc::InvalidArgument,
                fmt::format("training: weight decay is {}; it must be at least 0", r.weight_decay));
  }
}

void check_devices(const StartTraining& r, Machine& machine) {
  for (const Device device : r.devices) machine.at(device);  // says why one cannot be used
  if (r.devices.size() > 1) {
    throw Error(Errc::Unsupported,
                fmt::format("training on {} devices at once is not possible in this version; "
                            "choose one, such as {}",
                            r.devices.size(), to_string(r.devices.front())));
  }
  if (r.devices.front().kind == DeviceKind::Cuda) {
    throw Error(Errc::Unsupported,
                fmt::format("training on {} is not possible in this version; choose cpu:0",
                            to_string(r.devices.front())));
  }
}

}  // namespace

StartTraining complete_request(StartTraining request, Machine& machine) {
  const double usual_rate = nn::default_learning_rate(request.model);  // checks the model's name
  if (!request.lr) request.lr = usual_rate;
  if (request.devices.empty()) request.devices = {cpu()};
  check_rates(request);
  check_count("the batch", request.batch, 1, kMostImages);
  check_count("the number of epochs", request.epochs, 1, kMostEpochs);
  if (request.steps) check_count("the number of steps", *request.steps, 0, INT64_MAX);
  if (request.data == DataSource::Synthetic) {
    check_count("the number of synthetic training images", request.synthetic_train, 1, kMostImages);
    check_count("the number of synthetic test images", request.synthetic_test, 1, kMostImages);
  }
  if (request.dtype != DType::F32) {
    throw Error(Errc::Unsupported,
                fmt::format("training in {} is not possible in this version; choose f32",
                            to_string(request.dtype)));
  }
  check_devices(request, machine);
  return request;
}

}  // namespace lab
