#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compute/core/book/book_runs.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

enum class XAxis { Step, Epoch, Time };

XAxis x_axis(const Panel& p) {
  return static_cast<XAxis>(p.view.forms.training.x_axis);
}

plot::Axis x_of(const Panel& p) {
  switch (x_axis(p)) {
    case XAxis::Step: return {.label = tr("step"), .min = 0, .whole = true};
    case XAxis::Epoch: return {.label = tr("epoch"), .min = 0};
    case XAxis::Time: return {.label = tr("training time"), .unit = "s", .min = 0};
  }
  return {};
}

const Column64& x_column(const Panel& p, const DeviceTracks& tracks) {
  switch (x_axis(p)) {
    case XAxis::Step: return tracks.step();
    case XAxis::Epoch: return tracks.epoch();
    case XAxis::Time: break;
  }
  return tracks.t_s();
}

template <typename Columns>
const Column64& x_column(const Panel& p, const Columns& columns) {
  switch (x_axis(p)) {
    case XAxis::Step: return columns.step;
    case XAxis::Epoch: return columns.epoch;
    case XAxis::Time: break;
  }
  return columns.t_s;
}

// Returns PyTorch's accuracy after ten epochs with the chapters' settings on the real data set, for
// ResNet-18 the mean of the runs recorded in the chapter's notebooks; empty for synthetic data.
std::vector<plot::Reference> published_accuracy(const Panel& p, const TrainingRun& run) {
  if (run.synthetic()) return {};
  const std::string& model = run.request().model;
  const auto at = [&](std::string text, double accuracy) {
    return plot::Reference{std::move(text), accuracy, p.ui.theme->muted, plot::Line::Dotted};
  };
  if (model == "resnet18") {
    const Spread one = chapter_accuracy(model, 1), two = chapter_accuracy(model, 2);
    return {at(trf("chapter, one GPU, {} runs of 10 epochs: {}", one.n, accuracy_text(one.mean)),
               one.mean),
            at(trf("chapter, two GPUs, {} runs of 10 epochs: {}", two.n, accuracy_text(two.mean)),
               two.mean)};
  }
  const auto pytorch = [&](double accuracy) {  // known to two digits
    return at(trf("PyTorch, chapter's settings, 10 epochs: {}", percent(accuracy)), accuracy);
  };
  if (model == "lenet") return {pytorch(0.81)};
  if (model == "mlp") return {pytorch(0.85)};
  if (model == "softmax") return {pytorch(0.83)};
  return {};
}

std::string point_text(const Panel& p, const TrainingRun& run, const StepColumns& s,
                       std::size_t i) {
  std::string text;
  if (s.weight[i] < 1) {
    text = trf("The last batch of the epoch has {:.0f} images.", s.images[i]);
  }
  add_row(text, tr("step"), fmt::format("{:.0f}", s.step[i]));
  add_row(text, tr("epoch"), fmt::format("{:.2f}", s.epoch[i]));
  add_row(text, tr("loss"), fmt::format("{:.4f}", s.loss[i]));
  add_row(text, tr("smoothed loss"), fmt::format("{:.4f}", smoothed_loss(p, run)[i]));
  add_row(text, tr("batch accuracy"), accuracy_text(s.accuracy[i]));
  add_row(text, tr("learning rate"), fmt::format("{:.3g}", s.lr[i]));
  if (!run.timed()) return text;
  if (s.weight[i] >= 1) add_row(text, tr("images/s"), format_si(s.images_per_s[i], ""));
  add_row(text, tr("training time"), format_seconds(s.t_s[i]));
  return text;
}

std::string point_text(const Panel& /*p*/, const TrainingRun& run, const EpochColumns& e,
                       std::size_t i) {
  std::string text;
  add_row(text, tr("epoch"), fmt::format("{:.0f}", e.epoch[i]));
  add_row(text, tr("train loss"), fmt::format("{:.4f}", e.train_loss[i]));
  add_row(text, tr("train accuracy"), accuracy_text(e.train_acc[i]));
  add_row(text, tr("test accuracy"), accuracy_text(e.test_acc[i]));
  if (!run.timed()) return text;
  add_row(text, tr("images/s"), format_si(e.images_per_s[i], ""));
  add_row(text, tr("training time"), format_seconds(e.seconds[i]));
  return text;
}

