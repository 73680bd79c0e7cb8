#pragma once
// Trains one network on the devices of one or more processes: steps and evaluations, without jobs
// or files.
//
// Data parallel: every device has a replica of the network and computes a slice of each batch. The
// loss is the mean over the whole batch, gradients are summed over the replicas in a fixed order
// while backward runs, and every replica makes the same update. Batch norm normalises over its own
// slice; the running statistics of the first replica are kept, as in PyTorch's DataParallel.
//
// A device whose share of a whole batch is no image is idle. In a single process it takes no part
// in steps, and its replica is brought up to date once it has images; with several processes, every
// replica takes part in the sums and updates.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/core/language.h"
#include "compute/run/rank_group.h"
#include "compute/train/data_parallel/reducer_choice.h"
#include "compute/train/data_parallel/replica.h"
#include "compute/train/data_parallel/shares.h"
#include "compute/train/step_recorder.h"

namespace lab {

struct TrainerOptions {
  std::string model;
  std::int64_t width = kResNetWidth;           // as in nn::plan_model()
  std::function<nn::NetworkPlan()> plan = {};  // used instead of the model's, if given
  std::int64_t batch = 256;                    // over all devices
  std::uint64_t seed = 0;
  nn::SgdOptions sgd = {};
  SharePolicy share_policy = SharePolicy::Equal;
  std::vector<double> shares = {};  // of this process's devices, if Listed
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
  nn::KernelOptions kernels = {};
  SumOptions sum = {};
  std::int64_t data_bytes = 0;  // of the sets that each GPU will hold
};

struct StepResult {
  double loss = 0;  // mean over the batch, before the update
  std::int64_t images = 0, correct = 0;
  std::vector<DeviceStep> devices = {};  // of all processes; empty for a single device
  double gpu_s = 0;                      // as in nn::BatchResult, of a queued step
  bool stop_after_epoch = false;         // requested by any process
};

// Results over a whole set, in its order.
struct Evaluation {
  double loss = 0, accuracy = 0;
  std::vector<std::int64_t> confusion;  // [label * classes + predicted]
  std::vector<std::uint8_t> predicted;
  std::vector<float> confidence;
};

inline constexpr std::size_t kPredictionSamples = 48;

// A page of test images with their predicted classes: 48 images, or fewer if the set is smaller.
// Wrong predictions come first, limited to 32 unless there are too few correct ones to fill the
// page: of every confusion of two classes the most confident one, then the next of each, in order
// of decreasing confidence; correct ones follow in the set's order.
Predictions sample_predictions(std::int64_t epoch, const ImageSet& images,
                               const Evaluation& evaluation);

// A device and the rank that owns it.
struct RankDevice {
  int rank = 0;
  Device device;
  bool operator==(const RankDevice&) const = default;
};

// All processes have agreed to end the job here; they can begin another one together.
class AgreedStop : public Error {
 public:
  AgreedStop() : Error(Errc::Cancelled, tr("cancelled")) {}
};

class Trainer {
 public:
  // Collective: every process constructs one with its own devices and makes the same calls with the
  // same arguments. All replicas start from the first one's state. Once `stop` is requested, calls
  // throw Error(Cancelled): within a step if there is one process; otherwise AgreedStop in all
  // processes at the end of the step, which is abandoned if it takes more than two seconds longer.
  // The part of a step that a GPU computes is not interrupted, unless the GPU is emulated.
  // Throws Error(NotFound) for an unknown model, Error(OutOfMemory) with the requested and the
  // available bytes and, if a smaller batch fits, the largest that does.
  Trainer(const std::vector<DeviceContext*>& devices, const TrainerOptions& options,
          std::stop_token stop = {}, RankGroup& ranks = single_rank());
  ~Trainer();

  // The first replica of this process. The first process's replica is the one to save, after
  // gather_state(), and to load into, before send_state().
  nn::Network& network() { return replicas_.front()->network(); }
  nn::Sgd& sgd() { return replicas_.front()->sgd(); }
  void gather_state();
  void send_state();

  // Like gather_state(), but without communication; returns false if another process has the
  // running statistics. For the end of a job, when other processes may not respond.
  bool take_own_state();

