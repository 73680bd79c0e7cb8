#pragma once
// State of the window, derived from events and the reference machines only. Contains no ImGui: the
// controller updates it before each frame, and the panels read it.
#include <array>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"
#include "ui/model/history.h"
#include "ui/model/lesson_run.h"
#include "ui/model/matmul_results.h"
#include "ui/model/reference_results.h"
#include "ui/model/scaling_results.h"
#include "ui/model/silicon.h"
#include "ui/model/tour_results.h"
#include "ui/model/training_run.h"
#include "ui/model/transfer_results.h"
#include "ui/page.h"

namespace lab::ui {

// Returns the page that shows the results of the command.
Page page_of(const JobCommand& command);

struct RunningJob {
  JobId id = 0;
  Page page = Page::Devices;  // shows the job
  std::string title;
  double started_t_s = 0;
  double done = 0;  // 0..1
  std::string what;
  std::optional<double> left_s;
  bool can_pause = false;  // a training; a probe ends sooner than one could resume it
};

// When a job that has ended ran.
struct JobSpan {
  Page page = Page::Devices;
  double begin_s = 0, end_s = 0;
};

// A statement of the Memory page with its result, or why it failed.
struct StatementOutcome {
  TensorResult result;
  std::string error;  // empty: it has run
};

enum class Phase { Empty, Running, Done, Failed };

struct PageState {
  Phase phase = Phase::Empty;
  JobId job = 0;
  std::optional<JobCommand> command;  // sent again by Retry
  bool cancelled = false;             // Done, but stopped early by the user
  std::string error;                  // one sentence, when Failed
  Errc code = Errc::Internal;         // kind of failure, when Failed
  double seconds = 0;                 // duration of the job, when Done or Failed
  double others = 0;                  // as CoresShared::others, when Done and notable
  // Other programs that used the cores just before the job, the busiest first, if they were read.
  std::vector<std::string> programs = {};
  std::string said;  // last Info line of the job's log
};

inline constexpr std::size_t kMaxStatements = 100;
inline constexpr std::size_t kLogLines = 2000;
inline constexpr std::size_t kJobSpans = 1000;
// The oldest training runs are dropped once either limit is exceeded.
inline constexpr std::size_t kTrainingRuns = 24;
inline constexpr std::size_t kTrainingSteps = 4'000'000;

// One line of the log. What a job says repeatedly is one line with a count.
struct LogEntry {
  std::time_t when = 0;  // wall clock, of the newest repetition
  JobId job = 0;         // 0: not of a job
  Severity severity = Severity::Info;
  std::string text;
  std::string brief = {};  // for a line that is short of room; empty: the text
  int times = 1;
  // Set in the entry that reports a job's end:
  std::optional<double> seconds = {};              // its duration; absent from all other entries
  Page page = Page::Log;                           // shows its results
  double others = 0;                               // as PageState::others
  std::string settings = {};                       // as settings_text()
  std::string command_line = {};                   // as command_line_of()
  std::shared_ptr<const JobCommand> command = {};  // sent again to run the job again
  bool earlier = false;                            // of an earlier session
  bool stopped = false;                            // on request
};

// The kinds of runs whose results a page keeps apart, so that one never replaces another's.
enum class RunKind { Sweep, Live, Together };
inline constexpr std::size_t kRunKinds = 3;
RunKind kind_of(const StartTransfers& request);
RunKind kind_of(const StartMatmul& request);
RunKind kind_of(const StartScaling& request);

// Results of a page's last job, and of the job before it until the last one has results.
template <typename Results>
struct Kept {
  Results current;
  std::optional<Results> previous;
};

// One Kept per kind of run, and the results that the last run of that kind replaced.
template <typename Results>
class KeptRuns {
 public:
  const Kept<Results>& of(RunKind kind) const { return kept_[static_cast<std::size_t>(kind)]; }
  const Kept<Results>& replaced(RunKind kind) const {
    return replaced_[static_cast<std::size_t>(kind)];
  }
  RunKind last() const { return last_; }
  Results& now() { return kept_[static_cast<std::size_t>(last_)].current; }

  template <typename Request>
  void start(const Request& request, double t_s);
  // With `keep_replaced`, what the last run replaces is dropped, and what was replaced before
  // stays.
  void finish(bool keep_replaced = false);
  // Results of an earlier session; of several kinds, the newest are those of the last job.
  void restore(RunKind kind, Results current, Results replaced);

 private:
  std::array<Kept<Results>, kRunKinds> kept_, replaced_;
  RunKind last_ = RunKind::Sweep;  // of the last job
};

class Model {
 public:
  using WallClock = std::function<std::time_t()>;
  explicit Model(
      MachineInfo machine, WallClock clock = [] { return std::time(nullptr); });

  // Events of job 0 come from the window itself: Telemetry, TensorList, a LessonInfo per lesson,
  // and a RungInfo per rung, which lets the Matmul page offer kernels before the first run. Results
  // of a job that never started are ignored.
  void apply(const Event& event);

