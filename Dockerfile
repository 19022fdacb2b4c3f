# The command and the Python module: `docker build -t derrl . && docker run --rm -v "$PWD:/work" derrl train blocks`.
FROM rust:1.95-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN python3 -m venv /tools && /tools/bin/pip install --no-cache-dir maturin==1.16.0 \
    && PATH="/tools/bin:$PATH" maturin build --release --locked --out /wheels

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index /wheels/*.whl && rm -rf /wheels
WORKDIR /work
ENTRYPOINT ["derrl"]
