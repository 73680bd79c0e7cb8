#include "compute/kernels/convolution/onednn_stage.h"

#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/gemm/onednn_descs.h"

namespace lab {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

enum Which : std::size_t { kImage, kWeight, kResult };

// With fewer tiles of 4x4 pixels, transforming the weights costs more than Winograd saves.
constexpr std::int64_t kFewestTiles = 64;
// Rows of at most this many pixels use only a part of the kernels for channels-last images.
constexpr std::int64_t kShortRow = 4;

// The dimensions of a convolution in oneDNN's terms.
struct Sizes {
  explicit Sizes(const ConvolutionCase& c)
      : image{c.batch, c.shape.in_c, c.shape.in_h, c.shape.in_w},
        weight{c.shape.out_c, c.shape.in_c, c.shape.kernel, c.shape.kernel},
        result{c.batch, c.shape.out_c, c.shape.out_h, c.shape.out_w},
        bias{c.shape.out_c},
        strides{c.shape.stride, c.shape.stride},
        padding{c.shape.padding, c.shape.padding} {}
  memory::dims image, weight, result, bias, strides, padding;
};

// The requested algorithm and image format. oneDNN chooses the format of the weights.
struct Plan {
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
  Tag images = Tag::nhwc;
};

bool winograd_pays(const ConvolutionCase& c) {
  const simd::ConvShape& s = c.shape;
  const std::int64_t tiles = c.batch * ((s.out_h + 3) / 4) * ((s.out_w + 3) / 4);
  return c.products == Precision::F32 && s.kernel == 3 && s.stride == 1 && s.in_c % 16 == 0 &&
         s.out_c % 16 == 0 && tiles >= kFewestTiles && winograd4_is_accurate_enough(c);
}

Plan direct_plan(const ConvolutionCase& c) {
  Plan plan;
  const bool short_rows = (c.stage == ConvolutionStage::Forward && c.shape.out_w <= kShortRow) ||
                          (c.stage == ConvolutionStage::InputGradient && c.shape.in_w <= kShortRow);
  if (short_rows) plan.images = Tag::any;
  return plan;
}

// Descriptors of the stage's arrays, as requested from oneDNN.
struct Wanted {
  Wanted(const ConvolutionCase& c, const Plan& plan) : sizes(c) {
    const Type operand = c.products == Precision::BF16 ? Type::bf16 : Type::f32;
    const auto type = [&](ConvolutionStage writes) {
      return c.stage == writes ? Type::f32 : operand;
    };
    image = {sizes.image, type(ConvolutionStage::InputGradient), plan.images};
    weight = {sizes.weight, type(ConvolutionStage::WeightGradient), Tag::any};
    result = {sizes.result, type(ConvolutionStage::Forward), plan.images};
    bias = {sizes.bias, Type::f32, Tag::x};
  }
  Sizes sizes;
  memory::desc image, weight, result, bias;
};

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// If `allow_empty`, the following functions return an empty descriptor if oneDNN has no such
// kernel.

dnnl::convolution_forward::primitive_desc forward_desc(const ConvolutionCase& c, const Plan& plan,
                                                       bool with_bias, const dnnl::engine& engine,
                                                       bool allow_empty) {
  using Forward = dnnl::convolution_forward;
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  const Wanted w(c, plan);
  const Sizes& s = w.sizes;
  const OnednnOptions making{engine, attributes(), allow_empty};
  return with_bias ? onednn_desc<Forward>(making, kKind, plan.algorithm, w.image, w.weight, w.bias,
                                          w.result, s.strides, s.padding, s.padding)
                   : onednn_desc<Forward>(making, kKind, plan.algorithm, w.image, w.weight,
                                          w.result, s.strides, s.padding, s.padding);
}

// The forward descriptor that a gradient's descriptor refers to, with the same operand types.
dnnl::convolution_forward::primitive_desc forward_hint(ConvolutionCase c, const Plan& plan,
                                                       const dnnl::engine& engine,
                                                       bool allow_empty) {
  c.stage = ConvolutionStage::Forward;
  return forward_desc(c, plan, /*with_bias=*/false, engine, allow_empty);
}

dnnl::convolution_backward_data::primitive_desc input_gradient_desc(const ConvolutionCase& c,
                                                                    const Plan& plan,
                                                                    const dnnl::engine& engine,
                                                                    bool allow_empty) {
  const auto hint = forward_hint(c, plan, engine, allow_empty);
  if (hint.get(true) == nullptr) return {};
  const Wanted w(c, plan);
  const Sizes& s = w.sizes;
  return onednn_gradient_desc<dnnl::convolution_backward_data>(
      {engine, attributes(), allow_empty}, hint, plan.algorithm, w.image, w.weight, w.result,
      s.strides, s.padding, s.padding);
}

dnnl::convolution_backward_weights::primitive_desc weight_gradient_desc(const ConvolutionCase& c,
                                                                        const Plan& plan,
                                                                        const dnnl::engine& engine,
                                                                        bool allow_empty) {
  const auto hint = forward_hint(c, plan, engine, allow_empty);
  if (hint.get(true) == nullptr) return {};
  const Wanted w(c, plan);
  const Sizes& s = w.sizes;
  return onednn_gradient_desc<dnnl::convolution_backward_weights>(
      {engine, attributes(), allow_empty}, hint, plan.algorithm, w.image, w.weight, w.result,
      s.strides, s.padding, s.padding);
}

// Returns make(plan, allow_empty) for Winograd where that pays and oneDNN supports it, otherwise
// for a direct convolution.
template <typename Make>
auto best_desc(const ConvolutionCase& c, const Make& make) {
  if (winograd_pays(c)) {
    const Plan winograd{.algorithm = dnnl::algorithm::convolution_winograd, .images = Tag::any};
    if (auto desc = make(winograd, true); desc.get(true) != nullptr) return desc;
  }
  return make(direct_plan(c), false);
}

dnnl::reorder conversion(const dnnl::memory& from, const dnnl::memory& to, bool add) {
  dnnl::primitive_attr attr;
  if (add) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    attr.set_post_ops(sum);
  }
  return dnnl::reorder(from, to, attr);
}

