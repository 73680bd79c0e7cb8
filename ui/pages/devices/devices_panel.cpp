// The Devices page: the list of devices on the left; on the right a chart of one quantity of all of
// them, and the selected device in detail.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "compute/core/events/core_text.h"
#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

Maybe<std::string> with_unit(const Maybe<double>& value, const char* format) {
  if (!value) return Maybe<std::string>::missing(value.reason());
  return Maybe<std::string>(fmt::format(fmt::runtime(format), *value));
}

// "2.60 GHz", as on the axis of the chart.
Maybe<std::string> clock_text(const Maybe<double>& mhz) {
  if (!mhz) return Maybe<std::string>::missing(mhz.reason());
  return Maybe<std::string>(format_si(*mhz * 1e6, "Hz"));
}

// The detail that is shown with the tensors that it limits.
constexpr std::string_view kMemoryLimit = "Memory limit";

void load_fact(const Panel& p, const DeviceTelemetry& last) {
  const Maybe<double>& load = last.utilisation;
  fact(p.ui, tr("Utilisation"),
       load ? Maybe<std::string>(percent(*load)) : Maybe<std::string>::missing(load.reason()),
       tr("Share of time the device's cores were busy with any program since the previous "
          "reading."));
}

// Names the kinds of the cores if those of the machine are not alike.
void core_kinds(const Panel& p, const std::string& path, const DeviceInfo& info) {
  if (info.core_kinds.empty()) return;
  const std::string text = cores_text(info);
  muted(p.ui, text);
  hint(p.ui, tr("Cores of one kind are equally fast. The operating system reports the kinds and "
                "their clocks."));
  record_item(p.ui, path, "text", text);
}

// Draws a small bar per core, empty before the first reading: upright ones side by side, wrapped
// into several lines if necessary, but lying ones for a few cores, where upright ones would be
// wide.
void core_bars(const Panel& p, const std::string& path, const DeviceInfo& info,
               const DeviceTelemetry& last, ImU32 color) {
  Ui& ui = p.ui;
  const auto cores = static_cast<int>(info.cores.size());
  if (cores == 0) return;
  constexpr int kFew = 4;
  const bool lying = cores <= kFew;
  const float width = ImGui::GetContentRegionAvail().x;
  const int per_line = lying ? 1 : std::max(1, std::min(cores, static_cast<int>(width / ui.px(8))));
  const int lines = (cores + per_line - 1) / per_line;
  const float gap = std::min(ui.px(3), width / static_cast<float>(4 * per_line));
  const float step = (width + gap) / static_cast<float>(per_line);
  const float height = ui.px(lying ? 8 : lines > 2 ? 12 : 20);
  const Item item = control(path, {width, static_cast<float>(lines) * (height + gap) - gap});
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (int i = 0; i < cores; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double share = at < last.core_utilisation.size() ? last.core_utilisation[at] : 0;
    const float x = item.min.x + step * static_cast<float>(i % per_line);
    const int line = i / per_line;
    const float y = item.min.y + (height + gap) * static_cast<float>(line);
    const auto full = static_cast<float>(std::clamp(share, 0.0, 1.0));
    const ImVec2 end(x + step - gap, y + height);
    list->AddRectFilled({x, y}, end, styled(ui.theme->raised), ui.px(2));
    if (lying) {
      list->AddRectFilled({x, y}, {x + (end.x - x) * full, end.y}, styled(color), ui.px(2));
    } else {
      list->AddRectFilled({x, end.y - full * height}, end, styled(color), ui.px(2));
    }
  }
  std::string text =
      tr("One bar per core: the share of time it was busy since the previous reading.");
  if (info.core_kinds.size() > 1) text = text + " " + tr("Cores of the fastest kind come first.");
  hint(ui, text);
  record(ui, item, path, "meter", "cores");
}

// What the lab's own tensors hold; the machine's memory is counted once, in the list.
void tensor_bar(const Panel& p, const std::string& path, const DeviceEntry& entry,
                const DeviceTelemetry& last) {
  const std::int64_t limit = entry.info->memory_limit_bytes;
  fact(p.ui, tr("Tensors"), trf("{} of {}", format_bytes(last.lab_used_bytes), format_bytes(limit)),
       tr("What the lab's tensors hold here, and the most that they may hold. Larger allocations "
          "are rejected without being attempted."));
  bar(p.ui, path,
      limit > 0 ? static_cast<double>(last.lab_used_bytes) / static_cast<double>(limit) : 0,
      entry.color);
  const auto& all = entry.info->details;
  const auto why =
      std::ranges::find(all, kMemoryLimit, &std::pair<std::string, std::string>::first);
  if (why == all.end()) return;
  const std::string note = trf("Limit: {}", tr(why->second));
  footnote(p.ui, note);
  record_item(p.ui, path + "_limit", "note", note);
}

// "1 x 260 MiB, shared with cpu:1".
std::string cache_text(const Panel& p, const DeviceInfo& info, const CacheInfo& c) {
  return with_sharers(fmt::format("{} x {}", c.instances, format_bytes(c.size_bytes)),
                      cache_sharers(*p.model.silicon(), info.device, c.level));
}

