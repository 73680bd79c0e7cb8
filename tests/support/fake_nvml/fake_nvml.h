#pragma once
/* What tests can tell and ask a fake of NVIDIA's management library, by dlsym. */

#ifdef __cplusplus
extern "C" {
#endif

/* Calls that reached a GPU since the library was loaded; its handle's calls count, nvmlInit does
   not. */
int fake_nvml_calls(int gpu);
/* nvmlInit calls less nvmlShutdown calls. */
int fake_nvml_open(void);
/* The processes on every GPU; `growth` more appear at every call that had too little room. */
void fake_nvml_set_processes(int count, int growth);
/* Whether every GPU is divided (MIG) from now on; its processes then have instances, and its load
   is not told. */
void fake_nvml_divide(int divided);
/* Whether a client of MPS computes on every GPU from now on. */
void fake_nvml_share(int shared);
/* Whether the driver has no sample of any process's load from now on. */
void fake_nvml_rest(int idle);
/* From now on every call of that GPU answers `code`; 0: as usual. */
void fake_nvml_fail(int gpu, int code);

/* From now on every call of a GPU takes so many microseconds, of processor time with `busy`, else
   waiting; 0: as usual. */
void fake_nvml_slow(int microseconds, int busy);

#ifdef __cplusplus
}
#endif
