#include "compute/gpu/nvml/nvml_library.h"

#include <array>

#include "compute/core/language.h"

namespace lab::nvml {
namespace {

struct Word {
  int code;
  const char* text;
};

constexpr std::array<Word, 20> kReasons = {{
    {kUninitialized, LAB_TEXT("NVML was shut down")},
    {kNotSupported, LAB_TEXT("this GPU or its driver does not report it")},
    {kNoPermission, LAB_TEXT("the driver reports it to administrators only")},
    {kNotFound, LAB_TEXT("the driver does not find it")},
    {kInsufficientPower, LAB_TEXT("the GPU's power cables are not connected properly")},
    {kDriverNotLoaded,
     LAB_TEXT("the NVIDIA kernel driver is not loaded; load it (modprobe nvidia)")},
    {kTimeout, LAB_TEXT("the driver did not answer in time")},
    {kIrqIssue, LAB_TEXT("the kernel reports a problem with the GPU's interrupts")},
    {kLibraryNotFound, LAB_TEXT("a library of the NVIDIA driver is missing; reinstall the driver")},
    {kCorruptedInforom, LAB_TEXT("the GPU's infoROM is corrupted")},
    {kGpuIsLost, LAB_TEXT("the GPU no longer answers (it fell off the bus); restart the machine")},
    {kResetRequired, LAB_TEXT("the GPU must be reset before it answers (nvidia-smi --gpu-reset)")},
    {kOperatingSystem, LAB_TEXT("the operating system denies NVML access to the GPU")},
    {kVersionMismatch, LAB_TEXT("the NVIDIA library and the kernel driver are of different "
                                "versions; restart the machine")},
    {kInUse, LAB_TEXT("the GPU is in use by another program")},
    {kMemory, LAB_TEXT("NVML ran out of memory")},
    {kNoData, LAB_TEXT("the driver has no reading yet")},
    {kDeprecated, LAB_TEXT("the driver no longer reports it")},
    {kNotReady, LAB_TEXT("the driver is not ready yet")},
    {kGpuNotFound, LAB_TEXT("the driver finds no GPU at this address")},
}};

}  // namespace

std::string reason_of(const char* function, int code) {
  if (code == kFunctionNotFound) {
    return trf("the driver is too old: its NVML has no {}", function);
  }
  for (const Word& word : kReasons) {
    if (word.code == code) return tr(word.text);
  }
  return trf("{} failed with NVML error {}", function, code);
}

Session::Session(const std::string& library) : library_(DynamicLibrary::open({library})) {
  if (!library_) {
    failure_ =
        trf("NVML cannot be loaded: {}; install the driver's management library (libnvidia-ml1), "
            "or give the container the capability 'utility'",
            library_.reason());
    return;
  }
  constexpr const char* kInit = "nvmlInit_v2";
  const int code = call(kInit);
  if (code != kSuccess) failure_ = trf("NVML does not start: {}", reason_of(kInit, code));
}

Session::~Session() {
  if (failure_.empty()) call("nvmlShutdown");
}

}  // namespace lab::nvml
