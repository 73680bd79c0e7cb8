#include "compute/experiments/memory/tensor_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/measure/measure.h"
#include "compute/run/run_context.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor_store.h"

namespace lab {
namespace {

// Elements between checkpoints: a few milliseconds of work.
constexpr std::int64_t kPiece = 1 << 22;

// Calls work(begin, end) block by block. Throws Error(Cancelled) between blocks.
template <typename Work>
void in_pieces(RunContext& ctx, const std::string& what, std::int64_t n, Work work) {
  for (std::int64_t begin = 0; begin < n; begin += kPiece) {
    ctx.checkpoint();
    const std::int64_t end = std::min(n, begin + kPiece);
    work(begin, end);
    ctx.progress(static_cast<double>(end) / static_cast<double>(n), what);
  }
}

// Creates a tensor as requested, on any device.
Tensor created(RunContext& ctx, const MakeTensor& request, DeviceContext& device) {
  const FillWith with{request.fill, request.value, request.seed, request.values};
  check_fill(with, request.dtype);
  Tensor x(device, request.shape, request.dtype, request.name);
  in_pieces(ctx, trf("filling with {}", to_string(request.fill)), x.size(),
            [&](std::int64_t begin, std::int64_t end) { fill_range(x, with, begin, end); });
  return x;
}

struct TimedCopy {
  Tensor tensor;
  double seconds = 0;  // for allocation and copy
};

TimedCopy copied(RunContext& ctx, const Tensor& from, const std::string& name, DeviceContext& to) {
  const double begin_s = monotonic_s();
  Tensor copy(to, from.shape(), from.dtype(), name);
  in_pieces(ctx, trf("copying {}", name), from.size(),
            [&](std::int64_t b, std::int64_t e) { copy_range(from, copy, b, e); });
  return {std::move(copy), monotonic_s() - begin_s};
}

Tensor sum_of(RunContext& ctx, const Tensor& x, const Tensor& y, const std::string& left,
              const std::string& right) {
  check_same("add", x, y, left, right);
  const std::string name = left + " + " + right;
  Tensor z(x.context(), x.shape(), x.dtype(), name);
  in_pieces(ctx, trf("adding {}", name), z.size(),
            [&](std::int64_t begin, std::int64_t end) { add_range(x, y, z, begin, end); });
  return z;
}

// "Copied X1 to cpu:1 in 22.9 ms (183 MB/s), including first use of new memory": other copies are
// faster.
std::string copied_text(const std::string& name, const TimedCopy& copy) {
  const std::string time = format_seconds(copy.seconds);
  const std::string to = to_string(copy.tensor.device());
  if (copy.seconds <= 0) {
    return trf("Copied {} to {} in {}, including first use of new memory", name, to, time);
  }
  return trf("Copied {} to {} in {} ({}), including first use of new memory", name, to, time,
             format_si(static_cast<double>(copy.tensor.bytes()) / copy.seconds, "B/s"));
}

// "X1 on cpu:1", and for further copies "X1 on cpu:1 (2)".
std::string copy_name(const TensorStore& store, const std::string& name, Device to) {
  const std::string first = fmt::format("{} on {}", name, to_string(to));
  std::string free = first;
  for (int n = 2; store.has(free); ++n) free = fmt::format("{} ({})", first, n);
  return free;
}

std::string created_text(const std::string& name, const Tensor& x) {
  return trf("Created {} on {} ({})", name, to_string(x.device()), format_bytes(x.bytes()));
}

class MakeTensorJob final : public Experiment {
 public:
  explicit MakeTensorJob(MakeTensor request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    MakeTensor named = request_;
    if (named.name.empty()) named.name = ctx.tensors().next_name();
    Tensor x = created(ctx, named, ctx.machine().at(named.device));
    ctx.tensors().assign(named.name, x);
    ctx.emit(LogLine{Severity::Info, created_text(named.name, x)});
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const MakeTensor request_;  // replaces a tensor of its name, as X = ones(2) does
};

class CopyTensorJob final : public Experiment {
 public:
  explicit CopyTensorJob(const CopyTensor& request) : request_(request) {}

  void run(RunContext& ctx) override {
    const Tensor from = ctx.tensors().at(request_.id);
    const std::string name = ctx.tensors().name(request_.id);
    const std::string there = copy_name(ctx.tensors(), name, request_.to);
    DeviceContext& device = ctx.machine().at(request_.to);
    TimedCopy copy = copied(ctx, from, there, device);
    ctx.emit(LogLine{Severity::Info, copied_text(name, copy)});
    ctx.tensors().add(std::move(copy.tensor), there);
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const CopyTensor request_;
};

class AddTensorsJob final : public Experiment {
 public:
  explicit AddTensorsJob(const AddTensors& request) : request_(request) {}

