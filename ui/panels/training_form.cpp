// What to train, on what, and how; the defaults are the chapters'.
#include <fmt/format.h>

#include <array>

#include "ui/panels/training_parts.h"

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
  static const std::vector<std::string> kNames = {"The lab's", "A library's"};
  return kNames;
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
  fields.next();
  input_number(p.ui, "training/synthetic_train", "Synthetic training images", form.synthetic_train,
               {.min = 1, .max = 10'000'000, .step = 1000});
  fields.next();
  input_number(p.ui, "training/synthetic_test", "Synthetic test images", form.synthetic_test,
               {.min = 1, .max = 10'000'000, .step = 1000});
}

void main_fields(const Panel& p, TrainingForm& form) {
  Fields fields(p);
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
                .hint = "Images in one step; the loss is their mean."});
  fields.next();
  input_number(p.ui, "training/lr", "Learning rate", form.lr,
               {.min = 0,
                .step = 0.1,
                .hint = "Follows the model: 0.9 for lenet, 0.1 for the others, as the chapters."});
  fields.next();
  input_number(p.ui, "training/epochs", "Epochs", form.epochs,
               {.min = 1, .max = 100'000, .step = 1, .hint = "Passes over the training images."});
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
            "Whose matrix multiplication does the work.");
}

void device_boxes(const Panel& p, TrainingForm& form) {
  const auto& devices = p.model.devices();
  form.devices.resize(devices.size(), false);
  if (devices.size() < 2) return;
  caption(p.ui, "Devices (none ticked: the first)");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string name = lab::to_string(devices[i]);
    bool on = form.devices[i];
    if (checkbox(p.ui, "training/device/" + name, name, on)) form.devices[i] = on;
  }
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

}  // namespace

void draw_training_form(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  Card card(p, "training/form", "Training", {.least = form_height(p)});
  if (!card) return;
  room_for_actions(p);
  main_fields(p, form);
  device_boxes(p, form);
  const MachineInfo& machine = p.model.machine();
  const std::string error = complaint([&] { return to_command(form, machine); });
  if (!error.empty()) error_box(p.ui, "training/form_error", error);
  if (runs(p, JobKind::Training)) {
    form_actions(p, 420, [&] { running_buttons(p); });
  } else {
    form_actions(p, 150, [&] {
      if (start_button(p, "training/start", "Train", error, true)) {
        send(p, to_command(form, machine));
      }
    });
  }
  more_fields(p, form);
}

}  // namespace lab::ui
