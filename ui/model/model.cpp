#include "ui/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "compute/core/events/program_text.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/core/units.h"
#include "ui/model/job_result.h"
#include "ui/model/job_settings.h"
#include "ui/model/training_estimate.h"

namespace lab::ui {
namespace {

// Prepares for a new job's results; the previous ones stay on display until the new job has some.
template <typename Results, typename Request>
void start(Kept<Results>& kept, const Request& request, double t_s) {
  if (!kept.current.empty()) kept.previous = std::move(kept.current);
  kept.current = Results{};
  kept.current.request = request;
  kept.current.started_t_s = t_s;
}

// A job without results leaves the page as it was.
template <typename Results>
void finish(Kept<Results>& kept) {
  if (kept.current.empty() && kept.previous) kept.current = std::move(*kept.previous);
  kept.previous.reset();
}

}  // namespace

RunKind kind_of(const StartTransfers& request) {
  return request.live ? RunKind::Live : RunKind::Sweep;
}

RunKind kind_of(const StartMatmul& request) {
  if (request.together) return RunKind::Together;
  return request.live ? RunKind::Live : RunKind::Sweep;
}

RunKind kind_of(const StartScaling&) {
  return RunKind::Sweep;
}

template <typename Results>
template <typename Request>
void KeptRuns<Results>::start(const Request& request, double t_s) {
  last_ = kind_of(request);
  ui::start(kept_[static_cast<std::size_t>(last_)], request, t_s);
}

template <typename Results>
void KeptRuns<Results>::finish(bool keep_replaced) {
  const auto i = static_cast<std::size_t>(last_);
  Kept<Results>& kept = kept_[i];
  if (!kept.current.empty() && kept.previous) {
    if (!keep_replaced) replaced_[i].current = std::move(*kept.previous);
    kept.previous.reset();
  }
  ui::finish(kept);
}

template <typename Results>
void KeptRuns<Results>::restore(RunKind kind, Results current, Results replaced) {
  const auto i = static_cast<std::size_t>(kind);
  const Results& newest = kept_[static_cast<std::size_t>(last_)].current;
  const bool newer = newest.empty() || newest.measured_at < current.measured_at;
  if (!current.empty() && newer) last_ = kind;
  kept_[i].current = std::move(current);
  replaced_[i].current = std::move(replaced);
}

template class KeptRuns<TransferResults>;
template class KeptRuns<MatmulResults>;
template class KeptRuns<ScalingResults>;

namespace {

template <typename History>
const History& history_at(const std::vector<Device>& devices, const std::vector<History>& all,
                          Device device) {
  static const History kEmpty;
  const auto found = std::find(devices.begin(), devices.end(), device);
  return found == devices.end() ? kEmpty : all[static_cast<std::size_t>(found - devices.begin())];
}

// A command without an overload here does not compile.
struct PageOf {
  Page operator()(const StartTransfers&) const { return Page::Transfers; }
  Page operator()(const StartMatmul&) const { return Page::Matmul; }
  Page operator()(const StartTraining&) const { return Page::Training; }
  Page operator()(const StartScaling&) const { return Page::Scaling; }
  Page operator()(const MakeTensor&) const { return Page::Memory; }
  Page operator()(const CopyTensor&) const { return Page::Memory; }
  Page operator()(const AddTensors&) const { return Page::Memory; }
  Page operator()(const FreeTensor&) const { return Page::Memory; }
  Page operator()(const RunTensorCode&) const { return Page::Memory; }
  Page operator()(const StartLesson&) const { return Page::Learn; }
  Page operator()(const CompareClass&) const { return Page::Learn; }
  Page operator()(const StartTour&) const { return Page::Tour; }
  Page operator()(const FetchData&) const { return Page::Training; }
};

}  // namespace

Page page_of(const JobCommand& command) {
  return std::visit(PageOf{}, command);
}

Model::Model(MachineInfo machine, WallClock clock)
    : clock_(std::move(clock)),
      machine_(std::move(machine)),
      silicon_(std::make_shared<const Silicon>(silicon_of(machine_.devices))) {
  for (const DeviceInfo& info : machine_.devices) {
    devices_.push_back(info.device);
    histories_.emplace_back().last.device = info.device;
    memories_.emplace_back();
  }
}

const DeviceHistory& Model::history(Device device) const {
  return history_at(devices_, histories_, device);
}

const MemoryHistory& Model::memory(Device device) const {
  return history_at(devices_, memories_, device);
}

void Model::apply(const Event& event) {
  now_s_ = std::max(now_s_, event.t_s);
  std::visit([&](const auto& payload) { on(event, payload); }, event.payload);
}

void Model::file_saved(std::string path) {
  apply({0, now_s_, LogLine{Severity::Info, trf("saved {}", path)}});
  saved_ = {std::move(path), saved_.number + 1};
}

void Model::set_references(std::vector<ReferenceMachine> machines) {
  references_.clear();
  for (ReferenceMachine& machine : machines) references_.emplace_back(std::move(machine));
}

void Model::restore_runs(std::vector<TrainingRun> runs) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!is_free(run->slot())) run->set_slot(free_slot());
    runs_.push_front(std::move(*run));
  }
  evict_old_runs();
}

