#include "tests/support/fake_layer_libraries/fake_calls.h"

#include <array>

namespace lab::test {
namespace {

struct FakeConvolutionCalls : FakeCalls {
  // ---- Convolutions

  static FakeConvolution shape_of(const FakeLibraries& fake, const CudnnTensor* x,
                                  const CudnnFilter* w, const CudnnConvolution* conv,
                                  const CudnnTensor* y) {
    const CudnnTensor &in = descriptor(fake, x), &out = descriptor(fake, y);
    const CudnnFilter& filter = descriptor(fake, w);
    const CudnnConvolution& c = descriptor(fake, conv);
    const auto side = [&](std::int64_t size) {
      return (size + 2 * c.padding - filter.h) / c.stride + 1;
    };
    require(filter.h == filter.w && in.n == out.n && in.c == filter.c && out.c == filter.k &&
                out.h == side(in.h) && out.w == side(in.w),
            "the sizes do not fit each other");
    return {in.n,
            in.h,
            in.w,
            in.c,
            out.h,
            out.w,
            out.c,
            filter.h,
            c.padding,
            c.stride,
            c.math != CudnnMath::Fma,
            {}};
  }

  static std::int64_t workspace_of(std::int64_t images, int algorithm) {
    if (algorithm == 3) return images * FakeLibraries::kWorkspace_bytes;
    return algorithm == 1 ? images * FakeLibraries::kSmallWorkspace_bytes : 0;
  }

  // Only the last four are usable.
  static CudnnStatus offer(const char* name, const CudnnTensor* x, const CudnnFilter* w,
                           const CudnnConvolution* conv, const CudnnTensor* y, CudnnContext* h,
                           int asked, int* found, CudnnAlgorithm* results) {
    return call<CudnnStatus>(name, [&](FakeLibraries& fake) {
      handle(fake, h);
      require_unrecorded(fake);
      const std::int64_t images = shape_of(fake, x, w, conv, y).n;
      const CudnnMath math = conv->math;
      constexpr auto kNot = CudnnDeterminism::NonDeterministic;
      constexpr auto kYes = CudnnDeterminism::Deterministic;
      constexpr auto kGood = CudnnStatus::Success;
      const std::array offers = {
          CudnnAlgorithm{6, static_cast<CudnnStatus>(3000), -1, 0, kYes, math},
          CudnnAlgorithm{5, kGood, 1, 0, kNot, math},
          CudnnAlgorithm{4, kGood, 2, 0, kYes, CudnnMath::TensorOpAllowConversion},
          CudnnAlgorithm{3, kGood, 3, static_cast<std::size_t>(workspace_of(images, 3)), kYes,
                         math},
          CudnnAlgorithm{2, kGood, 4, 0, kYes, CudnnMath::TensorOp},
          CudnnAlgorithm{1, kGood, 5, static_cast<std::size_t>(workspace_of(images, 1)), kYes,
                         math},
          CudnnAlgorithm{0, kGood, 6, 0, kYes, math}};
      *found = std::min(asked, static_cast<int>(offers.size()));
      std::copy_n(offers.begin(), *found, results);
    });
  }
  static CudnnStatus need(const char* name, const CudnnTensor* x, const CudnnFilter* w,
                          const CudnnConvolution* conv, const CudnnTensor* y, CudnnContext* h,
                          int algorithm, std::size_t* bytes) {
    return call<CudnnStatus>(name, [&](FakeLibraries& fake) {
      handle(fake, h);
      *bytes = static_cast<std::size_t>(workspace_of(shape_of(fake, x, w, conv, y).n, algorithm));
    });
  }
  // Offered, deterministic and in the mode in which it was offered: without rounding, only number 2
  // may use tensor cores.
  static void require_offered(FakeLibraries& fake, const CudnnConvolution& conv, int algorithm) {
    require(algorithm >= 0 && algorithm <= 3, "the algorithm was not offered as deterministic");
    require((algorithm == 2) == (conv.math == CudnnMath::TensorOp),
            "not the algorithm's mode of computation");
    algorithms(fake).insert(algorithm);
  }

