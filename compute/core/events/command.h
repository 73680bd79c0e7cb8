#pragma once
// Requests from the user. Panels and the command line create them; the worker executes them.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/events/models.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

using TensorId = std::int64_t;

enum class CacheState { Warm, Cold };
template <>
struct EnumNames<CacheState> {
  static constexpr ValueName kAll[] = {{"warm", LAB_TEXT("Warm")}, {"cold", LAB_TEXT("Cold")}};
};
// Kind of host memory. Transfers within and between GPUs use no host memory and are OnGpu.
enum class MemoryKind { Pageable, Pinned, OnGpu };
template <>
struct EnumNames<MemoryKind> {
  static constexpr ValueName kAll[] = {{"pageable"}, {"pinned"}, {"device"}};
};

// Operations in STREAM's terms. Bytes moved per element of size s: Read s, Write s, Copy 2s, Triad
// 3s. Read, Write and Triad run on the threads of one CPU device; the last four involve a GPU. A
// copy to or from a GPU counts its bytes once; Both counts them once per direction.
enum class TransferOp {
  Read,
  Write,
  Copy,
  Triad,
  Both,     // simultaneous copies in both directions
  Pieces,   // a copy in kTransferPieces separate parts
  Chase,    // pointer chase along a random cycle; the time is that of one read
  Overlap,  // copies in and out while a kernel runs; yields a timeline
};
template <>
struct EnumNames<TransferOp> {
  static constexpr ValueName kAll[] = {
      {"read", LAB_TEXT("Read")},      {"write", LAB_TEXT("Write")},
      {"copy", LAB_TEXT("Copy")},      {"triad", LAB_TEXT("Triad")},
      {"both", LAB_TEXT("Both ways")}, {"pieces", LAB_TEXT("Pieces")},
      {"chase", LAB_TEXT("Latency")},  {"overlap", LAB_TEXT("Overlap")}};
};
inline constexpr int kTransferPieces = 32;

// Number of arrays that an operation of a CPU device touches. Each array is moved once.
constexpr int array_count(TransferOp op) {
  return op == TransferOp::Copy ? 2 : op == TransferOp::Triad ? 3 : 1;
}

// Seconds that one case of a sweep takes if it uses its `budget_s`, together with the allocation,
// filling and verification of its arrays of `bytes`, at a rough rate.
constexpr double transfer_case_s(TransferOp op, std::int64_t bytes, double budget_s) {
  constexpr double kPrepared_bytes_per_s = 5e8;
  return budget_s + array_count(op) * static_cast<double>(bytes) / kPrepared_bytes_per_s;
}

struct StartTransfers {
  std::vector<Device> from;  // empty: every device
  std::vector<Device> to;    // empty: every device
  // Host memory; empty: pageable, and also pinned if a GPU takes part.
  std::vector<MemoryKind> memory;
  std::vector<TransferOp> ops = {TransferOp::Copy,  TransferOp::Read,   TransferOp::Write,
                                 TransferOp::Triad, TransferOp::Both,   TransferOp::Pieces,
                                 TransferOp::Chase, TransferOp::Overlap};
  bool one_thread = true;                 // measure with one thread
  bool all_threads = true;                // measure with all threads of the device
  std::vector<std::int64_t> sizes_bytes;  // empty: 1 KiB to 1 GiB, powers of two
  CacheState cache = CacheState::Warm;
  double budget_s = 0.5;  // per case
  // Only copies, of 1 KiB to 128 MiB, in about 30 s: replaces `ops` and `sizes_bytes`, and lowers
  // `budget_s`.
  bool quick = false;
  bool live = false;  // repeat the first case until cancelled
};

struct StartMatmul {
  std::vector<Device> devices;       // empty: every device
  std::vector<std::string> kernels;  // names; empty: all. "best": the fastest of the lab's own
  std::vector<std::int64_t> sizes;   // square sizes; empty: 64 to 4096, powers of two
  Precision dtype = Precision::F32;
  CacheState cache = CacheState::Warm;
  double budget_s = 0.5;  // per kernel and size
  std::uint64_t seed = 0;
  bool live = false;  // repeat the kernels at sizes[0] until cancelled
  // Instead of the ladder: products on all devices at once, against the same products in sequence
  // on the first one. The devices are of one kind; empty: alike_devices().
  bool together = false;
};

// Seconds that one kernel takes at one size if it uses its `budget_s`, together with the product
// that verifies it, at a rough rate.
inline double matmul_case_s(Device device, std::int64_t n, double budget_s) {
  const double flop_per_s = is_gpu(device) ? 1e13 : 1e11;
  const auto x = static_cast<double>(n);
  return budget_s + 2 * x * x * x / flop_per_s;
}

