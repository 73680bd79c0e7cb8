#include "compute/experiments/training/training_experiment.h"

#include <optional>
#include <span>
#include <utility>

#include "compute/core/language.h"
#include "compute/run/run_context.h"
#include "compute/train/request_json.h"
#include "compute/train/trainer.h"
#include "compute/train/training_job.h"
#include "compute/train/training_request.h"

namespace lab {
namespace {

// Throws Error(InvalidArgument) unless all ranks were started with equivalent requests.
void compare_requests(const StartTraining& mine, RunContext& ctx) {
  RankGroup& ranks = ctx.ranks();
  const std::string text = to_json(mine);
  const auto all = ranks.all_gather(std::as_bytes(std::span(text)), {.stop = ctx.stop_token()});
  const auto request_of = [&](std::size_t rank) {
    return training_from_json({reinterpret_cast<const char*>(all[rank].data()), all[rank].size()});
  };
  const StartTraining first = request_of(0);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string difference = first_difference_between_ranks(first, request_of(rank));
    if (difference.empty()) continue;
    throw Error(Errc::InvalidArgument,
                trf("training: rank 0 ({}) and rank {} ({}) were started differently: {}; start "
                    "all ranks identically",
                    ranks.hosts()[0], rank, ranks.hosts()[rank], difference));
  }
}

class TrainingExperiment final : public Experiment {
 public:
  explicit TrainingExperiment(StartTraining request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    try {
      train(ctx);
    } catch (const AgreedStop&) {
      throw;  // all ranks have agreed to stop: no rank is waiting
    } catch (const Error& e) {
      ctx.ranks().fail(e.code(), e.what());
      throw;
    } catch (const std::exception& e) {
      ctx.ranks().fail(Errc::Internal, e.what());
      throw;
    }
  }

 private:
  void train(RunContext& ctx) {
    StartTraining asked = request_;
    if (ctx.ranks().single()) {  // all processes must train alike
      if (auto skipped = skip_missing_library(asked, ctx.machine())) ctx.emit(std::move(*skipped));
    }
    const StartTraining request = complete_request(std::move(asked), ctx.machine());
    if (request.probe) {
      return probe_training(request, ctx, [&](Payload payload) { ctx.emit(std::move(payload)); });
    }
    if (!ctx.ranks().single()) compare_requests(request, ctx);
    std::optional<Dataset> data;
    run_training(
        request, ctx, [&](Payload payload) { ctx.emit(std::move(payload)); },
        [&]() -> const Dataset& { return data.emplace(load_training_data(request, ctx)); });
  }

  const StartTraining request_;
};

}  // namespace

std::unique_ptr<Experiment> make_training_experiment(const StartTraining& request) {
  return std::make_unique<TrainingExperiment>(request);
}

}  // namespace lab
