# A node that offers `nvidia`: CUDA's compiler from NVIDIA's Python packages, and clang for host code.
#
#   docker build -f cluster/docker/cuda.Dockerfile -t registry.example.com/cass-ray/cuda:0.1.0 .
#
# Compiling needs no GPU. To execute, run it with the NVIDIA container runtime (`--gpus all`), which
# brings the driver; CUDA 13.0 needs driver 580 or newer.
# The sandbox around compilers needs `--security-opt seccomp=unconfined --security-opt
# apparmor=unconfined`; the one around programs a /proc of its own as well, which the kernel allows
# where nothing of the container's is hidden: `--security-opt systempaths=unconfined`.

FROM python:3.11.13-slim-bookworm AS build

WORKDIR /opt/cass-ray
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY release release
COPY docs/glossary.md docs/glossary.md
COPY cass_ray cass_ray
COPY actors actors
COPY cluster cluster
COPY jobs jobs
COPY serve serve
# EXTRAS=nvidia,s3,train for nodes that train.
ARG EXTRAS=nvidia,s3
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --constraint constraints.txt --editable ".[${EXTRAS}]"

FROM python:3.11.13-slim-bookworm

# Debian replaces the versions of a release, so that a build which named them would soon fail.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap clang-19 g++ git lld-19 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 ray \
    && install --directory --owner=ray /var/cache/cass-ray /data

COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/cass-ray /opt/cass-ray
WORKDIR /opt/cass-ray
ENV PATH=/opt/venv/bin:$PATH \
    CASS_CACHE=/var/cache/cass-ray \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
# By number: Kubernetes cannot tell from a name that it is not root.
USER 1000
CMD ["bash"]
