// Where data sets are looked for and written to.
#include "compute/core/files/places.h"

#include <cstdlib>

#include "compute/data/dataset.h"
#include "compute/data/fetch.h"

namespace lab {
namespace fs = std::filesystem;

fs::path default_data_dir() {
  return files::user_data_folder() / "fashion-mnist";
}

std::vector<fs::path> data_dirs() {
  std::vector<fs::path> dirs;
  const char* chosen =
      std::getenv("LAB_DATA_DIR");  // NOLINT(concurrency-mt-unsafe): never set here
  if (chosen != nullptr && *chosen != '\0') {
    // Either the directory of the files or the one that holds every data set.
    dirs.emplace_back(chosen);
    dirs.push_back(fs::path(chosen) / "fashion-mnist");
  }
  dirs.push_back(default_data_dir());
  dirs.push_back(fs::path("..") / "shared" / "data" / "fashion-mnist");
  return dirs;
}

}  // namespace lab
