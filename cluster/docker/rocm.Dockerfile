# A node that offers `amd`: ROCm with its own clang, headers, device libraries and HIP runtime.
#
#   docker build -f cluster/docker/rocm.Dockerfile -t registry.example.com/cass-ray/rocm:0.1.0 .
#
# Compiling needs no GPU. To execute, run it with `--device=/dev/kfd --device=/dev/dri
# --group-add=video --group-add=render`. The sandbox around compilers needs `--security-opt
# seccomp=unconfined --security-opt apparmor=unconfined`; the one around programs a /proc of its own
# as well, which the kernel allows where nothing of the container's is hidden: `--security-opt
# systempaths=unconfined`.

ARG ROCM=rocm/dev-ubuntu-24.04:6.4.4-complete

FROM python:3.11-slim-bookworm AS python

FROM ${ROCM}

# Ray wants one version of Python on all nodes, and the distribution's is another: take that of the
# other images. It needs nothing newer than the C library here; its other libraries come from apt.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        bubblewrap g++ git libexpat1 libffi8 libsqlite3-0 libssl3t64 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=python /usr/local /usr/local
RUN ldconfig && python3.11 -c "import ctypes, sqlite3, ssl"

WORKDIR /opt/cass-ray
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY release release
COPY docs/glossary.md docs/glossary.md
COPY cass_ray cass_ray
COPY actors actors
COPY cluster cluster
COPY jobs jobs
COPY serve serve
RUN python3.11 -m pip install --no-cache-dir --constraint constraints.txt --editable ".[serve]"

# Ubuntu's images have a user of that number already.
RUN (userdel --remove ubuntu || true) \
    && useradd --create-home --uid 1000 ray \
    && install --directory --owner=ray /var/cache/cass-ray /data
USER 1000
ENV CASS_CACHE=/var/cache/cass-ray \
    ROCM_PATH=/opt/rocm
CMD ["bash"]
