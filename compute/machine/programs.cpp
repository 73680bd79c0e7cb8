#include "compute/machine/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <span>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

constexpr std::int64_t kLeastElapsedTicks = 10;      // of 10 ms: shares within a tenth
constexpr std::int64_t kStuckTicks = 100;            // without which /proc/stat does not advance
constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD

using Buffer = std::array<char, 4096>;

// The start of a file in one read, several times as fast as a stream. Nothing, and errno, if it
// cannot be read.
std::optional<std::string_view> read_start(const std::string& path, Buffer& buffer) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = ::read(file, buffer.data(), buffer.size());
  const int error = errno;
  ::close(file);
  errno = error;
  if (bytes < 0) return {};
  return std::string_view(buffer.data(), static_cast<std::size_t>(bytes));
}

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return {};
  return value;
}

// A script runs in a process of its interpreter, under the name of the script.
bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 3> kFamilies = {"python", "perl", "ruby"};
  constexpr std::array<std::string_view, 4> kShells = {"sh", "bash", "dash", "zsh"};
  return std::ranges::find(kShells, program) != kShells.end() ||
         std::ranges::any_of(kFamilies, [&](auto family) { return program.starts_with(family); });
}

// Hardware threads that were busy between two readings, and the ticks of one of them.
struct BusyCores {
  double cores = 0;
  std::int64_t ticks = 0;
};

BusyCores busy_between(const std::map<int, CoreTicks>& before,
                       const std::map<int, CoreTicks>& now) {
  BusyCores sum;
  std::int64_t busy = 0;
  for (const auto& [core, end] : now) {
    const auto begin = before.find(core);
    if (begin == before.end()) continue;
    sum.ticks = std::max(sum.ticks, end.total - begin->second.total);
    busy += end.busy - end.steal - (begin->second.busy - begin->second.steal);
  }
  if (sum.ticks > 0) sum.cores = static_cast<double>(busy) / static_cast<double>(sum.ticks);
  return sum;
}

// This process as that /proc numbers it, which may be that of another PID namespace; 0 if it does
// not have it.
std::int64_t own_process(const std::string& root) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(root + "/proc/self", error);
  return error ? 0 : whole_number<std::int64_t>(target.string()).value_or(0);
}

// Whether /proc is mounted so that it hides the processes of other users.
bool hides_users(const std::string& root) {
  std::istringstream lines(read_text(root + "/proc/mounts").value_or(""));
  bool hides = false;
  std::string source, folder, type, options, rest;
  while (lines >> source >> folder >> type >> options && std::getline(lines, rest)) {
    if (folder != "/proc") continue;  // the last mount on it counts
    hides = options.find("hidepid=") != options.npos && options.find("hidepid=0") == options.npos &&
            options.find("hidepid=off") == options.npos;
  }
  return hides;
}

