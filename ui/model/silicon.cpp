#include "ui/model/silicon.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lab::ui {
namespace {

void add_cache(Silicon& to, std::map<std::pair<int, int>, std::size_t>& known,
               const CacheInfo& cache, std::size_t instance, std::vector<int> cores) {
  if (instance < cache.numbers.size()) {
    const auto [found, fresh] =
        known.try_emplace({cache.level, cache.numbers[instance]}, to.caches.size());
    if (!fresh) {
      std::vector<int>& all = to.caches[found->second].cores;
      for (const int core : cores) {
        if (std::find(all.begin(), all.end(), core) == all.end()) all.push_back(core);
      }
      return;
    }
  }
  to.caches.push_back({cache.level, cache.size_bytes, std::move(cores)});
}

void add_to_package(Silicon& to, int number, const std::string& name, int core) {
  const auto at = std::lower_bound(
      to.packages.begin(), to.packages.end(), number,
      [](const SiliconPackage& package, int wanted) { return package.number < wanted; });
  const bool known = at != to.packages.end() && at->number == number;
  const auto package = known ? at : to.packages.insert(at, {number, name, {}});
  package->cores.push_back(core);
}

// The places of a device's cores, given by their positions; those that it lacks are left out.
std::vector<int> at_positions(const std::vector<int>& places, const std::vector<int>& positions) {
  std::vector<int> found;
  for (const int position : positions) {
    const auto i = static_cast<std::size_t>(position);
    if (i < places.size()) found.push_back(places[i]);
  }
  return found;
}

// Adds the devices of these cores, given by their places, if `device` is one of them.
void add_users(std::set<Device>& all, const Silicon& silicon, const std::vector<int>& places,
               Device device) {
  std::set<Device> users;
  for (const int place : places) {
    const SiliconCore& core = silicon.cores[static_cast<std::size_t>(place)];
    users.insert(core.device);
    users.insert(core.others.begin(), core.others.end());
  }
  if (users.erase(device) != 0) all.insert(users.begin(), users.end());
}

std::map<Device, std::vector<Device>> sharers_of(const std::vector<SiliconCore>& cores) {
  std::map<Device, std::set<Device>> all;
  for (const SiliconCore& core : cores) {
    std::set<Device> users(core.others.begin(), core.others.end());
    if (users.empty()) continue;
    users.insert(core.device);
    for (const Device user : users) all[user].insert(users.begin(), users.end());
  }
  std::map<Device, std::vector<Device>> sharers;
  for (auto& [device, users] : all) {
    users.erase(device);
    sharers.try_emplace(device, users.begin(), users.end());
  }
  return sharers;
}

}  // namespace

Silicon silicon_of(std::span<const DeviceInfo> devices) {
  Silicon silicon;
  std::map<int, int> places;                          // of cores, by OS number
  std::map<std::pair<int, int>, std::size_t> caches;  // by level and number
  for (const DeviceInfo& info : devices) {
    if (info.device.kind != DeviceKind::Cpu) continue;
    std::vector<int> here;
    for (std::size_t i = 0; i < info.cores.size(); ++i) {
      const auto [found, fresh] =
          places.try_emplace(info.cores[i], static_cast<int>(silicon.cores.size()));
      here.push_back(found->second);
      if (!fresh) {
        silicon.cores[static_cast<std::size_t>(found->second)].others.push_back(info.device);
        continue;
      }
      const int package = i < info.core_packages.size() ? info.core_packages[i] : 0;
      silicon.cores.push_back({info.device, i, info.cores[i]});
      add_to_package(silicon, package, info.name, found->second);
    }
    for (const CoreKind& kind : info.core_kinds) {
      for (const int place : at_positions(here, kind.cores)) {
        silicon.cores[static_cast<std::size_t>(place)].kind = kind;
      }
    }
    for (const CacheInfo& cache : info.caches) {
      for (std::size_t i = 0; i < cache.cores.size(); ++i) {
        std::vector<int> cores;
        for (const int place : at_positions(here, cache.cores[i])) {
          // Devices that share a core name its caches again.
          if (silicon.cores[static_cast<std::size_t>(place)].device == info.device) {
            cores.push_back(place);
          }
        }
        if (!cores.empty()) add_cache(silicon, caches, cache, i, std::move(cores));
      }
    }
  }
  silicon.core_sharers = sharers_of(silicon.cores);
  return silicon;
}

std::span<const Device> core_sharers(const Silicon& silicon, Device device) {
  const auto found = silicon.core_sharers.find(device);
  return found == silicon.core_sharers.end() ? std::span<const Device>() : found->second;
}

std::vector<Device> cache_sharers(const Silicon& silicon, Device device, int level) {
  std::set<Device> all;
  for (const SiliconCache& cache : silicon.caches) {
    if (cache.level == level) add_users(all, silicon, cache.cores, device);
  }
  return {all.begin(), all.end()};
}

}  // namespace lab::ui