void details(const Panel& p, const DeviceInfo& info, const DeviceTelemetry& last) {
  constexpr float kNarrowest = 320;
  FactColumns facts(p, kNarrowest);
  if (is_timed(info.device)) {
    const bool nominal = info.virtual_machine;
    facts.add(tr("Current clock"),
              nominal && last.clock_mhz
                  ? Maybe<std::string>(trf("{}, nominal", *clock_text(last.clock_mhz)))
                  : clock_text(last.clock_mhz),
              nominal ? tr("As reported by the virtual machine. The processor may run faster, so "
                           "that a measured peak can be above what this clock allows.")
                      : tr("Mean over the device's cores."),
              fmt::format("devices/{}/clock", lab::to_string(info.device)));
    facts.add(tr("Max clock"), clock_text(info.clock_max_mhz));
    facts.add(tr("Temperature"), with_unit(last.temperature_c, "{:.0f} °C"));
  }
  if (!info.simd.empty()) {
    facts.add(
        "SIMD", info.simd_detail.empty() ? info.simd : info.simd_detail,
        tr("The widest vector instructions that the lab's kernels use here. Libraries choose their "
           "own."));
  }
  for (const CacheInfo& c : info.caches) {
    facts.add(trf("L{} cache", c.level), cache_text(p, info, c),
              trf("Lines of {} B.", c.line_bytes),
              fmt::format("devices/{}/cache/{}", lab::to_string(info.device), c.level));
  }
  if (info.device.kind == DeviceKind::Cpu) {
    facts.add(tr("Packages"), std::to_string(info.packages));
    facts.add(tr("NUMA nodes"),
              info.numa_nodes.empty()       ? std::string("N/A")
              : info.numa_nodes.size() == 1 ? trf("node {}", info.numa_nodes.front())
                                            : number_ranges(info.numa_nodes),
              tr("Memory close to some cores, far from others."));
    facts.add(tr("Cores"),
              with_sharers(core_numbers(info), core_sharers(*p.model.silicon(), info.device)),
              tr("As numbered by the operating system."));
    facts.add(tr("Worker threads"), std::to_string(info.threads));
  }
  for (const auto& [label, value] : info.details) {
    if (label != kMemoryLimit) facts.add(tr(label), std::string(tr(value)));
  }
}

// A device without NVML: what it does now.
void device_card(const Panel& p, const DeviceEntry& entry) {
  const DeviceInfo& info = *entry.info;
  const std::string path = "devices/" + entry.key;
  const DeviceTelemetry& last = p.model.history(info.device).last;
  const Card card(p, path, fmt::format("{}   {}", entry.name, entry.what));
  if (!card) return;
  {
    constexpr float kGutter = -16, kWidest = 600;  // units; a fact is no wider
    const bool wide = width_left(p) > 2 * kWidest + 4 * -kGutter;
    Row row(p.ui,
            wide ? std::vector<float>{-kWidest, 1, -kWidest} : std::vector<float>{1, kGutter, 1});
    row.next();
    if (is_timed(info.device)) {
      load_fact(p, last);
      core_kinds(p, path + "/core_kinds", info);
      core_bars(p, path + "/cores", info, last, entry.color);
    } else {
      body(p.ui, tr(kEmulatedGpu));
      restart_button(p, "devices/no_emulation", tr("Restart without emulated GPUs"),
                     tr("Restarts the lab, which takes about a second, and returns to this page"),
                     {.emulated_gpus = 0});
    }
    row.next();  // the gutter
    row.next();
    tensor_bar(p, path + "/memory", entry, last);
  }
}

// What it is.
void specification_card(const Panel& p, const DeviceEntry& entry) {
  const bool last_card = entry.info->device.kind != DeviceKind::Cpu;  // Programs grow otherwise
  const Card card(p, fmt::format("devices/{}/specification", entry.key), tr("Specification"),
                  {.extra = last_card ? spare_height(p) : 0, .note = entry.name});
  if (card) details(p, *entry.info, p.model.history(entry.info->device).last);
}

bool emulates_gpus(const Panel& p) {
  return std::ranges::any_of(p.model.devices(),
                             [](Device d) { return d.kind == DeviceKind::Emulated; });
}

void absent_card(const Panel& p, const DeviceEntry& entry) {
  const Card card(p, "devices/" + entry.key, trf("No {}", entry.absent->what),
                  {.extra = spare_height(p)});
  if (!card) return;
  muted(p.ui, tr(entry.absent->reason));
  body(p.ui, tr("Everything in the lab also works on the CPU."));
  constexpr int kOffered = 2;  // several, for experiments between GPUs
  if (emulates_gpus(p)) return;
  muted(p.ui, tr("The CPU can emulate GPUs, to try copies to a GPU and training on several: "
                 "correct results, never timed."));
  restart_button(p, "devices/emulate", trf("Restart with {} emulated GPUs", kOffered),
                 tr("Restarts the lab, which takes about a second, and returns to this page"),
                 {.emulated_gpus = kOffered});
}

// Errors that need attention, whatever is selected.
void lost_boxes(const Panel& p, const std::vector<DeviceEntry>& entries) {
  for (const DeviceEntry& entry : entries) {
    if (entry.info == nullptr) continue;
    lost_box(p, "devices/" + entry.key + "/lost", p.model.history(entry.info->device).last.lost);
  }
}

void draw_list(const Panel& p) {
  device_list(p, device_entries(p));
}

void draw_selected(const Panel& p) {
  const std::vector<DeviceEntry> entries = device_entries(p);
  lost_boxes(p, entries);
  device_chart(p, entries);
  if (entries.empty()) return;
  const DeviceEntry& entry = selected_entry(p, entries);
  if (entry.absent != nullptr) {
    absent_card(p, entry);
  } else if (entry.gpu != nullptr) {
    gpu_cards(p, entry);
    peers_card(p);
  } else {
    device_card(p, entry);
    if (entry.info->device.kind == DeviceKind::Cpu) programs_card(p);
    specification_card(p, entry);
  }
}

}  // namespace

void draw_devices_page(const Panel& p) {
  draw_form_and_results(p, draw_list, draw_selected, 264);
}

}  // namespace lab::ui
