// Sums and differences to which a carry is added, and products of a signed and an unsigned byte,
// are made something of which LLVM does not know what it is:
// cass_ray/toolchain/amd/hidden_operands.py. They are xored with a zero that comes from a scalar
// register, by way of an empty assembler text.
#pragma once

#include "join_words.h"

unsigned LLVMGetNumOperands(ValueRef value);
unsigned LLVMGetIntTypeWidth(TypeRef type);
int LLVMGetTypeKind(TypeRef type);
int LLVMGetICmpPredicate(ValueRef instruction);
int LLVMGetNUW(ValueRef instruction);
ValueRef LLVMGetCalledValue(ValueRef call);
const char *LLVMGetValueName2(ValueRef value, size_t *size);
void LLVMSetOperand(ValueRef user, unsigned number, ValueRef value);
long long LLVMConstIntGetSExtValue(ValueRef constant);
TypeRef LLVMFunctionType(TypeRef result, TypeRef *parameters, unsigned count, int variadic);
ValueRef LLVMGetInlineAsm(TypeRef type, const char *text, size_t size, const char *constraints,
                          size_t constraints_size, int has_effects, int aligns, int dialect,
                          int unwinds);
ValueRef LLVMBuildCall2(BuilderRef builder, TypeRef type, ValueRef called, ValueRef *arguments,
                        unsigned count, const char *name);
ValueRef LLVMBuildXor(BuilderRef builder, ValueRef left, ValueRef right, const char *name);

enum { MUL = 12, LSHR = 21, ASHR = 22, SEXT = 32 };
enum { ADD = 8, SUB = 10, XOR = 25, ICMP = 42, CALL = 45, UNSIGNED_FIRST = 34, UNSIGNED_LAST = 37 };
enum { INTEGER_TYPE = 8 };

typedef struct {
  ValueRef *sums;
  size_t count, room;
} Sums;

static int opcode_of(ValueRef value) {
  return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : 0;
}

static int is_sum(ValueRef value) {
  const int opcode = opcode_of(value);
  return opcode == ADD || opcode == SUB;
}

// Of words of 32 and 64 bits.
static void note(Sums *found, ValueRef value) {
  const TypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != INTEGER_TYPE) return;
  const unsigned width = LLVMGetIntTypeWidth(type);
  if (width != 32 && width != 64) return;
  for (size_t i = 0; i < found->count; ++i) {
    if (found->sums[i] == value) return;
  }
  if (found->count == found->room) {
    found->room = found->room ? 2 * found->room : 64;
    found->sums = realloc(found->sums, found->room * sizeof *found->sums);
    if (!found->sums) abort();
  }
  found->sums[found->count++] = value;
}

// That may wrap around.
static void note_sum(Sums *found, ValueRef value) {
  if (is_sum(value) && !LLVMGetNUW(value)) note(found, value);
}

static void note_operands(Sums *found, ValueRef sum) {
  note_sum(found, LLVMGetOperand(sum, 0));
  note_sum(found, LLVMGetOperand(sum, 1));
}

static int has_operand(ValueRef sum, ValueRef operand) {
  return LLVMGetOperand(sum, 0) == operand || LLVMGetOperand(sum, 1) == operand;
}

// What LLVM may take for the carry of a sum of which it knows the other number: `compared` with it.
static void note_compared(Sums *found, ValueRef compared, ValueRef with) {
  if (is_sum(compared) && has_operand(compared, with)) note_operands(found, compared);
  if (!LLVMIsAInstruction(compared)) return;  // a constant's uses are everywhere
  ValueRef of = compared;
  const ValueRef all_ones = operand_of(compared, XOR, 1);  // ~a < b: a + b wraps around
  if (all_ones && LLVMIsAConstantInt(all_ones) && LLVMConstIntGetSExtValue(all_ones) == -1) {
    of = LLVMGetOperand(compared, 0);
  }
  if (!LLVMIsAInstruction(of)) return;
  for (UseRef use = LLVMGetFirstUse(of); use; use = LLVMGetNextUse(use)) {
    const ValueRef user = LLVMGetUser(use);
    if (is_sum(user) && has_operand(user, with)) note_operands(found, user);
  }
}