enum class DataSource { Synthetic, FashionMnist };
template <>
struct EnumNames<DataSource> {
  static constexpr ValueName kAll[] = {{"synthetic", LAB_TEXT("Synthetic")},
                                       {"fashion-mnist", "Fashion-MNIST"}};
};
enum class BatchOrder { Shuffled, Sequential };
template <>
struct EnumNames<BatchOrder> {
  static constexpr ValueName kAll[] = {{"shuffled", LAB_TEXT("Shuffled")},
                                       {"sequential", LAB_TEXT("In file order")}};
};

// How the images of a step are divided among the devices.
enum class SharePolicy {
  Equal,   // sizes differ by at most one image
  Auto,    // by measured speed, updated during the run
  Listed,  // in the given proportions
};
template <>
struct EnumNames<SharePolicy> {
  static constexpr ValueName kAll[] = {
      {"equal", LAB_TEXT("Equal")}, {"auto", LAB_TEXT("Auto")}, {"listed", LAB_TEXT("By list")}};
};
// Linear: the learning rate scales with the batch size, lr * batch / 256.
enum class LrScale { None, Linear };
template <>
struct EnumNames<LrScale> {
  static constexpr ValueName kAll[] = {{"none", LAB_TEXT("None")}, {"linear", LAB_TEXT("Linear")}};
};

// How the gradients of several GPUs in one process are summed. Auto: by NCCL where it is installed,
// otherwise by the lab's own copies and additions.
enum class GradientSum { Auto, Nccl, Lab };
template <>
struct EnumNames<GradientSum> {
  static constexpr ValueName kAll[] = {
      {"auto", LAB_TEXT("Auto")}, {"nccl", "NCCL"}, {"lab", LAB_TEXT("Lab")}};
};

// Course of the learning rate after the warm-up. Linear: falls to 0 at the end of the last epoch.
enum class LrSchedule { Constant, Linear };
template <>
struct EnumNames<LrSchedule> {
  static constexpr ValueName kAll[] = {{"constant", LAB_TEXT("Constant")},
                                       {"linear", LAB_TEXT("Linear decay")}};
};
// Random changes to the training images. Flip: half of them are mirrored, left to right.
enum class Augmentation { None, Flip };
template <>
struct EnumNames<Augmentation> {
  static constexpr ValueName kAll[] = {{"none", LAB_TEXT("None")}, {"flip", LAB_TEXT("Flips")}};
};
// Initial weights of the first convolution. Whitened: filters that whiten the images.
enum class FirstLayer { Drawn, Whitened };
template <>
struct EnumNames<FirstLayer> {
  static constexpr ValueName kAll[] = {{"drawn", LAB_TEXT("Random")},
                                       {"whitened", LAB_TEXT("Whitened")}};
};

// Defaults follow Dive into Deep Learning.
struct StartTraining {
  std::string model = "lenet";        // a name from kModelFacts
  std::int64_t width = kResNetWidth;  // of resnet18; no other model has one
  DataSource data = DataSource::Synthetic;
  std::string data_dir;  // empty: the default folders
  std::int64_t synthetic_train = 60000;
  std::int64_t synthetic_test = 10000;
  std::vector<Device> devices;  // empty: cpu:0
  std::int64_t batch = 256;
  std::optional<double> lr;  // empty: the default for the model
  double momentum = 0;
  double weight_decay = 0;
  std::int64_t epochs = 10;
  std::optional<std::int64_t> steps;  // stop after this number of steps, regardless of epochs
  BatchOrder order = BatchOrder::Shuffled;
  std::uint64_t seed = 0;
  Kernels kernels = Kernels::Lab;
  // Alternates the lab's and the library's kernels from step to step and profiles both.
  bool compare_kernels = false;
  bool profile = false;    // profile each layer, on the first device
  bool timeline = false;   // report the timeline of one step per second
  bool insight = false;    // report images of a batch and the first layer once per second
  std::string trace_file;  // timelines of steps as a Chrome trace; empty: none
  bool probe = false;      // only measure the speed, in a few steps on drawn images
  // Algorithm of the lab's convolutions: "auto" (the fastest on this machine, measured once),
  // "rule" (by shape only), or an algorithm's name ("gemm" is used where that one is not
  // applicable).
  std::string convolution = "auto";
  Precision dtype = Precision::F32;
  // On GPUs that run ahead of the host (Trainer::can_queue): most further steps that are queued
  // before the loss of a step is read; 0: the loss is read before the next step begins.
  std::int64_t steps_ahead = 16;
  std::string init_file;  // initial parameters, safetensors
  std::string save_file;  // final parameters, safetensors
  bool evaluate = true;   // test accuracy after each epoch

