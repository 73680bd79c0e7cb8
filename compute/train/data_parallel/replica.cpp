#include "compute/train/data_parallel/replica.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

// If every hardware thread computes, handing over the copy costs as much as it saves in steps of a
// few milliseconds, and more in shorter ones.
constexpr double kWorthHandingOver_s = 5e-3;

std::vector<int> hardware_threads(const DeviceContext& device) {
  std::vector<int> all;
  for (const std::vector<int>& of_core : device.info().hardware_threads) {
    all.insert(all.end(), of_core.begin(), of_core.end());
  }
  return all;
}

// Waits at the end of the scope, so that the loader does not change while it is read.
class WaitAtEnd {
 public:
  explicit WaitAtEnd(StagedBatch& staged) : staged_(staged) {}
  ~WaitAtEnd() { staged_.wait(); }
  WaitAtEnd(const WaitAtEnd&) = delete;
  WaitAtEnd& operator=(const WaitAtEnd&) = delete;

 private:
  StagedBatch& staged_;
};

}  // namespace

Replica::Replica(DeviceContext& device, nn::NetworkPlan plan, const nn::SgdOptions& sgd,
                 std::uint64_t seed, const nn::KernelOptions& kernels)
    : network_(std::move(plan), device, std::nullopt, seed, kernels),
      sgd_(network_, sgd),
      spare_threads_(hardware_threads(device).size() > device.info().cores.size()),
      staged_(hardware_threads(device)) {
  if (device.gpu() != nullptr) gpu_batches_ = std::make_unique<GpuBatches>(device);
}

Replica::~Replica() {
  try {
    wait_is_limited_ ? wait_a_while() : network_.wait();
  } catch (const Error&) {  // of a lost GPU, which has no work left
  }
}

void Replica::wait_a_while() {
  constexpr double kLongest_s = 5;
  GpuDevice* const gpu = device().gpu();
  if (gpu == nullptr) return;
  const auto end = gpu->make_event();
  end->record(gpu->main_stream());
  const double begin_s = monotonic_s();
  for (Backoff backoff; !end->done() && monotonic_s() - begin_s < kLongest_s;) backoff.pause();
}

void Replica::reserve_images(std::int64_t bytes) {
  if (gpu_batches_) gpu_batches_->reserve(bytes);
}

void Replica::load(const BatchLoader& loader, std::int64_t step, BatchSlice slice) {
  if (gpu_batches_) {
    gpu_batches_->load(loader, step, slice, network_.input(), network_.labels());
    return;
  }
  ThreadPool& pool = device().threads();
  const BatchBytes staged = staged_.find(loader, step, slice);
  if (staged.pixels == nullptr) {
    loader.load(step, slice, pool, network_.input(), network_.labels());
  } else {
    loader.convert(staged, slice.end - slice.begin, pool, network_.input(), network_.labels());
  }
}

// Assumes that this device's slice of the next step is the same.
void Replica::prepare_next(const BatchLoader& loader, std::int64_t step, BatchSlice slice) {
  if (gpu_batches_) return;
  if (!spare_threads_ && last_compute_s_ < kWorthHandingOver_s) return;
  if (step + 1 >= loader.steps_per_epoch()) return;
  slice.end = std::min(slice.end, loader.batch_size(step + 1));
  if (slice.begin < slice.end) staged_.prepare(loader, step + 1, slice);
}

nn::BatchResult Replica::compute(const BatchLoader& loader, std::int64_t step, BatchSlice slice,
                                 double divisor, const nn::PassOptions& options) {
  const std::int64_t images = slice.end - slice.begin;
  if (images == 0) return {};
  nn::observed(options.observer, StepPhase::Batch, 0, [&] {
    load(loader, step, slice);
    if (options.observer != nullptr) network_.wait();
  });
  const WaitAtEnd end(staged_);
  prepare_next(loader, step, slice);
  const double begin_s = monotonic_s();
  const nn::BatchResult result = network_.step(images, divisor, options);
  last_compute_s_ = monotonic_s() - begin_s;
  return result;
}

void Replica::queue(const BatchLoader& loader, std::int64_t step, BatchSlice slice, double divisor,
                    const nn::PassOptions& options) {
  const std::int64_t images = slice.end - slice.begin;
  if (images == 0) return;
  load(loader, step, slice);
  network_.queue_step(images, divisor, options);
}

void Replica::queue_with_update(const BatchLoader& loader, std::int64_t step, double lr,
                                const nn::PassOptions& options) {
  const std::int64_t images = loader.batch_size(step);
  load(loader, step, {0, images});
  sgd_.set_rate(lr);
  network_.queue_step(images, static_cast<double>(images), options,
                      [this] { sgd_.queue_update(); });
}

void Replica::copy_state(Replica& from) {
  std::ranges::copy(from.network().flat_parameters(), network_.flat_parameters().begin());
  std::ranges::copy(from.sgd().velocity(), sgd_.velocity().begin());
  sgd_.set_started(from.sgd().started());
  nn::copy_statistics(from.network().running(), network_.running());
}

void Replica::read_state() {
  network_.read_state();
  sgd_.read_state();
}

void Replica::write_state() {
  network_.write_state();
  sgd_.write_state();
}

std::vector<GradientBucket> buckets_of(nn::Network& network, std::int64_t bucket_bytes) {
  std::vector<std::int64_t> offsets;
  const float* const first = network.flat_gradients().data();
  for (const nn::Parameter& p : network.parameters()) offsets.push_back(p.grad - first);
  offsets.push_back(static_cast<std::int64_t>(network.flat_gradients().size()));
  return plan_buckets(offsets, bucket_bytes);
}

}  // namespace lab
