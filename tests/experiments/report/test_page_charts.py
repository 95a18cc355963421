"""The charts of a table with more rows than one chart can show."""

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.page_charts import MOST_LINES, charts_of
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from tests.experiments.report.test_report_tables import played


def test_the_papers_method_is_in_every_chart_however_many_rivals_there_are() -> None:
    choice = Choice(encoder="eyes", seeds=2)
    table = fill_table(load_table("table2"), RecordIndex(played("table2", choice)), choice)
    assert sum(bool(row.records) for row in table.rows) > MOST_LINES
    charts = charts_of(table)
    assert any("Accuracy against seconds" in chart for chart in charts)
    for chart in charts:
        assert "I2CANSAY" in chart
