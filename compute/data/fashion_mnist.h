#pragma once
// The four files of Fashion-MNIST (Zalando Research, MIT licence), with their sizes and checksums.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lab {

struct FashionFile {
  const char* name;        // without ".gz"
  std::int64_t bytes;      // decompressed
  const char* sha256_hex;  // of the decompressed bytes, which do not depend on the compressor
};

inline constexpr std::array<FashionFile, 4> kFashionFiles = {{
    {"train-images-idx3-ubyte", 47040016,
     "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
    {"train-labels-idx1-ubyte", 60008,
     "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
    {"t10k-images-idx3-ubyte", 7840016,
     "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
    {"t10k-labels-idx1-ubyte", 10008,
     "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
}};

// "t-shirt" ... "ankle boot", in the order of the labels.
std::vector<std::string> fashion_class_names();

// `dir`/`name`.gz if it exists, otherwise `dir`/`name`; empty if neither exists.
std::optional<std::filesystem::path> find_data_file(const std::filesystem::path& dir,
                                                    const std::string& name);

}  // namespace lab
