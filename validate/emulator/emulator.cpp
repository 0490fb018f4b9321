/* CUDA on the host: launches, and as much of the runtime as the engine calls.
 *
 * Blocks run one after another. Each thread of a block is a fibre with a stack of its own, which runs until it ends or
 * waits for others, at __syncthreads or in a warp function; when none can go on, those whose companions have all come
 * (or have ended) go on together. Odd blocks take their threads last to first, so that atomics meet in both orders.
 * Memory of the device is the host's, filled with 0xa5 bytes when allocated, its end at a page that nobody may touch;
 * streams do everything at once.
 *
 * What this finds: any difference from naive in what kernels compute, in their indexing, in the logic between launches
 * and in messages of ranks; reads of device memory that was never written, if they matter; accesses past the end of an
 * array (past the next multiple of 32 bytes) or after it is freed; and threads that wait for ever. What it cannot:
 * races, between threads, between streams or with copies, since only one thing happens at a time (compute-sanitizer
 * finds them, validate/sanitize_gpu.py); stale static shared memory, which keeps what the block before left; limits of
 * the hardware, such as registers; and what the compiler for the device does.
 *
 * Cost: 40 ns a thread of a kernel and 50 each time it waits, on one core of a server; the stacks, 256 KB a thread of
 * the largest block.
 */
#include <cuda_runtime.h>

#include <cfenv>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{
enum { FRESH = 0xa5, STACK = 1 << 18, ALIGNED = 32 };

/* ---- memory ---- */

std::map<char *, std::pair<char *, size_t>> mappings; /* of every allocation */

void *allocate(size_t bytes)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t rounded = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  const size_t usable = (rounded + page - 1) / page * page;
  void *mapped = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char *begin = (char *)mapped, *at = begin + usable - rounded;
  if (mprotect(begin + usable, page, PROT_NONE) != 0) abort();
  memset(begin, FRESH, usable);
  mappings[at] = {begin, usable + page};
  return at;
}

void release(void *at)
{
  if (at == nullptr) return;
  const auto found = mappings.find((char *)at);
  if (found == mappings.end()) {
    fprintf(stderr, "emulator: freed memory that was not allocated, or is no more\n");
    abort();
  }
  munmap(found->second.first, found->second.second);
  mappings.erase(found);
}

/* ---- threads ---- */

enum state { READY, AT_BLOCK, AT_WARP, ENDED };

struct fibre {
  ucontext_t context;
  jmp_buf at;
  bool begun;
  state now;
  unsigned mask; /* of the warp function it waits in */
  uint64_t value;
};

std::vector<fibre *> fibres; /* never freed: threads of later blocks go on in them */
std::vector<uint64_t> values;
std::vector<unsigned> presence; /* by warp */
jmp_buf scheduler;
ucontext_t home;
int current;
const std::function<void()> *body;
const char *kernel, *place;
bool any, any_before;

[[noreturn]] void stop(const char *what)
{
  fprintf(stderr, "emulator: %s (%s), block %u, thread %d: %s\n", kernel, place, blockIdx.x, current, what);
  abort();
}

void on_fault(int signal)
{
  if (body != nullptr)
    dprintf(STDERR_FILENO, "emulator: %s (%s), block %u, thread %d: memory that is not its own\n", kernel,
            place, blockIdx.x, current);
  ::signal(signal, SIG_DFL);
}

/* On a stack of its own: the fibre's may be what ran over. */
void catch_faults()
{
  static char stack[1 << 16];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

void leave()
{
  if (_setjmp(fibres[(size_t)current]->at) == 0) _longjmp(scheduler, 1);
}

void wait_as(state s)
{
  fibres[(size_t)current]->now = s;
  leave();
}

void live()
{
  for (;;) {
    (*body)();
    wait_as(ENDED);
  }
}

void resume(int k)
{
  fibre *f = fibres[(size_t)k];
  current = k;
  threadIdx.x = (unsigned)k;
  if (_setjmp(scheduler) != 0) return;
  if (f->begun) _longjmp(f->at, 1);
  f->begun = true;
  swapcontext(&home, &f->context);
}

void reserve_fibres(int n)
{
  while ((int)fibres.size() < n) {
    fibre *f = new fibre();
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = allocate(STACK);
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, live, 0);
    fibres.push_back(f);
  }
  values.resize(fibres.size() + warpSize);
  presence.resize(fibres.size() / warpSize + 1);
}

/* Lets the lanes of a warp go on that wait for one another and have all come. */
bool release_warp(int first, int lanes)
{
  for (int k = 0; k < lanes; ++k) {
    const fibre *f = fibres[(size_t)(first + k)];
    if (f->now != AT_WARP) continue;
    unsigned present = 0;
    bool all = true;
    for (int m = 0; m < lanes; ++m) {
      const fibre *other = fibres[(size_t)(first + m)];
      if ((f->mask >> m & 1) == 0 || other->now == ENDED) continue;
      all = all && other->now == AT_WARP && other->mask == f->mask;
      present |= 1u << m;
    }
    if (!all) continue;
    memset(&values[(size_t)first], FRESH, warpSize * sizeof values[0]);
    for (int m = 0; m < lanes; ++m)
      if ((present >> m & 1) != 0) {
        values[(size_t)(first + m)] = fibres[(size_t)(first + m)]->value;
        fibres[(size_t)(first + m)]->now = READY;
      }
    presence[(size_t)(first / warpSize)] = present;
    /* One group at a time: they share `values`. */
    return true;
  }
  return false;
}

