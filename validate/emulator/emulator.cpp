/* The emulator: it runs CUDA kernels on one core of the host. This file has launches, and the functions of the CUDA
 * runtime that the engine calls.
 *
 *   1  The blocks of a launch run one after the other. Those of a cooperative launch run in turns: a block runs until
 *      it waits for another one. A thread that waits so, in a loop, calls __nanosleep there.
 *   2  Each thread of a block is a fibre with a stack of its own. It runs until it ends or waits, at __syncthreads
 *      or in a warp function.
 *   3  If no thread of a warp can run, the lanes of a warp function go on together as soon as all lanes of its mask
 *      wait there or have ended.
 *   4  If no thread of the block can run, the threads at __syncthreads go on together.
 *
 * Odd blocks run their threads from the last to the first, so that atomics happen in both orders. A thread that never
 * waits needs no stack of its own: the next thread begins on the same stack. Device memory is memory of the host. It is
 * filled with 0xa5 bytes at the allocation, and after its end is a page that no thread may access. Streams do all work
 * at once, but what cudaMemcpy takes to the device, and cudaMemset, comes late: when the default stream is waited for,
 * or does its next work. On a device that may be so, because cudaMemcpy returns when it has read the host's memory, and
 * other streams do not wait for it.
 *
 *   the page after an array:   [ .... array .... | rounded up to 32 bytes ][ page without access ]
 *
 * With EMULATOR_GUARD=before in the environment the page without access is before each array instead.
 *
 * The emulator finds differences from naive in the arithmetic and indexing of kernels, in the logic between launches
 * and in messages of ranks. It finds reads of device memory that was never written, or is written by a copy that
 * nothing has waited for, if they change a result. It finds accesses past the end of an array (past the next multiple
 * of 32 bytes), or before its beginning, or to freed memory, and threads that wait for ever.
 *
 * The emulator cannot find races between threads, between streams or with other copies, because only one thing happens
 * at a time; compute-sanitizer finds them (validate/speed/sanitize_gpu.py). It cannot find reads of static shared
 * memory that still holds values of the block before. It does not know the limits of the hardware, such as registers,
 * nor what the compiler for the device does.
 *
 * Cost: 3 ns for each thread of a kernel and 15 ns each time it waits, on one core of a server; 256 KB of addresses for
 * each thread of a block that waits, of which a few KB are used.
 */
#include <cuda_runtime.h>

#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{
enum { FRESH = 0xa5, STACK = 1 << 18, ALIGNED = 32 };

/* ---- memory ---- */

std::map<char *, std::pair<char *, size_t>> mappings; /* array -> its mapped memory, for every allocation */

/* Is the page without access before each array? */
bool guards_before()
{
  static const char *const guard = getenv("EMULATOR_GUARD");
  return guard && strcmp(guard, "before") == 0;
}

/* Memory of the device is shared, and other memory private, so that the system counts them apart. */
void *allocate(size_t bytes, int kind = MAP_PRIVATE)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t rounded = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  const size_t usable = (rounded + page - 1) / page * page;
  void *mapped = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char *all = (char *)mapped, *begin = guards_before() ? all + page : all;
  char *at = guards_before() ? begin : begin + usable - rounded;
  if (mprotect(guards_before() ? all : all + usable, page, PROT_NONE) != 0) abort();
  memset(begin, FRESH, usable);
  mappings[at] = {all, usable + page};
  return at;
}

/* Work of the default stream that comes late. Until then the memory is as fresh. */
struct late_work {
  void *at;
  std::vector<char> bytes;
};
std::vector<late_work> late;

void come_late(void *at, const char *from, size_t bytes)
{
  late.push_back({at, std::vector<char>(from, from + bytes)});
  memset(at, FRESH, bytes);
}

void finish_default_stream()
{
  for (const late_work &w : late) memcpy(w.at, w.bytes.data(), w.bytes.size());
  late.clear();
}

void finish_stream(cudaStream_t s)
{
  if (s == nullptr || s == cudaStreamLegacy) finish_default_stream();
}

void release(void *at)
{
  if (at == nullptr) return;
  finish_default_stream();
  const auto found = mappings.find((char *)at);
  if (found == mappings.end()) {
    fprintf(stderr, "emulator: freed memory that was not allocated, or is no more\n");
    abort();
  }
  munmap(found->second.first, found->second.second);
  mappings.erase(found);
}

/* ---- threads ---- */

