// Shows each training device: its part of the batch and how its step time divides.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/step_parts.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {

std::string device_text(const DeviceTracks& tracks, const DeviceTrack& track) {
  const std::string name = lab::to_string(track.device);
  return tracks.ranks() > 1 ? trf("rank {} · {}", track.rank, name) : name;
}

namespace {

constexpr std::size_t kMaxRows = 16;  // unless unfolded
constexpr std::size_t kTallRows = 8;  // beyond this number, rows are closer together
constexpr float kGap = 12;            // units between columns
constexpr float kWide = 640;          // units; at least this wide, the numbers have columns
constexpr double kWorthAWord = 0.05;  // share of a step spent waiting

std::string time_text(double seconds) {
  constexpr double kNothing = 1e-7;  // averages decay slowly
  return seconds > kNothing ? format_seconds(seconds) : "0 s";
}

// Left edges and widths of the columns, in pixels.
struct Columns {
  struct Span {
    float left = 0, width = 0;
  };
  Span name, images, share, course, bar;
  std::array<Span, kStepParts.size()> parts;
  bool timed = true, has_images = false, has_course = false;
  bool wide = false;  // the parts of a step have columns
};

// Without times, there is room for the other columns.
Columns columns_of(const Panel& p, const DeviceTracks& tracks, bool changing_shares, bool timed) {
  const Ui& ui = p.ui;
  Columns c;
  c.timed = timed;
  c.wide = timed && width_left(p) >= kWide;
  c.has_images = c.wide || !timed;
  c.has_course = changing_shares && c.has_images;
  const float left = ImGui::GetCursorScreenPos().x;
  const float right = left + ImGui::GetContentRegionAvail().x;
  float x = left;
  const auto take = [&](float units) {
    const Columns::Span span{x, ui.px(units)};
    x += ui.px(units + kGap);
    return span;
  };
  c.name = take(tracks.ranks() > 1 ? 128 : 66);
  if (c.has_images) c.images = take(52);
  c.share = take(50);
  if (c.has_course) c.course = take(84);
  c.bar = {x, right - x};
  if (!c.wide) return c;
  constexpr float kNumber = 76;
  const float numbers = ui.px((kNumber + kGap) * static_cast<float>(kStepParts.size()));
  c.bar.width = std::max(ui.px(24), right - x - numbers);
  x = right - numbers + ui.px(kGap);
  for (Columns::Span& span : c.parts) span = take(kNumber);
  return c;
}

void right_aligned(ImFont* font, const Columns::Span& span, float y, ImU32 color,
                   std::string_view text) {
  const float shown = std::min(span.width, text_size(font, text).x);
  draw_text_fitted(ImGui::GetWindowDrawList(), font, {span.left + span.width - shown, y},
                   span.width, color, text);
}

void swatch(const Ui& ui, ImVec2 pos, ImU32 color) {
  ImGui::GetWindowDrawList()->AddRectFilled(pos, {pos.x + ui.px(10), pos.y + ui.px(10)},
                                            styled(color), ui.px(2));
}

// Draws the column labels; the number columns use the colours of the bar's parts.
void header(const Panel& p, const Columns& c) {
  const Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, font, {c.name.left, pos.y}, ui.theme->muted, tr("device"));
  if (c.has_images) right_aligned(font, c.images, pos.y, ui.theme->muted, tr("images"));
  right_aligned(font, c.share, pos.y, ui.theme->muted, tr("share"));
  if (c.has_course) {
    draw_text(list, font, {c.course.left, pos.y}, ui.theme->muted, tr("over the run"));
  }
  if (c.timed) {
    draw_text_fitted(list, font, {c.bar.left, pos.y}, c.bar.width, ui.theme->muted,
                     tr("typical step"));
  }
  constexpr std::array kShort = {LAB_TEXT("compute"), LAB_TEXT("hidden"), LAB_TEXT("waiting"),
                                 LAB_TEXT("exposed")};
  for (std::size_t i = 0; i < kShort.size() && c.wide; ++i) {
    right_aligned(font, c.parts[i], pos.y, ui.theme->muted, tr(kShort[i]));
  }
  ImGui::Dummy({1, font->FontSize});
}

