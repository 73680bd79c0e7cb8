#include "compute/tensor/tensor_store.h"

#include <fmt/format.h>

#include <utility>

namespace lab {
namespace {

[[noreturn]] void fail_unknown(TensorId id) {
  throw Error(Errc::NotFound,
              fmt::format("tensor {} is not in the list; it may have been freed already", id));
}

}  // namespace

TensorId TensorStore::add(Tensor tensor, std::string name) {
  if (!tensor.defined()) {
    throw Error(Errc::InvalidArgument, "tensor store: the tensor is undefined; create it first");
  }
  if (name.empty()) name = fmt::format("X{}", next_name_++);
  const TensorId id = tensor.id();
  TensorInfo info;
  info.name = name;
  info.shape = tensor.shape();
  info.dtype = tensor.dtype();
  info.owned_by_page = true;
  info.preview = preview(tensor);
  tensor.context().memory().describe(id, info);
  tensors_.insert_or_assign(id, Named{std::move(name), std::move(tensor)});
  return id;
}

const Tensor& TensorStore::at(TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) fail_unknown(id);
  return found->second.tensor;
}

const std::string& TensorStore::name(TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) fail_unknown(id);
  return found->second.name;
}

void TensorStore::free(TensorId id) {
  if (tensors_.erase(id) == 0) fail_unknown(id);
}

}  // namespace lab
