#include "compute/gpu/gpu_layer_sizes.h"

#include <initializer_list>
#include <limits>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

constexpr std::int64_t kMaxElements = std::numeric_limits<std::int32_t>::max();

struct Size {
  const char* name;
  std::int64_t value;
};

void require_positive(const char* operation, std::initializer_list<Size> sizes) {
  for (const Size& size : sizes) {
    if (size.value < 1) {
      throw Error(Errc::InvalidArgument,
                  trf("{}: {} is {}; it must be positive", operation, size.name, size.value));
    }
  }
}

// An array of factors[0] * factors[1] * ... elements; the factors are positive.
void require_addressable(const char* operation, std::initializer_list<std::int64_t> factors) {
  std::int64_t elements = 1;
  for (const std::int64_t factor : factors) {
    if (factor > kMaxElements / elements) {
      throw Error(Errc::InvalidArgument,
                  trf("{}: an array has more than {} elements; use a smaller batch", operation,
                      kMaxElements));
    }
    elements *= factor;
  }
}

std::int64_t convolved(std::int64_t in, const GpuConvolution& c) {
  const std::int64_t room = in + 2 * c.padding - c.kernel;
  return room < 0 ? 0 : room / c.stride + 1;
}

}  // namespace

void check_sizes(const GpuImageOrder& order) {
  constexpr const char* kName = "order of images";
  require_positive(kName, {{"images", order.images}});
  require_addressable(kName, {order.images});
}

void check_sizes(const GpuGather& gather) {
  constexpr const char* kName = "gather";
  require_positive(
      kName,
      {{"images", gather.images}, {"image_size", gather.image_size}, {"width", gather.width}});
  require_addressable(kName, {gather.images, gather.image_size});
  if (gather.image_size % gather.width != 0) {
    throw Error(Errc::InvalidArgument, trf("{}: rows of {} pixels do not divide images of {}",
                                           kName, gather.width, gather.image_size));
  }
}

void check_sizes(const GpuConvolution& c) {
  constexpr const char* kName = "convolution";
  require_positive(kName, {{"images", c.images},
                           {"in_h", c.in_h},
                           {"in_w", c.in_w},
                           {"in_c", c.in_c},
                           {"out_h", c.out_h},
                           {"out_w", c.out_w},
                           {"out_c", c.out_c},
                           {"kernel", c.kernel},
                           {"stride", c.stride},
                           {"padding + 1", c.padding + 1}});
  require_addressable(kName, {c.images, c.in_h, c.in_w, c.in_c});
  require_addressable(kName, {c.images, c.out_h, c.out_w, c.out_c});
  require_addressable(kName, {c.kernel, c.kernel, c.in_c, c.out_c});
  for (const std::int64_t side :
       {c.in_h, c.in_w, c.out_h, c.out_w, c.kernel, c.stride, c.padding}) {
    if (side > GpuConvolution::kMaxSide) {
      throw Error(Errc::InvalidArgument,
                  trf("convolution: {} pixels along a side; at most {} are supported", side,
                      GpuConvolution::kMaxSide));
    }
  }
  const std::int64_t h = convolved(c.in_h, c), w = convolved(c.in_w, c);
  if (h != c.out_h || w != c.out_w) {
    throw Error(
        Errc::InvalidArgument,
        trf("convolution: a kernel of {}x{} with stride {} and padding {} turns {}x{} "
            "pixels into {}x{}, not {}x{}",
            c.kernel, c.kernel, c.stride, c.padding, c.in_h, c.in_w, h, w, c.out_h, c.out_w));
  }
}

void check_f32(const GpuConvolution& c) {
  check_sizes(c);
  if (c.x.is_bf16() || c.y.is_bf16()) {
    throw Error(Errc::InvalidArgument,
                tr("convolution: arrays of bf16 need channels in multiples of 64, a kernel and a "
                   "padding up to 16, a stride up to 8, --dtype bf16 and a GPU of compute "
                   "capability 9.0"));
  }
}

void check_sizes(const GpuBatchNorm& norm) {
  constexpr const char* kName = "batch norm";
  require_positive(kName, {{"rows", norm.rows}, {"channels", norm.channels}});
  require_addressable(kName, {norm.rows, norm.channels});
  if ((norm.x.is_bf16() || norm.y.is_bf16()) && norm.channels % kBf16Width != 0) {
    throw Error(Errc::InvalidArgument,
                trf("batch norm: {} channels; arrays of bf16 need a multiple of {}", norm.channels,
                    kBf16Width));
  }
}

void check_sizes(const GpuActivate& activation) {
  require_positive("activation", {{"count", activation.count}});
  require_addressable("activation", {activation.count});
}

void check_sizes(const GpuAveragePool& pool) {
  constexpr const char* kName = "average pooling";
  require_positive(kName, {{"images", pool.images},
                           {"in_h", pool.in_h},
                           {"in_w", pool.in_w},
                           {"channels", pool.channels},
                           {"kernel_h", pool.kernel_h},
                           {"kernel_w", pool.kernel_w},
                           {"stride", pool.stride}});
  require_addressable(kName, {pool.images, pool.in_h, pool.in_w, pool.channels});
  if (pool.kernel_h > pool.in_h || pool.kernel_w > pool.in_w) {
    throw Error(Errc::InvalidArgument,
                trf("average pooling: the window of {}x{} is larger than the image of {}x{}",
                    pool.kernel_h, pool.kernel_w, pool.in_h, pool.in_w));
  }
  require_addressable(kName, {pool.images, pool.out_h(), pool.out_w(), pool.channels});
  if (pool.sigmoid && (pool.x.is_bf16() || pool.dx.is_bf16())) {
    throw Error(Errc::InvalidArgument, tr("average pooling: a sigmoid needs FP32 arrays"));
  }
}

void check_sizes(const GpuFlatten& flatten) {
  constexpr const char* kName = "flatten";
  require_positive(
      kName,
      {{"images", flatten.images}, {"pixels", flatten.pixels}, {"channels", flatten.channels}});
  require_addressable(kName, {flatten.images, flatten.pixels, flatten.channels});
}

void check_sizes(const GpuLoss& loss) {
  constexpr std::int64_t kMaxClasses = 256;
  require_positive("loss", {{"images", loss.images}, {"classes", loss.classes}});
  require_addressable("loss", {loss.images, loss.classes});
  if (loss.classes > kMaxClasses) {
    throw Error(Errc::InvalidArgument,
                trf("loss: {} classes; labels are bytes, so at most {} are supported", loss.classes,
                    kMaxClasses));
  }
}

void check_sizes(const GpuSgd& sgd) {
  require_positive("sgd", {{"count", sgd.count}});
  require_addressable("sgd", {sgd.count});
  if (sgd.lr == nullptr) throw Error(Errc::Internal, "sgd: no learning rate");
}

void check_sizes(const GpuRounding& rounding) {
  constexpr const char* kName = "rounding";
  require_positive(kName, {{"count", rounding.count}});
  require_addressable(kName, {rounding.count});
  if (rounding.count % kBf16Width != 0) {
    throw Error(Errc::InvalidArgument,
                trf("{}: {} elements are not a multiple of {}", kName, rounding.count, kBf16Width));
  }
}

}  // namespace lab
