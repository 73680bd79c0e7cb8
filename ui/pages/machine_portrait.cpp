#include "ui/pages/machine_portrait.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/events/core_text.h"
#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/portrait_layout.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kPartHeight = 24;  // of the memory, in units
constexpr float kLinkHeight = 22;  // of a line with its name
constexpr float kGpuUnits = 230;   // the narrowest useful GPU
constexpr float kGpuHeight = 58;
constexpr std::size_t kNamedDevices = 16;  // in the legend
constexpr std::size_t kNamedLinks = 3;     // more are counted

// --- cores and caches -----------------------------------------------------------------------

char kind_letter(const std::optional<CoreKind>& kind) {
  if (!kind || kind->name.empty()) return 0;
  return static_cast<char>(kind->name.front() - 'a' + 'A');
}

double load_of(const Panel& p, const SiliconCore& core, bool& known) {
  const std::vector<double>& busy = p.model.history(core.device).last.core_utilisation;
  known = core.at < busy.size();
  return known ? std::clamp(busy[core.at], 0.0, 1.0) : 0;
}

std::string devices_of(const SiliconCore& core) {
  std::string names = lab::to_string(core.device);
  for (const Device other : core.others) names += ", " + lab::to_string(other);
  return names;
}

std::string core_hint(const Silicon& silicon, int place, bool known, double share) {
  const SiliconCore& core = silicon.cores[static_cast<std::size_t>(place)];
  std::string text = trf("{}, core {}", devices_of(core), core.number);
  if (core.kind) text += '\n' + core_kind_text(*core.kind);
  if (known) add_row(text, tr("busy"), percent(share));
  for (const SiliconCache& cache : silicon.caches) {
    if (std::find(cache.cores.begin(), cache.cores.end(), place) == cache.cores.end()) continue;
    const std::string size = format_bytes(cache.bytes);
    add_row(text, fmt::format("L{}", cache.level),
            cache.cores.size() == 1 ? trf("{}, its own", size)
                                    : trf("{}, shared by {} cores", size, cache.cores.size()));
  }
  return text;
}

void core_label(const Ui& ui, const SiliconCore& core, ImVec2 min, ImVec2 max,
                const std::string& load) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  const float width = max.x - min.x, height = max.y - min.y;
  if (font->FontSize > height) return;
  const float y = (min.y + max.y - font->FontSize) / 2;
  const char letter = kind_letter(core.kind);
  const std::string number =
      letter == 0 ? std::to_string(core.number) : fmt::format("{}{}", letter, core.number);
  const std::string name = trf("Core {}", number);
  const float pad = ui.px(8);
  const float long_width = text_size(font, name).x;
  if (long_width + text_size(font, "100 %").x + 3 * pad <= width) {
    draw_text(list, font, {min.x + pad, y}, ui.theme->text, name);
    draw_text(list, font, {max.x - pad - text_size(font, load).x, y}, ui.theme->text, load);
    return;
  }
  const float short_width = text_size(font, number).x;
  if (short_width + ui.px(2) <= width) {
    draw_text(list, font, {(min.x + max.x - short_width) / 2, y}, ui.theme->text, number);
  }
}

