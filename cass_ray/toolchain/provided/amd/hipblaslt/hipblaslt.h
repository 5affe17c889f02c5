// PyTorch's headers name this handle; where hipBLASLt is not installed nothing can make one.
#pragma once

typedef void* hipblasLtHandle_t;
