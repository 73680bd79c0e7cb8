#pragma once
// What a person asks for. Panels and the command line both make these; the worker runs them.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

using TensorId = std::int64_t;

enum class CacheState { Warm, Cold };
template <>
struct EnumNames<CacheState> {
  static constexpr ValueName kAll[] = {{"warm", "Warm"}, {"cold", "Cold"}};
};
// Of the host; what moves within and between GPUs needs none and is OnGpu.
enum class MemoryKind { Pageable, Pinned, OnGpu };
template <>
struct EnumNames<MemoryKind> {
  static constexpr ValueName kAll[] = {{"pageable"}, {"pinned"}, {"device"}};
};

// STREAM's terms. Bytes moved per element of size s: Read s, Write s, Copy 2s, Triad 3s. Read,
// Write and Triad are done by the threads of one CPU device, the last four with a GPU. A copy to
// or from a GPU counts its bytes once, Both once each way.
enum class TransferOp {
  Read,
  Write,
  Copy,
  Triad,
  Both,     // copies in both directions at once
  Pieces,   // a copy in kTransferPieces parts, each a copy of its own
  Chase,    // a kernel follows a random cycle; the time is that of one read
  Overlap,  // copies in and out while a kernel runs: a timeline
};
template <>
struct EnumNames<TransferOp> {
  static constexpr ValueName kAll[] = {
      {"read", "Read"},      {"write", "Write"},   {"copy", "Copy"},     {"triad", "Triad"},
      {"both", "Both ways"}, {"pieces", "Pieces"}, {"chase", "Latency"}, {"overlap", "Overlap"}};
};
inline constexpr int kTransferPieces = 32;

struct StartTransfers {
  std::vector<Device> from;  // empty: every device
  std::vector<Device> to;    // empty: every device
  // Of the host; empty: pageable, and where a GPU takes part pinned too.
  std::vector<MemoryKind> memory;
  std::vector<TransferOp> ops = {TransferOp::Copy,  TransferOp::Read,   TransferOp::Write,
                                 TransferOp::Triad, TransferOp::Both,   TransferOp::Pieces,
                                 TransferOp::Chase, TransferOp::Overlap};
  bool one_thread = true;                 // measure with one thread
  bool all_threads = true;                // and with all of the device's
  std::vector<std::int64_t> sizes_bytes;  // empty: 1 KiB to 1 GiB, powers of two
  CacheState cache = CacheState::Warm;
  double budget_s = 0.5;  // time for one case
  bool live = false;      // repeat the first case until cancelled
};

struct StartMatmul {
  std::vector<Device> devices;       // empty: every device
  std::vector<std::string> kernels;  // names; empty: all. "best": the fastest of ours
  std::vector<std::int64_t> sizes;   // square sizes; empty: 64 to 4096, powers of two
  Precision dtype = Precision::F32;
  CacheState cache = CacheState::Warm;
  double budget_s = 0.5;  // time for one kernel at one size
  std::uint64_t seed = 0;
  bool live = false;  // repeat kernels at sizes[0] until cancelled
};

enum class DataSource { Synthetic, FashionMnist };
template <>
struct EnumNames<DataSource> {
  static constexpr ValueName kAll[] = {{"synthetic", "Synthetic"},
                                       {"fashion-mnist", "Fashion-MNIST"}};
};
enum class BatchOrder { Shuffled, Sequential };
template <>
struct EnumNames<BatchOrder> {
  static constexpr ValueName kAll[] = {{"shuffled", "Shuffled"}, {"sequential", "In file order"}};
};

// How a step's images are divided over the devices.
enum class SharePolicy {
  Equal,   // sizes differ by one image at most
  Auto,    // by measured speed, again and again while it runs
  Listed,  // in the proportions given
};
template <>
struct EnumNames<SharePolicy> {
  static constexpr ValueName kAll[] = {{"equal", "Equal"}, {"auto", "Auto"}, {"listed", "By list"}};
};
// Linear: the learning rate grows with the batch, lr * batch / 256.
enum class LrScale { None, Linear };
template <>
struct EnumNames<LrScale> {
  static constexpr ValueName kAll[] = {{"none", "As it is"}, {"linear", "Linear"}};
};

