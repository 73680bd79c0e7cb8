// An NVIDIA GPU on the Devices page: activity, properties, processes, and which GPUs can access
// each other's memory directly.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/devices/devices_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::size_t kMaxProcesses = 12;
constexpr double kOldReading_s = 10;

void big_words(const Panel& p, const char* words, const std::string& why) {
  note_text(p.ui.fonts.figure, words);
  ImGui::PushFont(p.ui.fonts.figure);
  ImGui::TextUnformatted(words);
  ImGui::PopFont();
  hint(p.ui, why);
}

void figure(const Panel& p, const GpuTelemetry& last) {
  if (last.asleep) {
    big_words(p, tr("Asleep"), tr(last.utilisation.reason()));
    caption(p.ui, tr("switched off to save power"));
    return;
  }
  if (last.utilisation) {
    number(p.ui, percent(*last.utilisation), p.ui.fonts.figure);
    hint(p.ui, tr(kGpuUtilisationHint));
  } else {
    big_words(p, "N/A", trf("Utilisation is not available: {}", tr(last.utilisation.reason())));
  }
  caption(p.ui, tr("of the time a kernel ran"));
}

std::string pinned_text(const DeviceTelemetry& reading) {
  if (reading.lab_pinned_bytes == 0) return {};
  return ' ' + trf("Copies to and from it go through {} of page-locked main memory.",
                   format_bytes(reading.lab_pinned_bytes));
}

void memory_bar(const Panel& p, const std::string& path, const GpuRecord& gpu,
                const DeviceInfo* device, ImU32 color) {
  const GpuTelemetry& last = gpu.history.last;
  if (!last.memory_used_bytes || !gpu.facts.memory_total_bytes) {
    const auto& missing =
        last.memory_used_bytes ? gpu.facts.memory_total_bytes : last.memory_used_bytes;
    fact(p.ui, tr("Memory in use"), Maybe<std::string>::missing(missing.reason()));
    return;
  }
  const std::int64_t used = *last.memory_used_bytes, total = *gpu.facts.memory_total_bytes;
  fact(p.ui, tr("Memory in use"), trf("{} of {}", format_bytes(used), format_bytes(total)),
       tr("In use by all programs; excludes memory reserved by the driver."));
  const std::string text =
      device == nullptr ? std::string(tr("The lab holds nothing here."))
                        : trf("The lab's tensors hold {} of at most {} here.",
                              format_bytes(p.model.history(device->device).last.lab_used_bytes),
                              format_bytes(device->memory_limit_bytes)) +
                              pinned_text(p.model.history(device->device).last);
  bar(p.ui, path, total > 0 ? static_cast<double>(used) / static_cast<double>(total) : 0, color,
      text);
}

void power_bar(const Panel& p, const std::string& path, const GpuTelemetry& last, ImU32 color) {
  fact(p.ui, tr("Power"), power_text(last), tr("Current draw and enforced limit."));
  if (!last.power_w || !last.power_limit_w || *last.power_limit_w <= 0) return;
  bar(p.ui, path, *last.power_w / *last.power_limit_w, color,
      tr("At its power limit, a GPU lowers its clocks."));
}

void important_lines(const Panel& p, const std::vector<GpuLine>& all) {
  for (const GpuLine& line : all) {
    if (line.group.empty()) fact(p.ui, tr(line.label), line.value, tr(line.hint));
  }
}

void heading(const Panel& p, const std::string& words) {
  ImGui::Dummy({1, p.ui.px(4)});
  caption(p.ui, words);
}

// Adds the lines under their group headings.
void grouped_lines(const Panel& p, const std::vector<GpuLine>& all) {
  for (std::size_t i = 0; i < all.size();) {
    const std::string& group = all[i].group;
    if (!group.empty()) heading(p, tr(group));
    FactColumns facts(p);
    for (; i < all.size() && all[i].group == group; ++i) {
      if (!group.empty()) facts.add(tr(all[i].label), all[i].value, tr(all[i].hint));
    }
  }
}

// Draws the properties that only CUDA reports.
void lines_of_device(const Panel& p, const DeviceInfo& device, const GpuFacts& facts) {
  const std::vector<GpuLine> told = describe_facts(facts);
  FactColumns columns(p);
  for (const auto& [label, value] : device.details) {
    const bool known = std::any_of(
        told.begin(), told.end(), [&, &name = label](const GpuLine& l) { return l.label == name; });
    if (!known) columns.add(tr(label), std::string(tr(value)));
  }
  for (const CacheInfo& cache : device.caches) {
    columns.add(trf("L{} cache", cache.level), format_bytes(cache.size_bytes));
  }
  columns.add(tr("Tensor memory limit"), format_bytes(device.memory_limit_bytes),
              tr("Larger allocations are rejected without being attempted."));
}

// Notes the age of old readings: the longer a reading takes, the less often it is taken.
void age_note(const Panel& p, const GpuTelemetry& last) {
  const double age_s = p.model.now_s() - last.t_s;
  if (age_s < kOldReading_s) return;
  caption(p.ui, trf("Read {} ago", format_seconds(age_s)));
  hint(p.ui, tr("Readings are slow, so they are taken less often."));
}