void Model::restore_log(std::vector<LogEntry> lines) {
  std::map<JobId, JobId> renumbered;
  for (auto line = lines.rbegin(); line != lines.rend() && log_.size() < kLogLines; ++line) {
    if (line->job != 0) {
      const auto next = -static_cast<JobId>(renumbered.size()) - 1;
      line->job = renumbered.try_emplace(line->job, next).first->second;
    }
    line->earlier = true;
    log_.push_front(std::move(*line));
  }
}

void Model::restore_tour(TourResults results) {
  if (tour_.current.empty()) tour_.current = std::move(results);
}

namespace {

template <typename Results>
void take_over(KeptRuns<Results>&& from, PageState&& state, KeptRuns<Results>& runs,
               PageState& page) {
  if (from.of(from.last()).current.empty()) return;
  runs = std::move(from);
  page = std::move(state);
}

}  // namespace

void Model::restore_results(KeptRuns<TransferResults> runs, PageState state) {
  take_over(std::move(runs), std::move(state), transfers_, state_of(Page::Transfers));
}

void Model::restore_results(KeptRuns<MatmulResults> runs, PageState state) {
  take_over(std::move(runs), std::move(state), matmul_, state_of(Page::Matmul));
}

void Model::restore_results(KeptRuns<ScalingResults> runs, PageState state) {
  take_over(std::move(runs), std::move(state), scaling_, state_of(Page::Scaling));
}

void Model::on(const Event& e, const JobStarted& p) {
  ++jobs_started_;
  statements_run_ = 0;
  const Page page = page_of(p.command);
  const auto* training = std::get_if<StartTraining>(&p.command);
  job_ = RunningJob{.id = e.job,
                    .page = page,
                    .title = p.title,
                    .started_t_s = e.t_s,
                    .done = 0,
                    .what = {},
                    .left_s = {},
                    .can_pause = training != nullptr && !training->probe};
  state_of(page) = PageState{.phase = Phase::Running,
                             .job = e.job,
                             .command = p.command,
                             .cancelled = false,
                             .error = {},
                             .code = Errc::Internal,
                             .seconds = 0,
                             .programs = {},
                             .said = {}};
  if (programs_) state_of(page).programs = disturbers(*programs_);
  if (const auto* c = std::get_if<StartTransfers>(&p.command)) transfers_.start(*c, e.t_s);
  if (const auto* c = std::get_if<StartMatmul>(&p.command)) matmul_.start(*c, e.t_s);
  if (const auto* c = std::get_if<StartScaling>(&p.command)) start_scaling(*c, e.t_s);
  if (const auto* c = std::get_if<StartTour>(&p.command)) start(tour_, *c, e.t_s);
  if (const auto* c = std::get_if<StartLesson>(&p.command)) {
    auto& run = lesson_runs_[c->lesson];
    std::optional<LessonClass> others = std::move(run.others);
    run = LessonRun(*c, e.job);
    run.others = std::move(others);
  }
  if (const auto* c = std::get_if<StartTraining>(&p.command); c != nullptr && !c->probe) {
    runs_.emplace_back(e.job, *c);
    evict_old_runs();
    runs_.back().set_slot(free_slot());
  }
}

