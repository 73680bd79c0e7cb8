#include "tests/support/fake_layer_libraries/fake_calls.h"

namespace lab::test {
namespace {

struct FakeDescriptorCalls : FakeCalls {
  // ---- Descriptors

  template <class T>
  static CudnnStatus make(T** one) {
    return call<CudnnStatus>("create descriptor", [&](FakeLibraries& fake) {
      require_unrecorded(fake);
      auto made = std::make_unique<T>();
      descriptors(fake).insert(made.get());
      *one = made.release();
    });
  }
  template <class T>
  static CudnnStatus end(T* one) {
    return call<CudnnStatus>("destroy descriptor", [&](FakeLibraries& fake) {
      require(descriptors(fake).erase(one) == 1, "not a live descriptor");
      const std::unique_ptr<T> ended(one);
    });
  }
  template <class T, class Values>
  static CudnnStatus set(T* one, const Values& values) {
    return call<CudnnStatus>("set descriptor", [&](FakeLibraries& fake) {
      require(descriptors(fake).contains(one), "not a live descriptor");
      require_unrecorded(fake);
      values();
      one->set = true;
    });
  }
  static CudnnStatus set_tensor(CudnnTensor* t, CudnnFormat format, CudnnData type, int n, int c,
                                int h, int w) {
    return set(t, [&] {
      require(format == CudnnFormat::Nhwc && type == CudnnData::Float, "not FP32 in NHWC");
      require(std::min({n, c, h, w}) > 0, "an empty tensor");
      *t = {false, n, c, h, w};
    });
  }
  static CudnnStatus set_filter(CudnnFilter* f, CudnnData type, CudnnFormat format, int k, int c,
                                int h, int w) {
    return set(f, [&] {
      require(format == CudnnFormat::Nhwc && type == CudnnData::Float, "not FP32 in NHWC");
      *f = {false, k, c, h, w};
    });
  }
  static CudnnStatus set_convolution(CudnnConvolution* c, int pad_h, int pad_w, int stride_h,
                                     int stride_w, int dilation_h, int dilation_w,
                                     CudnnConvolutionMode mode, CudnnData compute) {
    return set(c, [&] {
      require(pad_h == pad_w && stride_h == stride_w && dilation_h == 1 && dilation_w == 1,
              "not a convolution of the lab");
      require(mode == CudnnConvolutionMode::CrossCorrelation && compute == CudnnData::Float,
              "not a cross-correlation in FP32");
      c->padding = pad_h;
      c->stride = stride_h;
    });
  }
  static CudnnStatus set_math(CudnnConvolution* c, CudnnMath math) {
    return set(c, [&] {
      require(c->set, "the descriptor is not set");
      c->math = math;
    });
  }
  static CudnnStatus set_activation(CudnnActivation* a, CudnnActivationMode mode, CudnnNan nan,
                                    double /*coefficient*/) {
    return set(a, [&] {
      require(nan == CudnnNan::Propagate, "NaN would be hidden");
      a->mode = mode;
    });
  }
  static CudnnStatus set_pooling(CudnnPooling* p, CudnnPoolingMode mode, CudnnNan /*nan*/,
                                 int window_h, int window_w, int pad_h, int pad_w, int stride_h,
                                 int stride_w) {
    return set(p, [&] {
      require(mode == CudnnPoolingMode::AverageCountIncludePadding && pad_h == 0 && pad_w == 0 &&
                  stride_h == stride_w,
              "not a pooling of the lab");
      *p = {false, window_h, window_w, stride_h};
    });
  }
};

}  // namespace

void add_descriptors(CudnnFunctions& cudnn) {
  cudnn.create_tensor = FakeDescriptorCalls::make<CudnnTensor>;
  cudnn.destroy_tensor = FakeDescriptorCalls::end<CudnnTensor>;
  cudnn.set_tensor = FakeDescriptorCalls::set_tensor;
  cudnn.create_filter = FakeDescriptorCalls::make<CudnnFilter>;
  cudnn.destroy_filter = FakeDescriptorCalls::end<CudnnFilter>;
  cudnn.set_filter = FakeDescriptorCalls::set_filter;
  cudnn.create_convolution = FakeDescriptorCalls::make<CudnnConvolution>;
  cudnn.destroy_convolution = FakeDescriptorCalls::end<CudnnConvolution>;
  cudnn.set_convolution = FakeDescriptorCalls::set_convolution;
  cudnn.set_math = FakeDescriptorCalls::set_math;
  cudnn.create_activation = FakeDescriptorCalls::make<CudnnActivation>;
  cudnn.destroy_activation = FakeDescriptorCalls::end<CudnnActivation>;
  cudnn.set_activation = FakeDescriptorCalls::set_activation;
  cudnn.create_pooling = FakeDescriptorCalls::make<CudnnPooling>;
  cudnn.destroy_pooling = FakeDescriptorCalls::end<CudnnPooling>;
  cudnn.set_pooling = FakeDescriptorCalls::set_pooling;
}

}  // namespace lab::test
