#pragma once
// NVML, NVIDIA's management library, loaded on first use because the lab must start without it. The
// part of its binary interface that the lab uses is declared here, because nvml.h may not be
// installed. Layouts and values follow the NVML API reference; the driver keeps them stable.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compute/core/maybe.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::nvml {

struct DeviceTag;
using Handle = DeviceTag*;  // nvmlDevice_t

// nvmlReturn_t
enum Code : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kUnknown = 999,
};

// Arguments that select a value.
inline constexpr unsigned kClockGraphics = 0, kClockSm = 1, kClockMemory = 2,
                          kClockVideo = 3;                             // nvmlClockType_t
inline constexpr unsigned kPcieSent = 0, kPcieReceived = 1;            // nvmlPcieUtilCounter_t
inline constexpr unsigned kSensorGpu = 0;                              // nvmlTemperatureSensors_t
inline constexpr unsigned kThresholdSlowdown = 1;                      // ...Thresholds_t
inline constexpr unsigned kErrorCorrected = 0, kErrorUncorrected = 1;  // nvmlMemoryErrorType_t
inline constexpr unsigned kSinceDriverLoad = 0;                        // volatile counters
inline constexpr unsigned kPeerRead = 0, kPeerWrite = 1, kPeerNvLink = 2;  // nvmlGpuP2PCapsIndex_t
inline constexpr unsigned kMaxNvLinks = 18;
inline constexpr unsigned kPerformanceStateUnknown = 32;
inline constexpr unsigned kNoInstance = ~0U;  // a process outside MIG
inline constexpr unsigned long long kValueNotAvailable = ~0ULL;

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned device_id, subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Utilization {  // percent
  unsigned gpu, memory;
};
static_assert(sizeof(Utilization) == 8);

struct MemoryV1 {  // `used` includes memory reserved by the driver
  unsigned long long total, free, used;
};
static_assert(sizeof(MemoryV1) == 24);

struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);

struct ProcessV1 {
  unsigned pid;
  unsigned long long used_memory;
};
static_assert(sizeof(ProcessV1) == 16);

struct ProcessV2 {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessV2) == 24);

struct ProcessLoad {  // nvmlProcessUtilizationSample_t, percent
  unsigned pid;
  unsigned long long time_us;
  unsigned kernels, memory, encoder, decoder;
};
static_assert(sizeof(ProcessLoad) == 32);

struct Attributes {
  unsigned multiprocessors;
  unsigned copy_engines, decoders, encoders, jpeg, ofa;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
};
static_assert(sizeof(Attributes) == 40);

struct TemperatureV1 {
  unsigned version, sensor;
  int celsius;
};
static_assert(sizeof(TemperatureV1) == 12);

// The value of the first member of a versioned structure.
template <typename Struct>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(Struct)) | number << 24U;
}

// Why a call to `function` returned no value: "this GPU or its driver does not report it".
std::string reason_of(const char* function, int code);

// An NVML function and, optionally, an older one with the same signature as its fallback.
struct Name {
  Name(const char* name, const char* older_name = nullptr)  // NOLINT(google-explicit-constructor)
      : newest(name), older(older_name) {}
  const char* newest;
  const char* older;
};

// NVML between nvmlInit and nvmlShutdown. Starting a session initialises no GPU.
class Session {
 public:
  // Does not throw; failure() reports why the library cannot be used.
  explicit Session(const std::string& library);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& failure() const { return failure_; }  // empty on success

  // Requires an empty failure(). The argument types must match the function's parameters. Returns
  // kFunctionNotFound if the library lacks the function.
  template <typename... Args>
  int call(const Name& name, Args... args) const {
    const auto function = find<int (*)(Args...)>(name);
    return function == nullptr ? static_cast<int>(kFunctionNotFound) : function(args...);
  }
  bool has(const Name& name) const { return find<void (*)()>(name) != nullptr; }

  // Returns the function's output, which is its last argument, or the reason why there is none.
  template <typename Value, typename... In>
  Maybe<Value> value(const Name& name, In... in) const {
    Value value{};
    const int code = call(name, in..., &value);
    if (code != kSuccess) return Maybe<Value>::missing(reason_of(name.newest, code));
    return value;
  }

 private:
  template <typename F>
  F find(const Name& name) const {
    const F newest = library_->function<F>(name.newest);
    return newest != nullptr || name.older == nullptr ? newest : library_->function<F>(name.older);
  }

  Maybe<DynamicLibrary> library_;
  std::string failure_;
};

}  // namespace lab::nvml
