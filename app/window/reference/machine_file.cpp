#include "app/window/reference/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "app/window/reference/json_list.h"
#include "app/window/reference/machine_samples.h"
#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

using files::JsonFields;
using Json = nlohmann::json;

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 4 << 20;

Json parse(const fs::path& file) {
  std::error_code unknown;
  const fs::file_status status = fs::status(file, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(Errc::Io, fmt::format("cannot read {}: it is no regular file; choose another",
                                      file.string()));
  }
  const std::uintmax_t bytes = fs::file_size(file, unknown);
  const Json none;
  const JsonFields whole(none, file.string());
  if (!unknown && bytes > kLargestFile) {
    whole.refuse(fmt::format("{} are too many for the results of a machine, which take {} at most",
                             format_bytes(static_cast<std::int64_t>(bytes)),
                             format_bytes(static_cast<std::int64_t>(kLargestFile))));
  }
  Json json = Json::parse(files::read_text_file(file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    whole.refuse("this is not a JSON object; make references with tests/gpu/reference.py");
  }
  return json;
}

void check_format(const JsonFields& fields) {
  fields.word("type", {"machine"});
  const std::int64_t format = fields.count("format");
  if (format > kMachineFormat) {
    fields.refuse(
        fmt::format("it has format {}, which a newer Device Lab wrote; this one reads "
                    "format {}",
                    format, kMachineFormat));
  }
}

JsonFields part(const JsonFields& fields, const char* field) {
  return {fields.object(field), fmt::format("{}: {}", fields.where(), field)};
}

// What the samples ran on; the host of a GPU does not count.
class OwnDevice {
 public:
  OwnDevice(const JsonFields& fields, DeviceKind kind) : fields_(fields), kind_(kind) {}

  void add(Device device, bool with_host) {
    if (with_host && kind_ == DeviceKind::Cuda && device == cpu()) return;
    if (device.kind != kind_) {
      fields_.refuse(fmt::format("\"kind\" is {}, but there are results of {}",
                                 kind_ == DeviceKind::Cpu ? "cpu" : "cuda", to_string(device)));
    }
    if (found_ && *found_ != device) {
      fields_.refuse(fmt::format("there are results of {} and {}; a file is about one device",
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
  if (!own.any()) fields.refuse("it holds no samples");
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

}  // namespace lab::app
