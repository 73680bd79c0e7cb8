// The Scaling form: the training, the device counts, and the prediction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/run_estimate.h"
#include "ui/model/training_estimate.h"
#include "ui/pages/field_control.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/scaling/scaling_parts.h"

namespace lab::ui {
namespace {

std::vector<std::string> compute_time_names() {
  return {LAB_TEXT("Measured"), LAB_TEXT("Typed in"), LAB_TEXT("File")};
}

template <typename Value>
bool scaling_field(const Panel& p, ScalingForm& form, Value StartScaling::*member) {
  return field_control(p, "scaling", form.request, member);
}

// Draws a field of the training with a hint for this page.
template <typename Value>
bool trained_field(const Panel& p, ScalingForm& form, Value StartTraining::*member,
                   const char* hint) {
  RequestField field = field_of(member);
  field.hint = hint;
  return field_control(p.ui, std::string("scaling/") + field.key, field,
                       form.request.training.*member);
}

// Returns the last measured step of one device with this model and batch.
MeasuredStep measured_step(const Panel& p, const ScalingForm& form) {
  StartTraining training = form.request.training;
  training.devices = scaling_devices(form, p.model.machine());
  const Kept<ScalingResults>& kept = p.model.scaling();
  if (const auto now = kept.current.one_device_step_s(training)) {
    return {now, kept.current.fixed_step_s()};
  }
  if (!kept.previous) return {};
  return {kept.previous->one_device_step_s(training), kept.previous->fixed_step_s()};
}

void work_fields(const Panel& p, ScalingForm& form) {
  Fields fields(p);
  fields.next();
  if (trained_field(
          p, form, &StartTraining::model,
          LAB_TEXT("The more computation a model does per parameter, the better it scales."))) {
    form.request.accuracy_steps = find_model(form.request.training.model)->accuracy_steps;
  }
  fields.next();
  trained_field(p, form, &StartTraining::data, LAB_TEXT("Synthetic garments need no download."));
  if (form.request.training.data == DataSource::FashionMnist) {
    fields.next();
    field_control(p, "scaling", form.request.training, &StartTraining::data_dir);
  }
  fields.next();
  trained_field(p, form, &StartTraining::batch,
                LAB_TEXT("Strong: total of all devices. Weak: per device."));
  fields.next();
  std::vector<std::string> modes = labels_of(enum_names<ScalingMode>());
  modes.emplace_back(LAB_TEXT("Both"));
  int mode = mode_choice(form.request);
  if (segmented(p.ui, "scaling/modes", tr("Scaling mode"), modes, mode,
                tr("Strong: the same batch divided over the devices. Weak: the same batch for each "
                   "device, so that the work grows with the device count."))) {
    set_mode_choice(form.request, mode);
  }
}

void device_boxes(const Panel& p, ScalingForm& form) {
  const std::vector<Device> devices = timed_devices(p.model.machine());
  form.devices.resize(devices.size(), false);
  if (devices.size() < 2) {
    offer_split(p, "scaling",
                tr("One CPU device has all cores here. To measure more devices, split the cores."));
    untimed_note(p, "scaling");
    return;
  }
  if (std::ranges::find(form.devices, true) == form.devices.end()) {
    const std::vector<Device> usual = scaling_devices(form, p.model.machine());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      form.devices[i] = std::ranges::find(usual, devices[i]) != usual.end();
    }
  }
  caption(p.ui, tr("Devices"));
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
  untimed_note(p, "scaling");
}

void measurement_fields(const Panel& p, Fields& fields, ScalingForm& form) {
  fields.next();
  input_text(p.ui, "scaling/counts", tr("Device counts"), form.counts,
             tr("A list: 1,2,4. Empty: 1, 2, 4, ... and all devices."), tr("1, 2, 4, ... all"));
  fields.next();
  scaling_field(p, form, &StartScaling::steps);
  fields.next();
  scaling_field(p, form, &StartScaling::warmup);
  fields.next();
  scaling_field(p, form, &StartScaling::rounds);
  fields.next();
  scaling_field(p, form, &StartScaling::accuracy);
  if (!form.request.accuracy) return;
  fields.next();
  scaling_field(p, form, &StartScaling::accuracy_steps);
}

// `above_0`: 0 is not accepted.
void milliseconds(const Panel& p, const char* path, const std::string& label, double& value,
                  double step, const std::string& text, bool above_0 = false) {
  input_number(p.ui, path, label, value,
               {.min = 0, .step = step, .unit = "ms", .hint = text, .above_min = above_0});
}

// What the process does for its devices, one after the other.
void process_fields(const Panel& p, Fields& fields, ScalingForm& form) {
  if (form.request.style != ParallelStyle::DataParallel) return;
  fields.next();
  checkbox(p.ui, "scaling/estimate_repeat", tr("Estimate the process's own work"),
           form.estimate_repeat,
           tr("The one process copies the module and launches each operation once per device, one "
              "device after the other. Estimated from the numbers of operations and parameters."));
  if (!form.estimate_repeat) {
    fields.next();
    milliseconds(p, "scaling/repeat_ms", tr("Process time per further device"), form.repeat_ms, 1,
                 tr("Time per step that the process spends on each device beyond the first while "
                    "all devices wait."));
  }
  fields.next();
  milliseconds(p, "scaling/read_ms", tr("Time to read a batch"), form.read_ms, 1,
               tr("Time in which the one process reads the images of a batch. It reads ahead, but "
                  "no step is shorter than reading its images. 0: not a limit."));
}

// Says where the link comes from that the form assumes at first.
void default_link_note(const Panel& p, const ScalingForm& form) {
  const MachineInfo& machine = p.model.machine();
  if (form.request.link != usual_link(machine)) return;
  const auto gpu = [](const DeviceInfo& info) { return is_gpu(info.device); };
  const std::string text = std::ranges::any_of(machine.devices, gpu)
                               ? tr("The usual link of this machine's GPU")
                               : tr("The usual link between machines");
  footnote(p.ui, text);
  record_item(p.ui, "scaling/default_link", "text", text);
}

void prediction_fields(const Panel& p, ScalingForm& form) {
  Fields fields(p);
  fields.next();
  field_control(p.ui, "scaling/predict_devices", predicted_devices_field(),
                form.request.predict_devices);
  fields.next();
  scaling_field(p, form, &StartScaling::link);
  default_link_note(p, form);
}

// Where the prediction's step comes from, and what it models.
void model_fields(const Panel& p, Fields& fields, ScalingForm& form) {
  fields.next();
  segmented(p.ui, "scaling/compute_time", tr("Step time of one device"), compute_time_names(),
            form.compute_time,
            tr("Step time of one device for this batch: as measured here, typed in for another "
               "device, or from a reference file. Measured: timed at four batch sizes, so that the "
               "fixed part is known."));
  const auto source = static_cast<ComputeTime>(form.compute_time);
  if (source == ComputeTime::Typed) {
    fields.next();
    milliseconds(p, "scaling/compute_ms", tr("Step time"), form.compute_ms, 10,
                 tr("Forward, backward and update."), true);
    if (form.to_step_time) {
      ImGui::SetKeyboardFocusHere(-1);
      ImGui::SetScrollHereY();
      form.to_step_time = false;
    }
  } else if (source == ComputeTime::File) {
    fields.next();
    input_text(p.ui, "scaling/reference_file", tr("Reference file"), form.request.reference_file,
               tr("JSON with the time of one device."), "results.json");
  }
  if (source != ComputeTime::Measured) {
    fields.next();
    milliseconds(p, "scaling/fixed_ms", tr("Part that does not shrink"), form.fixed_ms, 1,
                 tr("The part of that time that a smaller batch does not shorten. All devices take "
                    "it at the same time; only the rest is divided."));
  }
  fields.next();
  RequestField style = field_of(&StartScaling::style);
  style.label = LAB_TEXT("How the devices work together");
  field_control(p.ui, "scaling/style", style, form.request.style);
  caption(p.ui, form.request.style == ParallelStyle::DataParallel
                    ? tr("One process for all devices")
                    : tr("Distributed: a process per device"));
  process_fields(p, fields, form);
}

// While they are folded, what is not as usual of the prediction stays in sight.
void more_fields(const Panel& p, ScalingForm& form) {
  const bool unusual = static_cast<ComputeTime>(form.compute_time) != ComputeTime::Measured ||
                       form.request.style != ParallelStyle::Ddp;
  if (unusual && !form.more) {
    Fields fields(p);
    model_fields(p, fields, form);
  }
  foldout(p.ui, "scaling/more", tr("More settings"), form.more);
  if (!form.more) return;
  Fields fields(p);
  model_fields(p, fields, form);
  measurement_fields(p, fields, form);
}

// "LeNet, Fashion-MNIST, batch 256": the form on one line.
std::string settings_text(const ScalingForm& form) {
  const StartTraining& training = form.request.training;
  return fmt::format("{}, {}, {}", model_title(training.model), tr(label_of(training.data)),
                     trf("batch {}", training.batch));
}

void measure_button(const Panel& p, const ScalingForm& form, std::string_view error) {
  if (stop_instead(p, Page::Scaling)) return;
  // With one device there is nothing to compare: splitting the CPU comes first.
  const bool splits = devices_to_split_into(p) > 0;
  const ButtonKind kind = splits ? ButtonKind::Normal : ButtonKind::Primary;
  if (start_button(p, "scaling/run", tr("Measure scaling"), error, true, kind)) {
    send(p, to_command(form, p.model.machine(), true));
  }
}

// Time of a step on the first device: measured here, or in a training; empty if neither is known.
std::optional<double> known_step_s(const Panel& p, const ScalingForm& form) {
  if (const MeasuredStep known = measured_step(p, form); known.seconds) return known.seconds;
  StartTraining training = form.request.training;
  training.devices = {scaling_devices(form, p.model.machine()).front()};
  const auto batch = static_cast<double>(training.batch);
  const auto estimate = estimate_of(training, p.model.runs(), p.model.rates());
  if (estimate && !estimate->similar) {
    return batch / estimate->images_per_s;
  }
  const TourFigure* const toured =
      p.model.tour().current.find(training.devices.front(), TourQuestion::Training);
  const bool known = toured != nullptr && toured->complete && toured->missing.empty();
  return known && training.model == "lenet" ? std::optional(batch / toured->value) : std::nullopt;
}

const DeviceInfo& first_info(const Panel& p, const StartTraining& training) {
  const std::vector<DeviceInfo>& all = p.model.machine().devices;
  const auto found = std::ranges::find(all, first_device(training), &DeviceInfo::device);
  return found == all.end() ? all.front() : *found;
}

// How long a measurement takes. Several devices are taken to be as fast as one.
void measure_note(const Panel& p, const ScalingForm& form) {
  StartScaling command;
  if (!problem([&] { command = to_command(form, p.model.machine(), true); }).empty()) return;
  std::size_t counts = command.counts.size();
  for (std::size_t n = 1; command.counts.empty() && n < command.training.devices.size(); n *= 2) {
    ++counts;
  }
  if (command.counts.empty()) ++counts;
  const auto each = command.rounds * (command.steps + command.warmup);
  const auto accuracy = command.accuracy ? command.accuracy_steps : 0;
  constexpr std::int64_t kFitted = 3;  // further batch sizes that the prediction rests on
  const auto steps = static_cast<std::int64_t>(counts * command.modes.size()) * each +
                     static_cast<std::int64_t>(counts) * accuracy + kFitted * each;
  const std::string count = group_digits(std::to_string(steps));
  const auto seconds = [&](double step_s) { return about(static_cast<double>(steps) * step_s); };
  if (const auto step_s = known_step_s(p, form)) {
    duration_note(p, "scaling/estimate", trf("{}, more on a busy machine", seconds(*step_s)));
    hint(p.ui,
         trf("{} steps of {} each, as measured on this machine.", count, format_seconds(*step_s)));
    return;
  }
  const double typical_s = typical_step_s(command.training, first_info(p, command.training));
  duration_note(p, "scaling/estimate", trf("{} at a typical speed", seconds(typical_s)));
  hint(p.ui, trf("{} steps of {} each, at a typical speed: no step of this network was measured on "
                 "this machine yet.",
                 count, format_seconds(typical_s)));
}

// A batch that is divided needs an image per device.
void small_batch_note(const Panel& p, const ScalingForm& form) {
  const std::int64_t batch = form.request.training.batch;
  const auto here = std::ssize(scaling_devices(form, p.model.machine()));
  const std::int64_t most = std::max<std::int64_t>(here, form.request.predict_devices);
  if (form.request.modes == std::vector{ScalingMode::Weak} || batch >= most) return;
  warning_sentence(
      p, "scaling/small_batch",
      batch == 1 ? trf("A batch of 1 image keeps only 1 of {} devices busy.", most)
                 : trf("A batch of {0} images keeps only {0} of {1} devices busy.", batch, most));
}

// Why the last measurement allows no prediction; empty if it does, or is not what it starts from.
std::string withheld_reason(const Panel& p, const ScalingForm& form) {
  if (static_cast<ComputeTime>(form.compute_time) != ComputeTime::Measured) return {};
  for (const ScalingMode mode : form.request.modes) {
    std::string why = p.model.scaling().current.withheld(mode);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace

void draw_predict_button(const Panel& p, std::string_view path, std::string_view label,
                         float width) {
  const ScalingForm& form = p.view.forms.scaling;
  const MachineInfo& machine = p.model.machine();
  const MeasuredStep known = measured_step(p, form);
  const bool measured = static_cast<ComputeTime>(form.compute_time) == ComputeTime::Measured;
  std::string why = problem([&] { return to_command(form, machine, false, known); });
  if (why.empty()) why = withheld_reason(p, form);
  if (!why.empty() && measured && !known.seconds) why = tr("Measure first, or type in a step time");
  if (why.empty()) why = busy_reason(p);
  const std::string from =
      known.seconds && measured
          ? trf("Calculates again from the measured step of {}, without measuring",
                format_seconds(*known.seconds))
          : std::string(tr("Calculates from the step time in the settings"));
  if (button(p.ui, path, label,
             {.enabled = why.empty(), .hint = why.empty() ? from : why, .width = width})) {
    send(p, to_command(form, machine, false, known));
  }
}

bool is_of_other_settings(const Panel& p, const ScalingResults& results, ScalingMode mode) {
  const ScalingForm& form = p.view.forms.scaling;
  const StartScaling& then = results.request;
  StartScaling now;
  if (results.predicted(mode).points.empty() || runs(p, Page::Scaling)) return false;
  if (!problem([&] { now = to_command(form, p.model.machine(), true); }).empty()) return false;
  const auto scenario = [](const StartScaling& r) {
    return std::tie(r.link, r.style, r.predict_devices, r.repeated_s, r.reading_s, r.training.model,
                    r.training.batch, r.training.bucket_bytes);
  };
  if (scenario(now) != scenario(then)) return true;
  const bool measured = static_cast<ComputeTime>(form.compute_time) == ComputeTime::Measured;
  const bool given = then.compute_s || !then.reference_file.empty();
  if (measured != (then.measure ? !given : results.basis() != nullptr)) return true;
  if (measured) return first_device(now.training) != first_device(then.training);
  const auto time = [](const StartScaling& r) {
    return std::tie(r.compute_s, r.fixed_s, r.reference_file);
  };
  return time(now) != time(then);
}

namespace {

// One line, which stays in sight however far the form extends below it.
void form_buttons(const Panel& p, const ScalingForm& form, std::string_view error) {
  form_actions(p, 330, [&] {
    Row row(p.ui,
            {button_width(p.ui, tr("Measure scaling")), button_width(p.ui, tr("Predict only"))});
    row.next();
    measure_button(p, form, error);
    row.next();
    draw_predict_button(p, "scaling/predict", tr("Predict only"), -1);
  });
}

}  // namespace

void draw_scaling_form(const Panel& p) {
  ScalingForm& form = p.view.forms.scaling;
  const FormCard card(p, "scaling/form", tr("Settings"));
  if (!card) return;
  room_for_actions(p);
  const std::string error = problem([&] { return to_command(form, p.model.machine(), true); });
  const bool fields = settings_shown(p, Page::Scaling, "scaling/settings", form.settings_open,
                                     [&] { return settings_text(form); });
  if (fields) {
    work_fields(p, form);
    device_boxes(p, form);
  }
  if (!error.empty()) error_box(p.ui, "scaling/form_error", error);
  if (error.empty()) {
    if (const std::string fault = typed_time_fault(form); !fault.empty()) {
      warning_sentence(p, "scaling/no_prediction", trf("No prediction: {}.", fault));
    }
    small_batch_note(p, form);
    measure_note(p, form);
  }
  form_buttons(p, form, error);
  if (!fields) return;
  ImGui::Dummy({1, p.ui.px(4)});
  heading(p.ui, tr("Prediction"));
  prediction_fields(p, form);
  more_fields(p, form);
}

}  // namespace lab::ui
