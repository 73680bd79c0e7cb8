/* The version that a fake of cuBLAS or cublasLt reports: FAKE_MAJOR. Signatures match cublas_api.h
   and cublasLt.h, where property 0 is the major version and result 0 is success. */

int cublasGetProperty(int property, int* value) {
  *value = property == 0 ? FAKE_MAJOR : 0;
  return 0;
}

int cublasLtGetProperty(int property, int* value) {
  return cublasGetProperty(property, value);
}