// Draws one run over steps or epochs.
template <typename Columns>
plot::Series line(const Panel& p, const ShownRun& shown, const Columns& columns, const Column64& y,
                  std::string label) {
  plot::Series s;
  // A run's columns keep their addresses while the run is kept, and only grow.
  s.append_key = fmt::format("{}/{}", shown.run->id(), static_cast<const void*>(&y));
  s.label = std::move(label);
  s.color = shown.color;
  s.line = run_line(*shown.run);
  s.alpha = shown.newest ? 1 : 0.75F;
  s.x = x_column(p, columns);
  s.y = y;
  const TrainingRun* run = shown.run;
  s.describe = [&p, run, &columns, name = shown.name](std::size_t i) {
    return name + "\n" + point_text(p, *run, columns, i);
  };
  return s;
}

// Dashed where it lies on the curve of another run, so that both are seen. Over time, curves of the
// same losses lie apart.
plot::Line curve_line(const Panel& p, const ShownRun& shown, plot::Line usual) {
  if (shown.below == nullptr || x_axis(p) == XAxis::Time) return usual;
  return usual == plot::Line::Dashed ? plot::Line::Dotted : plot::Line::Dashed;
}

// "2 runs coincide: LeNet, batch 256 and LeNet, batch 256 (2)."; empty if none do.
std::string coincidence_sentence(const Panel& p, const std::vector<ShownRun>& runs) {
  if (x_axis(p) == XAxis::Time) return {};
  std::vector<std::string> names;
  const TrainingRun* below = nullptr;
  for (const ShownRun& shown : runs) {
    if (shown.below == nullptr || (below != nullptr && shown.below != below)) continue;
    if (below == nullptr) names.push_back(run_name(p, *shown.below));
    below = shown.below;
    names.push_back(run_name(p, *shown.run));
  }
  if (names.empty()) return {};
  return trf("{} runs coincide: {}.", names.size(), fmt::format("{}", fmt::join(names, "; ")));
}

// Makes the series of raw values thin, pale, and absent from the legend.
plot::Series pale(plot::Series s) {
  s.alpha = 0.3F;
  s.width = 1;
  s.line = plot::Line::Solid;
  s.in_legend = false;
  s.label = trf("{}, raw", s.label);
  return s;
}

// Returns the name of a series: the run, if several are shown, and the curve.
std::string label_of(const ShownRun& shown, std::size_t runs, std::string_view curve) {
  if (runs > 1) return fmt::format("{}, {}", shown.name, curve);
  return shown.run->synthetic() ? trf("{}, synthetic", curve) : std::string(curve);
}

std::string stacked_text(const TrainingRun& run, std::size_t device, std::size_t i) {
  const std::vector<DeviceTrack>& all = run.devices().all();
  const double below = device > 0 ? all[device - 1].stacked[i] : 0;
  std::string text = lab::to_string(all[device].device);
  add_row(text, tr("step"), fmt::format("{:.0f}", run.devices().step()[i]));
  add_row(text, tr("images/s"), format_si(all[device].stacked[i] - below, ""));
  add_row(text, tr("share of the batch"), percent(all[device].shares[i]));
  return text;
}

// Adds the devices' contributions to the speed as a stack.
void stack_devices(const Panel& p, const TrainingRun& run, std::vector<plot::Series>& series) {
  constexpr std::size_t kMaxNames = 8;
  const DeviceTracks& tracks = run.devices();
  const std::vector<DeviceTrack>& all = tracks.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    plot::Series s;
    // Halving the resolution rewrites the columns, so the key includes it.
    s.append_key = fmt::format("{}/device/{}/{}", run.id(), i, tracks.steps_per_point());
    s.label = lab::to_string(all[i].device);
    if (tracks.ranks() > 1) s.label = trf("rank {}, {}", all[i].rank, s.label);
    if (all.size() > kMaxNames) s.group = tr("devices");
    s.color = device_color(*p.ui.theme, all[i].device);
    s.width = 1.5F;
    s.x = x_column(p, tracks);
    s.y = s.high = all[i].stacked;
    s.low = i > 0 ? all[i - 1].stacked : tracks.zeros();
    s.describe = [&run, i](std::size_t point) { return stacked_text(run, i, point); };
    series.push_back(std::move(s));
  }
}

