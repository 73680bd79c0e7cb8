#include "app/window/reference_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/files/places.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
// --- samples --------------------------------------------------------------------------------

namespace {

using files::JsonFields;

constexpr std::array kMovers = {TransferMover::Threads, TransferMover::CopyEngine,
                                TransferMover::Kernel};
constexpr std::array kPeerModes = {PeerMode::Write, PeerMode::Read, PeerMode::WriteThroughHost,
                                   PeerMode::ReadThroughHost};

Device device_in(const JsonFields& fields, const char* field) {
  const std::string name = fields.line(field);
  try {
    return parse_device(name);
  } catch (const Error& e) {
    fields.refuse(e.what());
  }
}

int threads_in(const JsonFields& fields) {
  const std::int64_t threads = fields.count("threads");
  if (threads > std::numeric_limits<int>::max()) fields.refuse(tr("\"threads\" is too large"));
  return static_cast<int>(threads);
}

Timing timing_in(const JsonFields& fields) {
  Timing time;
  time.median_s = fields.positive("median_s");
  time.p10_s = fields.positive("p10_s");
  time.p90_s = fields.positive("p90_s");
  if (time.p10_s > time.median_s || time.median_s > time.p90_s) {
    fields.refuse(tr("\"p10_s\", \"median_s\" and \"p90_s\" must ascend"));
  }
  time.n = fields.count("samples");
  time.warmup = fields.count("warmup", 0);
  time.unstable = fields.flag("unstable");
  return time;
}

bool verified_in(const JsonFields& fields) {
  if (!fields.flag("verified")) fields.refuse(tr("the sample is not verified"));
  return true;
}

Conditions conditions_in(const JsonFields& fields) {
  Conditions conditions;
  if (const auto clock = fields.number_or_null("clock_mhz")) conditions.clock_mhz = *clock;
  conditions.clock_nominal = fields.has("clock_nominal") && fields.flag("clock_nominal");
  return conditions;
}

}  // namespace

MatmulSample matmul_sample(const JsonFields& fields) {
  MatmulSample s;
  s.device = device_in(fields, "device");
  s.kernel = fields.line("kernel");
  s.library = fields.flag("library");
  s.dtype = fields.one_of("dtype", enum_values<Precision>());
  s.m = fields.count("m");
  s.n = fields.count("n");
  s.k = fields.count("k");
  s.time = timing_in(fields);
  s.gflops = fields.positive("gflops");
  s.verified = verified_in(fields);
  s.share_of_library = fields.number_or_null("share_of_library");
  s.share_of_peak = fields.number_or_null("share_of_peak");
  s.max_error = fields.non_negative("max_error");
  s.conditions = conditions_in(fields);
  return s;
}

TransferSample transfer_sample(const JsonFields& fields) {
  TransferSample s;
  s.from = device_in(fields, "from");
  s.to = device_in(fields, "to");
  s.memory = fields.one_of("memory", enum_values<MemoryKind>());
  s.op = fields.one_of("op", enum_values<TransferOp>());
  s.mover = fields.one_of("mover", kMovers);
  if (fields.has("peer")) s.peer = fields.one_of("peer", kPeerModes);
  s.threads = threads_in(fields);
  s.bytes = fields.count("bytes");
  s.time = timing_in(fields);
  s.gb_per_s = fields.positive("gb_per_s");
  s.verified = verified_in(fields);
  s.conditions = conditions_in(fields);
  return s;
}

// --- one machine ----------------------------------------------------------------------------

