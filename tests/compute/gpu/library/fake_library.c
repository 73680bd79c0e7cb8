/* A shared object with the names of cuDNN's or cuBLAS's functions, of which only those that report
 * the version may be called. FAKE_PARTIAL lacks some, FAKE_OLD is of a version that the lab does
 * not support. */
#include <stddef.h>

#define STAND_IN(name) \
  int name(void);      \
  int name(void) {     \
    return 1;          \
  }

#ifdef FAKE_CUDNN
size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
#ifdef FAKE_OLD
  return 8905;
#else
  return 91203;
#endif
}
#ifndef FAKE_PARTIAL
STAND_IN(cudnnPoolingBackward)
#endif
STAND_IN(cudnnGetErrorString)
STAND_IN(cudnnCreate)
STAND_IN(cudnnDestroy)
STAND_IN(cudnnSetStream)
STAND_IN(cudnnCreateTensorDescriptor)
STAND_IN(cudnnDestroyTensorDescriptor)
STAND_IN(cudnnSetTensor4dDescriptor)
STAND_IN(cudnnCreateFilterDescriptor)
STAND_IN(cudnnDestroyFilterDescriptor)
STAND_IN(cudnnSetFilter4dDescriptor)
STAND_IN(cudnnCreateConvolutionDescriptor)
STAND_IN(cudnnDestroyConvolutionDescriptor)
STAND_IN(cudnnSetConvolution2dDescriptor)
STAND_IN(cudnnSetConvolutionMathType)
STAND_IN(cudnnCreateActivationDescriptor)
STAND_IN(cudnnDestroyActivationDescriptor)
STAND_IN(cudnnSetActivationDescriptor)
STAND_IN(cudnnCreatePoolingDescriptor)
STAND_IN(cudnnDestroyPoolingDescriptor)
STAND_IN(cudnnSetPooling2dDescriptor)
STAND_IN(cudnnGetConvolutionForwardAlgorithm_v7)
STAND_IN(cudnnGetConvolutionForwardWorkspaceSize)
STAND_IN(cudnnGetConvolutionBackwardDataAlgorithm_v7)
STAND_IN(cudnnGetConvolutionBackwardDataWorkspaceSize)
STAND_IN(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
STAND_IN(cudnnGetConvolutionBackwardFilterWorkspaceSize)
STAND_IN(cudnnConvolutionForward)
STAND_IN(cudnnConvolutionBackwardData)
STAND_IN(cudnnConvolutionBackwardFilter)
STAND_IN(cudnnConvolutionBackwardBias)
STAND_IN(cudnnAddTensor)
STAND_IN(cudnnBatchNormalizationForwardTraining)
STAND_IN(cudnnBatchNormalizationForwardInference)
STAND_IN(cudnnBatchNormalizationBackward)
STAND_IN(cudnnActivationForward)
STAND_IN(cudnnActivationBackward)
STAND_IN(cudnnPoolingForward)
#endif

#ifdef FAKE_CUBLAS
int cublasGetProperty(int which, int* value);
int cublasGetProperty(int which, int* value) {
#ifdef FAKE_OLD
  *value = which == 0 ? 11 : 8;
#else
  *value = which == 0 ? 12 : 9;
#endif
  return 0;
}
#ifndef FAKE_PARTIAL
STAND_IN(cublasGemmEx)
#endif
STAND_IN(cublasGetStatusString)
STAND_IN(cublasCreate_v2)
STAND_IN(cublasDestroy_v2)
STAND_IN(cublasSetStream_v2)
STAND_IN(cublasSetWorkspace_v2)
#endif
