#pragma once
// NVIDIA GPUs in the output of `device-lab devices`.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/headless/console.h"
#include "app/headless/json_lines.h"
#include "app/headless/table.h"
#include "compute/core/events/event.h"
#include "compute/core/language.h"

namespace lab::app {

// Returns a GPU as a JSON object with its facts and, unless null, its reading. Unknown values are
// null; "missing" holds the reason for each.
nlohmann::ordered_json gpu_json(const GpuFacts& facts, const GpuTelemetry* reading);

class GpuReport {
 public:
  GpuReport(Console& console, bool json) : console_(console), json_(json) {}

  // Stores the GPU facts and readings of `telemetry`.
  void update(const Telemetry& telemetry);

  // Returns the GPU at that address; null pointers if it has not been reported.
  GpuRefs at(const std::string& pci_bus_id) const;

  // Prints all lines of every GPU after a blank line; nothing in JSON mode.
  void details(const MachineInfo& machine) const;
  // Prints one table row per GPU.
  void readings() const;
  // Prints the GPUs that the lab does not compute on, in JSON mode.
  void skipped(const MachineInfo& machine) const;
  // Returns true if `absent` refers to one of the reported GPUs.
  bool covers(const AbsentDevice& absent) const;

 private:
  void lines_of(const GpuFacts& facts, const GpuTelemetry* reading) const;
  void processes(const GpuTelemetry& reading) const;
  void peers(const GpuFacts& facts) const;

  Console& console_;
  const bool json_;
  std::vector<GpuFacts> facts_;
  std::vector<GpuTelemetry> readings_;
  const TableLayout layout_{{{"GPU", 13},
                             {LAB_TEXT("busy"), 8, true},
                             {LAB_TEXT("SM clock"), 9, true},
                             {LAB_TEXT("temperature"), 11, true},
                             {LAB_TEXT("power"), 14, true},
                             {LAB_TEXT("memory in use"), 14, true}}};
};

}  // namespace lab::app