// The changes of the newest run's settings, if it is shown.
std::vector<plot::Mark> marks(const Panel& p, const std::vector<ShownRun>& runs) {
  if (runs.empty() || !runs.back().newest) return {};
  const TrainingRun& run = *runs.back().run;
  const double per_epoch =
      run.started() ? static_cast<double>(std::max<std::int64_t>(run.started()->steps_per_epoch, 1))
                    : 1;
  std::vector<plot::Mark> marks;
  for (const TrainingChanged& change : run.changes()) {
    const auto step = static_cast<double>(change.step);
    const double x = x_axis(p) == XAxis::Step    ? step
                     : x_axis(p) == XAxis::Epoch ? step / per_epoch
                                                 : change.t_s;
    marks.push_back({x, change_text(change)});
  }
  return marks;
}

// A new run without a step leaves the older curves dimmed.
bool waiting(const Panel& p) {
  const TrainingRun* run = running_training(p);
  return run != nullptr && run->steps().size() == 0;
}

// The shown runs without those on emulated GPUs.
std::vector<ShownRun> timed_runs(const Panel& p) {
  std::vector<ShownRun> runs = shown_runs(p);
  std::erase_if(runs, [](const ShownRun& shown) { return !shown.run->timed(); });
  return runs;
}

// Whether the speed is drawn as a stack of the devices' parts.
bool is_stacked(const ShownRun& shown) {
  return shown.newest && !shown.run->devices().empty();
}

// What a plot of times says while it is empty.
const char* no_time_text(const TrainingRun& newest, const char* otherwise) {
  return newest.timed() ? otherwise : tr(kEmulatedGpu);
}

}  // namespace

std::string loss_text(double loss) {
  if (!std::isfinite(loss)) return "N/A";
  return std::abs(loss) < 1e3   ? fmt::format("{:.3f}", loss)
         : std::abs(loss) < 1e6 ? group_digits(fmt::format("{:.0f}", loss))
                                : fmt::format("{:.3g}", loss);
}

std::string accuracy_text(double accuracy) {
  return std::isfinite(accuracy) ? fmt::format("{:.1f} %", 100 * accuracy) : "N/A";
}

namespace {

std::vector<std::string> axis_names() {
  return {LAB_TEXT("Step"), LAB_TEXT("Epoch"), LAB_TEXT("Time")};
}

void axis_choice(const Panel& p) {
  segmented(p.ui, "training/x_axis", "", axis_names(), p.view.forms.training.x_axis,
            tr("Horizontal axis of the loss, accuracy and speed plots. Right-click a plot for "
               "more."));
}

void smoothing_choice(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  slider(p.ui, "training/smoothing", tr("Smoothing"), fmt::format("{:.2f}", form.smoothing),
         form.smoothing,
         {.max = kMostSmoothing,
          .hint = tr("Weight of the past in the exponential average of the loss, corrected for its "
                     "start; the values of the steps are pale behind it. 0.95 averages over about "
                     "20 steps, 0 not at all.")});
}

void log_choice(const Panel& p) {
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.px(4));
  checkbox(p.ui, "training/log_loss", tr("log y"), p.view.forms.training.log_loss,
           tr("Logarithmic loss: shows small changes of a small loss."));
}

// On one line if there is space, because the plot needs the height.
void loss_controls(const Panel& p) {
  constexpr float kOneLine = 450, kAxis = 216, kLog = 74;  // units
  if (width_left(p) < kOneLine) {
    axis_choice(p);
    Row row(p.ui, {1, -kLog});
    row.next();
    smoothing_choice(p);
    row.next();
    log_choice(p);
    return;
  }
  Row row(p.ui, {-kAxis, 1, -kLog});
  row.next();
  axis_choice(p);
  row.next();
  smoothing_choice(p);
  row.next();
  log_choice(p);
}