/* Once no thread is ready: lets some go on; whether there are any. */
bool release_some(int n)
{
  bool released = false;
  for (int first = 0; first < n; first += warpSize)
    released = release_warp(first, n - first < warpSize ? n - first : warpSize) || released;
  if (released) return true;
  for (int k = 0; k < n; ++k) {
    if (fibres[(size_t)k]->now == AT_WARP) {
      current = k;
      stop("waits for ever for lanes of its warp");
    }
    if (fibres[(size_t)k]->now == AT_BLOCK) {
      fibres[(size_t)k]->now = READY;
      released = true;
    }
  }
  any_before = any;
  any = false;
  return released;
}

void run_block(int n, bool backwards)
{
  for (int k = 0; k < n; ++k) fibres[(size_t)k]->now = READY;
  do {
    for (int t = 0; t < n; ++t) {
      const int k = backwards ? n - 1 - t : t;
      if (fibres[(size_t)k]->now == READY) resume(k);
    }
  } while (release_some(n));
}
} // namespace

namespace emulator
{
void *shared;

int lane() { return current % warpSize; }

bool block_any(bool p)
{
  any = any || p;
  wait_as(AT_BLOCK);
  return any_before;
}

warp exchange(unsigned mask, uint64_t value)
{
  fibre *f = fibres[(size_t)current];
  f->mask = mask;
  f->value = value;
  if ((mask >> lane() & 1) == 0) stop("its lane is not in the mask of a warp function");
  wait_as(AT_WARP);
  const size_t w = (size_t)(current / warpSize);
  return {presence[w], &values[w * warpSize]};
}

void launch(const char *name, const char *at, const config &c, const std::function<void()> &b)
{
  kernel = name;
  place = at;
  const int n = (int)c.block.x;
  if (c.grid.y * c.grid.z * c.block.y * c.block.z != 1) stop("a grid or block of more than one dimension");
  if (c.grid.x == 0 || n < 1 || n > 1024) stop("a grid or block that no GPU would run");
  if (fibres.empty()) catch_faults();
  reserve_fibres(n);
  blockDim = c.block;
  gridDim = c.grid;
  body = &b;
  if (c.shared > 0) shared = allocate(c.shared);
  for (unsigned block = 0; block < c.grid.x; ++block) {
    blockIdx.x = block;
    if (c.shared > 0) memset(shared, FRESH, c.shared);
    run_block(n, block % 2 != 0);
  }
  if (c.shared > 0) release(shared);
  shared = nullptr;
  body = nullptr;
}
} // namespace emulator

/* Volatile, or the compiler would compute ahead of the change of rounding. */
double __fma_rd(double a, double b, double c)
{
  volatile double x = a, y = b, z = c;
  fesetround(FE_DOWNWARD);
  volatile double below = fma(x, y, z);
  fesetround(FE_TONEAREST);
  return below;
}

/* ---- the runtime ---- */

namespace
{
typedef std::chrono::steady_clock host_clock;

const size_t MEMORY = (size_t)4 << 30; /* bytes that the device says it has */

cudaError_t reserve(void **at, size_t bytes)
{
  *at = allocate(bytes);
  return *at != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
} // namespace

struct CUevent_st {
  host_clock::time_point at;
};
struct CUstream_st {
  int unused;
};

extern "C" {
cudaError_t cudaMalloc(void **at, size_t bytes) { return reserve(at, bytes); }
cudaError_t cudaMallocHost(void **at, size_t bytes) { return reserve(at, bytes); }
cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned) { return reserve(at, bytes); }
cudaError_t cudaFree(void *at) { return release(at), cudaSuccess; }
cudaError_t cudaFreeHost(void *at) { return release(at), cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) { return *left = *all = MEMORY, cudaSuccess; }

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemset(void *at, int value, size_t bytes) { return memset(at, value, bytes), cudaSuccess; }
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t)
{
  return memset(at, value, bytes), cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
  return *s = new CUstream_st(), cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int)
{
  return *s = new CUstream_st(), cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t *e) { return *e = new CUevent_st(), cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) { return e->at = host_clock::now(), cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
  *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t e) { return e == cudaSuccess ? "no error" : "out of memory"; }
const char *cudaGetErrorName(cudaError_t e)
{
  return e == cudaSuccess ? "cudaSuccess" : "cudaErrorMemoryAllocation";
}

cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
  return *least = *greatest = 0, cudaSuccess;
}
/* Two processors, so that kernels that walk do walk. */
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
  *p = cudaDeviceProp();
  snprintf(p->name, sizeof p->name, "emulated");
  p->major = 9;
  p->multiProcessorCount = 2;
  p->totalGlobalMem = MEMORY;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
}