  SharePolicy share_policy = SharePolicy::Equal;
  std::vector<double> shares;  // for Listed: one per device, in any unit
  // Approximate size of a gradient bucket; each bucket is all-reduced separately.
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
  GradientSum sum = GradientSum::Auto;
  LrScale lr_scale = LrScale::None;
  double warmup_epochs = 0;  // duration of the learning rate warm-up, in epochs
  LrSchedule schedule = LrSchedule::Constant;
  double label_smoothing = 0;  // share of each label that is spread over all classes
  Augmentation augment = Augmentation::None;
  FirstLayer first_layer = FirstLayer::Drawn;
  std::optional<double> stop_at;      // ends after the epoch that reaches this test accuracy
  std::string checkpoint_dir;         // empty: no checkpoints
  std::int64_t checkpoint_every = 0;  // steps between checkpoints; 0: at the end only
  std::string logdir;                 // folder for TensorBoard event files; empty: none
  std::string resume_dir;             // resume from the newest checkpoint in this folder
};

// Strong: constant batch for all devices together. Weak: constant batch per device.
enum class ScalingMode { Strong, Weak };
template <>
struct EnumNames<ScalingMode> {
  static constexpr ValueName kAll[] = {{"strong", LAB_TEXT("Strong")}, {"weak", LAB_TEXT("Weak")}};
};

// How the predicted devices work together. Ddp: a process per device, as in PyTorch's
// DistributedDataParallel; gradients are all-reduced during backward. DataParallel: PyTorch's
// nn.DataParallel; one process sends the parameters to all devices before each step.
enum class ParallelStyle { Ddp, DataParallel };
template <>
struct EnumNames<ParallelStyle> {
  static constexpr ValueName kAll[] = {{"ddp", "DDP"}, {"dataparallel", "DataParallel"}};
};

// Trains on 1, 2, ... devices in turn and predicts the scaling to more.
struct StartScaling {
  // Training to run; `devices` is the largest set, and each run uses its first elements.
  StartTraining training;
  std::vector<ScalingMode> modes = {ScalingMode::Strong};
  bool measure = true;      // false: predict only, from `compute_s` or `reference_file`
  std::vector<int> counts;  // device counts; empty: 1, 2, 4, ... and all
  std::int64_t steps = 20;  // timed steps per run
  std::int64_t warmup = 3;  // untimed steps before the timed ones
  std::int64_t rounds = 3;  // per round, one run of each device count: interleaved against drift
  bool accuracy = true;     // measure test accuracy per device count after `accuracy_steps`
  std::int64_t accuracy_steps = 235;
  // Prediction.
  int predict_devices = 16;     // 0: no prediction
  std::string link = "nvlink";  // a name from link_names()
  // User-supplied time of one step with training.batch images on one device.
  std::optional<double> compute_s;
  // Part of compute_s, or of the file's time, that does not depend on the batch. Measured times
  // are fitted instead.
  double fixed_s = 0;
  ParallelStyle style = ParallelStyle::Ddp;
  // What one process repeats per step for each device beyond the first, for DataParallel; empty:
  // estimated from the model.
  std::optional<double> repeated_s;
  double reading_s = 0;  // time in which one process reads training.batch images
  // JSON file that supplies the compute time instead; an empty training.model selects the file's
  // model.
  std::string reference_file;
  bool check = false;  // only compare the model with published figures
};

enum class Fill { Zeros, Ones, Full, Arange, Rand, Randn, Values };
template <>
struct EnumNames<Fill> {
  static constexpr ValueName kAll[] = {{"zeros"}, {"ones"},  {"full"},  {"arange"},
                                       {"rand"},  {"randn"}, {"values"}};
};
constexpr bool is_random(Fill fill) {
  return fill == Fill::Rand || fill == Fill::Randn;
}
inline constexpr std::size_t kMaxTypedValues = 4096;

struct MakeTensor {
  Device device;
  std::vector<std::int64_t> shape;
  DType dtype = DType::F32;
  Fill fill = Fill::Zeros;
  double value = 0;            // used by Full
  std::uint64_t seed = 0;      // used by Rand and Randn
  std::vector<double> values;  // used by Values, row-major; at most kMaxTypedValues
  std::string name;            // empty: generated ("X1")
};
struct CopyTensor {
  TensorId id = 0;
  Device to;
};
// Z = X + Y. Throws Error(DeviceMismatch) if the operands are on different devices, as in Dive into
// Deep Learning.
struct AddTensors {
  TensorId a = 0, b = 0;
  // The device to which operands elsewhere are copied first; empty: nothing is copied.
  std::optional<Device> on = {};
};
struct FreeTensor {
  TensorId id = 0;
};

