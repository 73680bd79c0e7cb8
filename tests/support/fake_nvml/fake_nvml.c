/* A fake of NVML (libnvidia-ml.so.1) for machines without a GPU, configured by compile definitions:
     FAKE_GPUS    number of GPUs (1)
     FAKE_LAPTOP  a laptop GPU, which reports little; otherwise an H200
     FAKE_OLD     an old driver, which lacks most functions
     FAKE_INIT    the result of nvmlInit_v2 (0)
   Structures and constants are those of the NVML API reference. */
#define _GNU_SOURCE /* usleep, CLOCK_THREAD_CPUTIME_ID */
#include "tests/support/fake_nvml/fake_nvml.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#ifndef FAKE_GPUS
#define FAKE_GPUS 1
#endif
#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifdef FAKE_LAPTOP
#define LAPTOP 1
#else
#define LAPTOP 0
#endif

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7 };
enum { LINKS = 18 };

typedef struct {
  int index;
  atomic_int calls, fails;
} Gpu;
typedef struct {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
} Pci;
typedef struct {
  unsigned gpu, memory;
} Utilization;
typedef struct {
  unsigned long long total, free, used;
} Memory;
typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} MemoryV2;
typedef struct {
  unsigned pid;
  unsigned long long used;
} ProcessV1;
typedef struct {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
} ProcessV2;
typedef struct {
  unsigned pid;
  unsigned long long time_us;
  unsigned kernels, memory, encoder, decoder;
} ProcessLoad;

static Gpu gpus[8] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0},
                        {4, 0, 0}, {5, 0, 0}, {6, 0, 0}, {7, 0, 0}};
static atomic_int opened, processes = 2, growth, slow_us, busy, divided, shared, idle;

int fake_nvml_calls(int gpu) {
  return gpus[gpu].calls;
}
int fake_nvml_open(void) {
  return opened;
}
void fake_nvml_set_processes(int count, int more) {
  processes = count;
  growth = more;
}
void fake_nvml_divide(int is_divided) {
  divided = is_divided;
}
void fake_nvml_share(int is_shared) {
  shared = is_shared;
}
void fake_nvml_rest(int is_idle) {
  idle = is_idle;
}
void fake_nvml_fail(int gpu, int code) {
  gpus[gpu].fails = code;
}

void fake_nvml_slow(int microseconds, int is_busy) {
  slow_us = microseconds;
  busy = is_busy;
}

