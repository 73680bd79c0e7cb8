#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

// --- layers ---------------------------------------------------------------------------------

constexpr const char* kNone = "-";

// Returns the lines, longest time first.
std::vector<ProfileLine> lines_of(const TrainingProfile& profile) {
  std::vector<ProfileLine> lines = profile.lines();
  std::stable_sort(lines.begin(), lines.end(), [](const ProfileLine& a, const ProfileLine& b) {
    return a.front()->time.median_s > b.front()->time.median_s;
  });
  return lines;
}

std::string time(const ProfileRow& row) {
  return row.time.n > 0 ? format_seconds(row.time.median_s) : kNone;
}

std::string speed(const ProfileRow& row) {
  return row.flop > 0 && row.time.n > 0 ? fmt::format("{:.1f}", row.gflops()) : kNone;
}

std::string of_peak(const TrainingProfile& profile, const ProfileRow& row) {
  const bool known = row.flop > 0 && row.time.n > 0 && profile.peak_gflops > 0;
  return known ? percent(profile.share_of_peak(row)) : kNone;
}

std::string traffic(const ProfileRow& row) {
  return row.bytes > 0 ? format_si(static_cast<double>(row.bytes), "B") : kNone;
}

std::string intensity(const ProfileRow& row) {
  return row.flop > 0 && row.bytes > 0 ? fmt::format("{:.1f}", row.intensity()) : kNone;
}

std::string method(const ProfileRow& row) {
  return row.method.empty() ? kNone : row.method;
}

std::string pass(const ProfileRow& row) {
  const bool layer = row.phase == StepPhase::Forward || row.phase == StepPhase::Backward;
  return layer ? to_string(row.phase) : "";
}

int layer_width(const std::vector<ProfileLine>& lines) {
  int width = 0;
  for (const ProfileLine& line : lines)
    width = std::max(width, display_width(line.front()->title()));
  return width;
}

void print_layers(Console& console, const TrainingProfile& profile,
                  const std::vector<ProfileLine>& lines) {
  const TableLayout layout({{LAB_TEXT("layer"), layer_width(lines)},
                            {LAB_TEXT("pass"), 8},
                            {LAB_TEXT("time"), 8, true},
                            {"p10", 8, true},
                            {"p90", 8, true},
                            {LAB_TEXT("of step"), 7, true},
                            {"GFLOP/s", 7, true},
                            {LAB_TEXT("of peak"), 7, true},
                            {LAB_TEXT("traffic"), 8, true},
                            {"FLOP/B", 6, true},
                            {LAB_TEXT("algorithm"), 0}});
  console.line(layout.header());
  const double step_s = profile.totals.front().step.median_s;
  for (const ProfileLine& line : lines) {
    const ProfileRow& r = *line.front();
    console.line(layout.row({r.title(), pass(r), time(r), format_seconds(r.time.p10_s),
                             format_seconds(r.time.p90_s), percent(r.time.median_s / step_s),
                             speed(r), of_peak(profile, r), traffic(r), intensity(r), method(r)}));
  }
}

// "1.31x": the time of `second` relative to `first`.
std::string ratio(const ProfileRow& first, const ProfileRow& second) {
  if (first.time.median_s <= 0 || second.time.median_s <= 0) return kNone;
  return fmt::format("{:.2f}x", second.time.median_s / first.time.median_s);
}

void print_comparison(Console& console, const TrainingProfile& profile,
                      const std::vector<ProfileLine>& lines) {
  const TableLayout layout({{LAB_TEXT("layer"), layer_width(lines)},
                            {LAB_TEXT("pass"), 8},
                            {LAB_TEXT("lab"), 8, true},
                            {"GFLOP/s", 7, true},
                            {LAB_TEXT("of peak"), 7, true},
                            {LAB_TEXT("algorithm"), 12},
                            {LAB_TEXT("library"), 8, true},
                            {"GFLOP/s", 7, true},
                            {LAB_TEXT("of peak"), 7, true},
                            {LAB_TEXT("algorithm"), 9},
                            {LAB_TEXT("library/lab"), 11, true},
                            {LAB_TEXT("traffic"), 8, true},
                            {"FLOP/B", 6, true}});
  console.line(layout.header());
  for (const ProfileLine& line : lines) {
    const ProfileRow &a = *line[0], &b = *line[1];
    console.line(layout.row({a.title(), pass(a), time(a), speed(a), of_peak(profile, a), method(a),
                             time(b), speed(b), of_peak(profile, b), method(b), ratio(a, b),
                             traffic(a), intensity(a)}));
  }
}

