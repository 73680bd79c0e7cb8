#include "compute/experiments/registry.h"

#include <utility>
#include <variant>
#include <vector>

#include "compute/core/language.h"
#include "compute/experiments/lessons/lesson.h"
#include "compute/experiments/lessons/lesson_experiment.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/memory/tensor_experiments.h"
#include "compute/experiments/scaling/scaling_experiment.h"
#include "compute/experiments/tour/tour_experiment.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/experiments/transfers/transfer_experiment.h"
#include "compute/machine/core_times.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

std::string names(const std::vector<Device>& devices) {
  constexpr std::size_t kNamed = 4;
  if (devices.empty()) return tr("all devices");
  if (devices.size() > kNamed) return trf("{} devices", devices.size());
  std::string text;
  for (const Device d : devices) text += (text.empty() ? "" : ", ") + to_string(d);
  return text;
}

struct MakeExperiment {
  std::unique_ptr<Experiment> operator()(const StartTransfers& c) const {
    return make_transfer_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const StartMatmul& c) const {
    return make_matmul_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const StartTraining& c) const {
    return make_training_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const StartScaling& c) const {
    return make_scaling_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const StartLesson& c) const {
    return make_lesson_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const CompareClass& c) const {
    return make_class_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const StartTour& c) const {
    return make_tour_experiment(c);
  }
  std::unique_ptr<Experiment> operator()(const FetchData& /*c*/) const {
    return make_fetch_experiment();
  }
  template <typename TensorCommand>
  std::unique_ptr<Experiment> operator()(const TensorCommand& c) const {
    return make_tensor_experiment(c);
  }
};

// The hardware threads of the CPU devices that the command names; those of all CPU devices if it
// names none.
struct NamedThreads {
  Machine& machine;

  std::vector<int> operator()(const StartMatmul& c) const { return of(c.devices); }
  std::vector<int> operator()(const StartTraining& c) const {
    return of(c.devices.empty() ? std::vector{cpu()} : c.devices);
  }
  std::vector<int> operator()(const StartScaling& c) const {
    return c.measure ? of(c.training.devices) : std::vector<int>{};
  }
  std::vector<int> operator()(const StartLesson& c) const { return of(c.devices); }
  std::vector<int> operator()(const StartTour& c) const { return of(c.devices); }
  std::vector<int> operator()(const StartTransfers&) const { return of({}); }
  template <typename Untimed>
  std::vector<int> operator()(const Untimed&) const {
    return {};
  }

  std::vector<int> of(const std::vector<Device>& devices) const {
    std::vector<int> threads;
    for (const Device device : devices.empty() ? machine.devices() : devices) {
      if (device.kind != DeviceKind::Cpu) continue;
      for (const std::vector<int>& core : machine.at(device).info().hardware_threads) {
        threads.insert(threads.end(), core.begin(), core.end());
      }
    }
    return threads;
  }
};

// Reports what others took from the cores of a job, however it ends.
class WatchedExperiment final : public Experiment {
 public:
  WatchedExperiment(const JobCommand& command, std::unique_ptr<Experiment> experiment)
      : command_(command), experiment_(std::move(experiment)) {}

  void run(RunContext& ctx) override {
    const CoreTimes times(std::visit(NamedThreads{ctx.machine()}, command_));
    const auto report = [&] {
      if (const auto others = times.others()) ctx.emit_after_stop(CoresShared{*others});
    };
    try {
      experiment_->run(ctx);
    } catch (...) {
      report();
      throw;
    }
    report();
  }

 private:
  const JobCommand command_;
  const std::unique_ptr<Experiment> experiment_;
};

struct Title {
  std::string operator()(const StartTransfers& c) const {
    return c.live ? tr("Live transfers") : trf("Transfers by size, from {}", names(c.from));
  }
  std::string operator()(const StartMatmul& c) const {
    if (c.together) {
      return c.devices.empty() ? tr("Products on several devices at once")
                               : trf("Products at once on {}", names(c.devices));
    }
    return c.live ? trf("Live matmul on {}", names(c.devices))
                  : trf("Matmul ladder on {}", names(c.devices));
  }
  std::string operator()(const StartTraining& c) const {
    const std::string where = c.devices.empty() ? "cpu:0" : names(c.devices);
    return c.probe ? trf("Speed of {} on {}", model_title(c.model), where)
                   : trf("Training {} on {}", model_title(c.model), where);
  }
  std::string operator()(const StartScaling& c) const {
    const std::string model = c.training.model.empty() ? trf("the model of {}", c.reference_file)
                                                       : std::string(model_title(c.training.model));
    return c.measure ? trf("Scaling of {}", model) : trf("Predicted scaling of {}", model);
  }
  std::string operator()(const MakeTensor& c) const {
    return trf("Create a tensor on {}", to_string(c.device));
  }
  std::string operator()(const CopyTensor& c) const {
    return trf("Copy a tensor to {}", to_string(c.to));
  }
  std::string operator()(const AddTensors&) const { return tr("Add two tensors"); }
  std::string operator()(const FreeTensor&) const { return tr("Free a tensor"); }
  std::string operator()(const RunTensorCode& c) const {
    constexpr std::size_t kMost = 80;  // bytes
    std::string all;
    for (const TensorStatement& statement : c.statements) {
      all.append(all.empty() ? "" : "; ").append(statement.text);
    }
    return c.statements.size() == 1 || all.size() <= kMost ? all : tr("Tensor statements");
  }
  std::string operator()(const StartLesson& c) const {
    return trf("Lesson \"{}\"", lesson_title(c.lesson));
  }
  std::string operator()(const CompareClass& c) const {
    return trf("Lesson \"{}\", the class", lesson_title(c.lesson));
  }
  std::string operator()(const StartTour& c) const { return trf("Tour, {}", names(c.devices)); }
  std::string operator()(const FetchData&) const { return tr("Download of Fashion-MNIST"); }

 private:
  // As on the page; the name of an unknown lesson.
  static std::string lesson_title(const std::string& name) {
    for (const lessons::Lesson& lesson : lessons::all_lessons()) {
      if (lesson.info.name == name) return tr(lesson.info.title);
    }
    return name;
  }
};

}  // namespace

std::unique_ptr<Experiment> make_experiment(const JobCommand& command) {
  return std::make_unique<WatchedExperiment>(command, std::visit(MakeExperiment{}, command));
}

std::string job_title(const JobCommand& command) {
  return std::visit(Title{}, command);
}

}  // namespace lab
