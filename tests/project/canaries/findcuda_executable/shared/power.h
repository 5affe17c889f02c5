#define EXPONENT 4
