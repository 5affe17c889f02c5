"""A project from CUDA to HIP: translated, built and tested for each target, and reported."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from cass_ray.cache import digest
from cass_ray.git_command import GitError, run_git
from cass_ray.project.build_system import (
    BUILD_FOLDER,
    BuildPlan,
    find_plan,
    has_tensors_on_devices,
    has_torch_extension,
    suggested_build,
    uses_torch,
)
from cass_ray.project.built_by import drop_what_others_built, identity_of
from cass_ray.project.checking import Violation, check_again
from cass_ray.project.cloning import write_git
from cass_ray.project.cmake import newer_cmake
from cass_ray.project.counted_tests import found_no_tests
from cass_ray.project.in_part import tested_in_part
from cass_ray.project.interpreter import python_folders, starts_python, write_interpreter
from cass_ray.project.patch import make_patch
from cass_ray.project.port_tree import PortStyle, write_port
from cass_ray.project.prefix import tell_dependencies, write_prefix
from cass_ray.project.pytorch.backend import (
    TorchBackend,
    find_torch,
    link_backend,
    torch_backend,
)
from cass_ray.project.reference.original import OriginalProject, build_by_nvcc
from cass_ray.project.reference.recording import launcher, put_back
from cass_ray.project.reference.testing import Reference, reference_of, test_beside
from cass_ray.project.repairs import Repairs
from cass_ray.project.report import ProjectResult, TargetResult
from cass_ray.project.steps import StepOutcome, Workbench
from cass_ray.project.tree_copies import (
    copy_links,
    keep_what_is_in,
    note_of,
    own_folder,
    synchronize,
)
from cass_ray.toolchain.amd.toolchain import AmdToolchain
from cass_ray.toolchain.archive.library_root import find_library_root
from cass_ray.toolchain.archive.library_targets import without_code
from cass_ray.translate.project import build_files
from cass_ray.translate.project.tree import (
    TreeResult,
    is_source,
    source_files,
    translate_tree,
)
from cass_ray.translate.protocol import Translator

_OF_HIP = re.compile(
    r"^[ \t]*#[^\n]*\b__HIP(?:CC|_PLATFORM_AMD|_DEVICE_COMPILE)?__\b", re.MULTILINE
)
_CLONE_SECONDS = 1800
_SCHEMES = ("https://", "http://", "ssh://", "git://", "git@", "file://")


class ProjectError(RuntimeError):
    """The project cannot be had, or holds nothing to port."""


@dataclass(frozen=True)
class PortSettings:
    """What is asked for; empty commands are found by the build system."""

    architectures: tuple[str, ...]
    build: str = ""
    test: str = ""
    seconds: float = 1800.0
    check_seconds: float = 300.0
    """Limit of the run in checking mode of tests that fail, which is slower than they; 0: none."""
    jobs: int = 2
    repairs: int = 3
    """Rounds of repair from what the compiler says; 0: none."""
    dependencies: tuple[tuple[str, Path], ...] = ()
    """Name and folder of what the build would download."""
    style: PortStyle | None = None
    """None: for both vendors, and for AMD alone where that does not build."""
    reference: bool = True
    """Compare what the project's programs print with what the original prints, lifted."""


def port_project(
    source: str,
    settings: PortSettings,
    translator: Translator,
    toolchain: AmdToolchain,
    runtime: Path,
    work: Path,
    say: Callable[[str], None] = lambda message: None,
) -> ProjectResult:
    """Port the folder or repository ``source``, keeping trees below ``work`` for the next time.

    Raises :class:`ProjectError`, :class:`~cass_ray.project.patch.PatchError`,
    :class:`~cass_ray.translate.project.shared.SharedError` and
    :class:`~cass_ray.translate.protocol.TranslatorError`.
    """
    root = checkout(source, work)
    say(f"translating {root}")
    translation = translate_tree(root, work / "hip", translator)
    keep_what_is_in(root, work / "hip")
    copy_links(root, work / "hip")

    @cache
    def reference() -> Reference | None:
        if not settings.reference:
            return None
        return reference_of(_original(root, settings, toolchain, runtime, work / "reference"), say)

    result = _ported(
        source, root, translation, settings, translator, toolchain, runtime, work, reference, say
    )
    if settings.style is None and result.shared and not result.built:
        say("the port for both vendors does not build; now for AMD alone")
        hip = replace(settings, style=PortStyle.HIP)
        alone = _ported(
            source, root, translation, hip, translator, toolchain, runtime, work, reference, say
        )
        result = alone if alone.built else result
    return result


