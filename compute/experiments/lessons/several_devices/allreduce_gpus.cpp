// Part of the lesson "allreduce" on a machine with several GPUs: the trainer's sums in their
// memory, by the lab's copies between them and by NCCL.
#include <algorithm>
#include <memory>
#include <vector>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/several_devices/allreduce_parts.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"
#include "compute/train/data_parallel/nccl_sums.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kEmulatedElements = 64;  // enough for every chunk of the most devices

// The GPUs of one kind, if there are several; preferably real ones.
std::vector<DeviceContext*> several_gpus(Machine& machine) {
  for (const DeviceKind kind : {DeviceKind::Cuda, DeviceKind::Emulated}) {
    std::vector<DeviceContext*> gpus;
    for (const Device device : machine.devices()) {
      if (device.kind == kind) gpus.push_back(&machine.at(device));
    }
    if (gpus.size() > 1) return gpus;
  }
  return {};
}

// An array on each GPU.
class ArraysOnGpus {
 public:
  ArraysOnGpus(const std::vector<DeviceContext*>& gpus, std::int64_t elements)
      : elements_(elements) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      tensors_.push_back(from(*gpus[i], {elements}, array_to_sum(i, elements)));
    }
  }

  std::vector<GpuArray> arrays() {
    std::vector<GpuArray> arrays;
    for (Tensor& x : tensors_) {
      arrays.push_back({&x.context(), reinterpret_cast<float*>(x.data())});
    }
    return arrays;
  }
  // Each gets its own values.
  void fill() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      copy_from_host(array_to_sum(i, elements_).data(), tensors_[i]);
    }
  }
  bool all_hold_the_sum() const {
    const std::vector<float> sum = exact_sum(tensors_.size(), elements_);
    return std::ranges::all_of(tensors_, [&](const Tensor& x) {
      std::vector<float> values(sum.size());
      copy_to_host(x, values.data(), elements_);
      return values == sum;
    });
  }

 private:
  const std::int64_t elements_;
  std::vector<Tensor> tensors_;
};

// A sum that waits for a lost member would never end by itself.
void wait_for(LessonStage& stage, GpuSums& sums) {
  Backoff backoff;
  for (const GpuSums::Member& member : sums.members()) {
    const std::unique_ptr<GpuEvent> end = member.gpu->make_event();
    end->record(*member.stream);
    while (!end->done()) {
      sums.check();
      stage.context().throw_if_cancelled();
      backoff.pause();
    }
  }
  sums.check();
}

// Checks the sums, then times them. Their values grow meanwhile, which costs no time.
void sum_and_time(LessonStage& stage, ArraysOnGpus& arrays, GpuSums& sums, std::int64_t elements,
                  const std::string& series, bool timed) {
  const auto sum_once = [&] {
    sums.queue(0, elements);
    try {
      wait_for(stage, sums);
    } catch (...) {
      sums.abandon();
      throw;
    }
  };
  arrays.fill();
  sum_once();
  stage.check(trf("{}: every GPU holds the exact sum", series), arrays.all_hold_the_sum());
  if (timed) stage.count(series, stage.time(sum_once).median_s, "s");
}

}  // namespace

void sum_over_gpus(LessonStage& stage, const SumOptions& options) {
  const std::vector<DeviceContext*> gpus = several_gpus(stage.machine());
  if (gpus.empty()) return;
  const Device first = gpus.front()->device();
  const bool timed = is_timed(first);
  const std::int64_t elements = timed ? kSumElements : kEmulatedElements;
  std::string series = trf("copies between {} GPUs", gpus.size());
  try {
    ArraysOnGpus arrays(gpus, elements);
    {
      const auto sums = make_peer_sums(arrays.arrays(), elements);
      sum_and_time(stage, arrays, *sums, elements, series, timed);
    }
    series = trf("NCCL on {} GPUs", gpus.size());
    const Maybe<nccl::Library> library = find_nccl(first, options);
    if (!library) return stage.observe(series, library.reason());
    const auto sums = make_nccl_sums(*library, arrays.arrays());
    sum_and_time(stage, arrays, *sums, elements, series, timed);
  } catch (const Error& error) {  // the lesson itself needs no GPU
    if (error.code() == Errc::Cancelled || error.code() == Errc::Internal) throw;
    stage.observe(series, error.what());
  }
}

}  // namespace lab::lessons
