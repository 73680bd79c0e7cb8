#pragma once
// 28x28 grey images with labels 0..9, as bytes.
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

// Reads the four IDX files (gzip or plain, with or without ".gz") of `dir`. Empty `dir`: the
// directories of data_dirs() in order. Throws Error(NotFound) that lists the places looked at and
// says `device-lab data fetch` and `--data synthetic`, Error(Corrupt) naming the file and what is
// wrong with it.
Dataset load_fashion_mnist(const std::filesystem::path& dir = {});

// $LAB_DATA_DIR, $XDG_DATA_HOME/device-lab/fashion-mnist (or ~/.local/share/...),
// ../shared/data/fashion-mnist.
std::vector<std::filesystem::path> data_dirs();
// Where `data fetch` writes: $XDG_DATA_HOME/device-lab/fashion-mnist.
std::filesystem::path default_data_dir();

// A procedural ten-class set; depends on the seed and the sizes alone. The callback gets 0..1 and
// may throw to stop.
Dataset make_synthetic_garments(std::int64_t train, std::int64_t test, std::uint64_t seed,
                                const std::function<void(double)>& progress = {});

}  // namespace lab