  // Machines whose results can be drawn beside the current ones.
  void set_references(std::vector<ReferenceMachine> machines);
  const std::vector<ReferenceResults>& references() const { return references_; }

  // Adds runs of earlier sessions before the present ones, oldest first. Their ids are negative. A
  // run keeps its slot if it has one that no newer run has.
  void restore_runs(std::vector<TrainingRun> runs);
  // Removes a run that has ended, if it is there.
  void forget_run(JobId id);

  // The figures of the last tour of an earlier session, until this one has its own.
  void restore_tour(TourResults results);

  // The results of a page's runs in an earlier session, and how the last of them ended; without
  // results, nothing changes.
  void restore_results(KeptRuns<TransferResults> runs, PageState state);
  void restore_results(KeptRuns<MatmulResults> runs, PageState state);
  void restore_results(KeptRuns<ScalingResults> runs, PageState state);

  // Whether the default folders hold Fashion-MNIST; true until it is known.
  void set_fashion_found(bool found) { fashion_found_ = found; }
  bool fashion_found() const { return fashion_found_; }

  // Adds lines of earlier sessions before the present ones, oldest first, under new, negative
  // numbers of jobs.
  void restore_log(std::vector<LogEntry> lines);

  // Reports a file that the window has written, which is also logged.
  void file_saved(std::string path);
  struct SavedFile {
    std::string path;
    std::int64_t number = 0;  // of files saved so far
  };
  const SavedFile& saved() const { return saved_; }

  // Adds a statement that cannot be read to statements() and the log, with the parser's error.
  void note_unreadable(const std::string& statement, std::string error);

  // Reason why a requested restart of the program failed; empty if none was requested.
  void refuse_restart(std::string why) { restart_refusal_ = std::move(why); }
  const std::string& restart_refusal() const { return restart_refusal_; }

  const MachineInfo& machine() const { return machine_; }
  const std::vector<Device>& devices() const { return devices_; }
  // The cores and caches of machine(); never null.
  const std::shared_ptr<const Silicon>& silicon() const { return silicon_; }

  // History of one of devices(); an empty history for any other device.
  const DeviceHistory& history(Device device) const;
  const MemoryHistory& memory(Device device) const;
  // Every NVIDIA GPU seen so far; empty before the first telemetry.
  const std::vector<GpuRecord>& gpus() const { return gpus_; }
  // nullptr if no GPU of gpus() has this address.
  const GpuRecord* gpu(const std::string& pci_bus_id) const;
  double now_s() const { return now_s_; }  // time of the newest event
  std::time_t wall_time() const { return clock_(); }
  double lab_cpu() const { return lab_cpu_; }
  const CoreUse& core_use() const { return core_use_; }
  std::int64_t lab_rss_bytes() const { return lab_rss_bytes_; }
  // Which programs use the cores; nullptr if that was not read in the last seconds.
  const ProgramUse* programs() const { return programs_ ? &*programs_ : nullptr; }

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  // Outcomes of statements on the Memory page, oldest first; at most kMaxStatements.
  const std::deque<StatementOutcome>& statements() const { return statements_; }
  // The chapters' lessons, in the order of the Learn page.
  const std::vector<LessonInfo>& lessons() const { return lessons_; }
  // The scaling model against published figures.
  const ScalingComparison& scaling_comparison() const { return scaling_comparison_; }
  // The lesson's last run; nullptr if it has not been run.
  const LessonRun* lesson_run(const std::string& name) const;
  const std::optional<RunningJob>& job() const { return job_; }
  // Jobs that have ended, oldest first; at most kJobSpans.
  const std::deque<JobSpan>& job_spans() const { return job_spans_; }
  const PageState& state(Page page) const { return states_[static_cast<std::size_t>(page)]; }
  std::int64_t jobs_started() const { return jobs_started_; }

  const std::vector<RungInfo>& rungs() const { return rungs_; }  // of all devices, ladder order
  const Kept<TransferResults>& transfers() const { return transfers_.of(RunKind::Sweep); }
  const Kept<MatmulResults>& matmul() const { return matmul_.of(RunKind::Sweep); }
  const KeptRuns<TransferResults>& transfer_runs() const { return transfers_; }
  const KeptRuns<MatmulResults>& matmul_runs() const { return matmul_; }
  const Kept<ScalingResults>& scaling() const { return scaling_.of(RunKind::Sweep); }
  const KeptRuns<ScalingResults>& scaling_runs() const { return scaling_; }
  const Kept<TourResults>& tour() const { return tour_; }
  // The tour before the current one; nullptr if there is none.
  const TourResults* tour_before() const {
    if (tour_.previous) return &*tour_.previous;
    return tour_before_ ? &*tour_before_ : nullptr;
  }
  const std::deque<TrainingRun>& runs() const { return runs_; }      // oldest first, last is newest
  const std::vector<TrainingRate>& rates() const { return rates_; }  // probed, one per training
  const std::deque<LogEntry>& log() const { return log_; }
  // Lines of this session so far, with repetitions.
  std::int64_t logged() const { return logged_; }

