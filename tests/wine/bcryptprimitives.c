/* The library from which Rust's standard library takes random bytes. Windows has it; Wine has it since
   version 9. This one asks the generator that Wine does have. Only `tests/wine/run` uses it. */

#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size)
{
    return SystemFunction036(buffer, (ULONG)size);
}
