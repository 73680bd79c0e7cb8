#pragma once
// Tensors that the user created, by statements or on the Memory page. Used by the worker thread
// only; the live list of all buffers comes from the devices' memory accounts.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute/tensor/tensor.h"

namespace lab {

class TensorStore {
 public:
  // Stores `tensor` under `name` ("X1", "X2", ... if empty) and returns its id. Throws
  // Error(Errc::InvalidArgument) if the tensor is undefined.
  TensorId add(Tensor tensor, std::string name = {});
  // The name that add() gives next: "X1", "X2", ...
  std::string next_name();
  // A seed for random values of which none was given: 0, 1, ...
  std::uint64_t next_seed() { return next_seed_++; }
  // As add(), as a variable: a tensor that had the name loses it, and is freed if it has no other.
  TensorId assign(const std::string& name, Tensor tensor);

  bool has(const std::string& name) const;
  // Returns the newest tensor of that name. Throws Error(Errc::NotFound).
  TensorId find(const std::string& name) const;
  // Removes the name; its tensor is freed if it has no other. Throws Error(Errc::NotFound).
  void forget(const std::string& name);

  // Returns the names of this storage other than `name`; none for an unknown id.
  std::vector<std::string> other_names(TensorId id, const std::string& name) const;

  // at(), name() and free() throw Error(Errc::NotFound) naming an unknown id.
  const Tensor& at(TensorId id) const;
  const std::string& name(TensorId id) const;  // the oldest one
  void free(TensorId id);
  void clear() { tensors_.clear(); }

 private:
  struct Named {
    std::vector<std::string> names;
    Tensor tensor;
  };

  const Named& entry(TensorId id) const;
  void remove_name(const std::string& name, TensorId id);
  static void describe(const Named& named);

  std::map<TensorId, Named> tensors_;
  int next_name_ = 1;
  std::uint64_t next_seed_ = 0;
};

}  // namespace lab
