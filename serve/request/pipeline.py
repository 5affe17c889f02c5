"""From a request to an answer: engine, check, repair, fallback; always labeled.

The order is the engine's own answers (several from a model), each repaired where its check fails,
then the rules, then the best attempt so far, which says that it is not verified.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cass_ray.api.schema import (
    ORDER,
    RULES,
    Attempt,
    Check,
    CompileReport,
    Event,
    ExecutionReport,
    TargetVerdict,
    TranslateRequest,
    TranslateResponse,
    Usage,
    Verdict,
    Verification,
)
from cass_ray.task import Level
from serve.check.stages import CheckRequest
from serve.check.verdicts import Reports, enough, verdict_of
from serve.engines.base import EngineAnswer
from serve.errors import ApiError, from_library
from serve.messages import without_paths
from serve.request.answer_cache import answer_key
from serve.request.clients import EngineClient, is_generative
from serve.request.ingress_services import IngressServices


@dataclass
class _Candidate:
    """An answer with what was found out about it."""

    engine: str
    answer: EngineAnswer
    verdict: Verdict

    @property
    def rank(self) -> int:
        """Higher is better."""
        return ORDER.index(self.verdict.verification)


@dataclass
class Pipeline:
    """One request: what was tried, what it took, and the best answer so far."""

    services: IngressServices
    request: TranslateRequest
    id: str
    timings: dict[str, float] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    best: _Candidate | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0

    async def events(self) -> AsyncIterator[Event | TranslateResponse]:
        """Events where a stream is asked for, then the answer.

        Raises :class:`ApiError` where nothing could be answered.
        """
        started = time.perf_counter()
        engine = self._engine()
        key = answer_key(self.request, f"{engine.info.name} {await engine.version()}")
        kept = self.services.answers.get(key)
        if kept is not None:
            self.services.metrics.cached.inc()
            timings = {"total": time.perf_counter() - started}
            again = kept.model_copy(update={"id": self.id, "cached": True, "timings": timings})
            yield again
            return
        async for event in self._answered(engine):
            yield event
        response = self._response(engine, started)
        self.services.answers.put(key, response)
        yield response

    async def result(self) -> TranslateResponse:
        """The answer alone. Raises :class:`ApiError` where nothing could be answered."""
        async for event in self.events():
            if isinstance(event, TranslateResponse):
                return event
        raise AssertionError("a pipeline ends with an answer")

    def _engine(self) -> EngineClient:
        request, engines = self.request, self.services.engines
        engine = engines.get(request.engine)
        if engine is None:
            raise ApiError(
                404,
                "unknown_engine",
                f"no engine is called {request.engine!r}: there are {', '.join(engines)}",
            )
        info = engine.info
        if request.level not in info.levels:
            levels = ", ".join(info.levels)
            raise ApiError(422, "wrong_level", f"the engine {info.name} translates: {levels}")
        if request.direction not in info.directions:
            raise ApiError(
                422,
                "wrong_direction",
                f"the engine {info.name} goes: {', '.join(info.directions)}",
            )
        if request.cubin is not None and request.level is not Level.ASSEMBLY:
            raise ApiError(422, "wrong_level", "a cubin is translated with level assembly")
        return engine

    async def _answered(self, engine: EngineClient) -> AsyncIterator[Event]:
        """Try until an answer passes its check."""
        failure: ApiError | None = None
        for number in range(self._draws()):
            try:
                async for event in self._tried(engine, self.request.seed + number):
                    yield event
            except ApiError as error:
                # What the client has to know or can mend is no reason to try elsewhere.
                if error.status in (429, 401):
                    raise
                failure = error
                self._note_failure(engine, error)
            if self._good_enough():
                return
        if self._may_fall_back(engine):
            rules = self.services.engines[RULES]
            try:
                async for event in self._tried(rules, 0):
                    yield event
            except ApiError as error:
                self._note_failure(rules, error)
        if self.best is None:
            raise failure or ApiError(500, "no_answer", "no engine gave an answer")

    def _draws(self) -> int:
        settings = self.services.settings.engine(self.request.engine)
        return self.request.candidates if settings and is_generative(settings) else 1

    def _good_enough(self) -> bool:
        best = self.best
        return best is not None and enough(best.verdict.verification, self.request.check)

    def _may_fall_back(self, engine: EngineClient) -> bool:
        rules = self.services.engines.get(RULES)
        return (
            self.request.fallback
            and rules is not None
            and engine.info.name != RULES
            and self.request.level in rules.info.levels
            and bool(self.request.source.strip())
        )

    def _note_failure(self, engine: EngineClient, error: ApiError) -> None:
        self.attempts.append(
            Attempt(
                engine=engine.info.name,
                verification=Verification.FAILED,
                problem=without_paths(error.message),
            )
        )

    async def _tried(self, engine: EngineClient, seed: int) -> AsyncIterator[Event]:
        """One answer of ``engine``, checked and repaired."""
        started = time.perf_counter()
        answer: EngineAnswer | None = None
        with self._timed("translate"), _api_errors():
            if engine.info.streams and self.request.stream:
                async for piece in engine.stream(self.request, seed):
                    if isinstance(piece, str):
                        yield Event(type="token", data={"text": piece})
                    else:
                        answer = piece
            else:
                answer = await engine.translate(self.request, seed)
        if answer is None:
            raise ApiError(502, "no_answer", f"the engine {engine.info.name} gave no answer")
        self._count(engine, answer)
        if answer.failed:
            raise ApiError(422, "not_translated", answer.failed)
        if self.request.stream:
            yield _translation(engine, answer)
        async for event in self._checked(engine, answer, started):
            yield event

    async def _checked(
        self, engine: EngineClient, answer: EngineAnswer, started: float
    ) -> AsyncIterator[Event]:
        rounds = self.request.repair if engine.info.streams else 0
        while True:
            compiled: CompileReport | None = None
            executed: ExecutionReport | None = None
            further: dict[str, Reports] = {}
            if self.request.check is not Check.NONE:
                check = CheckRequest(
                    request=self.request,
                    engine=engine.info.name,
                    translation=answer.source,
                    host=answer.host,
                )
                with _api_errors():
                    async for stage in self.services.checker.stages(check):
                        if stage.target:
                            reports = further.get(stage.target, (None, None))
                            further[stage.target] = (
                                stage.compile or reports[0],
                                stage.execution or reports[1],
                            )
                        elif stage.compile is not None:
                            compiled = stage.compile
                            answer = answer.model_copy(update={"source": stage.source})
                        else:
                            executed = stage.execution or executed
                        if self.request.stream:
                            yield Event(type="stage", data=stage.model_dump(mode="json"))
            self._keep(engine, answer, verdict_of(compiled, executed, further), started)
            if compiled is None or compiled.passed or rounds == 0:
                return
            rounds -= 1
            with self._timed("repair"), _api_errors():
                proposed = await engine.propose(answer.source, compiled.output)
            if proposed is None or proposed == answer.source:
                return
            answer = answer.model_copy(update={"source": proposed})

    def _keep(
        self, engine: EngineClient, answer: EngineAnswer, verdict: Verdict, started: float
    ) -> None:
        problem = verdict.label if verdict.verification is Verification.FAILED else ""
        self.attempts.append(
            Attempt(
                engine=engine.info.name,
                verification=verdict.verification,
                problem=problem,
                seconds=time.perf_counter() - started,
            )
        )
        on_targets: Sequence[Verdict | TargetVerdict] = (
            verdict.targets if verdict.targets else [verdict]
        )
        for checked in on_targets:
            for name, report in (("compile", checked.compile), ("execute", checked.execution)):
                if report is not None:
                    self.timings[name] = self.timings.get(name, 0.0) + report.seconds
        candidate = _Candidate(engine.info.name, answer, verdict)
        if self.best is None or candidate.rank > self.best.rank:
            self.best = candidate

    def _count(self, engine: EngineClient, answer: EngineAnswer) -> None:
        if answer.usage is None:
            return
        self.prompt_tokens += answer.usage.prompt_tokens
        self.completion_tokens += answer.usage.completion_tokens
        tokens = self.services.metrics.tokens
        tokens.labels(engine.info.name, "prompt").inc(answer.usage.prompt_tokens)
        tokens.labels(engine.info.name, "completion").inc(answer.usage.completion_tokens)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + time.perf_counter() - started

    def _response(self, engine: EngineClient, started: float) -> TranslateResponse:
        best = self.best
        assert best is not None
        self.timings["total"] = time.perf_counter() - started
        metrics = self.services.metrics
        metrics.translations.labels(best.engine, best.verdict.verification.value).inc()
        if best.engine != engine.info.name:
            metrics.fallbacks.labels(engine.info.name, best.engine).inc()
        for stage, seconds in self.timings.items():
            metrics.stage_seconds.labels(stage).observe(seconds)
        tokens = self.prompt_tokens + self.completion_tokens
        return TranslateResponse(
            id=self.id,
            translation=best.answer.source,
            engine=best.engine,
            engine_version=best.answer.version,
            architecture=self.request.architecture,
            verdict=best.verdict,
            findings=best.answer.findings,
            counts=best.answer.counts,
            attempts=self.attempts,
            usage=Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)
            if tokens
            else None,
            timings=self.timings,
        )


def _translation(engine: EngineClient, answer: EngineAnswer) -> Event:
    data = answer.model_dump(mode="json", include={"source", "findings", "counts", "seconds"})
    return Event(type="translation", data={"engine": engine.info.name, **data})


@contextmanager
def _api_errors() -> Iterator[None]:
    """The library's errors as :class:`ApiError`; bugs stay what they are."""
    try:
        yield
    except ApiError:
        raise
    except Exception as error:
        problem = from_library(error)
        if problem is None:
            raise
        raise problem from None