void Model::on(const Event& e, const JobFinished& p) {
  if (!job_ || job_->id != e.job) return;
  PageState& state = state_of(job_->page);
  state.phase = p.outcome == Outcome::Failed ? Phase::Failed : Phase::Done;
  state.cancelled = p.outcome == Outcome::Cancelled;
  state.error = p.error;
  state.code = p.code;
  state.seconds = p.seconds;
  const std::string result = p.outcome == Outcome::Failed ? "" : result_of_job();
  const bool unsteady = p.outcome == Outcome::Done && is_job_unsteady();
  date_results();
  if (job_->page == Page::Transfers) transfers_.finish();
  if (job_->page == Page::Matmul) matmul_.finish();
  if (job_->page == Page::Scaling) finish_scaling(p.outcome);
  if (job_->page == Page::Tour) {
    for (std::string& line : results_by_device(tour_.current)) {
      add_log(e.job, Severity::Info, std::move(line));
    }
    finish_tour(p.outcome);
  }
  if (job_->page == Page::Memory) finish_statements(p);
  if (!runs_.empty() && runs_.back().id() == e.job && runs_.back().steps().size() == 0) {
    runs_.pop_back();
  }
  add_end(e.job, p, result, unsteady);
  job_spans_.push_back({job_->page, job_->started_t_s, e.t_s});
  if (job_spans_.size() > kJobSpans) job_spans_.pop_front();
  job_.reset();
}

void Model::on(const Event& e, const CoresShared& p) {
  constexpr double kMostOthers = 0.9;
  if (!job_ || job_->id != e.job || !p.notable()) return;
  state_of(job_->page).others = p.others;
  const auto& command = state(Page::Training).command;
  const auto* training = command ? std::get_if<StartTraining>(&*command) : nullptr;
  if (job_->page == Page::Training && training != nullptr && training->probe && !rates_.empty()) {
    // A quiet machine would give it all of the time.
    TrainingRate& rate = rates_.back();
    const double alone = rate.images_per_s / (1 - std::min(p.others, kMostOthers));
    rate.fast_images_per_s = std::max(rate.fast_images_per_s, alone);
    if (rate.slow_images_per_s <= 0) rate.slow_images_per_s = rate.images_per_s;
  }
  const auto lesson =
      std::ranges::find(lesson_runs_, e.job, [](const auto& run) { return run.second.job; });
  if (lesson != lesson_runs_.end()) lesson->second.others_used = p.others;
  if (job_->page == Page::Transfers) transfers_.now().others = p.others;
  if (job_->page == Page::Matmul) matmul_.now().others = p.others;
  if (job_->page == Page::Scaling && scaling_.now().request.measure) {
    scaling_.now().others = p.others;
  }
  if (!runs_.empty() && runs_.back().id() == e.job) runs_.back().add(p);
}

void Model::on(const Event& e, const Progress& p) {
  if (!job_ || job_->id != e.job) return;
  job_->done = std::clamp(p.done, 0.0, 1.0);
  job_->what = p.what;
  job_->left_s = p.left_s;
}

void Model::on(const Event& e, const LogLine& p) {
  if (job_ && job_->id == e.job && p.severity == Severity::Info) {
    state_of(job_->page).said = p.text;
    // A job of the Memory page says it again at its end; a tour's parts are not jobs of their own.
    if (job_->page == Page::Memory || job_->page == Page::Tour) return;
  }
  add_log(e.job, p.severity, p.text);
}

void Model::on(const Event& e, const Skipped& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().skipped.push_back(p);
  if (is_job(e, Page::Transfers)) transfers_.now().skipped.push_back(p);
  if (is_job(e, Page::Scaling)) scaling_.now().skipped.push_back(p);
  add_log(e.job, Severity::Info, trf("Skipped {}: {}", p.what, tr(p.reason)));
}

void Model::on(const Event& e, const RungFailed& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().failed.push_back(p);
  add_log(e.job, Severity::Error,
          trf("{} in {} at {} on {} failed: {}", p.kernel, to_string(p.dtype), p.n,
              to_string(p.device), p.reason));
}

void Model::on(const Event& e, const MatmulSample& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().add(p, e.t_s);
}

void Model::on(const Event& e, const PeakSample& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().add(p);
}