// The colours of the devices that share a core, side by side along its lower edge.
void draw_sharers(const Ui& ui, const SiliconCore& core, ImVec2 min, ImVec2 max) {
  if (core.others.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto count = static_cast<float>(core.others.size() + 1);
  const float each = (max.x - min.x) / count, top = max.y - ui.px(4);
  for (std::size_t i = 0; i <= core.others.size(); ++i) {
    const Device device = i == 0 ? core.device : core.others[i - 1];
    const float left = min.x + each * static_cast<float>(i);
    list->AddRectFilled({left, top}, {left + each, max.y}, styled(device_color(*ui.theme, device)));
  }
}

// A core, filled by the share of time in which it is busy: from the left if it is wide, otherwise
// from below.
void draw_core(const Panel& p, const std::string& path, const Silicon& silicon, int place,
               ImVec2 min, ImVec2 max) {
  Ui& ui = p.ui;
  const SiliconCore& core = silicon.cores[static_cast<std::size_t>(place)];
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 color = device_color(*ui.theme, core.device);
  bool known = false;
  const auto share = static_cast<float>(load_of(p, core, known));
  const float radius = std::min(ui.px(4), (max.y - min.y) / 4);
  list->AddRectFilled(min, max, styled(mix(ui.theme->card, color, 0.18F)), radius);
  const bool wide = max.x - min.x > 2 * (max.y - min.y);
  ImVec2 from = min, to = max;
  (wide ? to.x : from.y) = wide ? min.x + share * (max.x - min.x) : max.y - share * (max.y - min.y);
  if (to.x - from.x >= 1 && to.y - from.y >= 1) {
    list->AddRectFilled(from, to, styled(mix(ui.theme->card, color, 0.55F)), radius);
  }
  draw_sharers(ui, core, min, max);
  const std::string load = known ? percent(static_cast<double>(share)) : "";
  core_label(ui, core, min, max, load);
  const std::string number = std::to_string(core.number);
  record_rect(ui, fmt::format("{}/{}/{}", path, lab::to_string(core.device), number), "meter",
              devices_of(core), load, true, min, max);
  if (!ImGui::IsMouseHoveringRect(min, max)) return;
  hint_at(ui, min, max, core_hint(silicon, place, known, static_cast<double>(share)));
}

void draw_nest(const Panel& p, const std::string& path, const Silicon& silicon,
               const PortraitBox& box, ImVec2 origin, int depth) {
  Ui& ui = p.ui;
  const ImVec2 min(origin.x + box.pos.x, origin.y + box.pos.y);
  const ImVec2 max(min.x + box.size.x, min.y + box.size.y);
  if (box.core >= 0) return draw_core(p, path, silicon, box.core, min, max);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 fill = depth % 2 == 0 ? ui.theme->raised : ui.theme->card;
  list->AddRectFilled(min, max, styled(fill), ui.px(6));
  list->AddRect(min, max, styled(ui.theme->border), ui.px(6));
  const float pad = ui.px(kPortraitPad), strip = ui.px(kPortraitLabel);
  draw_text_fitted(list, ui.fonts.caption, {min.x + pad, min.y + ui.px(3)}, box.size.x - 2 * pad,
                   ui.theme->muted, box.label);
  if (!box.hint.empty()) hint_at(ui, min, {max.x, min.y + strip}, box.hint);
  for (const PortraitBox& inner : box.inner) draw_nest(p, path, silicon, inner, min, depth + 1);
}

// --- legend ---------------------------------------------------------------------------------

// One entry per CPU device in its colour, in lines across the width.
void draw_legend(const Panel& p, const std::string& path, const MachinePicture& picture) {
  Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = font->FontSize + ui.px(4);
  float x = 0, y = 0;
  std::size_t named = 0;
  for (const DeviceInfo& info : picture.devices) {
    if (info.device.kind != DeviceKind::Cpu) continue;
    if (++named > kNamedDevices) break;
    const std::string name = lab::to_string(info.device);
    const std::string cores = info.core_kinds.empty() ? core_numbers(info) : cores_text(info);
    const std::string text = fmt::format(
        "{} = {}", name, with_sharers(cores, core_sharers(*picture.silicon, info.device)));
    const float wide = std::min(width, text_size(font, text).x + ui.px(kDeviceDot));
    if (x > 0 && x + wide > width) x = 0, y += line;
    const ImVec2 min(pos.x + x, pos.y + y);
    draw_device_label(ui, {device_color(*ui.theme, info.device), font, ui.theme->muted, text},
                      {min.x, min.y + font->FontSize / 2}, width);
    record_rect(ui, fmt::format("{}/{}", path, name), "map", text,
                fmt::format("{} cores", info.cores.size()), true, min,
                {min.x + wide, min.y + font->FontSize});
    x += wide + ui.px(18);
  }
  ImGui::Dummy({width, y + line});
}

// --- memory, GPUs and links -----------------------------------------------------------------

void filled_box(const Ui& ui, ImVec2 min, ImVec2 max, ImU32 color, double share) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(min, max, styled(mix(ui.theme->raised, color, 0.14F)), ui.px(6));
  const auto shown = static_cast<float>(std::clamp(share, 0.0, 1.0));
  const float right = min.x + shown * (max.x - min.x);
  if (right - min.x >= 1) {
    list->AddRectFilled(min, {right, max.y}, styled(mix(ui.theme->raised, color, 0.45F)), ui.px(6));
  }
}

