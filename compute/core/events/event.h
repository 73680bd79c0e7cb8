#pragma once
// What a job reports. The window's model and the JSON lines are both made from these.
#include <array>
#include <cstdint>
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
#include "compute/core/events/roofline.h"
#include "compute/core/events/stats.h"
#include "compute/core/events/training_profile.h"

namespace lab {

using JobId = std::int64_t;  // 0: no job (telemetry)

struct JobStarted {
  std::string title;   // "Matmul ladder on cpu:0"
  JobCommand command;  // what was asked, for provenance
};

enum class Outcome { Done, Failed, Cancelled };
struct JobFinished {
  Outcome outcome = Outcome::Done;
  double seconds = 0;
  std::string error;           // one sentence, when Failed
  Errc code = Errc::Internal;  // what kind of failure, when Failed
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

// A case that cannot run, and why. Not a failure.
struct Skipped {
  std::string what;
  std::string reason;
};

struct MatmulSample {
  Device device;
  std::string kernel;
  bool library = false;
  Precision dtype = Precision::F32;
  std::int64_t m = 0, n = 0, k = 0;
  Timing time;
  double gflops = 0;  // from the median
  bool verified = false;
  std::optional<double> share_of_library;  // of the fastest library rung at this size
  std::optional<double> share_of_peak;     // of the measured FMA peak
  double max_error = 0;                    // the largest |error| / bound found while verifying
  Conditions conditions;
};

// The ceiling the shares are measured against.
struct PeakSample {
  Device device;
  Precision dtype = Precision::F32;
  int threads = 0;  // 0: a whole GPU
  Timing time;
  double gflops = 0;
};

// A rung's facts, sent before its samples so that pages can list and explain it.
struct RungInfo {
  Device device;
  std::string name;      // "simd"
  std::string title;     // "SIMD micro-kernel"
  std::string sentence;  // what it adds and why that helps
  bool library = false;
  std::vector<Precision> takes = {};  // as which it can multiply; empty: not told
};

// Whether the rung can multiply so, as far as is known.
bool takes(const RungInfo& rung, Precision precision);

// How the bytes of a transfer travel.
enum class TransferMover {
  Threads,     // of a CPU device
  CopyEngine,  // of a GPU: cudaMemcpyAsync
  Kernel,      // a kernel of the GPU, with loads and stores of 16 bytes
};

// Between two GPUs: which of them works, and whether it reaches the other's memory directly (P2P)
// or the driver takes the bytes through the host.
enum class PeerWay { None, Write, Read, WriteThroughHost, ReadThroughHost };

const char* to_string(TransferMover mover);  // "threads", "copy_engine", "kernel"
const char* to_string(PeerWay way);          // "none", "write", "read", "write_through_host", ...

// In words: "2 threads", "copy engine", "kernel, peer write".
std::string moved_by(TransferMover mover, PeerWay way, int threads);

struct TransferSample {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  TransferMover mover = TransferMover::Threads;
  PeerWay peer = PeerWay::None;
  int threads = 1;         // of a CPU device; 1 for a GPU
  std::int64_t bytes = 0;  // size of one array
  Timing time;             // of one operation; of a chase one read
  double gb_per_s = 0;     // bytes moved as TransferOp counts them, over the median
  bool verified = false;
  Conditions conditions;
};

// t(bytes) = latency + bytes moved / bandwidth over one sweep, by relative least squares: the
// latency of a transfer that stays in the first cache, the bandwidth of main memory. Sizes in
// between are quicker than the model says, because caches hold them. A sweep that does not reach
// from the first cache to memory gets one line through all its sizes.
struct TransferFit {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  TransferMover mover = TransferMover::Threads;
  PeerWay peer = PeerWay::None;
  int threads = 1;
  double latency_s = 0;
  double gb_per_s = 0;
  double r2 = 0;  // of log time, over all sizes of the sweep
  // The size at which latency and bandwidth cost the same: below it, latency rules.
  std::int64_t half_bandwidth_bytes = 0;
  // From this size on this case is quicker than doing it with one thread; empty: never or n/a.
  std::optional<std::int64_t> break_even_bytes;
};

// What ran when on one stream of a GPU.
struct TransferSpan {
  std::string stream;             // "copy in", "compute", "copy out"
  std::string what;               // "copy in 1"
  double begin_s = 0, end_s = 0;  // since the first began
};

// Parts of `bytes` each are copied in, worked on and copied out: on three streams, where the parts
// overlap, and on one, where nothing does. Each was done `runs` times; of both the run of median
// time is told.
struct TransferTimeline {
  Device device;
  std::int64_t bytes = 0;
  int runs = 1;
  std::vector<TransferSpan> spans;  // of the three streams
  double overlapped_s = 0;
  double serial_s = 0;
};

// Work that passes `passes` times over data of the host: copied to the GPU and back and done there
// at the GPU's bandwidth, against done in main memory.
struct TransferPayoff {
  Device host, gpu;
  MemoryKind memory = MemoryKind::Pinned;
  int passes = 1;
  std::optional<std::int64_t> from_bytes;  // where the GPU begins to win; empty: never
};

// "Work of 10 passes over pinned data: below 180 KiB it is quicker to stay on cpu:0 than to move to
// cuda:0."
std::string in_words(const TransferPayoff& payoff);

struct TrainingStarted {
  StartTraining request;  // with every default filled in
  double lr = 0;
  std::int64_t parameters = 0;
  std::int64_t train_images = 0, test_images = 0;
  std::int64_t steps_per_epoch = 0, total_steps = 0;
  bool synthetic = false;
  std::vector<std::string> class_names;
};

// Where one device's time of a step went: compute_s + all_reduce_s + wait_s is the step.
struct DeviceStep {
  int rank = 0;  // the process; `device` is one of its own
  Device device;
  std::int64_t images = 0;
  double compute_s = 0;     // data, forward, loss, backward and update
  double all_reduce_s = 0;  // in summing gradients, whether backward hid it or not
  double exposed_s = 0;     // the part of it after the last device's backward: hidden by nothing
  double wait_s = 0;        // idle, until the last device's backward ended
};

// The same for a whole step or a whole run: means over the devices.
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
  double accuracy = 0;      // of the batch, before the update
  std::int64_t images = 0;  // in this step
  double images_per_s = 0;  // of this step
  double t_s = 0;           // since training started, pauses left out
  double lr = 0;            // of this step's update
  // Of every rank, in their order; empty for a single device.
  std::vector<DeviceStep> devices;
};

struct EpochDone {
  std::int64_t epoch = 0;  // from 1
  double train_loss = 0, train_acc = 0;
  std::optional<double> test_acc;
  double seconds = 0;  // training time of the epoch, evaluation left out
  double images_per_s = 0;
};

struct PredictedImage {
  std::array<std::uint8_t, 28 * 28> pixels{};
  int label = 0, predicted = 0;
  float confidence = 0;  // softmax probability of `predicted`
};
struct Predictions {
  std::int64_t epoch = 0;
  std::vector<PredictedImage> images;  // wrong ones first
};
struct Confusion {
  std::int64_t epoch = 0;
  int classes = 10;
  std::vector<std::int64_t> counts;  // [label * classes + predicted], on the test set
};

struct TrainingDone {
  std::optional<double> test_acc;
  double images_per_s = 0;  // over all steps
  double seconds = 0;
  std::int64_t steps = 0;
  std::vector<Device> devices;  // of every rank, in their order
  int ranks = 1;
  std::string saved_file;
  std::string checkpoint;   // the newest one written
  StepSplit split;          // medians over the steps; meaningful for more than one device
  double hidden_share = 0;  // of the all-reduce time, by backward: 1 - exposed / all
};

// One number of devices, measured.
struct ScalingPoint {
  ScalingMode mode = ScalingMode::Strong;
  int devices = 0;
  std::int64_t batch = 0;   // of a step, over all devices
  Timing step;              // of the timed steps of all rounds
  double images_per_s = 0;  // from the median
  double speedup = 0;       // images_per_s over that of one device
  double efficiency = 0;    // speedup over devices
  StepSplit split;
  double hidden_share = 0;
  std::optional<double> test_acc;
  std::int64_t accuracy_steps = 0;  // of training before it
  bool shares_cores = false;        // more devices than cores: no speed-up beyond those
  Conditions conditions;
};

// One number of devices, calculated: never a measurement.
struct ScalingPrediction {
  ScalingMode mode = ScalingMode::Strong;
  int devices = 0;
  std::string link;   // "nvlink"
  std::string basis;  // where the compute time comes from: "measured on cpu:0"
  std::int64_t batch = 0;
  double step_s = 0, images_per_s = 0, speedup = 0, efficiency = 0;
  StepSplit split;
  std::optional<double> measured_step_s;  // where this number was measured too
};

struct TensorInfo {
  TensorId id = 0;
  std::string name;
  Device device;
  std::vector<std::int64_t> shape;
  DType dtype = DType::F32;
  std::int64_t bytes = 0;
  bool owned_by_page = false;  // made on the Memory page, so it can be copied and freed
  std::string preview;         // first values, "0.1234, -1.5, ..."
};

// All live buffers of the process, sent after each change made on the Memory page and regularly
// while a job runs.
struct TensorList {
  std::vector<TensorInfo> tensors;
};

struct Telemetry {
  std::vector<DeviceTelemetry> devices;
  std::vector<GpuTelemetry> gpus;   // every NVIDIA GPU, whether the lab can compute on it or not
  std::vector<GpuFacts> gpu_facts;  // of GPUs seen, or woken, since the last one
  double lab_cpu = 0;               // share of one core this process used since the last one
  std::int64_t lab_rss_bytes = 0;
};

using Payload = std::variant<JobStarted, JobFinished, Progress, LogLine, Skipped, MatmulSample,
                             PeakSample, CeilingsMeasured, RungInfo, TransferSample, TransferFit,
                             TransferTimeline, TransferPayoff, TrainingStarted, StepDone, EpochDone,
                             Predictions, Confusion, TrainingDone, TrainingProfile, ScalingPoint,
                             ScalingPrediction, TensorList, Telemetry>;

struct Event {
  JobId job = 0;
  double t_s = 0;  // since the lab started
  Payload payload;
};

}  // namespace lab
