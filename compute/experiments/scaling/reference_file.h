#pragma once
// Step time of one device, measured elsewhere and stored as a JSON file:
//
//   {
//     "device": "one NVIDIA V100",      where it was measured
//     "model": "resnet18",              softmax, mlp, lenet, resnet18
//     "batch": 256,                     images per step
//     "step_s": 0.052,                  seconds per step; or the next two fields:
//     "epoch_s": 12.2,                  seconds per epoch
//     "images": 60000,                  images per epoch
//     "source": "a sentence"            source of the numbers
//   }
#include <cstdint>
#include <filesystem>
#include <string>

namespace lab {

struct ReferenceTime {
  std::string device, model, source;
  std::int64_t batch = 0;
  double step_s = 0;  // per step of `batch` images
};

// A bare name that is not in the working directory is looked up among the program's assets. Throws
// Error(NotFound or Io) for the file, Error(Corrupt) naming the file, the field and the expected
// value.
ReferenceTime read_reference(const std::filesystem::path& file);

}  // namespace lab
