#include "compute/data/fashion_mnist.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/files/places.h"
#include "compute/core/language.h"
#include "compute/data/dataset.h"
#include "compute/data/idx.h"

namespace lab {

namespace fs = std::filesystem;
namespace {

constexpr int kSide = 28;

ImageSet load_set(const fs::path& images_file, const fs::path& labels_file) {
  IdxImages images = decode_idx_images(read_idx_bytes(images_file), images_file.string());
  ImageSet set;
  set.labels = decode_idx_labels(read_idx_bytes(labels_file), labels_file.string(), set.classes);
  if (images.height != kSide || images.width != kSide) {
    throw Error(Errc::Corrupt,
                trf("{} holds images of {}x{}; Fashion-MNIST has {}x{}", images_file.string(),
                    images.height, images.width, kSide, kSide));
  }
  if (images.count != static_cast<std::int64_t>(set.labels.size())) {
    throw Error(Errc::Corrupt,
                trf("{} holds {} images but {} holds {} labels", images_file.string(), images.count,
                    labels_file.string(), set.labels.size()));
  }
  set.count = images.count;
  set.pixels = std::move(images.pixels);
  return set;
}

struct FourFiles {
  std::vector<fs::path> found;  // in the order of kFashionFiles
  std::vector<std::string> missing;
};

FourFiles look_in(const fs::path& dir) {
  FourFiles files;
  for (const FashionFile& file : kFashionFiles) {
    if (auto path = find_data_file(dir, file.name))
      files.found.push_back(*path);
    else
      files.missing.push_back(file.name);
  }
  return files;
}

}  // namespace

std::vector<std::string> fashion_class_names() {
  return {"t-shirt", "trouser", "pullover", "dress", "coat",
          "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
}

std::optional<fs::path> find_data_file(const fs::path& dir, const std::string& name) {
  std::error_code unreadable;
  for (const fs::path& path : {dir / (name + ".gz"), dir / name}) {
    if (fs::exists(path, unreadable)) return path;
  }
  return std::nullopt;
}

Dataset load_fashion_mnist(const fs::path& dir) {
  const std::vector<fs::path> places =
      dir.empty() ? data_dirs() : std::vector<fs::path>{dir, dir / "fashion-mnist"};
  std::string looked_at;
  for (const fs::path& place : places) {
    const FourFiles files = look_in(place);
    if (files.missing.empty()) {
      Dataset data;
      data.name = "Fashion-MNIST";
      data.class_names = fashion_class_names();
      data.train = load_set(files.found[0], files.found[1]);
      data.test = load_set(files.found[2], files.found[3]);
      return data;
    }
    looked_at += (looked_at.empty() ? "" : ", ") + place.string();
    if (!files.found.empty()) looked_at += ' ' + trf("(without {})", files.missing.front());
  }
  throw Error(Errc::NotFound,
              trf("Fashion-MNIST was not found in {}; run `device-lab data fetch` to "
                  "download it, or use `--data synthetic`, which needs no download",
                  looked_at));
}

bool has_fashion_mnist() {
  return std::ranges::any_of(data_dirs(),
                             [](const fs::path& dir) { return look_in(dir).missing.empty(); });
}

fs::path default_data_dir() {
  return files::user_data_folder() / "fashion-mnist";
}

std::vector<fs::path> data_dirs() {
  std::vector<fs::path> dirs;
  const char* chosen =
      std::getenv("LAB_DATA_DIR");  // NOLINT(concurrency-mt-unsafe): never set here
  if (chosen != nullptr && *chosen != '\0') {
    // Either the directory of the files or the parent of all data sets.
    dirs.emplace_back(chosen);
    dirs.push_back(fs::path(chosen) / "fashion-mnist");
  }
  dirs.push_back(default_data_dir());
  dirs.push_back(fs::path("..") / "shared" / "data" / "fashion-mnist");
  return dirs;
}

}  // namespace lab
