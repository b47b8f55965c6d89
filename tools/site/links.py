"""Carries files of the repository that documents link to into the site; a hook of MkDocs (mkdocs.yml).

Documents link to files by relative paths, which GitHub and editors follow. The site holds copies of those outside of docs/
below source/; a link to a folder becomes its text, for the site has no listing of it.
"""
import os
import pathlib
import re

from mkdocs.structure.files import File

LINK = re.compile(r'\[([^\]]*)\]\(([^)\s#:]+)\)')
SHOWN = {'.html', '.json', '.png', '.svg'}  # by browsers, as they are; others get .txt


def outside(config, page: File, target: str) -> pathlib.Path | None:
    """Returns the path in the repository if a page links to something outside of docs/."""
    docs = pathlib.Path(config['docs_dir'])
    path = pathlib.Path(os.path.normpath(docs / pathlib.PurePath(page.src_uri).parent / target))
    return path.relative_to(docs.parent) if not path.is_relative_to(docs) and path.exists() else None


def uri(path: pathlib.Path) -> str:
    return f'source/{path}' + ('' if path.suffix in SHOWN else '.txt')


def on_files(files, config):
    root = pathlib.Path(config['docs_dir']).parent
    for page in list(files.documentation_pages()):
        for _, target in LINK.findall(page.content_string):
            path = outside(config, page, target)
            if path and (root / path).is_file() and uri(path) not in files.src_uris:
                files.append(File.generated(config, uri(path), content=(root / path).read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    root = pathlib.Path(config['docs_dir']).parent

    def moved(link):
        path = outside(config, page.file, link[2])
        if path is None:
            return link[0]
        if (root / path).is_dir():
            return link[1]
        return f'[{link[1]}]({os.path.relpath(uri(path), pathlib.PurePath(page.file.src_uri).parent)})'

    return LINK.sub(moved, markdown)
