// The training form: model, data, devices and settings; the defaults are the chapters'.
#include <algorithm>
#include <functional>
#include <variant>

#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/training_estimate.h"
#include "ui/model/training_presets.h"
#include "ui/pages/field_control.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {

namespace {
constexpr const char* kDataMissing = LAB_TEXT("Fashion-MNIST is not on this machine");
}

std::string lock_reason(const Panel& p) {
  if (running_training(p) == nullptr) return {};
  return tr(
      "Locked while this training runs. Learning rate, epochs and shares can be changed; for "
      "the rest, stop it and train again.");
}

bool data_missing(const Panel& p) {
  const StartTraining& request = p.view.forms.training.request;
  return request.data == DataSource::FashionMnist && request.data_dir.empty() &&
         !p.model.fashion_found();
}

StartTraining training_command(const Panel& p) {
  StartTraining command = to_command(p.view.forms.training, p.model.machine());
  if (data_missing(p)) throw Error(Errc::NotFound, tr(kDataMissing));
  return command;
}

std::string live_lock_reason(const Panel& p) {
  const TrainingRun* run = running_training(p);
  const bool ranks = run != nullptr && run->devices().ranks() > 1;
  return ranks ? tr("Locked: a training of several processes keeps its settings.") : "";
}

namespace {

constexpr const char* kLiveNote = LAB_TEXT("Changes apply at once");
constexpr const char* kLiveHint =
    LAB_TEXT("The next step uses the new value; a line on the curve marks the change.");

bool applies_changes(const Panel& p) {
  return running_training(p) != nullptr && live_lock_reason(p).empty();
}

}  // namespace

void draw_live_note(const Panel& p, const char* path) {
  if (!p.folded() || !applies_changes(p)) return;
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - p.ui.px(6));
  caption(p.ui, tr(kLiveNote));
  record_item(p.ui, path, "text", tr(kLiveNote));
  hint(p.ui, tr(kLiveHint));
}

namespace {

// Two short fields on one line of the left form, to save height.
template <typename First, typename Second>
void side_by_side(const Panel& p, Fields& fields, const First& first, const Second& second) {
  if (p.folded()) {
    fields.next();
    first();
    fields.next();
    second();
    return;
  }
  Row row(p.ui, {1, 1});
  row.next();
  first();
  row.next();
  second();
}

// Draws a field of the request under its declared label.
template <typename Value>
bool request_field(const Panel& p, TrainingForm& form, Value StartTraining::*member) {
  return field_control(p, "training", form.request, member);
}

// Two ways on without the files.
void missing_data(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  error_box(p.ui, "training/data_missing", tr(kDataMissing));
  const std::string why = busy_reason(p);
  if (button(p.ui, "training/download", tr("Download (30 MB)"),
             {.enabled = why.empty(),
              .hint = why.empty() ? tr("Downloads the four files into the lab's data folder and "
                                       "verifies them; can be stopped and resumed")
                                  : std::string_view(why),
              .width = -1})) {
    send(p, FetchData{});
  }
  if (button(p.ui, "training/use_synthetic", tr("Use synthetic data"),
             {.hint = tr("Garments that the lab draws itself; needs no download"), .width = -1})) {
    form.request.data = DataSource::Synthetic;
  }
}

void data_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  request_field(p, form, &StartTraining::data);
  if (form.request.data == DataSource::FashionMnist) {
    if (data_missing(p)) missing_data(p, fields, form);
    fields.next();
    request_field(p, form, &StartTraining::data_dir);
    return;
  }
  side_by_side(
      p, fields, [&] { request_field(p, form, &StartTraining::synthetic_train); },
      [&] { request_field(p, form, &StartTraining::synthetic_test); });
}

void preset_field(const Panel& p, Fields& fields, TrainingForm& form) {
  const MachineInfo& machine = p.model.machine();
  fields.next();
  int which = preset_of(form, machine);
  std::vector<std::string> names = preset_names();
  if (combo(p.ui, "training/preset", tr("Preset"), names, which,
            tr("Fills the form: a training run from the chapter on several GPUs, the settings "
               "that reach a test accuracy of 91 % on Fashion-MNIST soonest, those that reach "
               "94 % (seconds on a large GPU with bf16, hours on a CPU), or LeNet with the "
               "chapters' settings."))) {
    fill_preset(which, machine, form);
  }
  const std::string stand_in = preset_stand_in(which, machine);
  if (!stand_in.empty()) caption(p.ui, stand_in);
}

void model_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  const auto model = [&] {
    if (!request_field(p, form, &StartTraining::model)) return;
    form.request.lr = find_model(form.request.model)->learning_rate;
    form.request.width = kResNetWidth;
    form.request.first_layer = FirstLayer::Drawn;
  };
  if (form.request.model == "resnet18") {
    side_by_side(p, fields, model, [&] { request_field(p, form, &StartTraining::width); });
    fields.next();
    request_field(p, form, &StartTraining::batch);
    return;
  }
  side_by_side(p, fields, model, [&] {
    RequestField field = field_of(&StartTraining::batch);
    if (!p.folded()) field.unit = "";  // for which a short field has no space
    field_control(p.ui, "training/batch", field, form.request.batch);
  });
}

