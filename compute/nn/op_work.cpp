#include "compute/nn/op_work.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab::nn {
namespace {

std::string spaced(std::string kind) {
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

// "net.0" for "net.0.weight".
std::string layer_of(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

std::string text(const ImageShape& s) {
  if (s.height == 1 && s.width == 1) return fmt::format("{}", s.channels);
  return fmt::format("{}x{}x{}", s.channels, s.height, s.width);
}

std::int64_t bytes_of(const Value& value, std::int64_t batch) {
  return value.shape.size() * batch * size_of(value.dtype);
}

std::int64_t parameter_bytes(const NetworkPlan& plan, const Op& op) {
  std::int64_t total = 0;
  for (const std::size_t p : op.parameters) total += plan.parameters[p].size;
  return total * size_of(DType::F32);
}

std::int64_t forward_bytes(const NetworkPlan& plan, const Op& op, std::int64_t batch) {
  std::int64_t total = bytes_of(*op.output, batch) + parameter_bytes(plan, op);
  for (const Input& input : op.inputs) total += bytes_of(*input.value, batch);
  return total;
}

std::int64_t backward_bytes(const NetworkPlan& plan, const Op& op, std::int64_t batch,
                            bool on_gpu) {
  const Op::SavedValues saved_values = on_gpu ? op.gpu_saved_values() : op.saved_values();
  const std::int64_t out = bytes_of(*op.output, batch), parameters = parameter_bytes(plan, op);
  std::int64_t total = out + (saved_values.output ? out : 0) + parameters;
  bool any_gradient = false;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Input& input = op.inputs[i];
    const std::int64_t in = bytes_of(*input.value, batch);
    if (i < saved_values.inputs) total += in;
    if (!input.needs_grad) continue;
    any_gradient = true;
    total += input.accumulate ? 2 * in : in;
  }
  return any_gradient ? total + parameters : total;
}

}  // namespace

std::vector<OpName> name_ops(const NetworkPlan& plan) {
  std::vector<OpName> names;
  std::string last = "the input";
  for (const auto& op : plan.ops) {
    OpName name{.layer = {}, .kind = spaced(op->kind()), .shape = text(op->output->shape)};
    if (op->inputs.front().value->shape != op->output->shape) {
      name.shape = fmt::format("{} to {}", text(op->inputs.front().value->shape), name.shape);
    }
    if (op->parameters.empty()) {
      name.layer = fmt::format("{} after {}", name.kind, last);
    } else {
      name.layer = last = layer_of(plan.parameters[op->parameters.front()].name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

Work work_of(const NetworkPlan& plan, const Op& op, Direction direction, std::int64_t batch,
             bool on_gpu) {
  const std::int64_t traffic = direction == Direction::Forward
                                   ? forward_bytes(plan, op, batch)
                                   : backward_bytes(plan, op, batch, on_gpu);
  return {.flop = op.flop(direction, batch), .bytes = traffic};
}

}  // namespace lab::nn
