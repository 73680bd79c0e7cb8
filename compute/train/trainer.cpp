#include "compute/train/trainer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "compute/measure/measure.h"
#include "compute/nn/models.h"
#include "compute/tensor/buffer.h"
#include "compute/train/data_parallel/largest_batch.h"

namespace lab {
namespace {

constexpr std::chrono::seconds kGrace{2};
constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

// The cores of the threads that drive the devices. Those of GPUs stay where the scheduler puts
// them, within what a binding of the process allows: no core has a negative number.
std::vector<int> driving_cores(const std::vector<DeviceContext*>& devices) {
  std::vector<int> cores;
  cores.reserve(devices.size());
  for (const DeviceContext* device : devices) {
    const int none = -1 - static_cast<int>(cores.size());
    cores.push_back(device->gpu() == nullptr ? device->info().cores.front() : none);
  }
  return cores;
}

// Whether a network throws this for a batch that is too large.
bool refuses_a_batch(const Error& error) {
  return error.code() == Errc::OutOfMemory || error.code() == Errc::InvalidArgument;
}

bool are_gpus_of_a_kind(std::span<const std::unique_ptr<Replica>> replicas,
                        std::span<const double> weights) {
  std::set<DeviceKind> kinds;  // of those that take part
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (weights[i] > 0) kinds.insert(replicas[i]->device().device().kind);
  }
  return kinds.size() == 1 && !kinds.contains(DeviceKind::Cpu);
}

// Without the memory, the network keeps its former batch.
void grow(nn::Network& network, std::int64_t batch) {
  const std::int64_t before = network.max_batch();
  if (batch <= before) return;
  try {
    network.set_max_batch(batch);
  } catch (...) {
    network.set_max_batch(before);
    throw;
  }
}

// Grows a network for `wanted` images, or for as many of them as its device has memory for.
void grow_as_possible(nn::Network& network, std::int64_t wanted) {
  try {
    grow(network, wanted);
  } catch (const Error& error) {
    if (!refuses_a_batch(error)) throw;
    grow(network, largest_part(network, wanted));
  }
}

// Called when a step has failed, whose forward pass has modified them. That failure is reported,
// not a second one of a lost GPU.
void restore_statistics(nn::Network* reference) {
  if (reference == nullptr) return;
  try {
    reference->restore_statistics();
  } catch (const Error&) {
    return;
  }
}

}  // namespace

Trainer::Trainer(const std::vector<DeviceContext*>& devices, const TrainerOptions& options,
                 std::stop_token stop, RankGroup& ranks)
    : ranks_(ranks), stop_(std::move(stop)), sum_(options.sum) {
  canceller_ = std::jthread([this](const std::stop_token& over) { cancel_when_stopped(over); });
  exchange_devices(devices, options);
  most_images_.assign(devices_.size(), kAnyNumber);
  divide_batch(options.batch);
  replica_threads_ = std::make_unique<ThreadPool>(driving_cores(devices));
  replicas_.resize(devices.size());
  run_replicas([&](std::size_t i) {  // memory is allocated near the thread that touches it first
    replicas_[i] = std::make_unique<Replica>(
        *devices[i], options.plan ? options.plan() : nn::plan_model(options.model, options.width),
        options.sgd, options.seed, options.kernels);
  });
  buckets_ = buckets_of(network(), options.bucket_bytes);
  allocate_batches(options);
  if (!alone()) {
    std::vector<Replica*> all;
    for (const auto& replica : replicas_) all.push_back(replica.get());
    require_sums(all, sum_, ranks_);
  }
  choose_members();
  send_state();
}

Trainer::~Trainer() {
  if (gpu_reducer_ == nullptr || !gpu_reducer_->ahead_failed()) return;
  for (const auto& replica : replicas_) replica->limit_wait();
}

// Gives the replicas memory for their parts of a batch. GPUs keep room for what follows.
void Trainer::allocate_batches(const TrainerOptions& options) {
  std::int64_t received_bytes = 0;  // of gradients, where GPUs add them
  if (!alone() && ranks_.single() && are_gpus_of_a_kind(replicas_, weights_)) {
    received_bytes = std::ranges::max_element(buckets_, {}, &GradientBucket::bytes)->bytes();
  }
  try {
    run_replicas([&](std::size_t i) {
      nn::Network& network = replicas_[i]->network();
      network.set_max_batch(std::max<std::int64_t>(1, images_[first_local_ + i]));
      replicas_[i]->reserve_images(options.data_bytes);
      if (network.device().gpu() == nullptr) return;
      named_buffer(network.device(), received_bytes, tr("received gradients"));
    });
  } catch (const Error& error) {
    if (!refuses_a_batch(error)) throw;
    run_replicas([&](std::size_t i) { replicas_[i]->reserve_images(0); });
    throw too_large(error, options.batch, weights_, options.data_bytes + received_bytes);
  }
}

