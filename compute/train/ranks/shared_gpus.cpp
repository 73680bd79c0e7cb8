#include "compute/train/ranks/shared_gpus.h"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <utility>

#include "compute/core/language.h"

namespace lab {

std::string shared_gpus(const std::vector<NamedGpu>& mine, RankGroup& ranks, const RankWait& wait) {
  if (ranks.single()) return {};
  std::string text;
  for (const NamedGpu& gpu : mine) {
    if (!gpu.address.empty()) text += gpu.address + ' ' + to_string(gpu.device) + '\n';
  }
  // "rank 0's cuda:0", by host and address.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> users;
  std::size_t rank = 0;
  for (const std::vector<std::byte>& theirs :
       ranks.all_gather(std::as_bytes(std::span(text)), wait)) {
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(theirs.data()), theirs.size()));
    for (std::string address, device; lines >> address >> device;) {
      users[{ranks.hosts()[rank], address}].push_back(trf("{} of rank {}", device, rank));
    }
    ++rank;
  }
  std::string shared;
  for (const auto& [place, names] : users) {
    if (names.size() < 2) continue;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    if (!shared.empty()) shared += "; ";
    shared += trf("{} on {} is one GPU for {}", place.second, place.first, all);
  }
  if (shared.empty()) return {};
  return trf(
      "{}: the ranks share its time and its memory; give each rank a GPU of its own with "
      "CUDA_VISIBLE_DEVICES or --devices, or train in one process with --devices cuda:0,cuda:1",
      shared);
}

}  // namespace lab
