// Shows where a step's time goes, layer by layer, for each profiled kind of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/step_parts.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr const char* kOtherTime = LAB_TEXT("other");  // the layer of the rest of the step

constexpr std::size_t kMaxLayers = 14;  // unless unfolded
constexpr float kMethods = 640;         // units; at least this wide, the algorithms have a column

std::vector<std::string> layer_order_names() {
  return {LAB_TEXT("Longest first"), LAB_TEXT("As in the network")};
}

// --- colours --------------------------------------------------------------------------------

enum class PassTone { Forward, Backward, Once };

// One hue per kind of kernels, pale for forward. Work done once per step is grey.
ImU32 tone_color(const Theme& theme, Kernels kernels, PassTone tone) {
  constexpr int kLabHue = 4, kLibraryHue = 0;  // blue and orange
  if (tone == PassTone::Once) return once_color(theme);
  const ImU32 hue = series_color(theme, kernels == Kernels::Lab ? kLabHue : kLibraryHue);
  return tone == PassTone::Backward ? backward_color(theme, hue) : forward_color(theme, hue);
}

// "forward", or "lab forward" where both kinds of kernels are shown.
std::string pass_name(Kernels kernels, StepPhase phase, bool several) {
  if (!several) return name_of(phase);
  return kernels == Kernels::Lab ? trf("lab {}", name_of(phase))
                                 : trf("library {}", name_of(phase));
}

// --- bars -----------------------------------------------------------------------------------

// Left edges and widths of a line's columns, in pixels from the line's left edge.
struct LayerColumns {
  float name = 0, bar = 0, value = 0, method = 0;  // widths; method is 0 without that column
  float line = 0, side = 0;                        // height of a line and of each of its sides
  double full_s = 0;                               // duration that a full bar represents
};

// "winograd4", or "winograd4 · gemm" if the passes differ.
std::string methods_text(const LayerSide& side) {
  const std::string forward = side.forward == nullptr ? "" : side.forward->method;
  const std::string backward = side.backward == nullptr ? "" : side.backward->method;
  if (forward.empty() || backward.empty() || forward == backward) {
    return forward.empty() ? backward : forward;
  }
  return forward + " · " + backward;
}

std::string value_text(const ProfileTotal& total, const LayerSide& side) {
  const double step_s = total.step.median_s;
  if (side.seconds() <= 0 || step_s <= 0) return "N/A";
  return fmt::format("{}  {}", format_seconds(side.seconds()), percent(side.seconds() / step_s));
}

LayerColumns columns_of(const Panel& p, const TrainingProfile& profile,
                        const std::vector<ProfileLayer>& layers, float width) {
  const Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  LayerColumns c;
  const std::size_t sides = profile.totals.size();
  c.side = ui.px(sides > 1 ? 16 : 22);
  c.line = c.side * static_cast<float>(sides) + ui.px(sides > 1 ? 8 : 2);
  for (const ProfileLayer& layer : layers) {
    c.name = std::max(c.name, text_size(font, title_of(*layer.name)).x + ui.px(20));
    for (std::size_t i = 0; i < sides; ++i) {
      const LayerSide& side = layer.sides[i];
      c.value = std::max(c.value, text_size(font, value_text(profile.totals[i], side)).x);
      c.method = std::max(c.method, text_size(font, methods_text(side)).x);
    }
  }
  if (c.method > 0) c.method = std::max(c.method, text_size(font, tr("algorithm")).x);
  c.name = std::min(c.name, width * 0.34F);
  c.value += ui.px(14);
  c.method =
      c.method > 0 && width >= ui.px(kMethods) ? std::min(c.method + ui.px(16), width * 0.28F) : 0;
  c.bar = std::max(ui.px(24), width - c.name - c.value - c.method);
  return c;
}

// Includes folded layers, so that bars keep their length when more layers are unfolded.
double longest_side(const std::vector<ProfileLayer>& layers) {
  double longest_s = 0;
  for (const ProfileLayer& layer : layers) {
    for (const LayerSide& side : layer.sides) longest_s = std::max(longest_s, side.seconds());
  }
  return longest_s;
}

void draw_labels(const Panel& p, const LayerColumns& c) {
  const Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, right = pos.x + width - c.method;
  const char* value = tr("time, share of step");
  draw_text(list, font, {pos.x + ui.px(4), pos.y}, ui.theme->muted, tr("layer"));
  draw_text(list, font, {right - text_size(font, value).x - ui.px(4), pos.y}, ui.theme->muted,
            value);
  if (c.method > 0) {
    draw_text_fitted(list, font, {right + ui.px(10), pos.y}, c.method - ui.px(12), ui.theme->muted,
                     tr("algorithm"));
  }
  ImGui::Dummy({width, font->FontSize + ui.px(6)});
}

