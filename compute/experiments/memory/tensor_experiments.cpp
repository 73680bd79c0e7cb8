#include "compute/experiments/memory/tensor_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/core/units.h"
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

class MakeTensorJob final : public Experiment {
 public:
  explicit MakeTensorJob(MakeTensor request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    const FillWith with{request_.fill, request_.value, request_.seed};
    check_fill(with, request_.dtype);
    DeviceContext& device = ctx.machine().at(request_.device);
    Tensor x(device, request_.shape, request_.dtype, request_.name);
    in_pieces(ctx, std::string("filling with ") + to_string(request_.fill), x.size(),
              [&](std::int64_t begin, std::int64_t end) { fill_range(x, with, begin, end); });
    ctx.tensors().add(std::move(x), request_.name);
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const MakeTensor request_;
};

class CopyTensorJob final : public Experiment {
 public:
  explicit CopyTensorJob(const CopyTensor& request) : request_(request) {}

  void run(RunContext& ctx) override {
    const Tensor from = ctx.tensors().at(request_.id);
    const std::string name = ctx.tensors().name(request_.id);
    DeviceContext& device = ctx.machine().at(request_.to);
    const auto begin = std::chrono::steady_clock::now();
    Tensor copy(device, from.shape(), from.dtype(), name);
    in_pieces(ctx, "copying " + name, from.size(),
              [&](std::int64_t b, std::int64_t e) { copy_range(from, copy, b, e); });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    ctx.tensors().add(std::move(copy), fmt::format("{} on {}", name, to_string(request_.to)));
    ctx.emit(LogLine{Severity::Info,
                     fmt::format("{}: {} copied from {} to {} in {}", name,
                                 format_bytes(from.bytes()), to_string(from.device()),
                                 to_string(request_.to), format_seconds(spent.count()))});
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const CopyTensor request_;
};

class AddTensorsJob final : public Experiment {
 public:
  explicit AddTensorsJob(const AddTensors& request) : request_(request) {}

  void run(RunContext& ctx) override {
    const Tensor x = ctx.tensors().at(request_.a);
    const Tensor y = ctx.tensors().at(request_.b);
    const std::string left = ctx.tensors().name(request_.a);
    const std::string right = ctx.tensors().name(request_.b);
    check_same("add", x, y, left, right);
    const std::string name = left + " + " + right;
    Tensor z(x.context(), x.shape(), x.dtype(), name);
    in_pieces(ctx, "adding " + name, z.size(),
              [&](std::int64_t begin, std::int64_t end) { add_range(x, y, z, begin, end); });
    ctx.tensors().add(std::move(z), name);
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const AddTensors request_;
};

class FreeTensorJob final : public Experiment {
 public:
  explicit FreeTensorJob(const FreeTensor& request) : request_(request) {}

  void run(RunContext& ctx) override {
    ctx.tensors().free(request_.id);
    ctx.emit(list_tensors(ctx.machine()));
  }

 private:
  const FreeTensor request_;
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

}  // namespace lab
