// Common names for the words that differ between OpenCL C 1.2 and CUDA C.
//
// The compiler can inline a FUNCTION, but not a CALLED function. CALLED keeps the code small if a
// function has several callers. With SMALL_CODE, for CPUs, nothing is inlined or unrolled, because
// PoCL would compile for minutes.

#ifdef __CUDACC__
typedef unsigned int uint;
typedef unsigned long long ulong;
#define KERNEL extern "C" __global__ void
// A kernel of which a multiprocessor runs GROUPS groups. From compute capability 10 on, the
// registers that this leaves are too few.
#if __CUDA_ARCH__ < 1000
#define BOUNDED_KERNEL extern "C" __global__ void __launch_bounds__(GROUP, GROUPS)
#else
#define BOUNDED_KERNEL extern "C" __global__ void __launch_bounds__(GROUP, GROUPS - 2)
#endif
#define GLOBAL
#define LOCAL
#define SHARED __shared__
#define CONSTANT __constant__ const
#define FUNCTION static __device__ __forceinline__
#define CALLED static __device__ __noinline__
#define ITEM (blockIdx.x * blockDim.x + threadIdx.x)
#define ITEM_OF_GROUP threadIdx.x
#define BARRIER __syncthreads()
#define NEXT(counter) atomicAdd(counter, 1u)
#define HIGH_HALF(a, b) __umul64hi(a, b)
#define LOWEST_BIT(bits) (__ffsll(bits) - 1)
#else
#define KERNEL __kernel void
#define BOUNDED_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define GLOBAL __global
#define LOCAL __local
#define SHARED __local
#define CONSTANT __constant
#define CALLED __attribute__((noinline)) static
#ifdef SMALL_CODE
#define FUNCTION CALLED
#else
#define FUNCTION static
#endif
#define ITEM ((uint)get_global_id(0))
#define ITEM_OF_GROUP ((uint)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define NEXT(counter) atomic_inc(counter)
#define HIGH_HALF(a, b) mul_hi((ulong)(a), (ulong)(b))
#define LOWEST_BIT(bits) (63 - (uint)clz((bits) & -(bits)))
#endif

// A local array as an argument. PoCL passes another array if it can tell at compile time which one a
// function gets.
#ifdef SMALL_CODE
#define UNROLL
#define PASSED(array) ((array) + (get_global_size(0) == 0))
#else
#define UNROLL _Pragma("unroll")
#define PASSED(array) (array)
#endif

// Keeps a loop as it is written.
#ifdef __CUDACC__
#define LOOP _Pragma("unroll 1")
#else
#define LOOP
#endif

// Buffers of elements of eight words hold word 0 of all elements, then word 1 of all, and so on. So
// neighboring work items read neighboring words.
#define WORD(at, word) ((size_t)(word) * total + (at))

FUNCTION uint swapped(uint word)
{
    return word << 24 | (word & 0xff00) << 8 | (word >> 8 & 0xff00) | word >> 24;
}

FUNCTION uint rotated(uint word, uint bits)
{
    return word << bits | word >> (32 - bits);
}
