#pragma once
// Descriptors of oneDNN's primitives. The only file that distinguishes oneDNN 2 from oneDNN 3.
#include "oneapi/dnnl/dnnl.hpp"

namespace lab {

// Options for creating a primitive, apart from the operation itself.
struct OnednnOptions {
  const dnnl::engine& engine;
  dnnl::primitive_attr attributes = {};
  bool allow_empty = false;  // if there is no kernel: an empty descriptor, not dnnl::error
};

// Returns the descriptor of a Primitive other than a gradient. `operation` is the argument list in
// oneDNN's documentation: kind, algorithm, arrays and sizes, in that order.
template <typename Primitive, typename... Operation>
typename Primitive::primitive_desc onednn_desc(const OnednnOptions& making,
                                               const Operation&... operation) {
#if DNNL_VERSION_MAJOR >= 3
  return {making.engine, operation..., making.attributes, making.allow_empty};
#else
  const typename Primitive::desc described(operation...);
  return {described, making.attributes, making.engine, making.allow_empty};
#endif
}

// As onednn_desc(), for a gradient; `hint` is the descriptor of its forward primitive.
template <typename Primitive, typename Hint, typename... Operation>
typename Primitive::primitive_desc onednn_gradient_desc(const OnednnOptions& making,
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
