#pragma once
// What one machine reached, measured on another day or elsewhere: drawn beside the present results,
// never mixed with them.
#include <string>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

struct ReferenceMachine {
  std::string key;   // what a choice of it is remembered by: the name of its file
  std::string name;  // "NVIDIA H200"
  DeviceKind kind = DeviceKind::Cuda;
  std::string date;                   // "2026-11-21"
  std::string lab;                    // the Device Lab that measured: "0.1.0"
  std::string driver, cuda;           // empty for a CPU
  std::vector<std::string> commands;  // as they were typed
  CacheState cache = CacheState::Warm;

  std::vector<MatmulSample> matmul;
  std::vector<TransferSample> transfers;
};

}  // namespace lab