void Model::on(const Event& e, const CeilingsMeasured& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().add(p);
}

void Model::on(const Event&, const RungInfo& p) {
  for (RungInfo& known : rungs_) {
    if (known.device == p.device && known.name == p.name) {
      known = p;
      return;
    }
  }
  rungs_.push_back(p);
}

void Model::on(const Event& e, const TogetherSample& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().together.push_back(p);
}

void Model::on(const Event& e, const TogetherSpeedup& p) {
  if (is_job(e, Page::Matmul)) matmul_.now().speedups.push_back(p);
}

void Model::on(const Event& e, const TransferSample& p) {
  if (!is_job(e, Page::Transfers)) return;
  constexpr double kAround_s = 2;  // a reading or two
  const bool by_cores = p.from.kind == DeviceKind::Cpu || p.to.kind == DeviceKind::Cpu;
  transfers_.now().add(p, e.t_s, by_cores ? core_use_.others_share(kAround_s) : 0);
}

void Model::on(const Event& e, const TransferFit& p) {
  if (is_job(e, Page::Transfers)) transfers_.now().add(p);
}

void Model::on(const Event& e, const TransferTimeline& p) {
  if (is_job(e, Page::Transfers)) transfers_.now().timelines.push_back(p);
}

void Model::on(const Event& e, const TransferPayoff& p) {
  if (is_job(e, Page::Transfers)) transfers_.now().payoffs.push_back(p);
}

void Model::on(const Event& e, const ScalingPoint& p) {
  if (is_job(e, Page::Scaling)) scaling_.now().add(p);
}

void Model::on(const Event& e, const ScalingPrediction& p) {
  if (is_job(e, Page::Scaling)) scaling_.now().add(p);
}

void Model::on(const Event& e, const StepTimeline& p) {
  if (is_job(e, Page::Scaling)) return scaling_.now().add(p);
  on_training(e, p);
}

void Model::on(const Event&, const ScalingComparison& p) {
  scaling_comparison_ = p;
}

void Model::on(const Event& e, const TensorResult& p) {
  if (!is_job(e, Page::Memory)) return;
  ++statements_run_;
  add_statement({p, {}});
}

void Model::add_statement(StatementOutcome outcome) {
  statements_.push_back(std::move(outcome));
  if (statements_.size() > kMaxStatements) statements_.pop_front();
}

// The statement after those that have run is the one that failed.
void Model::finish_statements(const JobFinished& p) {
  const auto& command = state(Page::Memory).command;
  const auto* code = command ? std::get_if<RunTensorCode>(&*command) : nullptr;
  if (code == nullptr || p.outcome != Outcome::Failed) return;
  if (statements_run_ >= code->statements.size()) return;
  TensorResult failed;
  failed.statement = code->statements[statements_run_].text;
  add_statement({std::move(failed), p.error});
}

namespace {

// The parser's error begins with the statement, in the quotation marks of the language; it is shown
// beside the statement.
void drop_statement(std::string& error, const std::string& statement) {
  constexpr std::size_t kMark = 4;  // bytes of a quotation mark, at most
  const std::size_t at = error.find(statement);
  if (statement.empty() || at > kMark) return;
  const std::size_t end = at + statement.size();
  for (const std::string_view separator : {", ", "，", "、"}) {
    const std::size_t comma = error.find(separator, end);
    if (comma > end + kMark) continue;
    error.erase(0, comma + separator.size());
    return;
  }
}

}  // namespace

void Model::note_unreadable(const std::string& statement, std::string error) {
  drop_statement(error, printable(trimmed(statement)));
  TensorResult unreadable;
  unreadable.statement = statement;
  LogEntry& entry = add_log(0, Severity::Error, trf("{} failed: {}", statement, error));
  entry.brief = trf("{} failed", statement);
  add_statement({std::move(unreadable), std::move(error)});
}

void Model::on(const Event&, const LessonInfo& p) {
  lessons_.push_back(p);
}

void Model::on(const Event& e, const LessonEvent& p) {
  if (is_job(e, Page::Learn)) lesson_runs_[p.lesson].add(p.result);
}

