// The Scaling page: measures increasing device counts one after the other and predicts larger ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/run_tabs.h"
#include "ui/pages/scaling/scaling_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
// --- table of all numbers -------------------------------------------------------------------

namespace {

constexpr float kWideTable = 900;  // units; at least this wide, the split has columns

std::string step_time_text(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : "0 s";
}

std::string spread_text(const Timing& t) {
  if (t.median_s <= 0) return tr("N/A");
  return trf("{} to {}", format_seconds(t.p10_s), format_seconds(t.p90_s));
}

std::vector<Column> columns_of(bool wide) {
  std::vector<Column> columns = {
      {LAB_TEXT("Devices"), 0.8F, true, {}},
      {LAB_TEXT("Step"), 1, true, LAB_TEXT("Median time of a step.")},
      {LAB_TEXT("Images/s"), 1, true, {}},
      {LAB_TEXT("Speed-up"), 0.9F, true, LAB_TEXT("Relative to one device.")},
      {LAB_TEXT("Efficiency"), 1, true, LAB_TEXT("Speed-up divided by the device count.")}};
  if (wide) {
    columns.push_back({LAB_TEXT("Compute"), 1, true, LAB_TEXT("Mean over the devices.")});
    columns.push_back(
        {LAB_TEXT("Exposed"), 1, true, LAB_TEXT("All-reduce time not hidden behind backward.")});
    columns.push_back(
        {LAB_TEXT("Waiting"), 1, true, LAB_TEXT("For the slowest device and for the process.")});
    columns.push_back({"n", 0.6F, true, LAB_TEXT("Timed steps, excluding warm-up.")});
    columns.push_back({LAB_TEXT("p10 to p90"), 1.6F, true, LAB_TEXT("Spread of the steps.")});
  }
  columns.push_back({LAB_TEXT("Accuracy"), 1, true, LAB_TEXT("On the test images.")});
  columns.push_back({LAB_TEXT("State"), 1.2F, false, {}});
  return columns;
}

bool is_unsteady(const ScalingResults& results, const ScalingPoint& point) {
  const ScalingCurve& curve = results.measured(point.mode);
  const ScalingPoint* const own = curve.at(point.devices);
  return own != nullptr && curve.is_unsteady(static_cast<std::size_t>(own - curve.points.data()));
}

void split_cells(const Panel& p, const StepParts& parts) {
  cell(p.ui, step_time_text(parts.compute_s));
  cell(p.ui, step_time_text(parts.exposed_s));
  cell(p.ui, step_time_text(parts.wait_s));
}

void measured_row(const Panel& p, const ScalingResults& results, const ScalingPoint& point,
                  bool wide) {
  table_row(p.ui);
  cell(p.ui, std::to_string(point.devices), describe(results, point));
  const bool unsteady = is_unsteady(results, point);
  cell(p.ui, step_time_text(point.step.median_s), "", point.step.unstable);
  cell(p.ui, format_si(point.images_per_s, ""), "", point.step.unstable);
  cell(p.ui, times_text(point.speedup), "", unsteady && point.devices > 1);
  cell(p.ui, percent(point.efficiency), "", unsteady && point.devices > 1);
  if (wide) {
    split_cells(p, parts_of(point));
    cell(p.ui, std::to_string(point.step.n));
    cell(p.ui, spread_text(point.step));
  }
  if (point.test_acc) {
    cell(p.ui, fmt::format("{:.2f} %", *point.test_acc * 100));
  } else {
    cell(p.ui, tr("N/A"), tr("Not requested, or not available yet."));
  }
  if (point.shares_cores) {
    cell(p.ui, tr("shares cores"),
         tr("More devices than cores: no speed-up beyond the number of cores."));
  } else if (unsteady) {
    cell(p.ui, tr("unsteady"), tr("The step times vary more than on an idle machine."));
  } else {
    cell(p.ui, tr("measured"));
  }
}

void predicted_row(const Panel& p, const ScalingResults& results, const ScalingPrediction& point,
                   bool wide) {
  table_row(p.ui);
  cell(p.ui, std::to_string(point.devices), describe(results, point));
  cell(p.ui, step_time_text(point.step_s));
  cell(p.ui, format_si(point.images_per_s, ""));
  cell(p.ui, times_text(point.speedup));
  cell(p.ui, percent(point.efficiency));
  if (wide) {
    split_cells(p, parts_of(point));
    cell(p.ui, tr("N/A"), tr("Calculated, not measured."));
    cell(p.ui, tr("N/A"), tr("Calculated, not measured."));
  }
  cell(p.ui, tr("N/A"), tr("Predictions cover time only."));
  if (point.measured_step_s) {
    cell(p.ui, tr("model"),
         tr("The model's result for this machine, to compare with the measurement."));
  } else {
    cell(p.ui, tr("prediction"), tr("Calculated, not measured."));
  }
}

void draw_scaling_table(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  const ScalingResults& results = shown(kept);
  Card card(p, "scaling/table_card", "", {.dimmed = is_old(kept)});
  if (!card) return;
  bool& open = p.view.forms.scaling.show_table;
  foldout(p.ui, "scaling/show_table", tr("All numbers and skipped cases"), open);
  if (!open) return;
  const bool wide = width_left(p) > kWideTable;
  if (begin_table(p.ui, "scaling/table", columns_of(wide))) {
    for (const ScalingPoint& point : results.measured(mode).points) {
      measured_row(p, results, point, wide);
    }
    for (const ScalingPrediction& point : results.checked(mode).points) {
      predicted_row(p, results, point, wide);
    }
    for (const ScalingPrediction& point : results.predicted(mode).points) {
      predicted_row(p, results, point, wide);
    }
    end_table(p.ui);
  }
  for (const Skipped& s : results.skipped) {
    muted(p.ui, trf("Skipped {}: {}", s.what, tr(s.reason)));
  }
}

// --- the page -------------------------------------------------------------------------------

std::vector<std::string> shown_mode_names() {
  return {LAB_TEXT("Strong: one batch divided"), LAB_TEXT("Weak: a batch for each device")};
}

// The quickest way to a prediction: times one device, unless the form has a time to start from.
StartScaling quick_prediction(const ScalingForm& form, const MachineInfo& machine) {
  const bool measured = static_cast<ComputeTime>(form.compute_time) == ComputeTime::Measured;
  StartScaling command = to_command(form, machine, measured);
  if (!measured) return command;
  command.counts = {1};
  command.accuracy = false;
  return command;
}

std::string predict_label(const Panel& p) {
  return trf("Predict for {} devices", p.view.forms.scaling.request.predict_devices);
}

void predict_button(const Panel& p) {
  const ScalingForm& form = p.view.forms.scaling;
  const MachineInfo& machine = p.model.machine();
  StartScaling command;
  std::string why = busy_reason(p);
  if (why.empty()) why = problem([&] { command = quick_prediction(form, machine); });
  const char* const hint = command.measure
                               ? tr("Times one device only, and calculates the rest from it")
                               : tr("Calculates from the step time in the settings");
  if (button(p.ui, "scaling/predict_one", predict_label(p),
             {.enabled = why.empty(), .hint = why.empty() ? hint : why})) {
    send(p, command);
  }
}

void empty_card(const Panel& p) {
  Card card(p, "scaling/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  if (runs(p, Page::Scaling)) {
    muted(p.ui,
          tr("Training on the first device count; its step time appears here once measured."));
    return;
  }
  const bool predicts = p.view.forms.scaling.request.predict_devices > 0;
  const float beside = predicts ? room_beside(p, predict_label(p)) : 0;
  const auto predict = [&] {
    if (predicts) draw_beside(p, "scaling/empty", [&] { predict_button(p); });
  };
  if (const int devices = devices_to_split_into(p); devices > 0) {
    const char* const text =
        tr("Nothing has been measured yet. Scaling compares one device with several, and the cores "
           "are one device here: split them first, or time this one and predict the others.");
    if (empty_state(p.ui, "scaling/empty", text, split_label(devices), "", beside)) {
      p.view.confirm_restart = RestartLab{.cpu_devices = devices};
    }
    return predict();
  }
  empty_page(
      p, "scaling/empty",
      tr("Nothing has been measured yet. The same training runs on one device, then on "
         "more; the plots show what each one adds and costs."),
      tr("Measure scaling"),
      [&] { return to_command(p.view.forms.scaling, p.model.machine(), true); }, beside);
  predict();
}

// Returns the displayed mode: the chosen one if it has results.
ScalingMode mode_of(const Panel& p, const ScalingResults& results) {
  ScalingForm& form = p.view.forms.scaling;
  const bool strong = results.has(ScalingMode::Strong), weak = results.has(ScalingMode::Weak);
  if (strong && weak) {
    segmented(p.ui, "scaling/shown_mode", "", shown_mode_names(), form.shown_mode,
              tr("Strong: all devices share one batch. Weak: each device gets a full batch."));
    return static_cast<ScalingMode>(form.shown_mode);
  }
  return weak ? ScalingMode::Weak : ScalingMode::Strong;
}

struct ScalingFigure {
  const char* path;
  std::string label;
  std::string value;
  std::string hint;
  std::string range = {};  // of varying steps, "1.41 to 1.97"; empty where they hardly vary
  bool marked = false;     // as unsteady or disturbed
};

constexpr double kNarrow = 0.05;  // a range that is not worth a figure's second line

// Adds the range of the steps, p10 to p90, to a figure unless it is narrow. A figure from `rough`
// steps is marked.
void set_range(ScalingFigure& figure, double low, double high, std::string (*text)(double),
               bool rough) {
  figure.marked = rough;
  if (high - low < kNarrow * high && !rough) return;
  figure.range = text(low) == text(high) ? tr("unsteady") : trf("{} to {}", text(low), text(high));
}

// A single device has no speed-up.
std::vector<ScalingFigure> figures_of(const ScalingPoint& one, bool rough) {
  std::vector<ScalingFigure> figures = {
      {"scaling/figure/step", tr("step"), format_seconds(one.step.median_s),
       tr("Median time of a step. The range is that of the steps, p10 to p90.")},
      {"scaling/figure/images", tr("images/s"), format_si(one.images_per_s, ""),
       tr("Images per step divided by its median time.")}};
  const Timing& t = one.step;
  if (!rough && t.p90_s - t.p10_s < kNarrow * t.p90_s) return figures;
  const auto rate = [&](double step_s) {
    return format_si(static_cast<double>(one.batch) / step_s, "");
  };
  figures[0].range = trf("{} to {}", format_seconds(t.p10_s), format_seconds(t.p90_s));
  if (t.p10_s > 0) figures[1].range = trf("{} to {}", rate(t.p90_s), rate(t.p10_s));
  for (ScalingFigure& figure : figures) figure.marked = rough;
  return figures;
}

// Rough steps do not show what is hidden.
std::vector<ScalingFigure> figures_of_several(const ScalingCurve& curve, const ScalingPoint& best,
                                              bool rough) {
  const bool reduces = best.split.all_reduce_s > 0;
  const auto at = static_cast<std::size_t>(&best - curve.points.data());
  std::vector<ScalingFigure> figures = {
      {"scaling/figure/speedup", tr("speed-up"), trf("{} times", times_text(best.speedup)),
       tr("Images per second relative to one device. The range is that of the steps, p10 to "
          "p90.")},
      {"scaling/figure/efficiency", tr("efficiency"), percent(best.efficiency),
       tr("Speed-up divided by the number of devices. The range is that of the steps, p10 to "
          "p90.")},
      {"scaling/figure/hidden", tr("all-reduce hidden"),
       reduces ? percent(best.hidden_share) : tr("N/A"),
       tr("Share of the all-reduce time hidden behind backward.")}};
  set_range(figures[0], curve.speedup_low[at], curve.speedup_high[at], times_text, rough);
  set_range(figures[1], curve.efficiency_low[at], curve.efficiency_high[at], percent, rough);
  if (rough) figures.pop_back();
  return figures;
}

// "2 devices", "2 devices, 256 images each"
std::string measured_on_text(const ScalingPoint& point) {
  std::string devices = devices_text(point.devices);
  if (point.mode == ScalingMode::Strong || point.devices < 2) return devices;
  return trf("{}, {} images each", devices, point.batch / point.devices);
}

// "16 devices", "16 devices, DataParallel". The sentence names the link.
std::string predicted_on_text(const ScalingResults& results, const ScalingPrediction& point) {
  const bool one_process = results.request.style == ParallelStyle::DataParallel;
  return devices_text(point.devices) + (one_process ? ", DataParallel" : "");
}

std::vector<ScalingFigure> measured_figures(const ScalingResults& results, ScalingMode mode,
                                            bool rough) {
  const ScalingCurve& curve = results.measured(mode);
  const ScalingPoint* best = best_point(curve);
  if (best == nullptr) return {};
  if (best->devices == 1) return figures_of(*best, rough);
  return figures_of_several(curve, *best, rough);
}

// None for a withheld prediction. `rough`: it rests on rough steps.
std::vector<ScalingFigure> predicted_figures(const ScalingResults& results, ScalingMode mode,
                                             bool rough) {
  const PredictedCurve& predicted = results.predicted(mode);
  if (predicted.points.empty() || !results.withheld(mode).empty()) return {};
  const ScalingPrediction& most = predicted.points.back();
  const char* const hint =
      tr("Calculated, not measured. The range is that of the measured steps "
         "of one device, p10 to p90.");
  std::vector<ScalingFigure> figures = {
      {"scaling/figure/prediction", tr("speed-up"), trf("{} times", times_text(most.speedup)),
       hint},
      {"scaling/figure/predicted_efficiency", tr("efficiency"), percent(most.efficiency), hint}};
  set_range(figures[0], predicted.speedup_low.back(), predicted.speedup_high.back(), times_text,
            rough);
  set_range(figures[1], predicted.efficiency_low.back(), predicted.efficiency_high.back(), percent,
            rough);
  const std::optional<ModelMiss> miss = worst_miss(results.checked(mode).points);
  if (miss && !too_unsteady_to_check(results, mode)) {
    figures.push_back({"scaling/figure/check", tr("model's error"), percent(std::abs(miss->share)),
                       trf("The model is {}: its largest error at device counts that were "
                           "measured.",
                           miss->text())});
  }
  return figures;
}

// With a warning mark if the figure is marked.
void range_caption(const Panel& p, const std::string& range, bool marked) {
  if (!marked) return caption(p.ui, range);
  const Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float side = font->FontSize, indent = side + ui.px(4);
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({std::min(width, indent + text_size(font, range).x), side});
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_icon(list, kIconWarning, pos, side, styled(ui.theme->warning));
  draw_text_fitted(list, font, {pos.x + indent, pos.y}, width - indent, ui.theme->muted, range);
}

void draw_figures(const Panel& p, const std::vector<ScalingFigure>& figures) {
  constexpr float kLeast = 120;  // units
  const auto fit = static_cast<std::size_t>(std::max(1.0F, width_left(p) / kLeast));
  const std::size_t columns =
      std::min({std::size_t{3}, fit, std::max<std::size_t>(2, figures.size())});
  for (std::size_t first = 0; first < figures.size(); first += columns) {
    const std::vector<float> weights(columns, 1.0F);
    Row row(p.ui, weights);
    for (std::size_t i = first; i < std::min(first + columns, figures.size()); ++i) {
      row.next();
      const std::string& range = figures[i].range;
      ImGui::BeginGroup();
      caption(p.ui, figures[i].label);
      number(p.ui, figures[i].value, p.ui.fonts.title);
      if (!range.empty()) range_caption(p, range, figures[i].marked);
      ImGui::EndGroup();
      record_item(p.ui, figures[i].path, "figure", figures[i].label,
                  range.empty() ? figures[i].value : figures[i].value + ", " + range);
      hint(p.ui, figures[i].hint);
    }
  }
}

constexpr float kBesidePrediction = 720;  // units from which both cards are side by side

// In units. Leaves room for texts of the usual length, so that the plots below stay in place when
// results arrive.
float summary_height(const Panel& p) {
  constexpr float kFigures = 200, kTexts = 44000, kPadding = 32;
  return kFigures + kTexts / std::max(1.0F, width_left(p) - kPadding);
}

void say(const Panel& p, const std::string& path, const std::string& sentence, bool first) {
  if (sentence.empty()) return;
  first ? body(p.ui, sentence) : muted(p.ui, sentence);
  record_item(p.ui, path, "text", sentence);
}

// After a measurement that was disturbed, or that the model does not explain: the same again.
void measure_buttons(const Panel& p, const StartScaling& request) {
  const std::string why = busy_reason(p);
  measure_again_button(p, "scaling/measure_again", request);
  ImGui::SameLine(0, p.ui.px(8));
  constexpr std::int64_t kLonger = 3, kMostSteps = 1000;
  const std::int64_t before = request.steps;
  const std::int64_t steps = std::min(kMostSteps, kLonger * before);
  const std::string meaning = trf("Times {} steps per run instead of {}", steps, before);
  if (button(p.ui, "scaling/measure_longer", tr("Measure longer"),
             {.enabled = why.empty() && steps > before, .hint = why.empty() ? meaning : why})) {
    StartScaling longer = request;
    longer.steps = steps;
    send(p, longer);
  }
}

// In place of a withheld prediction. The button leads to the field, which begins with the measured
// time.
void withheld_state(const Panel& p, const ScalingPoint* one, std::string_view sentence) {
  const std::string_view label = runs(p, Page::Scaling) ? "" : tr("Type in the step time");
  if (empty_state(p.ui, "scaling/type_step", sentence, label)) {
    ScalingForm& form = p.view.forms.scaling;
    form.compute_time = static_cast<int>(ComputeTime::Typed);
    form.to_step_time = true;
    form.settings_open.open = true;
    if (one != nullptr) form.compute_ms = one->step.median_s * 1e3;
  }
}

// Above a prediction that the form's settings would change.
void other_settings_note(const Panel& p, const StartScaling& request) {
  const std::string text =
      trf("For other settings: {}, batch {}, {} over {}.", model_title(request.training.model),
          request.training.batch, devices_text(request.predict_devices), link_title(request.link));
  Row row(p.ui, {1, -button_width(p.ui, tr("Predict again"))});
  row.next();
  body(p.ui, text);
  record_item(p.ui, "scaling/other_settings", "text", text);
  row.next();
  draw_predict_button(p, "scaling/predict_again", tr("Predict again"), 0);
}

void measured_card(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                   const ScalingTexts& texts, float least = 0) {
  const ScalingResults& results = shown(kept);
  const std::string on = measured_on_text(*best_point(results.measured(mode)));
  const Card card(p, "scaling/summary", tr("Measured"),
                  {.least = least, .note = on, .dimmed = is_old(kept)});
  if (!card) return;
  draw_figures(p, measured_figures(results, mode, !texts.rough.empty()));
  for (std::size_t i = 0; i < texts.measured.size(); ++i) {
    const std::string path = fmt::format("scaling/sentence/{}", i);
    if (texts.measured[i] == texts.rough) {
      warning_sentence(p, path, texts.rough);
    } else {
      say(p, path, texts.measured[i], i == 0);
    }
  }
  const bool rough = !texts.rough.empty() || !results.withheld(mode).empty();
  if (rough && !runs(p, Page::Scaling)) measure_buttons(p, results.request);
}

// Whether the job that is running will predict, but has not yet.
bool is_awaited(const Panel& p, const Kept<ScalingResults>& kept, const ScalingTexts& texts) {
  return is_filling(p, kept) && kept.current.request.predict_devices > 0 && texts.predicted.empty();
}

void predicted_card(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                    const ScalingTexts& texts, float least = 0) {
  const ScalingResults& results = shown(kept);
  const auto& points = results.predicted(mode).points;
  const std::string on = points.empty() ? "" : predicted_on_text(results, points.back());
  const Card card(p, "scaling/predicted", tr("Predicted, not measured"),
                  {.least = least, .note = on, .dimmed = is_old(kept)});
  if (!card) return;
  // The card has its place from the start, so that nothing moves when the job ends.
  if (is_awaited(p, kept, texts)) {
    muted(p.ui, tr("Follows when all device counts are measured."));
    return;
  }
  if (!results.withheld(mode).empty()) {
    return withheld_state(p, results.measured(mode).at(1), texts.predicted);
  }
  const bool other = is_of_other_settings(p, results, mode);
  if (other) other_settings_note(p, results.request);
  const float alpha = ImGui::GetStyle().Alpha;
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, other ? alpha * kOtherSettingsAlpha : alpha);
  draw_figures(p, predicted_figures(results, mode, texts.rough_basis));
  const std::string fastest = texts.rough_basis ? "" : fastest_sentence(results.predicted(mode));
  say(p, "scaling/predicted_fastest", fastest, true);
  say(p, "scaling/prediction", texts.predicted, fastest.empty());
  say(p, "scaling/model_error", model_error_sentence(results, mode), false);
  ImGui::PopStyleVar();
}