// The end of a linear axis: above the averages of the runs that have not diverged and the loss of a
// guess, since single batches stray far.
double highest_loss(const Panel& p, const std::vector<ShownRun>& runs) {
  constexpr double kReadable = 5;  // without any of them
  constexpr double kRoom = 1.1;
  double highest = 0;
  for (const ShownRun& shown : runs) {
    if (!shown.run->diverged_at()) {
      highest = std::fmax(highest, highest_smoothed_loss(p, *shown.run));
    }
    const std::size_t classes = shown.run->class_names().size();
    if (classes > 1) highest = std::max(highest, std::log(static_cast<double>(classes)));
  }
  return highest > 0 ? kRoom * highest : kReadable;
}

// The loss of a network that gives all classes the same probability.
std::vector<plot::Reference> guessing_loss(const Panel& p) {
  const TrainingRun* newest = newest_run(p);
  const std::size_t classes = newest == nullptr ? 0 : newest->class_names().size();
  if (classes < 2) return {};
  const double loss = std::log(static_cast<double>(classes));
  return {{trf("guessing among {0} classes: ln {0} = {1:.3f}", classes, loss), loss,
           p.ui.theme->muted, plot::Line::Dotted, /*label_below=*/true}};
}

// More than a third of the window: the plot that matters most.
float loss_height(const Panel& p) {
  constexpr float kShare = 0.36F, kLeast = 230;
  return std::max(kLeast, std::ceil(kShare * ImGui::GetIO().DisplaySize.y / p.ui.scale));
}

}  // namespace

void draw_loss_plot(const Panel& p) {
  Card card(
      p, "training/loss", tr("Loss"),
      {.hint = tr("Pale: every step. Solid: exponential average, computed from every step.")});
  if (!card) return;
  loss_controls(p);
  std::vector<plot::Series> series;
  const std::vector<ShownRun> runs = shown_runs(p);
  for (const ShownRun& shown : runs) {
    const StepColumns& s = shown.run->steps();
    if (shown.newest) series.push_back(pale(line(p, shown, s, s.loss, shown.name)));
    plot::Series smooth = line(p, shown, s, smoothed_loss(p, *shown.run), shown.name);
    smooth.append_key += fmt::format("/{}", p.view.forms.training.smoothing);
    smooth.line = curve_line(p, shown, smooth.line);
    series.push_back(std::move(smooth));
  }
  if (const std::string same = coincidence_sentence(p, runs); !same.empty()) {
    footnote(p.ui, same);
    record_item(p.ui, "training/coincide", "text", same);
  }
  const std::vector<plot::Mark> changes = marks(p, runs);
  const std::vector<plot::Reference> guessing = guessing_loss(p);
  const bool log = p.view.forms.training.log_loss;
  const plot::Axes axes{.x = x_of(p),
                        .y = {.label = tr("loss"),
                              .scale = log ? plot::Scale::Log10 : plot::Scale::Linear,
                              .max = log ? std::nullopt : std::optional(highest_loss(p, runs))}};
  plot::draw(p.ui, "training/plot/loss", axes, series,
             {.height = loss_height(p),
              .cursor = &p.view.cursor,
              .references = guessing,
              .marks = changes,
              .empty_text = tr("No step yet"),
              .legend = false,
              .lists_all = true,
              .dimmed = waiting(p)},
             p.out);
}

void draw_accuracy_plot(const Panel& p, const TrainingRun& newest) {
  Card card(p, "training/accuracy", tr("Accuracy"),
            {.hint = tr("Training: average over the epoch. Test: after each epoch, on images not "
                        "used for training. Pale: batches, smoothed."),
             .note = data_note(newest.synthetic())});
  if (!card) return;
  const std::string confused = confusion_sentence(newest);
  if (!confused.empty()) {
    muted(p.ui, confused);
    record_item(p.ui, "training/accuracy/confused", "text", confused);
  }
  std::vector<plot::Series> series;
  const std::vector<ShownRun> runs = shown_runs(p);
  for (const ShownRun& shown : runs) {
    const EpochColumns& e = shown.run->epochs();
    if (shown.newest) {
      const StepColumns& s = shown.run->steps();
      series.push_back(
          pale(line(p, shown, s, s.accuracy_smooth, label_of(shown, runs.size(), tr("batches")))));
    }
    plot::Series train = line(p, shown, e, e.train_acc, label_of(shown, runs.size(), tr("train")));
    train.line = curve_line(p, shown, plot::Line::Dashed);
    train.group = tr("train");
    series.push_back(std::move(train));
    plot::Series test = line(p, shown, e, e.test_acc, label_of(shown, runs.size(), tr("test")));
    test.line = curve_line(p, shown, test.line);
    test.marker = plot::Marker::Circle;
    test.group = tr("test");
    series.push_back(std::move(test));
  }
  const std::vector<plot::Reference> references = published_accuracy(p, newest);
  const plot::Axes axes{.x = x_of(p),
                        .y = {.label = tr("accuracy"), .min = 0, .max = 1, .percent = true}};
  plot::draw(p.ui, "training/plot/accuracy", axes, series,
             {.height = 220,
              .cursor = &p.view.cursor,
              .references = references,
              .empty_text = tr("No epoch yet"),
              .lists_all = true,
              .dimmed = waiting(p)},
             p.out);
}

