#pragma once
// The programs that keep the cores busy, from the processes in /proc.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compute/core/events/program_use.h"
#include "compute/machine/sensors.h"

namespace lab {

// What /proc/<pid>/stat reports about a process.
struct ProcessStat {
  std::string name;          // of its executable, cut to 15 characters
  bool kernel = false;       // a thread of the kernel
  std::int64_t ticks = 0;    // processor time of all its threads
  std::int64_t started = 0;  // in ticks since boot; differs between processes that reuse a PID
  std::int64_t resident_pages = 0;
};
// Nothing if the text is not complete. The name may contain spaces and parentheses.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// What people call the program: "firefox" for all processes of it, whatever they call themselves.
// `command_line`: of /proc/<pid>/cmdline, may be empty or overwritten; `name`: of its executable.
std::string program_name(std::string_view command_line, std::string_view name);

// What one program used between two readings.
struct UsedProcess {
  std::int64_t pid = 0;
  ProgramKind kind = ProgramKind::Other;
  std::string name;
  double cores = 0;
  std::int64_t memory_bytes = 0;
};
// Sums the processes of one name. `busy_cores`: hardware threads that all programs kept busy.
ProgramUse sum_programs(const std::vector<UsedProcess>& processes, double busy_cores);

// The time since boot in the unit of ProcessStat::started, whose time namespace it shares.
std::int64_t ticks_since_boot();

// Reads the processes. A reading takes some 10 us per process, so that one that was idle is read in
// every third reading only.
class ProgramReader {
 public:
  // `root` replaces "/" in tests, `clock` what ticks_since_boot() returns.
  explicit ProgramReader(std::string root = "",
                         std::function<std::int64_t()> clock = ticks_since_boot);

  // What was used since the previous call; nothing at the first one, and after less than a tenth
  // of a second. A process that is new here but older than the previous reading counts from now on.
  std::optional<ProgramUse> read();

 private:
  struct Known {
    ProcessStat stat = {};
    std::string program = {};
    double cores = 0;        // between its last two readings
    std::int64_t clock = 0;  // when it was last read
    std::int64_t found = 0;  // the last reading that found it
  };
  // Whether the process can be read.
  bool update(std::int64_t pid);
  void begin(Known& one, const ProcessStat& stat) const;
  std::string why_hidden(const std::vector<std::int64_t>& ids) const;
  bool rests(std::int64_t pid) const;
  UsedProcess used(std::int64_t pid) const;

  const std::string root_;
  const std::function<std::int64_t()> ticks_since_boot_;
  std::int64_t readings_ = 0;
  std::int64_t own_ = 0;                 // this process in that /proc; 0: unknown
  std::int64_t refused_ = 0;             // a process that may not be read; 0: none
  std::int64_t now_ = 0, earlier_ = 0;   // ticks since boot at this reading and at the previous one
  std::int64_t clock_ = 0, before_ = 0;  // ticks at this reading and at the previous one
  std::map<int, CoreTicks> cores_;
  std::unordered_map<std::int64_t, Known> known_;
};

}  // namespace lab
