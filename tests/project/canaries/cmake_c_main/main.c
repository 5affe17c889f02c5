const char *name(int number);
void print_reversed(const char *text);
int main(void) {
  print_reversed(name(0));
  print_reversed(name(1));
  return 0;
}
