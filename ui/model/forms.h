#pragma once
// What a person has filled in, page by page, and the commands made from it.
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute/types/command.h"
#include "compute/types/device_info.h"
#include "compute/types/event.h"

namespace lab::ui {

struct DevicesForm {
  std::set<int> open;            // positions of the devices whose details are unfolded
  std::int64_t cpu_devices = 1;  // to make of the cores at the next start
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

struct TransferForm {
  int from = 0, to = 0;                                // 0: every device, else position + 1
  std::array<bool, 4> ops = {true, true, true, true};  // as TransferOp
  std::string sizes = "1KiB..1GiB";
  bool one_thread = true, all_threads = true;
  int cache = 0;  // as CacheState
  double budget_s = 0.5;
  bool show_table = false;
};

struct MatmulForm {
  int device = 0;  // 0: every device, else position + 1
  std::string sizes = "64..4096";
  int which = 0;                 // 0 all, 1 best, 2 chosen
  std::set<std::string> chosen;  // kernels, when which == 2
  int cache = 0;                 // as CacheState
  double budget_s = 0.5;
  std::int64_t seed = 0;
  std::string lit;  // kernel under the mouse, its curve stands out; not remembered
};

// What a person decided about a kept training run. Not remembered between starts.
struct RunChoice {
  std::string name;  // empty: the run's own
  bool shown = true;
  bool removed = false;
};

struct TrainingForm {
  int model = 2;  // position in training_models()
  int data = 0;   // as DataSource
  std::string data_dir;
  std::int64_t synthetic_train = 60000, synthetic_test = 10000;
  std::vector<bool> devices;  // ticked, by position; none: the first
  std::int64_t batch = 256;
  double lr = 0.9;
  double momentum = 0, weight_decay = 0;
  std::int64_t epochs = 10;
  int order = 0;    // as BatchOrder
  int kernels = 0;  // as Kernels
  std::int64_t seed = 0;
  bool more = false;  // rarely used settings unfolded
  int x_axis = 0;     // 0 step, 1 epoch, 2 time
  bool log_loss = false;
  std::map<JobId, RunChoice> runs;
  JobId renaming = 0;
};

struct LogForm {
  bool info = true, warning = true, error = true;
  std::string filter;
};

struct Forms {
  DevicesForm devices;
  MemoryForm memory;
  TransferForm transfers;
  MatmulForm matmul;
  TrainingForm training;
  LogForm log;
};

// "softmax", "mlp", "lenet", "resnet18", and the chapters' learning rate for one of them.
const std::vector<std::string>& training_models();
double default_lr(int model);

// "1024,1024", "1024 x 1024", "[2, 3]"; empty text is a scalar. Throws Error(Usage) naming the
// text.
std::vector<std::int64_t> parse_shape(std::string_view text);

// The command a form asks for; throws Error(Usage) with a sentence for the person when a field
// cannot be understood. `live` repeats until stopped.
MakeTensor to_command(const MemoryForm& form, const MachineInfo& machine);
StartTransfers to_command(const TransferForm& form, const MachineInfo& machine, bool live);
StartMatmul to_command(const MatmulForm& form, const MachineInfo& machine, bool live);
StartTraining to_command(const TrainingForm& form, const MachineInfo& machine);

// Adds every remembered value under its key ("training.batch"); load takes what fits, ignores the
// rest.
void save_forms(const Forms& forms, std::map<std::string, std::string>& out);
void load_forms(Forms& forms, const std::map<std::string, std::string>& saved);

}  // namespace lab::ui
