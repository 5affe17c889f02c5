// What Windows' compilers read in front of declarations. Others of its words stay errors.
#pragma once
#define CASS_DECLSPEC_dllimport
#define CASS_DECLSPEC_dllexport
#define CASS_DECLSPEC_noinline __attribute__((noinline))
#define CASS_DECLSPEC_align(bytes) __attribute__((aligned(bytes)))
#define __declspec(word) CASS_DECLSPEC_##word
