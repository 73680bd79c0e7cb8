#pragma once
// The tensors that a person made on the Memory page. Belongs to the worker's thread; the live list
// of every buffer comes from the devices' accounts instead.
#include <map>
#include <string>

#include "compute/tensor/tensor.h"

namespace lab {

class TensorStore {
 public:
  // Keeps `tensor` under a name ("X1", "X2", ... when empty) and returns its id.
  TensorId add(Tensor tensor, std::string name = {});
  // Throws Error(NotFound) naming the id.
  const Tensor& at(TensorId id) const;
  const std::string& name(TensorId id) const;
  void free(TensorId id);
  void clear() { tensors_.clear(); }

 private:
  struct Named {
    std::string name;
    Tensor tensor;
  };
  std::map<TensorId, Named> tensors_;
  int next_name_ = 1;
};

}  // namespace lab
