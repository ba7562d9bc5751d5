"""The report and the comparison, opened in real Chromium: wide, narrow, dark and on paper."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from dens.trace.manifest import Manifest
from spark_analysis.report.build import write_comparison, write_report
from spark_analysis.report.comparison import compare, compared_metrics
from tests.spark_analysis.sample import sample_analysis

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

DRAWN = """svg => {
  const box = svg.getBoundingClientRect();
  const inside = shape => {
    const its = shape.getBoundingClientRect();
    return its.width + its.height > 0 && its.right > box.left && its.left < box.right
        && its.bottom > box.top && its.top < box.bottom;
  };
  const seen = shape => {
    const style = getComputedStyle(shape);
    const painted = colour => colour !== 'none' && !colour.startsWith('rgba(0, 0, 0, 0');
    return painted(style.stroke) || painted(style.fill);
  };
  return {
    name: svg.getAttribute('aria-labelledby').split('-title')[0],
    title: svg.querySelector('title').textContent,
    width: box.width,
    height: box.height,
    shapes: [...svg.querySelectorAll('path, use')].filter(inside).filter(seen).length,
    words: [...svg.querySelectorAll('text')].filter(inside).map(text => text.textContent),
    overflowing: [...svg.querySelectorAll('text')].filter(text => {
      const its = text.getBoundingClientRect();
      return its.left < box.left - 1 || its.right > box.right + 1;
    }).map(text => text.textContent),
  };
}"""


@dataclass
class Opened:
    """A page with the console messages and requests recorded while it was opened."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, dict[str, Any]]:
        drawn = [svg.evaluate(DRAWN) for svg in self.page.query_selector_all("svg")]
        return {figure["name"]: figure for figure in drawn}


def opened(browser: Browser, file: Path, width: int = 1200, **options: Any) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_offline(True)
    page = context.new_page()
    found = Opened(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", lambda request: found.asked_for.append(request.url))
    page.goto(file.as_uri())
    yield found
    context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pages") / "report.html"
    write_report(sample_analysis(), file)
    return file


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pages") / "comparison.html"
    runs = [
        (Manifest(1, "complete", 7_200_000, seed, {"name": "rescue", "overlay": {"policy": policy}}), seed)
        for policy in ("epidemic", "direct")
        for seed in (1, 2, 3)
    ]
    write_comparison(compare([(manifest, sample_analysis()) for manifest, _ in runs]), file)
    return file


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[Opened]:
    yield from opened(browser, report, color_scheme=request.param)


def test_page_logs_nothing_and_makes_no_requests(page: Opened, report: Path) -> None:
    assert page.said == []
    assert page.asked_for == [report.as_uri()]


def test_every_figure_is_drawn(page: Opened) -> None:
    figures = page.figures()
    assert set(figures) == {
        "delay", "timeline", "filtering", "traffic", "contacts", "map", "truth", "pieces", "reach",
        "holding", "degree", "energy",
    }  # fmt: skip
    for name, figure in figures.items():
        assert figure["width"] > 350, name
        assert figure["height"] > 80, name
        assert figure["shapes"] >= 4, name
        assert len(figure["words"]) >= 3, name
        assert figure["overflowing"] == [], name


def test_the_map_shows_tracks_and_contacts(page: Opened) -> None:
    words = page.figures()["map"]["words"]
    assert "mediator (2)" in words
    assert "contact (100)" in words


def test_colours_contrast_with_the_background(page: Opened) -> None:
    """Contrast as WCAG defines it: 4.5 for text; every text of every picture too."""
    too_faint = page.page.evaluate(
        """() => {
          const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
              .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const behind = element => {
            for (let at = element; at; at = at.parentElement) {
              const colour = getComputedStyle(at).backgroundColor;
              if (!colour.startsWith('rgba(0, 0, 0, 0')) return colour;
            }
            return 'rgb(255, 255, 255)';
          };
          return [...document.querySelectorAll('p, td, th, h1, h2, a, dt, dd, caption, svg text, footer')]
            .filter(element => {
              const style = getComputedStyle(element);
              const ink = element.closest('svg') ? style.fill : style.color;
              const [one, other] = [light(ink), light(behind(element))].sort((a, b) => b - a);
              return (one + 0.05) / (other + 0.05) < 4.5;
            })
            .map(element => element.textContent.slice(0, 40));
        }"""
    )
    assert too_faint == []


def test_every_link_leads_somewhere_on_the_page(page: Opened) -> None:
    links = page.page.eval_on_selector_all("nav a", "all => all.map(a => a.getAttribute('href'))")
    assert len(links) >= 10
    for link in links:
        assert page.page.query_selector(link) is not None


@pytest.mark.parametrize("width", [360, 768, 1920])
def test_no_window_has_to_be_scrolled_sideways(browser: Browser, report: Path, width: int) -> None:
    for page in opened(browser, report, width):
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        letters = page.page.evaluate(
            """() => Math.min(...[...document.querySelectorAll('svg text')]
                 .map(text => text.getBoundingClientRect().height))"""
        )
        assert letters >= 8, "letters of the pictures are too small to read"


def test_on_paper_it_fits_and_no_picture_is_cut(browser: Browser, report: Path, tmp_path: Path) -> None:
    for page in opened(browser, report, 688):  # A4 without its margins, in CSS pixels
        page.page.emulate_media(media="print")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 688
        assert not page.page.is_visible("nav")
        heights = page.page.eval_on_selector_all(
            "svg", "all => all.map(s => s.getBoundingClientRect().height)"
        )
        assert max(heights) < 1000
        page.page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("width", [390, 1200])
def test_a_comparison_is_drawn_too(browser: Browser, comparison: Path, width: int) -> None:
    for page in opened(browser, comparison, width):
        assert page.said == []
        assert page.asked_for == [comparison.as_uri()]
        figures = page.figures()
        assert len(figures) == len(compared_metrics()) + 1, "each figure, and the delays"
        for name, figure in figures.items():
            assert figure["shapes"] >= 4, name
            assert figure["overflowing"] == [], name
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
