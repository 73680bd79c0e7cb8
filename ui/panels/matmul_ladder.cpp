#include <fmt/format.h>

#include <algorithm>

#include "ui/panels/matmul_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

// The sample at the size of the bars or, until that is measured, at the kernel's largest.
const MatmulSample* sample_of(const KernelResults* k, std::int64_t size) {
  if (k == nullptr || k->samples.empty()) return nullptr;
  const MatmulSample* wanted = k->at(size);
  return wanted != nullptr ? wanted : &k->samples.back();
}

struct Line {
  Device device;
  std::string name, title, sentence;
  bool library = false;
  const MatmulSample* sample = nullptr;
};

const KernelResults* results_of(const MatmulResults& results, Device device,
                                const std::string& name) {
  for (const KernelResults& k : results.kernels) {
    if (k.device == device && k.name == name) return &k;
  }
  return nullptr;
}

// Rungs as announced; kernels that were measured without an announcement follow.
std::vector<Line> lines_of(const Panel& p, const MatmulResults& results, Device device,
                           std::int64_t size) {
  std::vector<Line> lines;
  for (const RungInfo& rung : p.model.rungs()) {
    if (rung.device != device) continue;
    const KernelResults* k = results_of(results, device, rung.name);
    lines.push_back(
        {device, rung.name, rung.title, rung.sentence, rung.library, sample_of(k, size)});
  }
  for (const KernelResults& k : results.kernels) {
    const bool known =
        std::any_of(lines.begin(), lines.end(), [&](const Line& l) { return l.name == k.name; });
    if (k.device == device && !known) {
      lines.push_back({device, k.name, k.name, "", k.library, sample_of(&k, size)});
    }
  }
  return lines;
}

double share_of(const MatmulSample& s, const PeakSample* peak, double best) {
  if (s.share_of_peak) return *s.share_of_peak;
  const double top = peak != nullptr ? peak->gflops : best;
  return top > 0 ? s.gflops / top : 0;
}

struct Bars {
  float left, right;     // pixels
  double library_share;  // 0: none measured
  std::int64_t size;     // most bars are of
};

std::string value_text(const Line& line, double share, std::int64_t size) {
  if (line.sample == nullptr) return "not measured";
  if (line.sample->n != size) return fmt::format("{} at N = {}", percent(share), line.sample->n);
  return fmt::format("{}  {}", percent(share), gflops_text(line.sample->gflops));
}

void draw_line(const Panel& p, const Item& item, const Line& line, const Bars& bars, double share) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered) list->AddRectFilled(item.min, item.max, styled(ui.theme->hover), ui.px(4));
  focus_ring(ui, item, ui.px(4));
  ImFont* font = ui.fonts.caption;
  const float y = (item.min.y + item.max.y - font->FontSize) / 2;
  draw_text_fitted(list, font, {item.min.x + ui.px(4), y}, bars.left - item.min.x - ui.px(12),
                   ui.theme->text, line.title);
  const float top = item.min.y + ui.px(7);
  const float bottom = item.max.y - ui.px(7);
  const float width = bars.right - bars.left;
  list->AddRectFilled({bars.left, top}, {bars.right, bottom}, styled(ui.theme->raised), ui.px(3));
  const float full = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  const ImU32 color = kernel_color(p, line.name);
  list->AddRectFilled({bars.left, top}, {bars.left + full, bottom},
                      styled(line.library ? with_alpha(color, 0.55F) : color), ui.px(3));
  if (bars.library_share > 0) {
    const float x = bars.left + width * static_cast<float>(std::min(bars.library_share, 1.0));
    list->AddLine({x, item.min.y}, {x, item.max.y}, styled(ui.theme->text), ui.px(1.5F));
  }
  const std::string value = value_text(line, share, bars.size);
  draw_text_fitted(list, ui.fonts.caption, {bars.right + ui.px(8), y},
                   item.max.x - bars.right - ui.px(8),
                   line.sample == nullptr ? ui.theme->muted : ui.theme->text, value);
}

std::string line_hint(const Line& line, CacheState cache) {
  std::string text = line.title;
  if (!line.sentence.empty()) text += "\n" + line.sentence;
  if (line.sample != nullptr) text += "\n" + describe(*line.sample, cache);
  return text;
}

void ladder_of(const Panel& p, const MatmulResults& results, Device device) {
  Ui& ui = p.ui;
  const std::int64_t size = results.largest_size(device);
  const PeakSample* peak = results.peak(device);
  const std::vector<Line> lines = lines_of(p, results, device, size);
  double best = 0;
  for (const Line& l : lines) best = std::max(best, l.sample == nullptr ? 0 : l.sample->gflops);
  double library = 0;
  for (const Line& l : lines) {
    if (l.library && l.sample != nullptr) {
      library = std::max(library, share_of(*l.sample, peak, best));
    }
  }
  caption(ui, fmt::format("{}, N = {}, share of {}", lab::to_string(device), size,
                          peak != nullptr ? "peak " + gflops_text(peak->gflops) : "the fastest"));
  if (peak != nullptr) {
    hint(ui, fmt::format("Peak of a loop of fused multiply-adds on {} threads\n{}", peak->threads,
                         timing_text(peak->time)));
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, ui.px(2)});
  for (const Line& line : lines) {
    const std::string path = fmt::format("matmul/ladder/{}/{}", lab::to_string(device), line.name);
    const float width = ImGui::GetContentRegionAvail().x;
    const Item item = control(path, {width, ui.px(26)});
    if (!item.visible) continue;
    const float value_width = std::min(ui.px(146), width * 0.42F);
    const float name_width = std::min(ui.px(130), width * 0.34F);
    const double share = line.sample == nullptr ? 0 : share_of(*line.sample, peak, best);
    draw_line(p, item, line, {item.min.x + name_width, item.max.x - value_width, library, size},
              share);
    if (item.hovered) p.view.forms.matmul.lit = kernel_key(device, line.name);
    hint(ui, line_hint(line, results.request.cache));
    record(ui, item, path, "bar", line.title,
           line.sample == nullptr ? "" : gflops_text(line.sample->gflops));
  }
  ImGui::PopStyleVar();
  if (library > 0) caption(ui, "The upright line is the fastest library.");
}

}  // namespace

void draw_matmul_ladder(const Panel& p, const Kept<MatmulResults>& kept) {
  const MatmulResults& results = shown(kept);
  p.view.forms.matmul.lit.clear();
  Card card(p, "matmul/ladder_card", "Ladder",
            {.hint = "Each rung adds one idea to the one above. Point at one to read it.",
             .dimmed = is_old(kept)});
  if (!card) return;
  const std::vector<Device> devices = results.devices();
  if (devices.empty()) {
    muted(p.ui, results.peaks.empty() ? "Nothing could be measured."
                                      : "The peak is known; the first kernel is on its way.");
  }
  for (const Device device : devices) ladder_of(p, results, device);
}

}  // namespace lab::ui
