#pragma once
// Descriptors of oneDNN's primitives under its releases 2 and 3: the one place that knows both.
#include "oneapi/dnnl/dnnl.hpp"

namespace lab {

// How a primitive is to be made, apart from the operation itself.
struct OnednnMaking {
  const dnnl::engine& engine;
  dnnl::primitive_attr attributes = {};
  bool allow_empty = false;  // an empty descriptor, not dnnl::error, where there is no kernel
};

// The descriptor of a Primitive that is no gradient. `operation` is what oneDNN documents for it:
// kind, algorithm, arrays and sizes, in that order.
template <typename Primitive, typename... Operation>
typename Primitive::primitive_desc onednn_desc(const OnednnMaking& making,
                                               const Operation&... operation) {
#if DNNL_VERSION_MAJOR >= 3
  return {making.engine, operation..., making.attributes, making.allow_empty};
#else
  const typename Primitive::desc described(operation...);
  return {described, making.attributes, making.engine, making.allow_empty};
#endif
}

// The same for a gradient; `hint` is the descriptor of its forward primitive.
template <typename Primitive, typename Hint, typename... Operation>
typename Primitive::primitive_desc onednn_gradient_desc(const OnednnMaking& making,
                                                        const Hint& hint,
                                                        const Operation&... operation) {
#if DNNL_VERSION_MAJOR >= 3
  return {making.engine, operation..., hint, making.attributes, making.allow_empty};
#else
  const typename Primitive::desc described(operation...);
  return {described, making.attributes, making.engine, hint, making.allow_empty};
#endif
}

}  // namespace lab
