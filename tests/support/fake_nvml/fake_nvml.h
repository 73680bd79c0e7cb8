#pragma once
/* Controls and counters of the fake of NVML, looked up with dlsym. */

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the calls on a GPU since the library was loaded, handle lookups included, nvmlInit
   excluded. */
int fake_nvml_calls(int gpu);
/* Returns nvmlInit calls minus nvmlShutdown calls. */
int fake_nvml_open(void);
/* Sets the number of processes on every GPU; `growth` more appear at every call whose buffer was
   too small. */
void fake_nvml_set_processes(int count, int growth);
/* Sets whether every GPU is in MIG mode: processes then have instances, and utilisation is not
   reported. */
void fake_nvml_divide(int divided);
/* Sets whether an MPS client computes on every GPU. */
void fake_nvml_share(int shared);
/* Sets whether the driver lacks utilisation samples for all processes. */
void fake_nvml_rest(int idle);
/* Makes every call on this GPU return `code`; 0 restores normal results. */
void fake_nvml_fail(int gpu, int code);

/* Makes every call on a GPU take this time, as CPU time if `busy`, otherwise asleep; 0 restores the
   normal speed. */
void fake_nvml_slow(int microseconds, int busy);

#ifdef __cplusplus
}
#endif
