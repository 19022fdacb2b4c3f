"""The pages as a site: every page is there, every link leads somewhere, and the search knows them all."""

import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_book_holds_every_page_and_no_link_is_broken(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("book", ROOT / "docs" / "book.py")
    assert spec is not None and spec.loader is not None
    book = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(book)
    pages = book.make(tmp_path)
    listed = {source for _, part in book.PARTS for source in part}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= listed, "a page of docs/ is missing"
    ids = {page.name: set(re.findall(r' id="([^"]+)"', page.read_text())) for page in pages}
    for page in pages:
        text = page.read_text()
        assert "\0" not in text and "<h1" in text
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if "://" in target or target == "#":
                continue
            file, _, place = target.partition("#")
            assert not file or (tmp_path / file).exists(), (page.name, target)
            assert not place or place in ids.get(file or page.name, set()), (page.name, target)
    found = json.loads((tmp_path / "search.js").read_text().split("= ", 1)[1].split(";\n", 1)[0])
    assert {entry[0].split("#")[0] for entry in found} == {page.name for page in pages}