// Draws forward, then backward, from the left edge of the bars.
void draw_bar(const Ui& ui, const LayerColumns& c, Kernels kernels, const LayerSide& side,
              ImVec2 at) {
  if (c.full_s <= 0) return;
  const std::array<std::pair<const ProfileRow*, PassTone>, 3> parts = {
      {{side.forward, PassTone::Forward},
       {side.backward, PassTone::Backward},
       {side.once, PassTone::Once}}};
  const float thick = std::round(std::min(ui.px(12), c.side - ui.px(4)));
  const float top = std::round(at.y + (c.side - thick) / 2);
  double done = 0;
  for (const auto& [row, tone] : parts) {
    if (row == nullptr || row->time.n == 0) continue;
    const auto x = [&](double s) {
      return std::round(at.x + c.bar * static_cast<float>(s / c.full_s));
    };
    const double next = done + row->time.median_s;
    ImGui::GetWindowDrawList()->AddRectFilled({x(done), top},
                                              {std::max(x(next), x(done) + 1), top + thick},
                                              styled(tone_color(*ui.theme, kernels, tone)));
    done = next;
  }
}

void draw_side(const Ui& ui, const LayerColumns& c, const ProfileTotal& total,
               const LayerSide& side, ImVec2 pos, float width) {
  ImFont* font = ui.fonts.caption;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_bar(ui, c, total.kernels, side, {pos.x + c.name, pos.y});
  const float y = pos.y + (c.side - font->FontSize) / 2;
  const std::string value = value_text(total, side);
  const float right = pos.x + width - c.method;
  draw_text(list, font, {right - text_size(font, value).x - ui.px(4), y}, ui.theme->text, value);
  if (c.method <= 0) return;
  draw_text_fitted(list, font, {right + ui.px(10), y}, c.method - ui.px(12), ui.theme->muted,
                   methods_text(side));
}

std::string layer_hint(const TrainingProfile& profile, const ProfileLayer& layer) {
  std::string text = title_of(*layer.name);
  if (text.find(layer.name->kind) == std::string::npos) text += ", " + tr(layer.name->kind);
  if (!layer.name->shape.empty()) text += "\n" + layer.name->shape;
  for (const LayerSide& side : layer.sides) {
    for (const ProfileRow* row : {side.forward, side.backward, side.once}) {
      if (row != nullptr) text += "\n\n" + describe(profile, *row);
    }
  }
  return text;
}

void draw_layer(const Panel& p, const TrainingProfile& profile, const LayerColumns& c,
                const ProfileLayer& layer, const std::string& said) {
  Ui& ui = p.ui;
  const std::string path = "training/layers/" + layer.name->layer;
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, c.line});
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered) list->AddRectFilled(item.min, item.max, styled(ui.theme->hover), ui.px(4));
  focus_ring(ui, item, ui.px(4));
  ImFont* font = ui.fonts.caption;
  draw_text_fitted(list, font,
                   {item.min.x + ui.px(4), (item.min.y + item.max.y - font->FontSize) / 2},
                   c.name - ui.px(12), ui.theme->text, title_of(*layer.name));
  float y = (item.min.y + item.max.y - c.side * static_cast<float>(layer.sides.size())) / 2;
  for (std::size_t i = 0; i < layer.sides.size(); ++i, y += c.side) {
    draw_side(ui, c, profile.totals[i], layer.sides[i], {item.min.x, y}, item.max.x - item.min.x);
  }
  hint(ui, said);
  record(ui, item, path, "bar", title_of(*layer.name), format_seconds(layer.seconds()));
}

// The rest of the step, so that the bars add up to it.
struct OtherTime {
  std::vector<ProfileRow> rows;  // one per kind of kernels
  ProfileLayer layer;            // refers to them
  OtherTime(const TrainingProfile& profile, const std::vector<ProfileLayer>& layers) {
    for (std::size_t side = 0; side < profile.totals.size(); ++side) {
      ProfileRow& row = rows.emplace_back();
      row.layer = kOtherTime;
      row.phase = StepPhase::Update;
      row.time.median_s = other_s(profile.totals[side], layers, side);
      row.time.n = profile.totals[side].step.n;
    }
    layer.sides.resize(rows.size());
    for (std::size_t side = 0; side < rows.size(); ++side) layer.sides[side].once = &rows[side];
    layer.name = &rows.front();
  }
  OtherTime(const OtherTime&) = delete;
  OtherTime& operator=(const OtherTime&) = delete;
};

