#include "compute/tensor/tensor_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "compute/core/language.h"

namespace lab {
namespace {

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void fail_undefined(const std::string& name) {
  throw Error(Errc::NotFound,
              trf("tensor '{0}' is not defined; create it first, as in {0} = ones(2, 3)", name));
}

}  // namespace

TensorId TensorStore::add(Tensor tensor, std::string name) {
  if (!tensor.defined()) {
    throw Error(Errc::InvalidArgument,
                tr("tensor store: the tensor is undefined; create it first"));
  }
  if (name.empty()) name = next_name();
  const TensorId id = tensor.id();
  Named named{{}, std::move(tensor)};
  if (const auto known = tensors_.find(id); known != tensors_.end()) named = known->second;
  if (!is_in(named.names, name)) named.names.push_back(std::move(name));
  describe(named);
  tensors_.insert_or_assign(id, std::move(named));
  return id;
}

std::string TensorStore::next_name() {
  std::string name;
  do {
    name = fmt::format("X{}", next_name_++);
  } while (has(name));
  return name;
}

TensorId TensorStore::assign(const std::string& name, Tensor tensor) {
  const TensorId id = add(std::move(tensor), name);
  std::vector<TensorId> others;
  for (const auto& [other, named] : tensors_) {
    if (other != id && is_in(named.names, name)) others.push_back(other);
  }
  for (const TensorId other : others) remove_name(name, other);
  return id;
}

TensorId TensorStore::find(const std::string& name) const {
  for (auto newest = tensors_.rbegin(); newest != tensors_.rend(); ++newest) {
    if (is_in(newest->second.names, name)) return newest->first;
  }
  fail_undefined(name);
}

void TensorStore::forget(const std::string& name) {
  remove_name(name, find(name));
}

const Tensor& TensorStore::at(TensorId id) const {
  return entry(id).tensor;
}

const std::string& TensorStore::name(TensorId id) const {
  return entry(id).names.front();
}

std::vector<std::string> TensorStore::other_names(TensorId id, const std::string& name) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return {};
  std::vector<std::string> names = found->second.names;
  std::erase(names, name);
  return names;
}

void TensorStore::free(TensorId id) {
  entry(id);
  tensors_.erase(id);
}

const TensorStore::Named& TensorStore::entry(TensorId id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) {
    throw Error(Errc::NotFound,
                trf("tensor {} is not in the list; it may have been freed already", id));
  }
  return found->second;
}

bool TensorStore::has(const std::string& name) const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [&](const auto& entry) { return is_in(entry.second.names, name); });
}

void TensorStore::remove_name(const std::string& name, TensorId id) {
  Named& named = tensors_.at(id);
  std::erase(named.names, name);
  if (named.names.empty()) {
    tensors_.erase(id);
  } else {
    describe(named);
  }
}

void TensorStore::describe(const Named& named) {
  TensorInfo info = tensor_info(named.tensor, fmt::format("{}", fmt::join(named.names, ", ")));
  info.owned_by_page = true;
  named.tensor.context().memory().describe(info.id, info);
}

}  // namespace lab
