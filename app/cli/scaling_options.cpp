#include "app/cli/field_options.h"
#include "compute/core/events/models.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

// Options of the training to scale.
void add_training_options(FieldOptions<StartTraining>& training) {
  training.add(&StartTraining::model);
  training.add(&StartTraining::data);
  training.add(&StartTraining::data_dir);
  training.add(&StartTraining::synthetic_train);
  training.add(&StartTraining::synthetic_test);
  training.add(&StartTraining::order);
  RequestField batch = field_of(&StartTraining::batch);
  batch.help = LAB_TEXT("Images per step: of all devices (strong) or per device (weak)");
  batch.range.most = 1e6;
  training.add(batch, &StartTraining::batch);
  training.add(&StartTraining::lr);
  training.add(&StartTraining::seed);
  RequestField kernels = field_of(&StartTraining::kernels);
  kernels.placeholder = "";
  kernels.help = LAB_TEXT("Matrix multiplication kernels");
  training.add(kernels, &StartTraining::kernels);
}

// Options of the devices.
void add_device_options(CLI::App& app, FieldOptions<StartTraining>& training, JobOptions& out,
                        ScalingText& text) {
  add_value(
      app, "--cpu-devices", "N",
      tr("Split the cores into N devices cpu:0 ... cpu:N-1; default: one per core, at least two"),
      [&](const std::string& value) {
        out.cpu_devices = static_cast<int>(whole_number(value, 1, 4096));
        text.cpu_devices_asked = true;
      });
  RequestField devices = field_of(&StartTraining::devices);
  devices.help = LAB_TEXT(
      "Largest set of devices; default: GPUs of one kind, or the CPU devices if those are several "
      "and "
      "there is one GPU at most");
  training.add(devices, &StartTraining::devices);
  RequestField shares = field_of(&StartTraining::shares);
  shares.help = LAB_TEXT("Share of the batch per device");
  training.add(shares, &StartTraining::shares);
}

Readers scaling_readers(StartScaling& request, ScalingText& text) {
  Readers readers;
  readers["modes"] = [&](const std::string& value) {
    using Modes = std::vector<ScalingMode>;
    request.modes = choose<Modes>(value, {{"strong", {ScalingMode::Strong}},
                                          {"weak", {ScalingMode::Weak}},
                                          {"both", {ScalingMode::Strong, ScalingMode::Weak}}});
  };
  readers["accuracy_steps"] = [&](const std::string& value) {
    read_text(field_of(&StartScaling::accuracy_steps), value, request.accuracy_steps);
    text.accuracy_steps_asked = true;
  };
  return readers;
}

}  // namespace

void add_scaling_options(CLI::App& app, JobOptions& out, StartScaling& request, ScalingText& text) {
  app.footer(
      tr("With --compute-ms or --reference nothing is measured unless --devices, --cpu-devices or "
         "--counts is given. --reference also sets the model. A step of one device takes a fixed "
         "time plus a time per image; --fixed-ms says how much of --compute-ms every device pays "
         "in parallel whatever its share of the batch. --repeat-ms is paid by the one process of "
         "dataparallel instead, once per further device."));
  out.cpu_devices = kOneDevicePerCore;
  request.training.model.clear();  // set once all options are known
  add_json(app, out.json);
  Readers readers = training_readers(request.training, text.training);
  readers.erase("kernels");  // no profile exists that would compare kinds of kernels
  FieldOptions<StartTraining> training(app, request.training, std::move(readers));
  add_training_options(training);
  add_device_options(app, training, out, text);
  FieldOptions<StartScaling>(app, request, scaling_readers(request, text)).add_all();
  app.add_flag("--predict-only", text.predict_only, tr("Predict without measuring"));
}

void finish_scaling(JobOptions& out, StartScaling& request, const ScalingText& text) {
  if (request.check) {
    request.measure = false;
    return;
  }
  const bool basis = request.compute_s || !request.reference_file.empty();
  if (request.compute_s && !request.reference_file.empty()) {
    throw Error(Errc::Usage, tr("--compute-ms and --reference contradict each other; give one"));
  }
  if (request.fixed_s > 0 && !basis) {
    throw Error(
        Errc::Usage,
        tr("--fixed-ms is part of a given step time: add --compute-ms X or --reference FILE; a "
           "measurement fits it by itself"));
  }
  if (request.compute_s && request.fixed_s >= *request.compute_s) {
    throw Error(Errc::Usage, tr("--fixed-ms must be below --compute-ms, of which it is a part"));
  }
  if (request.repeated_s && request.style != ParallelStyle::DataParallel) {
    throw Error(
        Errc::Usage,
        tr("--repeat-ms applies to one process with several devices; add --style dataparallel"));
  }
  if (text.predict_only && !basis) {
    throw Error(Errc::Usage,
                tr("--predict-only needs a step time: add --compute-ms X or --reference FILE"));
  }
  const bool named =
      !request.training.devices.empty() || text.cpu_devices_asked || !request.counts.empty();
  request.measure = !text.predict_only && (named || !basis);
  if (!request.measure && request.predict_devices == 0) {
    throw Error(Errc::Usage,
                tr("--predict 0 leaves nothing to do without measuring; give a device count"));
  }
  if (request.training.model.empty() && request.reference_file.empty()) {
    request.training.model = StartTraining{}.model;
  }
  const ModelFacts* const model = find_model(request.training.model);
  if (model != nullptr && !text.accuracy_steps_asked) {
    request.accuracy_steps = model->accuracy_steps;
  }
  if (text.cpu_devices_asked) check_devices(request.training.devices, out.cpu_devices);
  TrainText training = text.training;
  training.all_devices = true;
  finish_training(request.training, training);
}

}  // namespace lab::app