// The main memory, which all CPU devices share.
void draw_memory(const Panel& p, const std::string& path, std::span<const DeviceInfo> devices) {
  Ui& ui = p.ui;
  const std::optional<MainMemory> memory = memory_in_use(p.model, devices);
  if (!memory) return;
  const Item item =
      control(path + "/memory", {ImGui::GetContentRegionAvail().x, ui.px(kPartHeight)});
  std::string text = trf("Main memory, {}", format_bytes(memory->total_bytes));
  if (memory->used_bytes) text = trf("{}; in use: {}", text, format_bytes(*memory->used_bytes));
  record(ui, item, path + "/memory", "map", text);
  if (!item.visible) return;
  filled_box(ui, item.min, item.max, ui.theme->muted, memory->share());
  ImFont* font = ui.fonts.caption;
  draw_text_fitted(ImGui::GetWindowDrawList(), font,
                   {item.min.x + ui.px(10), (item.min.y + item.max.y - font->FontSize) / 2},
                   item.max.x - item.min.x - ui.px(20), ui.theme->text, text);
  hint(ui, tr("Memory in use by all programs on this machine."));
}

// What a link carries now.
struct LinkLoad {
  double share = 0;  // of what it can carry in one direction
  std::string text = {};
};

// In one direction, before the protocol's own bytes.
double pcie_bytes_per_s(const PcieLink& link) {
  constexpr std::array kLane_bytes_per_s = {0.25e9, 0.5e9,  0.985e9, 1.969e9,
                                            3.94e9, 7.56e9, 15.13e9};
  const int last = static_cast<int>(kLane_bytes_per_s.size()) - 1;
  const int at = std::clamp(link.generation - 1, 0, last);
  return link.width * kLane_bytes_per_s.at(static_cast<std::size_t>(at));
}

// Nothing if the rates were not read. An idle GPU lowers its link's speed, so the best one counts.
std::optional<LinkLoad> link_load(const GpuRecord& gpu) {
  const GpuTelemetry& last = gpu.history.last;
  const Maybe<double>&in = last.pcie_received_bytes_per_s, &out = last.pcie_sent_bytes_per_s;
  const Maybe<PcieLink>& link = gpu.facts.pcie_best ? gpu.facts.pcie_best : last.pcie;
  if (!in || !out || !link) return {};
  const double most = pcie_bytes_per_s(*link);
  if (most <= 0) return {};
  const double share = std::clamp(std::max(*in, *out) / most, 0.0, 1.0);
  return LinkLoad{share,
                  trf("To the GPU: {}, from it: {}; at most {} each way.", format_si(*in, "B/s"),
                      format_si(*out, "B/s"), format_si(most, "B/s"))};
}

struct GpuPart {
  std::string path, name, text, link, hint;
  std::optional<LinkLoad> load = {};  // of the link
  ImU32 color = 0;
  double busy = 0;  // 0..1
  std::optional<double> memory = {};
};

// A vertical line with the link's name, above `x`; wider and in the GPU's colour, the more it
// carries.
void draw_link(const Panel& p, float x, float y, float width, const GpuPart& part) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  constexpr double kIdle = 0.001;
  constexpr float kThin = 1.5F, kThick = 7;  // units
  const double share = part.load ? part.load->share : 0;
  const auto full = static_cast<float>(share);
  const ImU32 color = share < kIdle ? ui.theme->muted : part.color;
  list->AddLine({x, y}, {x, y + ui.px(kLinkHeight)}, styled(color),
                std::max(1.0F, ui.px(kThin + full * (kThick - kThin))));
  std::string text = part.link;
  if (share >= kIdle) text += ", " + percent(share);
  draw_text_fitted(list, ui.fonts.caption, {x + ui.px(8), y + ui.px(3)}, width - ui.px(8),
                   ui.theme->muted, text);
  if (!part.load) return;
  const ImVec2 min(x - ui.px(kThick), y), max(x + width, y + ui.px(kLinkHeight));
  record_rect(ui, part.path + "/link", "map", text, part.load->text, true, min, max);
  hint_at(ui, min, max, part.load->text);
}