/* A stack, and the data with which a thread goes on there. */
struct fibre {
#ifdef __x86_64__
  void *at; /* the stack's pointer */
#else
  void *at[5]; /* buffer of __builtin_setjmp */
  ucontext_t first;
  bool begun;
#endif
};

/* A warp of the block. Its first four words have a bit for each lane; a lane in none of them waits at
 * __syncthreads. */
struct lanes {
  unsigned ready, at_warp, ended, asleep;
  /* What the lanes that wait in a warp function have handed in. */
  unsigned mask[warpSize];
  uint64_t handed_in[warpSize];
  emulator::combine once[warpSize];
  uint64_t value[warpSize];
  emulator::warp result;
};

enum { MOST_NAPS = 1000000 };
enum { MOST_THREADS = 1024, MOST_BLOCKS = 8 }; /* of a block; blocks of a cooperative launch */

/* The stacks of the block's threads; null before a thread begins and after it has ended. */
fibre *stacks[MOST_THREADS * MOST_BLOCKS];
std::vector<fibre *> idle; /* stacks without a thread, for threads of later blocks; never freed */
lanes warps[MOST_THREADS / warpSize * MOST_BLOCKS];
fibre home;
int threads_of_block, blocks_of_run; /* blocks that run in turns */
void *shared_of[MOST_BLOCKS];        /* their dynamic shared memory */
int naps;                            /* how often threads were woken since anything else happened */
bool backwards;
int warp_of_turn;
int fibres_made;
const std::function<void()> *body;
const char *kernel, *place;
bool any[MOST_BLOCKS], any_before[MOST_BLOCKS];

[[noreturn]] void stop(const char *what)
{
  fprintf(stderr, "emulator: %s (%s), block %u, thread %d: %s\n", kernel, place, blockIdx.x,
          emulator::current, what);
  abort();
}

void on_fault(int signal)
{
  if (body != nullptr)
    dprintf(STDERR_FILENO, "emulator: %s (%s), block %u, thread %d: memory that is not its own\n", kernel,
            place, blockIdx.x, emulator::current);
  ::signal(signal, SIG_DFL);
}

/* Catches faults of memory. The handler has a stack of its own, because the fibre's stack may have run over. */
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

int warps_of_block() { return (threads_of_block + warpSize - 1) / warpSize; }
int warps_of_run() { return warps_of_block() * blocks_of_run; }

/* The warp of the thread that is running, and the bit of its lane. */
lanes &own_warp() { return warps[(unsigned)emulator::current / warpSize]; }
unsigned own_bit() { return 1u << emulator::lane(); }

/* The first ready thread of a warp, in the order of the block. */
int first_ready(const lanes &w)
{
  const int warp = (int)(&w - warps);
  return warp * warpSize + (backwards ? 31 - __builtin_clz(w.ready) : __builtin_ctz(w.ready));
}

/* Makes one group of lanes ready that wait in the same warp function, if all lanes of its mask wait there or have
 * ended. Returns true if there was such a group. Only one group at a time, because groups share `value`. */
bool release_warp(lanes &w)
{
  uint64_t fresh;
  memset(&fresh, FRESH, sizeof fresh);
  for (unsigned left = w.at_warp; left != 0; left &= left - 1) {
    const int k = __builtin_ctz(left);
    const unsigned present = w.mask[k] & ~w.ended;
    unsigned same = 0, nonzero = 0;
    for (int m = 0; m < warpSize; ++m) same |= (unsigned)(w.mask[m] == w.mask[k]) << m;
    if ((present & ~(w.at_warp & same)) != 0) continue;
    memcpy(w.value, w.handed_in, sizeof w.value);
    for (unsigned absent = ~present; absent != 0; absent &= absent - 1)
      w.value[__builtin_ctz(absent)] = fresh;
    for (int m = 0; m < warpSize; ++m) nonzero |= (unsigned)(w.value[m] != 0) << m;
    nonzero &= present;
    w.at_warp &= ~present;
    w.ready |= present;
    if (w.once[k] != nullptr) {
      if (~present != 0) stop("not all lanes of its warp are there");
      w.once[k](w.value);
    }
    w.result = {present, nonzero, w.value, false, 0};
    return true;
  }
  return false;
}

bool sleeps(int block)
{
  for (int warp = 0; warp < warps_of_block(); ++warp)
    if (warps[block * warps_of_block() + warp].asleep != 0) return true;
  return false;
}

/* Makes the threads of a block at __syncthreads ready, or with `wakes` those that sleep. Returns true if there were
 * any. */
