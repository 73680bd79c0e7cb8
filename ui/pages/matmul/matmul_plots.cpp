#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/live_rate.h"
#include "ui/model/scaling_results.h"
#include "ui/pages/matmul/matmul_parts.h"
#include "ui/pages/reference_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

constexpr std::array<plot::Marker, 6> kMarkers = {plot::Marker::Circle,   plot::Marker::Square,
                                                  plot::Marker::Triangle, plot::Marker::Diamond,
                                                  plot::Marker::Cross,    plot::Marker::Wedge};
constexpr float kOldAlpha = 0.2F;
constexpr float kUnlitAlpha = 0.25F;

// Returns the kernel's index among the distinct rung names, of one device or of all.
int place_of(const Model& model, std::string_view kernel, std::optional<Device> device = {}) {
  std::vector<std::string_view> before;
  for (const RungInfo& rung : model.rungs()) {
    if (device && rung.device != *device) continue;
    if (rung.name == kernel) break;
    const bool seen = std::find(before.begin(), before.end(), rung.name) != before.end();
    if (!seen) before.push_back(rung.name);
  }
  return static_cast<int>(before.size());
}

// "N = 1024", the speed of each kernel at that size, the fastest first, and how the one under the
// pointer was measured.
std::string kernels_text(const Panel& p, const MatmulResults& results, const KernelResults& hovered,
                         const MatmulSample& sample) {
  std::vector<const MatmulSample*> samples;
  for (const KernelResults& k : results.kernels) {
    const MatmulSample* s = k.device == hovered.device ? k.at(sample.n) : nullptr;
    if (s != nullptr) samples.push_back(s);
  }
  std::ranges::stable_sort(samples, std::ranges::greater{}, &MatmulSample::gflops);
  std::string text = fmt::format("N = {}", sample.n);
  for (const MatmulSample* s : samples) {
    const std::string speed = format_gflops(s->gflops);
    add_row(text, kernel_title(p.model.rungs(), s->device, s->kernel),
            is_unsteady(s->time) ? with_spread(speed, s->time) : speed);
  }
  return text + fmt::format("\n\n{}\n{}",
                            kernel_title(p.model.rungs(), hovered.device, hovered.name),
                            timing_text(sample.time));
}

void add_curves(const Panel& p, const MatmulResults& results, Device device, bool old,
                std::vector<plot::Series>& out) {
  const CacheState cache = results.request.cache;
  // The bands of many kernels would hide the lines.
  constexpr std::ptrdiff_t kMostBands = 2;
  const bool few =
      std::ranges::count(results.kernels, device, &KernelResults::device) <= kMostBands;
  for (const KernelResults* kernel : by_rung(p, results)) {
    const KernelResults& k = *kernel;
    if (k.device != device) continue;
    plot::Series s = kernel_series(p, k);
    s.band = few || p.view.forms.matmul.hovered_kernel == kernel_key(k.device, k.name);
    if (old) {
      s.alpha = kOldAlpha;
      s.in_legend = false;
      s.marker = plot::Marker::None;
    }
    s.x = k.size;
    s.y = k.gflops;
    s.low = k.gflops_low;
    s.high = k.gflops_high;
    if (!old) s.unsteady = k.unsteady;
    s.describe = [&p, &results, &k, cache, old](std::size_t i) {
      return old ? tr("previous run") + std::string("\n") +
                       describe(with_title(p, k.samples[i]), cache)
                 : kernels_text(p, results, k, k.samples[i]);
    };
    out.push_back(std::move(s));
  }
}

// Adds the reference's kernels, each in the colour of the matching kernel measured here.
void add_reference(const Panel& p, const ReferenceMachine& machine, Device device,
                   const Overlay<KernelResults>& fitting, std::vector<plot::Series>& out) {
  for (const ReferenceCurve<KernelResults>& curve : fitting.curves) {
    const KernelResults& there = *curve.there;
    if (curve.here != nullptr && curve.here->device != device) continue;
    plot::Series like = reference_entry(p, machine);
    like.label = kernel_title(p.model.rungs(), device, there.name);
    if (curve.here != nullptr) like = kernel_series(p, *curve.here);
    out.push_back(reference_series(like, machine, curve, there.size, there.gflops));
  }
}

