namespace cass_judge {
template <class A, class B>
struct one_type {};
template <>
struct one_type<int, int> {
  typedef int type, host_type;
};
template <>
struct one_type<unsigned, unsigned> {
  typedef unsigned type;
};
template <>
struct one_type<long, long> {
  typedef long type;
};
template <>
struct one_type<unsigned long, unsigned long> {
  typedef unsigned long type;
};
template <>
struct one_type<long long, long long> {
  typedef long long type;
};
template <>
struct one_type<unsigned long long, unsigned long long> {
  typedef unsigned long long type;
};
template <>
struct one_type<float, float> {
  typedef float type;
};
template <>
struct one_type<double, double> {
  typedef double type;
};
template <class A, class B>
__attribute__((device)) inline typename one_type<A, B>::type of_one_type_min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
__attribute__((device)) inline typename one_type<A, B>::type of_one_type_max(A a, B b) {
  return a < b ? b : a;
}
template <class A, class B>
__attribute__((host)) inline typename one_type<A, B>::host_type of_one_type_min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
__attribute__((host)) inline typename one_type<A, B>::host_type of_one_type_max(A a, B b) {
  return a < b ? b : a;
}
}  // namespace cass_judge