bool release_block(int block, bool wakes)
{
  bool released = false;
  for (int warp = block * warps_of_block(); warp < (block + 1) * warps_of_block(); ++warp) {
    lanes &w = warps[warp];
    if (w.at_warp != 0) {
      emulator::current = warp * warpSize + __builtin_ctz(w.at_warp);
      stop("waits for ever for lanes of its warp");
    }
    w.ready = wakes ? w.asleep : ~w.ended;
    w.asleep = 0;
    released = released || w.ready != 0;
  }
  if (!wakes) {
    any_before[block] = any[block];
    any[block] = false;
  }
  return released;
}

/* To be called if no thread is ready. One block goes on as far as it can, so that it does not wait for other blocks by
 * chance. Threads that sleep are woken when no other block can go on. Returns true if a thread is ready. */
bool release_blocks()
{
  for (int block = 0; block < blocks_of_run; ++block)
    if (!sleeps(block) && release_block(block, false)) {
      naps = 0;
      return true;
    }
  if (++naps > MOST_NAPS) stop("waits for ever for another block");
  bool released = false;
  for (int block = 0; block < blocks_of_run; ++block)
    released = (sleeps(block) && release_block(block, true)) || released;
  return released;
}

/* The thread that runs next; -1 if all have ended. A warp runs until all of its threads wait, so that its stacks
 * stay in the cache. */
int next_thread()
{
  const int count = warps_of_run();
  for (;;) {
    const int warp = backwards ? count - 1 - warp_of_turn : warp_of_turn;
    lanes &w = warps[warp];
    if (w.ready != 0) return first_ready(w);
    if (release_warp(w)) continue;
    if (++warp_of_turn < count) continue;
    warp_of_turn = 0;
    if (!release_blocks()) return -1;
  }
}

void become(int k)
{
  emulator::current = k;
  threadIdx.x = (unsigned)k;
  if (blocks_of_run == 1) return;
  threadIdx.x = (unsigned)(k % threads_of_block);
  blockIdx.x = (unsigned)(k / threads_of_block);
  emulator::shared = shared_of[blockIdx.x];
}

/* The code of a fibre: runs a thread from its beginning, and then the next thread on the same stack as long as this one
 * has not begun yet. Then leaves the stack to later threads. */
[[noreturn]] void live();

/* Makes the fibre begin with live() on the stack that ends at `top`. */
void prepare(fibre *f, char *stack, char *top);

fibre *idle_fibre()
{
  if (!idle.empty()) {
    fibre *f = idle.back();
    idle.pop_back();
    return f;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0) stop("no memory for its stack");
  fibre *f = new fibre();
  /* The tops of stacks are at different places of their pages. Otherwise all tops would share the same lines of the
   * cache. */
  prepare(f, stack, stack + STACK - (size_t)(fibres_made++ * 5 % 64 * 64));
  return f;
}

/* The fibre of the thread k, which becomes the current one; k < 0: that of the launch. */
fibre *fibre_of(int k)
{
  if (k < 0) return &home;
  become(k);
  fibre *&f = stacks[k];
  if (f == nullptr) f = idle_fibre();
  /* The thread after this one mostly runs next. */
  const fibre *after = stacks[(unsigned)(k + (backwards ? -1 : 1)) % (MOST_THREADS * MOST_BLOCKS)];
  if (after != nullptr) __builtin_prefetch(after->at);
  return f;
}

#ifdef __x86_64__
/* Saves the registers that a function must keep and the stack's pointer, and goes on where another fibre did so. All
 * fibres wait in the same call, of which the processor predicts the return. With setjmp and longjmp it predicts none of
 * the returns after a switch, and these are half of a run's time. */
extern "C" void emulator_switch(void **from, void *to);
asm(".text\n"
    ".type emulator_switch, @function\n"
    "emulator_switch:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size emulator_switch, . - emulator_switch\n");

/* As if live() had been called, with the six registers above its address. */
void prepare(fibre *f, char *, char *top)
{
  void **at = (void **)top;
  *--at = nullptr; /* live() does not return */
  *--at = (void *)live;
  for (int k = 0; k < 6; ++k) *--at = nullptr;
  f->at = at;
}

[[gnu::noinline]] void leave(fibre *f, int next) { emulator_switch(&f->at, fibre_of(next)->at); }
#else
void prepare(fibre *f, char *stack, char *top)
{
  getcontext(&f->first);
  f->first.uc_stack.ss_sp = stack;
  f->first.uc_stack.ss_size = (size_t)(top - stack);
  makecontext(&f->first, live, 0);
}