  void run(RunContext& ctx) override {
    TensorStore& store = ctx.tensors();
    const std::string left = store.name(request_.a), right = store.name(request_.b);
    std::string cost;
    const Tensor z = sum(ctx, left, right, cost);
    const std::string name = left + " + " + right;
    store.add(z, name);
    ctx.emit(LogLine{Severity::Info, cost + created_text(name, z)});
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  // Frees temporary copies before it returns.
  Tensor sum(RunContext& ctx, const std::string& left, const std::string& right,
             std::string& cost) const {
    const Tensor x = operand(ctx, request_.a, left, cost);
    const Tensor y = operand(ctx, request_.b, right, cost);
    return sum_of(ctx, x, y, left, right);
  }

  // The tensor, or a temporary copy of it on the requested device, whose cost is added to `cost`.
  Tensor operand(RunContext& ctx, TensorId id, const std::string& name, std::string& cost) const {
    Tensor x = ctx.tensors().at(id);
    if (!request_.on || x.device() == *request_.on) return x;
    TimedCopy copy = copied(ctx, x, name, ctx.machine().at(*request_.on));
    cost += copied_text(name, copy) + ". ";
    return std::move(copy.tensor);
  }

  const AddTensors request_;
};

class FreeTensorJob final : public Experiment {
 public:
  explicit FreeTensorJob(const FreeTensor& request) : request_(request) {}

  void run(RunContext& ctx) override {
    const std::string name = ctx.tensors().name(request_.id);
    const std::string bytes = format_bytes(ctx.tensors().at(request_.id).bytes());
    ctx.tensors().free(request_.id);
    ctx.emit(LogLine{Severity::Info, trf("Freed {} ({})", name, bytes)});
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const FreeTensor request_;
};

// --- statements -------------------------------------------------------------------------------

class TensorCodeJob final : public Experiment {
 public:
  explicit TensorCodeJob(RunTensorCode request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    for (const TensorStatement& statement : request_.statements) {
      ctx.checkpoint();
      ctx.emit(run_one(ctx, statement));
      ctx.emit(list_tensors(ctx.machine()));
    }
  }

 private:
  // Evaluates an action; del and properties yield an undefined tensor.
  struct Evaluate {
    RunContext& ctx;
    TensorResult& result;
    const std::string& name;  // assigned to the result; empty: none

    Tensor operator()(const CreateStatement& s) const {
      MakeTensor named = s.tensor;
      named.name = name;
      if (is_random(named.fill) && !s.has_seed) named.seed = ctx.tensors().next_seed();
      return created(ctx, named, device(s.device));
    }
    Tensor operator()(const MoveStatement& s) const {
      Tensor from = variable(s.from);
      DeviceContext& to = device(s.to);
      if (!s.always_copy && from.device() == to.device()) return from;
      const std::string there = fmt::format("{} on {}", s.from, to_string(to.device()));
      TimedCopy copy = copied(ctx, from, name.empty() ? there : name, to);
      result.copy_s = copy.seconds;
      return std::move(copy.tensor);
    }
    Tensor operator()(const SumStatement& s) const {
      Tensor sum = variable(s.terms.front());
      std::string left = s.terms.front();
      for (std::size_t i = 1; i < s.terms.size(); ++i) {
        sum = sum_of(ctx, sum, variable(s.terms[i]), left, s.terms[i]);
        left += " + " + s.terms[i];
      }
      return sum;
    }
    Tensor operator()(const DeleteStatement& s) const {
      ctx.tensors().forget(s.name);
      return {};
    }

    Tensor operator()(const PropertyStatement& s) const {
      const Tensor x = variable(s.of);
      switch (s.property) {
        case TensorProperty::DeviceName: result.answer = to_string(x.device()); break;
        case TensorProperty::Sizes: result.answer = to_string(x.shape()); break;
        case TensorProperty::ElementType: result.answer = to_string(x.dtype()); break;
      }
      return {};
    }

    Tensor variable(const std::string& of) const {
      return ctx.tensors().at(ctx.tensors().find(of));
    }
    DeviceContext& device(const DeviceChoice& choice) const {
      Machine& machine = ctx.machine();
      return machine.at(choice.or_cpu ? machine.try_gpu(choice.device.index) : choice.device);
    }
  };

  static TensorResult run_one(RunContext& ctx, const TensorStatement& statement) {
    TensorResult result;
    result.statement = statement.text;
    const Tensor x = std::visit(Evaluate{ctx, result, statement.name}, statement.action);
    if (!x.defined()) return result;
    std::string name = statement.name;
    const auto* sum = std::get_if<SumStatement>(&statement.action);
    if (name.empty() && sum && sum->terms.size() == 1) name = sum->terms.front();
    if (!statement.name.empty()) ctx.tensors().assign(name, x);
    result.tensor = tensor_info(x, name);
    result.grid = value_grid(x);
    result.aliases = ctx.tensors().other_names(x.id(), name);
    return result;
  }

  const RunTensorCode request_;
};

}  // namespace

std::unique_ptr<Experiment> make_tensor_experiment(const MakeTensor& request) {
  return std::make_unique<MakeTensorJob>(request);
}

std::unique_ptr<Experiment> make_tensor_experiment(const CopyTensor& request) {
  return std::make_unique<CopyTensorJob>(request);
}

std::unique_ptr<Experiment> make_tensor_experiment(const AddTensors& request) {
  return std::make_unique<AddTensorsJob>(request);
}

std::unique_ptr<Experiment> make_tensor_experiment(const FreeTensor& request) {
  return std::make_unique<FreeTensorJob>(request);
}

std::unique_ptr<Experiment> make_tensor_experiment(const RunTensorCode& request) {
  return std::make_unique<TensorCodeJob>(request);
}

}  // namespace lab
