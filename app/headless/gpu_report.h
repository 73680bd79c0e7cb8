#pragma once
// NVIDIA GPUs in the output of `device-lab devices`.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/headless/console.h"
#include "app/headless/json_lines.h"
#include "app/headless/table.h"
#include "compute/core/events/event.h"

namespace lab::app {

// A GPU as a JSON object with its facts and, unless null, its reading. Unknown values are null;
// "missing" holds the reason of each.
nlohmann::ordered_json gpu_json(const GpuFacts& facts, const GpuTelemetry* reading);

class GpuReport {
 public:
  GpuReport(Console& console, bool json) : console_(console), json_(json) {}

  // Keeps what a telemetry brought.
  void learn(const Telemetry& telemetry);

  // Of the GPU at that address; empty pointers for one that was not seen.
  GpuOf at(const std::string& pci_bus_id) const;

  // Every GPU with all its lines, after a blank line; nothing as JSON.
  void details(const MachineInfo& machine) const;
  // A table row each.
  void readings() const;
  // As JSON: those that the lab does not compute on.
  void skipped(const MachineInfo& machine) const;
  // Whether one of the GPUs stands for that absence.
  bool stands_for(const AbsentDevice& absent) const;

 private:
  void lines_of(const GpuFacts& facts, const GpuTelemetry* reading) const;
  void processes(const GpuTelemetry& reading) const;
  void peers(const GpuFacts& facts) const;

  Console& console_;
  const bool json_;
  std::vector<GpuFacts> facts_;
  std::vector<GpuTelemetry> readings_;
  const TableLayout layout_{{{"GPU", 13},
                             {"busy", 8, true},
                             {"SM clock", 9, true},
                             {"temperature", 11, true},
                             {"power", 14, true},
                             {"memory in use", 14, true}}};
};

}  // namespace lab::app