// Defaults are the chapters'.
struct StartTraining {
  std::string model = "lenet";  // softmax, mlp, lenet, resnet18
  DataSource data = DataSource::Synthetic;
  std::string data_dir;  // empty: the usual places
  std::int64_t synthetic_train = 60000;
  std::int64_t synthetic_test = 10000;
  std::vector<Device> devices;  // empty: cpu:0
  std::int64_t batch = 256;
  std::optional<double> lr;  // empty: the chapters' value for the model
  double momentum = 0;
  double weight_decay = 0;
  std::int64_t epochs = 10;
  std::optional<std::int64_t> steps;  // stop after so many steps, whatever the epochs
  BatchOrder order = BatchOrder::Shuffled;
  std::uint64_t seed = 0;
  Kernels kernels = Kernels::Lab;
  // Steps take turns with the lab's and the library's kernels, which are profiled both.
  bool compare_kernels = false;
  bool profile = false;  // measure each layer, on the first device
  // Our convolutions: "auto" (the fastest here, measured once), "rule" (by shape alone), or an
  // algorithm's name ("gemm" where that one cannot compute).
  std::string convolution = "auto";
  Precision dtype = Precision::F32;
  std::string init_file;  // safetensors to start from
  std::string save_file;  // safetensors to write at the end
  bool evaluate = true;   // test accuracy after each epoch

  SharePolicy share_policy = SharePolicy::Equal;
  std::vector<double> shares;  // when Listed: one for each of `devices`, in any unit
  // Gradients are summed over the devices in pieces of about this size.
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
  LrScale lr_scale = LrScale::None;
  double warmup_epochs = 0;           // the learning rate rises to its value over so many epochs
  std::string checkpoint_dir;         // empty: no checkpoints
  std::int64_t checkpoint_every = 0;  // steps between checkpoints; 0: at the end alone
  std::string resume_dir;             // go on from the newest checkpoint here
};

// Strong: the same batch for all devices together. Weak: the same batch for each device.
enum class ScalingMode { Strong, Weak };
template <>
struct EnumNames<ScalingMode> {
  static constexpr ValueName kAll[] = {{"strong", "Strong"}, {"weak", "Weak"}};
};

// Trains on 1, 2, ... devices, one after the other, and predicts what more of them would do.
struct StartScaling {
  // What is trained; `devices` is the largest set, and runs take the first of them.
  StartTraining training;
  std::vector<ScalingMode> modes = {ScalingMode::Strong};
  bool measure = true;      // false: predict only, from `compute_s` or `reference_file`
  std::vector<int> counts;  // numbers of devices; empty: 1, 2, 4, ... and all of them
  std::int64_t steps = 20;  // timed, in each run
  std::int64_t warmup = 3;  // untimed steps before them
  std::int64_t rounds = 3;  // every number of devices takes its turn so often
  bool accuracy = true;     // test accuracy of each number of devices after `accuracy_steps`
  std::int64_t accuracy_steps = 235;
  // The prediction.
  int predict_devices = 16;         // 0: no prediction
  std::string link = "nvlink";      // a name of link_names()
  std::optional<double> compute_s;  // one device's step of training.batch images, typed in
  // The same from a JSON file; where training.model is empty, the file's model is meant.
  std::string reference_file;
};

enum class Fill { Zeros, Ones, Full, Arange, Rand, Randn };
template <>
struct EnumNames<Fill> {
  static constexpr ValueName kAll[] = {{"zeros"},  {"ones"}, {"full"},
                                       {"arange"}, {"rand"}, {"randn"}};
};

struct MakeTensor {
  Device device;
  std::vector<std::int64_t> shape;
  DType dtype = DType::F32;
  Fill fill = Fill::Zeros;
  double value = 0;        // for Full
  std::uint64_t seed = 0;  // for Rand and Randn
  std::string name;        // empty: one is made up ("X1")
};
struct CopyTensor {
  TensorId id = 0;
  Device to;
};
// Z = X + Y; on two devices this fails with DeviceMismatch, as the chapter shows.
struct AddTensors {
  TensorId a = 0, b = 0;
};
struct FreeTensor {
  TensorId id = 0;
};

// Commands that become a job of the worker, in the order they were sent.
using JobCommand = std::variant<StartTransfers, StartMatmul, StartTraining, StartScaling,
                                MakeTensor, CopyTensor, AddTensors, FreeTensor>;

// Commands that act on the running job at once.
struct CancelJob {};
struct PauseJob {};
struct ResumeJob {};
struct StopAfterEpoch {};

// A wish of the window itself, carried out by the controller; never sent to the worker.
struct SavePlotPng {
  std::string plot;  // path of the plot widget
  std::string file;
};
struct SaveText {
  std::string file;
  std::string text;
};

// Ends the program in good order and starts it anew with the same words: a lost GPU works again in
// a fresh process only. With `wake_gpus` GPUs that sleep are woken for use.
struct RestartLab {
  bool wake_gpus = false;
};

using Command = std::variant<StartTransfers, StartMatmul, StartTraining, StartScaling, MakeTensor,
                             CopyTensor, AddTensors, FreeTensor, CancelJob, PauseJob, ResumeJob,
                             StopAfterEpoch, SavePlotPng, SaveText, RestartLab>;
using Commands = std::vector<Command>;

// Whether the job names a GPU. That is a wish to use it, and wakes it where it sleeps.
bool names_gpu(const JobCommand& command);

}  // namespace lab