  static CudnnStatus forward_algorithms(CudnnContext* h, const CudnnTensor* x, const CudnnFilter* w,
                                        const CudnnConvolution* conv, const CudnnTensor* y, int n,
                                        int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionForwardAlgorithm_v7", x, w, conv, y, h, n, found, results);
  }
  static CudnnStatus data_algorithms(CudnnContext* h, const CudnnFilter* w, const CudnnTensor* dy,
                                     const CudnnConvolution* conv, const CudnnTensor* dx, int n,
                                     int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionBackwardDataAlgorithm_v7", dx, w, conv, dy, h, n, found,
                 results);
  }
  static CudnnStatus filter_algorithms(CudnnContext* h, const CudnnTensor* x, const CudnnTensor* dy,
                                       const CudnnConvolution* conv, const CudnnFilter* dw, int n,
                                       int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionBackwardFilterAlgorithm_v7", x, dw, conv, dy, h, n, found,
                 results);
  }
  static CudnnStatus forward_workspace(CudnnContext* h, const CudnnTensor* x, const CudnnFilter* w,
                                       const CudnnConvolution* conv, const CudnnTensor* y,
                                       int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionForwardWorkspaceSize", x, w, conv, y, h, algorithm, bytes);
  }
  static CudnnStatus data_workspace(CudnnContext* h, const CudnnFilter* w, const CudnnTensor* dy,
                                    const CudnnConvolution* conv, const CudnnTensor* dx,
                                    int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionBackwardDataWorkspaceSize", dx, w, conv, dy, h, algorithm,
                bytes);
  }
  static CudnnStatus filter_workspace(CudnnContext* h, const CudnnTensor* x, const CudnnTensor* dy,
                                      const CudnnConvolution* conv, const CudnnFilter* dw,
                                      int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionBackwardFilterWorkspaceSize", x, dw, conv, dy, h, algorithm,
                bytes);
  }

  static CudnnStatus forward(CudnnContext* h, const void* alpha, const CudnnTensor* x_shape,
                             const void* x, const CudnnFilter* w_shape, const void* w,
                             const CudnnConvolution* conv, int algorithm, void* workspace,
                             std::size_t bytes, const void* beta, const CudnnTensor* y_shape,
                             void* y) {
    constexpr const char* kName = "cudnnConvolutionForward";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, x_shape, w_shape, conv, y_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.use(w, 4 * w_shape->count());
      work.write(y, *y_shape);
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve(s, floats(x), floats(w), floats(y)); });
    });
  }
  static CudnnStatus backward_data(CudnnContext* h, const void* alpha, const CudnnFilter* w_shape,
                                   const void* w, const CudnnTensor* dy_shape, const void* dy,
                                   const CudnnConvolution* conv, int algorithm, void* workspace,
                                   std::size_t bytes, const void* beta, const CudnnTensor* dx_shape,
                                   void* dx) {
    constexpr const char* kName = "cudnnConvolutionBackwardData";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, dx_shape, w_shape, conv, dy_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(w, 4 * w_shape->count());
      work.use(dy, *dy_shape);
      work.write(dx, *dx_shape);
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve_data(s, floats(w), floats(dy), floats(dx)); });
    });
  }
  static CudnnStatus backward_filter(CudnnContext* h, const void* alpha, const CudnnTensor* x_shape,
                                     const void* x, const CudnnTensor* dy_shape, const void* dy,
                                     const CudnnConvolution* conv, int algorithm, void* workspace,
                                     std::size_t bytes, const void* beta,
                                     const CudnnFilter* dw_shape, void* dw) {
    constexpr const char* kName = "cudnnConvolutionBackwardFilter";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, x_shape, dw_shape, conv, dy_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.use(dy, *dy_shape);
      work.write(dw, 4 * dw_shape->count());
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve_filter(s, floats(x), floats(dy), floats(dw)); });
    });
  }
  static CudnnStatus backward_bias(CudnnContext* h, const void* alpha, const CudnnTensor* dy_shape,
                                   const void* dy, const void* beta, const CudnnTensor* db_shape,
                                   void* db) {
    constexpr const char* kName = "cudnnConvolutionBackwardBias";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor &from = descriptor(fake, dy_shape), &to = descriptor(fake, db_shape);
      require(to.c == from.c && to.count() == to.c, "not one value per channel");
      const Blend blend = work.blend(alpha, beta);
      work.use(dy, from);
      work.write(db, to);
      work.queue([=, channels = to.c, count = from.count()] {
        for (std::int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (std::int64_t i = c; i < count; i += channels) sum += double{floats(dy)[i]};
          blend(sum, floats(db)[c]);
        }
      });
    });
  }
  static CudnnStatus add_tensor(CudnnContext* h, const void* alpha, const CudnnTensor* a_shape,
                                const void* a, const void* beta, const CudnnTensor* c_shape,
                                void* c) {
    constexpr const char* kName = "cudnnAddTensor";
    return call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor &from = descriptor(fake, a_shape), &to = descriptor(fake, c_shape);
      const bool per_channel = from.count() == from.c && from.c == to.c;
      require(from == to || per_channel, "neither the same shape nor one value per channel");
      const Blend blend = work.blend(alpha, beta);
      work.use(a, from);
      work.write(c, to);
      work.queue([=, period = from.count(), count = to.count()] {
        for (std::int64_t i = 0; i < count; ++i) blend(floats(a)[i % period], floats(c)[i]);
      });
    });
  }
};

}  // namespace

void add_convolutions(CudnnFunctions& cudnn) {
  cudnn.forward_algorithms = FakeConvolutionCalls::forward_algorithms;
  cudnn.forward_workspace = FakeConvolutionCalls::forward_workspace;
  cudnn.data_algorithms = FakeConvolutionCalls::data_algorithms;
  cudnn.data_workspace = FakeConvolutionCalls::data_workspace;
  cudnn.filter_algorithms = FakeConvolutionCalls::filter_algorithms;
  cudnn.filter_workspace = FakeConvolutionCalls::filter_workspace;
  cudnn.forward = FakeConvolutionCalls::forward;
  cudnn.backward_data = FakeConvolutionCalls::backward_data;
  cudnn.backward_filter = FakeConvolutionCalls::backward_filter;
  cudnn.backward_bias = FakeConvolutionCalls::backward_bias;
  cudnn.add_tensor = FakeConvolutionCalls::add_tensor;
}

}  // namespace lab::test
