#include "compute/train/training_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/models.h"
#include "compute/core/events/share_list.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/nn/models.h"
#include "compute/train/convolution_choice.h"

namespace lab {
namespace {

void check_files(const StartTraining& r) {
  if (r.checkpoint_every > 0 && r.checkpoint_dir.empty()) {
    throw Error(Errc::InvalidArgument, trf("training: a checkpoint every {} steps needs a folder; "
                                           "give one, or set the interval to 0",
                                           r.checkpoint_every));
  }
  if (!r.resume_dir.empty() && !r.init_file.empty()) {
    throw Error(Errc::InvalidArgument,
                trf("training: cannot both resume from {} and start from {}; choose one",
                    r.resume_dir, r.init_file));
  }
}

void check_first_layer(const StartTraining& r) {
  if (r.first_layer == FirstLayer::Drawn || find_model(r.model)->begins_with_convolution) return;
  throw Error(Errc::InvalidArgument,
              trf("training: {} does not begin with a convolution, whose filters could whiten the "
                  "images; choose lenet, convnet or resnet18, or --first-layer drawn",
                  r.model));
}

void check_schedule(const StartTraining& r) {
  const auto epochs = static_cast<double>(r.epochs);
  if (r.schedule == LrSchedule::Linear && r.warmup_epochs >= epochs) {
    throw Error(
        Errc::InvalidArgument,
        trf("training: a warm-up of {:g} epochs leaves no time for the learning rate to fall "
            "in a training of {}; shorten the warm-up",
            r.warmup_epochs, r.epochs));
  }
  if (r.stop_at && !r.evaluate) {
    throw Error(Errc::InvalidArgument,
                trf("training: cannot stop at a test accuracy of {:g} without testing; leave "
                    "--no-eval out",
                    *r.stop_at));
  }
}

void check_convolution(const StartTraining& r) {
  const std::vector<std::string> names = convolution_choice_names();
  if (std::find(names.begin(), names.end(), r.convolution) != names.end()) return;
  throw Error(Errc::NotFound, trf("training: unknown convolution choice '{}'; choose one of {}",
                                  r.convolution, fmt::join(names, ", ")));
}

// Loads the libraries of a GPU. Returns why they cannot compute the training.
std::optional<std::string> library_fault(const StartTraining& r, GpuDevice& gpu) {
  try {
    return gpu.library_layers().unsupported(r.dtype);
  } catch (const Error& error) {
    if (error.code() != Errc::Unsupported) throw;
    return error.what();
  }
}

// The absence of libraries is reported before training starts.
void check_library(const StartTraining& r, GpuDevice& gpu) {
  if (const auto why = library_fault(r, gpu)) {
    throw Error(Errc::Unsupported, trf("training: {}: {}", to_string(gpu.facts().device), *why));
  }
}

void check_kernels(const StartTraining& r, DeviceContext& context) {
  const Device device = context.device();
  const bool on_cpu = device.kind == DeviceKind::Cpu;
  if (on_cpu && r.dtype == Precision::TF32) {
    throw Error(
        Errc::InvalidArgument,
        trf("training: {} does not compute in tf32; choose f32 or bf16", to_string(device)));
  }
  if (context.gpu() != nullptr && uses_library(r)) check_library(r, *context.gpu());
  if (r.profile && device == r.devices.front() && !is_timed(device)) {
    throw Error(Errc::Unsupported, trf("training: {} cannot be profiled ({}); leave --profile out",
                                       to_string(device), tr(kNeverTimed)));
  }
}

void check_devices(const StartTraining& r, Machine& machine) {
  std::set<Device> named;
  for (const Device device : r.devices) {
    DeviceContext& context = machine.at(device);  // throws if it cannot be used
    if (!named.insert(device).second) {
      throw Error(Errc::InvalidArgument,
                  trf("training: {} is named twice; name each device once", to_string(device)));
    }
    check_kernels(r, context);
  }
}

}  // namespace

bool uses_library(const StartTraining& request) {
  return request.kernels == Kernels::Library || request.compare_kernels;
}

std::string gpu_libraries(const StartTraining& request, Machine& machine) {
  if (!uses_library(request)) return {};
  for (const Device device : request.devices) {
    GpuDevice* const gpu = machine.at(device).gpu();
    if (gpu != nullptr) return gpu->library_layers().libraries();
  }
  return {};
}

std::optional<Skipped> skip_missing_library(StartTraining& request, Machine& machine) {
  if (!request.compare_kernels) return {};
  for (const Device device : request.devices) {
    GpuDevice* const gpu = machine.at(device).gpu();
    if (gpu == nullptr) continue;
    auto why = library_fault(request, *gpu);
    if (!why) continue;
    request.compare_kernels = false;
    request.kernels = Kernels::Lab;
    request.profile = is_timed(request.devices.front());
    return Skipped{trf("library kernels on {}", to_string(device)), std::move(*why)};
  }
  return {};
}

StartTraining complete_request(StartTraining request, Machine& machine) {
  const double usual_rate = nn::default_learning_rate(request.model);  // checks the model's name
  if (!request.lr) request.lr = usual_rate;
  if (request.devices.empty()) request.devices = {cpu()};
  if (request.compare_kernels) {
    request.kernels = Kernels::Lab;
    request.profile = true;
  }
  if (const std::string fault = fault_in_ranges(request); !fault.empty()) {
    throw Error(Errc::InvalidArgument, trf("training: {}", fault));
  }
  nn::plan_model(request.model, request.width);  // checks the width
  check_files(request);
  check_first_layer(request);
  check_schedule(request);
  check_convolution(request);
  check_devices(request, machine);
  if (request.share_policy == SharePolicy::Listed) {
    const std::string fault = validate_shares(request.shares, request.devices.size());
    if (!fault.empty()) throw Error(Errc::InvalidArgument, trf("training: shares: {}", fault));
  } else {
    request.shares.clear();
  }
  return request;
}

}  // namespace lab
