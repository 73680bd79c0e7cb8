#pragma once
// NVML, NVIDIA's management library, opened when it is first needed: the lab must start where there
// is none.
#include <initializer_list>
#include <memory>
#include <string>

#include "compute/gpu/nvml/nvml_abi.h"

namespace lab::nvml {

void* find_symbol(void* library, const char* name);
std::string reason_for_code(const char* function, int code);

// One function of the library, or its absence, which answers kFunctionNotFound.
template <typename... Args>
class Function {
 public:
  // The first of `names` that the library has; all have this signature.
  Function(void* library, std::initializer_list<const char*> names) : name_(*names.begin()) {
    for (const char* name : names) {
      call_ = reinterpret_cast<int (*)(Args...)>(find_symbol(library, name));
      if (call_ != nullptr) break;
    }
  }
  explicit operator bool() const { return call_ != nullptr; }
  int operator()(Args... args) const {
    return call_ == nullptr ? static_cast<int>(kFunctionNotFound) : call_(args...);
  }
  // Why a call that answered `code` brought no value.
  std::string reason(int code) const { return reason_for_code(name_, code); }

 private:
  const char* name_;
  int (*call_)(Args...) = nullptr;
};

struct Functions {
  void* library;

  Function<> init{library, {"nvmlInit_v2"}};
  Function<> shutdown{library, {"nvmlShutdown"}};
  Function<char*, unsigned> driver_version{library, {"nvmlSystemGetDriverVersion"}};
  Function<int*> cuda_version{
      library, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}};

  Function<unsigned*> count{library, {"nvmlDeviceGetCount_v2"}};
  Function<unsigned, Handle*> by_index{library, {"nvmlDeviceGetHandleByIndex_v2"}};
  Function<const char*, Handle*> by_bus_id{library, {"nvmlDeviceGetHandleByPciBusId_v2"}};
  Function<Handle, PciInfo*> pci_info{library, {"nvmlDeviceGetPciInfo_v3"}};

  Function<Handle, char*, unsigned> name{library, {"nvmlDeviceGetName"}};
  Function<Handle, char*, unsigned> uuid{library, {"nvmlDeviceGetUUID"}};
  Function<Handle, char*, unsigned> serial{library, {"nvmlDeviceGetSerial"}};
  Function<Handle, char*, unsigned> vbios_version{library, {"nvmlDeviceGetVbiosVersion"}};
  Function<Handle, unsigned*> architecture{library, {"nvmlDeviceGetArchitecture"}};
  Function<Handle, int*, int*> compute_capability{library, {"nvmlDeviceGetCudaComputeCapability"}};
  Function<Handle, Attributes*> attributes{library, {"nvmlDeviceGetAttributes_v2"}};
  Function<Handle, unsigned*> cores{library, {"nvmlDeviceGetNumGpuCores"}};
  Function<Handle, unsigned*> memory_bus_width{library, {"nvmlDeviceGetMemoryBusWidth"}};
  Function<Handle, unsigned, unsigned*> max_clock{library, {"nvmlDeviceGetMaxClockInfo"}};
  Function<Handle, unsigned*> default_power_limit{library,
                                                  {"nvmlDeviceGetPowerManagementDefaultLimit"}};
  Function<Handle, unsigned*, unsigned*> power_limit_range{
      library, {"nvmlDeviceGetPowerManagementLimitConstraints"}};
  Function<Handle, unsigned, unsigned*> temperature_threshold{
      library, {"nvmlDeviceGetTemperatureThreshold"}};
  Function<Handle, unsigned*> max_pcie_generation{library, {"nvmlDeviceGetMaxPcieLinkGeneration"}};
  Function<Handle, unsigned*> max_pcie_width{library, {"nvmlDeviceGetMaxPcieLinkWidth"}};
  Function<Handle, unsigned, unsigned*> nvlink_state{library, {"nvmlDeviceGetNvLinkState"}};
  Function<Handle, unsigned, unsigned*> nvlink_version{library, {"nvmlDeviceGetNvLinkVersion"}};
  Function<Handle, unsigned*, unsigned*> ecc_mode{library, {"nvmlDeviceGetEccMode"}};
  Function<Handle, unsigned*, unsigned*> mig_mode{library, {"nvmlDeviceGetMigMode"}};
  Function<Handle, Handle, unsigned, unsigned*> p2p_status{library, {"nvmlDeviceGetP2PStatus"}};

