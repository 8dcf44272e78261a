#include <stddef.h>
#include <stdint.h>

// The driver of compiler-rt's libFuzzer.
int LLVMFuzzerRunDriver(int *argc, char ***argv,
                        int (*callback)(const uint8_t *data, size_t size));
