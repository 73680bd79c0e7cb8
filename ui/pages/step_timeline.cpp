#include "ui/pages/step_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/plot/axis.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kLaneHeight = 22, kCopiesHeight = 14, kLaneGap = 3, kDeviceGap = 12;  // units
constexpr float kAxisHeight = 22, kNameGap = 8;                                       // units
constexpr double kLeastView = 1e-4;  // of the step, fully zoomed in
constexpr double kZoomStep = 1.25;   // per notch of the wheel

// As in the cards of the layers and the devices: blue computes, pale for forward; purple sums.
ImU32 span_color(const Theme& theme, const TimelineSpan& span) {
  constexpr int kComputeHue = 4, kCopyHue = 2;
  const ImU32 compute = series_color(theme, kComputeHue);
  switch (span.phase) {
    case StepPhase::Forward: return forward_color(theme, compute);
    case StepPhase::Backward: return backward_color(theme, compute);
    case StepPhase::Batch: return series_color(theme, kCopyHue);
    case StepPhase::AllReduce:
      return step_part_color(theme, span.part < 0 ? StepPart::Waiting : StepPart::Exposed);
    case StepPhase::Loss:
    case StepPhase::Update: break;
  }
  return once_color(theme);
}

// The text colour with the better contrast on `color`.
ImU32 text_on(const Theme& theme, ImU32 color) {
  return contrast(theme.text, color) >= contrast(theme.page, color) ? theme.text : theme.page;
}

// --- geometry -------------------------------------------------------------------------------

// A lane on the screen, in pixels.
struct Lane {
  int device = 0;
  TimelineLane lane = TimelineLane::Compute;
  float top = 0, bottom = 0;
};

struct View {
  float left = 0, right = 0;      // of the spans, pixels
  double begin_s = 0, end_s = 0;  // shown
  float x(double s) const {
    return left + (right - left) * static_cast<float>((s - begin_s) / (end_s - begin_s));
  }
  double at(float px) const {
    return begin_s + (end_s - begin_s) * static_cast<double>((px - left) / (right - left));
  }
};

bool has_sums(const StepTimeline& t) {
  return t.devices.size() > 1;
}

std::vector<Lane> lanes_of(const Ui& ui, const StepTimeline& t) {
  std::vector<Lane> lanes;
  float y = 0;
  for (std::size_t d = 0; d < t.devices.size(); ++d) {
    for (const TimelineLane lane : kTimelineLanes) {
      if (lane == TimelineLane::Sums && !has_sums(t)) continue;
      const float height = ui.px(lane == TimelineLane::Copies ? kCopiesHeight : kLaneHeight);
      lanes.push_back({static_cast<int>(d), lane, y, y + height});
      y += height + ui.px(kLaneGap);
    }
    y += ui.px(kDeviceGap - kLaneGap);
  }
  return lanes;
}

// --- view -----------------------------------------------------------------------------------

void set_view(TimelineForm& form, double begin, double end) {
  const double width = std::clamp(end - begin, kLeastView, 1.0);
  form.begin = std::clamp(begin, 0.0, 1 - width);
  form.end = form.begin + width;
}

void zoom(TimelineForm& form, double about, double factor) {
  set_view(form, about - (about - form.begin) * factor, about + (form.end - about) * factor);
}

void pan(TimelineForm& form, double by) {
  set_view(form, form.begin + by, form.end + by);
}

bool is_zoomed(const TimelineForm& form) {
  return form.end - form.begin < 1 - 1e-9;
}

void use_keys(TimelineForm& form) {
  const double width = form.end - form.begin;
  const double middle = form.begin + width / 2;
  claim_arrows();
  if (key_pressed(GLFW_KEY_LEFT, true)) pan(form, -width / 8);
  if (key_pressed(GLFW_KEY_RIGHT, true)) pan(form, width / 8);
  if (key_pressed(GLFW_KEY_UP, true)) zoom(form, middle, 1 / kZoomStep);
  if (key_pressed(GLFW_KEY_DOWN, true)) zoom(form, middle, kZoomStep);
}

// Only with Ctrl; otherwise the wheel scrolls the page.
void use_pointer(TimelineForm& form, const Item& item, const View& view, double seconds) {
  const ImGuiIO& io = ImGui::GetIO();
  if (item.hovered && io.KeyCtrl) claim_wheel();
  if (item.hovered && io.KeyCtrl && io.MouseWheel != 0) {
    const float x = std::clamp(io.MousePos.x, view.left, view.right);
    zoom(form, view.at(x) / seconds, std::pow(kZoomStep, -static_cast<double>(io.MouseWheel)));
  }
  if (item.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    set_view(form, 0, 1);
  } else if (item.held && io.MouseDelta.x != 0 && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    const double shown = form.end - form.begin;
    pan(form, -shown * static_cast<double>(io.MouseDelta.x / (view.right - view.left)));
  }
}