void convert(const dnnl::primitive& conversion, const dnnl::memory& from, const dnnl::memory& to,
             dnnl::stream& stream) {
  conversion.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace

OnednnStage::OnednnStage(const ConvolutionCase& c, bool with_bias, const dnnl::engine& engine)
    : engine_(engine), stage_(c.stage) {
  const Sizes sizes(c);
  const auto unbound = [&](const memory::dims& dims, Tag tag) {
    return memory({dims, Type::f32, tag}, engine, nullptr);
  };
  operands_[kImage].ours = unbound(sizes.image, Tag::nhwc);
  operands_[kWeight].ours = unbound(sizes.weight, Tag::ohwi);
  operands_[kResult].ours = unbound(sizes.result, Tag::nhwc);
  switch (stage_) {
    case ConvolutionStage::Forward: {
      const auto desc = best_desc(c, [&](const Plan& plan, bool allow_empty) {
        return forward_desc(c, plan, with_bias, engine, allow_empty);
      });
      primitive_ = dnnl::convolution_forward(desc);
      operands_[kResult].output = true;
      take(desc, {desc.src_desc(), desc.weights_desc(), desc.dst_desc()},
           {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
      break;
    }
    case ConvolutionStage::InputGradient: {
      const auto desc = best_desc(c, [&](const Plan& plan, bool allow_empty) {
        return input_gradient_desc(c, plan, engine, allow_empty);
      });
      primitive_ = dnnl::convolution_backward_data(desc);
      operands_[kImage].output = true;
      take(desc, {desc.diff_src_desc(), desc.weights_desc(), desc.diff_dst_desc()},
           {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST});
      break;
    }
    case ConvolutionStage::WeightGradient: {
      const auto desc = best_desc(c, [&](const Plan& plan, bool allow_empty) {
        return weight_gradient_desc(c, plan, engine, allow_empty);
      });
      primitive_ = dnnl::convolution_backward_weights(desc);
      operands_[kWeight].output = true;
      take(desc, {desc.src_desc(), desc.diff_weights_desc(), desc.diff_dst_desc()},
           {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST});
      break;
    }
  }
  if (with_bias) {
    bias_ = unbound(sizes.bias, Tag::x);
    arguments_[DNNL_ARG_BIAS] = bias_;
  }
}

template <typename PrimitiveDesc>
void OnednnStage::take(const PrimitiveDesc& desc, const memory::desc (&theirs)[3],
                       const int (&roles)[3]) {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    connect(operands_[i], theirs[i]);
    arguments_[roles[i]] = operands_[i].theirs;
  }
  scratchpad_ = memory(desc.scratchpad_desc(), engine_, nullptr);
  scratchpad_offset_ = take_scratch(desc.scratchpad_desc().get_size());
  arguments_[DNNL_ARG_SCRATCHPAD] = scratchpad_;
}

void OnednnStage::connect(Operand& operand, const memory::desc& theirs) {
  operand.theirs = memory(theirs, engine_, nullptr);
  operand.converts = theirs != operand.ours.get_desc();
  const bool adds = operand.output && stage_ == ConvolutionStage::InputGradient;
  if (operand.converts) {
    operand.convert = operand.output ? conversion(operand.theirs, operand.ours, false)
                                     : conversion(operand.ours, operand.theirs, false);
  }
  if (adds) operand.add = conversion(operand.theirs, operand.ours, true);
  if (operand.converts || adds) operand.offset = take_scratch(theirs.get_size());
}

std::int64_t OnednnStage::take_scratch(std::size_t bytes) {
  const std::int64_t offset = scratch_bytes_;
  scratch_bytes_ += (static_cast<std::int64_t>(bytes) + 63) / 64 * 64;
  return offset;
}

void OnednnStage::run(const StageArrays& arrays, bool accumulate, std::byte* scratch,
                      dnnl::stream& stream) {
  float* const ours[] = {arrays.image, arrays.weight, arrays.result};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    Operand& o = operands_[i];
    const bool apart = o.converts || (o.output && accumulate);
    o.ours.set_data_handle(ours[i]);
    o.theirs.set_data_handle(apart ? static_cast<void*>(scratch + o.offset) : ours[i]);
    if (!o.output && o.converts) convert(o.convert, o.ours, o.theirs, stream);
  }
  if (bias_) bias_.set_data_handle(arrays.bias);
  scratchpad_.set_data_handle(scratch + scratchpad_offset_);
  primitive_.execute(stream, arguments_);
  for (const Operand& o : operands_) {
    if (!o.output || !(o.converts || accumulate)) continue;
    convert(accumulate ? o.add : o.convert, o.theirs, o.ours, stream);
  }
  stream.wait();
}

}  // namespace lab