  // The first replica of this process that takes part in steps.
  nn::Network& latest_network() { return latest_replica().network(); }

  // Where the gradients of this process's GPUs are summed, and why; empty if there is nothing to
  // say.
  const std::string& sum_remark() const { return sum_remark_; }

  // Devices of all processes, by rank.
  const std::vector<RankDevice>& devices() const { return devices_; }
  // Those of them that have no images of a whole batch.
  std::vector<RankDevice> idle_devices() const;

  // The devices that had no memory for a part that the measured shares gave them, with the part
  // that they have memory for.
  struct FullDevice {
    RankDevice device;
    std::int64_t images = 0;
    bool operator==(const FullDevice&) const = default;
  };
  std::vector<FullDevice> full_devices() const;

  // Loads the batch, then runs forward, loss, backward and the update at learning rate `lr`. A
  // non-finite loss leaves the parameters unchanged. An error also leaves the running statistics
  // unchanged, so that the state after the previous step can be saved. `options.between_ops` is
  // called on the calling thread only and must not wait if there are several devices;
  // `options.gradient_ready` is called on each device's thread, `options.observer` on the first
  // device's. When a device fails, all stop and its error is thrown. The result is valid until the
  // next step.
  const StepResult& step(const BatchLoader& loader, std::int64_t step, double lr,
                         const nn::PassOptions& options, bool stop_after_epoch = false);

  // Records the following calls of step() on this process's devices; false ends that. The memory
  // for it is allocated by the first call.
  void record(bool on);
  // The latest recorded step, without its number, start, duration and loss.
  StepTimeline timeline() const { return recorder_->timeline(); }

  // Steps ahead of their results, where the only device is a GPU or several sum the gradients in
  // their own memory, with shares that are not measured: queue_step() queues what step() does and
  // returns, up to nn::kMaxQueuedSteps times before finish_step() returns the result of the oldest
  // step, valid until the next call. begin_steps() starts the clock of the steps that follow each
  // other. A non-finite loss suppresses the update of its own step only. `options` may hold kernels
  // alone. Queued steps are not cancelled. The functions above and evaluate() require that no step
  // is queued.
  bool can_queue();
  void begin_steps();
  void queue_step(const BatchLoader& loader, std::int64_t step, double lr,
                  const nn::PassOptions& options);
  std::size_t queued() const { return queued_.size(); }
  bool step_done();
  const StepResult& finish_step();

  // Divides the images of the following steps otherwise; `shares` are those of the devices, if
  // Listed. For a single process without queued steps. Throws Error(InvalidArgument) if the shares
  // cannot divide `batch`, and Error(OutOfMemory) if a device has no memory for its part of it,
  // with the largest batch that these shares allow; the division is then unchanged.
  void set_shares(SharePolicy policy, const std::vector<double>& shares, std::int64_t batch);

  // Splits the set, which must outlive the trainer, over all devices; returns the same result in
  // every process. `progress` is called on the calling thread with the share that is done, at the
  // beginning and after each batch.
  Evaluation evaluate(const ImageSet& images, const nn::PassOptions& options,
                      const std::function<void(double)>& progress = {});

 private:
  // A replica's part in the reduction, and its latest step.
  struct Local {
    Local(GradientReducer* reducer, std::size_t number, std::span<const GradientBucket> buckets)
        : member(number), countdown(reducer, number, buckets) {}
    std::size_t member;  // its number in the reducer
    BucketCountdown countdown;
    ReplicaStep report;
  };
  // A step whose result has not been taken.
  struct Queued {
    std::int64_t images = 0;
    std::vector<std::int64_t> by_device = {};  // empty for a single device
  };
  // A device's range of a test set, and the sum of its losses.
  struct TestPart {
    std::int64_t begin = 0, end = 0;
    double loss_sum = 0;
  };