void Model::on(const Event& e, const TourFigure& p) {
  if (!is_job(e, Page::Tour)) return;
  tour_.current.add(p);
  if (p.question != TourQuestion::Training || !p.complete || p.value <= 0) return;
  // The tour trains with the default settings.
  StartTraining request;
  request.devices = {p.device};
  const bool probed = std::ranges::any_of(rates_, [&](const TrainingRate& rate) {
    return rate.test_images_per_s > 0 && equally_fast(rate.request, request);
  });
  if (!probed) on(e, TrainingRate{std::move(request), p.value, 0});
}

const LessonRun* Model::lesson_run(const std::string& name) const {
  const auto found = lesson_runs_.find(name);
  return found == lesson_runs_.end() ? nullptr : &found->second;
}

void Model::on(const Event& e, const TensorList& p) {
  tensors_ = p.tensors;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    std::int64_t used = 0;
    for (const TensorInfo& tensor : tensors_) {
      if (tensor.device == devices_[i]) used += tensor.bytes;
    }
    memories_[i].add(e.t_s, used, 0);
  }
}

const GpuRecord* Model::gpu(const std::string& pci_bus_id) const {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuRecord& gpu) {
    return gpu.facts.pci_bus_id == pci_bus_id;
  });
  return found == gpus_.end() ? nullptr : &*found;
}

GpuRecord& Model::gpu_at(const std::string& pci_bus_id) {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuRecord& gpu) {
    return gpu.facts.pci_bus_id == pci_bus_id;
  });
  if (found != gpus_.end()) return *found;
  gpus_.emplace_back().facts.pci_bus_id = pci_bus_id;
  return gpus_.back();
}

void Model::on(const Event& e, const Telemetry& p) {
  for (const GpuFacts& facts : p.gpu_facts) gpu_at(facts.pci_bus_id).facts = facts;
  for (const GpuTelemetry& reading : p.gpus) gpu_at(reading.pci_bus_id).history.add(reading);
  lab_cpu_ = p.lab_cpu;
  if (p.others) core_use_.add(e.t_s, p.lab_cpu, *p.others);
  lab_rss_bytes_ = p.lab_rss_bytes;
  constexpr double kProgramsKept_s = 6;  // three readings
  if (p.programs) {
    programs_ = p.programs;
    programs_read_s_ = e.t_s;
  } else if (e.t_s - programs_read_s_ > kProgramsKept_s) {
    programs_.reset();
  }
  for (const DeviceTelemetry& reading : p.devices) {
    const auto found = std::find(devices_.begin(), devices_.end(), reading.device);
    if (found == devices_.end()) continue;
    const auto i = static_cast<std::size_t>(found - devices_.begin());
    histories_[i].add(reading, machine_.devices[i].memory_total_bytes);
    memories_[i].add(e.t_s, reading.lab_used_bytes, reading.lab_peak_bytes);
  }
}

namespace {

// A run that only predicted may replace the prediction before it, but no measurement that neither
// of them shows.
bool keeps_measurement(const ScalingResults& replaced, const Kept<ScalingResults>& kept) {
  const ScalingResults& now = kept.current;
  if (now.request.measure || !kept.previous || !replaced.has_measured()) return false;
  const bool only_there = replaced.measured_t_s != now.measured_t_s;
  return only_there && (now.has_measured() || !kept.previous->has_measured());
}

}  // namespace

void Model::start_scaling(const StartScaling& request, double t_s) {
  scaling_.start(request, t_s);
  ScalingResults& now = scaling_.now();
  now.measured_with = request;
  now.measured_t_s = t_s;
  if (const auto& previous = scaling().previous; !request.measure && previous) {
    now.keep_measured(*previous);
  }
}

// A prediction-only experiment starts with the earlier points, so it is not empty when it fails.
void Model::finish_scaling(Outcome outcome) {
  ScalingResults& now = scaling_.now();
  const bool nothing_new = !now.request.measure && !now.has_prediction();
  if (outcome != Outcome::Done && nothing_new && scaling().previous) now = {};
  scaling_.finish(keeps_measurement(scaling_.replaced(RunKind::Sweep).current, scaling()));
}

