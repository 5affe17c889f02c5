#ifdef __cplusplus
extern "C" {
#endif
int *table_new(int size);
void table_free(int *table);
int sum_on_device(const int *table, int size);
#ifdef __cplusplus
}
#endif
