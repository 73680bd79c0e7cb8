#pragma once
// Tensors that the user created on the Memory page. Used by the worker thread only; the live list
// of all buffers comes from the devices' memory accounts.
#include <map>
#include <string>

#include "compute/tensor/tensor.h"

namespace lab {

class TensorStore {
 public:
  // Stores `tensor` under `name` ("X1", "X2", ... if empty) and returns its id. Throws
  // Error(Errc::InvalidArgument) if the tensor is undefined.
  TensorId add(Tensor tensor, std::string name = {});
  // at(), name() and free() throw Error(Errc::NotFound) naming an unknown id.
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
