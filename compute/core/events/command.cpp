#include "compute/core/events/command.h"

#include <algorithm>

namespace lab {
namespace {

bool any_gpu(const std::vector<Device>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](Device d) { return d.kind == DeviceKind::Cuda; });
}

struct NamesGpu {
  bool operator()(const StartTransfers& c) const { return any_gpu(c.from) || any_gpu(c.to); }
  bool operator()(const StartMatmul& c) const { return any_gpu(c.devices); }
  bool operator()(const StartTraining& c) const { return any_gpu(c.devices); }
  bool operator()(const StartScaling& c) const { return any_gpu(c.training.devices); }
  bool operator()(const MakeTensor& c) const { return any_gpu({c.device}); }
  bool operator()(const CopyTensor& c) const { return any_gpu({c.to}); }
  bool operator()(const AddTensors&) const { return false; }
  bool operator()(const FreeTensor&) const { return false; }
};

}  // namespace

bool names_gpu(const JobCommand& command) {
  return std::visit(NamesGpu{}, command);
}

const char* to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Pageable: return "pageable";
    case MemoryKind::Pinned: return "pinned";
    case MemoryKind::OnGpu: return "device";
  }
  return "?";
}

const char* to_string(TransferOp op) {
  switch (op) {
    case TransferOp::Read: return "read";
    case TransferOp::Write: return "write";
    case TransferOp::Copy: return "copy";
    case TransferOp::Triad: return "triad";
    case TransferOp::Both: return "both";
    case TransferOp::Pieces: return "pieces";
    case TransferOp::Chase: return "chase";
    case TransferOp::Overlap: return "overlap";
  }
  return "?";
}

const char* to_string(CacheState cache) {
  return cache == CacheState::Warm ? "warm" : "cold";
}

const char* to_string(DataSource data) {
  return data == DataSource::Synthetic ? "synthetic" : "fashion-mnist";
}

const char* to_string(BatchOrder order) {
  return order == BatchOrder::Shuffled ? "shuffled" : "sequential";
}

const char* to_string(Fill fill) {
  switch (fill) {
    case Fill::Zeros: return "zeros";
    case Fill::Ones: return "ones";
    case Fill::Full: return "full";
    case Fill::Arange: return "arange";
    case Fill::Rand: return "rand";
    case Fill::Randn: return "randn";
  }
  return "?";
}

const char* to_string(SharePolicy policy) {
  switch (policy) {
    case SharePolicy::Equal: return "equal";
    case SharePolicy::Auto: return "auto";
    case SharePolicy::Listed: return "listed";
  }
  return "?";
}

const char* to_string(LrScale scale) {
  return scale == LrScale::None ? "none" : "linear";
}

const char* to_string(ScalingMode mode) {
  return mode == ScalingMode::Strong ? "strong" : "weak";
}

}  // namespace lab
