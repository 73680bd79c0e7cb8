// The Training page: form, live curves, predictions, and runs for comparison.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
const TrainingRun* running_training(const Panel& p) {
  const auto& all = p.model.runs();
  const bool runs = p.model.job() && !all.empty() && all.back().id() == p.model.job()->id;
  return runs ? &all.back() : nullptr;
}

void draw_not_kept(const Panel& p, const std::string& path) {
  const char* const text = tr("Not kept over a restart; train again to record it.");
  muted(p.ui, text);
  record_item(p.ui, path + "/not_kept", "text", text);
}

std::string class_name(const TrainingRun& run, int label) {
  const auto& names = run.class_names();
  const auto i = static_cast<std::size_t>(label);
  return label >= 0 && i < names.size() ? tr(names[i]) : std::to_string(label);
}

// --- the page -------------------------------------------------------------------------------

namespace {

// `deleted`: there are runs that Undo brings back.
void empty_card(const Panel& p, bool deleted) {
  Card card(p, "training/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  constexpr std::array kFromTour = {TourQuestion::Training};
  const std::string known = tour_sentence(p, kFromTour);
  std::string text =
      !deleted
          ? fmt::format("{} {}", known.empty() ? tr("Nothing has been trained yet.") : known,
                        tr("Watch the loss of each step, the accuracy of each epoch, and which "
                           "classes the network confuses."))
          : tr("All runs are deleted; Undo brings them back until a training starts or the window "
               "closes.");
  const std::string time = estimate_sentence(p);
  if (!time.empty()) text += " " + time;
  empty_page(p, "training/empty", text, tr("Train"), [&] { return training_command(p); });
}

struct TrainingFigure {
  const char* path;
  std::string label;
  std::string value;
  std::string hint;
  bool pending = false;  // the value says when there will be one
  // For a disturbed speed, which is marked: why, and the mean if it is notably lower.
  std::string disturbed = {}, mean = {};
  std::string reason = {};  // below the value
};

// The newest value of a column of epochs, named with its epoch: the loss beside it is newer.
TrainingFigure accuracy_figure(const char* path, const char* name, const EpochColumns& epochs,
                               const Column64& column, const char* hint) {
  for (std::size_t i = column.size(); i > 0; --i) {
    if (!std::isfinite(column[i - 1])) continue;
    return {path, trf("{}, epoch {:.0f}", name, epochs.epoch[i - 1]), accuracy_text(column[i - 1]),
            hint};
  }
  if (epochs.size() == 0) return {path, name, tr("after epoch 1"), hint, /*pending=*/true};
  return {path, name, "N/A", hint};
}

// While the run goes on the latest speed, then that of the median step, as in the list.
TrainingFigure speed_figure(const Panel& p, const TrainingRun& run) {
  const StepColumns& steps = run.steps();
  const bool ended = running_training(p) != &run;
  TrainingFigure figure{"training/figure/speed",
                        ended ? tr("images/s, median step") : tr("images/s, smoothed"), "N/A",
                        run.timed() ? tr("Training images per second of step time, which includes "
                                         "the gathering of each batch "
                                         "but no evaluation.")
                                    : tr(kEmulatedGpu)};
  if (!run.timed() || steps.size() == 0) return figure;
  if (!ended) {
    figure.value = format_si(steps.images_per_s_smooth.back(), "");
    return figure;
  }
  figure.value = format_si(run.typical_images_per_s(), "");
  if (const std::optional<double> mean = run.lower_mean_images_per_s()) {
    constexpr double kFar = 1.5;  // neither of the two is the speed then
    if (run.typical_images_per_s() > kFar * *mean) {
      figure.label = tr("images/s: median; mean");
      figure.value += "; " + format_si(*mean, "");
      figure.reason = tr("Some steps took far longer than the median.");
    } else {
      figure.mean = trf("mean {}", format_si(*mean, ""));
    }
  }
  if (run.is_speed_disturbed()) {
    figure.disturbed = tr("Other programs or the host slowed this run.");
  }
  if (!run.done()) return figure;
  figure.hint +=
      '\n' + trf("The median step takes {}; the mean of all steps is {} images/s, "
                 "interruptions included.",
                 format_seconds(run.median_step_s()), format_si(run.done()->images_per_s, ""));
  return figure;
}

// As high as a figure, so that nothing moves once there is one.
void pending_figure(const Panel& p, const std::string& text) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float high = p.ui.fonts.title->FontSize;
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({std::min(width, text_size(p.ui.fonts.body, text).x), high});
  draw_text_fitted(ImGui::GetWindowDrawList(), p.ui.fonts.body,
                   {pos.x, pos.y + (high - p.ui.fonts.body->FontSize) / 2}, width,
                   p.ui.theme->muted, text);
}

// The smoothed loss, or "N/A" before the first step and once the loss is no longer a number.
std::string latest_loss(const Panel& p, const TrainingRun& run) {
  const Column64& loss = run.steps().loss;
  if (loss.empty() || !std::isfinite(loss.back())) return tr("N/A");
  return loss_text(smoothed_loss(p, run).back());
}

// Shows four key numbers of the run.
void summary_card(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/summary", "");
  if (!card) return;
  const EpochColumns& epochs = run.epochs();
  body(p.ui, run_name(p, run));
  record_item(p.ui, "training/run_name", "text", run_name(p, run));
  if (run.diverged_at()) {
    ImGui::SameLine(0, p.ui.px(12));
    const std::string text = trf("diverged at step {}", *run.diverged_at());
    badge(p.ui, text, Tone::Warning);
    record_item(p.ui, "training/diverged_at", "badge", text);
  }
  const std::array<TrainingFigure, 4> figures = {{
      {"training/figure/loss", tr("loss, smoothed"), latest_loss(p, run),
       tr("Mean cross-entropy of the batch; exponential average as in the plot.")},
      accuracy_figure("training/figure/train_acc", tr("train accuracy"), epochs, epochs.train_acc,
                      tr("Share of the training images classified correctly during that epoch.")),
      accuracy_figure("training/figure/test_acc", tr("test accuracy"), epochs, epochs.test_acc,
                      tr("Share of the test images classified correctly after that epoch; none is "
                         "used for training.")),
      speed_figure(p, run),
  }};
  const std::size_t columns = width_left(p) > 640 ? 4 : 2;
  for (std::size_t first = 0; first < figures.size(); first += columns) {
    const std::vector<float> weights(columns, 1.0F);
    Row row(p.ui, weights);
    for (std::size_t i = first; i < first + columns; ++i) {
      row.next();
      ImGui::BeginGroup();
      caption(p.ui, figures[i].label);
      if (figures[i].pending) {
        pending_figure(p, figures[i].value);
      } else if (figures[i].value.find(' ') == std::string::npos || !figures[i].reason.empty()) {
        title(p.ui, figures[i].value);
      } else {
        number(p.ui, figures[i].value, p.ui.fonts.title);
      }
      const float high = p.ui.fonts.title->FontSize;
      warning_mark(p, figures[i].path, figures[i].disturbed, high);
      if (!figures[i].mean.empty()) {
        ImGui::SameLine(0, p.ui.px(6));
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (high - p.ui.fonts.caption->FontSize) / 2);
        caption(p.ui, figures[i].mean);
      }
      if (!figures[i].reason.empty()) {
        footnote(p.ui, figures[i].reason);
        record_item(p.ui, std::string(figures[i].path) + "/reason", "text", figures[i].reason);
      }
      ImGui::EndGroup();
      record_item(p.ui, figures[i].path, "figure", figures[i].label,
                  figures[i].mean.empty()
                      ? figures[i].value
                      : fmt::format("{}, {}", figures[i].value, figures[i].mean));
      hint(p.ui, figures[i].hint);
    }
  }
}

