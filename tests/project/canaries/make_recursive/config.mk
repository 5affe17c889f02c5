CUDA_PATH ?= /usr/local/cuda
NVCC := $(CUDA_PATH)/bin/nvcc
SMS ?= 70 80
$(foreach sm,$(SMS),$(eval GENCODE_FLAGS += -gencode arch=compute_$(sm),code=sm_$(sm)))
HIGHEST := $(lastword $(sort $(SMS)))
GENCODE_FLAGS += -gencode arch=compute_$(HIGHEST),code=compute_$(HIGHEST)
NVCCFLAGS := -std=c++17 -O2 -m64 --threads 0 $(GENCODE_FLAGS)
ifeq ($(DEBUG),1)
NVCCFLAGS += -G -g -lineinfo
endif
