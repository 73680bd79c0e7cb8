// The Devices page: one card per device with its properties, current readings, and the last two
// minutes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "compute/core/events/core_text.h"
#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr double kSparkSeconds = 120;
constexpr std::size_t kSparkPoints = 120;
constexpr float kCardUnits = 270;  // the narrowest useful card
constexpr std::int64_t kMaxCpuDevices = 4096;

Maybe<std::string> with_unit(const Maybe<double>& value, const char* format) {
  if (!value) return Maybe<std::string>::missing(value.reason());
  return Maybe<std::string>(fmt::format(fmt::runtime(format), *value));
}

std::string numbers(const std::vector<int>& values) {
  return values.empty() ? "N/A" : fmt::format("{}", fmt::join(values, ", "));
}

void big_figure(const Panel& p, const DeviceInfo& info, const DeviceTelemetry& last) {
  Ui& ui = p.ui;
  const bool is_gpu = info.device.kind == DeviceKind::Cuda;
  if (last.utilisation) {
    number(ui, percent(*last.utilisation), ui.fonts.figure);
    hint(ui, is_gpu ? tr(kGpuUtilisationHint)
                    : tr("Share of time the device's cores were busy with any program since the "
                         "previous reading."));
  } else {
    ImGui::PushFont(ui.fonts.figure);
    ImGui::TextUnformatted("N/A");
    ImGui::PopFont();
    hint(ui, trf("Utilisation is not available: {}", tr(last.utilisation.reason())));
  }
  const std::size_t cores = info.cores.size();
  const std::string simd = info.simd.empty() ? tr("no SIMD") : info.simd;
  caption(ui, is_gpu       ? std::string(tr("busy"))
              : cores == 1 ? trf("busy, over 1 core with {}", simd)
                           : trf("busy, over {} cores with {}", cores, simd));
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

// Draws a small bar per core, wrapped into several lines if necessary.
void core_bars(const Panel& p, const std::string& path, const DeviceInfo& info,
               const DeviceTelemetry& last, ImU32 color) {
  Ui& ui = p.ui;
  const auto cores = static_cast<int>(last.core_utilisation.size());
  if (cores == 0) return;
  const float width = ImGui::GetContentRegionAvail().x;
  const int per_line = std::max(1, std::min(cores, static_cast<int>(width / ui.px(8))));
  const int lines = (cores + per_line - 1) / per_line;
  const float gap = std::min(ui.px(3), width / static_cast<float>(4 * per_line));
  const float step = (width + gap) / static_cast<float>(per_line);
  const float height = ui.px(lines > 2 ? 12 : 20);
  const Item item = control(path, {width, static_cast<float>(lines) * (height + gap) - gap});
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (int i = 0; i < cores; ++i) {
    const double share = last.core_utilisation[static_cast<std::size_t>(i)];
    const float x = item.min.x + step * static_cast<float>(i % per_line);
    const int line = i / per_line;
    const float y = item.min.y + (height + gap) * static_cast<float>(line);
    const float full = static_cast<float>(std::clamp(share, 0.0, 1.0)) * height;
    list->AddRectFilled({x, y}, {x + step - gap, y + height}, styled(ui.theme->raised), ui.px(2));
    list->AddRectFilled({x, y + height - full}, {x + step - gap, y + height}, styled(color),
                        ui.px(2));
  }
  std::string text =
      tr("One bar per core: the share of time it was busy since the previous reading.");
  if (info.core_kinds.size() > 1) text = text + " " + tr("Cores of the fastest kind come first.");
  hint(ui, text);
  record(ui, item, path, "meter", "cores");
}

void memory_bar(const Panel& p, const std::string& path, const DeviceInfo& info,
                const DeviceTelemetry& last, ImU32 color) {
  const std::int64_t total = info.memory_total_bytes;
  if (!p.model.history(info.device).seen || total <= 0) {
    fact(p.ui, tr("Memory"), Maybe<std::string>::missing(tr("no reading yet")));
    return;
  }
  if (info.device.kind == DeviceKind::Cuda && !last.utilisation) {
    fact(p.ui, tr("Memory"), format_bytes(total));
    fact(p.ui, tr("Memory in use"), Maybe<std::string>::missing(last.utilisation.reason()));
    return;
  }
  const std::int64_t used = std::max<std::int64_t>(0, total - last.memory_available_bytes);
  const bool is_cpu = info.device.kind == DeviceKind::Cpu;
  fact(p.ui, tr("Memory in use"), trf("{} of {}", format_bytes(used), format_bytes(total)),
       is_cpu ? tr("Of the whole machine, by all programs.") : tr("Of the GPU, by all programs."));
  bar(p.ui, path, static_cast<double>(used) / static_cast<double>(total), color,
      trf("The lab's tensors hold {} of at most {} here.", format_bytes(last.lab_used_bytes),
          format_bytes(info.memory_limit_bytes)));
}

std::string cache_text(const CacheInfo& c) {
  return trf("{} x {}, lines of {} B", c.instances, format_bytes(c.size_bytes), c.line_bytes);
}

void details(const Panel& p, const DeviceInfo& info, const DeviceTelemetry& last) {
  Ui& ui = p.ui;
  if (is_timed(info.device)) {
    fact(ui, tr("Current clock"), with_unit(last.clock_mhz, "{:.0f} MHz"),
         tr("Mean over the device's cores."));
    fact(ui, tr("Max clock"), with_unit(info.clock_max_mhz, "{:.0f} MHz"));
    fact(ui, tr("Temperature"), with_unit(last.temperature_c, "{:.0f} °C"));
  }
  if (!info.simd.empty()) {
    fact(
        ui, "SIMD", info.simd_detail.empty() ? info.simd : info.simd_detail,
        tr("The widest vector instructions that the lab's kernels use here. Libraries choose their "
           "own."));
  }
  for (const CacheInfo& c : info.caches) {
    fact(ui, trf("L{} cache", c.level), cache_text(c));
  }
  if (info.device.kind == DeviceKind::Cpu) {
    fact(ui, tr("Packages"), std::to_string(info.packages));
    fact(ui, tr("NUMA nodes"), numbers(info.numa_nodes),
         tr("Memory close to some cores, far from others."));
    fact(ui, tr("Cores"), numbers(info.cores), tr("As numbered by the operating system."));
    fact(ui, tr("Worker threads"), std::to_string(info.threads));
  }
  fact(ui, tr("Tensor memory limit"), format_bytes(info.memory_limit_bytes),
       tr("Larger allocations are rejected without being attempted."));
  for (const auto& [label, value] : info.details) fact(ui, tr(label), tr(value));
}

void device_card(const Panel& p, const DeviceInfo& info, int position) {
  Ui& ui = p.ui;
  const std::string name = lab::to_string(info.device);
  const std::string path = "devices/" + name;
  Card card(p, path, fmt::format("{}   {}", name, info.name));
  if (!card) return;
  const DeviceHistory& history = p.model.history(info.device);
  const DeviceTelemetry& last = history.last;
  const ImU32 color = device_color(*ui.theme, info.device);
  lost_box(p, path + "/lost", last.lost);
  if (is_timed(info.device)) {
    big_figure(p, info, last);
    core_kinds(p, path + "/core_kinds", info);
    utilisation_sparkline(p, path + "/spark", history.t_s, history.utilisation, color);
    core_bars(p, path + "/cores", info, last, color);
  } else {
    body(ui, tr(kEmulatedGpu));
  }
  memory_bar(p, path + "/memory", info, last, color);
  auto& open_cards = p.view.forms.devices.open;
  bool open = open_cards.contains(position);
  if (foldout(ui, path + "/details", tr("Details"), open)) {
    open ? static_cast<void>(open_cards.insert(position))
         : static_cast<void>(open_cards.erase(position));
  }
  if (open) details(p, info, last);
}

void absent_card(const Panel& p, const AbsentDevice& absent, std::size_t i) {
  Card card(p, fmt::format("devices/absent/{}", i), trf("No {}", absent.what));
  if (!card) return;
  muted(p.ui, tr(absent.reason));
  body(p.ui, tr("Everything in the lab also works on the CPU."));
}

int cpu_devices_now(const Panel& p) {
  const std::vector<Device>& all = p.model.devices();
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [](Device d) { return d.kind == DeviceKind::Cpu; }));
}