std::string link_to(const MachinePicture& picture, Device device) {
  for (const LessonMap::Link& link : picture.links) {
    if (link.to == device && link.from.kind == DeviceKind::Cpu) return link.what;
  }
  return {};
}

GpuPart gpu_part(const Panel& p, const std::string& path, const MachinePicture& picture,
                 const DeviceInfo& info) {
  GpuPart part;
  const std::string device = lab::to_string(info.device);
  part.path = path + "/" + device;
  part.name = trf("{}: {}", device, info.name);
  part.link = link_to(picture, info.device);
  part.color = device_color(*p.ui.theme, info.device);
  part.hint = fmt::format("{}: {}", device, info.name);
  add_row(part.hint, tr("memory"), format_bytes(info.memory_total_bytes));
  if (!is_timed(info.device)) {
    part.text = tr(kEmulatedGpu);
    return part;
  }
  const GpuRecord* gpu = p.model.gpu(info.pci_bus_id);
  const GpuTelemetry last = gpu == nullptr ? GpuTelemetry{} : gpu->history.last;
  if (gpu != nullptr) part.load = link_load(*gpu);
  part.busy = last.utilisation.value_or(0);
  part.text = last.utilisation ? trf("busy {}", percent(*last.utilisation))
                               : trf("load: N/A, {}", tr(last.utilisation.reason()));
  if (last.memory_used_bytes && info.memory_total_bytes > 0) {
    part.memory =
        static_cast<double>(*last.memory_used_bytes) / static_cast<double>(info.memory_total_bytes);
    part.text += ", " + trf("memory {} of {}", format_bytes(*last.memory_used_bytes),
                            format_bytes(info.memory_total_bytes));
  }
  if (gpu != nullptr) {
    for (const GpuLine& line : describe_reading(last, gpu->facts)) {
      if (line.group.empty() && line.value) add_row(part.hint, tr(line.label), *line.value);
    }
  }
  return part;
}

void draw_gpu(const Panel& p, const GpuPart& part, ImVec2 min, ImVec2 max) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  filled_box(ui, min, max, part.color, part.busy);
  const float pad = ui.px(10), width = max.x - min.x - 2 * pad;
  draw_text_fitted(list, ui.fonts.body, {min.x + pad, min.y + ui.px(6)}, width, ui.theme->text,
                   part.name);
  draw_text_fitted(list, ui.fonts.caption, {min.x + pad, min.y + ui.px(27)}, width, ui.theme->text,
                   part.text);
  if (part.memory) {
    const float y = max.y - ui.px(8), right = min.x + pad + width;
    list->AddLine({min.x + pad, y}, {right, y}, styled(ui.theme->plot_axis), ui.px(3));
    const auto share = static_cast<float>(std::clamp(*part.memory, 0.0, 1.0));
    list->AddLine({min.x + pad, y}, {min.x + pad + share * width, y}, styled(part.color), ui.px(3));
  }
  record_rect(ui, part.path, "map", part.name, part.text, true, min, max);
  hint_at(ui, min, max, part.hint);
}

// The GPUs in lines, each below its link to the main memory.
void draw_gpus(const Panel& p, const std::vector<GpuPart>& parts) {
  if (parts.empty()) return;
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, gap = ui.px(8);
  const auto fit =
      static_cast<std::size_t>(std::max(1.0F, (width + gap) / (ui.px(kGpuUnits) + gap)));
  const auto [lines, columns] = even_columns(parts.size(), fit);
  const float each = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float link = ui.px(kLinkHeight), height = ui.px(kGpuHeight);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const float x = pos.x + (each + gap) * static_cast<float>(i % columns);
    const std::size_t row = i / columns;
    const float y = pos.y + (link + height) * static_cast<float>(row);
    if (!parts[i].link.empty()) {
      draw_link(p, x + ui.px(24), y, each - ui.px(24), parts[i]);
    }
    draw_gpu(p, parts[i], {x, y + link}, {x + each, y + link + height});
  }
  ImGui::Dummy({width, (link + height) * static_cast<float>(lines)});
}