// The loss with the runs beside it, or below it where there is no space.
void loss_and_runs(const Panel& p) {
  constexpr float kBeside = 700, kList = 284;  // units
  if (width_left(p) < kBeside) {
    draw_loss_plot(p);
    draw_training_runs(p, 0);
    return;
  }
  Row row(p.ui, {1, -kList});
  row.next();
  draw_loss_plot(p);
  const float height = ImGui::GetItemRectSize().y / p.ui.scale;
  row.next();
  draw_training_runs(p, height);
}

// Says that the loss of a run of this session has left all bounds, and what to do.
void divergence_box(const Panel& p, const TrainingRun& run) {
  if (!run.diverged_at() || run.restored() || p.model.state(Page::Training).phase == Phase::Failed)
    return;
  const double usual = find_model(run.request().model)->learning_rate;
  const std::string rate = fmt::format("{:g}", run.steps().lr.back());
  const std::string loss = latest_loss(p, run);
  error_box(p.ui, "training/diverged",
            running_training(p) == &run
                ? trf("Diverged at step {}: the smoothed loss is {} at a learning rate of {}. The "
                      "weights rarely recover: stop, lower the rate (the model's default is {:g}), "
                      "and train again.",
                      *run.diverged_at(), loss, rate, usual)
                : trf("Diverged at step {}: the smoothed loss is {} at a learning rate of {}. "
                      "Lower the rate (the model's default is {:g}) and train again.",
                      *run.diverged_at(), loss, rate, usual));
}

constexpr double kUsualBatch = 256;  // of ModelFacts::accuracy_steps

// Whether a run has seen as many images as its model usually learns from.
bool had_usual_images(const TrainingRun& run) {
  const auto images =
      static_cast<double>(run.steps().size()) * static_cast<double>(run.request().batch);
  return images >=
         kUsualBatch * static_cast<double>(find_model(run.request().model)->accuracy_steps);
}

// About how many steps of the run have the images from which its model usually learns: two digits.
std::string usual_steps(const TrainingRun& run) {
  const auto images =
      kUsualBatch * static_cast<double>(find_model(run.request().model)->accuracy_steps);
  const double steps = std::ceil(images / static_cast<double>(run.request().batch));
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(steps)) - 1));
  return group_digits(fmt::format("{:.0f}", std::round(steps / unit) * unit));
}

