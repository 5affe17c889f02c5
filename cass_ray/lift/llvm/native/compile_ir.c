// LLVM IR in a file to assembly on stdout, by LLVM's C interface:
// compile_ir INPUT PROCESSOR PASSES MORE_PASSES HIDES [LLVM OPTION ...]
// HIDES is empty for a version of LLVM that needs no hide_sums.h.
//
// clang does the same, but takes twice as long to start (its own library, and all of LLVM's
// targets), and has no way to say which passes run. The declarations are those of LLVM's headers
// (llvm-c, stable across versions), which need not be installed.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Context *ContextRef;
typedef struct MemoryBuffer *BufferRef;
typedef struct Module *ModuleRef;
typedef struct Target *TargetRef;
typedef struct TargetMachine *MachineRef;
typedef struct PassOptions *PassOptionsRef;
typedef struct Error *ErrorRef;

void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTarget(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUAsmPrinter(void);
void LLVMInitializeAMDGPUAsmParser(void);
void LLVMParseCommandLineOptions(int count, const char *const *arguments, const char *overview);
ContextRef LLVMContextCreate(void);
int LLVMCreateMemoryBufferWithContentsOfFile(const char *path, BufferRef *buffer, char **message);
int LLVMParseIRInContext(ContextRef context, BufferRef buffer, ModuleRef *module, char **message);
const char *LLVMGetTarget(ModuleRef module);
int LLVMGetTargetFromTriple(const char *triple, TargetRef *target, char **message);
MachineRef LLVMCreateTargetMachine(TargetRef target, const char *triple, const char *processor,
                                   const char *features, int level, int relocation, int model);
void LLVMSetTargetMachineAsmVerbosity(MachineRef machine, int verbose);
PassOptionsRef LLVMCreatePassBuilderOptions(void);
ErrorRef LLVMRunPasses(ModuleRef module, const char *passes, MachineRef machine,
                       PassOptionsRef options);
char *LLVMGetErrorMessage(ErrorRef error);
int LLVMTargetMachineEmitToMemoryBuffer(MachineRef machine, ModuleRef module, int kind,
                                        char **message, BufferRef *buffer);
const char *LLVMGetBufferStart(BufferRef buffer);
size_t LLVMGetBufferSize(BufferRef buffer);

#include "hide_sums.h"   // after them
#include "join_words.h"  // between the passes

enum { AGGRESSIVE = 3, PIC = 2, DEFAULT_MODEL = 0, ASSEMBLY = 0 };

static int failed(const char *what, const char *message) {
  fprintf(stderr, "error: %s: %s\n", what, message ? message : "no reason given");
  return 1;
}

int main(int count, char **arguments) {
  if (count < 6)
    return failed("usage", "compile_ir INPUT PROCESSOR PASSES MORE HIDES [OPTION ...]");
  const char *const path = arguments[1], *const processor = arguments[2];
  const char *const passes = arguments[3], *const more = arguments[4];
  const char *const hides = arguments[5];
  char *message = NULL;

  arguments[5] = arguments[0];  // what LLVM takes for the program's name
  LLVMParseCommandLineOptions(count - 5, (const char *const *)arguments + 5, "");
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();  // for inline assembly
  LLVMInitializeAMDGPUAsmPrinter();

  BufferRef text;
  ModuleRef module;
  TargetRef target;
  if (LLVMCreateMemoryBufferWithContentsOfFile(path, &text, &message)) {
    return failed("input", message);
  }
  if (LLVMParseIRInContext(LLVMContextCreate(), text, &module, &message)) {
    return failed("IR", message);
  }
  if (LLVMGetTargetFromTriple(LLVMGetTarget(module), &target, &message)) {
    return failed("target", message);
  }
  const MachineRef machine = LLVMCreateTargetMachine(target, LLVMGetTarget(module), processor, "",
                                                     AGGRESSIVE, PIC, DEFAULT_MODEL);
  LLVMSetTargetMachineAsmVerbosity(machine, 1);  // comments, as clang writes them
  const PassOptionsRef how = LLVMCreatePassBuilderOptions();
  ErrorRef error = LLVMRunPasses(module, passes, machine, how);
  if (!error) {
    join_words(module);
    error = LLVMRunPasses(module, more, machine, how);
  }
  if (error) return failed("passes", LLVMGetErrorMessage(error));
  if (*hides) hide_sums(module);
  BufferRef made;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, ASSEMBLY, &message, &made)) {
    return failed("code", message);
  }
  const size_t size = LLVMGetBufferSize(made);
  if (fwrite(LLVMGetBufferStart(made), 1, size, stdout) != size || fflush(stdout) != 0) {
    return failed("output", "cannot be written");
  }
  // The system takes everything back faster than LLVM gives it back.
  _Exit(0);
}