// Sets how the cores are split into devices. The devices are created once, at start.
void split_field(const Panel& p) {
  std::int64_t& wanted = p.view.forms.devices.cpu_devices;
  input_number(
      p.ui, "devices/cpu_devices", tr("CPU devices"), wanted,
      {.min = 1,
       .max = static_cast<double>(kMaxCpuDevices),
       .step = 1,
       .unit = wanted == 1 ? tr("device") : tr("devices"),
       .hint = tr("Each device gets its own share of the cores and its own memory account, "
                  "so that experiments between devices work without a GPU.")});
  const int now = cpu_devices_now(p);
  if (wanted == now) {
    if (now == 1) muted(p.ui, tr("Experiments between devices need two or more."));
  } else {
    note_box(p.ui, "devices/restart",
             trf("Currently {}; takes effect when the lab is restarted.", now));
  }
}

void machine_card(const Panel& p) {
  const MachineInfo& machine = p.model.machine();
  Card card(p, "devices/machine", tr("This machine"));
  if (!card) return;
  fact(p.ui, tr("Name"), machine.host.empty() ? "N/A" : machine.host);
  fact(p.ui, tr("System"), machine.system.empty() ? "N/A" : machine.system);
  fact(p.ui, tr("Kernel"), machine.kernel.empty() ? "N/A" : machine.kernel);
  fact(p.ui, tr("Memory held by the lab"), format_bytes(p.model.lab_rss_bytes()),
       tr("Everything in this process, including the window."));
  split_field(p);
}