def _ported(
    source: str,
    root: Path,
    translation: TreeResult,
    settings: PortSettings,
    translator: Translator,
    toolchain: AmdToolchain,
    runtime: Path,
    work: Path,
    built_original: Callable[[], Reference | None],
    say: Callable[[str], None],
) -> ProjectResult:
    tree = write_port(root, work, settings.style, say)
    port, switch, shared = tree.folder, tree.switch, tree.style is PortStyle.SHARED
    remembered = work / ("repairs-shared.json" if shared else "repairs.json")
    repairs = Repairs(port, remembered, for_both=shared)
    repairs.start()
    dependencies = _dependencies(settings, translator, work / "dependencies")
    try:
        plan = find_plan(port, settings.build, settings.test, settings.jobs, dependencies)
    except ValueError as error:
        raise ProjectError(str(error)) from error
    for_amd = replace(plan, build=switch.applied(plan.build), test=switch.applied(plan.test))
    if not plan.build:
        suggested = suggested_build(port)
        example = f", for example --build {shlex.quote(suggested)}" if suggested else ""
        raise ProjectError(
            f"cass knows no command that builds this project (build system: {plan.system.value}):"
            f" give --build{example}"
        )
    if warning := without_code(_sources(port), settings.architectures):
        say(warning)
    torch = _torch(port, plan, toolchain, runtime, translator, say)
    reference = built_original()
    targets = tuple(
        _target(name, for_amd, settings, toolchain, runtime, work, repairs, torch, reference, say)
        for name in settings.architectures
    )
    cuda = None
    if shared and reference is not None and not reference.runs.unbuilt:
        # What an earlier build left would pass for this one's.
        shutil.rmtree(work / "for-cuda" / "tree", ignore_errors=True)
        asked = replace(settings, build=switch.without(settings.build))
        original = _original(port, asked, toolchain, runtime, work / "for-cuda")
        cuda = build_by_nvcc(replace(original, called="CUDA"), say)
    patch = make_patch(root, port)
    return ProjectResult(
        name_of(source),
        plan,
        translation,
        targets,
        patch,
        tuple(repairs.made),
        tools=toolchain.version,
        shared=shared,
        cuda=cuda,
    )


def _sources(root: Path) -> Iterator[str]:
    files = (each for each in source_files(root) if is_source(each.name))
    return (each.read_text("utf-8", "replace") for each in files)


def _original(
    root: Path, settings: PortSettings, toolchain: AmdToolchain, runtime: Path, work: Path
) -> OriginalProject:
    """The project ``root``, to be built by nvcc and run below ``work``."""
    dependencies = {name: source.resolve() for name, source in settings.dependencies}
    tree = work / "tree"
    if not note_of(tree).exists():
        shutil.rmtree(tree, ignore_errors=True)
    synchronize(root, tree)
    plan = find_plan(tree, settings.build, settings.test, settings.jobs, dependencies)
    tools = write_git(work / "tools", dependencies)
    return OriginalProject(
        root,
        tree,
        plan,
        work,
        toolchain,
        runtime,
        settings.seconds,
        (*dependencies.values(), *tools),
        tools,
        card=settings.architectures[0],
    )


def _torch(
    root: Path,
    plan: BuildPlan,
    toolchain: AmdToolchain,
    runtime: Path,
    translator: Translator,
    say: Callable[[str], None],
) -> TorchBackend | None:
    """Return the PyTorch that builds an extension and makes tensors on devices; None for projects
    that need none.

    Raises :class:`ProjectError` where the project itself is one and PyTorch is missing, and what
    :func:`~cass_ray.project.pytorch.backend.torch_backend` raises.
    """
    if not has_torch_extension(root) and not (
        starts_python(root, plan.build, plan.test) and has_tensors_on_devices(root)
    ):
        return None
    install = find_torch()
    if install is None and not uses_torch(root):
        return None  # it may be built without this part of it
    if install is None:
        raise ProjectError(
            "an extension of PyTorch is built with PyTorch, which this environment has not:"
            " pip install 'cass-ray[train]'"
        )
    say(f"PyTorch {install.version} on the CPU backend (built once)")
    return torch_backend(install, toolchain, runtime, translator, toolchain.cache)


def _dependencies(settings: PortSettings, translator: Translator, folder: Path) -> dict[str, Path]:
    """Translated copies of the dependencies, below ``folder``; they may use CUDA as well.

    One that knows HIP itself is copied as it is.
    """
    found = {}
    for name, source in settings.dependencies:
        if not source.is_dir():
            raise ProjectError(f"--dependency {name}: {source} is no folder")
        if knows_hip(source):
            synchronize(source, folder / name)
        else:
            translate_tree(source, folder / name, translator)
            copy_links(source, folder / name)
        found[name] = (folder / name).resolve()
    return found


