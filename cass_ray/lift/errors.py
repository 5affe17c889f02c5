"""What lifting raises. Every error names the kernel and, about an instruction, form and address.

A kernel that cannot be lifted is a :class:`LiftError`; a defect of the lifter never is.
"""

from __future__ import annotations


class LiftError(Exception):
    """A cubin or kernel that cannot be lifted; the message says which and why."""


class LifterBug(Exception):
    """A defect of the lifter met at an instruction: not a kernel that cannot be lifted.

    Raised from the error itself; the message names instruction, kernel and address.
    """

    def __init__(self, text: str, kernel: str, address: int) -> None:
        super().__init__(text, kernel, address)
        self.text = text
        self.kernel = kernel
        self.address = address

    def __str__(self) -> str:
        return f"{self.kernel} at {self.address:#06x}: {self.text}: a defect of the lifter"


class CompilerFailure(LiftError):
    """LLVM refused what the lifter wrote: a defect of the lifter, with LLVM's message."""


class UnknownForm(LiftError):
    """An instruction whose form is not in the table; nothing is guessed about it.

    ``form`` is the mnemonic with its modifiers, ``address`` the byte offset in the code section.
    """

    def __init__(self, text: str, reason: str, kernel: str = "", address: int = 0) -> None:
        self.text = text
        self.reason = reason
        self.kernel = kernel
        self.address = address
        place = f"{kernel} at {address:#06x}: " if kernel else ""
        super().__init__(f"{place}{text}: {reason}")

    @property
    def form(self) -> str:
        """The mnemonic with its modifiers."""
        words = self.text.split()
        guarded = len(words) > 1 and words[0].startswith("@")
        return words[1 if guarded else 0] if words else ""

    def at(self, text: str, kernel: str, address: int) -> UnknownForm:
        """The same error with the instruction and its place."""
        reason = self.reason if self.text == text else f"{self.text}: {self.reason}"
        return UnknownForm(text, reason, kernel, address)


class Unsupported(UnknownForm):
    """A form that is understood but has no equivalent here (textures, clusters, WGMMA, TMA)."""