// "measured peak", with threads if the device has several.
std::string peak_name(const PeakSample& peak, const MatmulResults& results) {
  bool threads = false;
  for (const PeakSample& other : results.peaks) {
    threads = threads || (other.device == peak.device && other.threads != peak.threads);
  }
  std::string name = tr("measured peak");
  if (peak.dtype != Precision::F32) {
    name += fmt::format(", {}{}", peak.amx ? "AMX " : "", lab::to_string(peak.dtype));
  }
  if (threads) name += ", " + workers_text(peak.threads);
  return name;
}

std::vector<plot::Reference> peak_lines(const Panel& p, const MatmulResults& results,
                                        Device device) {
  std::vector<plot::Reference> lines;
  for (const PeakSample& peak : results.peaks) {
    if (peak.device != device) continue;
    lines.push_back({peak_name(peak, results), peak.gflops, p.ui.theme->muted, plot::Line::Dashed});
  }
  return lines;
}

// Returns the devices with kernels or ceilings, without duplicates.
std::vector<Device> devices_with_results(const MatmulResults& results) {
  std::vector<Device> devices = results.devices();
  for (const CeilingsMeasured& c : results.ceilings) {
    if (std::find(devices.begin(), devices.end(), c.device) == devices.end()) {
      devices.push_back(c.device);
    }
  }
  return devices;
}

}  // namespace

Device shown_device(const Panel& p, const MatmulResults& results) {
  return known_or_first(devices_with_results(results), p.view.forms.matmul.shown_device);
}

void draw_device_choice(const Panel& p, const MatmulResults& results) {
  std::vector<Device> devices = devices_with_results(results);
  const std::size_t measured = devices.size();
  if (runs(p, Page::Matmul) && &results == &p.model.matmul().current) {
    for (const Device device : wanted_devices(p, results.request.devices)) {
      if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
    }
  }
  if (devices.size() < 2) return;
  Device chosen = shown_device(p, results);
  choose_one(p,
             {.path = "matmul/shown_device",
              .label = tr("Device"),
              .hint = tr("Whose ladder, curves and roofline are shown."),
              .most_segments = 4},
             devices, chosen, chosen, [](Device device) { return lab::to_string(device); });
  // One without results cannot be shown yet.
  const auto end = devices.begin() + static_cast<std::ptrdiff_t>(measured);
  if (std::find(devices.begin(), end, chosen) != end && chosen != shown_device(p, results)) {
    p.view.forms.matmul.shown_device = chosen;
  }
}

plot::Marker kernel_marker(const Panel& p, const std::string& name) {
  return kMarkers[static_cast<std::size_t>(place_of(p.model, name)) % kMarkers.size()];
}

plot::Series kernel_series(const Panel& p, const KernelResults& k) {
  plot::Series s;
  s.label = kernel_title(p.model.rungs(), k.device, k.name);
  s.color = kernel_color(p, k.device, k.name);
  s.line = k.library ? plot::Line::Dashed : plot::Line::Solid;
  s.marker = kernel_marker(p, k.name);
  const std::string& hovered = p.view.forms.matmul.hovered_kernel;
  if (hovered == kernel_key(k.device, k.name)) {
    s.width = 3;
  } else if (hovered.starts_with(kernel_key(k.device, ""))) {
    s.alpha = kUnlitAlpha;
  }
  return s;
}

std::vector<const KernelResults*> by_rung(const Panel& p, const MatmulResults& results) {
  std::vector<const KernelResults*> kernels;
  for (const KernelResults& k : results.kernels) kernels.push_back(&k);
  std::stable_sort(kernels.begin(), kernels.end(), [&](const auto* a, const auto* b) {
    if (a->device != b->device) return a->device < b->device;
    return place_of(p.model, a->name) < place_of(p.model, b->name);
  });
  return kernels;
}

