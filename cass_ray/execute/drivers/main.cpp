int main(int argc, char** argv) {
  CassRun run;
  run.elements = argc > 1 ? atoll(argv[1]) : 1024;
  run.threads = argc > 2 ? atoll(argv[2]) : 256;
  run.blocks = argc > 3 ? atoll(argv[3]) : 0;
  run.seed = argc > 4 ? atoll(argv[4]) : 1;
  run.side = (long long)sqrt((double)run.elements);
  run.capacity = 4 * run.elements + 4096;
  const int only = argc > 5 ? atoi(argv[5]) : -1;
  run.width = argc > 6 ? atoll(argv[6]) : 16;
  run.height = argc > 7 ? atoll(argv[7]) : 16;
  run.edges = argc > 8 ? atoi(argv[8]) : 0;
CALLS  return 0;
}