  Function<Handle, Utilization*> utilization{library, {"nvmlDeviceGetUtilizationRates"}};
  // The second number is the sample's length in microseconds.
  Function<Handle, unsigned*, unsigned*> encoder{library, {"nvmlDeviceGetEncoderUtilization"}};
  Function<Handle, unsigned*, unsigned*> decoder{library, {"nvmlDeviceGetDecoderUtilization"}};
  Function<Handle, unsigned, unsigned*> clock{library, {"nvmlDeviceGetClockInfo"}};
  Function<Handle, MemoryV2*> memory_v2{library, {"nvmlDeviceGetMemoryInfo_v2"}};
  Function<Handle, MemoryV1*> memory_v1{library, {"nvmlDeviceGetMemoryInfo"}};
  Function<Handle, unsigned*> power{library, {"nvmlDeviceGetPowerUsage"}};
  Function<Handle, unsigned*> power_limit{library, {"nvmlDeviceGetEnforcedPowerLimit"}};
  Function<Handle, unsigned, unsigned*> temperature{library, {"nvmlDeviceGetTemperature"}};
  Function<Handle, TemperatureV1*> temperature_v{library, {"nvmlDeviceGetTemperatureV"}};
  Function<Handle, unsigned*> fan{library, {"nvmlDeviceGetFanSpeed"}};
  Function<Handle, unsigned*> performance_state{library, {"nvmlDeviceGetPerformanceState"}};
  Function<Handle, unsigned long long*> clock_reasons{
      library,
      {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
  Function<Handle, unsigned*> pcie_generation{library, {"nvmlDeviceGetCurrPcieLinkGeneration"}};
  Function<Handle, unsigned*> pcie_width{library, {"nvmlDeviceGetCurrPcieLinkWidth"}};
  Function<Handle, unsigned, unsigned*> pcie_throughput{library, {"nvmlDeviceGetPcieThroughput"}};
  Function<Handle, unsigned*> persistence_mode{library, {"nvmlDeviceGetPersistenceMode"}};
  Function<Handle, unsigned*> compute_mode{library, {"nvmlDeviceGetComputeMode"}};
  Function<Handle, unsigned*> display_active{library, {"nvmlDeviceGetDisplayActive"}};
  Function<Handle, unsigned, unsigned, unsigned long long*> ecc_errors{
      library, {"nvmlDeviceGetTotalEccErrors"}};
  // _v2 first: some drivers of the 535 series answer _v3 with a longer structure.
  Function<Handle, unsigned*, ProcessV2*> compute_processes{
      library,
      {"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3"}};
  Function<Handle, unsigned*, ProcessV2*> graphics_processes{
      library,
      {"nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3"}};
  // Of clients of MPS, the service through which processes compute at the same time.
  Function<Handle, unsigned*, ProcessV2*> shared_processes{
      library,
      {"nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses_v3"}};
  Function<Handle, ProcessLoad*, unsigned*, unsigned long long> process_utilization{
      library, {"nvmlDeviceGetProcessUtilization"}};
  Function<Handle, unsigned*, ProcessV1*> compute_processes_v1{
      library, {"nvmlDeviceGetComputeRunningProcesses"}};
  Function<Handle, unsigned*, ProcessV1*> graphics_processes_v1{
      library, {"nvmlDeviceGetGraphicsRunningProcesses"}};
};

// The library between nvmlInit and nvmlShutdown. Starting it initialises no GPU.
class Session {
 public:
  // Never throws: failure() says why the library cannot be used.
  explicit Session(const std::string& library);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& failure() const { return failure_; }  // empty: it runs
  // Only where failure() is empty.
  const Functions& functions() const { return *functions_; }

 private:
  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> library_;
  std::unique_ptr<Functions> functions_;
  std::string failure_;
};

}  // namespace lab::nvml
