// Two words that are halves of one 64-bit number on a path into a block, and are put together
// again in it, are one number there: a phi of 64 bits in the place of two.
//
// SASS keeps a wide counter in two registers. LLVM finds their sum to be one where both come from
// a sum of 64 bits, but not where the first value of the high word is another, mostly zero.
#pragma once

typedef struct Value *ValueRef;
typedef struct Type *TypeRef;
typedef struct Block *BlockRef;
typedef struct Builder *BuilderRef;
typedef struct Use *UseRef;

ValueRef LLVMGetFirstFunction(ModuleRef module);
ValueRef LLVMGetNextFunction(ValueRef function);
BlockRef LLVMGetFirstBasicBlock(ValueRef function);
BlockRef LLVMGetNextBasicBlock(BlockRef block);
ValueRef LLVMGetFirstInstruction(BlockRef block);
ValueRef LLVMGetNextInstruction(ValueRef instruction);
ValueRef LLVMGetBasicBlockTerminator(BlockRef block);
BlockRef LLVMGetInstructionParent(ValueRef instruction);
ValueRef LLVMIsAInstruction(ValueRef value);
ValueRef LLVMIsAPHINode(ValueRef value);
ValueRef LLVMIsAConstantInt(ValueRef value);
int LLVMGetInstructionOpcode(ValueRef instruction);
ValueRef LLVMGetOperand(ValueRef value, unsigned number);
unsigned long long LLVMConstIntGetZExtValue(ValueRef constant);
TypeRef LLVMTypeOf(ValueRef value);
TypeRef LLVMInt32TypeInContext(ContextRef context);
TypeRef LLVMInt64TypeInContext(ContextRef context);
ContextRef LLVMGetModuleContext(ModuleRef module);
ValueRef LLVMConstInt(TypeRef type, unsigned long long number, int is_signed);
unsigned LLVMCountIncoming(ValueRef phi);
ValueRef LLVMGetIncomingValue(ValueRef phi, unsigned number);
BlockRef LLVMGetIncomingBlock(ValueRef phi, unsigned number);
void LLVMAddIncoming(ValueRef phi, ValueRef *values, BlockRef *blocks, unsigned count);
UseRef LLVMGetFirstUse(ValueRef value);
UseRef LLVMGetNextUse(UseRef use);
ValueRef LLVMGetUser(UseRef use);
void LLVMReplaceAllUsesWith(ValueRef old, ValueRef new);
void LLVMInstructionEraseFromParent(ValueRef instruction);
BuilderRef LLVMCreateBuilderInContext(ContextRef context);
void LLVMPositionBuilderBefore(BuilderRef builder, ValueRef instruction);
ValueRef LLVMBuildPhi(BuilderRef builder, TypeRef type, const char *name);
ValueRef LLVMBuildAnd(BuilderRef builder, ValueRef left, ValueRef right, const char *name);
ValueRef LLVMBuildOr(BuilderRef builder, ValueRef left, ValueRef right, const char *name);
ValueRef LLVMBuildZExt(BuilderRef builder, ValueRef value, TypeRef type, const char *name);
ValueRef LLVMBuildFreeze(BuilderRef builder, ValueRef value, const char *name);
ValueRef LLVMBuildTrunc(BuilderRef builder, ValueRef value, TypeRef type, const char *name);

enum { SHL = 20, AND = 23, OR = 24, TRUNC = 30, ZEXT = 31 };  // LLVMOpcode
static const unsigned long long HIGH_WORD = 0xFFFFFFFF00000000u;

typedef struct {
  BuilderRef builder;
  TypeRef word, whole;
} Joining;

// Operand `number` of `value` where `opcode` made it; else NULL.
static ValueRef operand_of(ValueRef value, int opcode, unsigned number) {
  if (!LLVMIsAInstruction(value) || LLVMGetInstructionOpcode(value) != opcode) return NULL;
  return LLVMGetOperand(value, number);
}

static int is_number(ValueRef value, unsigned long long number) {
  return value && LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == number;
}

// What `high` has the high word of, its low word being zero; else NULL.
static ValueRef whole_of(ValueRef high) {
  return is_number(operand_of(high, AND, 1), HIGH_WORD) ? LLVMGetOperand(high, 0) : NULL;
}

// Whether the low word of `high`, of 64 bits, is known to be zero.
static int has_no_low_word(ValueRef high) {
  if (LLVMIsAConstantInt(high)) return (LLVMConstIntGetZExtValue(high) & ~HIGH_WORD) == 0;
  return whole_of(high) || is_number(operand_of(high, SHL, 1), 32);
}

// Whether `low` and `high` are the words of one number that is there already.
static int are_halves(ValueRef low, ValueRef high) {
  const ValueRef whole = whole_of(high);
  return whole && operand_of(low, TRUNC, 0) == whole;
}

// The word phi that `user` puts under `high`, both of one block; else NULL.
static ValueRef low_word_under(ValueRef high, ValueRef user, const Joining *joining) {
  for (unsigned side = 0; side < 2; ++side) {
    if (operand_of(user, OR, side) != high) continue;
    const ValueRef low = operand_of(LLVMGetOperand(user, 1 - side), ZEXT, 0);
    if (!low || !LLVMIsAPHINode(low) || LLVMTypeOf(low) != joining->word) continue;
    if (LLVMGetInstructionParent(low) == LLVMGetInstructionParent(high)) return low;
  }
  return NULL;
}

