#include "compute/machine/core_division.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace lab {
namespace {

// Positions in a list of cores where a part begins, and its end.
using Borders = std::vector<std::int64_t>;

Borders borders_of_kinds(const std::vector<CpuCore>& cores) {
  Borders borders = {0};
  for (std::size_t i = 1; i < cores.size(); ++i) {
    if (cores[i].kind != cores[i - 1].kind) borders.push_back(static_cast<std::int64_t>(i));
  }
  borders.push_back(static_cast<std::int64_t>(cores.size()));
  return borders;
}

// Joins neighbouring kinds into `parts` parts that are as equal as whole kinds permit.
Borders join_kinds(const Borders& kinds, std::int64_t parts) {
  const auto whole = static_cast<std::int64_t>(kinds.size()) - 1;
  Borders borders = {0};
  std::int64_t used = 0;  // kinds in the parts so far
  for (std::int64_t i = 1; i < parts; ++i) {
    const auto distance = [&](std::int64_t border) {
      return std::abs(kinds[static_cast<std::size_t>(border)] * parts - kinds.back() * i);
    };
    std::int64_t best = used + 1;
    for (std::int64_t border = best + 1; border <= whole - (parts - i); ++border) {
      if (distance(border) < distance(best)) best = border;
    }
    borders.push_back(kinds[static_cast<std::size_t>(best)]);
    used = best;
  }
  borders.push_back(kinds.back());
  return borders;
}

// Divides `devices` devices, no fewer than kinds and no more than cores, among the kinds: each
// device after the first of a kind goes where it keeps the numbers closest to proportion (Webster's
// method).
std::vector<std::int64_t> devices_per_kind(const Borders& kinds, std::int64_t devices) {
  std::vector<std::int64_t> given(kinds.size() - 1, 1);
  const auto cores = [&](std::size_t k) { return kinds[k + 1] - kinds[k]; };
  for (auto left = devices - std::ssize(given); left > 0; --left) {
    std::size_t most = 0;
    for (std::size_t k = 1; k < given.size(); ++k) {
      if (cores(k) * (2 * given[most] + 1) > cores(most) * (2 * given[k] + 1)) most = k;
    }
    ++given[most];
  }
  return given;
}

Borders borders_of_devices(const std::vector<CpuCore>& cores, std::int64_t devices) {
  const Borders kinds = borders_of_kinds(cores);
  if (devices < std::ssize(kinds) - 1) return join_kinds(kinds, devices);
  const std::vector<std::int64_t> given = devices_per_kind(kinds, devices);
  Borders borders = {0};
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::int64_t size = kinds[k + 1] - kinds[k];
    for (std::int64_t i = 1; i <= given[k]; ++i) borders.push_back(kinds[k] + size * i / given[k]);
  }
  return borders;
}

}  // namespace

std::vector<CpuCore> cores_within(std::vector<CpuCore> cores, double quota) {
  const double enough = std::max(std::ceil(quota), 1.0);
  if (enough < static_cast<double>(cores.size())) cores.resize(static_cast<std::size_t>(enough));
  return cores;
}

std::vector<CpuCore> split_cores(const std::vector<CpuCore>& cores, int index, int devices) {
  const auto n = static_cast<std::int64_t>(cores.size());
  if (devices > n) return {cores[static_cast<std::size_t>(index % n)]};
  const Borders borders = borders_of_devices(cores, devices);
  const auto i = static_cast<std::size_t>(index);
  return {cores.begin() + borders[i], cores.begin() + borders[i + 1]};
}

}  // namespace lab
