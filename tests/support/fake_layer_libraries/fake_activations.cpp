#include "tests/support/fake_layer_libraries/fake_calls.h"

#include <cmath>

namespace lab::test {
namespace {

struct FakeActivationCalls : FakeCalls {
  // ---- Activations and pooling

  static CudnnStatus activation_forward(CudnnContext* h, CudnnActivation* activation,
                                        const void* alpha, const CudnnTensor* x_shape,
                                        const void* x, const void* beta, const CudnnTensor* y_shape,
                                        void* y) {
    constexpr const char* kName = "cudnnActivationForward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor& shape = descriptor(fake, x_shape);
      const CudnnActivationMode mode = descriptor(fake, activation).mode;
      require(shape == descriptor(fake, y_shape), "x and y differ in shape");
      require_plain(work, alpha, beta);
      work.use(x, shape);
      work.use(y, shape);
      work.queue([=, count = shape.count()] {
        for (std::int64_t i = 0; i < count; ++i) {
          const double value = floats(x)[i];
          const double relu = value < 0 ? 0 : value;  // NaN stays
          floats(y)[i] = static_cast<float>(
              mode == CudnnActivationMode::Relu ? relu : 1 / (1 + std::exp(-value)));
        }
      });
    });
  }
  static CudnnStatus activation_backward(CudnnContext* h, CudnnActivation* activation,
                                         const void* alpha, const CudnnTensor* y_shape,
                                         const void* y, const CudnnTensor* dy_shape, const void* dy,
                                         const CudnnTensor* x_shape, const void* x,
                                         const void* beta, const CudnnTensor* dx_shape, void* dx) {
    constexpr const char* kName = "cudnnActivationBackward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor& shape = descriptor(fake, y_shape);
      const CudnnActivationMode mode = descriptor(fake, activation).mode;
      for (const CudnnTensor* other : {dy_shape, x_shape, dx_shape}) {
        require(shape == descriptor(fake, other), "the arrays differ in shape");
      }
      require_plain(work, alpha, beta);
      for (const void* one : {y, dy, x}) work.use(one, shape);
      work.use(dx, shape);
      work.queue([=, count = shape.count()] {
        for (std::int64_t i = 0; i < count; ++i) {
          const double out = floats(y)[i], gradient = floats(dy)[i];
          const double slope =
              mode == CudnnActivationMode::Relu ? (floats(x)[i] > 0 ? 1.0 : 0.0) : out * (1 - out);
          floats(dx)[i] = static_cast<float>(slope == 0 ? 0 : gradient * slope);
        }
      });
    });
  }

  static FakePool pool_of(const FakeLibraries& fake, const CudnnPooling* pooling,
                          const CudnnTensor* x, const CudnnTensor* y) {
    const CudnnPooling& p = descriptor(fake, pooling);
    const CudnnTensor &in = descriptor(fake, x), &out = descriptor(fake, y);
    require(in.n == out.n && in.c == out.c && out.h == (in.h - p.window_h) / p.stride + 1 &&
                out.w == (in.w - p.window_w) / p.stride + 1,
            "the sizes do not fit each other");
    return {in.n, in.h, in.w, in.c, out.h, out.w, p.window_h, p.window_w, p.stride, {}};
  }
  static CudnnStatus pooling_forward(CudnnContext* h, const CudnnPooling* pooling,
                                     const void* alpha, const CudnnTensor* x_shape, const void* x,
                                     const void* beta, const CudnnTensor* y_shape, void* y) {
    constexpr const char* kName = "cudnnPoolingForward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakePool s = pool_of(fake, pooling, x_shape, y_shape);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.write(y, *y_shape);
      work.queue([=] { average(s, floats(x), floats(y)); });
    });
  }
  // x and y of averages are not read, but must be arrays.
  static CudnnStatus pooling_backward(CudnnContext* h, const CudnnPooling* pooling,
                                      const void* alpha, const CudnnTensor* y_shape, const void* y,
                                      const CudnnTensor* dy_shape, const void* dy,
                                      const CudnnTensor* x_shape, const void* x, const void* beta,
                                      const CudnnTensor* dx_shape, void* dx) {
    constexpr const char* kName = "cudnnPoolingBackward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakePool s = pool_of(fake, pooling, x_shape, y_shape);
      require(descriptor(fake, dy_shape) == *y_shape && descriptor(fake, dx_shape) == *x_shape,
              "the arrays differ in shape");
      s.blend = work.blend(alpha, beta);
      work.use(dy, *dy_shape);
      work.write(dx, *dx_shape);
      work.use(y, *y_shape);
      work.use(x, *x_shape);
      work.queue([=] { average_backward(s, floats(dy), floats(dx)); });
    });
  }
};

}  // namespace

void add_activations(CudnnFunctions& cudnn) {
  cudnn.activation_forward = FakeActivationCalls::activation_forward;
  cudnn.activation_backward = FakeActivationCalls::activation_backward;
  cudnn.pooling_forward = FakeActivationCalls::pooling_forward;
  cudnn.pooling_backward = FakeActivationCalls::pooling_backward;
}

}  // namespace lab::test
