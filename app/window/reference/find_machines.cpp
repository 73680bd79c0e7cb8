#include "app/window/reference/find_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <system_error>

#include "app/window/reference/machine_file.h"
#include "compute/core/files/places.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  // True for the results of a machine.
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
    found_.complaints.push_back(fmt::format("Reference left out: {}", what));
  }
  FoundMachines take() { return std::move(found_); }

 private:
  FoundMachines found_;
  std::set<fs::path> names_;
};

// In the order of their names.
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
      collector.complain(fmt::format(
          "{} holds the time of a training step, not the results of a machine; the Scaling page "
          "takes it",
          file.string()));
    }
  }
  for (const fs::path& folder : folders) {
    for (const fs::path& file : json_files(folder)) collector.read(file);
  }
  return collector.take();
}

}  // namespace lab::app
