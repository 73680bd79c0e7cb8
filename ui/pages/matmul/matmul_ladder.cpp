#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/scaling_results.h"
#include "ui/pages/matmul/matmul_parts.h"
#include "ui/pages/reference_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

// Returns the sample at `size` or, until that is measured, at the kernel's largest size.
const MatmulSample* sample_of(const KernelResults* k, std::int64_t size) {
  if (k == nullptr || k->samples.empty()) return nullptr;
  const MatmulSample* wanted = k->at(size);
  return wanted != nullptr ? wanted : &k->samples.back();
}

struct Line {
  Device device;
  std::string name, title, sentence;
  std::string chosen;  // as in RungInfo
  bool library = false;
  bool failed = false;  // at some size; without a sample it has not been timed at all
  const MatmulSample* sample = nullptr;
  const MatmulSample* reference = nullptr;  // of another machine, at the size shown
  std::string slower_than = {};  // the title of the rung above, if this one is slower than it

  bool unsteady() const { return sample != nullptr && is_unsteady(sample->time); }
};

const KernelResults* results_of(const MatmulResults& results, Device device,
                                const std::string& name) {
  for (const KernelResults& k : results.kernels) {
    if (k.device == device && k.name == name) return &k;
  }
  return nullptr;
}

bool has_failed(const MatmulResults& results, Device device, const std::string& name) {
  return std::any_of(results.failed.begin(), results.failed.end(),
                     [&](const RungFailed& f) { return f.device == device && f.kernel == name; });
}

void find_reference(Line& line, const ReferenceResults& reference, const StartMatmul& request,
                    std::int64_t size) {
  const MatmulSample* s = line.sample;
  line.reference =
      reference_sample(reference, line.device, line.name, s != nullptr ? s->dtype : request.dtype,
                       s != nullptr ? s->n : size, request.cache);
}

// Returns the announced rungs, followed by kernels that were measured without an announcement.
std::vector<Line> lines_of(const Panel& p, const MatmulResults& results, Device device,
                           std::int64_t size) {
  std::vector<Line> lines;
  for (const RungInfo& rung : p.model.rungs()) {
    if (rung.device != device) continue;
    const KernelResults* k = results_of(results, device, rung.name);
    if (k == nullptr && !takes(rung, results.request.dtype)) continue;
    lines.push_back({.device = device,
                     .name = rung.name,
                     .title = tr(rung.title),
                     .sentence = tr(rung.sentence),
                     .chosen = rung.chosen,
                     .library = rung.library,
                     .failed = has_failed(results, device, rung.name),
                     .sample = sample_of(k, size)});
  }
  for (const KernelResults& k : results.kernels) {
    const bool known =
        std::any_of(lines.begin(), lines.end(), [&](const Line& l) { return l.name == k.name; });
    if (k.device == device && !known) {
      lines.push_back({.device = device,
                       .name = k.name,
                       .title = k.name,
                       .sentence = {},
                       .chosen = {},
                       .library = k.library,
                       .sample = sample_of(&k, size)});
    }
  }
  if (const ReferenceResults* reference = chosen_reference(p)) {
    for (Line& line : lines) find_reference(line, *reference, results.request, size);
  }
  return lines;
}

double share_of(const MatmulSample& s, const PeakSample* peak, double best) {
  if (s.share_of_peak) return *s.share_of_peak;
  const double top = peak != nullptr ? peak->gflops : best;
  return top > 0 ? s.gflops / top : 0;
}

// The shares at p90 and p10 of the times.
struct ShareRange {
  double low = 0, high = 0;
};

ShareRange range_of(const MatmulSample& s, double share) {
  const auto at = [&](double seconds) {
    return seconds > 0 ? share * s.time.median_s / seconds : share;
  };
  return {at(s.time.p90_s), at(s.time.p10_s)};
}

struct Bars {
  float left, right;     // pixels
  bool below;            // texts are above the bar, not beside it
  double library_share;  // 0: none measured
  std::int64_t size;     // size of most bars' samples
  bool of_peak = false;  // shares are of the peak, otherwise of the fastest
  bool rest = true;      // there is room for what follows the shares
  float share = 0;       // pixels from `right` to the end of the shares

  float end_of(double at) const {
    return left + (right - left) * static_cast<float>(std::clamp(at, 0.0, 1.0));
  }
  float library_x() const { return end_of(library_share); }
};