// Draws one card of the page.
using Draw = std::function<void()>;

std::optional<std::size_t> place_of_gpu(const Model& model, const DeviceInfo& info) {
  for (std::size_t i = 0; i < model.gpus().size(); ++i) {
    if (model.gpus()[i].facts.pci_bus_id == info.pci_bus_id) return i;
  }
  return std::nullopt;
}

std::vector<Draw> overview(const Panel& p) {
  const MachineInfo& machine = p.model.machine();
  std::vector<Draw> cards;
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    const DeviceInfo& info = machine.devices[i];
    if (const auto place = place_of_gpu(p.model, info)) {
      cards.emplace_back([&p, &info, place] { gpu_card(p, *place, &info); });
    } else {
      cards.emplace_back([&p, &info, i] { device_card(p, info, static_cast<int>(i)); });
    }
  }
  for (std::size_t place = 0; place < p.model.gpus().size(); ++place) {
    if (device_of(p.model, p.model.gpus()[place]) != nullptr) continue;
    cards.emplace_back([&p, place] { gpu_card(p, place, nullptr); });
  }
  std::vector<std::string> addresses;
  for (const GpuRecord& gpu : p.model.gpus()) addresses.push_back(gpu.facts.pci_bus_id);
  for (std::size_t i = 0; i < machine.absent.size(); ++i) {
    const AbsentDevice& absent = machine.absent[i];
    if (is_one_of(absent, addresses)) continue;
    cards.emplace_back([&p, &absent, i] { absent_card(p, absent, i); });
  }
  if (!p.model.gpus().empty()) cards.emplace_back([&p] { peers_card(p); });
  cards.emplace_back([&p] { machine_card(p); });
  return cards;
}

// Draws rows with about the same number of cards each, filling the width.
void overview_cards(const Panel& p) {
  const std::vector<Draw> cards = overview(p);
  const auto fit = static_cast<std::size_t>(std::max(1.0F, width_left(p) / kCardUnits));
  const std::size_t most = std::min(fit, std::size_t{4});
  const std::size_t rows = (cards.size() + most - 1) / most;
  const std::size_t columns = (cards.size() + rows - 1) / rows;
  for (std::size_t first = 0; first < cards.size(); first += columns) {
    const std::size_t end = std::min(first + columns, cards.size());
    const std::vector<float> weights(end - first, 1.0F);
    Row row(p.ui, weights, {.equal = true});
    for (std::size_t i = first; i < end; ++i) {
      row.next();
      cards[i]();
    }
  }
}

}  // namespace

void utilisation_sparkline(const Panel& p, const std::string& path, const Column64& t_s,
                           const Column64& utilisation, ImU32 color) {
  const std::vector<float> spark =
      resample(t_s, utilisation, p.model.now_s(), kSparkSeconds, kSparkPoints);
  sparkline(p.ui, path, spark, 1, color, 56,
            tr("Utilisation over the last two minutes; the top of the box is 100 %."));
}

void draw_devices_page(const Panel& p) {
  const StretchedArea area(p);
  overview_cards(p);
  device_charts(p);
}

}  // namespace lab::ui