static ValueRef value_from(ValueRef phi, BlockRef block) {
  for (unsigned i = 0; i < LLVMCountIncoming(phi); ++i) {
    if (LLVMGetIncomingBlock(phi, i) == block) return LLVMGetIncomingValue(phi, i);
  }
  return NULL;
}

// A word of which nothing may be known: what is made of it must not make the other one unknown.
static ValueRef settled(ValueRef value, const Joining *joining) {
  return LLVMIsAConstantInt(value) ? value : LLVMBuildFreeze(joining->builder, value, "");
}

// The bits of `whole` in its high word.
static ValueRef high_word_of(ValueRef whole, const Joining *joining) {
  const ValueRef mask = LLVMConstInt(joining->whole, HIGH_WORD, 0);
  return LLVMBuildAnd(joining->builder, whole, mask, "");
}

// Both words as one number, at the end of `block`.
//
// Where nothing is known of `above`, not even its low word is zero: settled, it could have any
// bits.
static ValueRef put_together(ValueRef above, ValueRef below, BlockRef block,
                             const Joining *joining) {
  if (are_halves(below, above)) return whole_of(above);
  LLVMPositionBuilderBefore(joining->builder, LLVMGetBasicBlockTerminator(block));
  above = high_word_of(settled(above, joining), joining);
  below = LLVMBuildZExt(joining->builder, settled(below, joining), joining->whole, "");
  return LLVMBuildOr(joining->builder, above, below, "");
}

// The phi of 64 bits for those of its words.
static ValueRef joined(ValueRef high, ValueRef low, const Joining *joining) {
  LLVMPositionBuilderBefore(joining->builder, high);
  const ValueRef whole = LLVMBuildPhi(joining->builder, joining->whole, "joined");
  for (unsigned i = 0; i < LLVMCountIncoming(high); ++i) {
    BlockRef block = LLVMGetIncomingBlock(high, i);
    ValueRef value = value_from(whole, block);  // a switch may come here in several ways
    if (!value) {
      const ValueRef above = LLVMGetIncomingValue(high, i);
      value = put_together(above, value_from(low, block), block, joining);
    }
    LLVMAddIncoming(whole, &value, &block, 1);
  }
  return whole;
}

// Replace the phis of two words by one, and what puts them together by it.
static void join(ValueRef high, ValueRef low, const Joining *joining) {
  const ValueRef whole = joined(high, low, joining);
  for (UseRef use = LLVMGetFirstUse(high); use; use = LLVMGetNextUse(use)) {
    const ValueRef user = LLVMGetUser(use);
    if (low_word_under(high, user, joining) == low) LLVMReplaceAllUsesWith(user, whole);
  }
  ValueRef first = LLVMGetFirstInstruction(LLVMGetInstructionParent(high));
  while (LLVMIsAPHINode(first)) first = LLVMGetNextInstruction(first);
  LLVMPositionBuilderBefore(joining->builder, first);
  LLVMReplaceAllUsesWith(high, high_word_of(whole, joining));
  LLVMReplaceAllUsesWith(low, LLVMBuildTrunc(joining->builder, whole, joining->word, ""));
  LLVMInstructionEraseFromParent(high);
  LLVMInstructionEraseFromParent(low);
}

// The phi of the low words that `high` goes with; NULL where joining them saves nothing.
static ValueRef partner_of(ValueRef high, const Joining *joining) {
  if (LLVMTypeOf(high) != joining->whole) return NULL;
  const unsigned ways = LLVMCountIncoming(high);
  for (unsigned i = 0; i < ways; ++i) {
    if (!has_no_low_word(LLVMGetIncomingValue(high, i))) return NULL;
  }
  for (UseRef use = LLVMGetFirstUse(high); use; use = LLVMGetNextUse(use)) {
    const ValueRef low = low_word_under(high, LLVMGetUser(use), joining);
    for (unsigned i = 0; low && i < ways; ++i) {
      const ValueRef below = value_from(low, LLVMGetIncomingBlock(high, i));
      if (are_halves(below, LLVMGetIncomingValue(high, i))) return low;
    }
  }
  return NULL;
}

static void join_words_of_block(BlockRef block, const Joining *joining) {
  ValueRef next;
  for (ValueRef phi = LLVMGetFirstInstruction(block); LLVMIsAPHINode(phi); phi = next) {
    const ValueRef low = partner_of(phi, joining);
    next = LLVMGetNextInstruction(phi);
    if (!low) continue;
    if (next == low) next = LLVMGetNextInstruction(low);
    join(phi, low, joining);
  }
}

static void join_words(ModuleRef module) {
  const ContextRef context = LLVMGetModuleContext(module);
  const Joining joining = {LLVMCreateBuilderInContext(context), LLVMInt32TypeInContext(context),
                           LLVMInt64TypeInContext(context)};
  for (ValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    for (BlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      join_words_of_block(block, &joining);
    }
  }
}