// Shares of two machines' peaks are comparable; shares of the fastest kernel are not.
bool marked(const Line& line, bool of_peak) {
  return of_peak && line.reference != nullptr && line.reference->share_of_peak.has_value();
}

// The size where it is not that of the ladder and the repetitions where they are few, in the bar if
// that leaves room; the share, and what follows it, right-aligned.
struct Value {
  std::string size, share, rest;
};

Value value_of(const Line& line, double share, std::int64_t size) {
  const MatmulSample* s = line.sample;
  if (s == nullptr) return {"", "", line.failed ? tr("failed") : tr("not measured")};
  std::string where = s->n == size ? "" : fmt::format("N = {}", s->n);
  if (has_few_repetitions(s->time)) {
    where += fmt::format("{}n = {}", where.empty() ? "" : ", ", s->time.n);
  }
  return {std::move(where), percent(share), format_gflops(s->gflops)};
}

// "12.4 GFLOP/s", "1.79 GFLOP/s, N = 512"
std::string bar_text(const Value& value) {
  return value.size.empty() ? value.rest : fmt::format("{}, {}", value.rest, value.size);
}

constexpr float kBetweenValues = 10;            // units
constexpr float kAfterMarker = 20;              // from the left edge to a name, units
constexpr float kMarkUnits = kWarningSide + 4;  // of the mark before a share

// Where a text of `width` pixels fits into the part of the bar behind `end`, next to the line of
// the library; 0 if it does not.
float place_in_bar(const Ui& ui, const Bars& bars, float end, float width) {
  const float gap = ui.px(5), library = bars.library_x();
  float left = end + gap;
  if (library > end && left + width + gap > library) left = library + gap;
  return left + width > bars.right - ui.px(4) ? 0 : left;
}

// "slower than Loop order here" in the free part of the bar, if it fits.
void draw_slower(const Panel& p, const Item& item, const Line& line, const Bars& bars, float end,
                 float middle) {
  const Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const std::string text = trf("slower than {} here", line.slower_than);
  const ImVec2 size = text_size(font, text);
  const float left = place_in_bar(ui, bars, end, size.x);
  if (left == 0) return;
  const ImVec2 at(left, middle - size.y / 2);
  draw_text(ImGui::GetWindowDrawList(), font, at, ui.theme->muted, text);
  record_rect(p.ui, fmt::format("matmul/slower/{}/{}", lab::to_string(line.device), line.name),
              "text", text, {}, item.visible, at, {at.x + size.x, at.y + size.y});
}

// The share up to which the bar, and the whisker of an unsteady one, reach.
double whisker_end(const Line& line, double share) {
  return line.unsteady() ? std::max(share, range_of(*line.sample, share).high) : share;
}

// Where the size fits into the bar; 0 if it does not.
float place_of_size(const Panel& p, const Line& line, const Bars& bars, double share) {
  const std::string size = value_of(line, share, bars.size).size;
  if (bars.below || size.empty()) return 0;
  return place_in_bar(p.ui, bars, bars.end_of(whisker_end(line, share)),
                      text_size(p.ui.fonts.caption, size).x);
}