MatmulSample with_title(const Panel& p, MatmulSample sample) {
  sample.kernel =
      titled_name(sample.kernel, kernel_title(p.model.rungs(), sample.device, sample.kernel));
  return sample;
}

ImU32 kernel_color(const Panel& p, Device device, std::string_view kernel) {
  return series_color(*p.ui.theme, place_of(p.model, kernel, device));
}

std::string titled_name(const std::string& name, const std::string& title) {
  return title == name ? name : fmt::format("{} ({})", title, name);
}

std::string kernel_key(Device device, std::string_view kernel) {
  return fmt::format("{} {}", lab::to_string(device), kernel);
}

namespace {

// The end of an axis of GFLOP/s with room for the labels of the peaks above their lines; none
// without data.
std::optional<double> gflops_end(const std::vector<plot::Series>& series,
                                 const std::vector<plot::Reference>& peaks) {
  constexpr double kHeadroom = 1.12;
  double most = 0;
  for (const plot::Reference& peak : peaks) most = std::max(most, peak.y);
  for (const plot::Series& s : series) {
    for (const std::span<const double> values : {s.y, s.high}) {
      for (const double y : values) most = std::max(most, y);
    }
  }
  return most > 0 ? std::optional(kHeadroom * most) : std::nullopt;
}

}  // namespace

void draw_matmul_curves(const Panel& p, const Kept<MatmulResults>& kept, bool beside_ladder) {
  const bool old = is_old(kept);
  Card card(
      p, "matmul/curves", tr("GFLOP/s over size"),
      {.hint = tr("2 N^3 operations divided by the median time; the axis ends above the measured "
                  "peak. The band spans p10 to p90; of more than two kernels, it is shown while "
                  "the pointer is over a rung of the ladder."),
       .dimmed = old});
  if (!card) return;
  const MatmulResults& results = shown(kept);
  const Device device = shown_device(p, results);
  std::vector<plot::Series> series;
  if (kept.previous && !kept.current.empty()) {
    add_curves(p, *kept.previous, device, true, series);
  }
  const ReferenceResults* reference = chosen_reference(p);
  Overlay<KernelResults> fitting;
  if (reference != nullptr) {
    fitting = overlay(*reference, results);
    reference_note(p, "matmul/reference_note", fitting.note);
    add_reference(p, reference->machine, device, fitting, series);
  }
  add_curves(p, results, device, false, series);
  if (!fitting.curves.empty()) {  // first, where a short legend shows it
    series.insert(series.begin(), reference_entry(p, reference->machine));
  }
  const std::vector<plot::Reference> peaks = peak_lines(p, results, device);
  plot::Axes axes{.x = {.label = tr("size N"), .scale = plot::Scale::Log2, .whole = true},
                  .y = {.label = "GFLOP/s", .min = 0, .max = gflops_end(series, peaks)}};
  if (towers(fitting, results.kernels, &KernelResults::gflops))
    axes.y = {.label = "GFLOP/s", .scale = plot::Scale::Log10};
  plot::draw(p.ui, "matmul/plot/gflops", axes, series,
             {.height = 290,
              .grows = true,
              .cursor = &p.view.cursor,
              .references = peaks,
              .empty_text = tr("No sample yet"),
              // The bars of the ladder have the colours.
              .legend = !beside_ladder || !fitting.curves.empty(),
              .dimmed = old},
             p.out);
}