static int adds_with_overflow(ValueRef call) {
  size_t size = 0;
  const ValueRef called = LLVMGetCalledValue(call);
  const char *name = called ? LLVMGetValueName2(called, &size) : "";
  return !strncmp(name, "llvm.uadd.with.overflow.", 24) ||
         !strncmp(name, "llvm.usub.with.overflow.", 24);
}

enum Sign { NO_BYTE, SIGNED_BYTE, UNSIGNED_BYTE, BYTE_OF_EITHER };

static enum Sign sign_of_byte(ValueRef value) {
  const int opcode = opcode_of(value);
  if (opcode == OR) return BYTE_OF_EITHER;  // PRMT puts bytes and copies of signs together
  if (opcode == ZEXT || opcode == SEXT) {
    const TypeRef type = LLVMTypeOf(LLVMGetOperand(value, 0));
    const int is_byte = LLVMGetTypeKind(type) == INTEGER_TYPE && LLVMGetIntTypeWidth(type) <= 8;
    return !is_byte ? NO_BYTE : opcode == ZEXT ? UNSIGNED_BYTE : SIGNED_BYTE;
  }
  if (opcode != AND && opcode != LSHR && opcode != ASHR) return NO_BYTE;
  const ValueRef by = LLVMGetOperand(value, 1);
  if (!LLVMIsAConstantInt(by)) return NO_BYTE;
  const unsigned long long number = LLVMConstIntGetZExtValue(by);
  if (opcode == AND) return number <= 0xFF ? UNSIGNED_BYTE : NO_BYTE;
  if (number < 24) return NO_BYTE;
  return opcode == LSHR ? UNSIGNED_BYTE : SIGNED_BYTE;
}

static void note_product(Sums *found, ValueRef product) {
  const enum Sign left = sign_of_byte(LLVMGetOperand(product, 0));
  const enum Sign right = sign_of_byte(LLVMGetOperand(product, 1));
  if (left == NO_BYTE || right == NO_BYTE) return;
  if (left != right || left == BYTE_OF_EITHER) note(found, product);
}

static void note_in(Sums *found, ValueRef instruction) {
  const int opcode = LLVMGetInstructionOpcode(instruction);
  if (opcode == MUL) note_product(found, instruction);
  if (opcode == CALL && adds_with_overflow(instruction)) note_operands(found, instruction);
  if (opcode != ICMP) return;
  const int predicate = LLVMGetICmpPredicate(instruction);
  if (predicate < UNSIGNED_FIRST || predicate > UNSIGNED_LAST) return;
  const ValueRef left = LLVMGetOperand(instruction, 0), right = LLVMGetOperand(instruction, 1);
  note_compared(found, left, right);
  note_compared(found, right, left);
}

static void hide(BuilderRef builder, ValueRef sum) {
  TypeRef type = LLVMTypeOf(sum);
  LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(sum));
  const TypeRef function = LLVMFunctionType(type, &type, 1, 0);
  ValueRef zero = LLVMConstInt(type, 0, 0);
  const ValueRef text = LLVMGetInlineAsm(function, "", 0, "=s,0", 4, 0, 0, 0, 0);
  const ValueRef unknown = LLVMBuildCall2(builder, function, text, &zero, 1, "");
  const ValueRef hidden = LLVMBuildXor(builder, unknown, unknown, "");
  LLVMReplaceAllUsesWith(sum, hidden);
  LLVMSetOperand(hidden, 0, sum);
}

static void hide_sums(ModuleRef module) {
  Sums found = {0};
  for (ValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (BlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      for (ValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        note_in(&found, i);
      }
    }
  }
  const BuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (size_t i = 0; i < found.count; ++i) hide(builder, found.sums[i]);
}
