"""Results that show themselves: in a line, in a terminal, in a notebook."""

from __future__ import annotations

from abc import abstractmethod

from rich.console import RenderableType

from cass_ray.public import notebook, terminal
from cass_ray.public.views import View


class Renderable:
    """A result that shows itself as its :class:`~cass_ray.public.views.View`."""

    __slots__ = ()

    @abstractmethod
    def view(self) -> View:
        """What there is to see."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.view().headline}>"

    def __rich__(self) -> RenderableType:
        return terminal.rendered(self.view())

    def _repr_html_(self) -> str:
        return notebook.rendered(self.view())
