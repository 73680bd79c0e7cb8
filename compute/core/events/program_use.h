#pragma once
// Which programs keep the cores busy.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

inline constexpr std::size_t kBusiestPrograms = 5;

enum class ProgramKind { Other, Lab, Kernel };  // Lab: this process

// All processes of one name.
struct Program {
  ProgramKind kind = ProgramKind::Other;
  std::string name = {};  // "firefox"; empty: the kernel's threads
  int processes = 1;
  std::int64_t pid = 0;           // of the busiest process
  double cores = 0;               // hardware threads kept busy, mean since the last reading
  std::int64_t memory_bytes = 0;  // resident; pages that processes share count in each
};

// The programs of the whole machine.
struct ProgramUse {
  std::string unread = {};            // why there is nothing; otherwise empty
  std::vector<Program> busiest = {};  // by cores, then by memory; at most kBusiestPrograms
  int others = 0;                     // programs beyond them
  // Hardware threads that something else kept busy: the programs beyond `busiest`, those that have
  // ended since the last reading, and those that this process cannot see.
  double rest_cores = 0;
  std::string hidden = {};  // why not all programs are visible; empty: they are
};

}  // namespace lab
