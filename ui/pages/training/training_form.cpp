// What to train, on what, and how; the defaults are the chapters'.
#include <fmt/format.h>

#include <array>

#include "ui/model/chapter_runs.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {
namespace {

const std::vector<std::string>& data_names() {
  static const std::vector<std::string> kNames = {"Synthetic", "Fashion-MNIST"};
  return kNames;
}
const std::vector<std::string>& order_names() {
  static const std::vector<std::string> kNames = {"Shuffled", "In file order"};
  return kNames;
}
const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = {"Lab", "Library", "Both"};
  return kNames;
}
const std::vector<std::string>& factor_names() {
  static const std::vector<std::string> kNames = {"f32", "bf16"};
  return kNames;
}

// Two short fields in one line of the left form, where height is dear.
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

void data_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  segmented(p.ui, "training/data", "Data", data_names(), form.data,
            "Synthetic garments need no download. Fashion-MNIST is the chapters' set: "
            "`device-lab data fetch` downloads it.");
  if (static_cast<DataSource>(form.data) == DataSource::FashionMnist) {
    fields.next();
    input_text(p.ui, "training/data_dir", "Folder of the data", form.data_dir,
               "Holds the four IDX files. Empty: the usual places.", "the usual places");
    return;
  }
  side_by_side(
      p, fields,
      [&] {
        input_number(p.ui, "training/synthetic_train", "Training images", form.synthetic_train,
                     {.min = 1, .max = 10'000'000, .step = 1000});
      },
      [&] {
        input_number(p.ui, "training/synthetic_test", "Test images", form.synthetic_test,
                     {.min = 1, .max = 10'000'000, .step = 1000});
      });
}

void chapter_field(const Panel& p, Fields& fields, TrainingForm& form) {
  const MachineInfo& machine = p.model.machine();
  fields.next();
  int which = chapter_run_of(form, machine);
  if (combo(p.ui, "training/chapter", "Chapter", chapter_runs(), which,
            "Fills the form with a training of the chapter on several GPUs.")) {
    fill_chapter_run(which, machine, form);
  }
  const std::string stand_in = chapter_stand_in(which, machine);
  if (!stand_in.empty()) caption(p.ui, stand_in);
}