// The error of a batch that was refused, with the largest one for the same shares. The devices of
// other processes are taken to have memory for their parts of it.
Error Trainer::too_large(const Error& error, std::int64_t batch, std::span<const double> weights,
                         std::int64_t gpu_bytes) {
  std::vector<nn::Network*> networks;
  for (const auto& replica : replicas_) networks.push_back(&replica->network());
  const std::int64_t fits = largest_batch(
      {.networks = networks, .weights = weights, .first = first_local_, .gpu_bytes = gpu_bytes},
      batch);
  if (fits == 0) return error;
  std::string where;
  for (const RankDevice& one : devices_) {
    where += (where.empty() ? "" : ", ") + to_string(one.device);
  }
  if (!ranks_.single()) {
    where = trf("{} devices of {} processes", devices_.size(), ranks_.size());
  }
  const std::string& name = network().name();
  const bool equal = std::ranges::adjacent_find(weights, std::not_equal_to<>()) == weights.end();
  return {error.code(),
          equal ? trf("{}; {} can take batches of up to {} images on {}", error.what(), name, fits,
                      where)
                : trf("{}; {} can take batches of up to {} images on {} with these shares",
                      error.what(), name, fits, where)};
}

const StepResult& Trainer::step(const BatchLoader& loader, std::int64_t step, double lr,
                                const nn::PassOptions& options, bool stop_after_epoch) {
  // Here, an error leaves the state after the previous step.
  if (std::exchange(shares_due_, false)) take_measured_shares(loader.batch_size(0));
  if (recording_) record(true);  // of the devices that take part now
  divide(loader.batch_size(step));
  grow_replicas(images_);
  if (reducer_) {
    find_member_images();
    reducer_->begin_step(member_images_);
  }
  step_begin_s_ = monotonic_s();
  if (recording_) {
    recorder_->begin_step(step_begin_s_,
                          std::span(images_).subspan(first_local_, replicas_.size()));
  }
  options_ = &options;
  nn::Network* const reference = reference_network();
  if (reference != nullptr) reference->keep_statistics();
  try {
    run_interruptible([&](std::size_t i) { compute(i, loader, step); });
    exchange(stop_after_epoch);
  } catch (...) {
    restore_statistics(reference);
    throw;
  }
  gpu_clocks_ = false;
  summarise();
  result_.stop_after_epoch = stop_after_epoch;
  if (!std::isfinite(result_.loss)) return result_;
  update(lr);
  if (auto_shares_) {
    std::vector<double> compute_s;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      // Hidden sums take no time from the computation of a GPU.
      const double beside_s = is_gpu(devices_[i].device) ? steps_[i].sums.hidden_s : 0;
      compute_s.push_back(result_.devices[i].compute_s + beside_s);
    }
    shares_due_ = auto_shares_->observe(images_, compute_s);
  }
  return result_;
}

// Gives each device memory for its part of a batch, and others what does not fit, so that
// activations too large for a device's memory do not end the training. Collective.
void Trainer::take_measured_shares(std::int64_t batch) {
  for (;;) {
    auto weights = limit_shares(batch, auto_shares_->weights(), most_images_);
    if (!weights) return;
    const std::vector<std::int64_t> images = split_images(batch, *weights);
    if (images == split_images(batch, weights_)) return;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      const std::int64_t wanted = images[first_local_ + i];
      nn::Network& network = replicas_[i]->network();
      grow_as_possible(network, wanted);
      if (network.max_batch() < wanted) most_images_[first_local_ + i] = network.max_batch();
    }
    exchange_most_images();
    if (std::ranges::equal(images, most_images_, std::less_equal<>())) {
      return take_shares(std::move(*weights), batch);
    }
  }
}

std::vector<Trainer::FullDevice> Trainer::full_devices() const {
  std::vector<FullDevice> full;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (most_images_[i] < kAnyNumber) full.push_back({devices_[i], most_images_[i]});
  }
  return full;
}

void Trainer::record(bool on) {
  if (on && !recorder_fits_) {
    std::vector<const nn::Network*> networks;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      networks.push_back(&replicas_[i]->network());
      if (takes_part_[i]) members.push_back(i);
    }
    const bool seen = !reducer_ || reducer_->observe(nullptr);
    recorder_ = std::make_unique<StepRecorder>(networks, std::move(members),
                                               reducer_ ? buckets_ : std::vector<GradientBucket>(),
                                               !sgd().velocity().empty(), !seen);
    recorder_fits_ = true;
  }
  if (reducer_) reducer_->observe(on ? recorder_.get() : nullptr);
  recording_ = on;
}

