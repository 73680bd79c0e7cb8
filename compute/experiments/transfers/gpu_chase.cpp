#include "compute/experiments/transfers/gpu_chase.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "compute/gpu/gpu_transfers.h"

namespace lab {
namespace {

constexpr std::int64_t kHops = 1024;  // of one operation's turn; its time is that of one hop
constexpr std::int64_t kNode_bytes = kChaseStride * 4;
constexpr std::int64_t kPosition_bytes = 16;
constexpr std::int64_t kLook = 1 << 16;  // nodes between two looks at the stop token

}  // namespace

std::vector<std::uint32_t> random_cycle(std::int64_t nodes, const std::stop_token& stop) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(11);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    if (i % kLook == 0 && stop.stop_requested()) return {};
    std::swap(order[i], order[random() % i]);
  }
  std::vector<std::uint32_t> words(static_cast<std::size_t>(nodes * kChaseStride));
  for (std::size_t i = 0; i < order.size(); ++i) {
    words[i * kChaseStride] = order[i] * static_cast<std::uint32_t>(kChaseStride);
  }
  return words;
}

GpuChase::GpuChase(Machine& machine, const TransferSeries& series, std::int64_t bytes,
                   std::stop_token stop)
    : gpu_(*machine.at(series.to).gpu()),
      access_(machine, series),
      cycle_(random_cycle(bytes / kNode_bytes, stop)),
      nodes_(machine.at(series.from), series.memory, gpu_, bytes, stop),
      position_(machine.at(series.to), MemoryKind::OnGpu, gpu_, kPosition_bytes, stop),
      clock_(gpu_, 1) {
  const auto size = static_cast<std::int64_t>(cycle_.size() * sizeof(cycle_[0]));
  GpuDevice* const holder = machine.at(series.from).gpu();
  if (holder == nullptr) {
    std::copy(cycle_.begin(), cycle_.end(), nodes_.words());
  } else if (size > 0) {
    holder->copy(GpuCopy::HostToDevice, nodes_.data(), cycle_.data(), size, holder->main_stream());
    holder->main_stream().synchronise();
  }
  spoil();
}

void GpuChase::write_position(std::uint32_t value) {
  gpu_.copy(GpuCopy::HostToDevice, position_.data(), &value, sizeof value, gpu_.main_stream());
  gpu_.main_stream().synchronise();
}

void GpuChase::spoil() {
  write_position(0);
  hops_ = 0;
}

double GpuChase::operate(int times) {
  if (cycle_.empty()) return 0;
  const std::int64_t hops = kHops * times;
  const double seconds = clock_.gated([&](int) {
    gpu_.transfers().chase(nodes_.words(), position_.words(), hops, clock_.stream(0));
  });
  hops_ += hops;
  return seconds / static_cast<double>(hops);
}

std::string GpuChase::check() {
  std::uint32_t reached = 0, expected = 0;
  gpu_.copy(GpuCopy::DeviceToHost, &reached, position_.data(), sizeof reached, gpu_.main_stream());
  gpu_.main_stream().synchronise();
  if (cycle_.empty()) return "";
  const auto nodes = static_cast<std::int64_t>(cycle_.size()) / kChaseStride;
  for (std::int64_t hop = 0; hop < hops_ % nodes; ++hop) expected = cycle_[expected];
  if (reached == expected) return "";
  return fmt::format("after {} reads the chase is at word {}, not {}", hops_, reached, expected);
}

}  // namespace lab
