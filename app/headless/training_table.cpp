#include <fmt/format.h>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

std::string names(const std::vector<Device>& devices) {
  std::string text;
  for (const Device d : devices) text += (text.empty() ? "" : ", ") + to_string(d);
  return text;
}

std::string accuracy(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "N/A";
}

std::string speed_text(double images_per_s) {
  return fmt::format("{:.0f} images/s", images_per_s);
}

// "0.2 (0.1 scaled linearly with the batch) after a warm-up of 2 epochs".
std::string rate(const TrainingStarted& s) {
  std::string text = fmt::format("{}", s.lr);
  if (s.request.lr_scale == LrScale::Linear) {
    text += fmt::format(" ({} scaled linearly with the batch)", s.request.lr.value_or(s.lr));
  }
  if (s.request.warmup_epochs > 0) {
    text += fmt::format(" after a warm-up of {} epochs", s.request.warmup_epochs);
  }
  return text;
}

std::string places(const TrainingDone& d) {
  if (d.ranks == 1) return names(d.devices);
  return fmt::format("{} devices of {} processes", d.devices.size(), d.ranks);
}

// Where the time of a step of several devices went. Each part is a median over steps.
std::string split(const TrainingDone& d) {
  const StepSplit& s = d.split;
  const double step_s = s.compute_s + s.all_reduce_s + s.imbalance_s;
  return fmt::format(
      "{} devices: {} a step = compute {} + all-reduce {} ({} of it exposed) + waiting {}; {} of "
      "the all-reduce hidden behind backward",
      d.devices.size(), format_seconds(step_s), format_seconds(s.compute_s),
      format_seconds(s.all_reduce_s), format_seconds(s.exposed_s), format_seconds(s.imbalance_s),
      percent(d.hidden_share));
}

class TrainingTable final : public Printer {
 public:
  explicit TrainingTable(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    if (show_common(console_, payload)) return;
    if (const auto* started = std::get_if<TrainingStarted>(&payload)) {
      show_start(*started);
    } else if (const auto* epoch = std::get_if<EpochDone>(&payload)) {
      show_epoch(*epoch);
    } else if (const auto* done = std::get_if<TrainingDone>(&payload)) {
      show_done(*done);
    } else if (const auto* profile = std::get_if<TrainingProfile>(&payload)) {
      profile_ = *profile;
    } else if (std::holds_alternative<JobFinished>(payload) && profile_) {
      print_profile(console_, *profile_);
    }
  }

 private:
  void show_start(const TrainingStarted& s) {
    console_.line(fmt::format(
        "{} with {} parameters on {}, {} data: {} images to train on, {} to "
        "test on",
        s.request.model, s.parameters, names(s.request.devices),
        s.synthetic ? "synthetic" : to_string(s.request.data), s.train_images, s.test_images));
    console_.line(
        fmt::format("batch {}, learning rate {}, momentum {}, weight decay {}, {} steps "
                    "of {} an epoch, seed {}, {} kernels, {} factors",
                    s.request.batch, rate(s), s.request.momentum, s.request.weight_decay,
                    s.total_steps, s.steps_per_epoch, s.request.seed,
                    s.request.compare_kernels ? "both" : to_string(s.request.kernels),
                    to_string(s.request.dtype)));
  }

  void show_epoch(const EpochDone& e) {
    if (!header_shown_) console_.line(layout_.header());
    header_shown_ = true;
    console_.line(layout_.row({std::to_string(e.epoch), fmt::format("{:.4f}", e.train_loss),
                               fmt::format("{:.4f}", e.train_acc), accuracy(e.test_acc),
                               format_seconds(e.seconds), speed_text(e.images_per_s)}));
  }

  void show_done(const TrainingDone& d) {
    const std::string result = d.test_acc ? "test accuracy " + accuracy(d.test_acc) + ", " : "";
    console_.line(fmt::format("{}{} steps in {}, {} on {}", result, d.steps,
                              format_seconds(d.seconds), speed_text(d.images_per_s), places(d)));
    if (d.devices.size() > 1) console_.line(split(d));
    if (!d.saved_file.empty()) console_.line("weights saved in " + d.saved_file);
    if (!d.checkpoint.empty()) console_.line("checkpoint in " + d.checkpoint);
  }

  Console& console_;
  bool header_shown_ = false;
  std::optional<TrainingProfile> profile_;  // the latest
  const TableLayout layout_{{{"epoch", 5, true},
                             {"train loss", 10, true},
                             {"train acc", 9, true},
                             {"test acc", 8, true},
                             {"time", 8, true},
                             {"speed", 14, true}}};
};

}  // namespace

std::unique_ptr<Printer> make_training_table(Console& console) {
  return std::make_unique<TrainingTable>(console);
}

}  // namespace lab::app
