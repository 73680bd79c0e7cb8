// The list of the Devices page: every device with its load, the main memory, and the machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/pages/form_devices.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr double kSparkSeconds = 120;
constexpr std::size_t kSparkPoints = 60;
constexpr float kEntryHeight = 64, kShortEntryHeight = 46;  // with the load and without it

DeviceEntry entry_of_device(const Panel& p, const DeviceInfo& info) {
  DeviceEntry entry;
  entry.info = &info;
  entry.name = lab::to_string(info.device);
  entry.key = entry.name;
  entry.what = info.name;
  entry.color = device_color(*p.ui.theme, info.device);
  entry.gpu = info.pci_bus_id.empty() ? nullptr : p.model.gpu(info.pci_bus_id);
  if (entry.gpu != nullptr) entry.key = "gpu/" + info.pci_bus_id;
  return entry;
}

bool has_entry(const std::vector<DeviceEntry>& entries, const GpuRecord& gpu) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const DeviceEntry& entry) { return entry.gpu == &gpu; });
}

// The load, or why it is unknown.
std::string load_text(const Panel& p, const DeviceEntry& entry) {
  if (entry.absent != nullptr) return {};
  if (entry.gpu != nullptr) {
    const GpuTelemetry& last = entry.gpu->history.last;
    return last.asleep ? tr("asleep") : percent(last.utilisation);
  }
  if (!is_timed(entry.info->device)) return {};
  return percent(p.model.history(entry.info->device).last.utilisation);
}

std::string why_no_load(const Panel& p, const DeviceEntry& entry) {
  if (entry.absent != nullptr) return tr(entry.absent->reason);
  const Maybe<double>& load = entry.gpu != nullptr
                                  ? entry.gpu->history.last.utilisation
                                  : p.model.history(entry.info->device).last.utilisation;
  return load ? std::string() : trf("Utilisation is not available: {}", tr(load.reason()));
}

// The entry's second line: of CPU devices, which have one name, what tells them apart.
std::string what_is_listed(const Panel& p, const DeviceEntry& entry) {
  const bool split =
      entry.info != nullptr && entry.info->device.kind == DeviceKind::Cpu && cpu_devices_now(p) > 1;
  if (!split) return entry.what;
  return trf("{}; tensors: {}", core_numbers(*entry.info),
             format_bytes(p.model.memory(entry.info->device).used));
}

// A line of the load in the last two minutes, 100 % at the top.
void draw_load_line(const Panel& p, const DeviceEntry& entry, ImVec2 min, ImVec2 max) {
  const Curves& curves = entry.curves(p.model);
  const std::vector<float> values =
      resample(curves.t_s, curves.utilisation, p.model.now_s(), kSparkSeconds, kSparkPoints);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float base = std::floor(max.y) - 0.5F;
  list->AddLine({min.x, base}, {max.x, base}, styled(p.ui.theme->plot_grid));
  const float step = (max.x - min.x) / static_cast<float>(kSparkPoints - 1);
  std::vector<ImVec2> line;
  const auto flush = [&] {
    if (line.size() > 1) {
      list->AddPolyline(line.data(), static_cast<int>(line.size()), styled(entry.color), 0,
                        std::max(1.0F, p.ui.px(1.4F)));
    }
    line.clear();
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      flush();
      continue;
    }
    const float share = std::clamp(values[i], 0.0F, 1.0F);
    line.push_back({min.x + step * static_cast<float>(i),
                    max.y - p.ui.px(1) - share * (max.y - min.y - p.ui.px(2))});
  }
  flush();
}

void draw_list_entry(const Panel& p, const DeviceEntry& entry, bool selected) {
  Ui& ui = p.ui;
  const std::string path = "devices/list/" + entry.key;
  const float width = ImGui::GetContentRegionAvail().x;
  const bool has_load =
      entry.absent == nullptr && (entry.info == nullptr || is_timed(entry.info->device));
  const Item item = control(path, {width, ui.px(has_load ? kEntryHeight : kShortEntryHeight)});
  const std::string load = load_text(p, entry);
  record(ui, item, path, "row", entry.name, selected ? "selected" : "");
  if (item.pressed) p.view.forms.devices.selected = entry.key;
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& t = *ui.theme;
  row_background(ui, item, selected);
  focus_ring(ui, item, ui.px(kControlRadius));
  const float pad = ui.px(10), top = item.min.y + ui.px(6);
  const float right = item.max.x - pad, left = item.min.x + pad;
  const float wide = text_size(ui.fonts.strong, load).x;
  draw_device_label(
      ui,
      {entry.absent != nullptr ? t.plot_axis : entry.color, ui.fonts.strong, t.text, entry.name},
      {left, top + ui.fonts.strong->FontSize / 2}, right - wide - left - ui.px(8));
  draw_text(list, ui.fonts.strong, {right - wide, top}, t.text, load);
  const float second = top + ui.fonts.strong->FontSize + ui.px(2);
  const std::string what = what_is_listed(p, entry);
  draw_text_fitted(list, ui.fonts.caption, {left, second}, right - left, t.muted, what);
  record_rect(ui, path + "/what", "text", what, {}, true, {left, second},
              {right, second + ui.fonts.caption->FontSize});
  if (has_load) {
    draw_load_line(p, entry, {left, second + ui.fonts.caption->FontSize + ui.px(2)},
                   {right, item.max.y - ui.px(4)});
  }
  hint(ui, why_no_load(p, entry));
}