void draw_speed_plot(const Panel& p, const TrainingRun& newest) {
  constexpr std::size_t kMostBand = 1 << 16;  // steps: a band is read anew in every frame
  constexpr float kTotalWidth = 3.5F;  // seen beside the line of the last device, which lies on it
  const std::vector<ShownRun> runs = timed_runs(p);
  const bool any_stacked = std::ranges::any_of(runs, is_stacked);
  Card card(p, "training/speed",
            any_stacked ? tr("Images per second, devices stacked") : tr("Images per second"),
            {.hint = tr("Images per step divided by its time, excluding data loading and "
                        "evaluation. Line: average over about 20 steps. Pale: their p10 to p90. "
                        "Several devices are stacked; the top edge is the total.")});
  if (!card) return;
  std::vector<plot::Series> series;
  double highest = 0;
  for (const ShownRun& shown : runs) {
    highest = std::max(highest, shown.run->highest_images_per_s());
    const StepColumns& s = shown.run->steps();
    const bool stacked = is_stacked(shown);
    plot::Series smooth = line(p, shown, s, s.images_per_s_smooth, shown.name);
    smooth.in_legend = any_stacked;
    if (shown.newest && s.size() <= kMostBand) {
      smooth.low = s.images_per_s_low;
      smooth.high = s.images_per_s_high;
    }
    if (stacked) {
      smooth.label = tr("total");
      smooth.width = kTotalWidth;
    } else if (any_stacked) {
      smooth.group = tr("other runs");
    }
    series.push_back(std::move(smooth));
    if (stacked) stack_devices(p, *shown.run, series);
  }
  constexpr double kRoom = 1.2;  // single steps stray far
  plot::Axes axes{.x = x_of(p), .y = {.label = "images/s", .min = 0}};
  if (highest > 0) axes.y.max = kRoom * highest;
  plot::draw(p.ui, "training/plot/speed", axes, series,
             {.height = 220,
              .cursor = &p.view.cursor,
              .empty_text = no_time_text(newest, tr("No step yet")),
              .dimmed = waiting(p)},
             p.out);
}

void draw_seconds_plot(const Panel& p, const TrainingRun& newest) {
  Card card(p, "training/seconds", tr("Time per epoch"),
            {.hint = tr("Training time of each epoch, excluding evaluation and pauses.")});
  if (!card) return;
  std::vector<plot::Series> series;
  const std::vector<ShownRun> runs = timed_runs(p);
  for (const ShownRun& shown : runs) {
    const EpochColumns& e = shown.run->epochs();
    plot::Series s = line(p, shown, e, e.seconds, shown.name);
    s.x = e.epoch;
    s.bars = runs.size() == 1;  // bars of several runs would hide each other
    if (!s.bars) s.marker = plot::Marker::Square;
    series.push_back(std::move(s));
  }
  const plot::Axes axes{.x = {.label = tr("epoch"), .min = 0.5, .whole = true},
                        .y = {.label = tr("time"), .unit = "s", .min = 0}};
  plot::draw(p.ui, "training/plot/seconds", axes, series,
             {.height = 220,
              .empty_text = no_time_text(newest, tr("No epoch yet")),
              .legend = false,
              .dimmed = waiting(p)},
             p.out);
}

}  // namespace lab::ui
