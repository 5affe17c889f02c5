"""Templates of code generators: several files in one text."""

from __future__ import annotations

from cass_ray.translate.rules import RulesTranslator

FILES = """\
{{% macro cu_file() %}}
#include {header}
{{% endmacro %}}
{{% macro h_file() %}}
#include {header}
{{% endmacro %}}
"""


def test_each_file_of_a_template_keeps_its_headers() -> None:
    for cuda, hip in (("<curand.h>", "<hiprand/hiprand.h>"), ("<cufft.h>", "<hipfft/hipfft.h>")):
        made = RulesTranslator().translate(FILES.format(header=cuda), filename="objects.cu")
        assert made.source.count(f"#include {hip}\n") == 2
        text = f"#include {cuda}\n#include {cuda}\n"
        once = RulesTranslator().translate(text, filename="objects.cu").source
        assert once.count(f"#include {hip}\n") == 1
