"""The comparison of several runs as one HTML page: a table, and one figure per metric."""

from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

import matplotlib as mpl

from spark_analysis.catalogue.metric import Metric, Unit
from spark_analysis.interval import Interval
from spark_analysis.number_format import (
    NOT_KNOWN,
    counted,
    share_text,
)
from spark_analysis.rendering.drawing import (
    FOUR,
    HALF_WIDTH_IN,
    INK,
    ONE,
    STYLE,
    THREE,
    TWO,
    canvas,
    share_axis,
    svg,
    time_axis,
)
from spark_analysis.report.comparison import Comparison, Variant, compared_metrics
from spark_analysis.variant_labels import wrap_label

_COLOURS: Final = (ONE, TWO, THREE, FOUR)
_TIME_STEPS_S: Final = (
    0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400
)  # fmt: skip
"""Round steps of a time axis."""
_LEGEND_LETTERS: Final = 150
"""Letters per line of a legend over a full-width figure."""
_STROKES: Final[tuple[Any, ...]] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))


def comparison_page(comparison: Comparison) -> str:
    """Return the page. Equal answers give equal bytes."""
    template = Template(files("spark_analysis.report").joinpath("template.html").read_text(encoding="utf-8"))
    head = template.template.split("<body>")[0]
    title = comparison_title(comparison)
    pictures = "\n".join(
        f"<section>\n<h2>{escape(metric.title)}</h2>\n<p>{escape(_explained(metric))}</p>\n"
        f'<div class="figure" tabindex="0">\n{_figure(comparison, metric)}\n</div>\n</section>'
        for metric in compared_metrics()
    )
    return (
        Template(head).substitute(title=escape(title))
        + f"""<body>
<main>
<header>
<p class="kicker">DENS comparison of runs</p>
<h1>{escape(title)}</h1>
<p>Runs that differ only in their seed are one variant. Figures are means over seeds with 95 %
confidence intervals (Student’s t); a single run has no interval.</p>
{_differing(comparison)}
{_notices(comparison)}
</header>
<section>
<div class="scroll">
{_table(comparison)}
</div>
</section>
<section>
<h2>Delay</h2>
<p>Share of expected deliveries that arrive within a time (Kaplan–Meier estimate, which accounts for
deliveries still open at the end of a run), the mean over the runs of a variant.</p>
<div class="figure" tabindex="0">
{_delays_figure(comparison)}
</div>
</section>
<div class="pair">
{pictures}
</div>
</main>
</body>
</html>
"""
    )


def comparison_title(comparison: Comparison) -> str:
    variants = comparison.variants
    if len(variants) == 1:
        return f"1 variant, {counted(len(variants[0].seeds), 'run')}"
    return f"{len(variants):,} variants side by side"


def figure_text(value: Interval | None, metric: Metric) -> str:
    """Return the mean and, if known, the interval as text."""
    if value is None:
        return NOT_KNOWN
    write = metric.unit.text
    if value.low is None or value.high is None:
        return write(value.mean)
    return f"{write(value.mean)} ({write(value.low)} … {write(value.high)})"


def _explained(metric: Metric) -> str:
    return f"{metric.meaning}; {metric.direction}" if metric.direction else metric.meaning


def _differing(comparison: Comparison) -> str:
    """Return the full paths of the settings in which the variants differ; labels are shorter."""
    if not comparison.differing:
        return ""
    return f"<p>The variants differ in {escape(', '.join(comparison.differing))}.</p>"


def _notices(comparison: Comparison) -> str:
    partial = [variant.label for variant in comparison.variants if variant.partial]
    return "\n".join(
        f'<p class="notice" role="note">{escape(label)}: contains a partial run, which counts up to where it '
        "stopped.</p>"
        for label in partial
    )


def _table(comparison: Comparison) -> str:
    what = comparison.differing[0] if len(comparison.differing) == 1 else "variant"
    head = "".join(
        f"<th>{escape(name)}</th>"
        for name in (what, "runs", *(metric.title for metric in compared_metrics()))
    )
    return (
        '<table class="many">\n<caption>Mean over seeds and 95 % confidence interval</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(_row(variant, variant.short) for variant in comparison.variants)
        + "\n</tbody>\n</table>"
    )


def _row(variant: Variant, name: str) -> str:
    cells = [escape(name), str(len(variant.seeds))]
    for metric in compared_metrics():
        mean, _, bounds = figure_text(variant.figures[metric.name], metric).partition(" (")
        cells.append(escape(mean) + (f"<br><small>{escape(bounds.rstrip(')'))}</small>" if bounds else ""))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _delays_figure(comparison: Comparison) -> str:
    """Draw the delay curves of all variants."""
    with mpl.rc_context(STYLE):
        longest = max((len(variant.short) for variant in comparison.variants), default=0)
        columns = max(1, min(4, _LEGEND_LETTERS // (longest + 6)))
        figure, axes = canvas(4.2 + 0.25 * -(-len(comparison.variants) // columns))
        times = [at for variant in comparison.variants for at, _ in variant.arrived]
        for place, variant in enumerate(comparison.variants):
            if variant.arrived:
                axes.plot(
                    *zip(*variant.arrived, strict=True),
                    color=_COLOURS[place % len(_COLOURS)],
                    linestyle=_STROKES[place // len(_COLOURS) % len(_STROKES)],
                    label=variant.short,
                )
        time_axis(axes, times)
        share_axis(axes)
        axes.set_xlabel("time from the event to the application")
        axes.set_ylabel("share of expected deliveries that arrive")
        if times:
            axes.legend(
                frameon=False, loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=columns, labelcolor=INK
            )
        ends = "; ".join(
            f"{variant.short}: {share_text(variant.arrived[-1][1])}"
            for variant in comparison.variants
            if variant.arrived
        )
        return svg(
            figure,
            "delays",
            "Delay of expected deliveries",
            f"Rising curves that end at: {ends or NOT_KNOWN}.",
        )


def _figure(comparison: Comparison, metric: Metric) -> str:
    """Draw one metric of all variants as dots with intervals."""
    with mpl.rc_context(STYLE):
        labels = [wrap_label(variant.short) for variant in comparison.variants]
        lines = max((label.count("\n") + 1 for label in labels), default=1)
        figure, axes = canvas(0.7 + (0.14 + 0.2 * lines) * len(labels), HALF_WIDTH_IN)
        for place, variant in enumerate(comparison.variants):
            value = variant.figures[metric.name]
            if value is None:
                continue
            if value.low is not None and value.high is not None:
                axes.plot([value.low, value.high], [place, place], color=ONE, linewidth=2)
            axes.plot([value.mean], [place], "o", color=ONE, markersize=7)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(comparison.variants) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(
            lambda value, _position: metric.unit.text(float(value)) if value else "0"
        )
        axes.locator_params(axis="x", nbins=5)
        if metric.unit is Unit.SECONDS:
            step_s = next((step for step in _TIME_STEPS_S if axes.get_xlim()[1] / step <= 5), 604_800)
            axes.set_xticks([step_s * i for i in range(int(axes.get_xlim()[1] / step_s) + 1)])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        values = "; ".join(
            f"{variant.short}: {figure_text(variant.figures[metric.name], metric)}"
            for variant in comparison.variants
        )
        return svg(
            figure,
            f"compared-{metric.name}",
            f"{metric.title}, {metric.meaning}",
            f"Dots on intervals. {values}.",
        )