// Draws name, size and value, beside the bar or above it.
void draw_texts(const Panel& p, const Item& item, const Line& line, const Bars& bars,
                double share) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = bars.below ? ui.fonts.body : ui.fonts.caption;
  const Value value = value_of(line, share, bars.size);
  const ImU32 ink = line.sample != nullptr ? ui.theme->text
                    : line.failed          ? ui.theme->bad
                                           : ui.theme->muted;
  const float right = item.max.x - ui.px(4), rest = text_size(ui.fonts.caption, value.rest).x;
  const auto draw_value = [&](float share_right, float y) {
    const float wide = text_size(ui.fonts.caption, value.share).x;
    draw_text(list, ui.fonts.caption, {share_right - wide, y}, ink, value.share);
    if (line.unsteady()) {
      draw_warning(ui,
                   {share_right - wide - ui.px(kMarkUnits), y + ui.fonts.caption->FontSize / 2});
    }
    if (!bars.rest) return;
    draw_text_fitted(list, ui.fonts.caption, {std::max(right - rest, share_right), y},
                     right - share_right, ink, value.rest);
  };
  const auto draw_size = [&](float size_right, float y) {
    const float left = size_right - text_size(ui.fonts.caption, value.size).x;
    draw_text(list, ui.fonts.caption, {left, y}, ui.theme->muted, value.size);
    return left;
  };
  if (bars.below) {
    const float share_right = right - rest - ui.px(kBetweenValues);
    const float wide = text_size(ui.fonts.caption, value.share).x;
    const float y = item.min.y + ui.px(4);
    const float mark = line.unsteady() ? ui.px(kMarkUnits) : 0;
    const float size_left = draw_size(share_right - wide - mark - ui.px(16), y);
    draw_text_fitted(list, font, {item.min.x + ui.px(kAfterMarker), item.min.y + ui.px(3)},
                     size_left - item.min.x - ui.px(kAfterMarker), ui.theme->text,
                     titled_name(line.name, line.title));
    draw_value(share_right, y);
    return;
  }
  const float y = (item.min.y + item.max.y - font->FontSize) / 2;
  float size_left = bars.left - ui.px(8);
  if (const float place = place_of_size(p, line, bars, share); place > 0) {
    draw_size(place + text_size(ui.fonts.caption, value.size).x, y);
  } else if (!value.size.empty()) {
    size_left = draw_size(size_left, y);
  }
  draw_text_fitted(list, font, {item.min.x + ui.px(kAfterMarker), y},
                   size_left - item.min.x - ui.px(kAfterMarker), ui.theme->text, line.title);
  draw_value(bars.right + bars.share, y);
  if (bars.rest || line.sample != nullptr) return;
  draw_text_fitted(list, ui.fonts.caption, {bars.left + ui.px(6), y}, bars.right - bars.left, ink,
                   value.rest);
}

// Marks the reference by a diamond at its share of its own peak.
void draw_reference(const Panel& p, const MatmulSample& s, const Bars& bars, float middle) {
  const Ui& ui = p.ui;
  const float x = bars.end_of(*s.share_of_peak), reach = ui.px(bars.below ? 5 : 4);
  const ImVec2 top(x, middle - reach), right(x + reach, middle), bottom(x, middle + reach),
      left(x - reach, middle);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddQuadFilled(top, right, bottom, left, styled(ui.theme->card));
  list->AddQuad(top, right, bottom, left, styled(ui.theme->text), ui.px(1.3F));
}

// From p10 to p90 of an unsteady measurement.
void draw_whisker(const Panel& p, const ShareRange& range, const Bars& bars, float middle) {
  const Ui& ui = p.ui;
  const float low = bars.end_of(range.low), high = bars.end_of(range.high), cap = ui.px(4);
  const auto line = [&](ImVec2 from, ImVec2 to) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine(from, to, styled(ui.theme->card), ui.px(3.5F));  // legible on any bar
    list->AddLine(from, to, styled(ui.theme->text), ui.px(1.3F));
  };
  line({low, middle}, {high, middle});
  for (const float end : {low, high}) line({end, middle - cap}, {end, middle + cap});
}

void draw_line(const Panel& p, const Item& item, const Line& line, const Bars& bars, double share) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered) list->AddRectFilled(item.min, item.max, styled(ui.theme->hover), ui.px(4));
  focus_ring(ui, item, ui.px(4));
  const float name_y = bars.below ? item.min.y + ui.px(11) : (item.min.y + item.max.y) / 2;
  plot::draw_marker(list, kernel_marker(p, line.name), {item.min.x + ui.px(9), name_y}, ui.px(4),
                    styled(kernel_color(p, line.device, line.name)), styled(ui.theme->card));
  const float top = bars.below ? item.min.y + ui.px(24) : item.min.y + ui.px(7);
  const float bottom = bars.below ? top + std::max(ui.px(12), (item.max.y - item.min.y) * 0.27F)
                                  : item.max.y - ui.px(7);
  const float width = bars.right - bars.left;
  list->AddRectFilled({bars.left, top}, {bars.right, bottom}, styled(ui.theme->raised), ui.px(3));
  const float full = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  constexpr float kPale = 0.45F;
  const bool elsewhere = line.sample != nullptr && line.sample->n != bars.size;
  const ImU32 color = with_alpha(kernel_color(p, line.device, line.name), elsewhere ? kPale : 1.0F);
  if (full >= 1) {  // a rounded bar of no width would still be drawn
    list->AddRectFilled({bars.left, top}, {bars.left + full, bottom}, styled(color), ui.px(3));
  }
  if (bars.library_share > 0) {
    const float x = bars.library_x();
    const float reach = ui.px(bars.below ? 5 : 7);
    list->AddLine({x, top - reach}, {x, bottom + reach}, styled(ui.theme->text), ui.px(1.5F));
  }
  if (!line.slower_than.empty()) {
    float end = bars.left + full;
    if (const float size = place_of_size(p, line, bars, share); size > 0) {
      end = size + text_size(ui.fonts.caption, value_of(line, share, bars.size).size).x;
    }
    draw_slower(p, item, line, bars, end, (top + bottom) / 2);
  }
  if (line.unsteady()) draw_whisker(p, range_of(*line.sample, share), bars, (top + bottom) / 2);
  if (marked(line, bars.of_peak)) draw_reference(p, *line.reference, bars, (top + bottom) / 2);
  draw_texts(p, item, line, bars, share);  // some are in the bar
}

