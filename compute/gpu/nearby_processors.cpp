#include "compute/gpu/nearby_processors.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <exception>
#include <fstream>
#include <thread>

namespace lab {

std::vector<int> parse_processor_list(std::string_view list) {
  std::vector<int> all;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto number = [&](int& value) {
    const auto parsed = std::from_chars(at, end, value);
    at = parsed.ptr;
    return parsed.ec == std::errc() && value >= 0 && value < CPU_SETSIZE;
  };
  while (at != end) {
    int first = 0;
    if (!number(first)) return {};
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last)) return {};
    }
    for (int i = first; i <= last; ++i) all.push_back(i);
    if (at != end && *at++ != ',') return {};
  }
  return all;
}

namespace {

void stay_near_gpu(const std::string& pci_bus_id, const std::string& root) {
  std::ifstream file(root + "/sys/bus/pci/devices/" + pci_bus_id + "/local_cpulist");
  std::string list;
  cpu_set_t allowed;  // of the main thread: the calling one may be bound to a core
  if (!std::getline(file, list) || sched_getaffinity(getpid(), sizeof allowed, &allowed) != 0) {
    return;
  }
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int processor : parse_processor_list(list)) {
    if (CPU_ISSET(processor, &allowed)) CPU_SET(processor, &near);
  }
  if (CPU_COUNT(&near) > 0) sched_setaffinity(0, sizeof near, &near);
}

}  // namespace

void run_near_gpu(const std::string& pci_bus_id, const std::function<void()>& work,
                  const std::string& root) {
  std::exception_ptr failure;
  std::thread([&] {
    stay_near_gpu(pci_bus_id, root);
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lab
