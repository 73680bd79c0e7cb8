#pragma once
// Results of a reference machine, measured earlier or elsewhere: plotted beside the current
// results, never mixed with them.
#include <string>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

struct ReferenceMachine {
  std::string key;   // identifies it in saved settings: its file name
  std::string name;  // "NVIDIA H200"
  DeviceKind kind = DeviceKind::Cuda;
  std::string date;                   // "2026-11-21"
  std::string lab;                    // version of Device Lab that measured it: "0.1.0"
  std::string driver, cuda;           // empty for CPUs
  std::vector<std::string> commands;  // as typed
  CacheState cache = CacheState::Warm;

  std::vector<MatmulSample> matmul;
  std::vector<TransferSample> transfers;
};

}  // namespace lab
