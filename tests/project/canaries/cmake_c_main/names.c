const char *name(int class) { /* a word of C++ */
  static const char *const names[] = {"first", "second"};
  return names[class];
}