// Widths required by the texts beside the bars, in pixels.
struct TextColumns {
  float name = 0, share = 0, rest = 0;
};

// One device's rungs.
struct Ladder {
  Device device;
  std::int64_t size = 0;
  const PeakSample* peak = nullptr;
  std::vector<Line> lines;
  double best = 0;  // GFLOP/s

  double share(const Line& line) const {
    return line.sample == nullptr ? 0 : share_of(*line.sample, peak, best);
  }
};

// Names the rung above where one of the lab's own is slower than it, beyond what either varies.
void find_slower(Ladder& ladder) {
  const Line* above = nullptr;
  for (Line& line : ladder.lines) {
    if (line.library || line.sample == nullptr) continue;
    if (above != nullptr && above->sample->n == line.sample->n && !above->unsteady() &&
        !line.unsteady()) {
      constexpr double kClearly = 0.95;
      const ShareRange before = range_of(*above->sample, ladder.share(*above));
      const ShareRange here = range_of(*line.sample, ladder.share(line));
      if (here.high < kClearly * before.low) line.slower_than = above->title;
    }
    above = &line;
  }
}

Ladder ladder_of(const Panel& p, const MatmulResults& results, Device device) {
  Ladder ladder{.device = device,
                .size = results.largest_size(device),
                .peak = results.peak(device),
                .lines = {}};
  ladder.lines = lines_of(p, results, device, ladder.size);
  for (const Line& l : ladder.lines) {
    if (l.sample != nullptr) ladder.best = std::max(ladder.best, l.sample->gflops);
  }
  find_slower(ladder);
  return ladder;
}

TextColumns columns_of(const Panel& p, const Ladder& ladder) {
  const Ui& ui = p.ui;
  TextColumns columns;
  const auto widen = [&](float& column, const std::string& text, float margin) {
    column = std::max(column, text_size(ui.fonts.caption, text).x + ui.px(margin));
  };
  for (const Line& line : ladder.lines) {
    const Value value = value_of(line, ladder.share(line), ladder.size);
    widen(columns.name, line.title, kAfterMarker + 16);
    widen(columns.share, value.share, line.unsteady() ? 8 + kMarkUnits : 8);
    widen(columns.rest, value.rest, kBetweenValues + 4);
  }
  return columns;
}

// Returns the extent of one device's bars, in pixels from the left edge of their lines.
Bars place_bars(const Panel& p, float width, const TextColumns& columns, bool below) {
  const Ui& ui = p.ui;
  if (below) return {ui.px(4), width - ui.px(4), true, 0, 0};
  constexpr float kLeastBar = 150;  // units, below which the speeds are shown on hover only
  const float name = std::min(columns.name, width * 0.52F);
  const bool rest = width - name - columns.share - columns.rest >= ui.px(kLeastBar);
  const float value = std::min(columns.share + (rest ? columns.rest : 0), width * 0.45F);
  return {.left = std::min(name, width - value - ui.px(48)),
          .right = width - value,
          .below = false,
          .library_share = 0,
          .size = 0,
          .rest = rest,
          .share = columns.share};
}

constexpr float kBeside = 26, kBelow = 44, kMaxBelow = 88;  // units per line