// --- drawing --------------------------------------------------------------------------------

void draw_axis(const Ui& ui, const View& view, float top, float bottom) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double step = plot::decimal_step((view.end_s - view.begin_s) /
                                         std::max(2.0F, (view.right - view.left) / ui.px(110)));
  const auto last = static_cast<int>(std::floor(view.end_s / step));
  for (auto i = static_cast<int>(std::ceil(view.begin_s / step)); i <= last; ++i) {
    const float x = std::round(view.x(i * step));
    list->AddLine({x, top}, {x, bottom}, styled(ui.theme->plot_grid));
    const std::string text = i == 0 ? "0" : format_seconds(i * step);
    const float width = text_size(ui.fonts.caption, text).x;
    const float left = std::clamp(x - width / 2, view.left, view.right - width);
    draw_text(list, ui.fonts.caption, {left, bottom + ui.px(3)}, ui.theme->muted, text);
  }
}

// Widths of the names of the devices and of the lanes, in pixels.
struct NameColumns {
  float device = 0, lane = 0;
  float sum() const { return device + lane; }
};

NameColumns name_columns(const Ui& ui, const StepTimeline& t, const std::vector<Lane>& lanes) {
  ImFont* font = ui.fonts.caption;
  NameColumns columns;
  for (const TimelineDevice& one : t.devices) {
    columns.device = std::max(columns.device, text_size(font, lab::to_string(one.device)).x);
  }
  for (const Lane& lane : lanes) {
    columns.lane = std::max(columns.lane, text_size(font, tr(to_string(lane.lane))).x);
  }
  return {std::ceil(columns.device + ui.px(kNameGap)), std::ceil(columns.lane + ui.px(kNameGap))};
}

void draw_names(const Ui& ui, const StepTimeline& t, const std::vector<Lane>& lanes,
                const NameColumns& columns, ImVec2 at) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  for (const Lane& lane : lanes) {
    const float y = at.y + (lane.top + lane.bottom - font->FontSize) / 2;
    if (lane.lane == TimelineLane::Compute) {
      const Device device = t.devices[static_cast<std::size_t>(lane.device)].device;
      draw_text(list, font, {at.x, y}, ui.theme->text, lab::to_string(device));
    }
    draw_text(list, font, {at.x + columns.device, y}, ui.theme->muted, tr(to_string(lane.lane)));
  }
}

// One span may be less than a pixel wide; it stays visible.
struct Box {
  float left, right;
};
Box box_of(const View& view, double begin_s, double end_s) {
  const float left = std::round(std::max(view.x(begin_s), view.left));
  const float right = std::round(std::min(view.x(end_s), view.right));
  return {left, std::max(right, left + 1)};
}

bool in_view(const View& view, double begin_s, double end_s) {
  return end_s >= view.begin_s && begin_s <= view.end_s;
}

// A bucket is pale from the moment its device has filled it until all sums are complete.
void draw_buckets(const Ui& ui, const StepTimeline& t, const View& view, const Lane& lane,
                  float y) {
  const ImU32 color = step_part_color(*ui.theme, StepPart::Hidden);
  for (const TimelineBucket& bucket : t.buckets) {
    const double ready_s = bucket.ready_s[static_cast<std::size_t>(lane.device)];
    if (ready_s <= 0 || bucket.done_s <= 0 || !in_view(view, ready_s, bucket.done_s)) continue;
    const Box box = box_of(view, ready_s, bucket.done_s);
    ImGui::GetWindowDrawList()->AddRectFilled({box.left, y + lane.top},
                                              {box.right, y + lane.bottom}, styled(color));
  }
}

void draw_span(const Ui& ui, const StepTimeline& t, const TimelineSpan& span, const View& view,
               float top, float bottom, bool lit) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Box box = box_of(view, span.begin_s, span.end_s);
  const ImU32 color = span_color(*ui.theme, span);
  // A gap separates neighbours that are wide enough to lose a pixel.
  const float right = box.right - box.left > 3 ? box.right - 1 : box.right;
  list->AddRectFilled({box.left, top}, {right, bottom}, styled(color));
  if (lit) list->AddRect({box.left - 1, top - 1}, {right + 1, bottom + 1}, styled(ui.theme->text));
  ImFont* font = ui.fonts.caption;
  if (right - box.left < ui.px(40) || bottom - top < font->FontSize) return;
  const std::string name = name_of(t, span);
  if (text_size(font, name).x + ui.px(8) > right - box.left) return;
  draw_text(list, font, {box.left + ui.px(4), (top + bottom - font->FontSize) / 2},
            text_on(*ui.theme, color), name);
}

