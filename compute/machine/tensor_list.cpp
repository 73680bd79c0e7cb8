#include "compute/machine/tensor_list.h"

#include <algorithm>
#include <iterator>

namespace lab {

TensorList list_tensors(Machine& machine) {
  TensorList all;
  for (const Device device : machine.devices()) {
    std::vector<TensorInfo> here = machine.at(device).memory().list();
    std::move(here.begin(), here.end(), std::back_inserter(all.tensors));
  }
  // Ids count up over all devices, so their order is the order of birth.
  std::sort(all.tensors.begin(), all.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.id < b.id; });
  return all;
}

}  // namespace lab
