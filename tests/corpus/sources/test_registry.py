import pytest

from cass_ray.corpus.program import SourceError
from cass_ray.corpus.screening.licenses import identify_license
from cass_ray.corpus.sources.registry import parse_source


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("lokal:/tmp", "did you mean local:PATH"),
        ("repo:https://x/y", "did you mean repository:URL"),
        ("shiped", "did you mean shipped"),
        ("zzz", "Known sources: local:PATH"),
        ("/tmp", "write local:/tmp"),
        ("local", "write it as local:PATH"),
        ("local:", "write it as local:PATH"),
        ("shipped:x", "write it as shipped"),
        ("", "Known sources"),
    ],
)
def test_specifications_that_cannot_be_used(specification: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_source(specification)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("Apache License\n                           Version 2.0, January 2004", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007", "GPL-3.0"),
        ("GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991", "GPL-2.0"),
        (
            "GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007\n"
            "the terms of version 3 of the GNU General Public License",
            "LGPL-3.0",
        ),
        (
            "Redistribution and use in source and binary forms, with or without\n"
            "modification ... Neither the name ... may be used to endorse or promote products",
            "BSD-3-Clause",
        ),
        ("Redistribution and use in source\nand binary forms, with or without", "BSD-2-Clause"),
        ("// SPDX-License-Identifier: MIT\n", "MIT"),
        ("All rights reserved.", ""),
    ],
)
def test_licenses(text: str, identifier: str) -> None:
    assert identify_license(text) == identifier