std::string hint_of(const GpuProcess& one) {
  const Maybe<std::string> part = process_instance(one);
  std::string text =
      tr("Process ID, type (C: compute, G: graphics, M+C: compute through MPS), name, load and GPU "
         "memory.");
  if (!one.name) text += '\n' + trf("Name: N/A, {}.", tr(one.name.reason()));
  text += '\n';
  text += one.utilisation
              ? trf("In the last second its kernels ran {} of the time; it used {} of the encoder "
                    "and {} of the decoder.",
                    percent(*one.utilisation), percent(one.encoder_utilisation),
                    percent(one.decoder_utilisation))
              : trf("Load: N/A, {}.", tr(one.utilisation.reason()));
  text += '\n';
  text += part ? trf("Part of the GPU: {}", *part)
               : trf("Part of the GPU (MIG): N/A, {}.", tr(part.reason()));
  return text;
}

void process_rows(const Panel& p, const std::string& path, const std::vector<GpuProcess>& all) {
  const std::vector<Column> columns{{.label = LAB_TEXT("Process ID"), .weight = 1},
                                    {.label = LAB_TEXT("Type"), .weight = 1},
                                    {.label = LAB_TEXT("Name"), .weight = 3},
                                    {.label = LAB_TEXT("Load"), .weight = 1, .number = true},
                                    {.label = LAB_TEXT("GPU memory"), .weight = 2, .number = true}};
  if (!begin_table(p.ui, path, columns)) return;
  for (std::size_t i = 0; i < std::min(all.size(), kMaxProcesses); ++i) {
    const GpuProcess& one = all[i];
    table_row(p.ui);
    cell(p.ui, std::to_string(one.pid), hint_of(one));
    cell(p.ui, process_type(one), hint_of(one));
    cell(p.ui, one.name.value_or(tr("(not visible)")), hint_of(one));
    cell(p.ui, percent(one.utilisation), hint_of(one));
    cell(p.ui, one.memory_bytes ? format_bytes(*one.memory_bytes) : std::string("N/A"),
         hint_of(one));
  }
  end_table(p.ui);
  if (all.size() > kMaxProcesses) {
    caption(p.ui, trf("and {} more", all.size() - kMaxProcesses));
  }
}

void processes_card(const Panel& p, const std::string& path, const GpuRecord& gpu) {
  const auto& all = gpu.history.last.processes;
  const Card box(p, path, all ? trf("Processes ({})", all->size()) : tr("Processes"));
  if (!box) return;
  if (!all) {
    muted(p.ui, trf("Not available: {}.", tr(all.reason())));
  } else if (all->empty()) {
    muted(p.ui, tr("No process uses the GPU."));
  } else {
    process_rows(p, path + "/table", *all);
  }
}

// Draws the facts available from files and CUDA, then the reasons for the missing ones.
void little_known(const Panel& p, const GpuRecord& gpu) {
  const bool asleep = gpu.history.last.asleep;
  if (!asleep) muted(p.ui, trf("No readings: {}.", gpu.facts.unread));
  const std::vector<GpuLine> all = describe_facts(gpu.facts);
  for (const bool known : {true, false}) {
    if (!known && asleep) continue;
    FactColumns facts(p);
    for (const GpuLine& line : all) {
      if (static_cast<bool>(line.value) == known) {
        facts.add(tr(line.label), line.value, tr(line.hint));
      }
    }
  }
}

bool needs_request(const MachineInfo& machine, const std::string& pci_bus_id) {
  return std::any_of(machine.absent.begin(), machine.absent.end(), [&](const AbsentDevice& a) {
    return a.needs_request && a.pci_bus_id == pci_bus_id;
  });
}

// Explains why the lab does not compute on the GPU and, if it only sleeps, how to use it.
void unused_note(const Panel& p, const std::string& path, const GpuRecord& gpu) {
  if (needs_request(p.model.machine(), gpu.facts.pci_bus_id)) {
    muted(p.ui, gpu.history.last.asleep ? tr("Queries do not wake it; using it does.")
                                        : tr("Not used: a GPU was asleep when the lab started, and "
                                             "starting CUDA wakes every GPU."));
    restart_button(p, path + "/use", tr("Use this GPU"),
                   tr("Restarts Device Lab with CUDA, which wakes every GPU"), {.wake_gpus = true});
    return;
  }
  const std::string why = why_unused(p.model.machine(), gpu.facts.pci_bus_id);
  if (!why.empty()) muted(p.ui, trf("Not used: {}.", why));
}

void meters(const Panel& p, const std::string& path, const GpuRecord& gpu, const DeviceInfo* device,
            ImU32 color) {
  const GpuTelemetry& last = gpu.history.last;
  memory_bar(p, path + "/memory", gpu, device, color);
  power_bar(p, path + "/power", last, color);
  important_lines(p, describe_reading(last, gpu.facts));
}

