// Fake of the driver library libcuda.so.1 that reports a version and no GPU. Compile definitions:
// FAKE_VERSION (12020 is CUDA 12.2) and FAKE_INIT, the result of cuInit (0: success, 100: no
// device).

int cuInit(unsigned flags) {
  (void)flags;
  return FAKE_INIT;
}

int cuDriverGetVersion(int* version) {
  *version = FAKE_VERSION;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 0;
  return FAKE_INIT;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