  bool alone() const { return devices_.size() == 1; }
  void cancel_when_stopped(const std::stop_token& over);
  RankWait rank_wait() const { return {.stop = abort_.get_token(), .interrupted = {}}; }
  void divide_batch(std::int64_t batch);
  void allocate_batches(const TrainerOptions& options);
  Error too_large(const Error& error, std::int64_t batch, std::span<const double> weights,
                  std::int64_t gpu_bytes);
  void choose_reference();
  void choose_members();
  void connect_members();
  Replica& latest_replica();
  void take_latest_parameters();
  void update_idle_replicas();
  bool take_own_statistics();
  void gather_statistics();
  void take_shares(std::vector<double> weights, std::int64_t batch);
  void take_measured_shares(std::int64_t batch);
  void exchange_most_images();
  void exchange_devices(const std::vector<DeviceContext*>& devices, const TrainerOptions& options);
  void divide(std::int64_t images);
  void grow_replicas(std::span<const std::int64_t> images);
  void run_replicas(FunctionRef<void(std::size_t)> task);
  void run_replicas(FunctionRef<void(std::size_t)> task, std::stop_source& failure);
  void run_interruptible(FunctionRef<void(std::size_t)> task);
  bool end_interruptible();
  nn::PassOptions options_for(std::size_t replica);
  nn::StepObserver* observer_of(std::size_t replica);
  void finish_sums(std::size_t replica);
  BatchSlice slice_of(std::size_t replica) const;
  void find_member_images();
  void compute(std::size_t replica, const BatchLoader& loader, std::int64_t step);
  void queue_with_sums(std::size_t replica, const BatchLoader& loader, std::int64_t step, double lr,
                       const std::stop_token& stop);
  void finish_with_sums(const Queued& step);
  void exchange(bool& stop_after_epoch);
  std::size_t clock_of(std::size_t device) const;
  void find_last_backwards();
  double exposed();
  nn::Network* reference_network();
  void summarise();
  void update(double lr);
  std::vector<TestPart> test_parts(std::int64_t images) const;
  void evaluate_batch(TestPart& part, Replica& replica, const BatchLoader& loader,
                      std::int64_t round, const nn::PassOptions& options, Evaluation& into);
  bool agree_on_round(bool more);
  void gather_tests(std::vector<TestPart>& parts, Evaluation& evaluation);

  RankGroup& ranks_;
  const std::stop_token stop_;
  std::vector<RankDevice> devices_;
  std::size_t first_local_ = 0;                   // of this process's first device, among all
  std::size_t reference_ = 0;                     // device whose running statistics are kept
  std::vector<double> weights_;                   // of all devices; 0 for idle ones
  std::unique_ptr<AutoShares> auto_shares_;       // if shares are measured
  bool shares_due_ = false;                       // new ones, from the next step on
  std::vector<std::int64_t> most_images_;         // that fit, of all devices, if tried
  std::vector<std::int64_t> images_;              // of the step, by device
  std::vector<std::int64_t> member_images_;       // of the replicas that take part
  std::int64_t divided_ = 0;                      // batch size that images_ divides
  std::deque<Queued> queued_;                     // the oldest step first
  std::vector<ReplicaStep> steps_;                // latest of all devices
  bool gpu_clocks_ = false;                       // by which they are timed
  std::vector<double> last_backward_s_, wait_s_;  // of that step, by clock
  StepResult result_;                             // of that step
  const nn::PassOptions* options_ = nullptr;      // of the step in progress
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<GradientBucket> buckets_;
  const SumOptions sum_;
  std::vector<bool> takes_part_;              // by replica; the state of others is out of date
  std::unique_ptr<GradientReducer> reducer_;  // null if a single device takes part
  GpuReducer* gpu_reducer_ = nullptr;         // the same, if GPUs sum
  std::string sum_remark_;
  std::vector<std::unique_ptr<Local>> locals_;  // null for a replica that takes no part
  std::unique_ptr<StepRecorder> recorder_;      // null until steps are to be recorded
  bool recorder_fits_ = false;                  // the reducer it was made for
  bool recording_ = false;
  std::unique_ptr<ThreadPool> replica_threads_;  // drives the replicas, one thread each
  std::stop_source abort_;  // abandons work in progress: no thread waits for another
  double step_begin_s_ = 0;
  std::jthread canceller_;  // turns stop_ into abort_; last, because it uses the members above
};

}  // namespace lab
