// What is trained on how many devices, and what is to be predicted.
#include <fmt/format.h>

#include <algorithm>

#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

const std::vector<std::string>& data_names() {
  static const std::vector<std::string> kNames = {"Synthetic", "Fashion-MNIST"};
  return kNames;
}
const std::vector<std::string>& mode_names() {
  static const std::vector<std::string> kNames = {"Strong", "Weak", "Both"};
  return kNames;
}
const std::vector<std::string>& compute_time_names() {
  static const std::vector<std::string> kNames = {"Measured", "Typed in", "File"};
  return kNames;
}

std::vector<std::string> link_titles() {
  std::vector<std::string> titles;
  for (const LinkChoice& link : scaling_links()) titles.emplace_back(link.title);
  return titles;
}

// What one device's step took when this model and batch were measured last.
std::optional<double> measured_step_s(const Panel& p, const ScalingForm& form) {
  StartTraining training;
  training.model = training_models().at(static_cast<std::size_t>(form.model));
  training.data = static_cast<DataSource>(form.data);
  training.batch = form.batch;
  training.devices = scaling_devices(form, p.model.machine());
  const Kept<ScalingResults>& kept = p.model.scaling();
  const auto now = kept.current.one_device_step_s(training);
  return now || !kept.previous ? now : kept.previous->one_device_step_s(training);
}

void work_fields(const Panel& p, ScalingForm& form) {
  Fields fields(p);
  fields.next();
  if (combo(p.ui, "scaling/model", "Model", training_models(), form.model,
            "The more a model computes for each of its parameters, the better it scales.")) {
    form.accuracy_steps = default_accuracy_steps(form.model);
  }
  fields.next();
  segmented(p.ui, "scaling/data", "Data", data_names(), form.data,
            "Synthetic garments need no download.");
  if (static_cast<DataSource>(form.data) == DataSource::FashionMnist) {
    fields.next();
    input_text(p.ui, "scaling/data_dir", "Folder of the data", form.data_dir,
               "Holds the four IDX files. Empty: the usual places.", "the usual places");
  }
  fields.next();
  input_number(p.ui, "scaling/batch", "Batch", form.batch,
               {.min = 1,
                .max = 1'000'000,
                .step = 32,
                .unit = "images",
                .hint = "Strong: of all devices together. Weak: of each device."});
  fields.next();
  segmented(p.ui, "scaling/modes", "Scaling mode", mode_names(), form.modes,
            "Strong: the same batch divided over the devices. Weak: the same batch for each "
            "device, so that the work grows with them.");
}

void open_devices_note(const Panel& p) {
  note_box(p.ui, "scaling/one_device",
           "One CPU device has all cores here. Split them on the Devices page, or start with "
           "--cpu-devices 2, to measure more.");
  if (button(p.ui, "scaling/open_devices", "Open Devices", {.width = -1})) {
    p.view.page = Page::Devices;
  }
}

void device_boxes(const Panel& p, ScalingForm& form) {
  const std::vector<Device>& devices = p.model.devices();
  form.devices.resize(devices.size(), false);
  if (devices.size() < 2) {
    open_devices_note(p);
    return;
  }
  const auto ticked = std::count(form.devices.begin(), form.devices.end(), true);
  caption(p.ui, ticked == 0 ? "Devices (none ticked: all)" : "Devices");
  const std::size_t columns = p.folded() ? 4 : 2;
  for (std::size_t first = 0; first < devices.size(); first += columns) {
    const std::vector<float> weights(columns, 1.0F);
    Row row(p.ui, weights);
    for (std::size_t i = first; i < std::min(first + columns, devices.size()); ++i) {
      row.next();
      const std::string name = lab::to_string(devices[i]);
      bool on = form.devices[i];
      if (checkbox(p.ui, "scaling/device/" + name, name, on)) form.devices[i] = on;
    }
  }
}