// Draws the shares over the run; full height is twice the equal share.
void draw_course(const Panel& p, const Columns::Span& span, float top, float height,
                 const DeviceTrack& track, std::size_t devices) {
  constexpr std::size_t kPoints = 48;
  const Column64& shares = track.shares;
  if (shares.size() < 2) return;
  std::array<ImVec2, kPoints> line;
  const std::size_t count = std::min(kPoints, shares.size());
  const double full = 2.0 / static_cast<double>(devices);
  const float low = top + height - p.ui.px(5), room = height - p.ui.px(10);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * (shares.size() - 1) / (count - 1);
    const auto part = static_cast<float>(std::clamp(shares[at] / full, 0.0, 1.0));
    line[i] = {span.left + span.width * static_cast<float>(i) / static_cast<float>(count - 1),
               low - room * part};
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float middle = std::floor(low - room / 2) + 0.5F;
  list->AddLine({span.left, middle}, {span.left + span.width, middle},
                styled(p.ui.theme->plot_grid));
  list->AddPolyline(line.data(), static_cast<int>(count),
                    styled(device_color(*p.ui.theme, track.device)), 0,
                    std::max(1.0F, p.ui.px(1.5F)));
}

std::string row_hint(const std::string& name, const DeviceTrack& track, bool timed) {
  std::string text = timed ? trf("{}, a typical step", name) : name;
  add_row(text, tr("images"), fmt::format("{:.0f}", track.images));
  add_row(text, tr("share of the batch"), percent(track.share));
  if (!timed) return text;
  const double sum = track.parts.sum();
  for (const StepPart part : kStepParts) {
    const double seconds = seconds_of(track.parts, part);
    add_row(text, name_of(part),
            fmt::format("{}, {}", time_text(seconds), percent(sum > 0 ? seconds / sum : 0)));
  }
  return text;
}

// Returns the numbers as text, for a layout without number columns.
std::string numbers_text(const DeviceTrack& track) {
  const StepParts& s = track.parts;
  return trf("{:.0f} images: compute {}, hidden {}, waiting {}, exposed {}", track.images,
             time_text(s.compute_s), time_text(s.hidden_s), time_text(s.wait_s),
             time_text(s.exposed_s));
}

void device_row(const Panel& p, const Columns& c, const DeviceTracks& tracks, std::size_t index) {
  Ui& ui = p.ui;
  const DeviceTrack& track = tracks.all()[index];
  const bool close = tracks.all().size() > kTallRows;
  const bool below = c.timed && !c.wide && !close;
  const float line = ui.px(close ? 22 : 28), height = line + (below ? ui.px(20) : 0);
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = c.wide ? c.parts.back().left + c.parts.back().width - pos.x
                             : c.bar.left + c.bar.width - pos.x;
  ImGui::Dummy({width, height});
  if (!ImGui::IsItemVisible()) return;
  const std::string name = device_text(tracks, track);
  if (ImGui::IsItemHovered()) hint(ui, row_hint(name, track, c.timed));
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* mono = ui.fonts.mono;
  const float text_y = pos.y + (line - ui.fonts.body->FontSize) / 2;
  const float mono_y = pos.y + (line - mono->FontSize) / 2;
  swatch(ui, {pos.x, pos.y + (line - ui.px(10)) / 2}, device_color(*ui.theme, track.device));
  draw_text_fitted(list, ui.fonts.body, {pos.x + ui.px(18), text_y}, c.name.width - ui.px(18),
                   ui.theme->text, name);
  if (c.has_images) {
    right_aligned(mono, c.images, mono_y, ui.theme->text, fmt::format("{:.0f}", track.images));
  }
  right_aligned(mono, c.share, mono_y, ui.theme->text, percent(track.share));
  if (c.has_course) draw_course(p, c.course, pos.y, line, track, tracks.all().size());
  const float thick = ui.px(close ? 12 : 14);
  const float top = std::round(pos.y + (line - thick) / 2);
  if (c.timed) {
    draw_step_parts(ui,
                    {.left = c.bar.left,
                     .right = c.bar.left + c.bar.width,
                     .top = top,
                     .bottom = top + thick,
                     .full_s = tracks.longest_step_s()},
                    track.parts);
  }
  if (below) {
    draw_text_fitted(list, ui.fonts.caption, {pos.x + ui.px(18), pos.y + line}, width - ui.px(18),
                     ui.theme->muted, numbers_text(track));
  }
  for (std::size_t i = 0; i < kStepParts.size() && c.wide; ++i) {
    right_aligned(mono, c.parts[i], mono_y, ui.theme->text,
                  time_text(seconds_of(track.parts, kStepParts[i])));
  }
  record_item(ui, fmt::format("training/devices/{}/{}", track.rank, lab::to_string(track.device)),
              "device", name, trf("{:.0f} images, {}", track.images, percent(track.share)));
}