void draw_bars(const Panel& p, const TrainingProfile& profile) {
  TrainingForm& form = p.view.forms.training;
  std::vector<ProfileLayer> layers = layers_of(profile, static_cast<LayerOrder>(form.layer_order));
  const std::size_t all = layers.size();
  const OtherTime other(profile, layers);
  const double full_s = std::max(longest_side(layers), longest_side({other.layer}));
  if (!form.all_layers && all > kMaxLayers) layers.resize(kMaxLayers);
  LayerColumns columns = columns_of(p, profile, layers, ImGui::GetContentRegionAvail().x);
  columns.full_s = full_s;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  draw_labels(p, columns);
  for (const ProfileLayer& layer : layers) {
    draw_layer(p, profile, columns, layer, layer_hint(profile, layer));
  }
  draw_layer(p, profile, columns, other.layer, other_hint());
  ImGui::PopStyleVar();
  if (all > kMaxLayers) {
    foldout(p.ui, "training/layers_all", trf("All {} parts", all), form.all_layers);
  }
}

// --- texts ----------------------------------------------------------------------------------

// The share of the median step that the medians of the parts of `phase` add up to.
double phase_share(const TrainingProfile& profile, StepPhase phase) {
  double seconds = 0;
  for (std::size_t i = 0; i < profile.parts(); ++i) {
    if (profile.rows[i].phase == phase) seconds += profile.rows[i].time.median_s;
  }
  const double step_s = profile.totals.front().step.median_s;
  return step_s > 0 ? seconds / step_s : 0;
}

// "The median step takes 612 ms: 31 % forward, 62 % backward, 4.1 % update, 2.9 % the rest."
std::string step_sentence(const TrainingProfile& profile) {
  const double forward = phase_share(profile, StepPhase::Forward);
  const double backward = phase_share(profile, StepPhase::Backward);
  const double update = phase_share(profile, StepPhase::Update);
  return trf("The median step takes {}: {} forward, {} backward, {} update, {} the rest.",
             format_seconds(profile.totals.front().step.median_s), percent(forward),
             percent(backward), percent(update),
             percent(std::max(0.0, 1 - forward - backward - update)));
}

std::string comparison_sentence(const TrainingProfile& profile) {
  const Timing& lab = profile.totals[0].step;
  const Timing& library = profile.totals[1].step;
  const double lab_s = lab.median_s, library_s = library.median_s;
  const std::string lab_step = format_seconds(lab_s), library_step = format_seconds(library_s);
  // One is faster if nine of ten of its steps are faster than nine of ten of the other's.
  const bool clear =
      lab.n > 1 && library.n > 1 && (lab.p90_s < library.p10_s || library.p90_s < lab.p10_s);
  if (!clear) {
    return trf(
        "A step takes {} with the lab's kernels and {} with the library's; the steps vary too "
        "much, or are too few, to say which is faster.",
        lab_step, library_step);
  }
  return lab_s <= library_s ? trf("A step takes {} with the lab's kernels and {} with the "
                                  "library's: the lab is {:.2f} times as fast.",
                                  lab_step, library_step, library_s / lab_s)
                            : trf("A step takes {} with the lab's kernels and {} with the "
                                  "library's: the library is {:.2f} times as fast.",
                                  lab_step, library_step, lab_s / library_s);
}

std::string medians_text(std::int64_t steps, bool each) {
  if (steps == 1) return each ? tr("medians of 1 step each") : tr("medians of 1 step");
  return each ? trf("medians of {} steps each", steps) : trf("medians of {} steps", steps);
}

std::string settings_text(const TrainingProfile& profile) {
  const Timing& step = profile.totals.front().step;
  const std::size_t kinds = profile.totals.size();
  const std::string device = lab::to_string(profile.device);
  return trf(
      "{}, {} images per step, {} after {} of warm-up, {} peak {}",
      profile.devices > 1 ? trf("{}, the first of {} devices", device, profile.devices) : device,
      profile.images, medians_text(step.n, kinds > 1),
      step.warmup * static_cast<std::int64_t>(kinds), lab::to_string(profile.dtype),
      format_gflops(profile.peak_gflops));
}

bool complete(const TrainingProfile& profile) {
  return !profile.totals.empty() &&
         std::all_of(profile.totals.begin(), profile.totals.end(),
                     [](const ProfileTotal& total) { return total.step.n > 0; });
}

void head(const Panel& p, const TrainingProfile& profile) {
  const std::string sentence =
      profile.totals.size() > 1 ? comparison_sentence(profile) : step_sentence(profile);
  body(p.ui, sentence);
  record_item(p.ui, "training/layers_sentence", "text", sentence);
  caption(p.ui, settings_text(profile));
  hint(p.ui, tr("Times are measured on the thread that drives the device, over the latest 500 "
                "steps. The peak is the fused multiply-add rate of the same threads, measured "
                "before training. GFLOP/s count the operations of the direct algorithm: Winograd "
                "needs fewer and can exceed the peak."));
  int& order = p.view.forms.training.layer_order;
  if (width_left(p) < 560) {
    segmented(p.ui, "training/layer_order", "", layer_order_names(), order);
    swatch_legend(p, layers_legend(*p.ui.theme, profile));
    return;
  }
  Row row(p.ui, {1, -290});
  row.next();
  swatch_legend(p, layers_legend(*p.ui.theme, profile));
  row.next();
  segmented(p.ui, "training/layer_order", "", layer_order_names(), order);
}

