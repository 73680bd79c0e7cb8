// Lists the processes that use a GPU.
#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/core/language.h"
#include "compute/gpu/nvml/nvml_readings.h"

namespace lab::nvml {
namespace {

// Fills `list` by call(count, elements). The list may grow between the call that returns its length
// and the one that fills it, so the buffer has `room` for additional elements and the call is
// retried.
template <typename Element, typename Call>
int fill_list(std::vector<Element>& list, unsigned room, const Call& call) {
  constexpr int kTries = 4;
  int code = kInsufficientSize;
  unsigned count = 0;
  for (int i = 0; i < kTries && code == kInsufficientSize; ++i) {
    list.resize(count + room);
    count = static_cast<unsigned>(list.size());
    code = call(&count, list.data());
  }
  list.resize(code == kSuccess ? std::min<std::size_t>(count, list.size()) : 0);
  return code;
}

Maybe<int> instance(unsigned number) {
  if (number != kNoInstance) return static_cast<int>(number);
  return Maybe<int>::missing(tr("only a process on a MIG instance has one"));
}

void set_instances(GpuProcess& to, const ProcessV2& from) {
  to.gpu_instance = instance(from.gpu_instance);
  to.compute_instance = instance(from.compute_instance);
}

void set_instances(GpuProcess& to, const ProcessV1&) {
  to.gpu_instance = to.compute_instance =
      Maybe<int>::missing(tr("the driver is too old: its process list has no instances"));
}

template <typename Process>
Maybe<std::vector<GpuProcess>> list_processes(const Session& nvml, const Name& name, Handle gpu) {
  constexpr unsigned kRoomForMore = 8;
  using Result = Maybe<std::vector<GpuProcess>>;
  std::vector<Process> told;
  const int code = fill_list(told, kRoomForMore, [&](unsigned* count, Process* list) {
    return nvml.call(name, gpu, count, list);
  });
  if (code == kInsufficientSize) {
    return Result::missing(tr("the list of processes grows faster than it can be read"));
  }
  if (code != kSuccess) return Result::missing(reason_of(name.newest, code));
  std::vector<GpuProcess> processes;
  processes.reserve(told.size());
  for (const Process& one : told) {
    GpuProcess process;
    process.pid = one.pid;
    process.memory_bytes =
        one.used_memory == kValueNotAvailable
            ? Maybe<std::int64_t>::missing(tr("the driver does not report it for this process"))
            : Maybe<std::int64_t>(static_cast<std::int64_t>(one.used_memory));
    set_instances(process, one);
    processes.push_back(std::move(process));
  }
  return processes;
}

// Merges one of the driver's lists into `all`; a process may appear in several lists.
void merge(std::vector<GpuProcess>& all, const Maybe<std::vector<GpuProcess>>& list,
           bool GpuProcess::*kind) {
  for (GpuProcess one : list.value_or({})) {
    auto known =
        std::find_if(all.begin(), all.end(), [&](const GpuProcess& p) { return p.pid == one.pid; });
    if (known == all.end()) known = all.insert(all.end(), std::move(one));
    (*known).*kind = true;
  }
}

Maybe<double> load(unsigned percent) {
  if (percent <= 100) return percent / 100.0;
  return Maybe<double>::missing(tr("the driver reports an impossible value"));
}

void set_loads(GpuProcess& to, const Maybe<double>& kernels, const Maybe<double>& encoder,
               const Maybe<double>& decoder) {
  to.utilisation = kernels;
  to.encoder_utilisation = encoder;
  to.decoder_utilisation = decoder;
}

// The driver keeps samples only of processes that were active; sample times are those of the system
// clock. Some drivers also return samples older than requested.
void read_loads(const Session& nvml, Handle gpu, std::vector<GpuProcess>& processes) {
  constexpr unsigned kRoom = 128;
  constexpr const char* kLoads = "nvmlDeviceGetProcessUtilization";
  if (processes.empty()) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto since_us = static_cast<unsigned long long>(
      std::chrono::duration_cast<std::chrono::microseconds>(now - std::chrono::seconds(1)).count());
  std::vector<ProcessLoad> samples;
  const int code = fill_list(samples, kRoom, [&](unsigned* count, ProcessLoad* list) {
    return nvml.call(kLoads, gpu, list, count, since_us);
  });
  if (code != kSuccess && code != kNotFound) {
    const auto missing = Maybe<double>::missing(reason_of(kLoads, code));
    for (GpuProcess& one : processes) set_loads(one, missing, missing, missing);
    return;
  }
  for (GpuProcess& one : processes) {
    const ProcessLoad* newest = nullptr;
    for (const ProcessLoad& sample : samples) {
      if (sample.pid != one.pid || sample.time_us <= since_us) continue;
      if (newest == nullptr || newest->time_us < sample.time_us) newest = &sample;
    }
    if (newest == nullptr) {
      set_loads(one, 0.0, 0.0, 0.0);
    } else {
      set_loads(one, load(newest->kernels), load(newest->encoder), load(newest->decoder));
    }
  }
}

}  // namespace

Maybe<std::vector<GpuProcess>> read_processes(const Session& nvml, Handle gpu) {
  // _v2 first: some drivers of the 535 series fill a longer structure in _v3.
  const Name compute_v2{"nvmlDeviceGetComputeRunningProcesses_v2",
                        "nvmlDeviceGetComputeRunningProcesses_v3"};
  const Name graphics_v2{"nvmlDeviceGetGraphicsRunningProcesses_v2",
                         "nvmlDeviceGetGraphicsRunningProcesses_v3"};
  // Clients of MPS, NVIDIA's service that lets processes share a GPU concurrently.
  const Name shared_v2{"nvmlDeviceGetMPSComputeRunningProcesses_v2",
                       "nvmlDeviceGetMPSComputeRunningProcesses_v3"};
  const auto list = [&](const Name& v2, const char* v1) {
    return nvml.has(v2) ? list_processes<ProcessV2>(nvml, v2, gpu)
                        : list_processes<ProcessV1>(nvml, v1, gpu);
  };
  auto compute = list(compute_v2, "nvmlDeviceGetComputeRunningProcesses");
  if (!compute) return compute;
  std::vector<GpuProcess> all;
  merge(all, compute, &GpuProcess::computes);
  merge(all, list(graphics_v2, "nvmlDeviceGetGraphicsRunningProcesses"), &GpuProcess::draws);
  merge(all, list_processes<ProcessV2>(nvml, shared_v2, gpu), &GpuProcess::shares);
  read_loads(nvml, gpu, all);
  std::stable_sort(all.begin(), all.end(), [](const GpuProcess& a, const GpuProcess& b) {
    return a.memory_bytes.value_or(-1) > b.memory_bytes.value_or(-1);
  });
  return all;
}

}  // namespace lab::nvml
