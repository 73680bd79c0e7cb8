// Which GPU reaches which other's memory directly, as a matrix.
#include <fmt/format.h>

#include <algorithm>

#include "ui/pages/devices/devices_parts.h"

namespace lab::ui {
namespace {

std::string word(const Maybe<PeerAccess>& access, const char* what) {
  if (!access) return fmt::format("{}: N/A, {}", what, access.reason());
  return access->possible ? fmt::format("{}: yes", what)
                          : fmt::format("{}: no, {}", what, access->why_not);
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
  return possible(peer.read) ? "read only" : possible(peer.write) ? "write only" : "no";
}

void peer_cell(const Panel& p, const GpuFacts& from, const GpuFacts& to) {
  if (from.pci_bus_id == to.pci_bus_id) {
    cell(p.ui, "itself");
    return;
  }
  const auto peer = std::find_if(from.peers.begin(), from.peers.end(), [&](const GpuPeer& one) {
    return one.pci_bus_id == to.pci_bus_id;
  });
  if (peer == from.peers.end()) {
    cell(p.ui, "N/A", "One of the two GPUs could not be asked, or was asleep.");
    return;
  }
  cell(p.ui, summary(*peer),
       word(peer->read, "read") + "\n" + word(peer->write, "write") + "\n" +
           word(peer->nvlink, "NVLink"));
}

}  // namespace

std::string gpu_name(const Model& model, std::size_t place) {
  const std::string& address = model.gpus()[place].facts.pci_bus_id;
  for (const DeviceInfo& d : model.machine().devices) {
    if (d.pci_bus_id == address) return lab::to_string(d.device);
  }
  return fmt::format("GPU {}", place);
}

void peers_card(const Panel& p) {
  const std::vector<GpuRecord>& all = p.model.gpus();
  if (all.empty()) return;
  const Card box(p, "devices/peers", "Peer access",
                 {.hint = "Whether the GPU of a row reaches the memory of the GPU of a column "
                          "directly, without a copy through main memory."});
  if (!box) return;
  if (all.size() == 1) {
    muted(p.ui, "With one GPU there is no other whose memory it could reach.");
    return;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) names.push_back(gpu_name(p.model, i));
  std::vector<Column> columns{{.label = "from"}};
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