// Returns the height of a line. If there is enough space, texts are placed above their bars.
// `captions` is the number of caption lines below.
float line_height(const Panel& p, std::size_t lines, int captions) {
  const float room =
      ImGui::GetContentRegionAvail().y / p.ui.scale - 26 * static_cast<float>(captions);
  const float each = room / static_cast<float>(std::max<std::size_t>(1, lines)) - 2;
  return each >= kBelow ? std::floor(std::min(each, kMaxBelow)) : kBeside;
}

std::string line_hint(const Panel& p, const Line& line, CacheState cache) {
  std::string text = titled_name(line.name, line.title);
  if (!line.sentence.empty()) text += "\n" + line.sentence;
  if (!line.slower_than.empty()) {
    text += "\n" + trf("Slower than {} at this size.", line.slower_than);
  }
  text += "\n";
  if (line.sample != nullptr) {
    text += measured_text(*line.sample, cache);
  } else {
    text += line.failed ? tr("failed") : tr("not measured");
  }
  if (line.reference != nullptr) {
    text += fmt::format("\n\n{}\n{}", provenance(chosen_reference(p)->machine),
                        measured_text(*line.reference, cache));
  }
  return text;
}

// One with few repetitions counts only if there is no other.
const Line* fastest_of(const Ladder& ladder, bool library) {
  const auto rank = [](const Line& line) {
    return std::pair(!has_few_repetitions(line.sample->time), line.sample->gflops);
  };
  const Line* best = nullptr;
  for (const Line& l : ladder.lines) {
    if (l.library != library || l.sample == nullptr) continue;
    if (best == nullptr || rank(l) > rank(*best)) best = &l;
  }
  return best;
}

// The rung that the sentence starts from; null without a peak, this rung or a faster one.
const Line* plain_of(const Ladder& ladder, const Line* best) {
  const auto plain = std::ranges::find(ladder.lines, kPlainRung, &Line::name);
  const bool known = ladder.peak != nullptr && plain != ladder.lines.end() &&
                     plain->sample != nullptr && plain->sample != best->sample;
  return known ? &*plain : nullptr;
}

// Whether one of the two kernels that the sentence compares, or the peak, is.
bool sentence_is_unsteady(const Ladder& ladder) {
  const Line *best = fastest_of(ladder, false), *library = fastest_of(ladder, true);
  const auto unsteady = [](const Line* line) { return line != nullptr && line->unsteady(); };
  if (ladder.peak == nullptr) return false;
  return is_unsteady(ladder.peak->time) || unsteady(best) || unsteady(library);
}

ShareRange shares_of(const Ladder& ladder, const Line& line) {
  return range_of(*line.sample, ladder.share(line));
}

// "17 % (8.5 % to 34 %)", "60 %".
std::string share_text(const Ladder& ladder, const Line& line) {
  const ShareRange range = shares_of(ladder, line);
  const std::string share = percent(ladder.share(line)), low = percent(range.low),
                    high = percent(range.high);
  return low == high ? share : trf("{} ({} to {})", share, low, high);
}

const char* plain_words(const Ladder& ladder) {
  return is_gpu(ladder.device) ? tr("one thread per element") : tr("three plain loops");
}

// Compares only what differs by more than it varies.
std::string unsteady_sentence(const Ladder& ladder, const Line& best) {
  const ShareRange range = shares_of(ladder, best);
  std::string text = trf("On {} at N = {}, the lab's fastest kernel reached {} of the peak.",
                         lab::to_string(ladder.device), best.sample->n, share_text(ladder, best));
  constexpr double kClearly = 2;
  const Line* plain = plain_of(ladder, &best);
  if (plain != nullptr && plain->sample->n == best.sample->n) {
    const double least = range.low / shares_of(ladder, *plain).high;
    if (least >= kClearly) {
      text += " " + trf("That is at least {} times the speed of {}.", times_text(least),
                        plain_words(ladder));
    }
  }
  if (const Line* library = fastest_of(ladder, true)) {
    const ShareRange other = shares_of(ladder, *library);
    const bool apart = other.low > range.high || other.high < range.low;
    const std::string share = share_text(ladder, *library);
    text += " " +
            (apart ? trf("The best library reached {}.", share)
                   : trf("The best library reached {}: too close to say which is faster.", share));
  }
  if (is_unsteady(ladder.peak->time)) {
    text += " " + std::string(tr("The peak was unsteady, so the shares are rough."));
  }
  return text;
}

