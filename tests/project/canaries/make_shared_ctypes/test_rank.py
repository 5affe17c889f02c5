import ctypes

library = ctypes.CDLL("./librank.so")
library.rank_error.restype = ctypes.c_char_p
values = (ctypes.c_int * 5)(30, 10, 50, 20, 40)
ranks = (ctypes.c_int * 5)()
assert library.rank_all(values, 5, ranks) == 0
print("ranks", *ranks)
assert library.rank_all(values, 5000, ranks) == 1
print(library.rank_error().decode())
