#include "compute/train/data_parallel/reducer_choice.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/machine/machine.h"
#include "compute/train/data_parallel/nccl_sums.h"
#include "compute/train/data_parallel/shared_memory_reducer.h"

namespace lab {

Maybe<nccl::Library> find_nccl(Device gpu, const SumOptions& options) {
  if (options.way == GradientSum::Lab) return Maybe<nccl::Library>::missing(tr("--sum lab"));
  if (options.nccl) return *options.nccl;
  if (gpu.kind != DeviceKind::Cuda) {
    return Maybe<nccl::Library>::missing(tr("NCCL does not run on emulated GPUs"));
  }
  return nccl::open_library();
}

namespace {

// Whether every device has cores of its own.
bool all_different(std::span<Replica* const> replicas) {
  std::set<int> seen;
  for (Replica* const replica : replicas) {
    if (replica->device().gpu() != nullptr) return false;
    for (const int core : replica->device().info().cores) {
      if (!seen.insert(core).second) return false;
    }
  }
  return true;
}

// GPUs of one kind belong to one backend.
bool one_kind_of_gpu(std::span<Replica* const> replicas) {
  const DeviceKind kind = replicas.front()->device().device().kind;
  return kind != DeviceKind::Cpu && std::ranges::all_of(replicas, [&](Replica* replica) {
           return replica->device().device().kind == kind;
         });
}

// Why the sums are computed in host memory; empty where the GPUs compute them.
std::string why_in_host_memory(std::span<Replica* const> replicas, const RankGroup& ranks) {
  if (!one_kind_of_gpu(replicas)) return tr("the devices are not all GPUs of one kind");
  return ranks.single() ? "" : tr("other processes take part");
}

Error nccl_not_possible(const std::string& reason) {
  return {Errc::Unsupported, trf("training: the gradients cannot be summed by NCCL: {}; use "
                                 "--sum auto",
                                 reason)};
}

// The sums and the reason for them.
std::pair<std::unique_ptr<GpuSums>, std::string> choose_sums(std::span<const GpuArray> arrays,
                                                             std::int64_t longest,
                                                             const SumOptions& options) {
  std::string reason;
  const Maybe<nccl::Library> library = find_nccl(arrays.front().device->device(), options);
  if (library) {
    try {
      return {make_nccl_sums(*library, arrays),
              trf("gradients are summed on the GPUs by NCCL {}, which may not repeat bit for bit",
                  library->version)};
    } catch (const Error& error) {
      reason = error.what();
    }
  } else {
    reason = library.reason();
  }
  if (options.way == GradientSum::Nccl) throw nccl_not_possible(reason);
  return {make_peer_sums(arrays, longest),
          trf("gradients are summed on the GPUs by copies between them: {}", reason)};
}

ReducerChoice sum_on_gpus(std::span<Replica* const> replicas,
                          std::span<const GradientBucket> buckets, const SumOptions& options) {
  std::vector<GpuArray> arrays;
  for (Replica* const replica : replicas) {
    arrays.push_back({&replica->device(), replica->network().gpu_state()->device_gradients()});
  }
  std::int64_t longest = 0;
  for (const GradientBucket& bucket : buckets) {
    longest = std::max(longest, bucket.end - bucket.begin);
  }
  constexpr std::int64_t kBehind = nn::GpuState::kFaultFloats;
  auto [sums, remark] = choose_sums(arrays, longest + kBehind, options);
  auto reducer = std::make_unique<GpuReducer>(std::move(sums), buckets, kLongestGpuSum, kBehind);
  GpuReducer* const on_gpus = reducer.get();
  return {std::move(reducer), std::move(remark), on_gpus};
}

SharedMemoryReducer::Source source_of(Replica& replica, std::span<const GradientBucket> buckets) {
  nn::Network& network = replica.network();
  float* const on_host = network.flat_gradients().data();
  GpuDevice* const gpu = replica.device().gpu();
  if (gpu == nullptr) return {on_host};
  float* const on_gpu = network.gpu_state()->device_gradients();
  return {on_host, std::make_unique<GradientCopies>(*gpu, on_gpu, on_host, buckets)};
}

}  // namespace

void require_sums(std::span<Replica* const> replicas, const SumOptions& options, RankGroup& ranks) {
  if (options.way != GradientSum::Nccl) return;
  const std::string reason = why_in_host_memory(replicas, ranks);
  if (!reason.empty()) throw nccl_not_possible(reason);
  const auto library = find_nccl(replicas.front()->device().device(), options);
  if (!library) throw nccl_not_possible(library.reason());
}

ReducerChoice make_reducer(std::span<Replica* const> replicas,
                           std::span<const GradientBucket> buckets, const SumOptions& options,
                           RankGroup& ranks) {
  const std::string reason = why_in_host_memory(replicas, ranks);
  if (reason.empty()) return sum_on_gpus(replicas, buckets, options);
  if (options.way == GradientSum::Nccl) throw nccl_not_possible(reason);
  const bool any_gpu =
      std::ranges::any_of(replicas, [](Replica* one) { return is_gpu(one->device().device()); });
  std::vector<SharedMemoryReducer::Source> sources;
  for (Replica* const replica : replicas) sources.push_back(source_of(*replica, buckets));
  return {std::make_unique<SharedMemoryReducer>(std::move(sources), buckets, ranks,
                                                all_different(replicas)),
          any_gpu ? trf("gradients are summed in host memory: {}", reason) : std::string()};
}

}  // namespace lab
