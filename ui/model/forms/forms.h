#pragma once
// The user's input per page, and the commands made from it.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"
#include "compute/core/fields/field.h"
#include "ui/model/columns.h"
#include "ui/model/timeline_by_lane.h"
#include "ui/model/training_run.h"

namespace lab::ui {

struct DevicesForm {
  // "cpu:0", "gpu/0000:01:00.0", "absent/0": shown in detail; otherwise the first. Not saved.
  std::string selected;
  int quantity = 0;              // of the chart: position among those it offers
  std::int64_t cpu_devices = 1;  // to make of the cores at the next start
  // Otherwise the page shows the current number, which a command-line option may have set. Not
  // saved.
  bool cpu_devices_edited = false;
};

struct MemoryForm {
  int device = 0;  // position in MachineInfo::devices
  std::string shape = "1024,1024";
  int dtype = 0;  // as DType
  int fill = 4;   // as Fill
  double value = 1;
  std::string values = "[[1, 2], [3, 4]]";  // for Fill::Values, in place of the shape
  std::int64_t seed = 0;
  std::string name;
  std::string statement;  // not saved
  struct Sent {
    std::string statement;
    JobId after = 0;        // the page's last job before it
    bool by_enter = false;  // not by the button
  };
  std::vector<std::string> entered;  // statements sent, oldest first; not saved
  bool typing = false;               // the field has the keyboard; not saved
  bool keep_keyboard = false;        // the field should have it again; not saved
  std::optional<Sent> sent;          // whose outcome is not known yet; not saved
  std::string failed;                // its field is marked until it is edited; not saved
  std::optional<JobId> creating;     // the page's last job before the tensor asked for; not saved
  // The settings of the new tensor as drawn last, and whether the user changed them since they were
  // acceptable; not saved.
  std::string drawn;
  bool edited = false;
  int copy_to = 1;              // position in MachineInfo::devices
  std::set<TensorId> selected;  // not saved
};

// A form holds the request that it produces. Input that a page represents differently, such as
// devices to tick and lists to type, is stored next to it; to_command() combines both.

// Which results a page with several kinds of runs shows. Not saved.
struct RunTabs {
  int kind = 0;           // as RunKind
  JobId job = 0;          // last seen; a new one shows its own kind
  bool replaced = false;  // shows the results that the last run replaced
};

// Whether the user has opened the fields of a folded form since the page's job `job` began. Not
// saved.
struct SettingsOpen {
  bool open = false;
  JobId job = 0;
};

struct TransferForm {
  RunTabs tabs;
  SettingsOpen settings_open;
  StartTransfers request;  // GPU operations apply only if there is a GPU
  int from = 0, to = 0;    // 0: every device, otherwise position + 1
  std::string sizes = "1 KiB..1 GiB";
  // The case of a live run.
  int live_op = static_cast<int>(TransferOp::Copy);
  std::string live_size = "1 MiB";
  bool live_all_threads = false;
  bool show_table = false;
  bool show_fits = false;
  // Not saved.
  std::pair<Device, Device> shown_pair;  // of the curves; without results: the first with results
  std::int64_t matrix_bytes = 0;         // size of the copies in the matrix; 0: the largest
  int fit_sort_column = 0;               // position
  bool fit_sort_down = false;
};

struct MatmulForm {
  RunTabs tabs;
  SettingsOpen settings_open;
  StartMatmul request;
  int device = 0;  // 0: every device, otherwise position + 1
  std::string sizes = "64..4096";
  std::int64_t live_size = 512;  // of a live run
  Device live_device;            // not saved; if it is not timed: the first
  int which = 0;                 // 0 all, 1 best, 2 chosen
  std::set<std::string> chosen;  // kernels, when which == 2
  bool more = false;             // more settings are shown; not saved
  std::string hovered_kernel;    // its curve is highlighted; not saved
  Device shown_device;           // of curves and roofline; not saved
  // Selection of the roofline; not saved.
  std::int64_t roofline_size = 0;  // if not measured: the largest
  std::string roofline_kernel;     // if not measured: the lab's fastest
};

// The user's settings for a training run.
struct RunChoice {
  std::string name;      // empty: the run's own name; saved with the run
  bool shown = true;     // not saved
  bool removed = false;  // until the next training starts or the window closes; then with its file
};

// A request with the model's defaults, including its learning rate.
StartTraining default_training();

// Settings edited while a training runs and not sent to it yet.
struct LiveEdits {
  bool lr = false, epochs = false, shares = false;
  bool any() const { return lr || epochs || shares; }
};

// What "Fit into two minutes" has done.
struct ShortenedTraining {
  StartTraining before, after;
  double seconds = 0;  // that it then takes
};

// The shown part of a step's timeline, as shares of the step.
struct TimelineForm {
  double begin = 0, end = 1;
};

// A step that stays on display while its run records others.
struct HeldStep {
  JobId run = 0;
  std::shared_ptr<const TimelineByLane> step;  // null: none is held
};

struct TrainingForm {
  StartTraining request = default_training();
  std::vector<bool> devices;  // ticked, by position; none: the first device
  std::string shares = "0.5, 0.5";
  bool more = false;          // rarely used settings, expanded
  bool larger_batch = false;  // settings for a larger batch, expanded
  bool devices_open = false;  // list of many devices, expanded
  bool all_devices = false;   // their card shows all, even if they do not fit well
  SettingsOpen settings_open;
  int x_axis = 0;  // 0 step, 1 epoch, 2 time
  // The card of the layers.
  int layer_order = 0;        // as LayerOrder
  bool all_layers = false;    // shows all bars, even if they do not fit well
  bool layer_table = false;   // all numbers, expanded
  int layer_sort_column = 2;  // position; the default is the time
  bool layer_sort_down = true;
  // The card of the timeline; not saved.
  TimelineForm timeline;
  HeldStep held;  // shown instead of the latest one
  bool log_loss = false;
  std::map<JobId, RunChoice> runs;
  JobId renaming = 0;           // not saved, as the next three
  bool rename_appears = false;  // its field is drawn for the first time
  std::vector<JobId> removed;   // can be brought back, last first
  std::map<JobId, Smoothed> smoothed;
  SettingDifferences differences;  // of the listed runs; not saved
  std::string group_by;            // key of a setting, as the next one not saved; empty: no groups
  double smoothing = 0.9;          // weight of the past in the loss
  LiveEdits edits;                 // not saved
  std::optional<ShortenedTraining> shortened;  // not saved
};

// Source of the prediction's step time on one device.
enum class ComputeTime { Measured, Typed, File };

// A request with the defaults, including the model's accuracy steps.
StartScaling default_scaling();

struct ScalingForm {
  RunTabs tabs;
  SettingsOpen settings_open;
  StartScaling request = default_scaling();
  std::vector<bool> devices;  // the largest set, ticked by position in timed_devices()
  std::string counts;         // device counts; empty: 1, 2, 4, ... and the whole set
  int compute_time = 0;       // as ComputeTime
  double compute_ms = 100;
  bool to_step_time = false;    // scrolls to that field, which gets the keyboard; not saved
  double fixed_ms = 0;          // part of the time that is typed in or read
  bool estimate_repeat = true;  // from the model; otherwise repeat_ms
  double repeat_ms = 5;
  double read_ms = 0;
  bool more = false;  // rarely used settings, expanded
  bool bars_by_share = false;
  int shown_mode = 0;  // as ScalingMode, if there are results of both
  // The card of the timeline; not saved.
  TimelineForm timeline;
  int timeline_devices = 0;  // if none is recorded of them: the most
  bool show_table = false;
  bool show_check = false;
};

// The learner's place and answers, by lesson.
struct LearnForm {
  std::string lesson;                          // shown; empty: the first
  int language = 0;                            // of the code, as in kLessonLanguages
  std::map<std::string, std::string> guesses;  // as typed
  std::set<std::string> done;                  // lessons that were measured
  bool resume = false;                         // run the lesson after a restart
  bool typing = false;                         // the guess has the keyboard; not saved
  int reveal = 0;  // frames for which results below a folded form are scrolled to; not saved
  std::map<std::string, double> vary;  // not saved
  std::string read_on;   // lesson whose texts are shown whole though they do not fit; not saved
  int curve_column = 0;  // that the arrow keys change; not saved
  std::map<std::string, int> frame;                    // shown, by lesson and sequence; not saved
  std::map<std::string, std::string> sequence, group;  // shown, by lesson; not saved
  bool class_open = false;                             // the folder's field; not saved
  bool details_open = false;                           // of the sentence; not saved
  std::string class_folder;                            // results of a class
  std::string back;                // lesson left for an experiment's page; not saved
  bool lists_below_texts = false;  // the lessons, which are then not listed elsewhere; not saved
};

struct LogForm {
  bool info = true, warning = true, error = true;
  std::string filter;
  std::set<JobId> open;       // jobs whose settings and notes are shown; not saved
  double copied_until_s = 0;  // when the button stops saying so, Ui::time_s; not saved
  JobId copied_job = 0;       // whose command line was copied; 0: the lines; not saved
};

struct Forms {
  std::string reference;  // ReferenceMachine::key of the machine drawn beside results; empty: none
  LearnForm learn;
  DevicesForm devices;
  MemoryForm memory;
  TransferForm transfers;
  MatmulForm matmul;
  TrainingForm training;
  ScalingForm scaling;
  LogForm log;
};

// Fills the form of the command's page with the command's settings, for "Try it freely".
void fill_form(Forms& forms, const JobCommand& command);

// Display name of a link; the name itself if it is not one of kLinkNames.
std::string link_title(std::string_view name);
// The link that devices like those of the machine usually have between them: that of its GPUs,
// otherwise Ethernet, as between machines.
std::string usual_link(const MachineInfo& machine);

// Settings that a single control represents differently from the request.
inline constexpr int kBothKernels = 2;  // follows those of Kernels: steps alternate between both
int kernel_choice(const StartTraining& request);
void set_kernel_choice(StartTraining& request, int choice);
inline constexpr int kBothModes = 2;  // follows those of ScalingMode
int mode_choice(const StartScaling& request);
void set_mode_choice(StartScaling& request, int choice);
bool has_op(const TransferForm& form, TransferOp op);
void set_op(TransferForm& form, TransferOp op, bool on);

// The page always predicts, and for fewer devices than the command line allows.
RequestField predicted_devices_field();

// Parses "1024,1024", "1024 x 1024" or "[2, 3]"; empty text is a scalar. Throws Error(Usage) naming
// the text.
std::vector<std::int64_t> parse_shape(std::string_view text);
// Returns the name without surrounding blanks; empty if the tensor gets one automatically. Throws
// Error(Usage) if statements could not use it.
std::string tensor_name(std::string_view text);

// Parses shares of the batch, one per device, in any unit: "0.7, 0.3" or "70 30". Throws
// Error(Usage) naming the text and the number of devices.
std::vector<double> parse_shares(std::string_view text, std::size_t devices);

// The devices that train: the ticked ones, or the first.
std::vector<Device> training_devices(const TrainingForm& form, const MachineInfo& machine);

// Returns the command that a form requests. Throws Error(Usage) with a sentence for the user if a
// field cannot be parsed. `live` repeats until stopped.
MakeTensor to_command(const MemoryForm& form, const MachineInfo& machine);
// Number of TransferOp values that this machine offers: those for CPUs, followed by those for GPUs.
inline constexpr std::size_t kCpuTransferOps = 4;
std::size_t transfer_ops(const MachineInfo& machine);
// The same for a live run, which repeats an operation that has a bandwidth over time.
std::size_t live_transfer_ops(const MachineInfo& machine);
// Whether one thread and all threads of a device differ.
bool has_thread_counts(const MachineInfo& machine);
StartTransfers to_command(const TransferForm& form, const MachineInfo& machine, bool live);
// Number of Precision values that this machine offers: tf32 needs a GPU.
std::size_t matmul_precisions(const MachineInfo& machine);
// The form's precision if the machine offers it, otherwise f32.
Precision matmul_precision(const MatmulForm& form, const MachineInfo& machine);
// The devices that can be measured, and the one of a live run.
std::vector<Device> timed_devices(const MachineInfo& machine);
Device live_device(const MatmulForm& form, const MachineInfo& machine);
// Throws Error(Usage) where a size is out of range or its matrices do not fit into the memory of a
// device.
StartMatmul to_command(const MatmulForm& form, const MachineInfo& machine, bool live);
// What is wrong with the list of sizes; empty if nothing is.
std::string transfer_sizes_problem(const TransferForm& form, const MachineInfo& machine);
std::string matmul_sizes_problem(const MatmulForm& form, const MachineInfo& machine);
StartTraining to_command(const TrainingForm& form, const MachineInfo& machine);
// The same for the settings that were edited while a training runs.
ChangeTraining changes_of(const TrainingForm& form, const MachineInfo& machine);
// A step of one device with the form's batch, as measured before.
struct MeasuredStep {
  std::optional<double> seconds;
  double fixed_s = 0;  // the part that does not depend on the batch, as fitted
};
// What is wrong with the step time that is typed in, or with its fixed part; empty if nothing is or
// the time comes from elsewhere. A measurement then predicts nothing.
std::string typed_time_fault(const ScalingForm& form);
// Only predictions without a measurement of their own need `measured`.
StartScaling to_command(const ScalingForm& form, const MachineInfo& machine, bool measure,
                        const MeasuredStep& measured = {});
// The largest set of devices: the ticked ones, or alike_devices().
std::vector<Device> scaling_devices(const ScalingForm& form, const MachineInfo& machine);

// save_forms() adds every remembered value under its key ("training.batch"); load_forms() accepts
// the valid ones and ignores the rest.
void save_forms(const Forms& forms, std::map<std::string, std::string>& out);
void load_forms(Forms& forms, const std::map<std::string, std::string>& saved);
// Resets the choices of devices. They are positions, which mean nothing on other devices than those
// they were made for.
void forget_devices(Forms& forms);

}  // namespace lab::ui