// Shown without a profile: what is pending, or how to obtain one.
void draw_nothing(const Panel& p, const TrainingRun& run) {
  TrainingForm& form = p.view.forms.training;
  if (profile_requested(run)) {
    if (run.restored()) return draw_not_kept(p, "training/layers");
    muted(p.ui,
          running_training(p) == &run
              ? tr("The first steps are warm-up; layer times appear within a second.")
              : tr("The training ended before any layer was timed; the first steps are warm-up."));
    return;
  }
  if (form.request.profile || form.request.compare_kernels) {
    muted(p.ui, tr("The next training run measures each layer."));
    return;
  }
  muted(p.ui, tr("To see each layer's time, share of the peak and algorithm, tick Profile layers "
                 "and train."));
  if (button(
          p.ui, "training/layers_on", tr("Profile layers"),
          {.hint = tr("Ticks the box under More settings; applies to the next training run.")})) {
    form.request.profile = true;
  }
}

}  // namespace

std::string title_of(const ProfileRow& row) {
  if (row.layer == kOtherTime) return tr(kOtherTime);
  return row.phase == StepPhase::AllReduce ? tr("waiting for sums") : row.title();
}

double other_s(const ProfileTotal& total, const std::vector<ProfileLayer>& layers,
               std::size_t side) {
  double parts_s = 0;
  for (const ProfileLayer& layer : layers) parts_s += layer.sides[side].seconds();
  return std::max(0.0, total.step.median_s - parts_s);
}

std::vector<Swatch> layers_legend(const Theme& theme, const TrainingProfile& profile) {
  std::vector<Swatch> entries;
  const bool several = profile.totals.size() > 1;
  for (const ProfileTotal& total : profile.totals) {
    const auto name = [&](StepPhase phase) { return pass_name(total.kernels, phase, several); };
    entries.push_back(
        {name(StepPhase::Forward), tone_color(theme, total.kernels, PassTone::Forward)});
    entries.push_back(
        {name(StepPhase::Backward), tone_color(theme, total.kernels, PassTone::Backward)});
  }
  entries.push_back({tr("once per step"), tone_color(theme, Kernels::Lab, PassTone::Once)});
  return entries;
}

const char* other_hint() {
  return tr(
      "The median step less the medians above: waking threads, reporting, and parts that are "
      "slow in different steps.");
}

const char* name_of(StepPhase phase) {
  switch (phase) {
    case StepPhase::Batch: return tr("batch");
    case StepPhase::Forward: return tr("forward");
    case StepPhase::Loss: return tr("loss");
    case StepPhase::Backward: return tr("backward");
    case StepPhase::AllReduce: return tr("all-reduce");
    case StepPhase::Update: return tr("update");
  }
  return "";
}

bool profile_requested(const TrainingRun& run) {
  return run.request().profile || run.request().compare_kernels;
}

std::string describe(const TrainingProfile& profile, const ProfileRow& row) {
  const bool several = profile.totals.size() > 1;
  std::string text = pass_name(row.kernels, row.phase, several);
  if (!row.method.empty()) text += ", " + row.method;
  if (row.time.n == 0) return text + "\n" + tr("not timed yet");
  add_percentiles(text, row.time);
  add_row(text, tr("steps"), std::to_string(row.time.n));
  if (row.flop > 0) {
    add_row(text, tr("speed"), format_gflops(row.gflops()));
    if (profile.peak_gflops > 0) {
      add_row(text, tr("share of peak"), percent(profile.share_of_peak(row)));
    }
  }
  if (row.bytes > 0) {
    add_row(text, tr("traffic"),
            trf("at least {}", format_si(static_cast<double>(row.bytes), "B")));
    if (row.flop > 0) {
      add_row(text, tr("arithmetic intensity"), fmt::format("{:.3g} FLOP/byte", row.intensity()));
    }
  }
  return text;
}

void draw_training_layers(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/layers", tr("Layers"),
            {.hint = tr("Forward and backward time of each layer in a step, and of the work done "
                        "once per step. Hover over a bar for details.")});
  if (!card) return;
  if (!run.profile() || !complete(*run.profile())) {
    draw_nothing(p, run);
    return;
  }
  head(p, *run.profile());
  draw_bars(p, *run.profile());
  draw_layer_table(p, *run.profile());
}

}  // namespace lab::ui
