#pragma once
// What a person has filled in, page by page, and the commands made from it.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"
#include "compute/core/fields/field.h"

namespace lab::ui {

struct DevicesForm {
  std::set<int> open;               // positions of the devices whose details are unfolded
  std::set<std::string> open_gpus;  // "0000:01:00.0/details": what of which GPU is unfolded
  std::int64_t cpu_devices = 1;     // to make of the cores at the next start
};

struct MemoryForm {
  int device = 0;  // position in MachineInfo::devices
  std::string shape = "1024,1024";
  int dtype = 0;  // as DType
  int fill = 4;   // as Fill
  double value = 1;
  std::int64_t seed = 0;
  std::string name;
  int copy_to = 0;              // position in MachineInfo::devices
  std::set<TensorId> selected;  // not remembered
};

// A form holds the request that it makes. What a page asks for in another way than the request says
// it, such as devices to tick and lists to type, is beside it; to_command() puts both together.

struct TransferForm {
  StartTransfers request;  // the operations of GPUs count only where there is one
  int from = 0, to = 0;    // 0: every device, else position + 1
  std::string sizes = "1KiB..1GiB";
  bool show_table = false;
};

struct MatmulForm {
  StartMatmul request;
  int device = 0;  // 0: every device, else position + 1
  std::string sizes = "64..4096";
  int which = 0;                 // 0 all, 1 best, 2 chosen
  std::set<std::string> chosen;  // kernels, when which == 2
  std::string lit;               // kernel under the mouse, its curve stands out; not remembered
  // What the roofline shows; not remembered.
  Device roofline_device;          // while it has results; else the first that has
  std::int64_t roofline_size = 0;  // while it was measured; else the largest
  std::string roofline_kernel;     // while it was measured; else the fastest of ours
};

// What a person decided about a kept training run. Not remembered between starts.
struct RunChoice {
  std::string name;  // empty: the run's own
  bool shown = true;
  bool removed = false;
};

// A training of the model's defaults, with its learning rate filled in.
StartTraining default_training();

struct TrainingForm {
  StartTraining request = default_training();
  std::vector<bool> devices;  // ticked, by position; none: the first
  std::string shares = "0.5, 0.5";
  bool more = false;          // rarely used settings unfolded
  bool larger_batch = false;  // what a larger batch needs, unfolded
  bool devices_open = false;  // many devices to tick, unfolded
  bool all_devices = false;   // their card shows more than fit well
  // Of the form above the results; empty: open until something was trained. Not remembered.
  std::optional<bool> settings_open;
  int x_axis = 0;  // 0 step, 1 epoch, 2 time
  // The card of the layers.
  int layer_order = 0;        // as LayerOrder
  bool all_layers = false;    // more bars than fit well
  bool layer_table = false;   // all numbers unfolded
  int layer_sort_column = 2;  // position; the time
  bool layer_sort_down = true;
  bool log_loss = false;
  std::map<JobId, RunChoice> runs;
  JobId renaming = 0;
};

// Where the prediction takes the time of one device's step from.
enum class ComputeTime { Measured, Typed, File };

// With the accuracy steps of the model.
StartScaling default_scaling();

struct ScalingForm {
  StartScaling request = default_scaling();
  std::vector<bool> devices;  // the largest set, ticked by position; none: all
  std::string counts;         // numbers of devices; empty: 1, 2, 4, ... and all of the set
  int compute_time = 0;       // as ComputeTime
  double compute_ms = 100;
  bool more = false;  // rarely used settings unfolded
  bool bars_by_share = false;
  int shown_mode = 0;  // as ScalingMode, where results of both are there
  bool show_table = false;
};

struct LogForm {
  bool info = true, warning = true, error = true;
  std::string filter;
};

struct Forms {
  std::string reference;  // ReferenceMachine::key of the one drawn beside results; empty: none
  DevicesForm devices;
  MemoryForm memory;
  TransferForm transfers;
  MatmulForm matmul;
  TrainingForm training;
  ScalingForm scaling;
  LogForm log;
};

// What a link is called in the window; the name itself when it is none of kLinkNames.
std::string link_title(std::string_view name);

// Settings that the window asks for in one control though the request holds them otherwise.
inline constexpr int kBothKernels = 2;  // after those of Kernels: steps take turns with them
int kernel_choice(const StartTraining& request);
void set_kernel_choice(StartTraining& request, int choice);
inline constexpr int kBothModes = 2;  // after those of ScalingMode
int mode_choice(const StartScaling& request);
void set_mode_choice(StartScaling& request, int choice);
bool has_op(const TransferForm& form, TransferOp op);
void set_op(TransferForm& form, TransferOp op, bool on);

// The page predicts always, and for fewer devices than the command line.
RequestField predicted_devices_field();

// "1024,1024", "1024 x 1024", "[2, 3]"; empty text is a scalar. Throws Error(Usage) naming the
// text.
std::vector<std::int64_t> parse_shape(std::string_view text);

// Shares of the batch, one for each device: "0.7, 0.3", "70 30", in any unit. Throws Error(Usage)
// naming the text and the number of devices.
std::vector<double> parse_shares(std::string_view text, std::size_t devices);

// The devices that train: the ticked ones, or the first.
std::vector<Device> training_devices(const TrainingForm& form, const MachineInfo& machine);

// The command a form asks for; throws Error(Usage) with a sentence for the person when a field
// cannot be understood. `live` repeats until stopped.
MakeTensor to_command(const MemoryForm& form, const MachineInfo& machine);
// How many of TransferOp this machine offers: those of GPUs follow those of CPUs.
inline constexpr std::size_t kCpuTransferOps = 4;
std::size_t transfer_ops(const MachineInfo& machine);
StartTransfers to_command(const TransferForm& form, const MachineInfo& machine, bool live);
// How many of Precision this machine offers: only GPUs multiply in tf32.
std::size_t matmul_precisions(const MachineInfo& machine);
// The form's where the machine offers it, else f32.
Precision matmul_precision(const MatmulForm& form, const MachineInfo& machine);
StartMatmul to_command(const MatmulForm& form, const MachineInfo& machine, bool live);
StartTraining to_command(const TrainingForm& form, const MachineInfo& machine);
// `measured_s`: what one device's step of the form's batch took, where that is known; only
// predictions without a measurement of their own need it.
StartScaling to_command(const ScalingForm& form, const MachineInfo& machine, bool measure,
                        std::optional<double> measured_s = {});
// The largest set of devices: the ticked ones, or all.
std::vector<Device> scaling_devices(const ScalingForm& form, const MachineInfo& machine);

// Adds every remembered value under its key ("training.batch"); load takes what fits, ignores the
// rest.
void save_forms(const Forms& forms, std::map<std::string, std::string>& out);
void load_forms(Forms& forms, const std::map<std::string, std::string>& saved);

}  // namespace lab::ui