/* Not inlined: __builtin_longjmp must not be in the same function as the __builtin_setjmp to which it jumps. */
[[gnu::noinline, noreturn]] void go_on_with(fibre *f)
{
  if (f == &home || f->begun) __builtin_longjmp(f->at, 1);
  f->begun = true;
  setcontext(&f->first);
  abort();
}

[[gnu::noinline]] void leave(fibre *f, int next)
{
  if (__builtin_setjmp(f->at) == 0) go_on_with(fibre_of(next));
}
#endif

void live()
{
  for (;;) {
    (*body)();
    fibre *f = stacks[emulator::current];
    stacks[emulator::current] = nullptr;
    own_warp().ready &= ~own_bit();
    own_warp().ended |= own_bit();
    const int next = next_thread();
    if (next >= 0 && stacks[next] == nullptr) {
      stacks[next] = f;
      become(next);
      continue;
    }
    idle.push_back(f);
    leave(f, next);
  }
}

/* To be called when the current thread, of the warp w, is not ready any more. The next one is mostly of its warp. */
inline void wait(const lanes &w)
{
  const int self = emulator::current, next = w.ready != 0 ? first_ready(w) : next_thread();
  if (next != self) leave(stacks[self], next);
}

/* Runs the present block, or all blocks in turns. */
void run_blocks()
{
  for (int warp = 0; warp < warps_of_run(); ++warp) {
    lanes &w = warps[warp];
    const int left = threads_of_block - warp % warps_of_block() * warpSize;
    w.ended = left < warpSize ? ~0u << left : 0;
    w.ready = ~w.ended;
    w.at_warp = w.asleep = 0;
  }
  naps = 0;
  warp_of_turn = 0;
  leave(&home, next_thread());
}
} // namespace

namespace emulator
{
void *shared;
int current;

bool block_any(bool p)
{
  lanes &w = own_warp();
  const int block = blocks_of_run > 1 ? (int)blockIdx.x : 0;
  any[block] = any[block] || p;
  w.ready &= ~own_bit();
  wait(w);
  return any_before[block];
}

const warp &exchange(unsigned mask, uint64_t value, combine once)
{
  lanes &w = own_warp();
  const int own = lane();
  w.mask[own] = mask;
  w.handed_in[own] = value;
  w.once[own] = once;
  if ((mask >> own & 1) == 0) stop("its lane is not in the mask of a warp function");
  w.ready &= ~own_bit();
  w.at_warp |= own_bit();
  wait(w);
  return w.result;
}

void sleep()
{
  lanes &w = own_warp();
  w.ready &= ~own_bit();
  w.asleep |= own_bit();
  wait(w);
}

namespace
{
/* Dynamic shared memory is separate for each block of a cooperative launch. */
void run_in_turns(const config &c)
{
  if (c.grid.x > MOST_BLOCKS || c.block.x % warpSize != 0)
    stop("a cooperative launch of too many blocks, or of blocks that are not whole warps");
  blocks_of_run = (int)c.grid.x;
  for (int block = 0; block < blocks_of_run; ++block) {
    shared_of[block] = c.shared > 0 ? allocate(c.shared) : nullptr;
    if (c.shared > 0) memset(shared_of[block], FRESH, c.shared);
  }
  shared = shared_of[0];
  blockIdx.x = 0;
  backwards = false;
  run_blocks();
  for (int block = 0; block < blocks_of_run; ++block) release(shared_of[block]);
}

void run_one_by_one(const config &c)
{
  blocks_of_run = 1;
  if (c.shared > 0) shared = allocate(c.shared);
  for (unsigned block = 0; block < c.grid.x; ++block) {
    blockIdx.x = block;
    backwards = block % 2 != 0;
    if (c.shared > 0) memset(shared, FRESH, c.shared);
    run_blocks();
  }
  if (c.shared > 0) release(shared);
}
} // namespace

void launch(const char *name, const char *at, const config &c, const std::function<void()> &b)
{
  kernel = name;
  place = at;
  const int n = (int)c.block.x;
  finish_stream(c.stream);
  if (c.grid.y * c.grid.z * c.block.y * c.block.z != 1) stop("a grid or block of more than one dimension");
  if (c.grid.x == 0 || n < 1 || n > MOST_THREADS) stop("a grid or block that no GPU would run");
  static bool catches = false;
  if (!catches) catch_faults();
  catches = true;
  threads_of_block = n;
  blockDim = c.block;
  gridDim = c.grid;
  body = &b;
  if (c.at_once)
    run_in_turns(c);
  else
    run_one_by_one(c);
  shared = nullptr;
  body = nullptr;
}

namespace
{
/* The digits of f that a tensor core uses. */
double tf32(float f) { return (double)bits<float>(bits<unsigned>(f) & 0xffffe000u); }

void multiply_all(const uint64_t *handed_in)
{
  double a[16][8], b[8][8];
  product *of[warpSize];
  for (int lane = 0; lane < warpSize; ++lane) {
    product *p = of[lane] = (product *)handed_in[lane];
    const int group = lane / 4, part = lane % 4;
    for (int k = 0; k < 4; ++k) a[group + k % 2 * 8][part + k / 2 * 4] = tf32(p->a[k]);
    for (int k = 0; k < 2; ++k) b[part + k * 4][group] = tf32(p->b[k]);
  }
  for (int row = 0; row < 16; ++row) {
    double sum[8] = {};
    for (int k = 0; k < 8; ++k)
      for (int column = 0; column < 8; ++column) sum[column] += a[row][k] * b[k][column];
    for (int column = 0; column < 8; ++column)
      of[row % 8 * 4 + column / 2]->d[row / 8 * 2 + column % 2] = (float)sum[column];
  }
}
} // namespace

void multiply(float d[4], const float a[4], const float b[2])
{
  product p = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {}};
  exchange(0xffffffffu, (uint64_t)&p, multiply_all);
  memcpy(d, p.d, sizeof p.d);
}
} // namespace emulator