// "+0.12 points"
std::string difference_text(double points) {
  constexpr double kInvisible = 0.005;
  return trf("{} points", std::abs(points) < kInvisible ? "0.00" : fmt::format("{:+.2f}", points));
}

// The accuracy on each device count, which should not depend on it.
void draw_scaling_accuracy(const Panel& p, const Kept<ScalingResults>& kept) {
  const ScalingResults& results = shown(kept);
  const ScalingCurve& curve = results.measured(ScalingMode::Strong);
  const bool synthetic = results.measured_with.training.data == DataSource::Synthetic;
  Card card(p, "scaling/accuracy_card", tr("Accuracy over devices"),
            {.hint = tr("Same batch, same seed: the number of devices must not change the result."),
             .note = data_note(synthetic),
             .dimmed = is_old(kept)});
  if (!card) return;
  const std::vector<Column> columns = {{LAB_TEXT("Devices"), 1, true, {}},
                                       {LAB_TEXT("Test accuracy"), 1.4F, true, {}},
                                       {LAB_TEXT("Difference"), 1.2F, true,
                                        LAB_TEXT("Percentage points relative to the first row.")}};
  if (begin_table(p.ui, "scaling/accuracy", columns)) {
    std::optional<double> first;
    for (const ScalingPoint& point : curve.points) {
      table_row(p.ui);
      cell(p.ui, std::to_string(point.devices), describe(results, point));
      if (!point.test_acc) {
        cell(p.ui, tr("N/A"), tr("Not requested, or not available yet."));
        cell(p.ui, tr("N/A"));
        continue;
      }
      if (!first) first = point.test_acc;
      cell(p.ui, fmt::format("{:.2f} %", *point.test_acc * 100));
      cell(p.ui, difference_text((*point.test_acc - *first) * 100));
    }
    end_table(p.ui);
  }
  const std::string sentence = accuracy_sentence(curve);
  if (sentence.empty()) return;
  muted(p.ui, sentence);
  record_item(p.ui, "scaling/accuracy_sentence", "text", sentence);
}