// Uses largest remainders, so that the division depends only on batch and weights.
void Trainer::divide(std::int64_t images) {
  if (images == divided_) return;
  images_ = split_images(images, weights_);
  divided_ = images;
}

void Trainer::grow_replicas(std::span<const std::int64_t> images) {
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    grow(replicas_[i]->network(), images[first_local_ + i]);
  }
}

// A device without images of a whole batch has none of a shorter one, either.
void Trainer::divide_batch(std::int64_t batch) {
  divided_ = 0;
  divide(batch);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (images_[i] == 0) weights_[i] = 0;
  }
  choose_reference();
}

std::vector<RankDevice> Trainer::idle_devices() const {
  std::vector<RankDevice> idle;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (weights_[i] == 0) idle.push_back(devices_[i]);
  }
  return idle;
}

// Chooses the device whose running statistics are kept: the first with images of a full batch.
void Trainer::choose_reference() {
  reference_ = 0;
  while (reference_ + 1 < images_.size() && images_[reference_] == 0) ++reference_;
}

// The network whose running statistics are kept; null if it belongs to another process.
nn::Network* Trainer::reference_network() {
  const bool mine = reference_ >= first_local_ && reference_ < first_local_ + replicas_.size();
  return mine ? &replicas_[reference_ - first_local_]->network() : nullptr;
}

// Chooses the replicas that take part in steps.
void Trainer::choose_members() {
  std::vector<bool> takes_part(replicas_.size());
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    takes_part[i] = !ranks_.single() || weights_[first_local_ + i] > 0;
  }
  if (takes_part == takes_part_) return;
  takes_part_ = std::move(takes_part);
  connect_members();
}

void Trainer::connect_members() {
  std::vector<Replica*> members;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (takes_part_[i]) members.push_back(replicas_[i].get());
  }
  recorder_fits_ = false;
  gpu_reducer_ = nullptr;
  reducer_.reset();
  sum_remark_.clear();
  std::vector<std::size_t> first = {0};  // one group
  // Also for a process's only device, if other processes have some.
  if (members.size() > 1 || !ranks_.single()) {
    ReducerChoice choice = make_reducer(members, buckets_, sum_, ranks_);
    reducer_ = std::move(choice.reducer);
    gpu_reducer_ = choice.on_gpus;
    sum_remark_ = std::move(choice.remark);
    first.clear();
    for (const GradientBucket& bucket : buckets_) first.push_back(bucket.first_parameter);
  }
  if (!alone()) {
    for (Replica* const member : members) member->network().group_gradients(first);
  }
  locals_.resize(replicas_.size());
  std::size_t member = 0;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    locals_[i] =
        takes_part_[i] ? std::make_unique<Local>(reducer_.get(), member++, buckets_) : nullptr;
  }
}

Replica& Trainer::latest_replica() {
  const auto member = std::find(takes_part_.begin(), takes_part_.end(), true);
  return *replicas_[static_cast<std::size_t>(member - takes_part_.begin())];
}

// Into the first replica's host memory.
void Trainer::take_latest_parameters() {
  Replica& latest = latest_replica();
  latest.read_state();
  if (&latest != replicas_.front().get()) replicas_.front()->copy_state(latest);
}

void Trainer::update_idle_replicas() {
  Replica& latest = latest_replica();
  latest.read_state();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (takes_part_[i]) continue;
    replicas_[i]->copy_state(latest);
    replicas_[i]->write_state();
  }
}

bool Trainer::take_own_state() {
  take_latest_parameters();
  return take_own_statistics();
}

bool Trainer::take_own_statistics() {
  nn::Network* const from = reference_network();
  if (from == nullptr) return false;
  from->read_statistics();
  if (from != &network()) nn::copy_statistics(from->running(), network().running());
  return true;
}

void Trainer::set_shares(SharePolicy policy, const std::vector<double>& shares,
                         std::int64_t batch) {
  if (alone()) return;
  const bool listed = policy == SharePolicy::Listed;
  std::vector<double> weights = listed ? shares : std::vector<double>(devices_.size(), 1.0);
  const std::vector<std::int64_t> images = split_images(batch, weights);
  try {
    grow_replicas(images);
  } catch (const Error& error) {
    if (!refuses_a_batch(error)) throw;
    throw too_large(error, batch, weights, 0);
  }
  take_shares(std::move(weights), batch);
  most_images_.assign(devices_.size(), kAnyNumber);
  shares_due_ = false;
  auto_shares_.reset();
  if (policy == SharePolicy::Auto) auto_shares_ = std::make_unique<AutoShares>(devices_.size());
}

