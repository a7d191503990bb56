"""Where chunks are computed: in this process, by processes of this machine, or on a Dask cluster.

There are never more chunks under way than workers, and a new one is given away when the last result has been written: so at
most one chunk for each worker is lost when everything is killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from typing import Any

from ..errors import DalembertError, MethodError, ModelError, ModelWarning, StartError
from ..run.values import Array
from ..run.zarr_file import MISSING
from .work import Job, compute, identity_of_software

Part = tuple[int, Array, Array]
"""The number of a chunk, which of its lanes are missing, and their values."""

Put = Callable[[int, Array, Mapping[str, Array]], None]
"""Writes the results of a part."""

CONNECT, FIRST_WORKER = 30.0, 60.0
"""Seconds to wait for a scheduler, and for its first worker."""

LOOK = 1.0
"""Seconds between two looks at the workers."""

DEATHS = 5
"""So many processes may end without a chunk in between, besides one for each worker."""


def in_this_process(job: Job, parts: Iterator[Part], put: Put) -> None:
    """Compute the parts here, with threads for the lanes."""
    for k, lanes, values in parts:
        put(k, lanes, job.results(values))


def on_cluster(job: Job, parts: Iterator[Part], put: Put, scheduler: str | None, workers: int) -> None:
    """Compute the parts on a Dask cluster, or on worker processes of this machine."""
    try:
        import cloudpickle
        import distributed
    except ImportError:
        raise ModelError(MISSING.format("dask with distributed")) from None
    packed, identity = cloudpickle.dumps(job), identity_of_software()
    with _client(distributed, scheduler) as client, _processes(client, 0 if scheduler else workers) as watch:
        if scheduler:
            _wait_for_workers(client, scheduler)
        flow = _Flow(client, packed, identity, put, watch)
        try:
            with client.as_current():
                flow.run(parts)
        except (distributed.KilledWorker, distributed.CancelledError, OSError) as error:
            raise _lost(error, scheduler) from error


class _Flow:
    """Parts on their way to workers and back."""

    def __init__(
        self, client: Any, packed: bytes, identity: Mapping[str, str], put: Put, watch: Callable[[bool], None]
    ):
        self.client, self.packed, self.identity, self.put, self.watch = client, packed, identity, put, watch
        self.under_way: dict[Any, tuple[int, Array]] = {}
        self.processors: set[str] = set()

    def run(self, parts: Iterator[Part]) -> None:
        """Until all parts have been computed and written."""
        import distributed

        first_of: Any = distributed.wait
        more = True
        while True:
            while more and len(self.under_way) < self._slots():
                part = next(parts, None)
                more = part is not None
                if part is not None:
                    self._give(*part)
            if not more and not self.under_way:
                return
            try:
                done = first_of(list(self.under_way), timeout=LOOK, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = set()
            for future in done:
                self._take(future)
            self.watch(bool(done))
            self._check_connected()

    def _give(self, k: int, lanes: Array, values: Array) -> None:
        """Submit a part. Its key says what is computed: a scheduler has tasks of other studies too."""
        digest = hashlib.sha256(self.packed + repr(sorted(self.identity.items())).encode() + values.tobytes())
        key = f"chunk-{k}-{digest.hexdigest()}"
        future = self.client.submit(compute, self.packed, self.identity, values, pure=False, key=key)
        self.under_way[future] = (k, lanes)

    def _slots(self) -> int:
        """The threads of all workers; one before there are any."""
        self._check_connected()
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def _check_connected(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise OSError("the connection was closed")

    def _result(self, future: Any) -> Any:
        """What a worker computed. It may end before it has sent that, so workers are replaced while it is waited for."""
        reading = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
        )
        try:
            while True:
                wait([reading], timeout=LOOK)
                if reading.done():
                    return reading.result()
                self.watch(False)
                self._check_connected()
        finally:
            reading.cancel()

    def _take(self, future: Any) -> None:
        k, lanes = self.under_way.pop(future)
        import distributed

        try:
            results, processor = self._result(future)
        except MethodError as error:
            raise MethodError(f"sweep: a worker cannot compute chunk {k}: {error}.") from None
        except (DalembertError, distributed.KilledWorker, distributed.CancelledError, OSError):
            raise
        except Exception as error:
            first = (str(error).splitlines() or [""])[0].rstrip(".")
            raise StartError(
                f"sweep: a worker cannot compute chunk {k} ({type(error).__name__}: {first}). The scheduler and the workers "
                f"need the same packages as this process"
            ) from error
        self.put(k, lanes, results)
        future.release()
        if processor not in self.processors and self.processors:
            warnings.warn(
                f"sweep: workers have processors of several kinds ({', '.join(sorted({processor, *self.processors}))}). "
                f"Code is compiled for each kind, so the last bits of a motion may depend on the worker that computed it.",
                ModelWarning,
                stacklevel=2,
            )
        self.processors.add(processor)


def _lost(error: BaseException, scheduler: str | None) -> DalembertError:
    kind = type(error).__name__
    if kind == "KilledWorker":
        return StartError(
            "sweep: a chunk was given to several workers, and each of them ended before it was computed, perhaps for lack of "
            "memory. Give chunk= a smaller number in a new store, or start workers with more memory"
        )
    first = (str(error).splitlines() or [""])[0].rstrip(":")
    return StartError(f"sweep: the scheduler on {scheduler or 'this machine'} was lost ({kind}: {first})")


@contextmanager
def _client(distributed: Any, scheduler: str | None) -> Iterator[Any]:
    """A client of the scheduler at that address or described in that file; of one in this process if there is none."""
    import logging

    loggers = [logging.getLogger(f"distributed{part}") for part in ("", ".client", ".scheduler", ".core", ".batched")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)  # losses are reported in one sentence, not in its log
    cluster = None
    try:
        if scheduler is None:
            cluster = distributed.LocalCluster(
                n_workers=0, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp://", host="127.0.0.1"
            )
            given: dict[str, Any] = {"address": cluster}
        else:
            given = {"scheduler_file": _file(scheduler)} if scheduler.endswith(".json") else {"address": scheduler}
        try:
            client = distributed.Client(**given, timeout=CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise StartError(
                f"scheduler: {scheduler} cannot be reached ({type(error).__name__}: {error}). Start one with "
                f"`dask scheduler`, and workers with `dask worker ADDRESS`; or leave scheduler= out to compute here."
            ) from None
        try:
            yield client
        finally:
            client.close(timeout=2)
    finally:
        if cluster is not None:
            cluster.close(timeout=5)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _file(scheduler: str) -> str:
    """The file of a scheduler, which may be starting."""
    end = time.monotonic() + CONNECT
    while not os.path.isfile(scheduler):
        if time.monotonic() > end:
            raise StartError(
                f"scheduler: there is no file {os.path.abspath(scheduler)} after {CONNECT:g} s. Start a scheduler that writes "
                f"it, `dask scheduler --scheduler-file {scheduler}`, and workers with `dask worker --scheduler-file "
                f"{scheduler}`; or leave scheduler= out to compute here."
            )
        time.sleep(0.05)
    return scheduler


def _wait_for_workers(client: Any, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise StartError(
            f"scheduler: {scheduler} has no workers after {FIRST_WORKER:g} s. Start some with `dask worker {scheduler} "
            f"--nthreads 1`."
        ) from None


@contextmanager
def _processes(client: Any, count: int) -> Iterator[Callable[[bool], None]]:
    """Worker processes of this machine, of one thread each; yields a function that replaces those that have ended.

    They are told whether a chunk came in since the last call.
    """
    running: list[subprocess.Popen[bytes]] = []
    deaths = 0
    with tempfile.TemporaryFile() as said:

        def begin() -> None:
            running.append(_worker(client.scheduler.address, said))

        def watch(came: bool) -> None:
            nonlocal deaths
            deaths = 0 if came else deaths
            for process in [p for p in running if p.poll() is not None]:
                running.remove(process)
                deaths += 1
                if deaths > DEATHS + count:
                    said.seek(0)
                    told = said.read()[-2000:].decode(errors="replace").strip().splitlines()
                    raise StartError(f"sweep: worker processes end at once: {told[-1] if told else process.returncode}")
                begin()

        try:
            for _ in range(count):
                begin()
            yield watch
        finally:
            for process in running:
                process.kill()
            for process in running:
                process.wait()


def _worker(address: str, said: Any) -> subprocess.Popen[bytes]:
    """A worker process. It sees the modules that this process sees, ends when the scheduler does, and gets no Ctrl-C."""
    command = [
        sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit",
        "0", "--death-timeout", "30",
    ]  # fmt: skip
    seen = os.pathsep.join(p or os.getcwd() for p in sys.path)
    environment = {**os.environ, "PYTHONPATH": seen}
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, start_new_session=True
    )


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
