// HIPRTC: compilation of device code by the running program.
#include <hip/hiprtc.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler.hpp"
#include "errors.hpp"
#include "lowered_names.hpp"

using namespace cass::hip;

struct _hiprtcProgram {
  SourceText source;
  std::vector<SourceText> headers;
  std::vector<std::string> name_expressions;
  std::map<std::string, std::string, std::less<>> lowered_names;
  CompilerOutput output;
};

namespace {

struct Programs {
  std::mutex guard;
  std::map<hiprtcProgram, std::unique_ptr<_hiprtcProgram>> all;
};

Programs& programs() {
  static auto& known = *new Programs;
  return known;
}

bool is_program(hiprtcProgram program) {
  const std::lock_guard lock(programs().guard);
  return programs().all.contains(program);
}

std::string variable_name(std::size_t index) {
  return "__cass_name_expression_" + std::to_string(index);
}

// A pointer to each name expression: it makes templates be instantiated, and tells the symbol.
std::string with_name_expressions(const _hiprtcProgram& program) {
  std::string text = program.source.text + "\n";
  for (std::size_t index = 0; index < program.name_expressions.size(); ++index) {
    text += "extern \"C\" __device__ __attribute__((used)) const void* " + variable_name(index) +
            " = (const void*)(" + program.name_expressions[index] + ");\n";
  }
  return text;
}

}  // namespace

const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
#define CASS_RTC_NAME(code) \
  case code: return #code
    CASS_RTC_NAME(HIPRTC_SUCCESS);
    CASS_RTC_NAME(HIPRTC_ERROR_OUT_OF_MEMORY);
    CASS_RTC_NAME(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
    CASS_RTC_NAME(HIPRTC_ERROR_INVALID_INPUT);
    CASS_RTC_NAME(HIPRTC_ERROR_INVALID_PROGRAM);
    CASS_RTC_NAME(HIPRTC_ERROR_INVALID_OPTION);
    CASS_RTC_NAME(HIPRTC_ERROR_COMPILATION);
    CASS_RTC_NAME(HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE);
    CASS_RTC_NAME(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    CASS_RTC_NAME(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    CASS_RTC_NAME(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    CASS_RTC_NAME(HIPRTC_ERROR_INTERNAL_ERROR);
    CASS_RTC_NAME(HIPRTC_ERROR_LINKING);
#undef CASS_RTC_NAME
  }
  return "Unknown";
}

hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;  // what AMD's HIPRTC 6.2 answers
  *minor = 0;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* handle, const char* source, const char* name,
                                 int header_count, const char** headers,
                                 const char** include_names) {
  if (handle == nullptr) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (source == nullptr || header_count < 0 ||
      (header_count > 0 && (headers == nullptr || include_names == nullptr))) {
    return HIPRTC_ERROR_INVALID_INPUT;
  }
  auto program = std::make_unique<_hiprtcProgram>();
  program->source = {name == nullptr ? "" : name, source};
  for (int index = 0; index < header_count; ++index) {
    program->headers.push_back({include_names[index], headers[index]});
  }
  *handle = program.get();
  const std::lock_guard lock(programs().guard);
  programs().all.emplace(*handle, std::move(program));
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* handle) {
  if (handle == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(programs().guard);
  return programs().all.erase(*handle) == 1 ? HIPRTC_SUCCESS : HIPRTC_ERROR_INVALID_PROGRAM;
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* expression) {
  if (expression == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (program->output.ok) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->name_expressions.emplace_back(expression);
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int option_count, const char** options) {
  if (option_count < 0 || (option_count > 0 && options == nullptr)) {
    return HIPRTC_ERROR_INVALID_INPUT;
  }
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  const std::vector<std::string> given(options, options + option_count);
  for (const auto& option : given) {
    if (option == "-fgpu-rdc") {
      program->output.log = "-fgpu-rdc (bitcode) is not supported by the CPU backend\n";
      return HIPRTC_ERROR_INVALID_OPTION;
    }
  }
  program->output =
      compile({program->source.name, with_name_expressions(*program)}, program->headers, given);
  if (!program->output.ok) return HIPRTC_ERROR_COMPILATION;
  for (std::size_t index = 0; index < program->name_expressions.size(); ++index) {
    const auto name = pointed_to(program->output.code, variable_name(index));
    if (!name) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    program->lowered_names.insert_or_assign(program->name_expressions[index], *name);
  }
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* expression,
                                  const char** lowered) {
  if (expression == nullptr || lowered == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  if (!program->output.ok) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->lowered_names.find(expression);
  if (found == program->lowered_names.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *lowered = found->second.c_str();
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, std::size_t* size) {
  if (size == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  const auto& log = program->output.log;
  *size = log.empty() ? 0 : log.size() + 1;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log) {
  if (log == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program)) return HIPRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(log, program->output.log.c_str(), program->output.log.size() + 1);
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, std::size_t* size) {
  if (size == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program) || !program->output.ok) return HIPRTC_ERROR_INVALID_PROGRAM;
  *size = program->output.code.size();
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code) {
  if (code == nullptr) return HIPRTC_ERROR_INVALID_INPUT;
  if (!is_program(program) || !program->output.ok) return HIPRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(code, program->output.code.data(), program->output.code.size());
  return HIPRTC_SUCCESS;
}

// Bitcode and linking of it: there is no linker for it here.

namespace {

hiprtcResult unsupported_rtc(const char* entry_point) {
  report_once(std::string(entry_point) + " is not supported by the CPU backend");
  return HIPRTC_ERROR_INTERNAL_ERROR;
}

}  // namespace

hiprtcResult hiprtcGetBitcode(hiprtcProgram, char*) { return unsupported_rtc("hiprtcGetBitcode"); }

hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram, std::size_t*) {
  return unsupported_rtc("hiprtcGetBitcodeSize");
}

hiprtcResult hiprtcLinkCreate(unsigned, hiprtcJIT_option*, void**, hiprtcLinkState*) {
  return unsupported_rtc("hiprtcLinkCreate");
}

hiprtcResult hiprtcLinkAddFile(hiprtcLinkState, hiprtcJITInputType, const char*, unsigned,
                               hiprtcJIT_option*, void**) {
  return unsupported_rtc("hiprtcLinkAddFile");
}

hiprtcResult hiprtcLinkAddData(hiprtcLinkState, hiprtcJITInputType, void*, std::size_t, const char*,
                               unsigned, hiprtcJIT_option*, void**) {
  return unsupported_rtc("hiprtcLinkAddData");
}

hiprtcResult hiprtcLinkComplete(hiprtcLinkState, void**, std::size_t*) {
  return unsupported_rtc("hiprtcLinkComplete");
}

hiprtcResult hiprtcLinkDestroy(hiprtcLinkState) { return unsupported_rtc("hiprtcLinkDestroy"); }