// "cpu:0", "cpu:0 and cpu:1", "cpu:0 to cpu:7".
std::string cpu_names(const Model& model) {
  std::vector<std::string> names;
  for (const Device device : model.devices()) {
    if (device.kind == DeviceKind::Cpu) names.push_back(lab::to_string(device));
  }
  if (names.empty()) return {};
  if (names.size() == 2) return trf("{} and {}", names[0], names[1]);
  return names.size() == 1 ? names[0] : trf("{} to {}", names.front(), names.back());
}

// The machine's memory, once for all CPU devices.
void main_memory(const Panel& p) {
  const auto memory = memory_in_use(p.model, p.model.machine().devices);
  if (!memory || memory->total_bytes <= 0) return;
  caption(p.ui, tr("Main memory in use"));
  body(p.ui, memory->used_bytes ? trf("{} of {}", format_bytes(*memory->used_bytes),
                                      format_bytes(memory->total_bytes))
                                : std::string("N/A"));
  bar(p.ui, "devices/memory", memory->share(), p.ui.theme->muted,
      tr("Memory in use by all programs on this machine."));
  if (p.model.devices().size() > 1 && p.model.devices()[1].kind == DeviceKind::Cpu) {
    muted(p.ui, trf("Shared by {}, counted once.", cpu_names(p.model)));
  }
}

// Who keeps the cores busy, once for all CPU devices.
void cores_in_use(const Panel& p) {
  const CoreUse& use = p.model.core_use();
  if (use.t_s.empty() || use.threads == 0) return;
  const Theme& t = *p.ui.theme;
  caption(p.ui, tr("Cores in use"));
  body(p.ui, core_use_text(p.model));
  const auto part = [&](const Column64& column, ImU32 color) {
    return BarPart{column.back() / use.threads, color};
  };
  stacked_bar(
      p.ui, "devices/cores_in_use",
      std::array{part(use.lab, t.accent), part(use.programs, t.muted), part(use.host, t.warning)},
      core_use_hint(p.model));
}

// Says that the wanted devices cannot have cores of their own.
void shared_cores_note(const Panel& p, std::int64_t wanted) {
  const std::size_t cores = cpu_cores(p);
  if (cores == 0 || wanted <= static_cast<std::int64_t>(cores)) return;
  warning_sentence(
      p, "devices/shared_cores",
      cores == 1 ? trf("{} devices share 1 core: work on one slows the others.", wanted)
                 : trf("{} devices share {} cores: work on one slows the others.", wanted, cores));
}

// As many as there are cores, or as the chapter trains on, which then share them.
std::int64_t most_cpu_devices(const Panel& p) {
  constexpr std::int64_t kChapter = 16;
  return std::max({kChapter, static_cast<std::int64_t>(cpu_cores(p)),
                   static_cast<std::int64_t>(cpu_devices_now(p))});
}

constexpr std::string_view kSplitField = "devices/cpu_devices";

// Whether the field has a text that is not a number of devices.
bool split_is_invalid(const Panel& p) {
  return p.ui.memory.edits.contains(std::string(kSplitField));
}

// Beside the field, so that it is in sight with it.
void split_button(const Panel& p, int wanted) {
  const bool invalid = split_is_invalid(p);
  const bool changes = wanted != cpu_devices_now(p) && !invalid;
  control_label(p.ui, " ");
  if (button(p.ui, "devices/split", tr("Restart"),
             {.kind = changes ? ButtonKind::Primary : ButtonKind::Normal,
              .enabled = changes,
              .hint = changes   ? tr("Restarts the lab, which takes about a second, and returns to "
                                       "this page")
                      : invalid ? tr("Correct the number of CPU devices first")
                                : tr("Change the number of CPU devices first"),
              .width = -1})) {
    p.view.confirm_restart = RestartLab{.cpu_devices = wanted};
  }
}