// "batch 1.2 %, forward 31.0 %, ...": shares of the total time of all steps.
std::string phase_shares(const ProfileTotal& total) {
  std::string text;
  for (const StepPhase phase : kStepPhases) {
    if (total.share(phase) <= 0) continue;
    const char* name = phase == StepPhase::AllReduce ? tr("all-reduce") : to_string(phase);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent(total.share(phase)));
  }
  return text;
}

void print_total(Console& console, const ProfileTotal& total) {
  console.line(trf("{} kernels: step {} {}, sum of rows {}, unaccounted {}; {}",
                   to_string(total.kernels), format_seconds(total.step.median_s),
                   spread_text(total.step), format_seconds(total.rows.median_s),
                   format_seconds(total.unaccounted_s), phase_shares(total)));
}

// Prints the time of each layer, longest first, and the totals.
void print_profile(Console& console, const TrainingProfile& profile) {
  const ProfileTotal& total = profile.totals.front();
  const std::int64_t warmup = total.step.warmup * static_cast<std::int64_t>(profile.totals.size());
  console.line("");
  if (std::any_of(profile.totals.begin(), profile.totals.end(),
                  [](const ProfileTotal& t) { return t.step.n == 0; })) {
    console.line(trf("No profile: the first {} steps are warm-up; train for more steps", warmup));
    return;
  }
  const std::string device = profile.devices > 1 ? trf("{} (the first of {} devices)",
                                                       to_string(profile.device), profile.devices)
                                                 : to_string(profile.device);
  const std::string threads = workers_text(profile.threads);
  console.line(profile.totals.size() > 1
                   ? trf("Layers on {}, {} images per step, {}: medians of {} steps per kernel set "
                         "after {} of warm-up",
                         device, profile.images, threads, total.step.n, warmup)
                   : trf("Layers on {}, {} images per step, {}: medians of {} steps after {} of "
                         "warm-up",
                         device, profile.images, threads, total.step.n, warmup));
  const std::vector<ProfileLine> lines = lines_of(profile);
  if (profile.totals.size() > 1) {
    print_comparison(console, profile, lines);
  } else {
    print_layers(console, profile, lines);
  }
  for (const ProfileTotal& t : profile.totals) print_total(console, t);
  console.line(
      trf("Peak {} ({}), measured before training. GFLOP/s count the operations of the "
          "direct algorithm: "
          "Winograd needs fewer and can exceed the peak. Traffic counts each array once.",
          format_gflops(profile.peak_gflops), to_string(profile.dtype)));
}

// --- training -------------------------------------------------------------------------------

std::string names(const std::vector<Device>& devices) {
  std::string text;
  for (const Device d : devices) text += (text.empty() ? "" : ", ") + to_string(d);
  return text;
}

std::string accuracy(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "N/A";
}

std::string speed_text(double images_per_s) {
  return trf("{:.0f} images/s", images_per_s);
}

// "0.2 (0.1 scaled linearly with the batch) after a warm-up of 2 epochs, falling to 0".
std::string rate(const TrainingStarted& s) {
  std::string text = fmt::format("{}", s.lr);
  if (s.request.lr_scale == LrScale::Linear) {
    text = trf("{} ({} scaled linearly with the batch)", text, s.request.lr.value_or(s.lr));
  }
  if (s.request.warmup_epochs > 0) {
    text = trf("{} after a warm-up of {} epochs", text, s.request.warmup_epochs);
  }
  if (s.request.schedule == LrSchedule::Linear) text = trf("{}, falling to 0", text);
  return text;
}