void Trainer::take_shares(std::vector<double> weights, std::int64_t batch) {
  gather_statistics();  // the new reference continues from these
  if (std::ranges::count(takes_part_, false) > 0) update_idle_replicas();
  const std::vector<double> before = std::exchange(weights_, std::move(weights));
  divide_batch(batch);
  try {
    choose_members();
  } catch (const Error&) {
    weights_ = before;
    divide_batch(batch);
    choose_members();  // with the memory that the former members have just released
    throw;
  }
}

// Several processes end a step together, so that they can continue together: only a step that takes
// too long is cut off.
void Trainer::cancel_when_stopped(const std::stop_token& over) {
  std::mutex mutex;
  std::condition_variable_any changed;
  const std::stop_callback wake(over, [&] {
    const std::lock_guard lock(mutex);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, stop_, [&] { return over.stop_requested(); });
  if (!ranks_.single()) changed.wait_for(lock, over, kGrace, [] { return false; });
  if (stop_.stop_requested()) abort_.request_stop();
}

// Runs task(replica) on every replica's own thread. If one throws, the others are stopped and its
// error is rethrown.
void Trainer::run_replicas(FunctionRef<void(std::size_t)> task) {
  run_replicas(task, abort_);
}

// Likewise, where the others are stopped by `failure`. Later work is stopped by abort_.
void Trainer::run_replicas(FunctionRef<void(std::size_t)> task, std::stop_source& failure) {
  std::atomic<bool> failed = false;
  std::exception_ptr first;
  replica_threads_->run([&](int thread) {
    try {
      task(static_cast<std::size_t>(thread));
    } catch (...) {
      // Recorded before the others are stopped: their exceptions are only a consequence.
      if (!failed.exchange(true)) first = std::current_exception();
      failure.request_stop();
    }
  });
  if (!first) return;
  abort_.request_stop();
  std::rethrow_exception(first);
}

// Likewise, where GPUs may drop the work that the task queues once it is to stop; this then throws
// Error(Cancelled).
void Trainer::run_interruptible(FunctionRef<void(std::size_t)> task) {
  for (const auto& replica : replicas_) {
    GpuDevice* const gpu = replica->device().gpu();
    if (gpu != nullptr) gpu->begin_interruptible(abort_.get_token());
  }
  try {
    run_replicas(task);
  } catch (...) {
    end_interruptible();
    throw;
  }
  if (end_interruptible()) throw Error(Errc::Cancelled, tr("cancelled"));
}

// Returns whether work was dropped.
bool Trainer::end_interruptible() {
  bool dropped = false;
  for (const auto& replica : replicas_) {
    GpuDevice* const gpu = replica->device().gpu();
    if (gpu != nullptr && gpu->end_interruptible()) dropped = true;
  }
  return dropped;
}

// Callbacks capture two words, which std::function stores without allocating.
nn::PassOptions Trainer::options_for(std::size_t i) {
  const nn::PassOptions& options = *options_;
  nn::PassOptions own{.kernels = options.kernels, .stop = abort_.get_token()};
  if (!reducer_) {
    if (i == 0) own.between_ops = options.between_ops;
    own.gradient_ready = options.gradient_ready;
    own.observer = observer_of(i);
    return own;
  }
  own.observer = observer_of(i);
  own.gradient_ready = [this, i](std::size_t parameter) {
    if (options_->gradient_ready) options_->gradient_ready(parameter);
    locals_[i]->countdown.gradient_ready(parameter);
  };
  if (i > 0) {
    own.between_ops = [this, i] { reducer_->progress(locals_[i]->member); };
    return own;
  }
  own.between_ops = [this] {
    if (options_->between_ops) options_->between_ops();
    // Concurrently with a GPU's work, sums take no time of the step.
    const bool on_gpu = replicas_.front()->device().gpu() != nullptr;
    nn::observed(on_gpu ? nullptr : options_->observer, StepPhase::AllReduce, 0,
                 [this] { reducer_->progress(0); });
  };
  return own;
}

// The profile's, of the first device only; while recording, of every device.
nn::StepObserver* Trainer::observer_of(std::size_t i) {
  nn::StepObserver* const profile = i == 0 ? options_->observer : nullptr;
  return recording_ ? &recorder_->device(i, profile) : profile;
}

void Trainer::finish_sums(std::size_t i) {
  const double begin_s = monotonic_s();
  reducer_->finish(locals_[i]->member, abort_.get_token());
  if (recording_) recorder_->exposed(i, begin_s, monotonic_s());
}

// The images of a replica in the step.
BatchSlice Trainer::slice_of(std::size_t i) const {
  const std::size_t index = first_local_ + i;
  const std::int64_t begin = std::accumulate(
      images_.begin(), images_.begin() + static_cast<std::ptrdiff_t>(index), std::int64_t{0});
  return {begin, begin + images_[index]};
}

void Trainer::find_member_images() {
  member_images_.clear();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (takes_part_[i]) member_images_.push_back(images_[first_local_ + i]);
  }
}

