#include "compute/train/training_experiment.h"

#include <utility>

#include "compute/data/dataset.h"
#include "compute/files/whole_file.h"
#include "compute/nn/state_dict.h"
#include "compute/run/run_context.h"
#include "compute/train/training_request.h"
#include "compute/train/training_run.h"

namespace lab {
namespace {

// What can be wrong is found in the order of what it costs: the request, the output file, memory,
// the initial weights, the data.
class TrainingExperiment final : public Experiment {
 public:
  explicit TrainingExperiment(StartTraining request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    const StartTraining request = complete_request(request_, ctx.machine());
    if (!request.save_file.empty()) files::check_writable(request.save_file);
    DeviceContext& device = ctx.machine().at(request.devices.front());
    const auto bound = device.threads().bind_caller();
    Trainer trainer(device, {.model = request.model,
                             .batch = request.batch,
                             .seed = request.seed,
                             .sgd = {.lr = *request.lr,
                                     .momentum = request.momentum,
                                     .weight_decay = request.weight_decay}});
    if (!request.init_file.empty()) nn::load_network(trainer.network(), request.init_file);
    ctx.throw_if_cancelled();
    const Dataset data = load_data(request, ctx);
    TrainingRun(request, trainer, data, ctx).run();
  }

 private:
  // Without a step to make (`--steps 0 --save FILE` writes the initial weights) no data is needed.
  static Dataset load_data(const StartTraining& request, RunContext& ctx) {
    if (request.steps == 0) return {};
    if (request.data == DataSource::FashionMnist) return load_fashion_mnist(request.data_dir);
    return make_synthetic_garments(request.synthetic_train, request.synthetic_test, request.seed,
                                   [&](double done) {
                                     ctx.checkpoint();
                                     ctx.progress(done, "drawing synthetic garments");
                                   });
  }

  const StartTraining request_;
};

}  // namespace

std::unique_ptr<Experiment> make_training_experiment(const StartTraining& request) {
  return std::make_unique<TrainingExperiment>(request);
}

}  // namespace lab