std::string device_summary(const TrainingDone& d) {
  if (d.ranks == 1) return names(d.devices);
  return trf("{} devices of {} processes", d.devices.size(), d.ranks);
}

// Describes how the time of a step on several devices is divided. Each part is a median over steps.
std::string split_text(const TrainingDone& d) {
  const StepSplit& s = d.split;
  const double step_s = s.compute_s + s.all_reduce_s + s.imbalance_s;
  return trf(
      "{} devices: {} per step = compute {} + all-reduce {} ({} of it exposed) + waiting {}; {} of "
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
      timed_ = std::ranges::all_of(started->request.devices, is_timed);
      resumed_ = !started->request.resume_dir.empty();
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
    console_.line(trf(
        "{} with {} parameters on {}, {} data: {} training images, {} test "
        "images",
        s.request.model, s.parameters, names(s.request.devices),
        s.synthetic ? tr("synthetic") : to_string(s.request.data), s.train_images, s.test_images));
    console_.line(
        trf("batch {}, learning rate {}, momentum {}, weight decay {}, {} steps "
            "of {} per epoch, seed {}, {} kernels, {} operands",
            s.request.batch, rate(s), s.request.momentum, s.request.weight_decay, s.total_steps,
            s.steps_per_epoch, s.request.seed,
            s.request.compare_kernels ? tr("both") : to_string(s.request.kernels),
            to_string(s.request.dtype)));
    if (!s.libraries.empty()) console_.line(trf("layers on GPUs: {}", s.libraries));
    if (s.request.label_smoothing > 0) {
      console_.line(trf("label smoothing {:g}", s.request.label_smoothing));
    }
    if (s.request.augment == Augmentation::Flip) {
      console_.line(tr("half of the training images are mirrored, drawn anew in each epoch"));
    }
    if (whitens_first_layer(s.request)) {
      console_.line(tr("the first convolution starts with filters that whiten the images"));
    }
  }

  void show_epoch(const EpochDone& e) {
    if (!header_shown_) console_.line(layout_.header());
    header_shown_ = true;
    console_.line(
        layout_.row({std::to_string(e.epoch), fmt::format("{:.4f}", e.train_loss),
                     fmt::format("{:.4f}", e.train_acc), accuracy(e.test_acc),
                     format_seconds(e.seconds), timed_ ? speed_text(e.images_per_s) : "N/A"}));
  }

  void show_done(const TrainingDone& d) {
    const std::string steps =
        timed_ ? trf("{} steps in {}, {} on {}", d.steps, format_seconds(d.seconds),
                     speed_text(d.images_per_s), device_summary(d))
               : trf("{} steps in {} on {}", d.steps, format_seconds(d.seconds), device_summary(d));
    console_.line(d.test_acc ? trf("test accuracy {}, {}", accuracy(d.test_acc), steps) : steps);
    if (d.reached_s) {
      const std::string time = format_seconds(*d.reached_s);
      console_.line(resumed_ ? trf("accuracy reached {} after resuming, evaluations included", time)
                             : trf("accuracy reached after {}, evaluations included", time));
    }
    if (d.devices.size() > 1 && timed_) console_.line(split_text(d));
    if (!d.saved_file.empty()) console_.line(trf("weights saved to {}", d.saved_file));
    if (!d.checkpoint.empty()) console_.line(trf("checkpoint in {}", d.checkpoint));
  }

  Console& console_;
  bool header_shown_ = false;
  bool timed_ = true;
  bool resumed_ = false;
  std::optional<TrainingProfile> profile_;  // the latest
  const TableLayout layout_{{{LAB_TEXT("epoch"), 5, true},
                             {LAB_TEXT("train loss"), 10, true},
                             {LAB_TEXT("train acc"), 9, true},
                             {LAB_TEXT("test acc"), 8, true},
                             {LAB_TEXT("time"), 8, true},
                             {LAB_TEXT("speed"), 14, true}}};
};

}  // namespace

std::unique_ptr<Printer> make_training_table(Console& console) {
  return std::make_unique<TrainingTable>(console);
}

}  // namespace lab::app