// Links between GPUs, by their kind.
void draw_gpu_links(const Panel& p, const MachinePicture& picture) {
  std::map<std::string, std::vector<std::string>> pairs;
  for (const LessonMap::Link& link : picture.links) {
    if (!is_gpu(link.from) || !is_gpu(link.to)) continue;
    pairs[link.what].push_back(lab::to_string(link.from) + " - " + lab::to_string(link.to));
  }
  for (const auto& [what, all] : pairs) {
    muted(p.ui, all.size() > kNamedLinks ? trf("{} between {} pairs of GPUs", what, all.size())
                                         : fmt::format("{}: {}", what, fmt::join(all, ", ")));
  }
}

// --- this machine ---------------------------------------------------------------------------

std::string pcie_text(const GpuRecord& gpu) {
  const Maybe<PcieLink>& link = gpu.history.last.pcie ? gpu.history.last.pcie : gpu.facts.pcie_best;
  return link ? "PCIe " + to_string(*link) : "PCIe";
}

const DeviceInfo* device_at(const MachineInfo& machine, const std::string& pci_bus_id) {
  const auto found =
      std::find_if(machine.devices.begin(), machine.devices.end(),
                   [&](const DeviceInfo& info) { return info.pci_bus_id == pci_bus_id; });
  return found == machine.devices.end() ? nullptr : &*found;
}

// Links of the GPUs that the lab uses: to the main memory, and to each other where one reaches the
// other's memory directly.
std::vector<LessonMap::Link> links_of(const Model& model) {
  std::vector<LessonMap::Link> links;
  for (const GpuRecord& gpu : model.gpus()) {
    const DeviceInfo* from = device_at(model.machine(), gpu.facts.pci_bus_id);
    if (from == nullptr) continue;
    links.push_back({cpu(), from->device, pcie_text(gpu)});
    for (const GpuPeer& peer : gpu.facts.peers) {
      const DeviceInfo* to = device_at(model.machine(), peer.pci_bus_id);
      const bool direct = peer.read && peer.read->possible;
      if (to == nullptr || !direct || !(from->device < to->device)) continue;
      const bool nvlink = peer.nvlink && peer.nvlink->possible;
      links.push_back({from->device, to->device, nvlink ? "NVLink" : tr("peer access")});
    }
  }
  return links;
}

}  // namespace

void draw_portrait(const Panel& p, const std::string& path, const MachinePicture& picture) {
  Ui& ui = p.ui;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(4)});
  draw_legend(p, path, picture);
  const Silicon& silicon = *picture.silicon;
  if (!silicon.cores.empty()) {
    const float width = ImGui::GetContentRegionAvail().x;
    const std::vector<PortraitBox>& packages =
        p.view.portraits[path].of(ui, picture.silicon, width, ui.px(picture.spare));
    grown_in_card(ui, ui.px(picture.spare));
    const Item item = control(path + "/processors", {width, bottom_of(packages)});
    if (item.visible) {
      for (const PortraitBox& box : packages) draw_nest(p, path, silicon, box, item.min, 0);
    }
  }
  draw_memory(p, path, picture.devices);
  std::vector<GpuPart> gpus;
  for (const DeviceInfo& info : picture.devices) {
    if (is_gpu(info.device)) gpus.push_back(gpu_part(p, path, picture, info));
  }
  draw_gpus(p, gpus);
  draw_gpu_links(p, picture);
  for (const AbsentDevice& absent : picture.absent) {
    muted(ui, absent.what + ": " + tr(absent.reason));
  }
  ImGui::PopStyleVar();
}

void draw_this_machine(const Panel& p, const std::string& path, float spare) {
  const MachineInfo& machine = p.model.machine();
  const std::vector<LessonMap::Link> links = links_of(p.model);
  draw_portrait(p, path, {machine.devices, machine.absent, links, p.model.silicon(), spare});
}

void portrait_card(const Panel& p) {
  constexpr float kMostSpare = 240;  // units; taller cores would show nothing more
  const float spare = p.model.silicon()->cores.empty() ? 0 : spare_height(p, kMostSpare);
  const Card card(p, "tour/portrait", tr("Portrait of this machine"),
                  {.extra = spare, .hint = tr(kPortraitHint), .note = p.model.machine().host});
  if (card) draw_this_machine(p, "tour/portrait", spare);
}

}  // namespace lab::ui