// What a run lacks whose accuracy is that of a guess: steps or, after enough, another rate.
std::string chance_advice(const TrainingRun& run) {
  const ModelFacts& model = *find_model(run.request().model);
  if (!had_usual_images(run)) {
    return trf(
        "{} may need up to about {} steps of {} images: train on more images or for more epochs.",
        model.title, usual_steps(run), run.request().batch);
  }
  return trf("Try another learning rate (the model's default is {:g}), or choose a preset.",
             model.learning_rate);
}

// What a finished run shows and needs that has hardly learnt, or memorised its training images;
// empty for others.
std::string learning_advice(const TrainingRun& run) {
  const std::size_t classes = run.class_names().size();
  const double train = run.epochs().train_acc.back(), test = run.epochs().test_acc.back();
  if (classes > 1 && is_guessing(test, classes)) {
    constexpr double kNoBetter = 1.2;  // times chance
    const auto epoch = run.epochs().epoch.back();
    const std::string accuracy = accuracy_text(test), advice = chance_advice(run);
    return test * static_cast<double>(classes) <= kNoBetter
               ? trf("After epoch {:.0f} the test accuracy is {}, no better than guessing among {} "
                     "classes. {}",
                     epoch, accuracy, classes, advice)
               : trf("After epoch {:.0f} the test accuracy is {}, little better than guessing "
                     "among {} classes. {}",
                     epoch, accuracy, classes, advice);
  }
  constexpr double kMuchBetter = 0.15;
  if (!(train - test >= kMuchBetter)) return {};  // also if it was not evaluated
  return trf(
      "The train accuracy is {}, the test accuracy only {}: the network has memorised "
      "training images. Train on more images or for fewer epochs.",
      accuracy_text(train), accuracy_text(test));
}

// While a run's loss is still that of a guess.
void guessing_box(const Panel& p, const TrainingRun& run) {
  constexpr std::size_t kFewest = 100;  // steps
  constexpr double kLearns = 0.98;      // of the loss of a guess
  const std::size_t classes = run.class_names().size();
  if (running_training(p) != &run || classes < 2 || run.steps().size() < kFewest) return;
  const double loss = smoothed_loss(p, run).back();
  if (run.diverged_at() || !(loss > kLearns * std::log(static_cast<double>(classes)))) return;
  const ModelFacts& model = *find_model(run.request().model);
  const std::string more =
      had_usual_images(run) ? chance_advice(run)
                            : trf("{} may need up to about {} steps of {} images before it falls.",
                                  model.title, usual_steps(run), run.request().batch);
  note_box(p.ui, "training/guessing",
           trf("The loss is still that of guessing among {} classes. {}", classes, more));
}

void advice_box(const Panel& p, const TrainingRun& run) {
  if (run.restored() || running_training(p) == &run || run.diverged_at() ||
      run.epochs().size() == 0)
    return;
  const std::string advice = learning_advice(run);
  if (!advice.empty()) note_box(p.ui, "training/advice", advice);
}

// Whether the page's last job was this training, not a measured estimate or a download.
bool is_last_job(const Panel& p, const TrainingRun& run) {
  return p.model.state(Page::Training).job == run.id();
}

// Below the loss, so that a note at the end of a run does not move the curves.
void notes(const Panel& p, const TrainingRun& run) {
  divergence_box(p, run);
  guessing_box(p, run);
  advice_box(p, run);
  if (!is_last_job(p, run)) return;
  outcome_notes(p, Page::Training, run.is_speed_disturbed() ? Figures::Marked : Figures::Unmarked);
}

void plots(const Panel& p, const TrainingRun& newest) {
  loss_and_runs(p);
  notes(p, newest);
  {
    Pair pair(p);
    pair.next();
    draw_accuracy_plot(p, newest);
    pair.next();
    draw_speed_plot(p, newest);
  }
  draw_training_devices(p, newest);
  if (newest.request().timeline) draw_training_timeline(p, newest);
  if (profile_requested(newest)) draw_training_layers(p, newest);
  draw_training_insight(p, newest);
  {
    constexpr float kConfusion = 1240;  // units, beside which its numbers can be read
    Pair pair(p, kConfusion);
    pair.next();
    draw_seconds_plot(p, newest);
    pair.next();
    draw_confusion(p, newest);
  }
  draw_predictions(p, newest);
  if (!profile_requested(newest)) draw_training_layers(p, newest);
  if (!newest.request().timeline) draw_training_timeline(p, newest);
}

void training_results(const Panel& p) {
  failure_box(p, Page::Training);
  const TrainingRun* newest = newest_run(p);
  if (newest == nullptr || !is_last_job(p, *newest)) outcome_notes(p, Page::Training);
  if (newest == nullptr) {
    const bool deleted = !p.view.forms.training.removed.empty();
    if (deleted) draw_training_runs(p, 0);
    empty_card(p, deleted);
    return;
  }
  summary_card(p, *newest);
  plots(p, *newest);
}

}  // namespace

void draw_training_page(const Panel& p) {
  draw_form_and_results(p, draw_training_form, training_results);
}

}  // namespace lab::ui