// Returns true if two of the training's devices share a core. Covers this process only.
bool share_cores(const DeviceTracks& tracks, const MachineInfo& machine) {
  std::set<int> taken;
  for (const DeviceInfo& info : machine.devices) {
    const bool trains =
        std::any_of(tracks.all().begin(), tracks.all().end(),
                    [&](const DeviceTrack& track) { return track.device == info.device; });
    if (!trains) continue;
    for (const int core : info.cores) {
      if (!taken.insert(core).second) return true;
    }
  }
  return false;
}

// The shares that the run has now.
bool has_auto_shares(const TrainingRun& run) {
  const StartTraining& request = run.started() ? run.started()->request : run.request();
  bool automatic = request.share_policy == SharePolicy::Auto;
  for (const TrainingChanged& change : run.changes()) {
    if (change.setting == "shares") automatic = change.after == to_string(SharePolicy::Auto);
  }
  return automatic;
}

// The images of a batch that automatic shares would give the device.
double auto_images(const DeviceTracks& tracks, const DeviceTrack& device) {
  double images = 0, rates = 0;
  for (const DeviceTrack& track : tracks.all()) {
    images += track.images;
    if (track.parts.compute_s > 0) rates += track.images / track.parts.compute_s;
  }
  return rates > 0 ? images * (device.images / device.parts.compute_s) / rates : 0;
}

// What automatic shares would do for the slowest device; empty if nothing: it has a single image,
// or devices share cores.
std::string auto_advice(const Panel& p, const DeviceTracks& tracks, const DeviceTrack& slowest) {
  constexpr double kMoreThanOne = 1.5;  // threshold for a mean of integers
  constexpr double kNone = 0.5;
  if (slowest.images < kMoreThanOne || share_cores(tracks, p.model.machine())) return {};
  if (auto_images(tracks, slowest) < kNone) {
    return trf("Auto shares would leave {} without images.", device_text(tracks, slowest));
  }
  return tr("Auto shares would balance this.");
}

std::string idle_sentence(const DeviceTracks& tracks) {
  std::string idle;
  for (const DeviceTrack& track : tracks.all()) {
    if (track.idle) idle += (idle.empty() ? "" : ", ") + device_text(tracks, track);
  }
  if (idle.empty()) return {};
  return tracks.ranks() > 1 ? trf("No images for {}: takes part in the sums only.", idle)
                            : trf("No images for {}: left out of the steps.", idle);
}