void main_fields(const Panel& p, TrainingForm& form) {
  Fields fields(p);
  {
    const Locked locked(p.ui, lock_reason(p));
    preset_field(p, fields, form);
    model_fields(p, fields, form);
    data_fields(p, fields, form);
  }
  const Locked locked(p.ui, live_lock_reason(p));
  LiveEdits& edits = form.edits;
  side_by_side(
      p, fields, [&] { edits.lr = request_field(p, form, &StartTraining::lr) || edits.lr; },
      [&] { edits.epochs = request_field(p, form, &StartTraining::epochs) || edits.epochs; });
  draw_live_note(p, "training/live");
}

void checkpoint_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  request_field(p, form, &StartTraining::logdir);
  fields.next();
  request_field(p, form, &StartTraining::checkpoint_dir);
  if (!form.request.checkpoint_dir.empty()) {
    fields.next();
    request_field(p, form, &StartTraining::checkpoint_every);
  }
  fields.next();
  request_field(p, form, &StartTraining::resume_dir);
}

void weight_file_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  request_field(p, form, &StartTraining::init_file);
  fields.next();
  request_field(p, form, &StartTraining::save_file);
}

void kernels_field(const Panel& p, Fields& fields, TrainingForm& form) {
  std::vector<std::string> names = labels_of(enum_names<Kernels>());
  names.emplace_back(LAB_TEXT("Both"));
  int choice = kernel_choice(form.request);
  fields.next();
  if (segmented(
          p.ui, "training/kernels", tr("Kernels"), names, choice,
          tr("The lab's own kernels, or those of libraries: oneDNN on CPUs, cuDNN and cuBLAS on "
             "GPUs. Both: steps alternate between them, and the layers are compared side by "
             "side."))) {
    set_kernel_choice(form.request, choice);
  }
}

// Only GPUs compute in tf32.
void dtype_field(const Panel& p, Fields& fields, TrainingForm& form) {
  RequestField field = field_of(&StartTraining::dtype);
  const std::vector<Device> devices = training_devices(form, p.model.machine());
  const bool on_gpus = std::ranges::all_of(devices, is_gpu);
  if (!on_gpus && form.request.dtype != Precision::TF32) {
    field.choices = enum_names<Precision>().first(2);
  }
  fields.next();
  field_control(p.ui, "training/dtype", field, form.request.dtype);
}

// Whether steps can be queued before the loss is read, if it is left to the devices.
bool trains_on_gpus_alone(const Panel& p, const TrainingForm& form) {
  const std::vector<Device> devices = training_devices(form, p.model.machine());
  const bool one_kind =
      std::ranges::adjacent_find(devices, std::not_equal_to<>(), &Device::kind) == devices.end();
  const bool measured = devices.size() > 1 && form.request.share_policy == SharePolicy::Auto;
  return one_kind && !devices.empty() && is_gpu(devices.front()) && !measured;
}

// Comparing both kinds of kernels works layer by layer and therefore implies a profile.
void profile_field(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  const RequestField field = field_of(&StartTraining::profile);
  const bool both = form.request.compare_kernels;
  bool on = form.request.profile || both;
  const bool changed = checkbox(
      p.ui, "training/profile", tr(field.label), on,
      both ? tr("Comparing both kernels always profiles each layer.") : tr(field.hint), !both);
  if (changed) form.request.profile = on;
}

void more_fields(const Panel& p, TrainingForm& form) {
  foldout(p.ui, "training/more", tr("More settings"), form.more);
  if (!form.more) return;
  draw_larger_batch(p, form);
  const Locked locked(p.ui, lock_reason(p));
  Fields fields(p);
  more_controls(p, fields, "training", form.request);
  fields.next();
  request_field(p, form, &StartTraining::order);
  kernels_field(p, fields, form);
  dtype_field(p, fields, form);
  profile_field(p, fields, form);
  fields.next();
  request_field(p, form, &StartTraining::timeline);
  fields.next();
  request_field(p, form, &StartTraining::insight);
  if (trains_on_gpus_alone(p, form)) {
    fields.next();
    request_field(p, form, &StartTraining::steps_ahead);
  }
  weight_file_fields(p, fields, form);
  checkpoint_fields(p, fields, form);
}

void pause_button(const Panel& p) {
  const bool held = paused(p);
  if (button(p.ui, "training/pause", held ? tr("Resume") : tr("Pause"),
             {.kind = held ? ButtonKind::Primary : ButtonKind::Normal,
              .hint = tr("Space"),
              .width = -1})) {
    toggle_pause(p);
  }
}

void stop_button(const Panel& p, std::string_view hint) {
  if (button(p.ui, "training/stop", tr("Stop"),
             {.kind = ButtonKind::Danger, .hint = hint, .width = -1})) {
    cancel(p);
  }
}

