NVCC ?= nvcc
CARDS = 70 80 86
comma := ,
ifeq ($(GENCODE),)
  $(foreach card,$(filter-out 70,$(CARDS)),$(eval GENCODE += -gencode=arch=compute_$(card),code=[sm_$(card),compute_$(card)]))
endif
ARCHITECTURES = $(GENCODE) $(patsubst %,-gencode arch=compute_%$(comma)code=sm_%,$(firstword $(CARDS)))
gencode = -gencode arch=compute_$(1),code=\"sm_$(1),compute_$(1)\"
CODES = -arch=compute_70 $(CARDS:%=-code=sm_%)
WARNINGS := -Wall -Wextra
HOST = $(addprefix -Xcompiler ,$(WARNINGS)) $(addprefix -Xptxas ,-v)
