#include "tests/support/fake_layer_libraries/fake_calls.h"

namespace lab::test {
namespace {

struct FakeNormCalls : FakeCalls {
  // ---- Batch norm

  static FakeNorm norm_of(const FakeLibraries& fake, const CudnnTensor* x, const CudnnTensor* y,
                          const CudnnTensor* parameters, double epsilon, double momentum = 0) {
    const CudnnTensor& rows = descriptor(fake, x);
    const CudnnTensor& one = descriptor(fake, parameters);
    require(rows == descriptor(fake, y), "x and y differ in shape");
    require(one.count() == one.c && one.c == rows.c, "not one parameter per channel");
    require(epsilon > 0, "epsilon is not positive");
    return {rows.count() / rows.c, rows.c, epsilon, momentum};
  }

  static CudnnStatus norm_forward(CudnnContext* h, CudnnNormMode mode, const void* alpha,
                                  const void* beta, const CudnnTensor* x_shape, const void* x,
                                  const CudnnTensor* y_shape, void* y,
                                  const CudnnTensor* parameters, const void* scale,
                                  const void* bias, double momentum, void* running_mean,
                                  void* running_variance, double epsilon, void* mean,
                                  void* inverse_deviation) {
    constexpr const char* kName = "cudnnBatchNormalizationForwardTraining";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, y_shape, parameters, epsilon, momentum);
      require(mode == CudnnNormMode::Spatial || mode == CudnnNormMode::SpatialPersistent, "mode");
      require(s.rows > 1, "the variance of one row");
      require_plain(work, alpha, beta);
      work.use(x, *x_shape);
      for (const void* one : {scale, bias}) work.use(one, *parameters);
      work.write(y, *y_shape);
      for (void* one : {running_mean, running_variance, mean, inverse_deviation}) {
        work.write(one, *parameters);
      }
      work.queue([=] {
        normalise(s, {floats(x), floats(scale), floats(bias), floats(y), floats(running_mean),
                      floats(running_variance), floats(mean), floats(inverse_deviation)});
      });
    });
  }
  static CudnnStatus norm_inference(CudnnContext* h, CudnnNormMode mode, const void* alpha,
                                    const void* beta, const CudnnTensor* x_shape, const void* x,
                                    const CudnnTensor* y_shape, void* y,
                                    const CudnnTensor* parameters, const void* scale,
                                    const void* bias, const void* mean, const void* variance,
                                    double epsilon) {
    constexpr const char* kName = "cudnnBatchNormalizationForwardInference";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, y_shape, parameters, epsilon);
      require(mode == CudnnNormMode::Spatial, "mode");
      require(x_shape->n <= 65535, "more images than cuDNN's kernels take");
      require_plain(work, alpha, beta);
      work.use(x, *x_shape);
      for (const void* one : {scale, bias, mean, variance}) work.use(one, *parameters);
      work.write(y, *y_shape);
      work.queue([=] {
        normalise_inference(s, floats(x), floats(scale), floats(bias), floats(mean),
                            floats(variance), floats(y));
      });
    });
  }
  static CudnnStatus norm_backward(CudnnContext* h, CudnnNormMode mode, const void* alpha_data,
                                   const void* beta_data, const void* alpha_parameters,
                                   const void* beta_parameters, const CudnnTensor* x_shape,
                                   const void* x, const CudnnTensor* dy_shape, const void* dy,
                                   const CudnnTensor* dx_shape, void* dx,
                                   const CudnnTensor* parameters, const void* scale, void* dscale,
                                   void* dbias, double epsilon, const void* mean,
                                   const void* inverse_deviation) {
    constexpr const char* kName = "cudnnBatchNormalizationBackward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, dy_shape, parameters, epsilon);
      require(descriptor(fake, dx_shape) == *x_shape, "x and dx differ in shape");
      require(mode == CudnnNormMode::Spatial || mode == CudnnNormMode::SpatialPersistent, "mode");
      require_plain(work, alpha_data, beta_data);
      require_plain(work, alpha_parameters, beta_parameters);
      work.use(x, *x_shape);
      work.use(dy, *dy_shape);
      for (const void* one : {scale, mean, inverse_deviation}) work.use(one, *parameters);
      work.write(dx, *dx_shape);
      for (void* one : {dscale, dbias}) work.write(one, *parameters);
      work.queue([=] {
        normalise_backward(
            s, {floats(x), floats(dy), floats(scale), floats(mean), floats(inverse_deviation),
                floats(dx), floats(dscale), floats(dbias)});
      });
    });
  }
};

}  // namespace

void add_norms(CudnnFunctions& cudnn) {
  cudnn.norm_forward = FakeNormCalls::norm_forward;
  cudnn.norm_inference = FakeNormCalls::norm_inference;
  cudnn.norm_backward = FakeNormCalls::norm_backward;
}

}  // namespace lab::test
