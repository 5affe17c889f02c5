#pragma once
#include <functional>
#include <iostream>
#include <map>
#include <string>
namespace minitest {
inline std::map<std::string, std::function<void()>>& all() {
  static std::map<std::string, std::function<void()>> tests;
  return tests;
}
struct failure {
  std::string what;
};
struct add {
  add(const char* name, std::function<void()> body) { all()[name] = body; }
};
inline int run() {
  int failed = 0;
  for (auto& test : all()) try {
      test.second();
      std::cout << "[ OK ] " << test.first << "\n";
    } catch (const failure& why) {
      ++failed, std::cout << "[FAIL] " << test.first << ": " << why.what << "\n";
    }
  return failed;
}
}  // namespace minitest
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEST(name)                                                    \
  static void name();                                                 \
  static minitest::add JOIN(added_, __LINE__)(#name, name);           \
  static void name()
#define REQUIRE(what) \
  if (!(what)) throw minitest::failure{#what}
