/* A library with NCCL's functions, which do nothing. FAKE_VERSION: what ncclGetVersion reports.
   FAKE_INCOMPLETE: without ncclAllReduce. */
int ncclGetVersion(int* version) {
  *version = FAKE_VERSION;
  return 0;
}
int ncclCommInitAll(void) { return 0; }
int ncclCommDestroy(void) { return 0; }
int ncclCommAbort(void) { return 0; }
int ncclCommGetAsyncError(void) { return 0; }
#ifndef FAKE_INCOMPLETE
int ncclAllReduce(void) { return 0; }
#endif
int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return 0; }
const char* ncclGetErrorString(void) { return ""; }
