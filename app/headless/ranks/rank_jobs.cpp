#include "app/headless/ranks/rank_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/registry.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/train/request_json.h"

namespace lab::app {
namespace {

class RankPrinter final : public Printer {
 public:
  RankPrinter(Console& console, std::string prefix)
      : console_(console), prefix_(std::move(prefix)) {}
  void show(const Payload& payload) override {
    const auto* line = std::get_if<LogLine>(&payload);
    if (line != nullptr && line->severity != Severity::Info) console_.message(prefix_ + line->text);
  }

 private:
  Console& console_;
  const std::string prefix_;
};

class LedTraining final : public Experiment {
 public:
  LedTraining(RankSession& session, const StartTraining& request)
      : session_(session), request_(request) {}
  void run(RunContext& ctx) override {
    session_.lead(to_json(request_));
    make_experiment(request_)->run(ctx);
  }

 private:
  RankSession& session_;
  const StartTraining request_;
};

// Returns the requested number of devices, increased to cover those that `request` names.
int cpu_devices_for(const WindowOptions& options, const StartTraining& request) {
  int devices = options.cpu_devices.value_or(1);
  for (const Device d : request.devices) {
    if (d.kind == DeviceKind::Cpu) devices = std::max(devices, d.index + 1);
  }
  return devices;
}

}  // namespace

std::string rank_prefix(const RankGroup& ranks) {
  if (ranks.rank() == 0) return {};
  return fmt::format("rank {} ({}): ", ranks.rank(),
                     ranks.hosts()[static_cast<std::size_t>(ranks.rank())]);
}

std::unique_ptr<Printer> make_rank_printer(Console& console, const RankGroup& ranks) {
  return std::make_unique<RankPrinter>(console, rank_prefix(ranks));
}

Error scaling_of_one_process() {
  return {Errc::Unsupported,
          tr("scaling compares device counts within one process; start it without mpirun and add "
             "devices with --cpu-devices N")};
}

Error job_of_one_process() {
  return {Errc::Unsupported,
          tr("the tour and the lessons run in one process; start the lab without mpirun")};
}

Worker::Factory leading_factory(RankSession& session) {
  return [&session](const JobCommand& command) -> std::unique_ptr<Experiment> {
    if (session.ranks().single()) return make_experiment(command);
    if (std::holds_alternative<StartScaling>(command)) throw scaling_of_one_process();
    // Both train, and the other processes would not take part.
    if (std::holds_alternative<StartTour>(command) ||
        std::holds_alternative<StartLesson>(command)) {
      throw job_of_one_process();
    }
    const auto* training = std::get_if<StartTraining>(&command);
    if (training == nullptr) return make_experiment(command);
    return std::make_unique<LedTraining>(session, *training);
  };
}

int follow_window(const WindowOptions& options, Console& console, Interrupt& interrupt,
                  RankSession& session) {
  RankGroup& ranks = session.ranks();
  const auto printer = make_rank_printer(console, ranks);
  const RankWait wait{.interrupted = [&] { return interrupt.requested(); }};
  while (const auto text = session.follow(wait)) {
    try {
      const StartTraining request = training_from_json(*text);
      HeadlessLab lab({.cpu_devices = cpu_devices_for(options, request),
                       .emulated_gpus = options.emulated_gpus,
                       .check_emulation = false,
                       .processes = static_cast<int>(session.host_ranks().size()),
                       .open_gpus = open_gpus,
                       .wake_gpus = options.wake_gpus || names_gpu(request)},
                      interrupt, ranks);
      lab.run(request, *printer);
    } catch (const Error& e) {
      // Rank 0 shows the error; the next training may succeed. A training that the user stops there
      // is no failure of this rank.
      if (e.code() != Errc::Cancelled || interrupt.requested()) ranks.fail(e.code(), e.what());
      if (e.code() != Errc::Cancelled && !session.failure_elsewhere()) {
        console.message(rank_prefix(ranks) + e.what());
      }
    }
    if (interrupt.requested()) return kExitInterrupted;
  }
  return kExitDone;
}

}  // namespace lab::app
