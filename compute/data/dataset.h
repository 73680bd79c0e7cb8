#pragma once
// 28x28 greyscale images with labels 0..9, as bytes.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lab {

struct ImageSet {
  std::int64_t count = 0;
  int height = 28, width = 28;
  int classes = 10;
  std::vector<std::uint8_t> pixels;  // count * height * width, row-major
  std::vector<std::uint8_t> labels;  // count
  bool synthetic = false;
};

struct Dataset {
  std::string name;  // "Fashion-MNIST", "synthetic garments"
  ImageSet train, test;
  std::vector<std::string> class_names;
  bool synthetic = false;
};

// Reads the four IDX files (gzip or plain, with or without ".gz") from `dir`; if it is empty, from
// the first directory of data_dirs() that holds them. Throws Error(NotFound) listing the
// directories searched and suggesting `device-lab data fetch` and `--data synthetic`;
// Error(Corrupt) naming the file and the fault.
Dataset load_fashion_mnist(const std::filesystem::path& dir = {});

// Whether load_fashion_mnist() would find the files in the directories of data_dirs().
bool has_fashion_mnist();

// Directories searched, in order: $LAB_DATA_DIR, $XDG_DATA_HOME/device-lab/fashion-mnist (or
// ~/.local/share/...), ../shared/data/fashion-mnist.
std::vector<std::filesystem::path> data_dirs();
// Where `data fetch` writes: $XDG_DATA_HOME/device-lab/fashion-mnist.
std::filesystem::path default_data_dir();

// Generates a procedural ten-class set, which depends only on the seed and the sizes. `progress`
// receives 0..1 and may throw to stop.
Dataset make_synthetic_garments(std::int64_t train, std::int64_t test, std::uint64_t seed,
                                const std::function<void(double)>& progress = {});

}  // namespace lab