std::vector<std::int64_t> process_ids(const std::string& root) {
  std::vector<std::int64_t> ids;
  for (const std::string& name : list_directory(root + "/proc")) {
    if (const auto id = whole_number<std::int64_t>(name)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  constexpr std::size_t kFlags = 6, kUser = 11, kSystem = 12, kStarted = 19, kResident = 21;
  const auto open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return {};
  std::array<std::string_view, kResident + 1> fields;  // after the name
  std::string_view rest = text.substr(close + 1);
  for (std::string_view& field : fields) {
    const auto begin = rest.find_first_not_of(" \n");
    if (begin == rest.npos) return {};
    rest.remove_prefix(begin);
    field = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(field.size());
  }
  const auto flags = whole_number<std::uint64_t>(fields[kFlags]);
  const auto user = whole_number<std::int64_t>(fields[kUser]);
  const auto system = whole_number<std::int64_t>(fields[kSystem]);
  const auto started = whole_number<std::int64_t>(fields[kStarted]);
  const auto resident = whole_number<std::int64_t>(fields[kResident]);
  if (!flags || !user || !system || !started || !resident) return {};
  return ProcessStat{.name = printable(text.substr(open + 1, close - open - 1)),
                     .kernel = (*flags & kKernelThread) != 0,
                     .ticks = *user + *system,
                     .started = *started,
                     .resident_pages = *resident};
}

std::string program_name(std::string_view command_line, std::string_view name) {
  std::string_view first = command_line.substr(0, command_line.find('\0'));
  // What programs write over their command line: "postgres: writer", "chrome --type=renderer".
  first = first.substr(0, first.find(": "));
  first = trimmed(first.substr(0, first.find(" --")));
  if (const auto slash = first.find_last_of("/\\"); slash != first.npos) {
    first.remove_prefix(slash + 1);
  }
  if (first.starts_with('-')) first.remove_prefix(1);  // a login shell
  return printable(first.empty() || is_interpreter(first) ? name : first);
}

ProgramUse sum_programs(const std::vector<UsedProcess>& processes, double busy_cores) {
  std::map<std::pair<ProgramKind, std::string>, Program> programs;
  std::map<const Program*, double> most;  // of one process
  for (const UsedProcess& one : processes) {
    const std::string name = one.kind == ProgramKind::Kernel ? "" : one.name;
    const auto [entry, added] = programs.try_emplace({one.kind, name});
    Program& program = entry->second;
    if (added) {
      program = {.kind = one.kind, .name = name, .processes = 0, .pid = one.pid};
      most[&program] = one.cores;
    }
    ++program.processes;
    program.cores += one.cores;
    program.memory_bytes += one.memory_bytes;
    if (one.cores <= most[&program]) continue;
    most[&program] = one.cores;
    program.pid = one.pid;
  }
  ProgramUse use;
  for (auto& [key, program] : programs) use.busiest.push_back(std::move(program));
  std::ranges::stable_sort(use.busiest, [](const Program& a, const Program& b) {
    return std::tuple(a.cores, a.memory_bytes) > std::tuple(b.cores, b.memory_bytes);
  });
  if (use.busiest.size() > kBusiestPrograms) {
    use.others = static_cast<int>(use.busiest.size() - kBusiestPrograms);
    use.busiest.resize(kBusiestPrograms);
  }
  use.rest_cores = busy_cores;
  for (const Program& program : use.busiest) use.rest_cores -= program.cores;
  use.rest_cores = std::max(0.0, use.rest_cores);
  return use;
}

std::int64_t ticks_since_boot() {
  timespec t{};
  if (::clock_gettime(CLOCK_BOOTTIME, &t) != 0) return 0;
  const std::int64_t per_s = ::sysconf(_SC_CLK_TCK);
  return t.tv_sec * per_s + t.tv_nsec * per_s / 1'000'000'000;
}

ProgramReader::ProgramReader(std::string root, std::function<std::int64_t()> clock)
    : root_(std::move(root)), ticks_since_boot_(std::move(clock)) {}

bool ProgramReader::rests(std::int64_t pid) const {
  constexpr std::int64_t kSeldom = 3;
  const auto found = known_.find(pid);
  return found != known_.end() && found->second.found > 1 && found->second.cores <= 0 &&
         pid % kSeldom != readings_ % kSeldom;
}

// Only what it used since the previous reading counts, which is unknown of an older process.
void ProgramReader::begin(Known& one, const ProcessStat& stat) const {
  one = {};
  const bool is_younger = stat.started >= earlier_;
  one.clock = is_younger ? before_ : clock_;
  one.stat.ticks = is_younger ? 0 : stat.ticks;
}

bool ProgramReader::update(std::int64_t pid) {
  Buffer buffer;
  const auto text = read_start(fmt::format("{}/proc/{}/stat", root_, pid), buffer);
  if (!text && (errno == EACCES || errno == EPERM)) refused_ = pid;
  std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return false;
  Known& one = known_[pid];
  if (one.found == 0 || one.stat.started != stat->started) begin(one, *stat);
  const auto passed = static_cast<double>(clock_ - one.clock);
  one.cores = passed <= 0 ? 0 : static_cast<double>(stat->ticks - one.stat.ticks) / passed;
  one.cores = std::clamp(one.cores, 0.0, static_cast<double>(cores_.size()));
  one.clock = clock_;
  if (one.program.empty() || one.stat.name != stat->name) {
    const auto line = read_start(fmt::format("{}/proc/{}/cmdline", root_, pid), buffer);
    one.program = program_name(line.value_or(std::string_view()), stat->name);
  }
  one.stat = std::move(*stat);
  return true;
}

UsedProcess ProgramReader::used(std::int64_t pid) const {
  const Known& one = known_.at(pid);
  const ProgramKind kind = pid == own_       ? ProgramKind::Lab
                           : one.stat.kernel ? ProgramKind::Kernel
                                             : ProgramKind::Other;
  return {.pid = pid,
          .kind = kind,
          .name = one.program,
          .cores = one.cores,
          .memory_bytes = one.stat.resident_pages * ::sysconf(_SC_PAGESIZE)};
}

// With hidepid, /proc lists no processes of other users, or refuses to show them.
std::string ProgramReader::why_hidden(const std::vector<std::int64_t>& ids) const {
  const bool has_first = std::ranges::find(ids, 1) != ids.end();
  if (refused_ == 0 && has_first) return {};
  if (hides_users(root_)) {
    return tr("Programs of other users are not visible: /proc is mounted with the option hidepid.");
  }
  return refused_ == 0
             ? std::string(tr("Some programs may not be visible: /proc does not list process 1."))
             : trf("Some programs are not visible: reading /proc/{}/stat is not permitted.",
                   refused_);
}

std::optional<ProgramUse> ProgramReader::read() {
  std::map<int, CoreTicks> now = read_core_ticks(root_);
  if (now.empty()) return ProgramUse{.unread = tr("/proc/stat cannot be read")};
  const BusyCores busy = busy_between(cores_, now);
  const std::int64_t boot_ticks = ticks_since_boot_();
  if (readings_ > 0 && busy.ticks < kLeastElapsedTicks) {
    if (boot_ticks - now_ < kStuckTicks) return {};
    return ProgramUse{.unread = tr("the times in /proc/stat do not advance")};
  }
  const std::vector<std::int64_t> ids = process_ids(root_);
  if (ids.empty()) return ProgramUse{.unread = tr("/proc lists no processes")};
  ++readings_;
  before_ = clock_;
  clock_ += busy.ticks;
  cores_ = std::move(now);
  earlier_ = now_;
  now_ = boot_ticks;
  own_ = own_process(root_);
  refused_ = 0;
  std::vector<UsedProcess> processes;
  for (const std::int64_t pid : ids) {
    if (!rests(pid) && !update(pid)) continue;  // it has ended, or is hidden
    known_.at(pid).found = readings_;
    processes.push_back(used(pid));
  }
  std::erase_if(known_, [this](const auto& entry) { return entry.second.found != readings_; });
  if (readings_ == 1) return {};
  ProgramUse use = sum_programs(processes, busy.cores);
  use.hidden = why_hidden(ids);
  return use;
}

}  // namespace lab