// A device, or with `or_cpu` the GPU of that index if it is usable and cpu:0 otherwise: try_gpu().
struct DeviceChoice {
  Device device;
  bool or_cpu = false;
};
struct CreateStatement {
  MakeTensor tensor;  // `device` and `name` are not used
  DeviceChoice device;
  bool has_seed = false;  // otherwise each random tensor has the next one
};
struct MoveStatement {
  std::string from;
  DeviceChoice to;
  bool always_copy = false;  // otherwise the result shares storage if `from` is already there
};
// The sum of one or more tensors; a single one yields itself.
struct SumStatement {
  std::vector<std::string> terms;
};
struct DeleteStatement {
  std::string name;
};
// What X.device, X.shape and X.dtype report.
enum class TensorProperty { DeviceName, Sizes, ElementType };
struct PropertyStatement {
  std::string of;
  TensorProperty property = TensorProperty::DeviceName;
};
struct TensorStatement {
  std::string text;
  std::string name;  // assigned to the result; empty: the result is reported and dropped
  std::variant<CreateStatement, MoveStatement, SumStatement, DeleteStatement, PropertyStatement>
      action;
};

// Runs statements about tensors up to the first that fails. events/tensor_code.h parses them.
struct RunTensorCode {
  std::vector<TensorStatement> statements;
};

// Runs a lesson of the chapters (events/lesson.h).
struct StartLesson {
  std::string lesson;                // "copies"
  std::optional<std::string> guess;  // the learner's, as typed
  std::vector<Device> devices;       // empty: the machine's first ones
  std::optional<double> vary;        // the lesson's one setting; empty: its default
  std::string save_file = {};        // keeps the state file of a lesson that writes one
};

// Compares the guesses and results of several people for one lesson.
struct CompareClass {
  std::string lesson;
  // Outputs of `device-lab lesson NAME --guess X --json`, or folders that contain them.
  std::vector<std::string> files;
};

// Measures the figures of events/tour.h on each device.
struct StartTour {
  std::vector<Device> devices = {};  // empty: every device
  double seconds = 20;               // approximate duration; see tour_duration_s()
};

// Downloads Fashion-MNIST into the default folder.
struct FetchData {};

// Commands that the worker runs as jobs, in the order of submission.
using JobCommand = std::variant<StartTransfers, StartMatmul, StartTraining, StartScaling,
                                MakeTensor, CopyTensor, AddTensors, FreeTensor, RunTensorCode,
                                StartLesson, CompareClass, StartTour, FetchData>;

// Commands that take effect immediately on the running job.
struct CancelJob {};
struct PauseJob {};
struct ResumeJob {};
struct StopAfterEpoch {};
// Changes settings of the running training between two steps. Empty: unchanged.
struct ChangeTraining {
  std::optional<double> lr = {};
  std::optional<std::int64_t> epochs = {};
  std::optional<SharePolicy> share_policy = {};
  std::vector<double> shares = {};  // for Listed: one per device
};

// Requests from the window, carried out by the controller and never sent to the worker.
struct SavePlotPng {
  std::string plot;  // path of the plot's widget
  std::string file;
};
struct SaveText {
  std::string file;
  std::string text;
};
// Shows the folder of a file in the desktop's file manager.
struct OpenFolderOf {
  std::string file;
};

// Notes a tensor statement that cannot be read, in the history of statements and in the log.
struct NoteUnreadable {
  std::string statement;
  std::string error;
};

// Shuts the program down cleanly and restarts it with the same arguments: a lost GPU can be
// recovered only in a new process. With `wake_gpus`, sleeping GPUs are woken for use.
struct RestartLab {
  bool wake_gpus = false;
  std::optional<int> cpu_devices = {};    // to split the cores into
  std::optional<int> emulated_gpus = {};  // to add
};

using Command =
    std::variant<StartTransfers, StartMatmul, StartTraining, StartScaling, MakeTensor, CopyTensor,
                 AddTensors, FreeTensor, RunTensorCode, StartLesson, CompareClass, StartTour,
                 FetchData, CancelJob, PauseJob, ResumeJob, StopAfterEpoch, ChangeTraining,
                 SavePlotPng, SaveText, OpenFolderOf, NoteUnreadable, RestartLab>;
using Commands = std::vector<Command>;

// Whether the training's first layer is whitened before its first step; weights from a file stay.
inline bool whitens_first_layer(const StartTraining& request) {
  return request.first_layer == FirstLayer::Whitened && request.init_file.empty() &&
         request.resume_dir.empty();
}

// Returns whether the job names a GPU explicitly, which requests its use and wakes it if it is
// asleep.
bool names_gpu(const JobCommand& command);

// Returns the device that a statement names; empty if it names none.
std::optional<Device> device_of(const TensorStatement& statement);

}  // namespace lab