namespace {

// The kernels of a device that have live samples.
std::vector<const KernelResults*> live_kernels(const Panel& p, const MatmulResults& results,
                                               Device device) {
  std::vector<const KernelResults*> kernels = by_rung(p, results);
  std::erase_if(kernels, [&](const KernelResults* k) {
    return k->device != device || k->live_gflops.empty();
  });
  return kernels;
}

// The speed of every kernel at one time.
std::string live_text(const Panel& p, const std::vector<const KernelResults*>& kernels,
                      double t_s) {
  std::string text = format_seconds(t_s);
  for (const KernelResults* k : kernels) {
    const auto after = std::ranges::upper_bound(k->live_t_s, t_s);
    if (after == k->live_t_s.begin()) continue;
    const auto i = static_cast<std::size_t>(after - k->live_t_s.begin()) - 1;
    add_row(text, kernel_title(p.model.rungs(), k->device, k->name),
            format_gflops(k->live_gflops[i]));
  }
  return text;
}

void live_table(const Panel& p, const MatmulResults& results,
                const std::vector<const KernelResults*>& kernels) {
  static constexpr std::array kColumns = {
      Column{LAB_TEXT("Kernel"), 2, false, {}},
      Column{LAB_TEXT("Now"), 1, true, LAB_TEXT("The last sample.")},
      Column{LAB_TEXT("Median"), 1, true, LAB_TEXT("Median of the samples in the chart.")},
      Column{LAB_TEXT("p10 to p90"), 1.4F, true,
             LAB_TEXT("Percentiles of the samples in the chart.")},
      Column{LAB_TEXT("Share of peak"), 1, true,
             LAB_TEXT("The median divided by the measured peak.")}};
  if (kernels.empty() || !begin_table(p.ui, "matmul/live_table", kColumns)) return;
  for (const KernelResults* k : kernels) {
    const LiveRate rate = live_rate(k->live_gflops);
    const PeakSample* peak = results.peak(k->device);
    table_row(p.ui);
    cell(p.ui, kernel_title(p.model.rungs(), k->device, k->name), k->name);
    cell(p.ui, format_gflops(rate.last));
    cell(p.ui, format_gflops(rate.median), {}, rate.varies());
    cell(p.ui, trf("{} to {}", format_gflops(rate.p10), format_gflops(rate.p90)));
    cell(p.ui, peak != nullptr && peak->gflops > 0 ? percent(rate.median / peak->gflops) : "N/A");
  }
  end_table(p.ui);
}

}  // namespace

void draw_live_matmul(const Panel& p, const Kept<MatmulResults>& kept) {
  const bool old = is_old(kept);
  const MatmulResults& results = shown(kept);
  p.view.forms.matmul.hovered_kernel.clear();
  const Device device = shown_device(p, results);
  const std::int64_t n = results.largest_size(device);
  const std::string note = n == 0 ? "" : fmt::format("{}, N = {}", lab::to_string(device), n);
  Card card(p, "matmul/live_card", tr("GFLOP/s over time"),
            {.extra = spare_height(p),
             .hint = tr("The kernels at one size, measured repeatedly until stopped."),
             .note = note,
             .dimmed = old});
  if (!card) return;
  draw_device_choice(p, results);
  const std::vector<const KernelResults*> kernels = live_kernels(p, results, device);
  live_table(p, results, kernels);
  std::vector<plot::Series> series;
  for (const KernelResults* k : kernels) {
    plot::Series s = kernel_series(p, *k);
    s.marker = plot::Marker::None;
    s.describe = [&p, &kernels, k](std::size_t i) { return live_text(p, kernels, k->live_t_s[i]); };
    s.x = k->live_t_s;
    s.y = k->live_gflops;
    series.push_back(std::move(s));
  }
  const std::vector<plot::Reference> peaks = peak_lines(p, results, device);
  const plot::Axes axes{.x = {.label = tr("time"), .unit = "s"},
                        .y = {.label = "GFLOP/s", .min = 0, .max = gflops_end(series, peaks)}};
  plot::draw(p.ui, "matmul/plot/live", axes, series,
             {.height = 260,
              .grows = true,
              .references = peaks,
              .empty_text = tr("No sample yet"),
              .dimmed = old},
             p.out);
}

}  // namespace lab::ui