void Trainer::compute(std::size_t i, const BatchLoader& loader, std::int64_t step) {
  if (!takes_part_[i]) return;
  Local& local = *locals_[i];
  ReplicaStep& report = local.report;
  const std::size_t index = first_local_ + i;
  local.countdown.reset();
  const nn::BatchResult result = replicas_[i]->compute(
      loader, step, slice_of(i), static_cast<double>(loader.batch_size(step)), options_for(i));
  report = {.loss_sum = result.loss_sum,
            .correct = result.correct,
            .images = images_[index],
            .backward_end_s = monotonic_s() - step_begin_s_,
            .update_s = report.update_s};
  report.finish_s = report.backward_end_s;
  if (!reducer_) return;
  if (images_[index] == 0) local.countdown.all_ready();
  nn::observed(i == 0 ? options_->observer : nullptr, StepPhase::AllReduce, 0,
               [&] { finish_sums(i); });
  report.sums = reducer_->times(local.member);
  report.finish_s = monotonic_s() - step_begin_s_;
}

void Trainer::update(double lr) {
  run_replicas([&](std::size_t i) {
    if (!takes_part_[i]) return;
    const double begin = monotonic_s();
    nn::StepObserver* const observer = observer_of(i);
    nn::observed(observer, StepPhase::Update, 0, [&] {
      replicas_[i]->sgd().step(lr);
      if (observer != nullptr) replicas_[i]->network().wait();
    });
    locals_[i]->report.update_s = monotonic_s() - begin;
  });
}

// The clock by which a device's step was timed: its own, or that of its process.
std::size_t Trainer::clock_of(std::size_t device) const {
  return gpu_clocks_ ? device : static_cast<std::size_t>(devices_[device].rank);
}

// Finds when the last backward ended, by each clock.
void Trainer::find_last_backwards() {
  const std::size_t clocks = gpu_clocks_ ? steps_.size() : static_cast<std::size_t>(ranks_.size());
  last_backward_s_.assign(clocks, 0.0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    double& last = last_backward_s_[clock_of(i)];
    last = std::max(last, steps_[i].backward_end_s);
  }
}

// Time from the end of the last backward of all devices until the sums were complete. Clocks
// differ, but that of the device with that backward is the one by which the wait was the shortest.
double Trainer::exposed() {
  wait_s_.assign(last_backward_s_.size(), 0.0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    double& wait = wait_s_[clock_of(i)];
    wait = std::max(wait, steps_[i].finish_s - last_backward_s_[clock_of(i)]);
    if (gpu_clocks_ && !takes_part_[i]) wait = std::numeric_limits<double>::infinity();
  }
  return *std::min_element(wait_s_.begin(), wait_s_.end());
}

void Trainer::summarise() {
  result_.images = 0;
  result_.correct = 0;
  result_.devices.clear();  // keeps its capacity
  result_.gpu_s = 0;
  double loss_sum = 0;
  for (const ReplicaStep& s : steps_) {
    loss_sum += s.loss_sum;
    result_.images += s.images;
    result_.correct += s.correct;
  }
  result_.loss = loss_sum / static_cast<double>(result_.images);
  if (alone()) return;
  find_last_backwards();
  const double exposed_s = exposed();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ReplicaStep& s = steps_[i];
    const double last_s = last_backward_s_[clock_of(i)];
    DeviceStep device{.rank = devices_[i].rank, .device = devices_[i].device, .images = s.images};
    device.exposed_s = std::clamp(s.finish_s - last_s, 0.0, exposed_s);
    // Work done while the device would have waited for others anyway.
    const double spare_s = std::max(0.0, s.sums.work_s - s.sums.hidden_s - device.exposed_s);
    device.all_reduce_s = s.sums.hidden_s + spare_s + device.exposed_s;
    device.wait_s = std::max(0.0, s.finish_s - s.backward_end_s - device.exposed_s - spare_s);
    device.compute_s = s.backward_end_s - s.sums.hidden_s + s.update_s;
    result_.devices.push_back(device);
  }
}

}  // namespace lab