void more_fields(const Panel& p, ScalingForm& form) {
  foldout(p.ui, "scaling/more", "How it is measured", form.more);
  if (!form.more) return;
  Fields fields(p);
  fields.next();
  input_text(p.ui, "scaling/counts", "Numbers of devices", form.counts,
             "A list: 1,2,4. Empty: 1, 2, 4, ... and all of them.", "1, 2, 4, ... all");
  fields.next();
  input_number(p.ui, "scaling/steps", "Timed steps", form.steps,
               {.min = 1, .max = 100'000, .step = 5, .hint = "In each round."});
  fields.next();
  input_number(p.ui, "scaling/warmup", "Steps before them", form.warmup,
               {.min = 0, .max = 10'000, .hint = "Not timed."});
  fields.next();
  input_number(p.ui, "scaling/rounds", "Rounds", form.rounds,
               {.min = 1,
                .max = 1000,
                .hint = "Every number of devices takes its turn so often, so that a machine that "
                        "changes speed treats all alike."});
  fields.next();
  checkbox(p.ui, "scaling/accuracy", "Test accuracy too", form.accuracy,
           "Trains each number of devices from the same seed with the same batch: the accuracy "
           "must not depend on how many devices share the work.");
  if (!form.accuracy) return;
  fields.next();
  input_number(p.ui, "scaling/accuracy_steps", "Steps before the accuracy", form.accuracy_steps,
               {.min = 1,
                .max = 1'000'000,
                .step = 50,
                .hint = "Follows the model; 235 are an epoch at batch 256."});
}

void prediction_fields(const Panel& p, ScalingForm& form) {
  Fields fields(p);
  fields.next();
  input_number(p.ui, "scaling/predict_devices", "Predict up to", form.predict_devices,
               {.min = 2,
                .max = 4096,
                .unit = "devices",
                .hint = "What this machine does not have is calculated, never measured."});
  fields.next();
  form.link = std::clamp(form.link, 0, static_cast<int>(scaling_links().size()) - 1);
  combo(p.ui, "scaling/link", "Connected by", link_titles(), form.link,
        "Its latency and rate give the time of an all-reduce.");
  fields.next();
  segmented(p.ui, "scaling/compute_time", "Time of one device", compute_time_names(),
            form.compute_time,
            "One device's step of this batch: as measured here, typed in for a device that is not "
            "here, or from a reference file.");
  const auto source = static_cast<ComputeTime>(form.compute_time);
  if (source == ComputeTime::Typed) {
    fields.next();
    input_number(p.ui, "scaling/compute_ms", "Step of one device", form.compute_ms,
                 {.min = 0, .step = 10, .unit = "ms", .hint = "Forward, backward and update."});
  } else if (source == ComputeTime::File) {
    fields.next();
    input_text(p.ui, "scaling/reference_file", "Reference file", form.reference_file,
               "JSON with the time of one device.", "results.json");
  }
}

void measure_button(const Panel& p, const ScalingForm& form, std::string_view error) {
  if (start_button(p, "scaling/run", "Measure scaling", error, true)) {
    send(p, to_command(form, p.model.machine(), true));
  }
}

// Calculates without measuring anything.
void predict_button(const Panel& p, const ScalingForm& form) {
  const MachineInfo& machine = p.model.machine();
  const std::optional<double> known = measured_step_s(p, form);
  const std::string error = complaint([&] { return to_command(form, machine, false, known); });
  if (start_button(p, "scaling/predict", "Predict only", error, false)) {
    send(p, to_command(form, machine, false, known));
  }
}

}  // namespace

void draw_scaling_form(const Panel& p) {
  ScalingForm& form = p.view.forms.scaling;
  Card card(p, "scaling/form", "Scaling", {.least = form_height(p)});
  if (!card) return;
  room_for_actions(p);
  const std::string error = complaint([&] { return to_command(form, p.model.machine(), true); });
  work_fields(p, form);
  device_boxes(p, form);
  if (!error.empty()) error_box(p.ui, "scaling/form_error", error);
  if (p.folded()) {
    form_actions(p, 330, [&] {
      Row row(p.ui, {1.3F, 1});
      row.next();
      measure_button(p, form, error);
      row.next();
      predict_button(p, form);
    });
    prediction_fields(p, form);
  } else {
    measure_button(p, form, error);
    prediction_fields(p, form);
    predict_button(p, form);
  }
  more_fields(p, form);
}

}  // namespace lab::ui
