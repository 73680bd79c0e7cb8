#pragma once
// Events that a job reports. The window's model and the JSON lines are both built from them.
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/error.h"
#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "compute/core/events/lesson.h"
#include "compute/core/events/program_use.h"
#include "compute/core/events/roofline.h"
#include "compute/core/events/stats.h"
#include "compute/core/events/step_timeline.h"
#include "compute/core/events/tour.h"
#include "compute/core/events/training_profile.h"

namespace lab {

using JobId = std::int64_t;  // 0: no job (telemetry)

struct JobStarted {
  std::string title;   // "Matmul ladder on cpu:0"
  JobCommand command;  // the request, for provenance
};

enum class Outcome { Done, Failed, Cancelled };
struct JobFinished {
  Outcome outcome = Outcome::Done;
  double seconds = 0;
  std::string error;           // one sentence; set if Failed
  Errc code = Errc::Internal;  // kind of failure; set if Failed
};

// The share, 0 to 1, of the time of a job's cores that went to other programs or to the host of a
// virtual machine.
struct CoresShared {
  double others = 0;
  // Large enough to change the job's times.
  bool notable() const { return others >= 0.05; }
};

struct Progress {
  double done = 0;   // 0..1
  std::string what;  // "cpu_packed at 1024"
  std::optional<double> left_s;
};

enum class Severity { Info, Warning, Error };
struct LogLine {
  Severity severity = Severity::Info;
  std::string text;
};

// A case that cannot run on this machine, and the reason. Not a failure.
struct Skipped {
  std::string what;
  std::string reason;
};

// A kernel whose product was wrong or ended with an error; the case has no times, or no further
// ones. The job fails once all other cases are measured.
struct RungFailed {
  Device device;
  std::string kernel;
  Precision dtype = Precision::F32;
  std::int64_t n = 0;
  std::string reason;
  std::optional<double> max_error = {};  // largest |error| / bound, if there was a product
};

struct MatmulSample {
  Device device;
  std::string kernel;
  bool library = false;
  Precision dtype = Precision::F32;
  std::int64_t m = 0, n = 0, k = 0;
  Timing time;
  double gflops = 0;  // computed from the median time
  bool verified = false;
  std::optional<double> share_of_library;  // relative to the fastest library rung at this size
  std::optional<double> share_of_peak;     // relative to the measured FMA peak
  double max_error = 0;                    // largest |error| / bound found by verification
  Conditions conditions;
};

// Products of one device while other devices multiply too.
struct TogetherSample {
  Device device;
  std::vector<Device> together = {};  // all devices that multiply
  std::int64_t n = 0;
  Timing time = {};  // of one product
  double gflops = 0;
  bool verified = false;  // every product equals the first one
};

// Products on several devices at once, against all of them in sequence on the first device.
struct TogetherSpeedup {
  std::vector<Device> devices;
  std::int64_t n = 0;
  std::int64_t products = 0;                // of each device in a round
  int rounds = 0;                           // each runs both orders
  double in_sequence_s = 0, at_once_s = 0;  // medians of the rounds
  double speedup = 0;                       // in_sequence_s / at_once_s
  double p10 = 0, p90 = 0;                  // of the speed-ups of the rounds
  bool shares_cores = false;
};

// The measured peak of the multiply-add units, relative to which shares of peak are computed.
struct PeakSample {
  Device device;
  Precision dtype = Precision::F32;
  int threads = 0;   // 0: a whole GPU
  bool amx = false;  // measured with AMX, the CPU's matrix units
  Timing time;
  double gflops = 0;
};

// Name of the first rung of every ladder.
inline constexpr const char* kPlainRung = "naive";

// Description of a rung, sent before its samples so that pages can list and explain it.
struct RungInfo {
  Device device;
  std::string name;      // "simd"
  std::string title;     // "SIMD micro-kernel"
  std::string sentence;  // what the rung adds and why that helps
  bool library = false;
  std::vector<Precision> takes = {};  // supported operand types; empty: unknown
  // The processor whose kernels a library has chosen, "Haswell"; empty: unknown, as before the
  // library is first used.
  std::string chosen = {};
};

// Returns whether the rung supports operands of type `precision`; true if its types are unknown.
bool takes(const RungInfo& rung, Precision precision);

// What moves the bytes of a transfer.
enum class TransferMover {
  Threads,     // threads of a CPU device
  CopyEngine,  // a GPU's copy engine: cudaMemcpyAsync
  Kernel,      // a GPU kernel with 16-byte loads and stores
};

// For transfers between two GPUs: which one issues the accesses, and whether it reaches the other's
// memory directly (P2P) or the driver stages the bytes through the host.
enum class PeerMode { None, Write, Read, WriteThroughHost, ReadThroughHost };

const char* to_string(TransferMover mover);  // "threads", "copy_engine", "kernel"
const char* to_string(PeerMode way);         // "none", "write", "read", "write_through_host", ...

// Readable description: "2 threads", "copy engine", "kernel, peer write".
std::string moved_by(TransferMover mover, PeerMode way, int threads);

struct TransferSample {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  TransferMover mover = TransferMover::Threads;
  PeerMode peer = PeerMode::None;
  int threads = 1;         // threads of a CPU device; 1 for a GPU
  std::int64_t bytes = 0;  // size of one array
  Timing time;             // per operation; per read for Chase
  double gb_per_s = 0;     // bytes moved, as defined at TransferOp, over the median time
  bool verified = false;
  Conditions conditions;
};

// A line whose root mean square of relative errors is larger does not describe its level.
inline constexpr double kMaxTransferResidual = 0.10;

// One level of memory in a sweep: the sizes whose arrays it holds and no smaller level does. Their
// times are fitted with t(bytes) = latency + bytes moved / bandwidth, by relative least squares.
struct TransferLevel {
  std::string name;           // "L1", "L2", "L3", "memory"; "link" to and from a GPU
  std::int64_t to_bytes = 0;  // the largest array that it holds; 0: unlimited
  int sizes = 0;              // measured
  double latency_s = 0;       // not negative
  double gb_per_s = 0;        // 0: no line was fitted, for fewer than three sizes
  double residual = 0;        // root mean square of the relative errors
  bool holds() const { return gb_per_s > 0 && residual <= kMaxTransferResidual; }
};

// The sizes at which a case is faster than another by more than the noise of a measurement.
struct FasterRange {
  std::int64_t from_bytes = 0;
  std::optional<std::int64_t> to_bytes;  // empty: to the largest size measured
};

// The cost of a transfer in each level of memory, read from one sweep.
struct TransferFit {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  TransferMover mover = TransferMover::Threads;
  PeerMode peer = PeerMode::None;
  int threads = 1;
  // Ascending in size, from the first to the last with measured sizes.
  std::vector<TransferLevel> levels;
  // Where this case is faster than with one thread, among the measured sizes; empty: nowhere, or
  // not applicable.
  std::optional<FasterRange> faster_than_one;
};

// One operation on one stream of a GPU.
struct TransferSpan {
  std::string stream;             // "copy in", "compute", "copy out"
  std::string what;               // "copy in 1"
  double begin_s = 0, end_s = 0;  // since the start of the first span
};

// A pipeline that copies parts of `bytes` each in, processes them and copies them out: on three
// streams, where the parts overlap, and on one, where they do not. Each variant runs `runs` times,
// and the run with the median time is reported.
struct TransferTimeline {
  Device device;
  std::int64_t bytes = 0;
  int runs = 1;
  std::vector<TransferSpan> spans;  // of the run on three streams
  double overlapped_s = 0;
  double serial_s = 0;
};

// Compares work that passes `passes` times over host data: copied to the GPU, processed at the
// GPU's bandwidth and copied back, against processed in main memory.
struct TransferPayoff {
  Device host, gpu;
  MemoryKind memory = MemoryKind::Pinned;
  int passes = 1;
  std::optional<std::int64_t> from_bytes;  // smallest size at which the GPU is faster; empty: never
};

// "Work of 10 passes over pinned data: below 180 KiB it is quicker to stay on cpu:0 than to move to
// cuda:0."
std::string describe(const TransferPayoff& payoff);

// "copy cpu:0 to cpu:0: 2 threads are faster than one thread for 512 KiB to 64.0 MiB." Needs
// fit.faster_than_one.
std::string describe_faster(const TransferFit& fit);

struct TrainingStarted {
  StartTraining request;  // with all defaults resolved
  double lr = 0;
  std::int64_t parameters = 0;
  std::int64_t train_images = 0, test_images = 0;
  std::int64_t steps_per_epoch = 0, total_steps = 0;
  bool synthetic = false;
  std::string libraries;  // with which GPUs compute: "cuDNN 9.19.0, cuBLAS 13.1"; empty: none
  std::vector<std::string> class_names;
};

// Time of one device in one step; compute_s + all_reduce_s + wait_s is the step time.
struct DeviceStep {
  int rank = 0;  // the process that owns `device`
  Device device;
  std::int64_t images = 0;
  double compute_s = 0;     // data, forward, loss, backward and update, while no sums run
  double all_reduce_s = 0;  // summing gradients, whether hidden by backward or not
  double exposed_s = 0;  // part of all_reduce_s after the last device's backward, hidden by nothing
  double wait_s = 0;     // idle until the last device's backward ends
};

// The split of a whole step or run: means over the devices.
struct StepSplit {
  double compute_s = 0;
  double all_reduce_s = 0;
  double exposed_s = 0;
  double imbalance_s = 0;  // idle time
};

struct StepDone {
  std::int64_t step = 0;    // from 1
  std::int64_t epoch = 0;   // from 1
  double loss = 0;          // mean over the batch
  double accuracy = 0;      // on the batch, before the update
  std::int64_t images = 0;  // in this step
  double images_per_s = 0;  // of this step
  double t_s = 0;           // since training started, excluding pauses
  double lr = 0;            // used by this step's update
  // Devices of all ranks, in rank order; empty for a single device.
  std::vector<DeviceStep> devices;
};

struct EpochDone {
  std::int64_t epoch = 0;  // from 1
  double train_loss = 0, train_acc = 0;
  std::optional<double> test_acc;
  double seconds = 0;  // training time of the epoch, excluding evaluation
  double images_per_s = 0;
};

inline constexpr int kImageSide = 28;  // pixels, of the images of the data sets
using ImagePixels = std::array<std::uint8_t, std::size_t{kImageSide} * kImageSide>;

struct PredictedImage {
  ImagePixels pixels{};
  int label = 0, predicted = 0;
  float confidence = 0;  // softmax probability of `predicted`
};
struct Predictions {
  std::int64_t epoch = 0;
  std::vector<PredictedImage> images;  // misclassified images first
};
// What a training works on, and what it has learned: images of one batch, and the weights of the
// first layer.
struct BatchImage {
  ImagePixels pixels{};
  int label = 0;
  int device = 0;  // position in StepDone::devices; 0 if that is empty
};
struct Insight {
  std::int64_t step = 0;          // from 1
  std::vector<BatchImage> batch;  // some of the images, as many of each device as its share
  std::int64_t units = 0;         // filters or outputs of the first layer
  int width = 0, height = 0;      // of the weights of one unit; 0: not known yet
  std::vector<float> weights;     // of the first units, each row by row
  std::int64_t weights_step = 0;  // the step after which they were read
};
struct Confusion {
  std::int64_t epoch = 0;
  int classes = 10;
  std::vector<std::int64_t> counts;  // [label * classes + predicted], on the test set
};

// A setting that the user changed while the training ran; the next step is the first that uses it.
struct TrainingChanged {
  std::int64_t step = 0;         // the last step before the change
  double t_s = 0;                // as in StepDone
  std::string setting = {};      // key of the field: "lr", "epochs" or "shares"
  std::string before, after;     // "0.9", "0.3"; shares: "equal", "auto" or "0.7,0.3"
  std::int64_t total_steps = 0;  // of the training, from now on
};

struct TrainingDone {
  std::optional<double> test_acc;
  std::optional<double> reached_s;  // seconds to the accuracy of StartTraining::stop_at
  double images_per_s = 0;          // over all steps
  double seconds = 0;
  std::int64_t steps = 0;
  std::vector<Device> devices;  // devices of all ranks, in rank order
  int ranks = 1;
  std::string saved_file;
  std::string checkpoint;   // newest checkpoint written
  StepSplit split;          // medians over the steps; meaningful for two or more devices
  double hidden_share = 0;  // share of all-reduce time hidden by backward: 1 - exposed / all
  std::vector<TrainingChanged> changes = {};  // made while it ran, oldest first
  std::vector<Device> idle_devices = {};      // those without images of a whole batch at the end
};

// The speed of a training, measured in a few steps before it: StartTraining::probe.
struct TrainingRate {
  StartTraining request;         // with all defaults resolved
  double images_per_s = 0;       // of the median step, on all devices
  double test_images_per_s = 0;  // of the evaluation
  double slow_images_per_s = 0;  // of the slowest and the fastest tenth of the steps; 0: unknown
  double fast_images_per_s = 0;
};

// A measured device count.
struct ScalingPoint {
  ScalingMode mode = ScalingMode::Strong;
  int devices = 0;
  std::int64_t batch = 0;   // per step, over all devices
  Timing step;              // over the timed steps of all rounds
  double images_per_s = 0;  // computed from the median time
  double speedup = 0;       // images_per_s relative to one device
  double efficiency = 0;    // speedup over devices
  StepSplit split;
  double hidden_share = 0;
  std::optional<double> test_acc;
  std::int64_t accuracy_steps = 0;  // training steps before test_acc was measured
  bool shares_cores = false;        // more devices than cores: no speedup beyond the core count
  Conditions conditions;
};

// A calculated device count; never a measurement.
struct ScalingPrediction {
  ScalingMode mode = ScalingMode::Strong;
  int devices = 0;
  std::string link;   // "nvlink"
  std::string basis;  // origin of the compute time: "measured on cpu:0"
  std::int64_t batch = 0;
  double step_s = 0, images_per_s = 0, speedup = 0, efficiency = 0;
  StepSplit split;
  double process_s = 0;  // launches repeated by one process, and waiting for images to be read
  double fixed_s = 0;    // part of one device's compute time that does not depend on the batch
  std::optional<double> measured_step_s;  // set if this device count was also measured
  std::string withheld;  // why the numbers above must not be shown; empty: they may
};

// A model that misses the runs of this machine by more says too little about more devices.
inline constexpr double kMaxModelMiss = 0.15;

// Returns why predictions are withheld, given the model's results for measured device counts: the
// largest miss is above kMaxModelMiss. Empty: they are not. Ignores a single device, which the
// model is made from.
std::string why_withheld(const std::vector<ScalingPrediction>& checked);
// How far the model is from a run that was measured.
struct ModelMiss {
  double share = 0;  // 0.12: 12 % more images per second than measured
  int devices = 0;
  // "12 % too slow at 2 devices", where `size` is the formatted share.
  std::string text(const std::string& size) const;
  std::string text() const;  // in whole percent
};
// One per measured device count of two or more.
std::vector<ModelMiss> model_misses(const std::vector<ScalingPrediction>& checked);
// The largest one; nullopt if nothing was checked.
std::optional<ModelMiss> worst_miss(const std::vector<ScalingPrediction>& checked);

// A published or recorded training rate and the model's prediction of it.
struct ComparedScaling {
  std::string system;  // "DGX-2, V100, FP32, ResNet-50"
  std::string source;  // of the published figures
  ParallelStyle style = ParallelStyle::Ddp;
  std::string link;  // a name from link_names()
  int devices = 0;
  std::int64_t batch = 0;              // per step, over all devices
  double one_device_images_per_s = 0;  // published; the model's input
  double published_images_per_s = 0;
  double predicted_images_per_s = 0;
  bool counted = true;  // in the errors of ScalingComparison
  double error() const { return predicted_images_per_s / published_images_per_s - 1; }
};
// The model against published figures that played no part in it.
struct ScalingComparison {
  std::vector<ComparedScaling> rows;
  double median_error = 0, worst_error = 0;  // magnitudes over the counted rows
};

// Values of a tensor as a matrix: its last dimension across, all others down; 0 by 0 if it is
// empty. For a large tensor it holds only the first and last rows and columns.
struct ValueGrid {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> shown_rows, shown_columns;  // indices, ascending
  std::vector<double> values = {};                      // [shown_rows][shown_columns]
  bool integral = false;                                // of an integer dtype
  bool complete() const { return std::ssize(values) == rows * columns; }
};
// One line per shown row, with aligned columns; "..." stands for values that are left out.
std::vector<std::string> grid_lines(const ValueGrid& grid);

struct TensorInfo {
  TensorId id = 0;
  std::string name;
  Device device;
  std::vector<std::int64_t> shape;
  DType dtype = DType::F32;
  std::int64_t bytes = 0;
  bool owned_by_page = false;  // created on the Memory page, where it can be copied and freed
  std::string preview;         // first values, "0.1234, -1.5, ..."
};

// Result of one statement about tensors.
struct TensorResult {
  std::string statement;
  std::optional<TensorInfo> tensor;  // empty: none, as for del
  ValueGrid grid;
  std::vector<std::string> aliases;  // other names of the same storage
  std::optional<double> copy_s;      // duration of allocation and copy, if there was one
  std::string answer = {};           // of X.device, X.shape or X.dtype; empty: none
};
// Device, dtype, shape and size, then the time of the copy and the aliases; empty without a tensor.
std::string describe(const TensorResult& result);
// The same without dtype and shape, in a sentence's words: "24 B on cpu:0".
std::string summary_of(const TensorResult& result);

// All live buffers of the process, sent after each change made on the Memory page and periodically
// while a job runs.
struct TensorList {
  std::vector<TensorInfo> tensors;
};

// What else kept the cores of the lab's CPU devices busy since the last reading, as a number of
// hardware threads that were busy all the time.
struct OtherLoad {
  double programs = 0;
  double host = 0;  // took the cores from this virtual machine ("steal")
  int threads = 0;  // hardware threads of the devices
};

struct Telemetry {
  std::vector<DeviceTelemetry> devices;
  std::vector<GpuTelemetry> gpus;   // all NVIDIA GPUs, whether usable by the lab or not
  std::vector<GpuFacts> gpu_facts;  // set when a GPU was found or woke since the last reading
  double lab_cpu = 0;               // share of one core used by this process since the last reading
  std::optional<OtherLoad> others;  // empty before the second reading, or if it cannot be read
  std::int64_t lab_rss_bytes = 0;
  std::optional<ProgramUse> programs = {};  // in some readings, while they are watched
};

using Payload =
    std::variant<JobStarted, JobFinished, CoresShared, Progress, LogLine, Skipped, RungFailed,
                 MatmulSample, PeakSample, CeilingsMeasured, RungInfo, TogetherSample,
                 TogetherSpeedup, TransferSample, TransferFit, TransferTimeline, TransferPayoff,
                 TrainingStarted, StepDone, EpochDone, Predictions, Confusion, Insight,
                 TrainingChanged, TrainingDone, TrainingProfile, StepTimeline, TrainingRate,
                 ScalingPoint, ScalingPrediction, ScalingComparison, TensorList, TensorResult,
                 LessonInfo, LessonEvent, TourFigure, Telemetry>;

struct Event {
  JobId job = 0;
  double t_s = 0;  // since the lab started
  Payload payload;
};

}  // namespace lab
