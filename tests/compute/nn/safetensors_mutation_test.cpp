// Runs the fuzz target on mutated files, so that every build exercises it.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lab::nn {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data_bytes, '\1');
}

TEST(SafetensorsFuzz, SurvivesMutatedFiles) {
  const std::string seeds[] = {
      file_of(R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8),
      file_of(R"({"__metadata__":{"k":"v"},"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
              R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})",
              11),
      file_of("{}", 0)};
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string file = seeds[random() % 3];
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % file.size();
      switch (random() % 4) {
        case 0: file[at] = static_cast<char>(random()); break;
        case 1: file.erase(at, 1 + random() % 3); break;
        case 2: file.insert(at, 1, "[]{}\",:0919"[random() % 11]); break;
        default: file.resize(at + 1); break;
      }
      if (file.empty()) file.push_back('x');
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  }
}

}  // namespace
}  // namespace lab::nn
