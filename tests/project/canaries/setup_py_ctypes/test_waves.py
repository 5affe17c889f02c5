import waves

print(waves.step([0.0, 4.0, 0.0, 2.0]))
try:
    waves.step([1.0] * 300)
except ValueError as error:
    print(error)