// The shortest span of the lane under the pointer, since spans contain others.
const TimelineSpan* span_under(const TimelineByLane& step, const View& view, const Lane& lane,
                               float x) {
  const TimelineSpan* found = nullptr;
  for (const std::size_t i : step.spans(lane.device, lane.lane)) {
    const TimelineSpan& span = step.timeline().spans[i];
    if (!in_view(view, span.begin_s, span.end_s)) continue;
    const Box box = box_of(view, span.begin_s, span.end_s);
    if (x < box.left || x > box.right) continue;
    if (found == nullptr || span.seconds() < found->seconds()) found = &span;
  }
  return found;
}

std::string time_in_step(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : "0 s";
}

std::string describe(const StepTimeline& t, const TimelineSpan& span) {
  std::string text = name_of(t, span);
  if (span.phase == StepPhase::Forward || span.phase == StepPhase::Backward) {
    const TimelineLayer& layer = t.layers[static_cast<std::size_t>(span.part)];
    text += "\n" + std::string(tr(layer.kind));
    if (!layer.shape.empty()) text += ", " + layer.shape;
  }
  if (!t.timed) return text + "\n" + tr(kEmulatedGpu);
  const bool sums = span.phase == StepPhase::AllReduce;
  if (sums && span.bytes > 0) {
    text += std::string("\n") + tr("This device's part of a bucket.");
  }
  add_row(text, tr("duration"), format_seconds(span.seconds()));
  add_row(text, tr("after the step's start"), time_in_step(span.begin_s));
  if (span.bytes > 0) {
    const std::string bytes = format_si(static_cast<double>(span.bytes), "B");
    add_row(text, sums ? tr("bucket") : tr("traffic"), sums ? bytes : trf("at least {}", bytes));
  }
  if (span.flop > 0) add_row(text, tr("speed"), format_gflops(span.gflops()));
  return text;
}

const char* gap_title(const StepTimeline& t, const Lane& lane, const TimelineGap& gap, double s) {
  if (lane.lane == TimelineLane::Copies) return tr("no copies");
  if (lane.lane == TimelineLane::Sums) {
    const bool on_its_way = std::ranges::any_of(t.buckets, [&](const TimelineBucket& bucket) {
      const double ready_s = bucket.ready_s[static_cast<std::size_t>(lane.device)];
      return ready_s > 0 && ready_s <= s && s <= bucket.done_s;
    });
    return on_its_way ? tr("bucket on its way") : tr("no sums");
  }
  switch (gap.cause) {
    case GapCause::Sums: return tr("summing a bucket");
    case GapCause::SumsWait: return tr("waiting for sums");
    case GapCause::OthersWait: return tr("waiting for the other devices");
    case GapCause::Unknown: break;
  }
  return tr("waiting");
}

// Describes the gap of a lane at `s`; empty if there is none.
std::string describe_gap(const TimelineByLane& step, const Lane& lane, double s) {
  const auto gap = step.gap_at(lane.device, lane.lane, s);
  if (!gap) return "";
  std::string text = gap_title(step.timeline(), lane, *gap, s);
  if (!step.timeline().timed) return text + "\n" + tr(kEmulatedGpu);
  add_row(text, tr("duration"), time_in_step(gap->end_s - gap->begin_s));
  add_row(text, tr("after the step's start"),
          trf("{} to {}", time_in_step(gap->begin_s), time_in_step(gap->end_s)));
  return text;
}

void draw_spans(const Panel& p, const TimelineByLane& step, const Item& item, const View& view,
                const std::vector<Lane>& lanes) {
  Ui& ui = p.ui;
  const StepTimeline& t = step.timeline();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const TimelineSpan* hovered = nullptr;
  std::string blank;  // what the tooltip says of it
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({view.left, item.min.y}, {view.right, item.max.y}, true);
  for (const Lane& lane : lanes) {
    const float top = item.min.y + lane.top, bottom = item.min.y + lane.bottom;
    list->AddRect({view.left, top}, {view.right, bottom}, styled(ui.theme->border));
    if (lane.lane == TimelineLane::Sums) draw_buckets(ui, t, view, lane, item.min.y);
    if (item.hovered && mouse.y >= top && mouse.y < bottom && mouse.x >= view.left) {
      hovered = span_under(step, view, lane, mouse.x);
      if (hovered == nullptr) blank = describe_gap(step, lane, view.at(mouse.x));
    }
    for (const std::size_t i : step.spans(lane.device, lane.lane)) {
      const TimelineSpan& span = t.spans[i];
      if (!in_view(view, span.begin_s, span.end_s)) continue;
      const float inset = span.part < 0 ? std::round((bottom - top) / 3) : 0;
      draw_span(ui, t, span, view, top + inset, bottom - inset, &span == hovered);
    }
  }
  list->PopClipRect();
  const std::string text = hovered != nullptr ? describe(t, *hovered) : blank;
  if (!text.empty() && !item.held) show_tooltip(ui, {.text = text});
}