// Accuracy is measured with the batch of strong scaling, if it was requested.
bool has_accuracy(const ScalingResults& results, ScalingMode mode) {
  return mode == ScalingMode::Strong && results.measured_with.accuracy &&
         !results.measured(mode).points.empty();
}

void scaling_results(const Panel& p) {
  failure_box(p, Page::Scaling);
  const KeptRuns<ScalingResults>& all = p.model.scaling_runs();
  RunTabs& tabs = p.view.forms.scaling.tabs;
  constexpr std::array kKinds = {RunKind::Sweep};
  const Kept<ScalingResults>& kept = run_tabs(p, Page::Scaling, all, tabs, {}, kKinds);
  if (shows_last_run(all, tabs)) outcome_notes(p, Page::Scaling);
  if (shown(kept).empty()) {
    empty_card(p);
    return;
  }
  const ScalingMode mode = mode_of(p, shown(kept));
  draw_scaling_summary(p, kept, mode);
  draw_speedup_plots(p, kept, mode);
  if (!has_accuracy(shown(kept), mode)) {
    draw_scaling_steps(p, kept, mode, spare_height(p));
  } else {
    Pair pair(p, 680, spare_height(p));
    pair.next();
    draw_scaling_steps(p, kept, mode);
    pair.next();
    draw_scaling_accuracy(p, kept);
  }
  draw_scaling_timeline(p, kept, mode);
  draw_scaling_table(p, kept, mode);
  if (shown(kept).has_prediction()) draw_model_check(p);
}

}  // namespace

void draw_scaling_summary(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  const ScalingResults& results = shown(kept);
  const bool measured = !results.measured(mode).points.empty();
  const ScalingTexts texts = scaling_texts(results, mode);
  const bool predicted = !texts.predicted.empty() || is_awaited(p, kept, texts);
  if (!measured || !predicted) {
    if (measured) measured_card(p, kept, mode, texts);
    if (predicted) predicted_card(p, kept, mode, texts);
    return;
  }
  Pair pair(p, kBesidePrediction);
  pair.next();
  const float least = pair.beside() ? summary_height(p) : 0;
  measured_card(p, kept, mode, texts, least);
  pair.next();
  predicted_card(p, kept, mode, texts, least);
}

void draw_scaling_page(const Panel& p) {
  draw_form_and_results(p, draw_scaling_form, scaling_results);
}

}  // namespace lab::ui
