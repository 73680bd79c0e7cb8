#pragma once
// Why no NVIDIA GPU can be used: the first thing that is missing on the way from GPU to kernel.
#include <functional>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"

namespace lab {

// What libcuda.so.1 answers. Asking loads it, so it is asked last and only where a GPU is visible.
struct CudaDriverAnswer {
  int init_code = 0;                          // of cuInit; 0 is success
  std::string init_error;                     // its name, "CUDA_ERROR_NO_DEVICE"
  std::vector<std::string> names;             // of the GPUs CUDA offers, in its order
  std::vector<std::string> pci_bus_ids = {};  // theirs, as /sys writes them; empty where not told
};

// Missing with the loader's reason when the library cannot be used.
Maybe<CudaDriverAnswer> ask_cuda_driver();

struct NvidiaProbe {
  std::string root = "/";                   // stands for "/" in tests
  Maybe<std::string> visible_devices = {};  // CUDA_VISIBLE_DEVICES, missing when not set
  // What the lab's CUDA half said. It is the reason where a driver answered it, and where nothing
  // else stands in the way.
  std::string refusal = {};
  bool driver_refused = false;
  bool may_wake = false;  // a GPU that sleeps is asked all the same
  std::function<Maybe<CudaDriverAnswer>()> ask = ask_cuda_driver;
};

// One entry for each GPU found, or a single one when there is none: its name, and a precise
// sentence about what keeps the lab from using it.
std::vector<AbsentDevice> find_unusable_gpus(const NvidiaProbe& probe);

}  // namespace lab