void Model::date_results() {
  const auto date = [&](auto& results) {
    if (!results.empty()) results.measured_at = clock_();
  };
  if (job_->page == Page::Transfers) date(transfers_.now());
  if (job_->page == Page::Matmul) date(matmul_.now());
  if (job_->page == Page::Scaling && scaling_.now().request.measure) date(scaling_.now());
}

void Model::finish_tour(Outcome outcome) {
  TourResults& now = tour_.current;
  if (!now.empty()) {
    now.measured = clock_();
    now.others = state(Page::Tour).others;
    if (outcome != Outcome::Done && tour_.previous) {
      now.complete_from(*tour_.previous);
      now.others = std::max(now.others, tour_.previous->others);
    }
    const bool comparable = tour_.previous && tour_.previous->older.empty();
    if (outcome == Outcome::Done && comparable) tour_before_ = std::move(tour_.previous);
  }
  finish(tour_);
}

// A newer rate of the same training replaces the older one.
void Model::on(const Event& e, const TrainingRate& p) {
  if (is_job(e, Page::Training)) {
    state_of(Page::Training).said = trf("{} images/s", format_si(p.images_per_s, ""));
  }
  std::erase_if(rates_,
                [&](const TrainingRate& known) { return equally_fast(known.request, p.request); });
  rates_.push_back(p);
}

template <typename Part>
void Model::on_training(const Event& e, const Part& p) {
  if (is_job(e, Page::Training) && !runs_.empty() && runs_.back().id() == e.job) {
    runs_.back().add(p);
  }
}

void Model::on(const Event& e, const TrainingStarted& p) {
  on_training(e, p);
  if (!runs_.empty() && runs_.back().id() == e.job) runs_.back().reserve(p.total_steps);
}

void Model::on(const Event& e, const TrainingChanged& p) {
  on_training(e, p);
  add_log(e.job, Severity::Info, trf("After step {}: {}", p.step, change_text(p)));
}

std::string Model::result_of_job() {
  switch (job_->page) {
    case Page::Tour: return result_of(tour_.current);
    case Page::Transfers: return result_of(transfers_.now());
    case Page::Matmul: return result_of(matmul_.now(), rungs_);
    case Page::Scaling: return result_of(scaling_.now());
    case Page::Training:
      return !runs_.empty() && runs_.back().id() == job_->id ? result_of(runs_.back())
                                                             : state(Page::Training).said;
    case Page::Learn: return result_of_lesson();
    case Page::Memory: return result_of_statements();
    default: return "";
  }
}

// Whether nothing should be concluded from that.
bool Model::is_job_unsteady() {
  switch (job_->page) {
    case Page::Tour: return is_unsteady(tour_.current);
    case Page::Transfers: return is_unsteady(transfers_.now());
    case Page::Matmul: return is_unsteady(matmul_.now());
    case Page::Scaling: return is_unsteady(scaling_.now());
    case Page::Training:
      return !runs_.empty() && runs_.back().id() == job_->id && runs_.back().is_speed_disturbed();
    case Page::Learn: {
      const auto& command = state(Page::Learn).command;
      const auto* lesson = command ? std::get_if<StartLesson>(&*command) : nullptr;
      return lesson != nullptr && is_unsteady(lesson_runs_[lesson->lesson]);
    }
    default: return false;
  }
}

std::string Model::result_of_lesson() {
  const auto& command = state(Page::Learn).command;
  const auto* lesson = command ? std::get_if<StartLesson>(&*command) : nullptr;
  return lesson == nullptr ? state(Page::Learn).said : result_of(lesson_runs_[lesson->lesson]);
}

// What the last statement made, or what a job of the form reported.
std::string Model::result_of_statements() {
  if (statements_run_ == 0) return state(Page::Memory).said;
  const TensorResult& last = statements_.back().result;
  return last.tensor ? summary_of(last) : last.answer;
}

// "X = ones(2, 3): 24 B on cpu:0"; what a job of the form reports is a sentence of its own.
std::string Model::end_of_statements(const std::string& result) const {
  if (result.empty()) return trf("{} done", job_->title);
  return statements_run_ == 0 ? result : fmt::format("{}: {}", job_->title, result);
}

