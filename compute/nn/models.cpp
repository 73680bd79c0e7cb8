#include "compute/nn/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/events/models.h"
#include "compute/core/language.h"

namespace lab::nn {
namespace {

using ValueId = NetworkPlan::ValueId;

constexpr ImageShape kImage{1, 28, 28};
constexpr std::int64_t kClasses = 10;

NetworkPlan softmax() {
  NetworkPlan plan("softmax", kImage, WeightInit::FanInUniform);
  plan.linear(plan.input(), plan.declare_linear("net.1", kImage.size(), kClasses));
  return plan;
}

NetworkPlan mlp() {
  NetworkPlan plan("mlp", kImage, WeightInit::FanInUniform);
  const ValueId hidden =
      plan.relu(plan.linear(plan.input(), plan.declare_linear("net.1", kImage.size(), 256)));
  plan.linear(hidden, plan.declare_linear("net.3", 256, kClasses));
  return plan;
}

NetworkPlan lenet() {
  NetworkPlan plan("lenet", kImage, WeightInit::XavierUniform);
  ValueId x =
      plan.convolution(plan.input(), plan.declare_convolution("net.0", 1, 6, 5), {.padding = 2});
  x = plan.sigmoid_average_pool(x, 2, 2);
  x = plan.convolution(x, plan.declare_convolution("net.3", 6, 16, 5), {});
  x = plan.flatten(plan.sigmoid_average_pool(x, 2, 2));
  x = plan.sigmoid(plan.linear(x, plan.declare_linear("net.7", 400, 120)));
  x = plan.sigmoid(plan.linear(x, plan.declare_linear("net.9", 120, 84)));
  plan.linear(x, plan.declare_linear("net.11", 84, kClasses));
  return plan;
}

// relu(bn2(conv2(relu(bn1(conv1(x))))) + x), with a 1x1 convolution on x where the shape changes.
ValueId residual(NetworkPlan& plan, ValueId x, const std::string& name, std::int64_t channels,
                 std::int64_t stride) {
  const std::int64_t in = plan.shape_of(x).channels;
  const bool reshapes = in != channels || stride != 1;
  const auto conv1 = plan.declare_convolution(name + ".conv1", in, channels, 3);
  const auto conv2 = plan.declare_convolution(name + ".conv2", channels, channels, 3);
  NetworkPlan::Weights conv3;
  if (reshapes) conv3 = plan.declare_convolution(name + ".conv3", in, channels, 1);
  const auto bn1 = plan.declare_batch_norm(name + ".bn1", channels);
  const auto bn2 = plan.declare_batch_norm(name + ".bn2", channels);

  ValueId y = plan.convolution_norm(x, conv1, {.stride = stride, .padding = 1}, bn1, /*relu=*/true);
  if (reshapes) x = plan.convolution(x, conv3, {.stride = stride});
  return plan.convolution_norm_residual(y, conv2, {.padding = 1}, bn2, x);
}

NetworkPlan resnet18(std::int64_t first_channels) {
  NetworkPlan plan("resnet18", kImage, WeightInit::Normal001);
  const auto stem = plan.declare_convolution("0", 1, first_channels, 3);
  const auto stem_norm = plan.declare_batch_norm("1", first_channels);
  ValueId x = plan.convolution_norm(plan.input(), stem, {.padding = 1}, stem_norm, /*relu=*/true);
  for (int block = 1; block <= 4; ++block) {
    const std::int64_t channels = first_channels << (block - 1);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t stride = block > 1 && i == 0 ? 2 : 1;
      x = residual(plan, x, fmt::format("resnet_block{}.{}", block, i), channels, stride);
    }
  }
  x = plan.flatten(plan.global_average_pool(x));
  plan.linear(x, plan.declare_linear("fc.1", 8 * first_channels, kClasses));
  return plan;
}

// Three convolutions with batch norm, each on images of half the side, and a linear layer.
NetworkPlan convnet() {
  NetworkPlan plan("convnet", kImage, WeightInit::FanInUniform);
  ValueId x = plan.input();
  int layer = 0;
  for (const std::int64_t channels : {16, 32, 64}) {
    if (layer > 0) x = plan.average_pool(x, 2, 2);
    const auto conv = plan.declare_convolution(fmt::format("net.{}", layer),
                                               plan.shape_of(x).channels, channels, 3);
    const auto norm = plan.declare_batch_norm(fmt::format("net.{}", layer + 1), channels);
    x = plan.convolution_norm(x, conv, {.padding = 1}, norm, /*relu=*/true);
    layer += 4;  // with relu and pool, which have no parameters
  }
  x = plan.flatten(x);
  plan.linear(x, plan.declare_linear("net.12", plan.shape_of(x).size(), kClasses));
  return plan;
}

struct Model {
  const char* name;  // as in kModelFacts
  NetworkPlan (*plan)();
};

constexpr Model kModels[] = {
    {"softmax", softmax}, {"mlp", mlp}, {"lenet", lenet}, {"convnet", convnet}};

[[noreturn]] void refuse_model(std::string_view name) {
  throw Error(Errc::NotFound,
              trf("unknown model '{}'; choose one of {}", name, fmt::join(model_names(), ", ")));
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kModelFacts.size());
    for (const ModelFacts& model : kModelFacts) all.emplace_back(model.name);
    return all;
  }();
  return names;
}

NetworkPlan plan_model(std::string_view name, std::int64_t width) {
  if (name == "resnet18") return resnet18(width);
  for (const Model& model : kModels) {
    if (name != model.name) continue;
    if (width == kResNetWidth) return model.plan();
    throw Error(Errc::InvalidArgument,
                trf("model {} has no width; leave it out, or choose resnet18", name));
  }
  refuse_model(name);
}

double default_learning_rate(std::string_view name) {
  const ModelFacts* model = find_model(name);
  if (model == nullptr) refuse_model(name);
  return model->learning_rate;
}

}  // namespace lab::nn