namespace {

using files::JsonFields;
using Json = nlohmann::json;

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 4096;

// Reads a list of JSON objects. Throws Error(Corrupt) naming the list if it has more than
// kMaxEntries elements, or the element ("x.json: matmul[3]") if it is not an object or `read`
// rejects it.
template <typename Value>
std::vector<Value> read_list(const files::JsonFields& of, const char* field,
                             Value (*read)(const files::JsonFields&)) {
  const nlohmann::json& list = of.list(field);
  if (list.size() > kMaxEntries) {
    of.refuse(trf("\"{}\" has {} entries; the limit is {}", field, list.size(), kMaxEntries));
  }
  std::vector<Value> values;
  for (const nlohmann::json& one : list) {
    const files::JsonFields fields(one,
                                   fmt::format("{}: {}[{}]", of.where(), field, values.size()));
    if (!one.is_object()) fields.refuse(tr("this is not a JSON object"));
    values.push_back(read(fields));
  }
  return values;
}

constexpr std::uintmax_t kLargestFile = 4 << 20;

Json parse(const fs::path& file) {
  std::error_code unknown;
  const fs::file_status status = fs::status(file, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(Errc::Io, trf("cannot read {}: not a regular file; choose another", file.string()));
  }
  const std::uintmax_t bytes = fs::file_size(file, unknown);
  const Json none;
  const JsonFields whole(none, file.string());
  if (!unknown && bytes > kLargestFile) {
    whole.refuse(trf("the file has {}; the limit for the results of a machine is {}",
                     format_bytes(static_cast<std::int64_t>(bytes)),
                     format_bytes(static_cast<std::int64_t>(kLargestFile))));
  }
  Json json = Json::parse(files::read_text_file(file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    whole.refuse(tr("this is not a JSON object; make references with tests/gpu/reference.py"));
  }
  return json;
}

void check_format(const JsonFields& fields) {
  fields.word("type", {"machine"});
  const std::int64_t format = fields.count("format");
  if (format > kMachineFormat) {
    fields.refuse(
        trf("format {} was written by a newer Device Lab; this one reads "
            "format {}",
            format, kMachineFormat));
  }
}

JsonFields part(const JsonFields& fields, const char* field) {
  return {fields.object(field), fmt::format("{}: {}", fields.where(), field)};
}

// Determines the device of the samples; the host side of a GPU transfer is ignored.
class OwnDevice {
 public:
  OwnDevice(const JsonFields& fields, DeviceKind kind) : fields_(fields), kind_(kind) {}

  void add(Device device, bool with_host) {
    if (with_host && kind_ == DeviceKind::Cuda && device == cpu()) return;
    if (device.kind != kind_) {
      fields_.refuse(trf("\"kind\" is {}, but the file has results of {}",
                         kind_ == DeviceKind::Cpu ? "cpu" : "cuda", to_string(device)));
    }
    if (found_ && *found_ != device) {
      fields_.refuse(trf("the file has results of {} and {}; it must describe one device",
                         to_string(*found_), to_string(device)));
    }
    found_ = device;
  }
  bool any() const { return found_.has_value(); }

 private:
  const JsonFields& fields_;
  const DeviceKind kind_;
  std::optional<Device> found_;
};

void check_devices(const JsonFields& fields, const ReferenceMachine& machine) {
  OwnDevice own(fields, machine.kind);
  for (const MatmulSample& s : machine.matmul) own.add(s.device, false);
  for (const TransferSample& s : machine.transfers) {
    own.add(s.from, true);
    own.add(s.to, true);
  }
  if (!own.any()) fields.refuse(tr("the file has no samples"));
}

ReferenceMachine machine_of(const JsonFields& fields) {
  ReferenceMachine machine;
  machine.name = fields.line("name");
  machine.kind = fields.word("kind", {"cpu", "cuda"}) == "cpu" ? DeviceKind::Cpu : DeviceKind::Cuda;
  machine.date = fields.line("date");
  const JsonFields made_with = part(fields, "made_with");
  machine.lab = made_with.line("device_lab");
  machine.driver = made_with.line_or_empty("driver");
  machine.cuda = made_with.line_or_empty("cuda");
  const JsonFields settings = part(fields, "settings");
  machine.cache = settings.one_of("cache", enum_values<CacheState>());
  machine.commands = settings.lines("commands");
  machine.matmul = read_list(fields, "matmul", matmul_sample);
  machine.transfers = read_list(fields, "transfers", transfer_sample);
  check_devices(fields, machine);
  return machine;
}

}  // namespace

std::optional<ReferenceMachine> read_machine(const fs::path& file) {
  const Json json = parse(file);
  const JsonFields fields(json, file.string());
  const bool step_time = fields.has("model") && fields.has("batch") && fields.has("source");
  if (!fields.has("type") && step_time) return {};
  check_format(fields);
  ReferenceMachine machine = machine_of(fields);
  machine.key = file.filename().string();
  return machine;
}

// --- all available machines -----------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  // Returns true if the file contains the results of a machine.
  bool read(const fs::path& file) {
    if (!names_.insert(file.filename()).second) return true;
    try {
      auto machine = read_machine(file);
      if (!machine) return false;
      found_.machines.push_back(std::move(*machine));
    } catch (const std::exception& e) {
      complain(e.what());
    }
    return true;
  }
  void complain(const std::string& what) {
    found_.problems.push_back(trf("Reference ignored: {}", what));
  }
  FoundMachines take() { return std::move(found_); }

 private:
  FoundMachines found_;
  std::set<fs::path> names_;
};

// Returns the *.json files, sorted by name.
std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

FoundMachines find_machines(const fs::path& chosen, const std::vector<fs::path>& folders) {
  Collector collector;
  if (!chosen.empty()) {
    const fs::path file = files::find_asset(chosen, folders);
    if (!collector.read(file)) {
      collector.complain(
          trf("{} holds the time of a training step, not the results of a machine; open it on the "
              "Scaling page",
              file.string()));
    }
  }
  for (const fs::path& folder : folders) {
    for (const fs::path& file : json_files(folder)) collector.read(file);
  }
  return collector.take();
}

}  // namespace lab::app