// Sets how the cores are split into devices. The devices are created once, at start.
void split_field(const Panel& p) {
  DevicesForm& form = p.view.forms.devices;
  const int now = cpu_devices_now(p);
  std::int64_t wanted = form.cpu_devices_edited ? form.cpu_devices : now;
  const std::int64_t before = wanted;
  {
    Row row(p.ui, {1, -button_width(p.ui, tr("Restart"))});
    row.next();
    input_number(
        p.ui, kSplitField, tr("CPU devices"), wanted,
        {.min = 1,
         .max = static_cast<double>(most_cpu_devices(p)),
         .step = 1,
         .hint = tr("Each device gets its own share of the cores and its own memory account, "
                    "so that experiments between devices work without a GPU.")});
    row.next();
    split_button(p, static_cast<int>(wanted));
  }
  if (wanted != before) {
    form.cpu_devices = wanted;
    form.cpu_devices_edited = true;
  }
  if (split_is_invalid(p)) return;  // the field says what it accepts
  shared_cores_note(p, wanted);
  if (wanted != now) {
    error_box(p.ui, "devices/split/refused", p.model.restart_refusal());
    const std::string is =
        now == 1 ? std::string(tr("Now 1 device.")) : trf("Now {} devices.", now);
    const std::string kept = fmt::format("{} {}", is, tr(kKeptByRestart));
    footnote(p.ui, kept);
    record_item(p.ui, "devices/restart", "note", kept);
  } else if (p.model.devices().size() == 1) {
    muted(p.ui, tr("Experiments between devices need two or more."));
    record_item(p.ui, "devices/needs_two", "text");
  }
}

void list_card(const Panel& p, const std::vector<DeviceEntry>& entries) {
  const Card card(p, "devices/list", tr("Devices"));
  if (!card || entries.empty()) return;
  const std::string selected = selected_entry(p, entries).key;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(4)});
  for (const DeviceEntry& entry : entries) draw_list_entry(p, entry, entry.key == selected);
  ImGui::PopStyleVar();
}

void machine_card(const Panel& p) {
  const MachineInfo& machine = p.model.machine();
  const Card card(p, "devices/machine", tr("This machine"));
  if (!card) return;
  constexpr float kLow = 760;  // units
  const bool low = ImGui::GetIO().DisplaySize.y < p.ui.px(kLow);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(low ? 5 : 8)});
  cores_in_use(p);
  main_memory(p);
  split_field(p);
  {
    FactColumns facts(p);
    const auto add = [&](const char* label, const std::string& value) {
      facts.add(label, value.empty() ? "N/A" : value);
    };
    add(tr("Name"), machine.host);
    add(tr("System"), machine.system);
    add(tr("Kernel"), machine.kernel);
    facts.add(tr("This lab"), format_bytes(p.model.lab_rss_bytes()), tr("Memory held by the lab"));
  }
  ImGui::PopStyleVar();
}

}  // namespace

const Curves& DeviceEntry::curves(const Model& model) const {
  if (gpu != nullptr) return gpu->history;
  return model.history(info == nullptr ? Device{DeviceKind::Cuda, -1} : info->device);
}

std::vector<DeviceEntry> device_entries(const Panel& p) {
  std::vector<DeviceEntry> entries;
  const MachineInfo& machine = p.model.machine();
  for (const DeviceInfo& info : machine.devices) entries.push_back(entry_of_device(p, info));
  const std::vector<GpuRecord>& gpus = p.model.gpus();
  std::vector<std::string> addresses;
  Device next{DeviceKind::Cuda, 0};  // whose colour the next unused GPU has
  for (const DeviceInfo& info : machine.devices) {
    if (info.device.kind == DeviceKind::Cuda)
      next.index = std::max(next.index, info.device.index + 1);
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    addresses.push_back(gpus[i].facts.pci_bus_id);
    if (has_entry(entries, gpus[i])) continue;
    DeviceEntry entry;
    entry.key = "gpu/" + gpus[i].facts.pci_bus_id;
    entry.gpu = &gpus[i];
    entry.name = trf("GPU {}", i);
    entry.what = gpus[i].facts.name;
    entry.color = device_color(*p.ui.theme, next);
    ++next.index;
    entries.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < machine.absent.size(); ++i) {
    if (is_one_of(machine.absent[i], addresses)) continue;
    DeviceEntry entry;
    entry.key = fmt::format("absent/{}", i);
    entry.absent = &machine.absent[i];
    entry.name = trf("No {}", machine.absent[i].what);
    entry.what = tr(machine.absent[i].reason);
    entries.push_back(std::move(entry));
  }
  for (std::size_t i = 1; i < entries.size(); i += 2) entries[i].line = plot::Line::Dashed;
  return entries;
}

const DeviceEntry& selected_entry(const Panel& p, const std::vector<DeviceEntry>& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const DeviceEntry& entry) {
    return entry.key == p.view.forms.devices.selected;
  });
  return found == entries.end() ? entries.front() : *found;
}

void device_list(const Panel& p, const std::vector<DeviceEntry>& entries) {
  if (!p.folded()) {
    list_card(p, entries);
    machine_card(p);
    return;
  }
  constexpr float kLeast = 560;  // units in which both are readable side by side
  Pair pair(p, kLeast);
  pair.next();
  list_card(p, entries);
  pair.next();
  machine_card(p);
}

}  // namespace lab::ui