std::string title_of(const Panel& p, const DeviceEntry& entry) {
  const bool alone = entry.info == nullptr && p.model.gpus().size() == 1;
  return alone ? entry.what : fmt::format("{}   {}", entry.name, entry.gpu->facts.name);
}

void activity_card(const Panel& p, const std::string& path, const DeviceEntry& entry) {
  const Card box(p, path, title_of(p, entry));
  if (!box) return;
  const GpuRecord& gpu = *entry.gpu;
  const GpuTelemetry& last = gpu.history.last;
  const bool unread = !gpu.facts.unread.empty();
  if (!unread || last.asleep) figure(p, last);
  if (!unread) age_note(p, last);
  if (!unread && !last.asleep) meters(p, path, gpu, entry.info, entry.color);
  unused_note(p, path, gpu);
}

void details_card(const Panel& p, const std::string& path, const DeviceEntry& entry) {
  const Card box(p, path, tr("Details"));
  if (!box) return;
  const GpuRecord& gpu = *entry.gpu;
  if (gpu.facts.unread.empty()) {
    grouped_lines(p, describe_reading(gpu.history.last, gpu.facts));
    grouped_lines(p, describe_facts(gpu.facts));
  } else {
    little_known(p, gpu);
  }
  if (entry.info == nullptr) return;
  heading(p, tr("As used by the lab"));
  lines_of_device(p, *entry.info, gpu.facts);
}

std::string word(const Maybe<PeerAccess>& access) {
  if (!access) return fmt::format("N/A, {}", tr(access.reason()));
  return access->possible ? std::string(tr("yes")) : trf("no, {}", access->why_not);
}

bool possible(const Maybe<PeerAccess>& access) {
  return access && access->possible;
}

// "NVLink", "PCIe", "read only", "no".
std::string summary(const GpuPeer& peer) {
  if (!peer.read && !peer.write) return "N/A";
  if (possible(peer.read) && possible(peer.write)) {
    return possible(peer.nvlink) ? "NVLink" : "PCIe";
  }
  return possible(peer.read) ? tr("read only") : possible(peer.write) ? tr("write only") : tr("no");
}

void peer_cell(const Panel& p, const GpuFacts& from, const GpuFacts& to) {
  if (from.pci_bus_id == to.pci_bus_id) {
    cell(p.ui, tr("itself"));
    return;
  }
  const auto peer = std::find_if(from.peers.begin(), from.peers.end(), [&](const GpuPeer& one) {
    return one.pci_bus_id == to.pci_bus_id;
  });
  if (peer == from.peers.end()) {
    cell(p.ui, "N/A", tr("One of the two GPUs could not be queried or was asleep."));
    return;
  }
  std::string access;
  add_row(access, tr("read"), word(peer->read));
  add_row(access, tr("write"), word(peer->write));
  add_row(access, "NVLink", word(peer->nvlink));
  cell(p.ui, summary(*peer), access);
}

}  // namespace

void gpu_cards(const Panel& p, const DeviceEntry& entry) {
  const std::string path = "devices/" + entry.key;
  {
    constexpr float kBeside = 620;  // units; stacked if narrower
    std::optional<Row> row;
    if (width_left(p) >= kBeside) {
      row.emplace(p.ui, std::initializer_list<float>{1, 2}, RowOptions{.equal = true});
    }
    if (row) row->next();
    activity_card(p, path, entry);
    if (row) row->next();
    details_card(p, path + "/details", entry);
  }
  const bool readable = entry.gpu->facts.unread.empty() && !entry.gpu->history.last.asleep;
  if (readable) processes_card(p, path + "/processes", *entry.gpu);
}

void peers_card(const Panel& p) {
  const std::vector<GpuRecord>& all = p.model.gpus();
  if (all.empty()) return;
  const Card box(
      p, "devices/peers", tr("Peer access"),
      {.extra = spare_height(p),
       .hint = tr("Whether the GPU of a row can access the memory of the GPU of a column "
                  "directly, without a copy through main memory.")});
  if (!box) return;
  if (all.size() == 1) {
    muted(p.ui, tr("Peer access requires at least two GPUs."));
    return;
  }
  std::vector<std::string> names;
  const std::vector<DeviceEntry> entries = device_entries(p);
  for (const GpuRecord& gpu : all) {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const DeviceEntry& one) { return one.gpu == &gpu; });
    names.push_back(entry == entries.end() ? gpu.facts.pci_bus_id : entry->name);
  }
  std::vector<Column> columns{{.label = LAB_TEXT("from")}};
  for (const std::string& name : names) columns.push_back({.label = name});
  if (!begin_table(p.ui, "devices/peers/table", columns)) return;
  for (std::size_t row = 0; row < all.size(); ++row) {
    table_row(p.ui);
    cell(p.ui, names[row], all[row].facts.name + " at " + all[row].facts.pci_bus_id);
    for (const GpuRecord& other : all) peer_cell(p, all[row].facts, other.facts);
  }
  end_table(p.ui);
}

}  // namespace lab::ui