// The status bar shows nothing of long results, which are on their page.
std::string Model::brief_end(JobId job, bool unsteady) const {
  const std::string& title = job_->title;
  if (job_->page != Page::Tour && job_->page != Page::Learn) return {};
  if (warned(job)) return trf("{} done with warnings", title);
  if (!unsteady) return trf("{} done", title);
  if (job_->page == Page::Learn) return trf("{} done, too unsteady to conclude from", title);
  const auto figures = std::ranges::count_if(
      tour_.current.figures, [](const TourFigure& figure) { return is_unsteady(figure); });
  return figures == 1 ? trf("{} done, 1 figure unsteady", title)
                      : trf("{} done, {} figures unsteady", title, figures);
}

void Model::add_end(JobId job, const JobFinished& p, const std::string& result, bool unsteady) {
  std::string brief = p.outcome == Outcome::Done ? brief_end(job, unsteady) : "";
  const auto& command = state(job_->page).command;
  if (p.outcome == Outcome::Failed && command && std::holds_alternative<RunTensorCode>(*command)) {
    brief = trf("{} failed", job_->title);  // the history says why
  }
  const auto add = [&](Severity severity, std::string text) {
    LogEntry& entry = add_log(job, severity, std::move(text));
    entry.brief = brief;
    entry.seconds = p.seconds;
    entry.page = job_->page;
    entry.others = state(job_->page).others;
    entry.stopped = p.outcome == Outcome::Cancelled;
    if (command) {
      entry.settings = settings_text(*command);
      entry.command_line = command_line_of(*command, machine_);
      if (can_be_repeated(*command)) entry.command = std::make_shared<const JobCommand>(*command);
    }
  };
  switch (p.outcome) {
    case Outcome::Done:
      if (warned(job) || diverged(job)) {
        return add(Severity::Warning, result.empty()
                                          ? trf("{} done with warnings", job_->title)
                                          : trf("{} done with warnings: {}", job_->title, result));
      }
      if (job_->page == Page::Memory) return add(Severity::Info, end_of_statements(result));
      return add(
          unsteady ? Severity::Warning : Severity::Info,
          result.empty() ? trf("{} done", job_->title) : trf("{} done: {}", job_->title, result));
    case Outcome::Cancelled:
      return add(Severity::Info, result.empty()
                                     ? trf("{} stopped on request", job_->title)
                                     : trf("{} stopped on request: {}", job_->title, result));
    case Outcome::Failed: return add(Severity::Error, trf("{} failed: {}", job_->title, p.error));
  }
}

bool Model::diverged(JobId job) const {
  return !runs_.empty() && runs_.back().id() == job && runs_.back().diverged_at().has_value();
}

bool Model::warned(JobId job) const {
  return std::ranges::any_of(log_, [job](const LogEntry& entry) {
    return entry.job == job && entry.severity == Severity::Warning;
  });
}

LogEntry& Model::add_log(JobId job, Severity severity, std::string text) {
  const std::time_t now = clock_();
  ++logged_;
  for (auto entry = log_.rbegin(); job != 0 && entry != log_.rend() && entry->job == job; ++entry) {
    if (entry->severity != severity || entry->text != text) continue;
    entry->when = now;
    ++entry->times;
    return *entry;
  }
  if (log_.size() == kLogLines) log_.pop_front();
  return log_.emplace_back(
      LogEntry{.when = now, .job = job, .severity = severity, .text = std::move(text)});
}

bool Model::is_free(int slot) const {
  return slot >= 0 && slot < static_cast<int>(kTrainingRuns) &&
         std::ranges::none_of(runs_, [&](const TrainingRun& run) { return run.slot() == slot; });
}

int Model::free_slot() const {
  std::set<int> taken;
  for (const TrainingRun& run : runs_) taken.insert(run.slot());
  int slot = 0;
  while (taken.contains(slot)) ++slot;
  return slot;
}

void Model::forget_run(JobId id) {
  std::erase_if(runs_, [id](const TrainingRun& run) { return run.id() == id; });
}

void Model::evict_old_runs() {
  std::size_t steps = 0;
  for (const TrainingRun& run : runs_) steps += run.steps().size();
  while (runs_.size() > 1 && (runs_.size() > kTrainingRuns || steps > kTrainingSteps)) {
    steps -= runs_.front().steps().size();
    runs_.pop_front();
  }
}

}  // namespace lab::ui
