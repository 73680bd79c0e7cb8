/* The version that a fake of cuBLAS or cublasLt claims: FAKE_MAJOR. The functions have the types of
   cublas_api.h and cublasLt.h, where 0 asks for the major version and answers success. */

int cublasGetProperty(int property, int* value) {
  *value = property == 0 ? FAKE_MAJOR : 0;
  return 0;
}

int cublasLtGetProperty(int property, int* value) {
  return cublasGetProperty(property, value);
}
