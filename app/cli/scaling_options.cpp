#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_text.h"
#include "app/cli/options.h"
#include "compute/experiments/scaling/links.h"

namespace lab::app {
namespace {

constexpr std::int64_t kMostScaled = 1'000'000;
constexpr int kMostPredicted = 65536;
constexpr std::int64_t kLenetEpochs = 3;

int device_count(const std::string& text, int least) {
  return static_cast<int>(whole_number(text, least, kMostPredicted));
}

// What is trained.
void add_training_options(CLI::App& app, StartTraining& request, ScalingText& text) {
  add_model_option(app, request.model);
  add_data_options(app, request, text.training);
  add_value(app, "--batch", "N", "Images of a step: of all devices (strong) or of each (weak)",
            [&](const std::string& value) { request.batch = whole_number(value, 1, kMostScaled); });
  add_value(
      app, "--lr", "X", "Learning rate, above 0; the chapters' for the model when left out",
      [&](const std::string& value) { request.lr = real_number(value, 0, 1e6, Ends::NotMin); });
  add_value(app, "--seed", "N", "Seed of weights, order and synthetic images",
            [&](const std::string& value) { request.seed = seed_number(value); });
  add_value(app, "--kernels", "lab|library", "Whose matrix multiplication",
            [&](const std::string& value) {
              request.kernels =
                  choose<Kernels>(value, {{"lab", Kernels::Lab}, {"library", Kernels::Library}});
            });
}

// On how many devices, and how long.
void add_measure_options(CLI::App& app, JobOptions& out, StartScaling& request, ScalingText& text) {
  add_value(app, "--cpu-devices", "N",
            "Split the cores into N devices cpu:0 ... cpu:N-1; one a core when left out, two at "
            "least",
            [&](const std::string& value) {
              out.cpu_devices = static_cast<int>(whole_number(value, 1, 4096));
              text.cpu_devices_asked = true;
            });
  add_value(app, "--devices", "LIST", "The largest set of devices; all CPU devices when left out",
            [&](const std::string& value) { request.training.devices = parse_devices(value); });
  add_value(app, "--shares", "auto|equal|X,Y,...", "Parts of the batch for the devices",
            [&](const std::string& value) { text.training.shares = value; });
  add_value(app, "--counts", "N,N,...",
            "Numbers of devices to measure; 1, 2, 4, ... and all when left out",
            [&](const std::string& value) {
              request.counts.clear();
              for (const std::string& part : comma_list(value)) {
                request.counts.push_back(device_count(part, 1));
              }
            });
  add_value(app, "--mode", "strong|weak|both",
            "Strong: one batch for all devices; weak: one for each", [&](const std::string& value) {
              using Modes = std::vector<ScalingMode>;
              request.modes =
                  choose<Modes>(value, {{"strong", {ScalingMode::Strong}},
                                        {"weak", {ScalingMode::Weak}},
                                        {"both", {ScalingMode::Strong, ScalingMode::Weak}}});
            });
  add_value(app, "--steps", "N", "Timed steps of each run, after three untimed ones",
            [&](const std::string& value) { request.steps = whole_number(value, 1, kMostScaled); });
  add_value(
      app, "--rounds", "N", "How often every number of devices takes its turn",
      [&](const std::string& value) { request.rounds = whole_number(value, 1, kMostScaled); });
  add_value(app, "--accuracy-steps", "N",
            "Steps before the test accuracy (strong scaling); an epoch of 235 when left out, for "
            "lenet three: it learns nothing before",
            [&](const std::string& value) {
              request.accuracy_steps = whole_number(value, 1, kMostScaled);
              text.accuracy_steps_asked = true;
            });
  app.add_flag_callback(
      "--no-accuracy", [&] { request.accuracy = false; }, "Leave out the test accuracy");
}

void add_prediction_options(CLI::App& app, StartScaling& request, ScalingText& text) {
  add_value(app, "--predict", "N", "Predict up to N devices; 0 for no prediction",
            [&](const std::string& value) { request.predict_devices = device_count(value, 0); });
  add_value(app, "--link", "NAME",
            fmt::format("Between predicted devices: {}", fmt::join(link_names(), ", ")),
            [&](const std::string& value) {
              choice_index(value, link_names());
              request.link = value;
            });
  add_value(
      app, "--compute-ms", "X",
      "Predict from this time of one device for --batch images, in milliseconds",
      [&](const std::string& value) { request.compute_s = real_number(value, 1e-6, 1e9) * 1e-3; });
  add_value(app, "--reference", "FILE.json", "Predict from one device's time in a file",
            [&](const std::string& value) { request.reference_file = value; });
  app.add_flag("--predict-only", text.predict_only, "Measure nothing");
}

}  // namespace

void add_scaling_options(CLI::App& app, JobOptions& out, StartScaling& request, ScalingText& text) {
  app.footer(
      "With --compute-ms or --reference nothing is measured unless --devices, --cpu-devices or "
      "--counts ask for it. --reference also names the model.");
  out.cpu_devices = kOneDeviceACore;
  request.training.model.clear();  // until all options are known
  add_json(app, out.json);
  add_training_options(app, request.training, text);
  add_measure_options(app, out, request, text);
  add_prediction_options(app, request, text);
}

void finish_scaling(JobOptions& out, StartScaling& request, const ScalingText& text) {
  const bool basis = request.compute_s || !request.reference_file.empty();
  if (request.compute_s && !request.reference_file.empty()) {
    throw Error(Errc::Usage, "--compute-ms and --reference contradict each other; give one");
  }
  if (text.predict_only && !basis) {
    throw Error(Errc::Usage,
                "--predict-only needs one device's time: add --compute-ms X or --reference FILE");
  }
  const bool named =
      !request.training.devices.empty() || text.cpu_devices_asked || !request.counts.empty();
  request.measure = !text.predict_only && (named || !basis);
  if (!request.measure && request.predict_devices == 0) {
    throw Error(Errc::Usage, "--predict 0 leaves nothing to do without measuring; give a number");
  }
  if (request.training.model.empty() && request.reference_file.empty()) {
    request.training.model = StartTraining{}.model;
  }
  if (request.training.model == "lenet" && !text.accuracy_steps_asked) {
    request.accuracy_steps *= kLenetEpochs;
  }
  if (text.cpu_devices_asked) check_devices(request.training.devices, out.cpu_devices);
  TrainText training = text.training;
  training.all_devices = true;
  finish_training(request.training, training);
}

}  // namespace lab::app
