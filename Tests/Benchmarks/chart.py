"""The ratios as an SVG bar chart that needs nothing else: no fonts, no scripts, light and dark."""

from html import escape

from figures import Figure, Row

STYLE = """
  .paper { fill: #fcfcfb } .ink { fill: #1d1d1b } .soft { fill: #62625d } .rule { stroke: #dededa }
  .one { stroke: #1d1d1b } .bar { fill: #3a78c2 } .whisker { stroke: #1d1d1b } .want { fill: #c2571a }
  text { font: 12px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 } .group { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #1b1b1a } .ink { fill: #ececea } .soft { fill: #a2a29c } .rule { stroke: #3a3a38 }
    .one { stroke: #ececea } .bar { fill: #5d97da } .whisker { stroke: #ececea } .want { fill: #f0935a }
  }
"""
WIDTH, LEFT, RIGHT, TOP, LINE = 960, 370, 90, 78, 24
MOST = 3.0
"""Bars end here at the latest; the number beside them does not."""


def chart(facts: dict[str, str], rows: list[Row]) -> str:
    groups = [(row, [one for one in row.figures if one.unit == "×" and one.values]) for row in rows]
    groups = [(row, figures) for row, figures in groups if figures]
    top = max((reach(one) for _, figures in groups for one in figures), default=1.0)
    end = min(MOST, max(1.25, -(-top * 4 // 1) / 4))
    span = WIDTH - LEFT - RIGHT

    def x(value: float) -> float:
        return LEFT + span * min(value, end) / end

    body, y = [], TOP
    for row, figures in groups:
        body.append(f'<text class="ink group" x="16" y="{y + 15}">{escape(row.name)}</text>')
        y += LINE
        for figure in figures:
            body += bar(figure, x, y)
            y += LINE
        y += 6
    bottom = y
    grid = []
    for quarter in range(int(end * 4) + 1):
        value = quarter / 4
        kind = "one" if value == 1 else "rule"
        if end > 2 and quarter % 2:
            continue
        grid.append(f'<line class="{kind}" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP - 6}" y2="{bottom}"/>')
        grid.append(f'<text class="soft" x="{x(value):.1f}" y="{TOP - 12}" text-anchor="middle">{value:g}</text>')
    height = bottom + 44
    about = f"{facts['processor']}, {facts['cores']} cores; {facts['kernel']}; {facts['commit']}; {facts['date']}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title">',
        f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        '<text class="ink title" id="title" x="16" y="28">fetchres against other programs: ratios, shorter is better'
        "</text>",
        '<text class="soft" x="16" y="47">bar: median of the pairs · line across: quartiles · triangle: wanted at most'
        "</text>",
        *grid, *body, f'<text class="soft" x="16" y="{bottom + 28}">{escape(about)}</text>', "</svg>", ""])


def reach(figure: Figure) -> float:
    return max(figure.median, figure.quartiles[1] if figure.quartiles else 0, figure.wanted or 0)


def bar(figure: Figure, x, y: int) -> list[str]:
    middle = y + LINE / 2
    parts = [
        f'<text class="ink" x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">{escape(figure.label)}</text>',
        f'<rect class="bar" x="{LEFT}" y="{y + 4}" width="{max(1.0, x(figure.median) - LEFT):.1f}" '
        f'height="{LINE - 8}" rx="2"/>',
    ]
    right = x(figure.median)
    if figure.quartiles:
        low, high = map(x, figure.quartiles)
        right = max(right, high)
        parts.append(
            f'<line class="whisker" stroke-width="1.5" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>')
    if figure.wanted is not None:
        at = x(figure.wanted)
        parts.append(f'<path class="want" d="M{at:.1f} {y + 4} l-4 -6 h8 z"/>')
    parts.append(f'<text class="ink" x="{right + 7:.1f}" y="{middle + 4}">{figure.median:.2f}</text>')
    return parts
