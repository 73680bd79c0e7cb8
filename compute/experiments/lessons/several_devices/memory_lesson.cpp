// Lesson "memory": weights, gradients and momentum are constant; activations grow with the batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/nn/models.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"

namespace lab::lessons {
namespace {

constexpr const char* kModel = "lenet";
constexpr const char* kShownModel = "LeNet";

double account(DeviceContext& device) {
  return static_cast<double>(device.memory().used_bytes());
}

double bytes_of_network(DeviceContext& device, std::int64_t batch) {
  const double before = account(device);
  const nn::Network net(nn::plan_model(kModel), device, batch);
  return account(device) - before;
}

struct MemoryConstants {
  double parameters = 0;  // bytes of all parameters
  double per_image = 0;   // activations
  double fixed = 0;       // whatever else a network of any batch takes

  double network(double batch) const { return fixed + 2 * parameters + batch * per_image; }
};

// From two large batches: the difference is that of the activations.
MemoryConstants measure_constants(DeviceContext& device) {
  constexpr std::int64_t kSmall = 1024, kLarger = 2048;
  MemoryConstants constants;
  {
    nn::Network net(nn::plan_model(kModel), device, 1);
    constants.parameters = static_cast<double>(net.flat_parameters().size_bytes());
  }
  const double small = bytes_of_network(device, kSmall);
  const double larger = bytes_of_network(device, kLarger);
  constants.per_image = (larger - small) / (kLarger - kSmall);
  constants.fixed = small - 2 * constants.parameters - kSmall * constants.per_image;
  return constants;
}

// Whether a network for batches of this size is refused for lack of memory.
bool refused(DeviceContext& device, double batch) {
  try {
    nn::Network net(nn::plan_model(kModel), device, static_cast<std::int64_t>(batch));
    return false;
  } catch (const Error& e) {
    return e.code() == Errc::OutOfMemory;
  }
}

void run_memory_lesson(LessonStage& stage) {
  DeviceContext& device = stage.machine().at(cpu());
  const double batch = stage.vary();
  stage.step(0);
  const MemoryConstants constants = measure_constants(device);
  const double predicted = constants.network(batch) + constants.parameters;
  LessonPrediction prediction;
  prediction.series = trf("training {} at batch {:.0f}", kShownModel, batch);
  prediction.value = predicted;
  prediction.unit = "B";
  prediction.formula = tr("weights + gradients + momentum + batch * activations + work memory");
  prediction.constants = {{tr("weights"), constants.parameters, "B"},
                          {tr("activations per image"), constants.per_image, "B"},
                          {tr("work memory"), constants.fixed, "B"}};
  stage.predict(prediction);

  const double before = account(device);
  auto net = std::make_unique<nn::Network>(nn::plan_model(kModel), device,
                                           static_cast<std::int64_t>(batch));
  const double made = account(device) - before;
  stage.count(tr("weights"), constants.parameters, "B");
  stage.count(tr("gradients"), constants.parameters, "B");
  stage.step(1);
  auto optimizer = std::make_unique<nn::Sgd>(*net, nn::SgdOptions{.momentum = 0.9});
  const double with_momentum = account(device) - before;
  stage.count(tr("momentum"), with_momentum - made, "B");
  stage.count(tr("activations and work memory"), made - 2 * constants.parameters, "B");
  stage.count(prediction.series, with_momentum, "B");
  stage.check(tr("momentum takes as much as the weights"),
              with_momentum - made == constants.parameters);
  stage.gap({prediction.series, "B", predicted, with_momentum, {}});
  optimizer.reset();
  net.reset();
  stage.check(tr("all of it is free again at the end"), account(device) == before);

  stage.step(2);
  const double free_bytes = static_cast<double>(device.memory().limit_bytes()) - before;
  const double largest =
      std::floor((free_bytes - constants.network(0) - constants.parameters) / constants.per_image);
  stage.count(trf("memory limit of {}", to_string(device.device())),
              static_cast<double>(device.memory().limit_bytes()), "B");
  stage.count(tr("largest batch, computed"), largest, "");
  const bool too_large = refused(device, std::ceil(1.1 * largest));
  stage.observe(tr("a batch larger by a tenth"),
                too_large ? tr("refused: not enough memory") : tr("fits"));
  stage.check(tr("a batch beyond the limit is refused"), too_large);
  stage.answer({largest});
  const double rounding = std::pow(10, std::max(0.0, std::floor(std::log10(largest)) - 2));
  const double about = std::floor(largest / rounding) * rounding;  // three digits
  stage.conclude(
      trf("At batch {:.0f}, {} takes {}: {} for weights, gradients and momentum, the rest for "
          "activations and work memory; a batch of about {} fills the {} of {}.",
          batch, kShownModel, format_bytes(std::llround(with_momentum)),
          format_bytes(std::llround(3 * constants.parameters)),
          group_digits(fmt::format("{:.0f}", about)), format_bytes(device.memory().limit_bytes()),
          to_string(device.device())));
}

}  // namespace

Lesson memory_lesson() {
  LessonInfo info;
  info.name = "memory";
  info.timed = false;
  info.title = LAB_TEXT("What fills memory in training");
  info.track = LessonTrack::SeveralDevices;
  info.text = {
      LAB_TEXT(
          "Training stores every parameter three times: its weight, its gradient and, with "
          "momentum, "
          "its velocity. This part does not depend on the batch. The lab reserves all of it at "
          "once; PyTorch allocates gradients in the first backward and velocities in the "
          "first step of the optimizer."),
      LAB_TEXT("Backward needs the outputs of forward, so the activations of every layer are kept "
               "for every "
               "image of the batch. This part grows with the batch until the device is full."),
      LAB_TEXT("Dividing a batch among devices divides the activations, not the parameters."),
      LAB_TEXT("LeNet keeps some tens of KiB of activations per image. The Memory page "
               "shows how much memory cpu:0 may use.")};
  info.steps = {
      {LAB_TEXT("Make the network"),
       {"net = lenet().cuda()", "net.initialize(ctx=try_gpu())", "net = keras.Sequential(...)",
        "params = net.init(key, X)", "Network net(plan_model(\"lenet\"), device, batch)"}},
      {LAB_TEXT("Make the optimizer"),
       {"torch.optim.SGD(net.parameters(), lr, momentum=0.9)",
        "gluon.Trainer(params, 'sgd', {'learning_rate': lr, 'momentum': 0.9})",
        "keras.optimizers.SGD(lr, 0.9)", "optax.sgd(lr, momentum=0.9).init(params)",
        "Sgd optimizer(net, {.momentum = 0.9})"}},
      {LAB_TEXT("A batch that does not fit"),
       {"torch.cuda.OutOfMemoryError", "MXNetError: out of memory", "ResourceExhaustedError",
        "RESOURCE_EXHAUSTED", "Error(OutOfMemory)"}}};
  info.question = {
      .text = LAB_TEXT("Which batch size of LeNet fills the memory of cpu:0?"),
      .low = 1,
      .high = 1e9,
      .why =
          LAB_TEXT("Weights, gradients and momentum are needed once, activations for every image. "
                   "The rest of the memory divided by the activations of an image is the batch.")};
  info.vary = LessonVary{LAB_TEXT("Batch"), LAB_TEXT("images"), 16, 4096, 256, true};
  StartTraining free;
  free.model = "lenet";
  info.free = free;
  info.set_free = [](JobCommand& command, double batch) {
    std::get<StartTraining>(command).batch = static_cast<std::int64_t>(batch);
  };
  return {info, run_memory_lesson};
}

}  // namespace lab::lessons
