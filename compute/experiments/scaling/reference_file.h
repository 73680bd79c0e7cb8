#pragma once
// The time of one device, measured elsewhere, as a JSON file:
//
//   {
//     "device": "one NVIDIA V100",      what it ran on
//     "model": "resnet18",              softmax, mlp, lenet, resnet18
//     "batch": 256,                     images of a step
//     "step_s": 0.052,                  seconds of a step; or the two lines below
//     "epoch_s": 12.2,                  seconds of an epoch of
//     "images": 60000,                  so many images
//     "source": "a sentence"            where the figures come from
//   }
#include <cstdint>
#include <filesystem>
#include <string>

namespace lab {

struct ReferenceTime {
  std::string device, model, source;
  std::int64_t batch = 0;
  double step_s = 0;  // of `batch` images
};

// A bare name that is not in the working folder is looked for among the assets of the program.
// Throws Error(NotFound or Io) for the file, Error(Corrupt) naming the file, the field and what is
// expected of it.
ReferenceTime read_reference(const std::filesystem::path& file);

}  // namespace lab