void main_fields(const Panel& p, TrainingForm& form) {
  Fields fields(p);
  chapter_field(p, fields, form);
  fields.next();
  if (combo(p.ui, "training/model", "Model", training_models(), form.model,
            "softmax: one layer. mlp: 256 hidden units. lenet: two convolutions. resnet18: "
            "eighteen layers, 11 million parameters.")) {
    form.lr = default_lr(form.model);
  }
  data_fields(p, fields, form);
  fields.next();
  input_number(p.ui, "training/batch", "Batch", form.batch,
               {.min = 1,
                .max = 1'000'000,
                .step = 32,
                .unit = "images",
                .hint = "Images in one step, over all devices; the loss is their mean."});
  side_by_side(
      p, fields,
      [&] {
        input_number(p.ui, "training/lr", "Learning rate", form.lr,
                     {.min = 0,
                      .step = 0.1,
                      .hint = "Follows the model: 0.9 for lenet, 0.1 for the others, as the "
                              "chapters."});
      },
      [&] {
        input_number(
            p.ui, "training/epochs", "Epochs", form.epochs,
            {.min = 1, .max = 100'000, .step = 1, .hint = "Passes over the training images."});
      });
}

void checkpoint_fields(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  input_text(p.ui, "training/checkpoint_dir", "Folder for checkpoints", form.checkpoint_dir,
             "The model, the optimizer, the random state and the position in the data, written "
             "whole or not at all. Empty: none.",
             "none");
  if (!form.checkpoint_dir.empty()) {
    fields.next();
    input_number(
        p.ui, "training/checkpoint_every", "Checkpoint every", form.checkpoint_every,
        {.min = 0, .max = 1e9, .step = 100, .unit = "steps", .hint = "0: at the end alone."});
  }
  fields.next();
  input_text(p.ui, "training/resume_dir", "Go on from the checkpoint in", form.resume_dir,
             "Goes on where the newest checkpoint of this folder stands. Empty: from the start.",
             "the start");
}

// Both kinds of kernels are compared layer by layer, so that always makes a profile.
void profile_field(const Panel& p, Fields& fields, TrainingForm& form) {
  fields.next();
  const bool both = form.kernels == kBothKernels;
  bool on = form.profile || both;
  const bool changed =
      checkbox(p.ui, "training/profile", "Profile layers", on,
               both ? "Comparing both kinds of kernels makes a profile of each layer."
                    : "Measures each layer's time, GFLOP/s and share of the peak, on the first "
                      "device. It costs next to nothing.",
               !both);
  if (changed) form.profile = on;
}

void more_fields(const Panel& p, TrainingForm& form) {
  foldout(p.ui, "training/more", "More settings", form.more);
  if (!form.more) return;
  Fields fields(p);
  fields.next();
  input_number(p.ui, "training/momentum", "Momentum", form.momentum,
               {.min = 0, .max = 1, .step = 0.1, .hint = "The chapters use none."});
  fields.next();
  input_number(p.ui, "training/weight_decay", "Weight decay", form.weight_decay,
               {.min = 0, .max = 1, .step = 0.0001, .hint = "The chapters use none."});
  fields.next();
  input_number(p.ui, "training/seed", "Seed", form.seed,
               {.min = 0, .hint = "The same seed gives the same weights, order and images."});
  fields.next();
  segmented(p.ui, "training/order", "Order of images", order_names(), form.order,
            "Shuffled anew in each epoch, or as they stand in the file.");
  fields.next();
  segmented(p.ui, "training/kernels", "Kernels", kernel_names(), form.kernels,
            "Whose kernels compute: the lab's own or oneDNN's. Both: steps take turns with them, "
            "and the layers are compared side by side.");
  fields.next();
  segmented(
      p.ui, "training/dtype", "Factors of products", factor_names(), form.dtype,
      "bf16: the factors of convolutions and matrix products are rounded to it; sums, weights "
      "and gradients stay FP32. Quicker where the processor multiplies bf16.");
  profile_field(p, fields, form);
  checkpoint_fields(p, fields, form);
}

void pause_button(const Panel& p) {
  const bool held = paused(p);
  if (button(p.ui, "training/pause", held ? "Resume" : "Pause",
             {.kind = held ? ButtonKind::Primary : ButtonKind::Normal,
              .hint = "Space",
              .width = -1})) {
    toggle_pause(p);
  }
}

void stop_button(const Panel& p) {
  if (button(p.ui, "training/stop", "Stop",
             {.kind = ButtonKind::Danger, .hint = "Stops now; the curves stay.", .width = -1})) {
    cancel(p);
  }
}

void stop_after_epoch_button(const Panel& p) {
  const bool asked = p.view.stopping_job == p.model.job()->id;
  if (button(p.ui, "training/stop_after_epoch",
             asked ? "Stops after this epoch" : "Stop after this epoch",
             {.enabled = !asked, .hint = "Finishes the epoch, tests, and ends.", .width = -1})) {
    p.out.push_back(StopAfterEpoch{});
    p.view.stopping_job = p.model.job()->id;
  }
}

// While it trains: pause, and two ways to stop. In one line where they stand beside the title.
void running_buttons(const Panel& p) {
  {
    const std::vector<float> weights =
        p.folded() ? std::vector<float>{1, 1, 2} : std::vector<float>{1, 1};
    Row row(p.ui, weights);
    row.next();
    pause_button(p);
    row.next();
    stop_button(p);
    if (p.folded()) {
      row.next();
      stop_after_epoch_button(p);
    }
  }
  if (!p.folded()) stop_after_epoch_button(p);
}

// "resnet18, Fashion-MNIST, batch 256, lr 0.1, 10 epochs, 2 devices": the form in a line.
std::string settings_text(const Panel& p, const TrainingForm& form) {
  const std::vector<Device> devices = training_devices(form, p.model.machine());
  std::string text = fmt::format("{}, {}, batch {}, lr {:g}, {} epoch{}",
                                 training_models().at(static_cast<std::size_t>(form.model)),
                                 data_names().at(static_cast<std::size_t>(form.data)), form.batch,
                                 form.lr, form.epochs, form.epochs == 1 ? "" : "s");
  if (devices.size() == 1) text += ", " + lab::to_string(devices.front());
  if (devices.size() > 1) text += fmt::format(", {} devices", devices.size());
  return text;
}

// Above the results the settings fold into a line once something was trained: the first screen
// belongs to the results.
bool settings_shown(const Panel& p, TrainingForm& form) {
  if (!p.folded()) return true;
  bool open = form.settings_open.value_or(p.model.runs().empty());
  if (foldout(p.ui, "training/settings", open ? "Settings" : settings_text(p, form), open)) {
    form.settings_open = open;
  }
  return open;
}

void fields_of_form(const Panel& p, TrainingForm& form) {
  main_fields(p, form);
  draw_larger_batch(p, form);
  device_fields(p, form);
}

}  // namespace

void draw_training_form(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  Card card(p, "training/form", "Training", {.least = form_height(p)});
  if (!card) return;
  room_for_actions(p);
  const bool shown = settings_shown(p, form);
  if (shown) fields_of_form(p, form);
  const MachineInfo& machine = p.model.machine();
  const std::string error = complaint([&] { return to_command(form, machine); });
  // Wrong shares are explained where they are typed.
  const bool explained = shown && error == shares_complaint(form, machine);
  if (!error.empty() && !explained) error_box(p.ui, "training/form_error", error);
  if (runs(p, Page::Training)) {
    form_actions(p, 420, [&] { running_buttons(p); });
  } else {
    form_actions(p, 150, [&] {
      if (start_button(p, "training/start", "Train", error, true)) {
        send(p, to_command(form, machine));
        form.settings_open.reset();
      }
    });
  }
  if (shown) more_fields(p, form);
}

}  // namespace lab::ui