void stop_after_epoch_button(const Panel& p) {
  const bool asked = p.view.stopping_job == p.model.job()->id;
  if (button(p.ui, "training/stop_after_epoch",
             asked ? tr("Stops after this epoch") : tr("Stop after this epoch"),
             {.enabled = !asked,
              .hint = tr("Finishes the epoch, evaluates, then stops."),
              .width = -1})) {
    p.out.push_back(StopAfterEpoch{});
    p.view.stopping_job = p.model.job()->id;
  }
}

// While a training runs: pause and two ways to stop, on one line if beside the title.
void running_buttons(const Panel& p) {
  {
    const std::vector<float> weights =
        p.folded() ? std::vector<float>{1, 1, 2} : std::vector<float>{1, 1};
    Row row(p.ui, weights);
    row.next();
    pause_button(p);
    row.next();
    stop_button(p, tr("Stops now; the curves are kept."));
    if (p.folded()) {
      row.next();
      stop_after_epoch_button(p);
    }
  }
  if (!p.folded()) stop_after_epoch_button(p);
}

// While the speed is measured or data are downloaded.
void short_job(const Panel& p) {
  const auto& command = p.model.state(Page::Training).command;
  const bool fetches = command && std::holds_alternative<FetchData>(*command);
  stop_button(p, fetches ? tr("Stops the download; the next one resumes it")
                         : tr("Stops measuring the speed"));
  if (p.folded()) return;
  const std::string text = fetches ? p.model.job()->what : tr("Measuring the speed");
  caption(p.ui, text);
  record_item(p.ui, "training/progress_text", "text", text);
  progress_bar(p.ui, "training/progress", p.model.job()->done, -1, 6);
}

// "ResNet-18, Fashion-MNIST, batch 256, lr 0.1, 10 epochs, 2 devices": the form on one line.
std::string settings_text(const Panel& p, const TrainingForm& form) {
  const std::vector<Device> devices = training_devices(form, p.model.machine());
  const StartTraining& r = form.request;
  const std::string_view model = model_title(r.model);
  const char* const data = tr(label_of(r.data));
  const double lr = r.lr.value_or(0);
  std::string text =
      r.epochs == 1
          ? trf("{}, {}, batch {}, lr {:g}, 1 epoch", model, data, r.batch, lr)
          : trf("{}, {}, batch {}, lr {:g}, {} epochs", model, data, r.batch, lr, r.epochs);
  if (devices.size() == 1) text += ", " + lab::to_string(devices.front());
  if (devices.size() > 1) text += ", " + trf("{} devices", devices.size());
  return text;
}

// A batch that holds all images makes each epoch one step.
void draw_batch_note(const Panel& p, const StartTraining& request) {
  const std::int64_t images = training_images(request);
  if (request.batch <= images) return;
  const std::string text =
      trf("The batch is larger than the {} training images: each epoch is one step of all of them.",
          group_digits(std::to_string(images)));
  warning_sentence(p, "training/large_batch", text);
}

// A number that is still being typed is not sent.
void send_changes(const Panel& p, TrainingForm& form) {
  const bool running = running_training(p) != nullptr;
  if (running && (!form.edits.any() || ImGui::IsAnyItemActive())) return;
  if (running) p.out.push_back(changes_of(form, p.model.machine()));
  form.edits = {};
}

void fields_of_form(const Panel& p, TrainingForm& form) {
  main_fields(p, form);
  if (scales_larger_batch(form) && !form.more) draw_larger_batch(p, form);
  device_fields(p, form);
}

}  // namespace

void draw_training_form(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  // Folded, the buttons are beside the title.
  const bool live = !p.folded() && applies_changes(p);
  const FormCard card(p, "training/form", tr("Settings"),
                      {.hint = live ? tr(kLiveHint) : "", .note = live ? tr(kLiveNote) : ""});
  if (!card) return;
  room_for_actions(p);
  const bool shown = settings_shown(p, Page::Training, "training/settings", form.settings_open,
                                    [&] { return settings_text(p, form); });
  if (shown) fields_of_form(p, form);
  const MachineInfo& machine = p.model.machine();
  const std::string error = problem([&] { return training_command(p); });
  // Invalid shares and missing data are explained at their field.
  const bool explained =
      shown && (error == shares_problem(form, machine) || error == tr(kDataMissing));
  if (!error.empty() && !explained) error_box(p.ui, "training/form_error", error);
  if (error.empty()) send_changes(p, form);
  if (running_training(p) != nullptr) {
    form_actions(p, 420, [&] { running_buttons(p); });
  } else if (runs(p, Page::Training)) {
    form_actions(p, 150, [&] { short_job(p); });
  } else {
    const ButtonKind kind = takes_very_long(p) ? ButtonKind::Normal : ButtonKind::Primary;
    form_actions(p, 150, [&] {
      if (start_button(p, "training/start", tr("Train"), error, true, kind)) {
        send(p, training_command(p));
      }
    });
    draw_batch_note(p, form.request);
    draw_training_estimate(p, form);
  }
  if (shown) more_fields(p, form);
}

}  // namespace lab::ui