 private:
  void on(const Event& e, const JobStarted& p);
  void on(const Event& e, const JobFinished& p);
  void on(const Event& e, const CoresShared& p);
  void on(const Event& e, const Progress& p);
  void on(const Event& e, const LogLine& p);
  void on(const Event& e, const Skipped& p);
  void on(const Event& e, const RungFailed& p);
  void on(const Event& e, const MatmulSample& p);
  void on(const Event& e, const PeakSample& p);
  void on(const Event& e, const CeilingsMeasured& p);
  void on(const Event& e, const RungInfo& p);
  void on(const Event& e, const TogetherSample& p);
  void on(const Event& e, const TogetherSpeedup& p);
  void on(const Event& e, const TransferSample& p);
  void on(const Event& e, const TransferFit& p);
  void on(const Event& e, const TransferTimeline& p);
  void on(const Event& e, const TransferPayoff& p);
  void on(const Event& e, const ScalingPoint& p);
  void on(const Event& e, const ScalingPrediction& p);
  void on(const Event& e, const ScalingComparison& p);
  void on(const Event& e, const TensorList& p);
  void on(const Event& e, const TensorResult& p);
  void on(const Event& e, const LessonInfo& p);
  void on(const Event& e, const LessonEvent& p);
  void on(const Event& e, const TourFigure& p);
  void on(const Event& e, const Telemetry& p);
  void on(const Event& e, const TrainingRate& p);
  template <typename Part>
  void on_training(const Event& e, const Part& p);
  void on(const Event& e, const TrainingStarted& p);
  void on(const Event& e, const StepDone& p) { on_training(e, p); }
  void on(const Event& e, const EpochDone& p) { on_training(e, p); }
  void on(const Event& e, const Predictions& p) { on_training(e, p); }
  void on(const Event& e, const Insight& p) { on_training(e, p); }
  void on(const Event& e, const Confusion& p) { on_training(e, p); }
  void on(const Event& e, const TrainingProfile& p) { on_training(e, p); }
  void on(const Event& e, const TrainingChanged& p);
  void on(const Event& e, const StepTimeline& p);
  void on(const Event& e, const TrainingDone& p) { on_training(e, p); }

  GpuRecord& gpu_at(const std::string& pci_bus_id);
  PageState& state_of(Page page) { return states_[static_cast<std::size_t>(page)]; }
  bool is_job(const Event& e, Page page) const { return e.job != 0 && state(page).job == e.job; }
  void start_scaling(const StartScaling& request, double t_s);
  void finish_scaling(Outcome outcome);
  void finish_tour(Outcome outcome);
  void date_results();  // of the running job
  void add_statement(StatementOutcome outcome);
  void finish_statements(const JobFinished& p);
  // What the running job has measured, in a few words.
  std::string result_of_job();
  bool is_job_unsteady();
  std::string result_of_lesson();
  std::string result_of_statements();
  void add_end(JobId job, const JobFinished& p, const std::string& result, bool unsteady);
  LogEntry& add_log(JobId job, Severity severity, std::string text);
  // LogEntry::brief of a job that is done.
  std::string brief_end(JobId job, bool unsteady) const;
  // The line of a job of the Memory page that is done.
  std::string end_of_statements(const std::string& result) const;
  bool warned(JobId job) const;  // whether the log holds a warning of the job
  bool diverged(JobId job) const;
  void evict_old_runs();
  bool is_free(int slot) const;
  int free_slot() const;  // as TrainingRun::slot()

  WallClock clock_;
  std::string restart_refusal_;
  MachineInfo machine_;
  std::shared_ptr<const Silicon> silicon_;
  std::vector<Device> devices_;
  std::vector<DeviceHistory> histories_;  // parallel to devices_
  std::vector<MemoryHistory> memories_;   // parallel to devices_
  std::vector<GpuRecord> gpus_;
  SavedFile saved_;
  bool fashion_found_ = true;
  double now_s_ = 0;
  double lab_cpu_ = 0;
  CoreUse core_use_;
  std::int64_t lab_rss_bytes_ = 0;
  std::optional<ProgramUse> programs_;
  double programs_read_s_ = 0;
  std::vector<TensorInfo> tensors_;
  std::deque<StatementOutcome> statements_;
  std::size_t statements_run_ = 0;  // of the running job
  ScalingComparison scaling_comparison_;
  std::vector<LessonInfo> lessons_;
  std::map<std::string, LessonRun> lesson_runs_;
  std::optional<RunningJob> job_;
  std::deque<JobSpan> job_spans_;
  std::array<PageState, kPages> states_;
  std::int64_t jobs_started_ = 0;
  std::vector<RungInfo> rungs_;
  std::vector<ReferenceResults> references_;
  KeptRuns<TransferResults> transfers_;
  KeptRuns<MatmulResults> matmul_;
  KeptRuns<ScalingResults> scaling_;
  Kept<TourResults> tour_;
  std::optional<TourResults> tour_before_;
  std::deque<TrainingRun> runs_;
  std::vector<TrainingRate> rates_;
  std::deque<LogEntry> log_;
  std::int64_t logged_ = 0;
};

}  // namespace lab::ui