// From the first rung to the fastest one.
std::string way_sentence(const Ladder& ladder, const Line& plain, const Line& best) {
  const std::string share = percent(ladder.share(best));
  const std::string times = times_text(best.sample->gflops / plain.sample->gflops);
  const char* const slow = plain_words(ladder);
  const std::int64_t n = plain.sample->n;
  const std::string device = lab::to_string(ladder.device);
  return n == best.sample->n
             ? trf("On {} at N = {}, the lab's fastest kernel reaches {} of the peak, {} times the "
                   "speed of {}.",
                   device, n, share, times, slow)
             : trf("On {} at N = {}, the lab's fastest kernel reaches {} of the peak, {} times the "
                   "speed of {} at N = {}.",
                   device, best.sample->n, share, times, slow, n);
}

// Empty without a peak or a kernel of the lab's own that is more than the first rung, which bf16
// and a choice of kernels may lack.
std::string ladder_sentence(const Ladder& ladder) {
  const Line* best = fastest_of(ladder, false);
  if (ladder.peak == nullptr || best == nullptr || best->name == kPlainRung) return "";
  if (sentence_is_unsteady(ladder)) return unsteady_sentence(ladder, *best);
  const Line* plain = plain_of(ladder, best);
  std::string text =
      plain != nullptr && !plain->unsteady()
          ? way_sentence(ladder, *plain, *best)
          : trf("On {} at N = {} in {}, the lab's fastest kernel reaches {} of the peak.",
                lab::to_string(ladder.device), best->sample->n, to_string(best->sample->dtype),
                percent(ladder.share(*best)));
  if (const Line* library = fastest_of(ladder, true)) {
    text += " " + trf("The best library reaches {}.", percent(ladder.share(*library)));
  }
  return text;
}

// Below the bars, so that they do not move when it is known.
void draw_sentence(const Panel& p, const Ladder& ladder) {
  const std::string text = ladder_sentence(ladder);
  if (text.empty()) return;
  if (sentence_is_unsteady(ladder)) {
    warning_sentence(p, "matmul/ladder_sentence", text);
    return;
  }
  body(p.ui, text);
  record_item(p.ui, "matmul/ladder_sentence", "text", text);
}

double fastest_at(const MatmulResults& results, Device device, std::int64_t n) {
  double best = 0;
  for (const KernelResults& k : results.kernels) {
    const MatmulSample* s = k.device == device ? k.at(n) : nullptr;
    if (s != nullptr && !is_unsteady(s->time)) best = std::max(best, s->gflops);
  }
  return best;
}

// Whether a library computes with kernels that it has for other processors, and is slow with them
// at every size that was measured steadily: elsewhere something else may have slowed it down.
bool has_unfit_kernels(const MatmulResults& results, const Line& line) {
  constexpr double kSlow = 0.5;  // of the fastest kernel
  const KernelResults* k = results_of(results, line.device, line.name);
  if (line.chosen.empty() || k == nullptr || line.sample == nullptr) return false;
  const auto slow = [&](const MatmulSample& s) {
    return is_unsteady(s.time) || s.gflops < kSlow * fastest_at(results, line.device, s.n);
  };
  return !is_unsteady(line.sample->time) && !has_few_repetitions(line.sample->time) &&
         std::ranges::all_of(k->samples, slow);
}

// Why a library is far behind.
void draw_chosen(const Panel& p, const MatmulResults& results, const Ladder& ladder) {
  for (const Line& line : ladder.lines) {
    if (!has_unfit_kernels(results, line)) continue;
    const std::string text = trf("{} reaches only {}: it has chosen its kernels for {} processors.",
                                 line.title, percent(ladder.share(line)), line.chosen);
    muted(p.ui, text);
    record_item(p.ui, "matmul/chosen_kernels", "text", text);
    hint(p.ui, tr("A library chooses its kernels by the processor. A newer version may have some "
                  "for this one."));
  }
}

