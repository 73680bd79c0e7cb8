#include "compute/gpu/nvml/nvml_library.h"

#include <fmt/format.h>

#include <array>

namespace lab::nvml {
namespace {

struct Word {
  int code;
  const char* text;
};

constexpr std::array<Word, 20> kReasons = {{
    {kUninitialized, "NVML was shut down"},
    {kNotSupported, "this GPU or its driver does not report it"},
    {kNoPermission, "the driver reports it to administrators only"},
    {kNotFound, "the driver does not find it"},
    {kInsufficientPower, "the GPU's power cables are not connected properly"},
    {kDriverNotLoaded, "the NVIDIA kernel driver is not loaded; load it (modprobe nvidia)"},
    {kTimeout, "the driver did not answer in time"},
    {kIrqIssue, "the kernel reports a problem with the GPU's interrupts"},
    {kLibraryNotFound, "a library of the NVIDIA driver is missing; reinstall the driver"},
    {kCorruptedInforom, "the GPU's infoROM is corrupted"},
    {kGpuIsLost, "the GPU no longer answers (it fell off the bus); restart the machine"},
    {kResetRequired, "the GPU must be reset before it answers (nvidia-smi --gpu-reset)"},
    {kOperatingSystem, "the operating system denies NVML access to the GPU"},
    {kVersionMismatch,
     "the NVIDIA library and the kernel driver are of different versions; restart the machine"},
    {kInUse, "the GPU is in use by another program"},
    {kMemory, "NVML ran out of memory"},
    {kNoData, "the driver has no reading yet"},
    {kDeprecated, "the driver no longer reports it"},
    {kNotReady, "the driver is not ready yet"},
    {kGpuNotFound, "the driver finds no GPU at this address"},
}};

}  // namespace

std::string reason_of(const char* function, int code) {
  if (code == kFunctionNotFound) {
    return fmt::format("the driver is too old: its NVML has no {}", function);
  }
  for (const Word& word : kReasons) {
    if (word.code == code) return word.text;
  }
  return fmt::format("{} failed with NVML error {}", function, code);
}

Session::Session(const std::string& library) : library_(DynamicLibrary::open({library})) {
  if (!library_) {
    failure_ = fmt::format(
        "NVML cannot be loaded: {}; install the driver's management library (libnvidia-ml1), or "
        "give the container the capability 'utility'",
        library_.reason());
    return;
  }
  constexpr const char* kInit = "nvmlInit_v2";
  const int code = call(kInit);
  if (code != kSuccess) failure_ = "NVML does not start: " + reason_of(kInit, code);
}

Session::~Session() {
  if (failure_.empty()) call("nvmlShutdown");
}

}  // namespace lab::nvml
