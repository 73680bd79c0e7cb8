#include "compute/train/convolution_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "compute/core/language.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/convolution/measured_chooser.h"
#include "compute/machine/simd_level.h"

namespace lab {
namespace {

constexpr const char* kMeasured = "auto";
constexpr const char* kByRule = "rule";

std::unique_ptr<ConvolutionChooser> measured_chooser(RunContext& ctx) {
  const auto job = std::this_thread::get_id();
  MeasuredChooserOptions options{.processor = ctx.machine().info().devices.front().name,
                                 .stop = ctx.stop_token()};
  if (const std::string numbers = processor_numbers(); !numbers.empty()) {
    options.processor += ", " + numbers;
  }
  options.measuring = [&ctx, job](const ConvolutionCase& c) {
    if (std::this_thread::get_id() != job) return;
    ctx.progress(
        0, trf("choosing the fastest convolution: {} of {}", tr(to_string(c.stage)), describe(c)));
  };
  return std::make_unique<MeasuredChooser>(convolution_choices(), std::move(options));
}

// Algorithms with the number of layers that use them, most used first.
std::string counted(const nn::NetworkPlan& plan, nn::Direction direction, Kernels kernels) {
  std::vector<std::pair<int, std::string>> uses;
  for (const auto& op : plan.ops) {
    if (std::strcmp(op->kind(), "convolution") != 0) continue;
    const std::string method = op->method(direction, kernels);
    const auto same = [&](const auto& use) { return use.second == method; };
    const auto found = std::find_if(uses.begin(), uses.end(), same);
    if (found == uses.end()) {
      uses.emplace_back(1, method);
    } else {
      ++found->first;
    }
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [layers, method] : uses) {
    if (!text.empty()) text += ", ";
    text += layers == 1 ? trf("{} in 1 layer", method) : trf("{} in {} layers", method, layers);
  }
  return text;
}

}  // namespace

std::vector<std::string> convolution_choice_names() {
  std::vector<std::string> names = {kMeasured, kByRule};
  for (std::string& name : convolution_names()) names.push_back(std::move(name));
  return names;
}

std::unique_ptr<ConvolutionChooser> make_chooser(const StartTraining& request, RunContext& ctx) {
  // Kernels that are not used are not measured.
  const bool lab = request.kernels == Kernels::Lab || request.compare_kernels;
  if (!lab || request.convolution == kByRule) return std::make_unique<RuleChooser>();
  if (request.convolution == kMeasured) return measured_chooser(ctx);
  return std::make_unique<NamedChooser>(request.convolution);
}

std::string chosen_convolutions(const nn::NetworkPlan& plan, Kernels kernels) {
  const std::string forward = counted(plan, nn::Direction::Forward, kernels);
  if (forward.empty()) return {};
  return trf("forward: {}; backward: {}", forward, counted(plan, nn::Direction::Backward, kernels));
}

}  // namespace lab