def knows_hip(root: Path) -> bool:
    """Whether some source below ``root`` asks for HIP's compiler or platform."""
    return any(
        _OF_HIP.search(path.read_text("utf-8", "replace"))
        for path in source_files(root)
        if is_source(path.name) or not path.suffix
    )


def name_of(source: str) -> str:
    """The last part of a path or address, without ``.git``."""
    return Path(source.rstrip("/")).resolve().name.removesuffix(".git") or "project"


def work_folder(source: str, cache: Path) -> Path:
    """Where the trees of ``source`` are kept between runs."""
    where = source if _is_address(source) else str(Path(source).resolve())
    return cache / "projects" / f"{name_of(source)}-{digest([where])[:12]}"


def checkout(source: str, work: Path) -> Path:
    """The project's folder; an address is cloned into ``work`` once."""
    if not _is_address(source):
        root = Path(source)
        if not root.is_dir():
            raise ProjectError(f"{source} is no folder, and no address of a repository")
        return root.resolve()
    root = work / "original"
    if root.is_dir():
        return root
    work.mkdir(parents=True, exist_ok=True)
    clone = ["-c", "protocol.ext.allow=never", "clone", "--quiet", "--depth=1", "--"]
    try:
        run_git([*clone, source, str(root)], seconds=_CLONE_SECONDS)
    except GitError as error:
        shutil.rmtree(root, ignore_errors=True)
        raise ProjectError(f"git clone {source}: {error}") from error
    return root


def _is_address(source: str) -> bool:
    return source.startswith(_SCHEMES)


def _target(
    architecture: str,
    plan: BuildPlan,
    settings: PortSettings,
    toolchain: AmdToolchain,
    runtime: Path,
    work: Path,
    repairs: Repairs,
    torch: TorchBackend | None,
    reference: Reference | None,
    say: Callable[[str], None],
) -> TargetResult:
    folder = work / architecture
    tree = folder / "tree"
    libraries = find_library_root(toolchain.cache)
    if drop_what_others_built(folder, tree, identity_of(toolchain, libraries)):
        say(f"{architecture}: built anew, for the tools have changed")
    is_new = not tree.exists()
    changed = synchronize(work / "port", tree)
    if any(build_files.configures(name) for name in changed):
        # Defaults of options that other build files gave.
        own_folder(tree, Path(BUILD_FOLDER))
        (tree / BUILD_FOLDER / "CMakeCache.txt").unlink(missing_ok=True)
    prefix = write_prefix(folder / "rocm", toolchain, runtime, architecture, libraries)
    places = {name: (work / "dependencies" / name).resolve() for name, _ in settings.dependencies}
    tell_dependencies(prefix, places)
    tools = write_git(work / "tools", places)
    put_back(tree, launcher())
    bench = Workbench(
        tree,
        prefix,
        toolchain,
        runtime,
        architecture,
        settings.seconds,
        also_visible=(*places.values(), *tools),
        tools=tools,
    )
    if torch is not None:
        compilers = link_backend(torch, prefix)
        bench = replace(
            bench,
            also_visible=(*bench.also_visible, *torch.visible()),
            variables=torch.variables(architecture, tree),
            tools=(*bench.tools, compilers, *write_interpreter(prefix, libraries, torch.startup)),
        )
    elif starts_python(tree, plan.build, plan.test):
        bench = replace(
            bench,
            also_visible=(*bench.also_visible, *python_folders()),
            tools=(*bench.tools, *write_interpreter(prefix, libraries)),
        )
    if cmake := newer_cmake(tree):
        bench = replace(
            bench,
            also_visible=(*bench.also_visible, cmake.parents[1]),
            tools=(cmake, *bench.tools),
        )
    say(f"{architecture}: {plan.build}")
    build = repairs.build(tree, lambda: bench.build(plan.build), settings.repairs)
    say(f"{architecture}: build {build.outcome.value}, {build.seconds:.0f} s")
    if not build.passed:
        anew = None if is_new and not repairs.made else partial(_start_anew, work / "port", tree)
        return tested_in_part(bench, plan, build, anew)
    test, comparison = test_beside(bench, plan, reference, say)
    if test.passed and found_no_tests(test.log):
        test = replace(test, outcome=StepOutcome.SKIPPED)
    violations: tuple[Violation, ...] = ()
    if test.outcome is StepOutcome.FAILED and settings.check_seconds:
        say(f"{architecture}: {plan.test} (checking mode, at most {settings.check_seconds:.0f} s)")
        violations = check_again(replace(bench, seconds=settings.check_seconds), plan.test)
    return TargetResult(architecture, build, test, comparison, violations)


def _start_anew(port: Path, tree: Path) -> None:
    shutil.rmtree(tree)
    synchronize(port, tree)
    put_back(tree, launcher())