// Explains the marks of unsteady bars and names those that were timed too seldom for a mark, if
// there are any; the card's hint explains the others.
void draw_key(const Panel& p, const Ladder& ladder) {
  if (std::ranges::any_of(ladder.lines, &Line::unsteady)) unsteady_key(p, "matmul/mark_key");
  const auto few = [](const Line& line) {
    return line.sample != nullptr && has_few_repetitions(line.sample->time);
  };
  if (std::ranges::none_of(ladder.lines, few)) return;
  const std::string text =
      trf("Where n is given, fewer than {} repetitions fit the time limit.", kFewestForSpread);
  muted(p.ui, text);
  record_item(p.ui, "matmul/few_key", "text", text);
  hint(p.ui, tr("Too few to know how much their times vary. More time per kernel allows more."));
}

void draw_ladder(const Panel& p, const Ladder& ladder, CacheState cache) {
  Ui& ui = p.ui;
  const Device device = ladder.device;
  const std::int64_t size = ladder.size;
  const PeakSample* peak = ladder.peak;
  const std::vector<Line>& lines = ladder.lines;
  double library = 0;
  for (const Line& l : lines) {
    if (l.library) library = std::max(library, ladder.share(l));
  }
  caption(ui, peak != nullptr
                  ? trf("{}, N = {}, share of peak {}", lab::to_string(device), size,
                        format_gflops(peak->gflops))
                  : trf("{}, N = {}, share of the fastest", lab::to_string(device), size));
  if (peak != nullptr) {
    hint(ui, trf("Peak of a loop of multiply-adds that reads no memory, on {}\n{}",
                 workers_text(peak->threads), timing_text(peak->time)));
  }
  if (library > 0) {
    const std::string text = trf("Line: best library, {}", percent(library));
    caption(ui, text);
    record_item(ui, fmt::format("matmul/library_line/{}", lab::to_string(device)), "text", text);
  }
  const bool any_marked = std::any_of(
      lines.begin(), lines.end(), [&](const Line& line) { return marked(line, peak != nullptr); });
  constexpr int kBelowBars = 6;  // lines of the key and the sentence
  const float height = line_height(p, lines.size(), kBelowBars + (any_marked ? 1 : 0));
  const TextColumns columns = columns_of(p, ladder);
  grown_in_card(ui, ui.px((height - kBeside) * static_cast<float>(lines.size())));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, ui.px(2)});
  for (const Line& line : lines) {
    const std::string path = fmt::format("matmul/ladder/{}/{}", lab::to_string(device), line.name);
    const float width = ImGui::GetContentRegionAvail().x;
    const Item item = control(path, {width, ui.px(height)});
    if (!item.visible) continue;
    Bars bars = place_bars(p, width, columns, height >= kBelow);
    bars.left += item.min.x;
    bars.right += item.min.x;
    bars.library_share = library;
    bars.size = size;
    bars.of_peak = peak != nullptr;
    const double share = ladder.share(line);
    draw_line(p, item, line, bars, share);
    if (item.hovered) p.view.forms.matmul.hovered_kernel = kernel_key(device, line.name);
    hint(ui, line_hint(p, line, cache));
    record(ui, item, path, "bar", line.title, bar_text(value_of(line, share, size)));
  }
  ImGui::PopStyleVar();
}

}  // namespace

void draw_matmul_ladder(const Panel& p, const Kept<MatmulResults>& kept) {
  const MatmulResults& results = shown(kept);
  p.view.forms.matmul.hovered_kernel.clear();
  Card card(p, "matmul/ladder_card", tr("Ladder"),
            {.hint = tr("Each rung adds one idea to the one above. Hover over one for details. The "
                        "vertical line is at the fastest library, a diamond at the reference's "
                        "share of its own peak; a pale bar was measured at the smaller N beside "
                        "its name."),
             .dimmed = is_old(kept)});
  if (!card) return;
  const std::vector<Device> devices = results.devices();
  if (devices.empty()) {
    muted(p.ui, results.peaks.empty() ? tr("Nothing could be measured.")
                                      : tr("The peak is known; measuring the first kernel."));
    return;
  }
  const Ladder ladder = ladder_of(p, results, known_or_first(devices, shown_device(p, results)));
  draw_ladder(p, ladder, results.request.cache);
  ImGui::Dummy({1, p.ui.px(4)});
  draw_key(p, ladder);
  if (runs(p, Page::Matmul) && !is_old(kept)) return;
  draw_sentence(p, ladder);
  draw_chosen(p, results, ladder);
}

}  // namespace lab::ui