/* How this thread rounds. On x86 only the vector unit computes doubles, and its register alone is written, which takes
 * a tenth of the time of fesetround. */
static inline void round_as(bool downward)
{
#ifdef __SSE2__
  _MM_SET_ROUNDING_MODE(downward ? _MM_ROUND_DOWN : _MM_ROUND_NEAREST);
#else
  fesetround(downward ? FE_DOWNWARD : FE_TONEAREST);
#endif
}

/* Most often the result is near c, so that its difference from c is exact (Sterbenz), and the sign of the rounding
 * error tells whether the double below is the result. That takes a sixth of the time of a change of rounding. An error
 * of 0 may be one that underflows. Volatile, because otherwise the compiler may compute before the change of rounding.
 */
double __fma_rd(double a, double b, double c)
{
  const double near = fma(a, b, c);
  if (c > 0.0 && near >= 0.5 * c && near <= 2.0 * c) {
    const double excess = fma(-a, b, near - c);
    if (excess > 0.0) return emulator::bits<double>(emulator::bits<uint64_t>(near) - 1);
    if (excess < 0.0) return near;
  }
  volatile double x = a, y = b, z = c;
  round_as(true);
  volatile double below = fma(x, y, z);
  round_as(false);
  return below;
}

/* ---- the runtime ---- */

namespace
{
typedef std::chrono::steady_clock host_clock;

const size_t MEMORY = (size_t)4 << 30; /* bytes of memory that the device reports */

cudaError_t reserve(void **at, size_t bytes, int kind)
{
  *at = allocate(bytes, kind);
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
cudaError_t cudaMalloc(void **at, size_t bytes) { return reserve(at, bytes, MAP_SHARED); }
cudaError_t cudaMallocHost(void **at, size_t bytes) { return reserve(at, bytes, MAP_PRIVATE); }
cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned) { return reserve(at, bytes, MAP_PRIVATE); }
cudaError_t cudaFree(void *at) { return release(at), cudaSuccess; }
cudaError_t cudaFreeHost(void *at) { return release(at), cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) { return *left = *all = MEMORY, cudaSuccess; }

/* One device belongs to each process. */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *) { return cudaErrorNotSupported; }
cudaError_t cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaIpcCloseMemHandle(void *) { return cudaErrorNotSupported; }

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  finish_default_stream();
  if (kind == cudaMemcpyHostToDevice)
    come_late(to, (const char *)from, bytes);
  else
    memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t s)
{
  finish_stream(s);
  return memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
  finish_default_stream();
  come_late(at, std::vector<char>(bytes, (char)value).data(), bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t s)
{
  finish_stream(s);
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
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return finish_stream(s), cudaSuccess; }
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
/* Only two processors, so that kernels with a loop over several blocks of work do use it. */
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
  *p = cudaDeviceProp();
  p->sharedMemPerBlockOptin = 227 * 1024;
  snprintf(p->name, sizeof p->name, "emulated");
  p->major = 9;
  p->multiProcessorCount = 2;
  p->cooperativeLaunch = 1;
  p->totalGlobalMem = MEMORY;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
}