// Names the waiting and the slowest device if the wait is significant and theirs differ clearly.
std::string waiting_sentence(const Panel& p, const DeviceTracks& tracks, bool auto_shares) {
  const auto share = [](const DeviceTrack& track) {
    const double sum = track.parts.sum();
    return sum > 0 ? track.parts.wait_s / sum : 0;
  };
  std::vector<DeviceTrack> working;
  std::ranges::copy_if(tracks.all(), std::back_inserter(working),
                       [](const DeviceTrack& track) { return !track.idle; });
  if (working.size() < 2) return {};
  const auto [least, most] = std::minmax_element(
      working.begin(), working.end(),
      [&](const DeviceTrack& a, const DeviceTrack& b) { return share(a) < share(b); });
  if (share(*most) < kWorthAWord) return tr("No device waits long for another.");
  // If devices are equal, each is sometimes the last.
  constexpr double kClearly = 0.1;
  if (share(*most) - share(*least) < kClearly) {
    return trf("The devices wait for each other in turn, up to {} of a step.",
               percent(share(*most)));
  }
  const bool disturbed = p.model.state(Page::Training).others > 0;
  const std::string advice =
      auto_shares || disturbed ? std::string() : auto_advice(p, tracks, *least);
  const std::string waiting = device_text(tracks, *most), slow = device_text(tracks, *least);
  const std::string text =
      working.size() == 2
          ? trf("{} waits for {} of a step; {} is slower.", waiting, percent(share(*most)), slow)
          : trf("{} waits for {} of a step; {} is the slowest.", waiting, percent(share(*most)),
                slow);
  return advice.empty() ? text : text + " " + advice;
}

// "Backward hides 96 % of the all-reduce; 0.20 ms of it per step remain."; empty if there was no
// all-reduce.
std::string hidden_sentence(const DeviceTracks& tracks) {
  const StepParts mean = tracks.mean_parts();
  const double all_s = mean.hidden_s + mean.exposed_s;
  if (all_s <= 0) return {};
  constexpr double kLeast = 0.005;
  const double hidden = mean.hidden_s / all_s;
  if (mean.hidden_s <= 0) return tr("None of the all-reduce is hidden behind backward.");
  if (hidden < kLeast) return tr("Almost none of the all-reduce is hidden behind backward.");
  return trf("Backward hides {} of the all-reduce; {} of it per step remain.", percent(hidden),
             time_text(mean.exposed_s));
}

// Without times, only the counts are described.
std::string devices_sentence(const Panel& p, const TrainingRun& run, bool auto_shares) {
  const DeviceTracks& tracks = run.devices();
  std::vector<std::string> sentences;
  if (run.timed()) {
    sentences = {hidden_sentence(tracks), waiting_sentence(p, tracks, auto_shares)};
  } else {
    sentences = {tr(kEmulatedGpu)};
  }
  sentences.push_back(idle_sentence(tracks));
  std::erase(sentences, std::string());
  return fmt::format("{}", fmt::join(sentences, run.timed() ? " " : "\n"));
}

}  // namespace

void draw_training_devices(const Panel& p, const TrainingRun& run) {
  const DeviceTracks& tracks = run.devices();
  if (tracks.all().size() < 2) return;
  Card card(
      p, "training/devices", tr("Devices"),
      {.hint = tr("Each device's share of the batch and how a typical step is spent: the mean over "
                  "those of the latest 500 steps whose times are in the middle half. The four "
                  "times add up to the step. Hidden: all-reduce while another device still "
                  "computes; exposed: the rest of the all-reduce.")});
  if (!card) return;
  const bool timed = run.timed(), auto_shares = has_auto_shares(run);
  const std::string sentence = devices_sentence(p, run, auto_shares);
  body(p.ui, sentence);
  record_item(p.ui, "training/devices/sentence", "text", sentence);
  if (timed) {
    step_part_legend(p);
    record_item(p.ui, "training/devices/legend", "legend");
  }
  const Columns columns = columns_of(p, tracks, auto_shares, timed);
  header(p, columns);
  const std::size_t all = tracks.all().size();
  TrainingForm& form = p.view.forms.training;
  const std::size_t rows = form.all_devices ? all : std::min(all, kMaxRows);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, p.ui.px(2)});
  for (std::size_t i = 0; i < rows; ++i) device_row(p, columns, tracks, i);
  ImGui::PopStyleVar();
  if (all > kMaxRows) {
    foldout(p.ui, "training/devices/all", trf("All {} devices", all), form.all_devices);
  }
}

}  // namespace lab::ui
