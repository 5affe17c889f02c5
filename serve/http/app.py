"""The FastAPI application: API v1 and the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from cass_ray.version import __version__
from serve import ui
from serve.errors import ApiError
from serve.http import job_routes, openai_routes, routes, share_routes
from serve.http.middleware import Envelope, problem_of_validation, problem_response
from serve.request.ingress_services import IngressServices
from serve.settings import ServeSettings

STATIC = Path(ui.__file__).parent / "static"

_DESCRIPTION = """\
Ports GPU programs from Nvidia to AMD. A translation is compiled and run before it is handed over,
and says what was proved about it.
"""


def create_app(settings: ServeSettings, services: Callable[[], IngressServices]) -> FastAPI:
    """The application; ``services`` is asked when a request comes."""
    app = FastAPI(
        title="cass-ray",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
    )
    app.state.services = services
    for part in (routes.router, share_routes.router, job_routes.router, openai_routes.router):
        app.include_router(part)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.exception_handler(ApiError)
    async def _api_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ApiError)
        request.state.facts["code"] = error.code
        return problem_response(error, request.state.request_id)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return problem_response(
            problem_of_validation(list(error.errors())), request.state.request_id
        )

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        cause = error.__cause__  # FastAPI makes 400 of whatever happens while it reads a body
        if isinstance(cause, ApiError):
            problem = cause
        else:
            problem = ApiError(error.status_code, "http", str(error.detail))
        response = problem_response(problem, request.state.request_id)
        response.headers.update(error.headers or {})
        return response

    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
            expose_headers=["X-Request-Id", "Retry-After"],
        )
    app.add_middleware(Envelope, services=services)
    return app