static long long time_us(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void take_time(void) {
  if (slow_us == 0) return;
  const long long end = time_us(CLOCK_THREAD_CPUTIME_ID) + slow_us;
  if (!busy) usleep((useconds_t)slow_us);
  while (busy && time_us(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

static int touch(Gpu* gpu) {
  ++gpu->calls;
  take_time();
  return gpu->fails;
}

/* Counts the call and returns the GPU's injected error, if any. */
#define TOUCH(gpu)                  \
  do {                               \
    const int failed = touch(gpu);  \
    if (failed != OK) return failed; \
  } while (0)

/* Result of a process list call whose buffer is too small for `all` processes. */
static int refuse_room(unsigned* count, unsigned all) {
  *count = all;
  processes += growth;
  return TOO_SMALL;
}

/* The second process does not report its memory. */
static unsigned long long memory_of_process(unsigned i) {
  return i == 1 ? ~0ULL : (20ULL - i) << 30;
}

/* Graphics, multiprocessors, memory, video; MHz. */
enum { CLOCKS = 4 };
static const unsigned clocks_now[CLOCKS] = {1740, 1755, 3201, 1545};

/* Defines a function that returns one value of a GPU. */
#define VALUE(function, type, present, number) \
  int function(Gpu* gpu, type* value) {      \
    TOUCH(gpu);                               \
    if (!(present)) return NOT_SUPPORTED;      \
    *value = (number);                         \
    return OK;                                 \
  }

int nvmlInit_v2(void) {
  if (FAKE_INIT == OK) ++opened;
  return FAKE_INIT;
}
int nvmlShutdown(void) {
  --opened;
  return OK;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
#ifdef FAKE_OLD
  snprintf(text, size, "390.157");
#else
  snprintf(text, size, "580.82.07");
#endif
  return OK;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = FAKE_GPUS;
  return OK;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu** gpu) {
  if (index >= FAKE_GPUS) return INVALID;
  *gpu = &gpus[index];
  return touch(*gpu);
}
/* GPUs are at 0000:01:00.0, 0000:41:00.0, ... */
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Gpu** gpu) {
  for (int i = 0; i < FAKE_GPUS; ++i) {
    char text[32];
    snprintf(text, sizeof text, "0000:%02X:00.0", 1 + 0x40 * i);
    if (strcasecmp(text, bus_id) != 0) continue;
    *gpu = &gpus[i];
    return touch(*gpu);
  }
  return NOT_FOUND;
}
int nvmlDeviceGetPciInfo_v3(Gpu* gpu, Pci* pci) {
  TOUCH(gpu);
  memset(pci, 0, sizeof *pci);
  pci->bus = 1U + 0x40U * (unsigned)gpu->index;
  snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", pci->bus & 0xFFU);
  return OK;
}
int nvmlDeviceGetName(Gpu* gpu, char* text, unsigned size) {
  TOUCH(gpu);
  snprintf(text, size, LAPTOP ? "NVIDIA GeForce RTX 4060 Laptop GPU" : "NVIDIA H200");
  return OK;
}

VALUE(nvmlDeviceGetUtilizationRates, Utilization, !divided,
      ((Utilization){gpu->index == 0 ? 87U : 12U, 41U}))
VALUE(nvmlDeviceGetMemoryInfo, Memory, 1,
      LAPTOP ? ((Memory){8ULL << 30, 6ULL << 30, 2ULL << 30})
             : ((Memory){141ULL << 30, 101ULL << 30, 40ULL << 30}))
VALUE(nvmlDeviceGetPowerUsage, unsigned, !LAPTOP, 412345U)

int nvmlDeviceGetTemperature(Gpu* gpu, unsigned sensor, unsigned* value) {
  TOUCH(gpu);
  if (sensor != 0) return INVALID;
  *value = 54U + (unsigned)gpu->index;
  return OK;
}
int nvmlDeviceGetClockInfo(Gpu* gpu, unsigned type, unsigned* value) {
  TOUCH(gpu);
  if (type >= CLOCKS || (LAPTOP && type == 3)) return LAPTOP ? NOT_SUPPORTED : INVALID;
  *value = clocks_now[type];
  return OK;
}

#ifdef FAKE_OLD

int nvmlDeviceGetComputeRunningProcesses(Gpu* gpu, unsigned* count, ProcessV1* list) {
  TOUCH(gpu);
  const unsigned all = (unsigned)processes;
  if (*count < all || list == NULL) return refuse_room(count, all);
  *count = all;
  for (unsigned i = 0; i < all; ++i) {
    list[i].pid = 4242U + i;
    list[i].used = memory_of_process(i);
  }
  return OK;
}

#else

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v2(Gpu* gpu, unsigned* count, ProcessV2* list) {
  TOUCH(gpu);
  const unsigned all = (unsigned)processes;
  if (*count < all || list == NULL) return refuse_room(count, all);
  *count = all;
  for (unsigned i = 0; i < all; ++i) {
    const ProcessV2 one = {4242U + i, memory_of_process(i), divided ? 1U + i : ~0U,
                           divided ? 0U : ~0U};
    list[i] = one;
  }
  return OK;
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(Gpu* gpu, unsigned* count, ProcessV2* list) {
  TOUCH(gpu);
  if (*count < 2 || list == NULL) {
    *count = 2;
    return TOO_SMALL;
  }
  *count = LAPTOP ? 2 : 1;
  const ProcessV2 drawing = {77, 96ULL << 20, ~0U, ~0U}, both = {4242, 20ULL << 30, ~0U, ~0U};
  list[0] = drawing;
  list[1] = both;
  return OK;
}
/* One MPS client if fake_nvml_share is set. */
int nvmlDeviceGetMPSComputeRunningProcesses_v2(Gpu* gpu, unsigned* count, ProcessV2* list) {
  TOUCH(gpu);
  if (!shared) {
    *count = 0;
    return OK;
  }
  if (*count < 1 || list == NULL) return refuse_room(count, 1);
  *count = 1;
  const ProcessV2 client = {500, 1ULL << 30, ~0U, ~0U};
  list[0] = client;
  return OK;
}
/* The first process has current samples, the second an outdated one, and the graphics process an
   impossible value. */
int nvmlDeviceGetProcessUtilization(Gpu* gpu, ProcessLoad* list, unsigned* count,
                                    unsigned long long since_us) {
  enum { SAMPLES = 4 };
  TOUCH(gpu);
  if (divided) return NOT_SUPPORTED;
  if (idle) return NOT_FOUND;
  if (*count < SAMPLES || list == NULL) {
    *count = SAMPLES;
    return TOO_SMALL;
  }
  *count = SAMPLES;
  const ProcessLoad samples[SAMPLES] = {{4242, since_us + 200, 12, 1, 0, 0},
                                        {4242, since_us + 500, 83, 40, 7, 9},
                                        {4243, since_us - 500, 99, 99, 99, 99},
                                        {77, since_us + 100, 400000000, 0, 0, 2}};
  memcpy(list, samples, sizeof samples);
  return OK;
}
int nvmlDeviceGetMemoryInfo_v2(Gpu* gpu, MemoryV2* memory) {
  TOUCH(gpu);
  if (memory->version != (sizeof(MemoryV2) | 2U << 24U)) return 25;
  const MemoryV2 big = {memory->version, 141ULL << 30, 1ULL << 30, 101ULL << 30, 39ULL << 30};
  const MemoryV2 small = {memory->version, 8ULL << 30, 1ULL << 30, 6ULL << 30, 1ULL << 30};
  *memory = LAPTOP ? small : big;
  return OK;
}

VALUE(nvmlDeviceGetArchitecture, unsigned, 1, LAPTOP ? 8U : 9U)
VALUE(nvmlDeviceGetNumGpuCores, unsigned, 1, LAPTOP ? 3072U : 16896U)
VALUE(nvmlDeviceGetMemoryBusWidth, unsigned, 1, LAPTOP ? 128U : 6144U)
VALUE(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, !LAPTOP, 700000U)
VALUE(nvmlDeviceGetEnforcedPowerLimit, unsigned, !LAPTOP, 650000U)
VALUE(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, 1, LAPTOP ? 4U : 5U)
VALUE(nvmlDeviceGetMaxPcieLinkWidth, unsigned, 1, LAPTOP ? 8U : 16U)
VALUE(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, 1, LAPTOP ? 1U : 5U)
VALUE(nvmlDeviceGetCurrPcieLinkWidth, unsigned, 1, LAPTOP ? 8U : 16U)
VALUE(nvmlDeviceGetFanSpeed, unsigned, 0, 0U)
VALUE(nvmlDeviceGetPerformanceState, unsigned, 1, LAPTOP ? 8U : 0U)
VALUE(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, 1, LAPTOP ? 0x1ULL : 0x24ULL)

VALUE(nvmlDeviceGetPersistenceMode, unsigned, 1, LAPTOP ? 0U : 1U)
VALUE(nvmlDeviceGetComputeMode, unsigned, 1, LAPTOP ? 0U : 3U)
VALUE(nvmlDeviceGetDisplayActive, unsigned, 1, LAPTOP ? 1U : 0U)

/* Defines a function that returns one string of a GPU, most with its index. */
#define TEXT(function, present, ...)                      \
  int function(Gpu* gpu, char* text, unsigned size) {   \
    TOUCH(gpu);                                          \
    if (!(present)) return NOT_SUPPORTED;                 \
    const int length = snprintf(text, size, __VA_ARGS__); \
    return length < (int)size ? OK : TOO_SMALL;           \
  }

TEXT(nvmlDeviceGetUUID, 1, "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f%d", gpu->index)
TEXT(nvmlDeviceGetSerial, !LAPTOP, "165312400%d", gpu->index)
TEXT(nvmlDeviceGetVbiosVersion, 1, LAPTOP ? "95.07.0E.00.A1" : "96.00.99.00.01")

/* KB/s that the GPU sent (counter 0) and received (counter 1). */
int nvmlDeviceGetPcieThroughput(Gpu* gpu, unsigned counter, unsigned* value) {
  TOUCH(gpu);
  if (counter > 1) return INVALID;
  if (LAPTOP) return NOT_SUPPORTED;
  *value = counter == 0 ? 1500000U : 23000000U;
  return OK;
}
static int engine(Gpu* gpu, unsigned percent, unsigned* value, unsigned* sample_us) {
  TOUCH(gpu);
  if (divided) return NOT_SUPPORTED;
  *value = percent;
  *sample_us = 167000;
  return OK;
}
int nvmlDeviceGetEncoderUtilization(Gpu* gpu, unsigned* value, unsigned* sample_us) {
  return engine(gpu, 7, value, sample_us);
}
int nvmlDeviceGetDecoderUtilization(Gpu* gpu, unsigned* value, unsigned* sample_us) {
  return engine(gpu, 23, value, sample_us);
}

int nvmlDeviceGetCudaComputeCapability(Gpu* gpu, int* major, int* minor) {
  *major = LAPTOP ? 8 : 9;
  *minor = LAPTOP ? 9 : 0;
  return touch(gpu);
}
int nvmlDeviceGetMaxClockInfo(Gpu* gpu, unsigned type, unsigned* value) {
  static const unsigned at_most[CLOCKS] = {1965, 1980, 3201, 1830};
  if (type >= CLOCKS) return INVALID;
  *value = at_most[type];
  return touch(gpu);
}
int nvmlDeviceGetPowerManagementLimitConstraints(Gpu* gpu, unsigned* least, unsigned* most) {
  *least = 200000;
  *most = 700000;
  return LAPTOP ? NOT_SUPPORTED : touch(gpu);
}
int nvmlDeviceGetTemperatureThreshold(Gpu* gpu, unsigned kind, unsigned* value) {
  *value = kind == 1 ? 87 : 92;
  return touch(gpu);
}
int nvmlDeviceGetNvLinkState(Gpu* gpu, unsigned link, unsigned* active) {
  TOUCH(gpu);
  if (LAPTOP) return NOT_SUPPORTED;
  if (link >= LINKS) return INVALID;
  *active = link != 3;
  return OK;
}
int nvmlDeviceGetNvLinkVersion(Gpu* gpu, unsigned link, unsigned* version) {
  (void)link;
  *version = 6;
  return touch(gpu);
}
int nvmlDeviceGetEccMode(Gpu* gpu, unsigned* current, unsigned* pending) {
  *current = *pending = 1;
  return LAPTOP ? NOT_SUPPORTED : touch(gpu);
}
int nvmlDeviceGetMigMode(Gpu* gpu, unsigned* current, unsigned* pending) {
  *current = *pending = (unsigned)divided;
  return LAPTOP ? NOT_SUPPORTED : touch(gpu);
}
int nvmlDeviceGetTotalEccErrors(Gpu* gpu, unsigned kind, unsigned counter,
                                unsigned long long* count) {
  (void)counter;
  *count = kind == 0 ? 3 : 0;
  return LAPTOP ? NOT_SUPPORTED : touch(gpu);
}
/* The second GPU cannot write into the first. */
int nvmlDeviceGetP2PStatus(Gpu* gpu, Gpu* other, unsigned what, unsigned* status) {
  *status = what == 1 && gpu->index > other->index ? 1 : 0;
  ++other->calls;
  return touch(gpu);
}

#endif