void draw_lanes(const Panel& p, const std::string& path, const TimelineByLane& step,
                TimelineForm& form) {
  Ui& ui = p.ui;
  const StepTimeline& t = step.timeline();
  const std::vector<Lane> lanes = lanes_of(ui, t);
  const float height = lanes.back().bottom;
  const float width = ImGui::GetContentRegionAvail().x;
  const Item item = control(path, {width, height + ui.px(kAxisHeight)});
  record(ui, item, path, "timeline", "", fmt::format("{:.4f} to {:.4f}", form.begin, form.end));
  if (!item.visible || t.seconds <= 0) return;
  const NameColumns names = name_columns(ui, t, lanes);
  const View view{.left = item.min.x + names.sum(),
                  .right = item.max.x,
                  .begin_s = form.begin * t.seconds,
                  .end_s = form.end * t.seconds};
  focus_ring(ui, item, ui.px(4));
  draw_names(ui, t, lanes, names, item.min);
  record_rect(ui, path + "/spans", "timeline", {}, {}, true, {view.left, item.min.y},
              {view.right, item.min.y + height});
  draw_axis(ui, view, item.min.y, item.min.y + height);  // its lines are behind the spans
  draw_spans(p, step, item, view, lanes);
  use_pointer(form, item, view, t.seconds);
  if (has_keys(item)) use_keys(form);
}

}  // namespace

std::string timeline_sentence(const StepTimeline& t, double median_step_s) {
  if (!t.timed) {
    return trf("Step {} on emulated GPUs: the order is correct, the timings are meaningless.",
               t.step);
  }
  std::string text = t.devices.size() == 1
                         ? trf("Step {} took {}.", t.step, format_seconds(t.seconds))
                         : trf("Step {} took {} on {} devices.", t.step, format_seconds(t.seconds),
                               t.devices.size());
  if (std::isfinite(median_step_s)) {
    text += ' ' + trf("The median step takes {}.", format_seconds(median_step_s));
  }
  if (t.sums_unseen) {
    text += std::string(" ") + tr("GPUs or other processes sum the gradients meanwhile; only the "
                                  "wait for the sums can be recorded.");
  }
  if (t.lost > 0) {
    text += ' ' + trf("{} further parts of sums were not recorded.", t.lost);
  }
  const double overlapped = overlapped_share(t);
  if (std::isfinite(overlapped)) {
    constexpr double kNone = 0.005;  // reads as 0 %
    text += " ";
    text += overlapped < kNone
                ? tr("The sums were not hidden: backward had ended before the first was sent.")
                : trf("The sums were hidden behind backward for {} of their time, from the first "
                      "full bucket to the complete sums.",
                      percent(overlapped));
  }
  return text;
}

void whole_step_button(const Panel& p, std::string_view path, TimelineForm& form) {
  const bool zoomed = is_zoomed(form);
  if (button(p.ui, path, tr("Whole step"),
             {.enabled = zoomed,
              .hint = zoomed ? tr("Double-click") : tr("The whole step is shown."),
              .width = -1})) {
    set_view(form, 0, 1);
  }
}

std::vector<Swatch> timeline_legend(const Theme& theme, const StepTimeline& t) {
  const auto color = [&](StepPhase phase, int part = 0) {
    return span_color(theme, TimelineSpan{.phase = phase, .part = part});
  };
  std::vector<Swatch> entries = {{tr("forward"), color(StepPhase::Forward)},
                                 {tr("backward"), color(StepPhase::Backward)}};
  if (t.devices.size() > 1) {
    if (!t.sums_unseen) {
      entries.push_back({tr("summing a bucket"), color(StepPhase::AllReduce)});
      entries.push_back({tr("bucket on its way"), step_part_color(theme, StepPart::Hidden),
                         tr("From the moment backward has filled the bucket until its sums are "
                            "complete on all devices.")});
    }
    entries.push_back({tr("waiting for sums"), color(StepPhase::AllReduce, -1)});
  }
  entries.push_back({tr("loss and update"), color(StepPhase::Update)});
  entries.push_back({tr("batch"), color(StepPhase::Batch)});
  return entries;
}

void draw_timeline(const Panel& p, const std::string& path, const TimelineByLane& step,
                   TimelineForm& form) {
  swatch_legend(p, timeline_legend(*p.ui.theme, step.timeline()));
  draw_lanes(p, path, step, form);
}

}  // namespace lab::ui
